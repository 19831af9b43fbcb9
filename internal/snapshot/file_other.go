//go:build !unix

package snapshot

import (
	"os"
	"time"

	"stillso"
)

// mapFile reads the file: a file that is mapped cannot be replaced on Windows.
func mapFile(path string) (data []byte, release func() error, err error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, nil, damaged("not a regular file")
	}
	data, err = os.ReadFile(path)
	return data, func() error { return nil }, err
}

// lock takes the writers' lock: a file that only one can create. One that was
// left behind by a crash is taken over after a minute.
func lock(path string, wait time.Duration) (unlock func() error, err error) {
	const pause, stale = 10 * time.Millisecond, time.Minute
	for waited := time.Duration(0); ; waited += pause {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			f.Close() //nolint:errcheck,gosec // only its existence counts
			return func() error { return os.Remove(path) }, nil
		}
		if waited >= min(wait, stale) {
			if wait < stale {
				return nil, stillso.ErrBusy
			}
			os.Remove(path) //nolint:errcheck,gosec // tried again at once
			wait, waited = 0, 0
			continue
		}
		time.Sleep(pause)
	}
}
