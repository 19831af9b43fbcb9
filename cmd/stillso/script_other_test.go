//go:build !linux

package main

import (
	"fmt"
	"os"
	"os/exec"
)

func canBePlain() bool { return false }

// plainUser runs a program; who is not root has no rights to lose.
func plainUser() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	os.Exit(cmd.ProcessState.ExitCode())
}
