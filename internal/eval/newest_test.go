package eval

import (
	"context"
	"testing"
)

// An assistant that answers with last month's value is worse than a silent one.
func TestNewest(t *testing.T) {
	f, err := Newest(context.Background(), sharedDir(t, "bench", "beam-100k"), false, controlNow)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Details {
		if !d.NewFirst {
			t.Logf("old first: %s\n  old %.220s\n  new %.220s", d.Question, d.Old, d.New)
		}
	}
	raw, err := Newest(context.Background(), sharedDir(t, "bench", "beam-100k"), true, controlNow)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("whole messages: new first in %d of %d, %d left out", raw.New, raw.Questions, raw.LeftOut)
	t.Logf("new first in %d of %d, %d tidied, %d left out", f.New, f.Questions, f.Tidied, f.LeftOut)
	if f.New < f.Questions*18/20 {
		t.Errorf("new first in %d of %d", f.New, f.Questions)
	}
}
