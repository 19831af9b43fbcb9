package claudecode

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"stillso/internal/host"
)

// Places is the directory in which Claude Code keeps settings, histories and
// memory of its own: CLAUDE_CONFIG_DIR, else ~/.claude.
type Places string

// Locate returns the places that the environment names. They need not exist.
func Locate(getenv func(string) string) (Places, error) {
	if dir := getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return Places(filepath.Clean(dir)), nil
	}
	for _, key := range [...]string{"HOME", "USERPROFILE"} {
		if dir := getenv(key); filepath.IsAbs(dir) {
			return Places(filepath.Join(dir, ".claude")), nil
		}
	}
	return "", errors.New("no home directory: set HOME, or CLAUDE_CONFIG_DIR to where Claude Code keeps its settings")
}

// Settings is the user's settings file.
func (p Places) Settings() string { return filepath.Join(string(p), "settings.json") }

// Projects is the folder that has a folder for each project.
func (p Places) Projects() string { return filepath.Join(string(p), "projects") }

// maxSlug is the length, in UTF-16 units, from which the host cuts the name of a
// project's folder and adds a hash of its own making.
const maxSlug = 200

// Slug returns the name of the folder that the host keeps for a directory: every
// UTF-16 unit outside A-Z, a-z, 0-9 is a hyphen (measured with 2.1.332). Two
// directories can have one slug: only the rows of a transcript say which it was.
// cut is set if the host's name has a hash behind the slug.
func Slug(dir string) (slug string, cut bool) {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(dir)) {
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if slug = b.String(); len(slug) > maxSlug {
		return slug[:maxSlug], true
	}
	return slug, false
}

// project returns the folder of a directory; "" if its name has a hash in it and
// none such exists.
func (p Places) project(dir string) string {
	slug, cut := Slug(dir)
	if !cut {
		return filepath.Join(p.Projects(), slug)
	}
	entries, _ := os.ReadDir(p.Projects()) // none if it cannot be read
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), slug+"-") {
			return filepath.Join(p.Projects(), e.Name())
		}
	}
	return ""
}

// Transcript is a history on the disk.
type Transcript struct {
	Path    string
	Session string // the name of the file, which is the id of the session
	At      time.Time
	Size    int64
}

// Transcripts lists the histories of all projects, newest first. Those of
// sub-agents are not among them. A folder that cannot be read is passed over.
func (p Places) Transcripts() []Transcript {
	entries, _ := os.ReadDir(p.Projects()) // none if it cannot be read
	var list []Transcript
	for _, e := range entries {
		list = append(list, transcriptsIn(filepath.Join(p.Projects(), e.Name()))...)
	}
	newestFirst(list)
	return list
}

// TranscriptsOf lists the histories of sessions that began in a directory,
// newest first. Directories whose slugs are equal are not told apart.
func (p Places) TranscriptsOf(dir string) []Transcript {
	folder := p.project(dir)
	if folder == "" {
		return nil
	}
	list := transcriptsIn(folder)
	newestFirst(list)
	return list
}

func transcriptsIn(folder string) (list []Transcript) {
	entries, _ := os.ReadDir(folder) // none if it cannot be read
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || strings.HasPrefix(name, "agent-") {
			continue
		}
		if info, err := os.Stat(filepath.Join(folder, e.Name())); err == nil && info.Mode().IsRegular() {
			list = append(list, Transcript{filepath.Join(folder, e.Name()), name, info.ModTime(), info.Size()})
		}
	}
	return list
}

func newestFirst(list []Transcript) {
	slices.SortFunc(list, func(a, b Transcript) int {
		if c := b.At.Compare(a.At); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
}

// Notes returns the folder of notes that the host writes for itself about a
// project, and whether the feature is on. root is the main work tree of its
// repository, which linked work trees and sub-directories share, or the
// directory itself outside git. The folder need not exist; it is "" if nobody
// knows its name.
func (p Places) Notes(getenv func(string) string, root string) (folder string, on bool, err error) {
	on = getenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY") != "1"
	elsewhere := getenv("CLAUDE_COWORK_MEMORY_PATH_OVERRIDE")
	text, err := os.ReadFile(p.Settings()) // #nosec G304 -- the settings of the host
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", on, fmt.Errorf("settings of Claude Code cannot be read: %w", err)
	}
	_ = host.Fields(text, func(key, value []byte) bool { // an odd file has no such settings
		switch string(key) {
		case "autoMemoryEnabled":
			on = on && string(value) != "false"
		case "autoMemoryDirectory":
			if dir := host.Line(value); elsewhere == "" && filepath.IsAbs(dir) {
				elsewhere = dir
			}
		}
		return true
	})
	if elsewhere != "" {
		return filepath.Clean(elsewhere), on, nil
	}
	if folder = p.project(root); folder != "" {
		folder = filepath.Join(folder, "memory")
	}
	return folder, on, nil
}

// NotesFolders lists the folders of notes that exist, of all projects.
func (p Places) NotesFolders() (list []string) {
	entries, _ := os.ReadDir(p.Projects()) // none if it cannot be read
	for _, e := range entries {
		folder := filepath.Join(p.Projects(), e.Name(), "memory")
		notes, _ := filepath.Glob(filepath.Join(globSafe(folder), "*.md"))
		if len(notes) > 0 {
			list = append(list, folder)
		}
	}
	return list
}

// globSafe takes the meaning from the characters that a pattern has.
func globSafe(path string) string {
	return strings.NewReplacer("*", "?", "[", "?", "]", "?").Replace(path)
}
