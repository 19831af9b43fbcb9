//go:build !unix

package main

import "os"

// restrictNewFiles does nothing: files inherit the access list of the user's
// own profile directory.
func restrictNewFiles() {}

// isTerminal reports whether a person looks at f.
func isTerminal(f *os.File) bool {
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

// terminalWidth returns the columns of the terminal f.
func terminalWidth(*os.File) int { return 80 }
