//go:build unix

package sqlite

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// checkOwner refuses the folder of another user: what it holds could be planted.
// Root may open any, since containers mount folders of other users.
func checkOwner(info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if me := os.Geteuid(); ok && me != 0 && int(st.Uid) != me {
		return fmt.Errorf("the folder belongs to user %d, not to you (%d): choose another home", st.Uid, me)
	}
	return nil
}

// isReadOnly reports whether nothing can be written into the folder.
func isReadOnly(dir string) bool { return unix.Access(dir, unix.W_OK) != nil }
