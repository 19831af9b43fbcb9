package qwen

import (
	"errors"
	"path/filepath"

	"stillso/internal/host"
)

// Places is the directory in which Qwen Code keeps settings, histories and
// instructions: QWEN_HOME, else ~/.qwen.
type Places string

// Locate returns the places that the environment names. They need not exist.
func Locate(getenv func(string) string) (Places, error) {
	if dir := getenv("QWEN_HOME"); dir != "" {
		return Places(filepath.Clean(dir)), nil
	}
	if dir := host.Home(getenv); dir != "" {
		return Places(filepath.Join(dir, ".qwen")), nil
	}
	return "", errors.New("no home directory: set HOME")
}

// Settings is the user's settings file.
func (p Places) Settings() string { return filepath.Join(string(p), "settings.json") }

// Projects is the folder that has a folder for each project.
func (p Places) Projects() string { return filepath.Join(string(p), "projects") }

// Instructions lists the files that Qwen Code loads for a session in dir, whose
// project begins at root: QWEN.md and AGENTS.md, its own and from the root to
// dir, and .qwen/QWEN.local.md.
func (p Places) Instructions(root, dir string) []string {
	list := host.Files(string(p), "QWEN.md", "AGENTS.md")
	for _, d := range host.Between(root, dir) {
		list = append(list, host.Files(d, "QWEN.md", "AGENTS.md", filepath.Join(".qwen", "QWEN.local.md"))...)
	}
	return list
}
