package eval

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stillso"
	"stillso/internal/llm"
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

// asked remembers which pairs a model is shown.
type asked struct{ text strings.Builder }

func (*asked) Name() string { return "none" }
func (a *asked) Complete(_ context.Context, r llm.Request) (llm.Reply, error) {
	a.text.WriteString(r.Text)
	return llm.Reply{Text: `{"verdicts": []}`}, nil
}

// The contradictions that people found in these notes must be among the few pairs
// that a model is asked about.
func TestTidyAsksAboutKnownContradictions(t *testing.T) {
	root := sharedDir(t, "real", "recall")
	for _, c := range [][3]string{
		{"ytopt", "project_meta_app_review_status", "feedback_ig_caption_update_comment_enabled"},
		{"gsim", "project_factor_business_context", "project_incident_gsim_code_drift"},
	} {
		s, err := ReadRecallSet(filepath.Join(root, c[0]), true, controlNow)
		if err != nil {
			t.Fatal(err)
		}
		w := &world{all: s.Memories, now: controlNow}
		m := &asked{}
		res, err := tidy.Run(context.Background(), &tidy.Job{Memories: w.all, Now: w.now, NewID: func() string { return w.id("c") }, Model: m})
		if err != nil {
			t.Fatal(err)
		}
		text := m.text.String()
		found := strings.Contains(text, "a="+c[1]+" b="+c[2]+"\n") || strings.Contains(text, "a="+c[2]+" b="+c[1]+"\n")
		t.Logf("%s: %d pairs of %d notes asked", c[0], res.Asked, len(w.all))
		if !found {
			t.Errorf("%s: the known contradiction is not among them", c[0])
		}
	}
}
