package eval

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// realSets reads the six stores of real notes.
func realSets(t *testing.T, aliases bool) []RecallSet {
	t.Helper()
	root := sharedDir(t, "real", "recall")
	dirs, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var sets []RecallSet
	for _, d := range dirs {
		if !d.IsDir() {
			continue
		}
		s, err := ReadRecallSet(filepath.Join(root, d.Name()), aliases, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, s)
	}
	return sets
}

// A change of ranking or gate that costs recall or silence on real stores must
// not pass unseen.
func TestRecallRealStores(t *testing.T) {
	foreign, err := ReadForeign(filepath.Join(sharedDir(t, "real"), "prompts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		aliases               bool
		top2, silent, foreign float64
	}{
		{false, 62, 97, 2.5},
		{true, 85, 97, 2.5},
	} {
		rep, err := Recall(context.Background(), realSets(t, c.aliases), RecallOptions{
			Now: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Clock: time.Now, Foreign: foreign, Temp: t.TempDir(),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range append(rep.Sets, rep.Total) {
			t.Logf("aliases %v %-11s %3d  top1 %s top2 %s (found %d %d %d, mrr %.3f) silent %s foreign %s nothing %s hinted %s on nothing %s misled %d right of injected %s p50 %d p95 %d", c.aliases, f.Name, f.Memories, f.Top1, f.Top2,
				f.Found1.Hit, f.Found2.Hit, f.Found5.Hit, f.MRR, f.Silent, f.Foreign, f.Nothing, f.Hinted, f.HintedNothing, f.Misled.Hit, f.Injected, f.P50, f.P95)
		}
		r := rep.Total
		if r.Top2.Percent() < c.top2 || r.Silent.Percent() < c.silent || r.Foreign.Percent() > c.foreign {
			t.Errorf("aliases %v: top-2 %s, silent %s, foreign %s", c.aliases, r.Top2, r.Silent, r.Foreign)
		}
	}
}

// The thresholds must come from stores that are not measured with them: this is
// the figure to believe, and the way to find the thresholds again.
func TestLeaveOneOut(t *testing.T) {
	foreign, err := ReadForeign(filepath.Join(sharedDir(t, "real"), "prompts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		aliases bool
		top2    float64
	}{{false, 58}, {true, 82}} {
		list, total, err := LeaveOneOut(context.Background(), realSets(t, c.aliases), RecallOptions{Now: evalDay, Foreign: foreign, Temp: t.TempDir()}, DefaultBars())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range append(list, total) {
			t.Logf("aliases %v %-11s scale %.2f %.2f: top2 %s silent %s foreign %s nothing %s", c.aliases, l.Name, l.Scale[0], l.Scale[1], l.Top2, l.Silent, l.Foreign, l.Nothing)
		}
		if total.Top2.Percent() < c.top2 {
			t.Errorf("aliases %v: top-2 %s", c.aliases, total.Top2)
		}
	}
}
