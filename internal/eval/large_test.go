package eval

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stillso"
)

var evalDay = time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)

// largeStore merges the real stores and adds what other people said, as notes.
func largeStore(t *testing.T, aliases bool) RecallSet {
	t.Helper()
	all := RecallSet{Name: "large"}
	for _, s := range realSets(t, aliases) {
		for _, m := range s.Memories {
			m.ID = s.Name + ":" + m.ID
			all.Memories = append(all.Memories, m)
		}
		for _, q := range s.Queries {
			for i := range q.Right {
				q.Right[i] = s.Name + ":" + q.Right[i]
			}
			for i := range q.AlsoOK {
				q.AlsoOK[i] = s.Name + ":" + q.AlsoOK[i]
			}
			all.Queries = append(all.Queries, q)
		}
	}
	list, err := filepath.Glob(filepath.Join(sharedDir(t, "bench", "beam-100k"), "*.messages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range list {
		messages, err := readLines[benchMessage](file)
		if err != nil {
			t.Fatal(err)
		}
		for _, msg := range messages {
			if text, _, _ := strings.Cut(msg.Content, "->->"); msg.Role == "user" && n < 1100 {
				n++
				m := &stillso.Memory{ID: fmt.Sprintf("said-%d", n), Namespace: EvalNamespace, Content: text[:min(len(text), 400)], Body: text}
				if len(text) <= 400 {
					m.Body = ""
				}
				m.Content = strings.ToValidUTF8(m.Content, "")
				m.Default(evalDay)
				all.Memories = append(all.Memories, m)
			}
		}
	}
	return all
}

// In a store of 1,400 memories a gate made for 50 lets everything through.
func TestLargeStore(t *testing.T) {
	foreign, err := ReadForeign(filepath.Join(sharedDir(t, "real"), "prompts.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		aliases       bool
		top2, foreign float64
	}{{true, 72, 8}, {false, 50, 8}} {
		rep, err := Recall(context.Background(), []RecallSet{largeStore(t, c.aliases)}, RecallOptions{Now: evalDay, Clock: time.Now, Foreign: foreign, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		f := rep.Total
		t.Logf("aliases %v, %d memories: top1 %s top2 %s (found %d %d %d) silent %s foreign %s nothing %s misled %d p50 %d µs", c.aliases, f.Memories, f.Top1, f.Top2,
			f.Found1.Hit, f.Found2.Hit, f.Found5.Hit, f.Silent, f.Foreign, f.Nothing, f.Misled.Hit, f.P50)
		if f.Top2.Percent() < c.top2 || f.Foreign.Percent() > c.foreign {
			t.Errorf("aliases %v: top-2 %s, foreign %s", c.aliases, f.Top2, f.Foreign)
		}
	}
}
