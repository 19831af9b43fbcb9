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
func TestExtraction(t *testing.T) {
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
		sum, err := MeasureExtraction(t.Context(), filepath.Join(dir, "extraction.jsonl"), c.replies, now)
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
