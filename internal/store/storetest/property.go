package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"stillso"

	"pgregory.net/rapid"
)

// Fold replays a journal, oldest first, from nothing and returns the memories
// that it leads to. It is the slow and plain form of what a store does.
func Fold(journal []stillso.Change) (map[string]*stillso.Memory, error) {
	// What a change did does not depend on what became of it later: an undo is a
	// change of its own.
	all := map[string]*stillso.Memory{}
	settled := map[string]bool{}
	for _, c := range journal {
		if c.Resolves != "" {
			settled[c.Resolves] = true
		}
	}
	for _, c := range journal {
		if settled[c.ID] || c.Outcome != stillso.Applied && c.Outcome != stillso.Undone {
			continue
		}
		for _, e := range c.Edits {
			if now := all[e.MemoryID()]; !now.Equal(e.Before) {
				return nil, fmt.Errorf("change %d (%s) rests on another state of %s", c.Seq, c.ID, e.MemoryID())
			}
			if e.After == nil {
				delete(all, e.MemoryID())
			} else {
				all[e.MemoryID()] = e.After
			}
		}
	}
	return all, nil
}

// The law of the journal: whatever is done and undone, the memories are the fold
// of the journal, a refused change leaves no trace, and undoing everything leads
// back to the start.
func testProperty(t *testing.T, open Opener) {
	s, run := open(t), 0
	rapid.Check(t, func(rt *rapid.T) {
		// Every run has memories of its own and looks at its part of the journal.
		run++
		head, err := s.Journal(t.Context(), stillso.JournalFilter{Limit: 1})
		if err != nil {
			rt.Fatalf("Journal: %v", err)
		}
		w := &world{t: t, rt: rt, s: s, prefix: fmt.Sprintf("run%d-", run), now: start, all: map[string]*stillso.Memory{}}
		if len(head) > 0 {
			w.after = head[0].Seq
		}
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			w.step()
			w.check()
		}
		w.undoAll()
	})
}

// world drives a store at random, with its own idea of what it should hold.
type world struct {
	t       *testing.T
	rt      *rapid.T
	s       Store
	prefix  string // of the ids of this run's memories
	after   int64  // the last change before this run
	now     time.Time
	all     map[string]*stillso.Memory
	changes []string
}

func (w *world) step() {
	w.now = w.now.Add(time.Minute)
	switch rapid.IntRange(0, 5).Draw(w.rt, "kind") {
	case 0:
		w.undo()
	case 1:
		w.propose()
	default:
		w.change()
	}
}

// edit draws an edit of one memory; a tenth of them rest on a stale before.
func (w *world) edit(all map[string]*stillso.Memory) (stillso.Edit, bool) {
	id := fmt.Sprintf("%sm%d", w.prefix, rapid.IntRange(0, 3).Draw(w.rt, "memory"))
	now := all[id]
	after := memory(id, rapid.StringMatching(`[a-c]{1,2} 数?`).Draw(w.rt, "content"))
	if now != nil {
		after = now.Clone()
		after.Content += "."
	}
	after.UpdatedAt = w.now
	after.State = rapid.SampledFrom(stillso.States()).Draw(w.rt, "state")
	before, good := now, true
	if rapid.IntRange(0, 9).Draw(w.rt, "stale") == 0 {
		before, good = memory(id, "stale"), false
	}
	return stillso.Edit{Before: before, After: after}, good
}

func (w *world) change() {
	next := make(map[string]*stillso.Memory, len(w.all))
	for id, m := range w.all {
		next[id] = m
	}
	good := true
	var edits []stillso.Edit
	for range rapid.IntRange(1, 3).Draw(w.rt, "edits") {
		e, ok := w.edit(next)
		good = good && ok
		edits = append(edits, e)
		next[e.After.ID] = e.After
	}
	c := change("", stillso.VerbEdit, edits...)
	c.At = w.now
	out, err := w.s.Apply(w.t.Context(), c)
	switch {
	case good && err == nil:
		w.all = next
		w.changes = append(w.changes, out[0].ID)
	case good:
		w.rt.Fatalf("Apply: %v", err)
	case !errors.Is(err, stillso.ErrConflict):
		w.rt.Fatalf("Apply of a stale edit = %v; want ErrConflict", err)
	}
}

func (w *world) propose() {
	e, _ := w.edit(w.all)
	p := change("", stillso.VerbEdit, e)
	p.Outcome = rapid.SampledFrom([]stillso.Outcome{stillso.Proposed, stillso.Refused}).Draw(w.rt, "outcome")
	if _, err := w.s.Apply(w.t.Context(), p); err != nil {
		w.rt.Fatalf("propose: %v", err)
	}
}

// undo takes back any change. Whether it fits is decided by the journal alone.
func (w *world) undo() {
	if len(w.changes) == 0 {
		return
	}
	id := rapid.SampledFrom(w.changes).Draw(w.rt, "undo")
	u, err := w.s.Undo(w.t.Context(), id, human, w.now)
	if errors.Is(err, stillso.ErrConflict) {
		return
	}
	if err != nil {
		w.rt.Fatalf("Undo: %v", err)
	}
	w.changes = append(w.changes, u.ID)
	for _, e := range u.Edits {
		if !w.all[e.MemoryID()].Equal(e.Before) {
			w.rt.Fatalf("undo of %s was let through over a later change", id)
		}
		if e.After == nil {
			delete(w.all, e.MemoryID())
		} else {
			w.all[e.MemoryID()] = e.After
		}
	}
}

func (w *world) check() {
	journal, err := w.s.Journal(w.t.Context(), stillso.JournalFilter{AfterSeq: w.after, Oldest: true})
	if err != nil {
		w.rt.Fatalf("Journal: %v", err)
	}
	folded, err := Fold(journal)
	if err != nil {
		w.rt.Fatalf("Fold: %v", err)
	}
	list, err := w.s.Memories(w.t.Context(), stillso.Filter{IDPrefix: w.prefix})
	if err != nil {
		w.rt.Fatalf("Memories: %v", err)
	}
	if len(list) != len(folded) || len(list) != len(w.all) {
		w.rt.Fatalf("%d memories, %d in the journal, %d expected", len(list), len(folded), len(w.all))
	}
	for _, m := range list {
		if !m.Equal(folded[m.ID]) || !m.Equal(w.all[m.ID]) {
			w.rt.Fatalf("memory %s\n store    %+v\n journal  %+v\n expected %+v", m.ID, m, folded[m.ID], w.all[m.ID])
		}
	}
}

// undoAll takes back what still stands, newest first: that always fits.
func (w *world) undoAll() {
	journal, err := w.s.Journal(w.t.Context(), stillso.JournalFilter{AfterSeq: w.after})
	if err != nil {
		w.rt.Fatalf("Journal: %v", err)
	}
	for c := range slices.Values(journal) {
		if c.Outcome != stillso.Applied || c.Undoes != "" {
			continue
		}
		if _, err := w.s.Undo(w.t.Context(), c.ID, human, w.now); err != nil {
			w.rt.Fatalf("undo of everything, newest first: %s: %v", c.ID, err)
		}
	}
	list, err := w.s.Memories(w.t.Context(), stillso.Filter{IDPrefix: w.prefix})
	if err != nil || len(list) != 0 {
		w.rt.Fatalf("undo of everything leaves %s, %v", ids(list), err)
	}
}
