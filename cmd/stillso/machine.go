package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/host/claudecode"
	"stillso/internal/namespace"
)

// machine is what Claude Code has left on this machine: histories of sessions
// and folders of notes that it wrote for itself.
type machine struct {
	dir string // of Claude Code's own files
	// transcripts are the histories, newest first.
	transcripts []transcript
	folders     []string
}

// transcript is one history on the disk.
type transcript struct {
	path string
	at   time.Time
	size int64
}

// claudeDir is where Claude Code keeps its own files.
func (a *app) claudeDir() string {
	if dir := a.std.env("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(a.userHome(), ".claude")
}

// look lists what is there, without reading it.
func look(claude string) machine {
	m := machine{dir: claude}
	projects, err := os.ReadDir(filepath.Join(claude, "projects"))
	if err != nil {
		return m
	}
	for _, p := range projects {
		dir := filepath.Join(claude, "projects", p.Name())
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			info, err := e.Info()
			if err == nil && strings.HasSuffix(e.Name(), ".jsonl") && info.Mode().IsRegular() {
				m.transcripts = append(m.transcripts, transcript{filepath.Join(dir, e.Name()), info.ModTime(), info.Size()})
			}
		}
		notes, err := os.ReadDir(filepath.Join(dir, "memory"))
		if err == nil && slices.ContainsFunc(notes, func(e os.DirEntry) bool { return strings.HasSuffix(e.Name(), ".md") }) {
			m.folders = append(m.folders, filepath.Join(dir, "memory"))
		}
	}
	slices.SortFunc(m.transcripts, func(a, b transcript) int { return b.at.Compare(a.at) })
	return m
}

// said is a prompt that a human typed, and where.
type said struct {
	text, session, dir string
	at                 time.Time
}

// history is what was read of the machine.
type history struct {
	sessions []stillso.Session
	turns    map[string][]stillso.Turn
	prompts  []said // newest first
	// dirs maps the folder of a project in Claude Code's files to the directory
	// that its sessions ran in.
	dirs    map[string]string
	skipped int
	broken  []string
}

// The limits of try: what is newer is read first, and a person waits.
const (
	tryTime  = 8 * time.Second
	tryBytes = 400 << 20
)

// readHistories reads the histories, newest first, until time or size is up.
func (a *app) readHistories(ctx context.Context, m machine, progress func(done, all int)) (*history, error) {
	h := &history{turns: map[string][]stillso.Turn{}, dirs: map[string]string{}}
	begin, size := a.std.clock(), int64(0)
	for i, tr := range m.transcripts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		progress(i, len(m.transcripts))
		if size += tr.size; i > 0 && (size > tryBytes || a.std.clock().Sub(begin) > tryTime) {
			h.skipped = len(m.transcripts) - i
			break
		}
		var turns []stillso.Turn
		got, err := claudecode.ReadFile(tr.path, claudecode.Position{}, func(t stillso.Turn) error {
			turns = append(turns, t)
			return nil
		})
		if err != nil {
			h.broken = append(h.broken, fmt.Sprintf("%s: %v", tr.path, err))
			continue
		}
		if got.Session == "" || len(turns) == 0 {
			continue
		}
		s := stillso.Session{ID: got.Session, Host: claudecode.Name, Directory: got.Directory, Transcript: tr.path, StartedAt: got.StartedAt, EndedAt: got.EndedAt}
		h.sessions = append(h.sessions, s)
		h.turns[s.ID] = append(h.turns[s.ID], turns...)
		if dir := filepath.Dir(tr.path); h.dirs[dir] == "" {
			h.dirs[dir] = got.Directory
		}
		for _, t := range turns {
			if t.Speaker == stillso.Typed {
				dir := t.Directory
				if dir == "" {
					dir = s.Directory
				}
				h.prompts = append(h.prompts, said{t.Text, s.ID, dir, t.At})
			}
		}
	}
	slices.SortStableFunc(h.prompts, func(a, b said) int { return b.at.Compare(a.at) })
	return h, nil
}

// noteFile is a folder of notes as it was read.
type noteFolder struct {
	dir     string
	reading files.Reading
	// lines of its index, and how many of them Claude Code loads.
	lines, loaded int
}

// readFolder reads one auto-memory folder for the namespace of the project that
// it belongs to.
func (a *app) readFolder(dir string, ns stillso.Namespace) (noteFolder, error) {
	f := noteFolder{dir: dir}
	var err error
	f.reading, err = files.ReadFolder(dir, files.Options{Namespace: ns, Now: a.now(), Loaded: a.loadedLines})
	if text, err := os.ReadFile(filepath.Join(dir, "MEMORY.md")); err == nil { // #nosec G304 -- the host's own index
		f.lines = strings.Count(strings.TrimRight(string(text), "\n")+"\n", "\n")
		f.loaded = min(files.LoadedIndex(string(text)), f.lines)
	}
	return f, err
}

// projectOf returns the namespace of a directory by the throw-away registry.
func projectOf(dir string) stillso.Namespace {
	pl, err := namespace.Resolve(dir, namespace.Registry{})
	if err != nil {
		return stillso.UserNamespace
	}
	return pl.Namespace
}

// namespaceOfNotes returns whose project the auto-memory of Claude Code at path
// is: its sessions say where they ran, or the name of its folder is that of the
// project we are in. Other paths belong where we are.
func (a *app) namespaceOfNotes(path string, here stillso.Namespace) (stillso.Namespace, error) {
	projects := filepath.Join(a.claudeDir(), "projects")
	if !inside(projects, path) || path == projects {
		return here, nil
	}
	rel, err := filepath.Rel(projects, path)
	if err != nil {
		return here, err
	}
	name, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	if pl, err := a.place(a.directory("")); err == nil && pl.Root != "" && slug(pl.Root) == name {
		return pl.Namespace, nil
	}
	if dir := sessionDirectory(filepath.Join(projects, name)); dir != "" {
		pl, err := a.place(dir)
		return pl.Namespace, err
	}
	return here, usagef("nothing was imported: cannot tell whose project %s is, for no session there names its directory; add --dir PROJECT", path)
}

// sessionDirectory returns where the sessions ran whose histories lie in folder.
func sessionDirectory(folder string) string {
	list, err := filepath.Glob(filepath.Join(escapeGlob(folder), "*.jsonl"))
	if err != nil {
		return ""
	}
	enough := errors.New("enough")
	for _, path := range list[:min(5, len(list))] {
		got, err := claudecode.ReadFile(path, claudecode.Position{}, func(stillso.Turn) error { return enough })
		if got.Directory != "" && (err == nil || errors.Is(err, enough)) {
			return got.Directory
		}
	}
	return ""
}

// escapeGlob makes a directory's name mean itself in a pattern.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir // there is no escape there, and * ? [ are not allowed in names
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// importable names what could be imported for a directory, for a person who did
// not say: nothing is imported without being asked for.
func (a *app) importable(dir string) string {
	root := a.directory(dir)
	if pl, err := a.place(root); err == nil && pl.Root != "" {
		root = pl.Root
	}
	var list []string
	memory := filepath.Join(a.claudeDir(), "projects", slug(root), "memory")
	if st, err := os.Stat(memory); err == nil && st.IsDir() {
		list = append(list, shortPath(memory))
	}
	for _, f := range files.FindInstructions(root) {
		list = append(list, shortPath(f))
	}
	if len(list) == 0 {
		return ""
	}
	return "; here there are " + strings.Join(list, " and ")
}

// slug is how Claude Code names the folder of a directory: every UTF-16 unit that
// is no ASCII letter or digit becomes a hyphen (2.1.332). Names longer than 200
// get a hash that is not known here.
func slug(dir string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(dir)) {
		if u < 0x80 && (u >= '0' && u <= '9' || u >= 'A' && u <= 'Z' || u >= 'a' && u <= 'z') {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}
