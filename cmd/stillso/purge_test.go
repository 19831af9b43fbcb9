package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

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
