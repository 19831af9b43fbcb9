// Package storetest is what every store must do, as one exported test.
package storetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"stillso"
)

// Store is all that a store does.
type Store interface {
	stillso.Memories
	stillso.Sessions
	stillso.Queue
}

// Opener makes an empty store; it closes it when the test ends.
type Opener func(t testing.TB) Store

// Run tests every rule of the contract on stores that open makes.
func Run(t *testing.T, open Opener) {
	for _, g := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"Apply", testApply},
		{"Conflict", testConflict},
		{"Invalid", testInvalid},
		{"Review", testReview},
		{"Undo", testUndo},
		{"Filter", testFilter},
		{"Journal", testJournal},
		{"Search", testSearch},
		{"Sessions", testSessions},
		{"Queue", testQueue},
		{"Ledger", testLedger},
		{"Concurrent", testConcurrent},
		{"Property", testProperty},
	} {
		t.Run(g.name, func(t *testing.T) { g.test(t, open) })
	}
}

// start is the clock of the tests; nanoseconds show what is cut off.
var start = time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)

var human = stillso.Actor{Kind: stillso.Human, Name: "test"}

// memory returns a valid memory that says content.
func memory(id, content string) *stillso.Memory {
	return &stillso.Memory{
		ID: id, Namespace: "project/p", Type: stillso.Fact, Content: content, CreatedAt: start, UpdatedAt: start,
		Priority: 3, State: stillso.Active, Origin: stillso.FromUser,
	}
}

// change returns an applied change with these edits.
func change(id string, verb stillso.Verb, edits ...stillso.Edit) stillso.Change {
	return stillso.Change{
		ID: id, Verb: verb, Outcome: stillso.Applied, Actor: human, Confidence: 1, At: start, Edits: edits,
		Reason: "reason of " + id, Evidence: []stillso.Evidence{{Session: "s", Turn: "t", Quote: "quote of " + id}},
	}
}

func add(m *stillso.Memory) stillso.Change {
	return change("add-"+m.ID, stillso.VerbAdd, stillso.Edit{After: m})
}

// edited returns a copy of m that says content, changed a minute later.
func edited(m *stillso.Memory, content string) *stillso.Memory {
	c := m.Clone()
	c.Content, c.UpdatedAt = content, m.UpdatedAt.Add(time.Minute)
	return c
}

func apply(t testing.TB, s Store, changes ...stillso.Change) []stillso.Change {
	t.Helper()
	out, err := s.Apply(t.Context(), changes...)
	if err != nil {
		t.Fatalf("Apply: %v", err)
	}
	if len(out) != len(changes) {
		t.Fatalf("Apply returned %d changes of %d", len(out), len(changes))
	}
	return out
}

// want fails unless the store holds m, or nothing under id if m is nil.
func want(t testing.TB, s Store, id string, m *stillso.Memory) {
	t.Helper()
	got, err := s.Memory(t.Context(), id)
	if m == nil {
		if !errors.Is(err, stillso.ErrNotFound) {
			t.Fatalf("Memory(%s) = %v, %v; want ErrNotFound", id, got, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("Memory(%s): %v", id, err)
	}
	if !got.Equal(m) {
		t.Fatalf("Memory(%s)\n got %+v\nwant %+v", id, got, m)
	}
}

// outcome returns what has become of a change.
func outcome(t testing.TB, s Store, id string) stillso.Outcome {
	t.Helper()
	list, err := s.Journal(t.Context(), stillso.JournalFilter{ChangeID: id})
	for _, c := range list {
		if c.ID == id { // others may begin with it
			return c.Outcome
		}
	}
	t.Fatalf("Journal(%s) = %d changes, %v; it is not among them", id, len(list), err)
	return ""
}

func ids(list []*stillso.Memory) string {
	var names []string
	for _, m := range list {
		names = append(names, m.ID)
	}
	return fmt.Sprint(names)
}
