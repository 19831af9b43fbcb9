package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"stillso/internal/home"
	"stillso/internal/snapshot"
)

// plainLock refuses a lock file that is no plain file: opening a pipe would wait for
// ever, and a link leads out of the home.
func plainLock(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %w", path, home.ErrNotPlain)
	}
	return err
}

// oddFiles names what stands in the home where stillso keeps a file or a folder of
// another kind, so that work fails there. The store, the journal, the index and the
// list of places are not looked at: their own checks name them.
func oddFiles(dir home.Dir) []string {
	var odd []string
	look := func(path, want string, stat func(string) (fs.FileInfo, error), right func(fs.FileMode) bool) {
		if info, err := stat(path); err == nil && !right(info.Mode()) {
			odd = append(odd, fmt.Sprintf("%s is no %s", path, want))
		}
	}
	for _, path := range []string{dir.Spool(), filepath.Join(dir.Spool(), "sessions"), filepath.Dir(dir.SweepLog())} {
		look(path, "folder", os.Stat, fs.FileMode.IsDir)
	}
	for _, path := range []string{
		dir.SweepLock(), filepath.Join(string(dir), snapshot.LockFile), dir.SweepLog(), dir.SweepMark(),
		filepath.Join(dir.Spool(), home.Receipts), filepath.Join(dir.Spool(), home.Receipts+".taken"),
		filepath.Join(dir.Spool(), home.Queue), filepath.Join(dir.Spool(), home.Queue+".taken"),
	} {
		look(path, "plain file", os.Lstat, fs.FileMode.IsRegular)
	}
	return odd
}
