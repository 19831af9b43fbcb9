package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"stillso"
)

// version1 is a store as version 1 of the format wrote it. It is never written
// again: what a user has on disk does not change either.
const version1 = "testdata/v1"

// A new version that cannot read what an old one has written loses everything.
func TestVersion1(t *testing.T) {
	if os.Getenv("STILLSO_WRITE_TESTDATA") != "" {
		writeVersion1(t)
	}
	dir := filepath.Join(t.TempDir(), "home")
	copyTree(t, version1, dir)
	want, err := os.ReadFile(filepath.Join(dir, "answers.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	// What a search finds may change with the analysis of text; the rest may not.
	kept, _, _ := strings.Cut(string(want), searches)
	same := func(when string) {
		t.Helper()
		got, err := openAndView(t, dir)
		if got, _, _ = strings.Cut(got, searches); err != nil || got != kept {
			t.Errorf("%s the answers differ: %v%s", when, err, firstDifference(got, kept))
		}
		clean(t, dir)
	}
	same("opened")
	if r, err := Repair(t.Context(), dir, noon); err != nil || len(r.Lost) > 0 || r.Turns != 12 {
		t.Errorf("Repair = %+v, %v", r, err)
	}
	same("repaired")
}

// writeVersion1 made testdata/v1. It refuses to overwrite it.
func writeVersion1(t *testing.T) {
	if _, err := os.Stat(version1); err == nil {
		t.Fatalf("%s is there: a released format is not written again", version1)
	}
	dir := filepath.Join(t.TempDir(), "home")
	fill(t, dir, 12)
	s := openTest(t, dir)
	p := adding(memory("maybe", "a proposal"))
	p.ID, p.Outcome = "p", stillso.Proposed
	yes := adding(memory("maybe", "a proposal"))
	yes.Resolves = "p"
	no := adding(memory("never", "refused"))
	no.Outcome = stillso.Refused
	apply(t, s, p, yes, no)
	if _, err := s.Purge(t.Context(), "m00003", human, noon); err != nil {
		t.Fatal(err)
	}
	if err := s.AddReceipts(t.Context(), []stillso.Receipt{{V: 1, At: noon, Event: "prompt"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Seen(t.Context(), stillso.Place{Namespace: "project/p", Root: "/src/p", SeenAt: noon}); err != nil {
		t.Fatal(err)
	}
	answers, err := view(t, s)
	if err != nil {
		t.Fatal(err)
	}
	closeTest(t, s)
	drop(t, dir, lockFile)
	put(t, dir, "answers.jsonl", []byte(answers))
	copyTree(t, dir, version1)
}

// later returns the real migrations with steps of later versions.
func later(t testing.TB, sql ...string) []migration {
	t.Helper()
	steps, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range sql {
		steps = append(steps, migration{len(steps) + 1, q})
	}
	return steps
}

// A migration that loses data, leaves no way back, or shuts out an older program
// that could still read the file.
func TestMigrate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	fill(t, dir, 20)
	want, err := openAndView(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	add := "ALTER TABLE memories ADD COLUMN later TEXT"
	steps := later(t, add)

	// Many processes find the old version at the same moment.
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := open(t.Context(), dir, Options{}, steps)
			if err != nil {
				t.Errorf("Open with a migration: %v", err)
				return
			}
			if _, err := s.write.ExecContext(t.Context(), "UPDATE memories SET later = 'x'"); err != nil {
				t.Errorf("the new column: %v", err)
			}
			closeTest(t, s)
		})
	}
	wg.Wait()
	backup := filepath.Join(dir, backupDir, "store-v1.db")
	info, err := os.Stat(backup)
	if err != nil || info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		t.Fatalf("the backup: %v, %v", info, err)
	}
	// The older program still works beside the newer one.
	if got, err := openAndView(t, dir); err != nil || got != want {
		t.Errorf("the older program: the answers differ: %v%s", err, firstDifference(got, want))
	}
	clean(t, dir)
	// The backup is the store as it was.
	old := filepath.Join(t.TempDir(), "old")
	copyTree(t, dir, old)
	rename(t, old, filepath.Join(backupDir, "store-v1.db"), dbFile)
	if got, err := openAndView(t, old); err != nil || got != want {
		t.Errorf("the backup: the answers differ: %v", err)
	}

	// A step that fails leaves the store at the version before.
	broken := later(t, add, "CREATE TABLE fresh (x); SELECT nonsense FROM nowhere")
	if s, err := open(t.Context(), dir, Options{}, broken); err == nil {
		closeTest(t, s)
		t.Error("a broken migration was taken for done")
	}
	s, err := open(t.Context(), dir, Options{}, later(t, add, "CREATE TABLE fresh (x)", "SELECT 1", "SELECT 1", "SELECT 1"))
	if err != nil {
		t.Fatalf("Open after a broken migration: %v", err)
	}
	closeTest(t, s)
	if _, err := os.Stat(backup); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("more than three backups are kept: %v", err)
	}
	files, err := os.ReadDir(filepath.Join(dir, backupDir))
	if err != nil || len(files) != 3 {
		t.Errorf("%d backups, %v; want 3", len(files), err)
	}
	if got, err := openAndView(t, dir); err != nil || got != want {
		t.Errorf("after all migrations the answers differ: %v", err)
	}
}

// Another analysis of text would look for words that the index does not have.
func TestReindex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	fill(t, dir, 20)
	s := openTest(t, dir)
	for _, q := range []string{
		"UPDATE meta SET value = 'another' WHERE key = 'terms'",
		"INSERT INTO memories_fts (memories_fts) VALUES ('delete-all')",
		"INSERT INTO memories_fts (rowid, content) SELECT n, 'other words' FROM memories",
	} {
		if _, err := s.write.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	closeTest(t, s)
	s = openTest(t, dir)
	if list, err := s.Search(t.Context(), stillso.TextQuery{Text: "topic7"}); err != nil || len(list) == 0 || list[0].Memory.ID != "m00007" {
		t.Errorf("Search = %d results, %v; want m00007 first", len(list), err)
	}
	closeTest(t, s)
	clean(t, dir)
}
