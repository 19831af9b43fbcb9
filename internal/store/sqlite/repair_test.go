package sqlite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stillso"
)

// view is all that a store answers, in one text, the searches last.
func view(t testing.TB, s *Store) (string, error) {
	t.Helper()
	var b strings.Builder
	w := json.NewEncoder(&b)
	list, err := s.Memories(t.Context(), stillso.Filter{})
	if err != nil {
		return "", err
	}
	for _, m := range list {
		_ = w.Encode(m) // a memory that was read can be written
		one, err := s.Memory(t.Context(), m.ID)
		if err != nil {
			return "", err
		}
		if !one.Equal(m) {
			return "", fmt.Errorf("memory %s differs between list and look-up", m.ID)
		}
	}
	journal, err := s.Journal(t.Context(), stillso.JournalFilter{})
	if err != nil {
		return "", err
	}
	for _, c := range journal {
		_ = w.Encode(c)
	}
	b.WriteString(searches)
	for _, q := range []string{"statement topic7", "数据库11", "edited"} {
		found, err := s.Search(t.Context(), stillso.TextQuery{Text: q})
		if err != nil {
			return "", err
		}
		for _, f := range found {
			_ = w.Encode(f.Memory)
		}
	}
	return b.String(), nil
}

// Damage of any kind that gives an empty or a wrong answer without an error;
// that Check does not see; or that Repair cannot make good from the segments.
func TestCorruption(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good")
	fill(t, good, 60)
	other := filepath.Join(t.TempDir(), "other")
	fill(t, other, 60)
	older := filepath.Join(t.TempDir(), "older")
	copyTree(t, good, older)
	s := openTest(t, good)
	apply(t, s, adding(memory("late", "statement of the last hour")))
	want, err := view(t, s)
	if err != nil {
		t.Fatal(err)
	}
	closeTest(t, s)
	db, err := os.ReadFile(filepath.Join(good, dbFile))
	if err != nil {
		t.Fatal(err)
	}
	pages := len(db) / 4096
	rng := rand.New(rand.NewPCG(1, 2))
	harms := map[string]func(dir string){
		"header":      func(dir string) { put(t, dir, dbFile, overwrite(db, 0, 100, rng)) },
		"application": func(dir string) { put(t, dir, dbFile, overwrite(db, 68, 4, rng)) },
		"schema":      func(dir string) { put(t, dir, dbFile, overwrite(db, 2000, 500, rng)) },
		"older copy": func(dir string) {
			b, err := os.ReadFile(filepath.Join(older, dbFile))
			if err != nil {
				t.Fatal(err)
			}
			put(t, dir, dbFile, b)
		},
		"log of another store": func(dir string) {
			s := openTest(t, other)
			apply(t, s, adding(memory(fmt.Sprint("x", rng.Uint32()), "in the log of another store")))
			b, err := os.ReadFile(filepath.Join(other, dbFile+"-wal"))
			if err != nil || len(b) == 0 {
				t.Fatalf("no log: %v", err)
			}
			put(t, dir, dbFile+"-wal", b)
			closeTest(t, s)
		},
		"garbage log": func(dir string) { put(t, dir, dbFile+"-wal", overwrite(make([]byte, 8192), 0, 8192, rng)) },
		"old index":   func(dir string) { put(t, dir, dbFile+"-shm", overwrite(make([]byte, 32768), 0, 32768, rng)) },
	}
	n := rounds("STILLSO_DAMAGES", 50)
	for i := range n {
		page, size := rng.IntN(pages), 4096
		if i%2 == 1 {
			size = 64 + rng.IntN(512)
		}
		off := page*4096 + rng.IntN(4096-min(size, 4095))
		harms[fmt.Sprintf("page %d, %d bytes at %d", page+1, size, off)] = func(dir string) { put(t, dir, dbFile, overwrite(db, off, size, rng)) }
	}
	for i := range n * 2 / 5 {
		at := i * len(db) / (n * 2 / 5)
		if i%2 == 1 {
			at = rng.IntN(len(db))
		}
		harms[fmt.Sprintf("cut at %d", at)] = func(dir string) { put(t, dir, dbFile, db[:at]) }
	}
	unseen := 0
	for name, harm := range harms {
		dir := filepath.Join(t.TempDir(), "home")
		copyTree(t, good, dir)
		harm(dir)
		answer, err := openAndView(t, dir)
		// The full-text index has no checksums of its own: damage that leaves it
		// well-formed changes what a search finds, and only Check sees it.
		problems, checkErr := Check(t.Context(), dir, Options{})
		found, expected := answer, want
		if len(problems) > 0 {
			found, _, _ = strings.Cut(answer, searches)
			expected, _, _ = strings.Cut(want, searches)
		}
		if err == nil && found != expected {
			t.Errorf("%s: a wrong answer without an error%s", name, firstDifference(found, expected))
		}
		if checkErr != nil {
			t.Errorf("%s: Check = %v", name, checkErr)
		}
		if err != nil && len(problems) == 0 {
			t.Errorf("%s: Check finds nothing, but: %v", name, err)
		}
		if err == nil && len(problems) == 0 {
			unseen++ // a free page, or bytes that were not in use: nothing is wrong
		}
		if _, err := Repair(t.Context(), dir, noon); err != nil {
			t.Errorf("%s: Repair = %v", name, err)
			continue
		}
		clean(t, dir)
		if answer, err := openAndView(t, dir); err != nil || answer != want {
			t.Errorf("%s: after the repair the answers differ: %v%s", name, err, firstDifference(answer, want))
		}
	}
	t.Logf("%d kinds of damage, %d of them without effect", len(harms), unseen)
}

const searches = "searches\n"

func firstDifference(got, want string) string {
	for i, line := range strings.Split(want, "\n") {
		if rest := strings.Split(got, "\n"); i >= len(rest) || rest[i] != line {
			return fmt.Sprintf(" from line %d: %.300s\nwant %.300s", i+1, strings.Join(rest[min(i, len(rest)):], "\n"), line)
		}
	}
	return ""
}

func openAndView(t testing.TB, dir string) (string, error) {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{BusyTimeout: time.Second})
	if err != nil {
		return "", err
	}
	defer closeTest(t, s)
	return view(t, s)
}

// overwrite returns a copy of b with random bytes at off.
func overwrite(b []byte, off, size int, rng *rand.Rand) []byte {
	b = bytes.Clone(b)
	for i := off; i < min(off+size, len(b)); i++ {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// A repair that loses what only the database has, or what only the segments
// have, or that throws the old files away.
func TestRepair(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good")
	fill(t, good, 60)
	s := openTest(t, good)
	want, err := view(t, s)
	if err != nil {
		t.Fatal(err)
	}
	closeTest(t, s)
	segment := filepath.Join(journalDir, "00000001.jsonl")
	text, err := os.ReadFile(filepath.Join(good, segment))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	for name, c := range map[string]struct {
		harm  func(dir string)
		turns int
		lost  bool
	}{
		"nothing wrong": {func(string) {}, 60, false},
		"no database":   {func(dir string) { drop(t, dir, dbFile) }, 0, false},
		"no segments":   {func(dir string) { drop(t, dir, journalDir); drop(t, dir, headFile) }, 60, false},
		"no head":       {func(dir string) { drop(t, dir, headFile); put(t, dir, dbFile, nil) }, 0, false},
		"line altered": {func(dir string) {
			put(t, dir, segment, bytes.Replace(text, []byte("number 7 "), []byte("number 8 "), 1))
		}, 60, true},
		"line missing": {func(dir string) {
			put(t, dir, segment, bytes.Join(append(lines[:20:20], lines[21:]...), nil))
		}, 60, false},
	} {
		dir := filepath.Join(t.TempDir(), "home")
		copyTree(t, good, dir)
		c.harm(dir)
		r, err := Repair(t.Context(), dir, noon)
		if err != nil {
			t.Errorf("%s: Repair = %v", name, err)
			continue
		}
		if r.Memories != 60 || r.Changes != 62 || r.Turns != c.turns || (len(r.Lost) > 0) != c.lost {
			t.Errorf("%s: Repair = %+v", name, r)
		}
		clean(t, dir)
		if got, err := openAndView(t, dir); err != nil || got != want {
			t.Errorf("%s: after the repair the answers differ: %v", name, err)
		}
		for _, k := range r.Kept {
			if _, err := os.Stat(filepath.Join(dir, k)); err != nil || !strings.Contains(k, ".corrupt-20260301T120000Z") {
				t.Errorf("%s: %q was not kept: %v", name, k, err)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, repairDir)); err == nil {
			t.Errorf("%s: %s was left behind", name, repairDir)
		}
	}
}

// Where two stores lie in one folder, a guess would throw one of them away.
func TestRepairTwoStores(t *testing.T) {
	dir, other := filepath.Join(t.TempDir(), "home"), filepath.Join(t.TempDir(), "other")
	fill(t, dir, 5)
	fill(t, other, 5)
	drop(t, dir, headFile)
	drop(t, dir, journalDir)
	copyTree(t, filepath.Join(other, journalDir), filepath.Join(dir, journalDir))
	if r, err := Repair(t.Context(), dir, noon); err == nil || !strings.Contains(err.Error(), "two different stores") {
		t.Errorf("Repair = %+v, %v; want an error that says why", r, err)
	}
	drop(t, dir, dbFile)
	if r, err := Repair(t.Context(), dir, noon); err != nil || r.Memories != 5 {
		t.Errorf("Repair of what was left = %+v, %v", r, err)
	}
	clean(t, dir)
}

// When both copies have lost a change, what remains must be kept, and the loss
// must be told.
func TestRepairGap(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	fill(t, dir, 30)
	segment := filepath.Join(dir, journalDir, "00000001.jsonl")
	text, err := os.ReadFile(segment)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	put(t, dir, filepath.Join(journalDir, "00000001.jsonl"), bytes.Join(append(lines[:5:5], lines[7:]...), nil))
	drop(t, dir, dbFile)
	r, err := Repair(t.Context(), dir, noon)
	if err != nil || r.Memories != 28 || len(r.Lost) == 0 {
		t.Fatalf("Repair = %+v, %v; want 28 memories and a word on the loss", r, err)
	}
	clean(t, dir)
	s := openTest(t, dir)
	if _, err := s.Memory(t.Context(), "m00010"); err != nil {
		t.Error(err)
	}
	apply(t, s, adding(memory("new", "after the repair")))
}

// A process that still holds the old file must not write into it unseen.
func TestRepairBesideWriter(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	fill(t, dir, 5)
	s := openTest(t, dir)
	if _, err := s.Memory(t.Context(), "m00001"); err != nil {
		t.Fatal(err)
	}
	if _, err := Repair(t.Context(), dir, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Apply(t.Context(), adding(memory("x", "x"))); !errors.Is(err, stillso.ErrDamaged) {
		t.Errorf("Apply into the replaced database = %v; want ErrDamaged", err)
	}
	clean(t, dir)
}

// Tampering that keeps the file well-formed.
func TestCheckFindsTampering(t *testing.T) {
	for name, query := range map[string]string{
		"memory altered":    `UPDATE memories SET payload = replace(payload, 'number 7', 'number 9') WHERE id = 'm00007'`,
		"memory removed":    `DELETE FROM memories WHERE id = 'm00007'`,
		"column altered":    `UPDATE memories SET namespace = 'user' WHERE id = 'm00007'`,
		"body altered":      `UPDATE journal_parts SET body = replace(body, 'number 7', 'number 9') WHERE seq = 8`,
		"body erased":       `UPDATE journal_parts SET body = NULL, salt = NULL WHERE seq = 8`,
		"core altered":      `UPDATE journal SET core = replace(core, 'human', 'model') WHERE seq = 8`,
		"outcome altered":   `UPDATE journal SET outcome = 'applied' WHERE id = 'edit'`,
		"row removed":       `DELETE FROM journal_parts WHERE seq = 8; DELETE FROM journal WHERE seq = 8`,
		"last row removed":  `DELETE FROM journal_parts WHERE seq = 22; DELETE FROM journal WHERE seq = 22`,
		"index row removed": `DELETE FROM memories_fts WHERE rowid = 8`,
		"index row added":   `INSERT INTO memories_fts (rowid, content) VALUES (999, 'x')`,
	} {
		dir := filepath.Join(t.TempDir(), "home")
		fill(t, dir, 20)
		s := openTest(t, dir)
		if _, err := s.write.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		closeTest(t, s)
		if list, err := Check(t.Context(), dir, Options{}); err != nil || len(list) == 0 {
			t.Errorf("%s: Check = %v, %v; want a problem", name, list, err)
		}
		if _, err := Repair(t.Context(), dir, noon); err != nil {
			t.Errorf("%s: Repair = %v", name, err)
		}
		clean(t, dir)
	}
}
