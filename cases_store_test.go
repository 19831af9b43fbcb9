//go:build unix

package stillso_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/store/sqlite"

	_ "modernc.org/sqlite"
)

func (r *caseRun) database() (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+filepath.Join(r.storeHome(""), "store.db")+"?_pragma=busy_timeout(10000)")
}

// doLock lets another process hold the write lock of the store.
func (r *caseRun) doLock(s *stepWords) *outcome {
	if len(r.storeFiles()) == 0 { // only the product can make a store
		o := r.cli("", "--json", "remember", "--", "Makes the store, and goes.")
		var done struct{ Memory stillso.Memory }
		if err := json.Unmarshal([]byte(o.stdout), &done); err != nil {
			r.t.Errorf("cannot make a store to lock: %s", o.stderr)
		}
		r.cli("", "purge", "--yes", done.Memory.ID)
	}
	cmd := exec.Command(os.Args[0], "as:locker", filepath.Join(r.storeHome(""), "store.db"), strconv.Itoa(int(s.num("seconds", 5)*1000)))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.t.Error(err)
		return &outcome{}
	}
	r.lock = cmd
	if _, err := out.Read(make([]byte, 1)); err != nil {
		r.t.Errorf("the store was not locked: %v %s", err, &stderr)
	}
	return &outcome{}
}

func (r *caseRun) doUnlock(*stepWords) *outcome {
	if r.lock == nil {
		return &outcome{}
	}
	err := r.lock.Wait()
	r.lock = nil
	if err != nil {
		r.t.Errorf("the process that held the lock: %v", err)
	}
	return &outcome{}
}

// storeFiles are the files that hold the memories.
func (r *caseRun) storeFiles() []string {
	db := filepath.Join(r.storeHome(""), "store.db")
	var out []string
	for _, f := range []string{db, db + "-wal"} {
		if info, err := os.Stat(f); err == nil && info.Size() > 0 {
			out = append(out, f)
		}
	}
	return out
}

// doCorrupt damages the database as a failing disk or a full one would.
func (r *caseRun) doCorrupt(s *stepWords) *outcome {
	mode, n := s.str("mode"), int64(s.num("bytes", 4096))
	for _, path := range r.storeFiles() {
		info, err := os.Stat(path)
		if err != nil {
			r.t.Error(err)
			continue
		}
		switch mode {
		case "zero_head":
			err = overwrite(path, min(n, info.Size()))
		case "zero_all":
			err = overwrite(path, info.Size())
		case "truncate_half":
			err = os.Truncate(path, info.Size()/2)
		case "truncate_all", "empty":
			err = os.Truncate(path, 0)
		default:
			err = fmt.Errorf("unknown mode %q", mode)
		}
		if err != nil {
			r.t.Error(err)
		}
	}
	return &outcome{}
}

func overwrite(path string, n int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // a test that fails anyway says more
	_, err = f.Write(make([]byte, n))
	return err
}

// doStat notes the size of the store.
func (r *caseRun) doStat(*stepWords) *outcome {
	n := 0
	for _, path := range r.storeFiles() {
		if info, err := os.Stat(path); err == nil {
			n += int(info.Size())
		}
	}
	return &outcome{number: &n}
}

func (r *caseRun) doReadOnly(s *stepWords) *outcome {
	r.setReadOnly(!s.has("on") || s.truth("on"))
	return &outcome{}
}

// setReadOnly takes from the store's files and folders the right to be written.
func (r *caseRun) setReadOnly(on bool) {
	if !on && !r.readOnly {
		return
	}
	r.readOnly = on
	dir := r.storeHome("")
	if !on {
		_ = os.Chmod(dir, 0o700)
	}
	var folders []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			folders = append(folders, path)
			if !on {
				_ = os.Chmod(path, 0o700)
			}
			return nil
		}
		return os.Chmod(path, map[bool]fs.FileMode{true: 0o400, false: 0o600}[on])
	})
	for _, f := range folders {
		_ = os.Chmod(f, map[bool]fs.FileMode{true: 0o500, false: 0o700}[on])
	}
}

// loadRaw puts notes into the store without redaction: through the store itself,
// as a version before the rules would have, and then has the index rebuilt.
func (r *caseRun) loadRaw(dir, cwd, store string) *outcome {
	seed := filepath.Join(r.model, "seed.jsonl")
	if err := os.WriteFile(seed, []byte(`{"id":"seed-of-raw-notes","content":"to be replaced"}`), 0o600); err != nil {
		r.t.Error(err)
	}
	// The namespace and the store are the product's own business: a memory that
	// is saved the usual way shows both.
	if o := r.cli(store, "--json", "import", "--dir", cwd, seed); o.exit != 0 {
		r.t.Errorf("raw notes: %s", o.stderr)
	}
	ctx := context.Background()
	st, err := sqlite.Open(ctx, r.storeHome(store), sqlite.Options{})
	if err != nil {
		r.t.Error(err)
		return &outcome{exit: 1}
	}
	defer st.Close() //nolint:errcheck // what was applied is on the disk
	m, err := st.Memory(ctx, "seed-of-raw-notes")
	if err != nil {
		r.t.Error(err)
		return &outcome{exit: 1}
	}
	reading, err := files.Read(dir, files.Options{Namespace: m.Namespace, Now: m.CreatedAt})
	if err != nil {
		r.t.Error(err)
	}
	plan := files.Import(nil, reading, stillso.Actor{Kind: stillso.Human, Name: "import"}, m.CreatedAt)
	gone := m.Clone()
	gone.State = stillso.Retired
	plan.Changes = append(plan.Changes, stillso.Change{
		ID: stillso.NewID(), Verb: stillso.VerbRetire, Outcome: stillso.Applied, Actor: stillso.Actor{Kind: stillso.Human}, At: m.CreatedAt,
		Edits: []stillso.Edit{{Before: m, After: gone}},
	})
	if _, err := st.Apply(ctx, plan.Changes...); err != nil {
		r.t.Error(err)
	}
	return r.cli(store, "--json", "sweep", "--wait", "--rebuild")
}
