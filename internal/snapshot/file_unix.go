//go:build unix

package snapshot

import (
	"io/fs"
	"os"
	"syscall"
	"time"

	"stillso"
)

// mapFile maps a whole file, which is never written to again, into memory. A symbolic
// link in its place is refused. The calls are bare: a file of package os would start
// the runtime's poller, which costs more than all the rest of opening.
func mapFile(path string) (data []byte, release func() error, err error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd) //nolint:errcheck // read only; the map stays valid
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size < headerSize || st.Size != int64(int(st.Size)) {
		return nil, nil, damaged("not a snapshot, or cut short")
	}
	data, err = syscall.Mmap(fd, 0, int(st.Size), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, &fs.PathError{Op: "map", Path: path, Err: err}
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
