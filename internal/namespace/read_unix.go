//go:build unix

package namespace

import (
	"errors"
	"syscall"
)

// readSome reads at most limit bytes of a regular file; nil on any trouble. It
// calls the system directly: the files of package os would start the poller, a
// dozen calls that the prompt path does not need. A pipe is not waited for.
func readSome(path string, limit int64) []byte {
	const flags = syscall.O_RDONLY | syscall.O_CLOEXEC | syscall.O_NONBLOCK | syscall.O_NOCTTY
	fd, err := syscall.Open(path, flags, 0)
	for errors.Is(err, syscall.EINTR) {
		fd, err = syscall.Open(path, flags, 0)
	}
	if err != nil {
		return nil
	}
	defer syscall.Close(fd) //nolint:errcheck // read only
	var info syscall.Stat_t
	if err := syscall.Fstat(fd, &info); err != nil || info.Mode&syscall.S_IFMT != syscall.S_IFREG || info.Size <= 0 {
		return nil
	}
	data := make([]byte, min(limit, info.Size))
	n := 0
	for n < len(data) {
		got, err := syscall.Read(fd, data[n:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || got == 0 {
			break
		}
		n += got
	}
	return data[:n]
}
