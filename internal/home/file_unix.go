//go:build unix

package home

import (
	"errors"
	"io/fs"
	"syscall"
)

// The calls here are bare: a file of package os would start the runtime's poller,
// which costs the prompt path more than the write itself.

// appendFile adds data to a regular file with one write. A file of MaxSpool is full.
func appendFile(path string, data []byte) error {
	const flags = syscall.O_WRONLY | syscall.O_APPEND | syscall.O_CREAT | syscall.O_NOFOLLOW | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	fd, err := open(path, flags)
	if err != nil {
		return err
	}
	defer syscall.Close(fd) //nolint:errcheck // the write itself is checked
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := regular(&st, path); err != nil {
		return err
	}
	n, err := syscall.Write(fd, data)
	for errors.Is(err, syscall.EINTR) {
		n, err = syscall.Write(fd, data)
	}
	if err == nil && n < len(data) {
		err = syscall.ENOSPC
	}
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: err}
	}
	return nil
}

// readEnd reads at most limit bytes of the end of a regular file.
func readEnd(path string, limit int) ([]byte, error) {
	fd, err := open(path, syscall.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC)
	if err != nil {
		return nil, err
	}
	defer syscall.Close(fd) //nolint:errcheck // read only
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	if err := regular(&st, path); err != nil {
		return nil, err
	}
	buf := make([]byte, min(int(st.Size), limit))
	off := st.Size - int64(len(buf))
	for n := 0; n < len(buf); {
		m, err := syscall.Pread(fd, buf[n:], off+int64(n))
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		case m == 0:
			return buf[:n], nil
		}
		n += max(m, 0)
	}
	return buf, nil
}

func open(path string, flags int) (int, error) {
	fd, err := syscall.Open(path, flags, 0o600)
	for err == syscall.EINTR {
		fd, err = syscall.Open(path, flags, 0o600)
	}
	if err != nil {
		return -1, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

func regular(st *syscall.Stat_t, path string) error {
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG || st.Size > MaxSpool {
		return &fs.PathError{Op: "open", Path: path, Err: errFull}
	}
	return nil
}
