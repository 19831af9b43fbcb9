package eval

import (
	"strings"
	"testing"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// halves cuts a prompt in two at a space or a comma near its middle.
func halves(p string) (first, second string) {
	r := []rune(p)
	for d := range len(r) / 2 {
		for _, i := range []int{len(r)/2 - d, len(r)/2 + d} {
			if i > 0 && i < len(r) && strings.ContainsRune(" ，,。", r[i]) {
				return string(r[:i]), string(r[i+1:])
			}
		}
	}
	return string(r[:len(r)/2]), string(r[len(r)/2:])
}

// The turn before must help a follow-up to its memory, and must not wake one for a
// prompt that says nothing: context sharpens a topic and never invents one. A
// follow-up is the second half of a real prompt, its turn before the first half.
func TestPreviousTurn(t *testing.T) {
	for _, aliases := range []bool{false, true} {
		var alone, with, woken, quiet Share
		for _, s := range realSets(t, aliases) {
			err := withSnapshot(s.Memories, RecallOptions{Temp: t.TempDir()}, func(snap *snapshot.Snapshot) error {
				ask := func(prompt, before string) []recall.Hit {
					return recall.Recall(snap, recall.Query{Prompt: prompt, PreviousTurn: before, Namespaces: []stillso.Namespace{EvalNamespace}, Now: evalDay}).Hits
				}
				var topics []string
				for i := range s.Queries {
					if q := &s.Queries[i]; !q.silent() {
						topics = append(topics, q.Prompt)
						first, second := halves(q.Prompt)
						alone.add(rank(q, ask(second, "")) <= 2)
						with.add(rank(q, ask(second, first)) <= 2)
					}
				}
				for i := range s.Queries {
					if q := &s.Queries[i]; q.silent() {
						for k := range 4 {
							quiet.add(len(ask(q.Prompt, "")) > 0)
							woken.add(len(ask(q.Prompt, topics[(i*7+k*13)%len(topics)])) > 0)
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("aliases %v: second halves found %s, with the first half before them %s; prompts that need nothing injected %s, after a topic %s", aliases, alone, with, quiet, woken)
		if with.Hit <= alone.Hit {
			t.Errorf("aliases %v: the turn before does not help", aliases)
		}
		if woken.Percent() > quiet.Percent()+4 {
			t.Errorf("aliases %v: the turn before wakes memories: %s", aliases, woken)
		}
	}
}
