package files

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"stillso"
)

// InstructionFiles lists where assistants look for standing instructions, below
// the root of a project; a * stands for any file name.
func InstructionFiles() []string {
	return []string{
		"CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md", ".claude/rules/*.md",
		"AGENTS.md", "AGENTS.override.md", "GEMINI.md", "QWEN.md", "CRUSH.md",
		".cursor/rules/*.mdc", ".cursorrules", ".windsurfrules", ".windsurf/rules/*.md", ".clinerules",
		".github/copilot-instructions.md", ".github/instructions/*.instructions.md",
	}
}

// IsInstructions reports whether path is an instruction file by its name.
func IsInstructions(path string) bool {
	path = filepath.ToSlash(path)
	return slices.ContainsFunc(InstructionFiles(), func(pattern string) bool {
		if n := strings.Count(pattern, "/"); n > 0 {
			parts := strings.Split(path, "/")
			if len(parts) <= n {
				return false
			}
			ok, _ := filepath.Match(pattern, strings.Join(parts[len(parts)-n-1:], "/"))
			return ok
		}
		return filepath.Base(path) == pattern
	})
}

// ReadInstructions reads a file of standing instructions: every list item and
// every paragraph is one memory of origin file. Ids are made from the path below
// o.Root and the text, so that the same line keeps its id wherever it moves in
// the file.
func ReadInstructions(path string, o Options) (Reading, error) {
	text, err := readText(path)
	if err != nil {
		return Reading{}, err
	}
	return parseInstructions(path, text, o)
}

func parseInstructions(path, text string, o Options) (Reading, error) {
	fields, body, err := splitFrontMatter(text)
	if err != nil {
		return Reading{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	var loaded []Loaded
	if o.Loaded != nil {
		loaded = o.Loaded(path, text)
	}
	first := 1 + strings.Count(text, "\n") - strings.Count(body, "\n")
	var r Reading
	seen := map[string]int{}
	for _, it := range split(body, first) {
		m := it.memory(path, fields, loaded)
		m.Namespace = o.Namespace
		id := []string{string(o.Namespace), below(o.Root, path), m.File.Hash}
		if seen[m.File.Hash]++; seen[m.File.Hash] > 1 { // the same words twice in one file
			id = append(id, fmt.Sprint(seen[m.File.Hash]))
		}
		m.ID = stableID("file", id...)
		m.Default(o.Now)
		if err := m.Validate(); err != nil {
			r.Problems = append(r.Problems, Problem{Path: path, Line: it.first, Cause: err.Error()})
			continue
		}
		r.Memories = append(r.Memories, m)
	}
	return r, nil
}

// memory makes the memory of one item. The nearest heading is its name; the
// sentence that introduces its list stands before it, since "push to main" under
// "Never:" says the opposite without it.
func (it item) memory(path string, fields []field, loaded []Loaded) *stillso.Memory {
	m := &stillso.Memory{
		Origin: stillso.FromFile,
		Name:   stem(path),
		Body:   it.text,
		File:   &stillso.FileOrigin{Path: path, Line: it.first, Hash: hash(it.text)},
	}
	for _, f := range fields {
		switch f.key {
		case "description":
			m.Name = f.text()
			extra(m, f.key, f.text())
		default:
			extra(m, f.key, f.text())
		}
	}
	if n := len(it.headings); n > 0 {
		m.Name = it.headings[n-1]
		if n > 1 {
			extra(m, "section", strings.Join(it.headings, " / "))
		}
	}
	m.Name = cut(oneLine(m.Name), stillso.MaxName)
	m.Content = statement(it.text)
	if oneLine(it.text) == m.Content {
		m.Body = ""
	}
	if len(it.intro) <= 200 && it.intro != "" {
		m.Content = it.intro + " " + m.Content
	}
	m.Type = it.kind(m.Content)
	for _, l := range loaded {
		if l.First <= it.first && it.last <= l.Last && !slices.Contains(m.File.LoadedBy, l.Host) {
			m.File.LoadedBy = append(m.File.LoadedBy, l.Host)
		}
	}
	return m
}

// mustWords are words that make an instruction a constraint.
const mustWords = `(?i)\b(must|never|always|do not|don't|mustn't|should not|required|forbidden|avoid)\b|必须|不要|不得|禁止|务必|总是|一律|切勿|必ず|禁止|하지 마|반드시`

func (it item) kind(content string) stillso.Type {
	switch {
	case it.box == ' ':
		return stillso.Todo
	case it.box == 'x':
		return stillso.Event
	case regexp.MustCompile(mustWords).MatchString(content):
		return stillso.Constraint
	}
	return stillso.Fact
}

// What Claude Code loads of a MEMORY.md (measured on 2.1.332; see docs/format.md).
const (
	IndexLines = 200
	IndexUnits = 25_000 // of UTF-16
)

// LoadedIndex returns how many lines of a MEMORY.md Claude Code loads: the first
// 200, and at most 25,000 UTF-16 units, cut at a line.
func LoadedIndex(text string) int {
	const maxLines, maxUnits = IndexLines, IndexUnits
	units, n := 0, 0
	for line := range strings.Lines(text) {
		for _, r := range line {
			units++
			if r > 0xffff {
				units++
			}
		}
		if n == maxLines || units > maxUnits {
			return n
		}
		n++
	}
	return n
}
