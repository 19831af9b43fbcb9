package cursor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"stillso/internal/host"
)

// Places is the directory in which Cursor keeps settings and transcripts:
// ~/.cursor.
type Places string

// Locate returns the places that the environment names. They need not exist.
func Locate(getenv func(string) string) (Places, error) {
	if dir := host.Home(getenv); dir != "" {
		return Places(filepath.Join(dir, ".cursor")), nil
	}
	return "", errors.New("no home directory: set HOME")
}

// Settings is the file that registers hooks.
func (p Places) Settings() string { return filepath.Join(string(p), "hooks.json") }

// Transcript returns where the host keeps the transcript of a session in dir, if
// it does: its command line never says. The IDE has a folder for each.
func (p Places) Transcript(dir, session string) string {
	if session == "" || strings.ContainsAny(session, `/\:`) || strings.HasPrefix(session, ".") {
		return ""
	}
	folder := filepath.Join(string(p), "projects", slug(dir), "agent-transcripts")
	for _, path := range [...]string{filepath.Join(folder, session+".jsonl"), filepath.Join(folder, session, session+".jsonl")} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// slug is the name of the folder for a directory: without the first slash, and a
// hyphen for all that is neither letter nor digit.
func slug(dir string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '-'
	}, strings.TrimPrefix(filepath.ToSlash(dir), "/"))
}

// Instructions lists the files that Cursor loads for every session whose project
// begins at root: AGENTS.md, the older .cursorrules, and the rules that say
// alwaysApply.
func (p Places) Instructions(root, _ string) []string {
	list := host.Files(root, "AGENTS.md", ".cursorrules")
	entries, _ := os.ReadDir(filepath.Join(root, ".cursor", "rules")) // none if it cannot be read
	for _, e := range entries {
		path := filepath.Join(root, ".cursor", "rules", e.Name())
		if !strings.HasSuffix(path, ".mdc") {
			continue
		}
		text, err := os.ReadFile(path) // #nosec G304 -- the rules of the host
		if err == nil && alwaysApplies(string(text)) {
			list = append(list, path)
		}
	}
	return list
}

func alwaysApplies(text string) bool {
	head, ok := strings.CutPrefix(strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n"), "---\n")
	if !ok {
		return false
	}
	head, _, _ = strings.Cut(head, "\n---")
	for l := range strings.Lines(head) {
		if key, value, _ := strings.Cut(l, ":"); strings.TrimSpace(key) == "alwaysApply" {
			return strings.TrimSpace(value) == "true"
		}
	}
	return false
}
