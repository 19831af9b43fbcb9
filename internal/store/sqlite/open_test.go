package sqlite

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stillso"
)

// An emptied, replaced, rolled back or missing database that opens as an empty
// store: everything would be forgotten without a word.
func TestOpenDamaged(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good")
	fill(t, good, 50)
	other := filepath.Join(t.TempDir(), "other")
	fill(t, other, 50)
	older := filepath.Join(t.TempDir(), "older")
	copyTree(t, good, older)
	s := openTest(t, good)
	apply(t, s, adding(memory("late", "the last one")))
	closeTest(t, s)
	read := func(dir, name string) []byte {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, harm := range map[string]func(dir string){
		"emptied":          func(dir string) { put(t, dir, dbFile, nil) },
		"missing":          func(dir string) { drop(t, dir, dbFile) },
		"another store":    func(dir string) { put(t, dir, dbFile, read(other, dbFile)) },
		"older copy":       func(dir string) { put(t, dir, dbFile, read(older, dbFile)) },
		"garbage":          func(dir string) { put(t, dir, dbFile, bytes.Repeat([]byte("garbage "), 4096)) },
		"short":            func(dir string) { put(t, dir, dbFile, read(good, dbFile)[:5000]) },
		"one page":         func(dir string) { put(t, dir, dbFile, read(good, dbFile)[:4096]) },
		"no SQLite":        func(dir string) { put(t, dir, dbFile, []byte("x")) },
		"emptied, no head": func(dir string) { put(t, dir, dbFile, nil); drop(t, dir, headFile) },
		"missing, no head": func(dir string) { drop(t, dir, dbFile); drop(t, dir, headFile) },
		"older, no head":   func(dir string) { put(t, dir, dbFile, read(older, dbFile)); drop(t, dir, headFile) },
		"other, no head":   func(dir string) { put(t, dir, dbFile, read(other, dbFile)); drop(t, dir, headFile) },
		"older, odd head":  func(dir string) { put(t, dir, dbFile, read(older, dbFile)); put(t, dir, headFile, nil) },
	} {
		for _, readOnly := range []bool{false, true} {
			dir := filepath.Join(t.TempDir(), "home")
			copyTree(t, good, dir)
			harm(dir)
			s, err := Open(t.Context(), dir, Options{ReadOnly: readOnly, BusyTimeout: time.Second})
			if err == nil {
				closeTest(t, s)
			}
			if !errors.Is(err, stillso.ErrDamaged) {
				t.Errorf("%s, read-only %v: Open = %v; want ErrDamaged", name, readOnly, err)
				continue
			}
			if list, err := Check(t.Context(), dir, Options{ReadOnly: readOnly}); err != nil || len(list) == 0 {
				t.Errorf("%s: Check = %v, %v; want a problem", name, list, err)
			}
		}
	}
}

// What is only behind is no damage: a head or segments that were lost, or a line
// that was cut, are written anew.
func TestOpenHeals(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good")
	fill(t, good, 50)
	segment := filepath.Join(journalDir, "00000001.jsonl")
	whole, err := os.ReadFile(filepath.Join(good, segment))
	if err != nil {
		t.Fatal(err)
	}
	for name, harm := range map[string]func(dir string){
		"no head":          func(dir string) { drop(t, dir, headFile) },
		"empty head":       func(dir string) { put(t, dir, headFile, nil) },
		"odd head":         func(dir string) { put(t, dir, headFile, []byte(`{"v":1,"instance":`)) },
		"no segments":      func(dir string) { drop(t, dir, journalDir) },
		"emptied segment":  func(dir string) { put(t, dir, segment, nil) },
		"cut segment":      func(dir string) { put(t, dir, segment, whole[:len(whole)-10]) },
		"half a line more": func(dir string) { put(t, dir, segment, append(whole[:len(whole):len(whole)], whole[200:300]...)) },
		"cut, no head":     func(dir string) { put(t, dir, segment, whole[:len(whole)/2]); drop(t, dir, headFile) },
		"leftovers":        func(dir string) { put(t, dir, "journal.new/00000001.jsonl", []byte("x")) },
		"folder was moved": func(dir string) { rename(t, dir, journalDir, journalDir+".old") },
		"no log":           func(dir string) { drop(t, dir, dbFile+"-wal"); drop(t, dir, dbFile+"-shm") },
	} {
		dir := filepath.Join(t.TempDir(), "home")
		copyTree(t, good, dir)
		harm(dir)
		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Errorf("%s: Open = %v", name, err)
			continue
		}
		apply(t, s, adding(memory("after", "written after healing")))
		closeTest(t, s)
		clean(t, dir)
		healed, err := os.ReadFile(filepath.Join(dir, segment))
		if err != nil || !bytes.HasPrefix(healed, whole) {
			t.Errorf("%s: the segment was not healed: %v", name, err)
		}
	}
}

// A file that a newer version wrote must not be touched, nor taken for damage.
func TestOpenNewer(t *testing.T) {
	for _, c := range []struct {
		name, query     string
		read, mayChange bool
	}{
		{"reader", "UPDATE meta SET value = '2' WHERE key IN ('min_reader', 'min_writer')", false, false},
		{"writer", "UPDATE meta SET value = '2' WHERE key = 'min_writer'", true, false},
		{"newer but compatible", "PRAGMA user_version = 7", true, true},
	} {
		dir := filepath.Join(t.TempDir(), "home")
		fill(t, dir, 3)
		s := openTest(t, dir)
		if _, err := s.write.ExecContext(t.Context(), c.query); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Apply(t.Context(), adding(memory("x", "x"))); (err == nil) != c.mayChange || err != nil && !errors.Is(err, stillso.ErrNewer) {
			t.Errorf("%s: Apply on a store that was migrated meanwhile = %v", c.name, err)
		}
		closeTest(t, s)
		s, err := Open(t.Context(), dir, Options{})
		if (err == nil) != c.read || err != nil && !errors.Is(err, stillso.ErrNewer) {
			t.Errorf("%s: Open = %v", c.name, err)
		}
		if err != nil {
			if _, err := Repair(t.Context(), dir, noon); !errors.Is(err, stillso.ErrNewer) {
				t.Errorf("%s: Repair = %v; want ErrNewer", c.name, err)
			}
			continue
		}
		if _, err := s.Memory(t.Context(), "m00001"); err != nil {
			t.Errorf("%s: Memory = %v", c.name, err)
		}
		if _, err := s.Apply(t.Context(), adding(memory("y", "y"))); (err == nil) != c.mayChange || err != nil && !errors.Is(err, stillso.ErrNewer) {
			t.Errorf("%s: Apply = %v", c.name, err)
		}
		closeTest(t, s)
	}
}

// A store that is not there is neither damaged nor created by looking for it.
func TestOpenNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	if _, err := Open(t.Context(), dir, Options{ReadOnly: true}); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("Open = %v; want ErrNotFound", err)
	}
	if _, err := Repair(t.Context(), dir, noon); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("Repair = %v; want ErrNotFound", err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was created: %v", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, dir, dbFile, nil) // another process is creating it just now
	if _, err := Open(t.Context(), dir, Options{ReadOnly: true}); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("Open of a store in creation = %v; want ErrNotFound", err)
	}
	if _, err := os.Lstat(filepath.Join(dir, lockFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made a lock file: %v", err)
	}
	closeTest(t, openTest(t, dir)) // a creation that died is finished
	clean(t, dir)
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", []byte("x"))
	if _, err := Open(t.Context(), file, Options{}); err == nil {
		t.Error("a file was opened as a folder")
	}
}

// Who waits for ever, or fails at once, breaks the sweep.
func TestBusy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	fill(t, dir, 3)
	holder := openTest(t, dir)
	tx, err := holder.write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), dir, Options{BusyTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer closeTest(t, s)
	if _, err := s.Apply(t.Context(), adding(memory("x", "x"))); !errors.Is(err, stillso.ErrBusy) {
		t.Errorf("Apply = %v; want ErrBusy", err)
	}
	if _, err := s.Memory(t.Context(), "m00001"); err != nil {
		t.Errorf("reading beside a writer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Apply(ctx, adding(memory("x", "x"))); !errors.Is(err, context.Canceled) {
		t.Errorf("Apply, cancelled = %v", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	apply(t, s, adding(memory("x", "x")))
}

// Memory is private: no file may be readable by others or lead elsewhere.
func TestModes(t *testing.T) {
	old := setUmask(0)
	defer setUmask(old)
	dir := filepath.Join(t.TempDir(), "a", "home with space ?#%")
	fill(t, dir, 10)
	s := openTest(t, dir) // with -wal and -shm
	apply(t, s, adding(memory("x", "x")))
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 && old >= 0 {
			t.Errorf("%s has mode %v", d.Name(), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	closeTest(t, s)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, dbFile), 0o644); err != nil {
		t.Fatal(err)
	}
	closeTest(t, openTest(t, dir))
	for _, name := range []string{"", dbFile} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm()&0o077 != 0 && old >= 0 {
			t.Errorf("%q is still open to others: %v, %v", name, info.Mode(), err)
		}
	}
	for _, name := range []string{dbFile, dbFile + "-wal", headFile, lockFile, journalDir, filepath.Join(journalDir, "00000001.jsonl")} {
		dir2 := filepath.Join(t.TempDir(), "home")
		copyTree(t, dir, dir2)
		target := filepath.Join(t.TempDir(), "target")
		if err := os.Rename(filepath.Join(dir2, name), target); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir2, name)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		s, err := Open(t.Context(), dir2, Options{})
		if err == nil {
			_, err = s.Apply(t.Context(), adding(memory("y", "y")))
			closeTest(t, s)
		}
		if err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s as a symbolic link: %v; want an error that says so", name, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := Open(t.Context(), link, Options{}); err == nil {
		t.Error("a symbolic link was opened as a folder")
	}
}

// Memory that cannot be read because nothing can be written is no use on a
// read-only disk; a log that is ignored there would show an old state.
func TestReadOnlyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	fill(t, dir, 20)
	check := func(name string, want int) {
		t.Helper()
		s, err := Open(t.Context(), dir, Options{BusyTimeout: time.Second})
		if err != nil {
			t.Errorf("%s: Open = %v", name, err)
			return
		}
		defer closeTest(t, s)
		if list, err := s.Memories(t.Context(), stillso.Filter{}); err != nil || len(list) != want {
			t.Errorf("%s: %d memories, %v; want %d", name, len(list), err, want)
		}
		if !s.ReadOnly() {
			t.Errorf("%s: the store says that it can be written", name)
		}
		if _, err := s.Apply(t.Context(), adding(memory("x", "x"))); !errors.Is(err, stillso.ErrReadOnly) {
			t.Errorf("%s: Apply = %v; want ErrReadOnly", name, err)
		}
		if list, err := s.Check(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("%s: Check = %v, %v", name, list, err)
		}
	}
	undo := makeReadOnly(t, dir)
	check("at rest", 20)
	undo()

	// The last writer was killed: its changes stand in the log only.
	s := openTest(t, dir)
	apply(t, s, adding(memory("late", "only in the log")))
	killed := filepath.Join(t.TempDir(), "killed")
	copyTree(t, dir, killed)
	closeTest(t, s)
	dir = killed
	if info, err := os.Stat(filepath.Join(dir, dbFile+"-wal")); err != nil || info.Size() == 0 {
		t.Fatalf("there is no log to be read: %v", err)
	}
	drop(t, dir, dbFile+"-shm")
	undo = makeReadOnly(t, dir)
	check("with a log", 21)
	undo()

	// Asked for: nothing is written, not even a lock file.
	drop(t, dir, lockFile)
	r, err := Open(t.Context(), dir, Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer closeTest(t, r)
	if list, err := r.Memories(t.Context(), stillso.Filter{}); err != nil || len(list) != 21 {
		t.Errorf("asked for: %d memories, %v; want 21", len(list), err)
	}
	if _, err := os.Lstat(filepath.Join(dir, lockFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading made a lock file: %v", err)
	}
}

func put(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func drop(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func rename(t testing.TB, dir, from, to string) {
	t.Helper()
	if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
		t.Fatal(err)
	}
}

func copyTree(t testing.TB, from, to string) {
	t.Helper()
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		b, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, rel), b, 0o600)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
