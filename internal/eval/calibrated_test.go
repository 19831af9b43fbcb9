package eval

import (
	"context"
	"path/filepath"
	"testing"
)

// Prompts of the user's other projects calibrate the gate: measured honestly, with
// one half of the persons as the user and the other half as the test. A limit may
// make a store quieter, and must not silence it.
func TestCalibrated(t *testing.T) {
	all, err := ReadForeign(filepath.Join(sharedDir(t, "real"), "prompts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, aliases := range []bool{false, true} {
		if !aliases && !testing.Verbose() {
			continue
		}
		sets := map[string][]RecallSet{"six": realSets(t, aliases)}
		if testing.Verbose() { // the large store takes seconds
			sets["large"] = []RecallSet{largeStore(t, aliases)}
		}
		for name := range sets {
			for half := range 2 {
				var typed, rest []ForeignPrompt
				for _, p := range all {
					if personHalf(p.Person) == half {
						typed = append(typed, p)
					} else {
						rest = append(rest, p)
					}
				}
				with, err := Recall(context.Background(), sets[name], RecallOptions{Now: evalDay, Foreign: rest, Typed: typed, Temp: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				without, err := Recall(context.Background(), sets[name], RecallOptions{Now: evalDay, Foreign: rest, Temp: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				a, b := without.Total, with.Total
				t.Logf("%s aliases %v half %d (%d typed): without top2 %s silent %s foreign %s; calibrated top2 %s silent %s foreign %s", name, aliases, half, len(typed),
					a.Top2, a.Silent, a.Foreign, b.Top2, b.Silent, b.Foreign)
				if b.Top2.Percent() < a.Top2.Percent()-8 {
					t.Errorf("%s aliases %v half %d: calibration costs too much", name, aliases, half)
				}
			}
		}
	}
}
