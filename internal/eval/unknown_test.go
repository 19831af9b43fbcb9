package eval

import (
	"context"
	"path/filepath"
	"testing"

	"stillso/internal/terms"
)

// The users of a language that nobody counted must not lose recall, nor get
// something at every prompt. Chinese is taken out of the background for it.
func TestUnknownLanguage(t *testing.T) {
	foreign, err := ReadForeign(filepath.Join(sharedDir(t, "real"), "prompts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		forget  terms.Script
		aliases bool
		loss    int // answers that may be lost
	}{
		{"gsim", terms.Han, true, 1},
		{"gsim", terms.Han, false, 4},
		{"hlstock", terms.Han, true, 4},
		{"hlstock", terms.Han, false, 6},
		{"opsfolio", terms.Hangul, true, 4},
		{"opsfolio", terms.Hangul, false, 10},
	} {
		var got [2]RecallFigures
		for i, forget := range [][]terms.Script{nil, {c.forget}} {
			for _, s := range realSets(t, c.aliases) {
				if s.Name != c.name {
					continue
				}
				rep, err := Recall(context.Background(), []RecallSet{s}, RecallOptions{Now: evalDay, Foreign: foreign, Temp: t.TempDir(), Forget: forget})
				if err != nil {
					t.Fatal(err)
				}
				got[i] = rep.Total
			}
		}
		a, b := got[0], got[1]
		t.Logf("%s aliases %v: known top2 %s silent %s foreign %s; unknown top2 %s silent %s foreign %s", c.name, c.aliases, a.Top2, a.Silent, a.Foreign, b.Top2, b.Silent, b.Foreign)
		if b.Top2.Hit < a.Top2.Hit-c.loss {
			t.Errorf("%s aliases %v: recall falls from %s to %s", c.name, c.aliases, a.Top2, b.Top2)
		}
		if b.Silent.Percent() < 90 || b.Foreign.Percent() > 7 {
			t.Errorf("%s aliases %v: silent %s, foreign %s", c.name, c.aliases, b.Silent, b.Foreign)
		}
	}
}
