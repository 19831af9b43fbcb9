package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"stillso"
)

// indexFile is the file in which Claude Code lists the notes of a folder.
const indexFile = "MEMORY.md"

// maxNotes bounds a folder; it keeps a path given by mistake (a home directory)
// from being read for minutes.
const maxNotes = 20_000

// ReadFolder reads a folder of notes, and its MEMORY.md if there is one. A line
// of the index that points to a note is no memory of its own: it describes the
// note, or is an alias of it. A line that stands alone is a memory.
func ReadFolder(dir string, o Options) (Reading, error) {
	var all Reading
	notes := map[string]*stillso.Memory{} // by path below dir
	count := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir() || !strings.EqualFold(filepath.Ext(path), ".md") || d.Name() == indexFile:
			return nil
		}
		if count++; count > maxNotes {
			return fmt.Errorf("it has more than %d notes; name a smaller folder", maxNotes)
		}
		m, err := ReadMarkdown(path, o)
		if err != nil {
			all.Problems = append(all.Problems, problem(path, err))
			return nil
		}
		notes[filepath.ToSlash(below(dir, path))] = m
		all.Memories = append(all.Memories, m)
		return nil
	})
	if err != nil {
		return Reading{}, fmt.Errorf("cannot read %s: %w", dir, bare(err))
	}
	index := filepath.Join(dir, indexFile)
	text, err := readText(index)
	switch {
	case err == nil:
		alone, err := readIndex(index, text, notes, o)
		if err != nil {
			all.Problems = append(all.Problems, problem(index, err))
		}
		all.Memories = append(all.Memories, alone.Memories...)
		all.Problems = append(all.Problems, alone.Problems...)
	case !errors.Is(err, os.ErrNotExist):
		all.Problems = append(all.Problems, problem(index, err))
	}
	var r Reading
	r.Add(all)
	if len(r.Memories) == 0 {
		if len(r.Problems) > 0 {
			return r, fmt.Errorf("cannot read %s: none of its %d notes can be read: %s", dir, len(r.Problems), r.Problems[0])
		}
		return r, fmt.Errorf("cannot read %s: it holds no notes (*.md); name the folder that does", dir)
	}
	return r, nil
}

// problem turns an error that names its file into a line of a report.
func problem(path string, err error) Problem {
	return Problem{Path: path, Cause: strings.TrimPrefix(err.Error(), "cannot read "+path+": ")}
}

// readIndex reads a MEMORY.md: it describes notes, and returns what stands alone.
func readIndex(path, text string, notes map[string]*stillso.Memory, o Options) (Reading, error) {
	all, err := parseInstructions(path, text, o)
	if err != nil {
		return Reading{}, err
	}
	alone := Reading{Problems: all.Problems}
	for _, m := range all.Memories {
		whole := m.Body
		if whole == "" {
			whole = m.Content
		}
		title, target, hook := pointer(whole)
		note := notes[target]
		if note == nil && target != "" && strings.HasPrefix(whole, "[[") {
			note = byName(notes, target)
		}
		if note != nil {
			describe(note, hook)
			continue
		}
		if hook != "" && target != "" { // the note it points to is gone; the line is all there is
			m.Name, m.Content, m.Body = cut(title, stillso.MaxName), cut(hook, stillso.MaxContent), ""
		}
		m.Origin = stillso.FromImport
		alone.Memories = append(alone.Memories, m)
	}
	return alone, nil
}

const pointerLine = `^(?:\*\*)?\[([^\]\[]*)\]\(<?([^)>\s]+\.md)>?(?:#[^)]*)?\)(?:\*\*)?[\s:—–-]*((?s:.*))$`

// pointer splits a line of an index, "[Title](file.md) — hook".
func pointer(line string) (title, target, hook string) {
	if m := regexp.MustCompile(pointerLine).FindStringSubmatch(line); m != nil {
		return oneLine(m[1]), strings.TrimPrefix(m[2], "./"), oneLine(m[3])
	}
	if rest, ok := strings.CutPrefix(line, "[["); ok {
		if target, hook, ok = strings.Cut(rest, "]]"); ok {
			return target, target, oneLine(strings.TrimLeft(hook, " :—–-"))
		}
	}
	return "", "", ""
}

func byName(notes map[string]*stillso.Memory, name string) *stillso.Memory {
	for _, m := range notes {
		if m.Name == name || stem(m.File.Path) == name {
			return m
		}
	}
	return nil
}

// describe gives a note the words of its line in the index: an alias, unless the
// note says the same already.
func describe(m *stillso.Memory, hook string) {
	hook = cut(hook, stillso.MaxAlias)
	known := strings.ToLower(oneLine(m.Content + " " + m.Body))
	if hook == "" || len(m.Aliases) >= stillso.MaxAliases || strings.Contains(known, strings.ToLower(hook)) {
		return
	}
	m.Aliases = append(m.Aliases, hook)
}
