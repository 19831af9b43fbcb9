//go:build !unix

package snapshot

import (
	"io"
	"os"
	"time"

	"stillso"
)

// file is a file of the snapshot, read as a whole: a file that is mapped cannot be
// replaced on Windows.
type file struct {
	size   int64
	memory []byte
	cold   bool // never: it was read
}

func openFile(path string) (*file, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, damaged("not a regular file")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return &file{size: int64(len(data)), memory: data}, nil
}

// readAt fills b from off on.
func (f *file) readAt(b []byte, off int64) error {
	if off > f.size || copy(b, f.memory[off:]) < len(b) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (f *file) whole() ([]byte, error) { return f.memory, nil }

func (f *file) close() error { return nil }

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
		if info, err := os.Stat(path); err == nil && time.Since(info.ModTime()) > stale {
			os.Remove(path) //nolint:errcheck,gosec // tried again at once
		}
		if waited >= wait {
			return nil, stillso.ErrBusy
		}
		time.Sleep(pause)
	}
}
