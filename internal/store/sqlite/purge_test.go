package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"stillso"
)

// secret is what a purge must leave no trace of; secretTerm is the part of it
// that the full-text index holds.
const (
	secret     = "Xyzzyplugh-hunter2"
	secretTerm = "xyzzyplugh"
)

// A secret that stays in the log, a free page, the index or the journal has not
// been erased, whatever the command said.
func TestPurge(t *testing.T) {
	for _, n := range []int{0, 3, 300} {
		t.Run(fmt.Sprint(n), func(t *testing.T) { testPurge(t, n) })
	}
}

func testPurge(t *testing.T, n int) {
	dir := filepath.Join(t.TempDir(), "home [1]")
	if n > 0 {
		fill(t, dir, n)
	}
	s := openTest(t, dir)
	m := memory("leak", "The password is "+secret+".")
	m.Evidence = []stillso.Evidence{{Session: "s2", Turn: "u1", Quote: "the password is " + secret}}
	neighbour := memory("neighbour", "kept")
	both := adding(m)
	both.Edits = append(both.Edits, stillso.Edit{After: neighbour})
	both.Reason, both.Evidence = "said "+secret, m.Evidence
	m2 := m.Clone()
	m2.Content, m2.UpdatedAt = "Now it is "+secret+"-2.", noon.Add(time.Hour)
	n2 := neighbour.Clone()
	n2.Content = "kept, edited"
	apply(t, s, both,
		stillso.Change{ID: "e", Verb: stillso.VerbMerge, Outcome: stillso.Applied, Actor: human, At: noon, Edits: []stillso.Edit{{Before: m, After: m2}, {Before: neighbour, After: n2}}},
		stillso.Change{ID: "p", Verb: stillso.VerbEdit, Outcome: stillso.Proposed, Actor: human, At: noon, Edits: []stillso.Edit{{Before: m2, After: m}}})
	_, err := s.Record(t.Context(), stillso.Session{ID: "s2", StartedAt: noon}, []stillso.Turn{
		{ID: "u1", Speaker: stillso.Typed, Text: "remember: the password is " + secret},
		{ID: "u2", Speaker: stillso.Assistant, Text: "Noted. The password is " + secret + "."},
		{ID: "u3", Speaker: stillso.Typed, Text: "thanks"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AddReceipts(t.Context(), []stillso.Receipt{
		{V: 1, At: noon, Terms: []string{secretTerm}, Hits: []stillso.ReceiptHit{{ID: "leak"}}},
		{V: 1, At: noon, Terms: []string{"other"}, Hits: []stillso.ReceiptHit{{ID: "leak2"}}},
	}); err != nil {
		t.Fatal(err)
	}
	put(t, dir, filepath.Join(backupDir, "store-v0.db"), []byte(secret))
	put(t, dir, dbFile+".corrupt-20260101T000000Z", []byte(secret))
	if traces(t, dir) == "" {
		t.Fatal("the test looks for something that is not there")
	}

	if _, err := s.Purge(t.Context(), "leak", stillso.Actor{Kind: stillso.Model}, noon); err == nil {
		t.Error("a model purged a memory")
	}
	c, err := s.Purge(t.Context(), "leak", human, noon)
	if err != nil {
		t.Fatalf("Purge: %v", err)
	}
	if where := traces(t, dir); where != "" {
		t.Errorf("after the purge the secret is still in %s", where)
	}
	if _, err := s.Memory(t.Context(), "leak"); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("Memory = %v; want ErrNotFound", err)
	}
	if got, err := s.Memory(t.Context(), "neighbour"); err != nil || !got.Equal(n2) {
		t.Errorf("the other memory of the same changes = %+v, %v", got, err)
	}
	if list, err := s.Search(t.Context(), stillso.TextQuery{Text: secret, Turns: true}); err != nil || len(list) > 0 {
		t.Errorf("Search = %v, %v", list, err)
	}
	if list, err := s.Receipts(t.Context(), time.Time{}, 0); err != nil || len(list) != 1 {
		t.Errorf("%d receipts, %v; want the one of the other memory", len(list), err)
	}
	journal, err := s.Journal(t.Context(), stillso.JournalFilter{MemoryID: "leak"})
	if err != nil || len(journal) != 4 || journal[0].ID != c.ID || journal[0].Edits[0].MemoryID() != "leak" {
		t.Errorf("Journal = %+v, %v; want the tombstones of four changes", journal, err)
	}
	if _, err := s.Undo(t.Context(), c.ID, human, noon); !errors.Is(err, stillso.ErrConflict) {
		t.Errorf("undo of a purge = %v; want ErrConflict", err)
	}
	if _, err := s.Undo(t.Context(), "e", human, noon); !errors.Is(err, stillso.ErrConflict) {
		t.Errorf("undo of what was purged = %v; want ErrConflict", err)
	}
	if _, err := s.Apply(t.Context(), adding(memory("leak", "again"))); !errors.Is(err, stillso.ErrConflict) {
		t.Errorf("adding the memory again = %v; want ErrConflict", err)
	}
	// Again is harmless, and is how an interrupted purge is finished.
	again, err := s.Purge(t.Context(), "leak", human, noon)
	if err != nil || again.ID != c.ID {
		t.Errorf("second purge = %+v, %v; want the first", again, err)
	}
	if _, err := s.Purge(t.Context(), "nothing", human, noon); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("purge of nothing = %v; want ErrNotFound", err)
	}
	apply(t, s, adding(memory("later", "life goes on")))
	closeTest(t, s)
	clean(t, dir)

	// The journal still leads to the same store, without the secret.
	r, err := Repair(t.Context(), dir, noon)
	if err != nil || len(r.Lost) > 0 {
		t.Fatalf("Repair = %+v, %v", r, err)
	}
	clean(t, dir)
	if where := traces(t, dir); where != "" {
		t.Errorf("after the repair the secret is still in %s", where)
	}
	s = openTest(t, dir)
	if _, err := s.Apply(t.Context(), adding(memory("leak", "again"))); !errors.Is(err, stillso.ErrConflict) {
		t.Errorf("adding the memory after a repair = %v; want ErrConflict", err)
	}
}

// A purge beside a reader that will not go must say that old pages remain, and
// be finished by the next one.
func TestPurgeBesideReader(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	s, err := Open(t.Context(), dir, Options{BusyTimeout: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer closeTest(t, s)
	apply(t, s, adding(memory("leak", "The password is "+secret+".")))
	reader := openTest(t, dir)
	tx, err := reader.read.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := tx.QueryRow("SELECT count(*) FROM memories").Scan(&n); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Purge(t.Context(), "leak", human, noon); !errors.Is(err, stillso.ErrBusy) {
		t.Errorf("Purge beside a reader = %v; want ErrBusy", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Purge(t.Context(), "leak", human, noon); err != nil {
		t.Errorf("Purge after the reader = %v", err)
	}
	if where := traces(t, dir); where != "" {
		t.Errorf("the secret is still in %s", where)
	}
}

// traces lists the files that hold the secret, in any case.
func traces(t testing.TB, dir string) string {
	t.Helper()
	var found string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(b), []byte(secretTerm)) {
			found += " " + d.Name()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
