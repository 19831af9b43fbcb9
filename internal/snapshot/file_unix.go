//go:build unix

package snapshot

import (
	"os"
	"syscall"
	"time"

	"stillso"
)

// openNoFollow opens a file to read; a symbolic link in its place is refused.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// mapFile maps the whole file, which is never written to again, into memory.
func mapFile(f *os.File) ([]byte, func() error, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	size := info.Size()
	if !info.Mode().IsRegular() || size < headerSize || size != int64(int(size)) {
		return nil, nil, damaged("not a snapshot, or cut short")
	}
	data, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}

// lock takes the writers' lock, waiting at most wait.
func lock(path string, wait time.Duration) (unlock func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	const pause = 5 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return f.Close, nil
		}
		if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			break
		}
		if waited >= wait {
			err = stillso.ErrBusy
			break
		}
		time.Sleep(pause)
	}
	f.Close() //nolint:errcheck,gosec // the reason why the lock failed is what matters
	return nil, err
}
