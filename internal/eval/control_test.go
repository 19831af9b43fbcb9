package eval

import (
	"context"
	"testing"
	"time"
)

var controlNow = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// The public set of control acts: a wrong deletion is worse than a fact that stays.
func TestControl(t *testing.T) {
	f, err := Control(context.Background(), sharedDir(t, "bench", "forgeteval-external77"), controlNow)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range f.Kinds {
		t.Logf("%-26s %d of %d", k.Kind, k.Right, k.Cases)
		if k.Kind == "shared_attribute" && k.Right < k.Cases {
			t.Errorf("a shared attribute was lost")
		}
	}
	for _, m := range f.Wrong {
		t.Log(m.ID, m.Why)
	}
	t.Logf("%d of %d, %d wrong deletions", f.Right, f.Cases, f.WrongDeletions)
	if 39*f.Right < 26*f.Cases || f.WrongDeletions > 0 {
		t.Errorf("%d of %d right, %d wrong deletions", f.Right, f.Cases, f.WrongDeletions)
	}
}
