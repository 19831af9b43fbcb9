//go:build unix && !linux

package stillso_test

import (
	"os"
	"os/exec"
	"syscall"
)

// asPlainUser runs a program; here root's rights cannot be taken away.
func asPlainUser(args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, args, os.Environ())
}
