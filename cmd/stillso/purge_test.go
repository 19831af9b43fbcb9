package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"stillso/internal/home"
)

// What was purged must not be found in the terms that the hook remembers of a prompt
// about it.
func TestPurgeReachesTheTermsOfSessions(t *testing.T) {
	d := newDesk(t)
	id := d.remember("The codename is supercalifragilistic")
	dir := home.Dir(d.env["STILLSO_HOME"])
	err := dir.Remember("s1", home.Session{Shown: []string{id}, Terms: []string{"codenam", "supercalifragilist"}}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	d.must("purge", id, "--yes")
	err = filepath.WalkDir(string(dir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(b), []byte("supercali")) {
			t.Errorf("%s holds it", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A purge during a sweep must wait for it: both drain what the hooks left, and two at
// once lose lines.
func TestPurgeWaitsForTheSweep(t *testing.T) {
	d := newDesk(t)
	id := d.remember("The codename is supercalifragilistic")
	lock := flock.New(home.Dir(d.env["STILLSO_HOME"]).SweepLock(), flock.SetPermissions(0o600))
	if got, err := lock.TryLock(); err != nil || !got {
		t.Fatal(got, err)
	}
	done := make(chan int)
	go func() {
		_, _, code := d.try("purge", id, "--yes")
		done <- code
	}()
	select {
	case <-done:
		t.Error("it did not wait")
	case <-time.After(300 * time.Millisecond):
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	if code := <-done; code != 0 {
		t.Errorf("exit %d", code)
	}
}

// A repair that finds nothing at all where a store was must not say that all is well.
func TestRepairOfNothingSaysSo(t *testing.T) {
	d := newDesk(t)
	d.remember("The codename is supercalifragilistic")
	for _, name := range []string{"store.db", "store.head", "journal/00000001.jsonl"} {
		if err := os.WriteFile(filepath.Join(d.env["STILLSO_HOME"], name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"store.db-wal", "store.db-shm"} {
		if err := os.RemoveAll(filepath.Join(d.env["STILLSO_HOME"], name)); err != nil {
			t.Fatal(err)
		}
	}
	out, errOut, code := d.try("repair")
	if code != exitProblems || !strings.Contains(out, "whatever was saved") {
		t.Errorf("exit %d\n%s%s", code, out, errOut)
	}
}

// An index that was copied from another store must not pass for that of this one: the
// hook would show memories that nobody saved here.
func TestIndexOfAnotherStore(t *testing.T) {
	ours, other := newDesk(t), newDesk(t)
	ours.remember("The okapi server listens on port 9000", "--namespace", "user")
	other.remember("The zanzibar script deploys the billing service", "--namespace", "user")
	swap := func() {
		data, err := os.ReadFile(filepath.Join(other.env["STILLSO_HOME"], "recall.base"))
		if err == nil {
			err = os.WriteFile(filepath.Join(ours.env["STILLSO_HOME"], "recall.base"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, heal := range []string{"repair", "sweep"} {
		swap()
		if out, _, code := ours.try("doctor"); code != exitProblems || !strings.Contains(out, "another store") {
			t.Errorf("doctor: exit %d\n%s", code, out)
		}
		ours.must(heal)
		ours.must("doctor")
		if out, _, _ := ours.try("recall", "which script deploys the billing service?"); strings.Contains(out, "zanzibar") {
			t.Errorf("after %s recall still shows what is not ours:\n%s", heal, out)
		}
	}
}
