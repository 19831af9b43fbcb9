package copilot

import (
	"errors"
	"path/filepath"

	"stillso/internal/host"
)

// Places is the directory in which the Copilot CLI keeps settings and histories:
// COPILOT_HOME, else ~/.copilot.
type Places string

// Locate returns the places that the environment names. They need not exist.
func Locate(getenv func(string) string) (Places, error) {
	if dir := getenv("COPILOT_HOME"); dir != "" {
		return Places(filepath.Clean(dir)), nil
	}
	if dir := host.Home(getenv); dir != "" {
		return Places(filepath.Join(dir, ".copilot")), nil
	}
	return "", errors.New("no home directory: set HOME, or COPILOT_HOME to where Copilot keeps its settings")
}

// Settings is the file of ours in the folder of hooks.
func (p Places) Settings() string { return filepath.Join(string(p), "hooks", "stillso.json") }

// Instructions lists the files that Copilot loads for a session whose project
// begins at root: three kinds, all of them where there are several (measured
// with 1.0.102).
func (p Places) Instructions(root, _ string) []string {
	return host.Files(root, filepath.Join(".github", "copilot-instructions.md"), "AGENTS.md", "CLAUDE.md")
}
