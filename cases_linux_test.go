package stillso_test

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// asPlainUser runs a program without root's right to ignore permissions.
func asPlainUser(args []string) error {
	runtime.LockOSThread()
	const dropFromBoundingSet, overrideAccess, searchAnything = 24, 1, 2 // prctl(2), capabilities(7)
	for _, c := range []uintptr{overrideAccess, searchAnything} {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, dropFromBoundingSet, c, 0); errno != 0 {
			return errno
		}
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, args, os.Environ())
}
