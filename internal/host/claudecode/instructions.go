package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The limits of the index of a project's notes: the first lines are loaded, as
// far as they have so many UTF-16 units together (measured with 2.1.332, which
// reports the second as 24.4 KB).
const (
	maxIndexLines = 200
	maxIndexUnits = 25_000
)

// maxHops is how far imports of imports are followed (official documentation;
// not measured).
const maxHops = 5

// maxInstruction bounds what is read of an instruction file, in bytes.
const maxInstruction = 4 << 20

// Instruction is a file that Claude Code loads at the start of a session.
type Instruction struct {
	Path string
	// By is the file that imports it; "" for one that is loaded by its name.
	By string
}

// Instructions lists the files that Claude Code loads for a session in dir, in
// its order: the user's CLAUDE.md and rules, then from the outermost directory
// to dir CLAUDE.md, .claude/CLAUDE.md, rules, CLAUDE.local.md, each with its
// imports; AGENTS.md where a directory has no CLAUDE.md. The index of notes is
// not among them: see LoadedIndex.
func (p Places) Instructions(dir string) []Instruction {
	l := loader{user: string(p), dir: dir}
	l.add(filepath.Join(string(p), "CLAUDE.md"), "", 0)
	l.rules(filepath.Join(string(p), "rules"))
	var dirs []string
	for at := dir; ; at = filepath.Dir(at) {
		dirs = append(dirs, at)
		if filepath.Dir(at) == at {
			break
		}
	}
	slices.Reverse(dirs)
	for _, d := range dirs {
		named := l.add(filepath.Join(d, "CLAUDE.md"), "", 0)
		named = l.add(filepath.Join(d, ".claude", "CLAUDE.md"), "", 0) || named
		if !named {
			l.add(filepath.Join(d, "AGENTS.md"), "", 0)
		}
		l.rules(filepath.Join(d, ".claude", "rules"))
		l.add(filepath.Join(d, "CLAUDE.local.md"), "", 0)
	}
	return l.list
}

// loader collects instruction files.
type loader struct {
	user, dir string
	list      []Instruction
}

// add takes a file and its imports, and reports whether it exists.
func (l *loader) add(path, by string, hops int) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxInstruction {
		return false
	}
	if slices.ContainsFunc(l.list, func(i Instruction) bool { return i.Path == path }) {
		return true
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	l.list = append(l.list, Instruction{Path: path, By: by})
	if hops == maxHops {
		return true
	}
	for _, name := range imports(string(text)) {
		if target := l.target(name, path); target != "" {
			l.add(target, path, hops+1)
		}
	}
	return true
}

// target returns the file that an import names. What a project imports from
// outside is loaded only after a person agreed, which is not known here: then
// it counts as not loaded, and is rather injected twice than never.
func (l *loader) target(name, importer string) string {
	path := filepath.FromSlash(name)
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		path = filepath.Join(filepath.Dir(l.user), rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(importer), path)
	}
	path = filepath.Clean(path)
	if within(importer, l.user) || within(path, l.dir) || within(path, filepath.Dir(importer)) {
		return path
	}
	return ""
}

func within(path, dir string) bool {
	rest, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator)))
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// rules takes the rules of a folder, also below it, but not those which say for
// what paths they are: such a rule waits for a file of that name.
func (l *loader) rules(folder string) {
	_ = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error { // what cannot be read is passed over
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return nil
		}
		text, err := os.ReadFile(path) //nolint:gosec // the instruction files of the host, which follows links too
		if err == nil && !hasPaths(string(text)) {
			l.add(path, "", 0)
		}
		return nil
	})
}

// hasPaths reports whether the front matter of a rule names paths.
func hasPaths(text string) bool {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\ufeff"), "\r\n", "\n")
	head, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return false
	}
	head, _, _ = strings.Cut(head, "\n---")
	return strings.HasPrefix(head, "paths:") || strings.Contains(head, "\npaths:")
}

// imports finds the @path words of an instruction file, outside code.
func imports(text string) (list []string) {
	fence := ""
	for l := range strings.Lines(text) {
		trimmed := strings.TrimSpace(l)
		if mark := fenceMark(trimmed); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
			if fence == "" {
				fence = mark
			} else if strings.Trim(trimmed, mark[:1]) == "" {
				fence = ""
			}
			continue
		}
		if fence != "" || !strings.Contains(l, "@") {
			continue
		}
		for i, part := range strings.Split(l, "`") {
			if i%2 == 1 { // inside a code span
				continue
			}
			for word := range strings.FieldsSeq(strings.ReplaceAll(part, `\ `, "\x00")) {
				name, ok := strings.CutPrefix(word, "@")
				name = strings.TrimRight(strings.ReplaceAll(name, "\x00", " "), ".,;:!?)")
				if ok && name != "" && name != "/" {
					list = append(list, name)
				}
			}
		}
	}
	return list
}

func fenceMark(line string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, c)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// LoadedIndex returns how many lines of the text of a MEMORY.md Claude Code
// loads, from the first on: the newest, at the end, fall out first.
func LoadedIndex(text string) int {
	units, n := 0, 0
	for l := range strings.Lines(text) {
		for _, r := range strings.TrimRight(l, "\r\n") {
			units++
			if r > 0xffff {
				units++
			}
		}
		if n == maxIndexLines || units > maxIndexUnits {
			return n
		}
		units++ // the line end
		n++
	}
	return n
}

// LoadedLines returns how many lines of a file, from the first on, Claude Code
// loads by itself for sessions that run where the file belongs: all, none, or of
// an index the part within its limits. A line loaded by the host is not injected
// a second time.
func (p Places) LoadedLines(path, text string) int {
	all := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		all++
	}
	dir := filepath.Dir(path)
	if filepath.Base(path) == "MEMORY.md" {
		if filepath.Base(dir) == "memory" && filepath.Dir(filepath.Dir(dir)) == p.Projects() {
			return LoadedIndex(text)
		}
		return 0
	}
	if i := strings.LastIndex(dir+string(filepath.Separator), string(filepath.Separator)+".claude"+string(filepath.Separator)); i >= 0 && !within(dir, string(p)) {
		dir = dir[:i] // rules stand below the directory that they are for
	}
	for _, in := range p.Instructions(dir) {
		if in.Path == path {
			return all
		}
	}
	return 0
}
