package main

import (
	"os"
	"syscall"
)

const sweepName = "stillso.exe"

var (
	stdin  = syscall.Stdin
	stdout = syscall.Stdout
)

// detached lets a process live on when the host ends this one and its group:
// CREATE_NEW_PROCESS_GROUP | DETACHED_PROCESS.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP | 0x8}
}

// executable reports whether a file is a program.
func executable(info os.FileInfo) bool { return info.Mode().IsRegular() }
