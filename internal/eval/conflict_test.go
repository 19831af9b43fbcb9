package eval

import (
	"context"
	"testing"
)

// Stores grow wrong as they age: more stale values and lies are in them than true
// statements. No wrong answer may become more frequent with age, and no planted lie
// may be recalled as if it held.
func TestConflict(t *testing.T) {
	var young, old ConflictAge
	for seed := range uint64(3) {
		f, err := Conflict(context.Background(), seed, controlNow)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range append(f.Ages, f.Kinds...) {
			t.Logf("%-16s %4d questions: %4d right %3d silent %3d wrong", a.Name, a.Questions, a.Right, a.Silent, a.Wrong)
		}
		for _, w := range f.Wrong[:min(6, len(f.Wrong))] {
			t.Log(w)
		}
		t.Logf("seed %d: %d memories, score %d of %d, %d lies unlabelled", seed, f.Memories, f.Score, f.Questions, f.Unlabelled)
		if f.Unlabelled > 0 {
			t.Errorf("%d planted lies were recalled without a label", f.Unlabelled)
		}
		young.Questions += f.Ages[1].Questions
		young.Wrong += f.Ages[1].Wrong
		old.Questions += f.Ages[3].Questions
		old.Wrong += f.Ages[3].Wrong
		if 10*f.Score < 8*f.Questions {
			t.Errorf("score %d of %d", f.Score, f.Questions)
		}
	}
	if old.Of() > young.Of()+.01 {
		t.Errorf("wrong answers grow with age: %.1f %% of young, %.1f %% of old", 100*young.Of(), 100*old.Of())
	}
}
