package redact

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// A secret that is stored is stored for ever, sent to a model and exported.
func TestFindsSecrets(t *testing.T) {
	kinds := positiveKinds()
	if len(kinds) < 70 {
		t.Fatalf("%d kinds of secret; 70 are wanted", len(kinds))
	}
	r := rand.New(rand.NewPCG(1, 2))
	all, missed := 0, 0
	for _, k := range kinds {
		for range 40 {
			text, secret := k.make(r)
			out, found := Text(text)
			all++
			if strings.Contains(out, secret) || len(found) == 0 {
				missed++
				t.Logf("missed %s: %q", k.name, text)
			}
			if again, more := Text(out); again != out || len(more) > 0 {
				t.Errorf("%s: not stable: %q then %q", k.name, out, again)
			}
		}
	}
	t.Logf("%d kinds, %d texts, %d missed", len(kinds), all, missed)
	if float64(missed) > 0.01*float64(all) {
		t.Errorf("missed %d of %d", missed, all)
	}
}

// Over-eager masking destroys what was worth remembering.
func TestLeavesCleanNotes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	bad := 0
	for range 5000 {
		note := cleanNote(r)
		if out, found := Text(note); len(found) > 0 {
			if bad++; bad <= 20 {
				t.Errorf("false: %v in %q gives %q", found, note, out)
			}
		}
	}
}

// Real notes of people, scrubbed of secrets beforehand.
func TestLeavesRealNotes(t *testing.T) {
	dir := os.Getenv("STILLSO_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	notes, _ := filepath.Glob(filepath.Join(dir, "real", "recall", "*", "notes", "*.md"))
	if len(notes) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("no notes in the shared data folder")
		}
		t.Skip("shared data folder is absent")
	}
	for _, n := range notes {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		if _, found := Text(string(text)); len(found) > 0 {
			for _, f := range found {
				if f.Start >= 0 {
					t.Errorf("%s: %s %q", filepath.Base(n), f.Rule, string(text[max(0, f.Start-40):min(len(text), f.End+10)]))
				}
			}
		}
	}
}

func TestSpecificForms(t *testing.T) {
	sk := "sk" + "-proj-" + strings.Repeat("F4ke", 10) + "0001"
	for _, c := range []struct{ in, want string }{
		{"密钥" + sk + "放好", "密钥[redacted:openai-key]放好"},
		{"postgres://admin:" + "F4kePassw0rd-" + "xyzzy@10.0.0.5:5432/prod", "postgres://admin:[redacted:url-password]@10.0.0.5:5432/prod"},
		{"a <private>b c</private> d", "a [redacted:private] d"},
		{"talk about the `<private>` tag", "talk about the `<private>` tag"},
		{"", ""},
		{
			"port 8443, import.meta.env.VITE_KEY, 3f786850e387550fdab836ed7e6dc881de23001b, no API key",
			"port 8443, import.meta.env.VITE_KEY, 3f786850e387550fdab836ed7e6dc881de23001b, no API key",
		},
	} {
		if got, _ := Text(c.in); got != c.want {
			t.Errorf("Text(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if got := strings.TrimSpace(Bare("[redacted:password] ok")); got != "ok" {
		t.Errorf("Bare leaves %q", got)
	}
}

// A megabyte of nearly-secrets must not stop a hook or a sweep.
func TestLinear(t *testing.T) {
	for _, unit := range []string{"a", "eyJ", "password: ", "-----BEGIN ", "://", "a:b@", "sk-", "<private>", "-----END PRIVATE KEY-----", "密码", "[redacted:", "Cookie: a=b;", ":AA", "-us1", "8Q~", "?sig=", "password for a b c d e f "} {
		s := strings.Repeat(unit, 1<<18/len(unit))
		start := time.Now()
		Text(s)
		if d := time.Since(start); d > time.Second {
			t.Errorf("%d bytes of %q took %v", len(s), unit, d)
		}
	}
}

func FuzzText(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, k := range positiveKinds() {
		s, _ := k.make(r)
		f.Add(s)
	}
	for range 20 {
		f.Add(cleanNote(r))
	}
	f.Fuzz(func(t *testing.T, s string) {
		out, found := Text(s)
		if len(found) == 0 && out != s {
			t.Fatalf("changed without a finding: %q", out)
		}
		if utf8.ValidString(s) && !utf8.ValidString(out) {
			t.Fatalf("cut a character: %q gives %q", s, out)
		}
		last := 0
		for _, x := range found {
			if x.Start < 0 {
				continue
			}
			if x.Start < last || x.End <= x.Start || x.End > len(s) {
				t.Fatalf("bad place %+v in %q", x, s)
			}
			last = x.End
		}
		if again, more := Text(out); again != out || len(more) > 0 {
			t.Fatalf("not stable: %q gives %q gives %q (%v)", s, out, again, more)
		}
	})
}

func BenchmarkText(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	notes := make([]string, 200)
	n := 0
	for i := range notes {
		notes[i] = cleanNote(r) + cleanNote(r) + cleanNote(r)
		n += len(notes[i])
	}
	b.SetBytes(int64(n / len(notes)))
	i := 0
	for b.Loop() {
		Text(notes[i%len(notes)])
		i++
	}
}
