package eval

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write golden files anew")

// The sample set, of our own writing, holds the same six notes in eleven languages:
// two of them (it, tr) are in no table of the background. Its golden file makes a
// change of ranking or gate a diff.
func TestSampleGolden(t *testing.T) {
	dirs, err := filepath.Glob(filepath.Join("testdata", "sample", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var sets []RecallSet
	for _, d := range dirs {
		s, err := ReadRecallSet(d, true, evalDay)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, s)
	}
	rep, err := Recall(context.Background(), sets, RecallOptions{Now: evalDay, Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range append(rep.Sets, rep.Total) {
		fmt.Fprintf(&b, "%-4s top1 %s  top2 %s  top5 %s  found %d %d %d  MRR %.3f  silent %s\n", f.Name, f.Top1, f.Top2, f.Top5, f.Found1.Hit, f.Found2.Hit, f.Found5.Hit, f.MRR, f.Silent)
	}
	for _, a := range rep.Answers {
		fmt.Fprintf(&b, "%s %s\n", a.ID, strings.Join(a.Notes, " "))
	}
	golden := filepath.Join("testdata", "sample.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("the answers changed; if that is meant: go test ./internal/eval -run TestSampleGolden -update\n got:\n%s\nwant:\n%s", got, want)
	}
}
