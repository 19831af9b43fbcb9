package eval

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func sharedReal(t *testing.T) string {
	dir := os.Getenv("STILLSO_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "real")
	if _, err := os.Stat(filepath.Join(dir, "extraction.jsonl")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the shared data folder is absent")
		}
		t.Skip("the shared data folder is absent")
	}
	return dir
}

// What is stored decides what can be recalled: a false memory costs more than a
// missed one.
func TestCapture(t *testing.T) {
	dir := sharedReal(t)
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		mode              string
		replies           string
		precision, recall float64
	}{
		{"rules", "", 0.9, 0.25},
		{"replies", filepath.Join(dir, "replies"), 0.95, 0.9},
	} {
		sum, err := MeasureCapture(t.Context(), filepath.Join(dir, "extraction.jsonl"), c.replies, now)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: precision %.2f recall %.2f (right %d, false %d, missed %d, to review %d)", c.mode, sum.Precision, sum.Recall, sum.Right, sum.False, sum.Missed, sum.ToReview)
		if sum.Precision < c.precision || sum.Recall < c.recall {
			t.Errorf("%s: precision %.2f (at least %.2f), recall %.2f (at least %.2f)", c.mode, sum.Precision, c.precision, sum.Recall, c.recall)
		}
		for _, h := range sum.Details {
			if len(h.Admitted) > 0 || h.Wrong() || len(h.Refused) > 0 {
				t.Logf("  %s remember=%v admitted=%q review=%q refused=%q", h.ID, h.Remember, h.Admitted, h.Review, h.Refused)
			}
		}
	}
}

// Figures must be figures of what was labelled: a broken line is an error, a
// borderline row is left out, a wrong capture counts against precision.
func TestCaptureCounts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	row := func(id, text, rest string) string {
		return `{"id":"` + id + `","turns":[{"role":"user","text":"` + text + `"}],` + rest + "}\n"
	}
	gold := write("gold.jsonl", row("a", "From now on use tabs in Go files", `"remember":true`)+row("b", "From now on use tabs in SQL files", `"remember":false`)+
		row("c", "hello", `"remember":true`)+"\n"+row("d", "hello", `"remember":false`)+row("e", "hello", `"remember":true,"borderline":true`))
	sum, err := MeasureCapture(t.Context(), gold, "", time.Unix(1e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Rows != 5 || sum.Borderline != 1 || sum.Right != 1 || sum.False != 1 || sum.Missed != 1 || sum.Precision != 0.5 || sum.Recall != 0.5 {
		t.Errorf("%+v", sum)
	}
	for _, bad := range []string{write("bad.jsonl", "{\"id\":1\n"), filepath.Join(dir, "absent.jsonl")} {
		if _, err := MeasureCapture(t.Context(), bad, "", time.Unix(1e9, 0)); err == nil {
			t.Errorf("%s: no error", filepath.Base(bad))
		}
	}
	if _, err := MeasureCapture(t.Context(), gold, dir, time.Unix(1e9, 0)); err == nil {
		t.Error("replies are absent and nothing is said")
	}
	write("capture.jsonl", `{"id":"a","reply":{"candidates":[]}}`+"\n")
	write("judge.jsonl", "")
	if _, err := MeasureCapture(t.Context(), gold, dir, time.Unix(1e9, 0)); err == nil {
		t.Error("row b has no reply and nothing is said")
	}
}
