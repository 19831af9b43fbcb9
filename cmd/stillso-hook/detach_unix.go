//go:build unix

package main

import (
	"os"
	"syscall"
)

const (
	stdin  = 0
	stdout = 1

	sweepName = "stillso"
)

// detached lets a process live on when the host ends this one and its group.
func detached() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// executable reports whether a file is a program.
func executable(info os.FileInfo) bool {
	return info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
