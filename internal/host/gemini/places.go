package gemini

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"stillso/internal/host"
)

// Places is the directory in which the Gemini CLI keeps settings, histories and
// instructions: .gemini in GEMINI_CLI_HOME, else in the home directory.
type Places string

// Locate returns the places that the environment names. They need not exist.
func Locate(getenv func(string) string) (Places, error) {
	dir := getenv("GEMINI_CLI_HOME")
	if dir == "" {
		dir = host.Home(getenv)
	}
	if dir == "" {
		return "", errors.New("no home directory: set HOME")
	}
	return Places(filepath.Join(dir, ".gemini")), nil
}

// Settings is the user's settings file.
func (p Places) Settings() string { return filepath.Join(string(p), "settings.json") }

// Histories is the folder that has a folder for each project.
func (p Places) Histories() string { return filepath.Join(string(p), "tmp") }

// IsTranscript reports whether a name is that of a session's history.
func IsTranscript(name string) bool {
	return strings.HasPrefix(name, "session-") && strings.HasSuffix(name, ".jsonl")
}

// Instructions lists the files that the Gemini CLI loads for a session in dir,
// whose project begins at root: GEMINI.md of its own, then from the root to dir;
// or the names that its settings give instead (context.fileName).
func (p Places) Instructions(root, dir string) []string {
	names := []string{"GEMINI.md"}
	if text, err := os.ReadFile(p.Settings()); err == nil { // #nosec G304 -- the settings of the host
		names = fileNames(text, names)
	}
	list := host.Files(string(p), names...)
	for _, d := range host.Between(root, dir) {
		list = append(list, host.Files(d, names...)...)
	}
	return list
}

// fileNames reads context.fileName: a name, or a list of them. Settings with
// comments are not understood here: then the usual name holds.
func fileNames(settings []byte, usual []string) []string {
	value := host.Member(settings, "context", "fileName")
	switch host.Kind(value) {
	case '"':
		if name := host.Line(value); name != "" {
			return []string{name}
		}
	case '[':
		var names []string
		_ = host.Elements(value, func(v []byte) bool {
			if name := host.Line(v); name != "" {
				names = append(names, name)
			}
			return true
		})
		if len(names) > 0 {
			return names
		}
	}
	return usual
}
