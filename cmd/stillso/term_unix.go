//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// restrictNewFiles makes everything this process creates readable by its owner
// only, whatever mode a library asks for.
func restrictNewFiles() { unix.Umask(0o077) }

// isTerminal reports whether a person looks at f.
func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	return err == nil
}

// terminalWidth returns the columns of the terminal f, or 80.
func terminalWidth(f *os.File) int {
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || ws.Col == 0 {
		return 80
	}
	return int(ws.Col)
}
