package opencode

import (
	"errors"
	"path/filepath"

	"stillso/internal/host"
)

// Places is the directory in which OpenCode keeps settings and plugins:
// OPENCODE_CONFIG_DIR, else opencode in XDG_CONFIG_HOME, else
// ~/.config/opencode.
type Places string

// Locate returns the places that the environment names. They need not exist.
func Locate(getenv func(string) string) (Places, error) {
	if dir := getenv("OPENCODE_CONFIG_DIR"); dir != "" {
		return Places(filepath.Clean(dir)), nil
	}
	if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return Places(filepath.Join(dir, "opencode")), nil
	}
	if dir := host.Home(getenv); dir != "" {
		return Places(filepath.Join(dir, ".config", "opencode")), nil
	}
	return "", errors.New("no home directory: set HOME")
}

// Settings is our plugin in the folder of plugins.
func (p Places) Settings() string { return filepath.Join(string(p), "plugins", "stillso.js") }

// Instructions lists the files that OpenCode loads for a session in dir, whose
// project begins at root: its own AGENTS.md, and the first AGENTS.md, else the
// first CLAUDE.md, from dir up to the root (official documentation; not
// measured).
func (p Places) Instructions(root, dir string) []string {
	list := host.Files(string(p), "AGENTS.md")
	between := host.Between(root, dir)
	for _, name := range [...]string{"AGENTS.md", "CLAUDE.md"} {
		for i := len(between) - 1; i >= 0; i-- {
			if f := host.FirstFile(between[i], name); f != "" {
				return append(list, f)
			}
		}
	}
	return list
}
