//go:build unix

package snapshot

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"stillso"
)

// file is an opened file of the snapshot, which is never written to again. Small
// parts that lie apart are read one by one: a third of the cost of touching a mapped
// page. Long lists are mapped, and then only touched where the search goes.
//
// The calls are bare: a file of package os would start the runtime's poller.
type file struct {
	fd     int
	size   int64
	mapped []byte
	// memory is set if the whole content is in memory anyway.
	memory []byte
	// cold is set if the system has to read the file from disk: then what will be read
	// is named beforehand, so that the disk does it all at once.
	cold bool
}

// openFile opens a file to read; a symbolic link in its place is refused.
func openFile(path string) (*file, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		syscall.Close(fd) //nolint:errcheck,gosec // the first error is what matters
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size != int64(int(st.Size)) {
		syscall.Close(fd) //nolint:errcheck,gosec // not used
		return nil, damaged("not a regular file")
	}
	return &file{fd: fd, size: st.Size}, nil
}

// readAt fills b from off on.
func (f *file) readAt(b []byte, off int64) error {
	if f.memory != nil {
		if off > f.size || copy(b, f.memory[off:]) < len(b) {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	for len(b) > 0 {
		n, err := syscall.Pread(f.fd, b, off)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return err
		case n == 0:
			return io.ErrUnexpectedEOF
		}
		b, off = b[max(n, 0):], off+int64(max(n, 0))
	}
	return nil
}

// whole maps the file.
func (f *file) whole() ([]byte, error) {
	if f.memory != nil {
		return f.memory, nil
	}
	if f.mapped != nil || f.size == 0 {
		return f.mapped, nil
	}
	data, err := syscall.Mmap(f.fd, 0, int(f.size), syscall.PROT_READ, syscall.MAP_SHARED)
	f.mapped = data
	return data, err
}

func (f *file) close() error {
	if f.memory != nil {
		return nil
	}
	if f.mapped != nil {
		syscall.Munmap(f.mapped) //nolint:errcheck,gosec // cannot fail on what was mapped
		f.mapped = nil
	}
	return syscall.Close(f.fd)
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
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
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
