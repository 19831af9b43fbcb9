package eval

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"stillso"
	"stillso/internal/tidy"
)

// Real notes are full of near-twins that are not duplicates; a pass that takes one
// for replaced loses knowledge.
func TestTidyRealNotes(t *testing.T) {
	root := sharedDir(t, "real", "recall")
	list, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if !d.IsDir() {
			continue
		}
		s, err := ReadRecallSet(filepath.Join(root, d.Name()), true, controlNow)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range s.Memories {
			m.Origin = stillso.FromUser // the harshest case: anything may be superseded
		}
		w := &world{all: s.Memories, now: controlNow}
		res, err := tidy.Run(context.Background(), &tidy.Job{Memories: w.all, Now: w.now, NewID: func() string { return w.id("c") }, Batch: "b"})
		if err != nil {
			t.Fatal(err)
		}
		proposed := 0
		for _, c := range res.Changes {
			if c.Outcome == stillso.Proposed {
				proposed++
				t.Logf("%s: review %s %s: %s", d.Name(), c.Verb, c.Edits[0].MemoryID(), c.Reason)
				continue
			}
			t.Logf("%s: %s %s: %s", d.Name(), c.Verb, c.Edits[0].MemoryID(), c.Reason)
			if c.Verb != stillso.VerbEdit {
				t.Errorf("%s: a note was retired", d.Name())
			}
		}
		t.Logf("%s: %d notes, %d pairs, %d to review", d.Name(), len(w.all), res.Pairs, proposed)
	}
}
