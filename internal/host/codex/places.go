package codex

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"stillso/internal/host"
)

// Places is the directory in which Codex keeps settings, histories and
// instructions: CODEX_HOME, else ~/.codex.
type Places string

// Locate returns the places that the environment names. They need not exist.
func Locate(getenv func(string) string) (Places, error) {
	if dir := getenv("CODEX_HOME"); dir != "" {
		return Places(filepath.Clean(dir)), nil
	}
	if dir := host.Home(getenv); dir != "" {
		return Places(filepath.Join(dir, ".codex")), nil
	}
	return "", errors.New("no home directory: set HOME, or CODEX_HOME to where Codex keeps its settings")
}

// Config is the user's settings file; Settings the file beside it that has the
// hooks.
func (p Places) Config() string { return filepath.Join(string(p), "config.toml") }

// Settings is the file that registers hooks.
func (p Places) Settings() string { return filepath.Join(string(p), "hooks.json") }

// Sessions is the folder of the transcripts.
func (p Places) Sessions() string { return filepath.Join(string(p), "sessions") }

// maxDoc is how many bytes of instruction files the host loads together, unless
// its settings say otherwise (official documentation; not measured).
const maxDoc = 32 << 10

// Instructions lists the files that Codex loads for a session in dir, whose
// project begins at root: its own AGENTS.md, then from the root to dir one file a
// directory, of which AGENTS.override.md takes the place of AGENTS.md. What
// begins behind the first 32 KiB of a project is left out.
func (p Places) Instructions(root, dir string) []string {
	var list []string
	if f := host.FirstFile(string(p), "AGENTS.override.md", "AGENTS.md"); f != "" {
		list = append(list, f)
	}
	size := int64(0)
	for _, d := range host.Between(root, dir) {
		f := host.FirstFile(d, "AGENTS.override.md", "AGENTS.md")
		if f == "" {
			continue
		}
		if info, err := os.Stat(f); err == nil {
			size += info.Size()
		}
		if size > maxDoc {
			break
		}
		list = append(list, f)
	}
	return list
}

// IsTranscript reports whether a name is that of a rollout.
func IsTranscript(name string) bool {
	return strings.HasPrefix(name, "rollout-") && strings.HasSuffix(name, ".jsonl")
}
