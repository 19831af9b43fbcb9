// Package oracle compares the secret rules with gitleaks: what that scanner
// finds, ours must take out.
package oracle

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/detect"

	"stillso/internal/redact"
)

func draw(r *rand.Rand, set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[r.IntN(len(set))]
	}
	return string(b)
}

const (
	hex   = "0123456789abcdef"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	word  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

// samples are drawn and put together at run time, so that no scanner finds a
// secret in the repository.
func samples(r *rand.Rand) []string {
	w := func(n int) string { return draw(r, word, n) }
	h := func(n int) string { return draw(r, hex, n) }
	return []string{
		"aws_access_key_id = AK" + "IA" + draw(r, upper, 16), "token gh" + "p_" + w(36), "gh" + "o_" + w(36), "github_" + "pat_" + w(82), "gl" + "pat-" + w(20),
		"key: sk" + "-ant-api03-" + w(93) + "AA", "OPENAI=sk" + "-" + w(20) + "T3Blbk" + "FJ" + w(20), "xo" + "xb-123456789012-1234567890123-" + w(24), "https://hooks." + "slack.com/services/T" + draw(r, upper, 8) + "/B" + draw(r, upper, 8) + "/" + w(24),
		"sk" + "_live_" + w(24), "S" + "G." + w(22) + "." + w(43), "np" + "m_" + w(36), "pypi-" + "AgEIcHlwaS5vcmc" + w(60), "h" + "f_" + draw(r, word[:52], 34), "sh" + "pat_" + h(32), "do" + "p_v1_" + h(64), "dp" + ".pt." + w(43), "lin" + "_api_" + w(40),
		"hv" + "s." + w(95), "da" + "pi" + h(32), "gl" + "sa_" + w(32) + "_" + h(8), "NR" + "AK-" + draw(r, upper[:26], 27), "PM" + "AK-" + h(24) + "-" + h(34), "AI" + "za" + w(35), "GOC" + "SPX-" + w(28),
		"telegram_api_token = \"6" + "123456789:A" + w(34) + "\"", "Authorization: Bearer eyJhbGci" + "OiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ" + w(40) + "." + w(43),
		"-----BEGIN " + "RSA PRIVATE KEY-----\n" + w(64) + "\n" + w(64) + "\n-----END RSA " + "PRIVATE KEY-----", "api_key = \"" + w(32) + "\"", "client_secret: '" + h(40) + "'", "PASSWORD_TOKEN=" + w(24), "curl -u admin:" + w(16) + " https://x.example.test/a",
		"ATA" + "TT3xFf" + w(186), "sq0" + "atp-" + w(22), "AGE-SECRET" + "-KEY-1" + draw(r, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58), "ruby" + "gems_" + h(48), "tfp" + "_" + w(59), "sntr" + "ys_eyJ" + w(80),
	}
}

// What gitleaks finds and we leave would be stored.
func TestAgainstGitleaks(t *testing.T) {
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	theirs, left := 0, 0
	for range 20 {
		for _, s := range samples(r) {
			out, _ := redact.Text(s)
			for _, f := range d.DetectString(s) {
				theirs++
				if strings.Contains(out, f.Secret) {
					left++
					t.Errorf("gitleaks finds %s in %q; we leave it", f.RuleID, s)
				}
			}
		}
	}
	t.Logf("generated: gitleaks finds %d, we leave %d of them", theirs, left)
	if theirs < 100 {
		t.Errorf("gitleaks found only %d; the samples are no test", theirs)
	}
}

// Real notes and sessions, where the shared data is present.
func TestAgainstGitleaksOnRealText(t *testing.T) {
	dir := os.Getenv("STILLSO_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	var files []string
	for _, p := range []string{"real/recall/*/notes/*.md", "real/transcripts/*/*", "real/prompts.jsonl"} {
		list, _ := filepath.Glob(filepath.Join(dir, p))
		files = append(files, list...)
	}
	if len(files) == 0 {
		t.Skip("the shared data folder is absent")
	}
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	theirs, left := 0, 0
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out, _ := redact.Text(string(b))
		for _, f := range d.DetectString(string(b)) {
			theirs++
			if strings.Contains(out, f.Secret) {
				left++
				t.Logf("%s: gitleaks finds %s %q in %q", filepath.Base(name), f.RuleID, f.Secret, f.Match)
			}
		}
	}
	t.Logf("%d files: gitleaks finds %d, we leave %d of them", len(files), theirs, left)
}
