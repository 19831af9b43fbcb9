//go:build unix

package home

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
)

func (d Dir) checkOwner(info fs.FileInfo) error {
	if info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%w: others may write to %s; run chmod 700 %s", ErrUnsafe, d, d)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%w: %s belongs to user %d; set STILLSO_HOME to a directory of your own", ErrUnsafe, d, st.Uid)
	}
	return nil
}
