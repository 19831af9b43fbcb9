package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stillso"
	"stillso/internal/store/storetest"
)

// TestMain lets the test binary run as one of many processes on a store.
func TestMain(m *testing.M) {
	if job := os.Getenv("STILLSO_TEST_CHILD"); job != "" {
		os.Exit(child(job))
	}
	os.Exit(m.Run())
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t testing.TB) storetest.Store { return openTest(t, filepath.Join(t.TempDir(), "home")) })
}

// openTest opens a store in dir and closes it when the test ends.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { closeTest(t, s) })
	return s
}

func closeTest(t testing.TB, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	human = stillso.Actor{Kind: stillso.Human, Name: "test"}
)

func memory(id, content string) *stillso.Memory {
	return &stillso.Memory{
		ID: id, Namespace: "project/p", Type: stillso.Fact, Content: content, CreatedAt: noon, UpdatedAt: noon,
		Priority: 3, State: stillso.Active, Origin: stillso.FromUser, Name: "name of " + id, Aliases: []string{"how about " + id},
	}
}

func adding(m *stillso.Memory) stillso.Change {
	return stillso.Change{
		ID: "add-" + m.ID, Verb: stillso.VerbAdd, Outcome: stillso.Applied, Actor: human, Confidence: 1, At: noon,
		Reason: "test", Edits: []stillso.Edit{{After: m}},
	}
}

func apply(t testing.TB, s *Store, changes ...stillso.Change) {
	t.Helper()
	if _, err := s.Apply(t.Context(), changes...); err != nil {
		t.Fatalf("Apply: %v", err)
	}
}

// fill makes a store of n memories with some history, a session and receipts,
// and closes it.
func fill(t testing.TB, dir string, n int) {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer closeTest(t, s)
	var changes []stillso.Change
	for i := range n {
		m := memory(fmt.Sprintf("m%05d", i), fmt.Sprintf("statement number %d about topic%d and 数据库%d", i, i%50, i))
		m.RelatedFiles = []string{fmt.Sprintf("dir/file%d.go", i)}
		changes = append(changes, adding(m))
	}
	apply(t, s, changes...)
	first := changes[0].Edits[0].After
	second := first.Clone()
	second.Content, second.UpdatedAt = "edited statement", noon.Add(time.Hour)
	apply(t, s, stillso.Change{ID: "edit", Verb: stillso.VerbEdit, Outcome: stillso.Applied, Actor: human, At: noon, Edits: []stillso.Edit{{Before: first, After: second}}})
	if _, err := s.Undo(t.Context(), "edit", human, noon); err != nil {
		t.Fatal(err)
	}
	var turns []stillso.Turn
	for i := range n {
		turns = append(turns, stillso.Turn{ID: fmt.Sprintf("t%d", i), Speaker: stillso.Typed, Text: fmt.Sprintf("turn %d says hello", i), At: noon})
	}
	if _, err := s.Record(t.Context(), stillso.Session{ID: "s", Namespace: "project/p", StartedAt: noon}, turns); err != nil {
		t.Fatal(err)
	}
	if err := s.Enqueue(t.Context(), stillso.QueueItem{Kind: "k", Key: "k", At: noon}); err != nil {
		t.Fatal(err)
	}
}

// clean fails unless Check finds nothing.
func clean(t testing.TB, dir string) {
	t.Helper()
	list, err := Check(t.Context(), dir, Options{})
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	for _, p := range list {
		t.Errorf("Check: %s: %s", p.Part, p.What)
	}
}
