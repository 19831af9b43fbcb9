package files

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"stillso"
)

// Aliases are phrases for memories, by what the file calls them: an id, a name,
// or the name of a note's file without its ending.
type Aliases map[string][]string

// ReadAliases reads lines of the form {"note": "…", "aliases": ["…"]}. A line
// that cannot be read is a problem; that none can is an error.
func ReadAliases(r io.Reader, path string) (Aliases, []Problem, error) {
	a := Aliases{}
	var problems []Problem
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for in.Scan() {
		n++
		text := strings.TrimSpace(strings.TrimPrefix(in.Text(), "\ufeff"))
		if text == "" {
			continue
		}
		var line struct {
			Name    string   `json:"note"`
			Aliases []string `json:"aliases"`
		}
		err := json.Unmarshal([]byte(text), &line)
		switch {
		case invalidUTF8([]byte(text)) >= 0:
			err = errors.New("it is not valid UTF-8")
		case err != nil:
			err = notMemory([]byte(text), err)
		case line.Name == "":
			err = errors.New(`it names no note; write {"note": "…", "aliases": ["…"]}`)
		}
		if err != nil {
			problems = append(problems, Problem{Path: path, Line: n, Cause: err.Error()})
			continue
		}
		a[line.Name] = append(a[line.Name], line.Aliases...)
	}
	if err := in.Err(); errors.Is(err, bufio.ErrTooLong) {
		cause := fmt.Sprintf("it has more than %d MB; what follows is not read", maxLine>>20)
		problems = append(problems, Problem{Path: path, Line: n + 1, Cause: cause})
	} else if err != nil {
		return nil, nil, fmt.Errorf("cannot read %s: %w", path, bare(err))
	}
	if len(a) == 0 {
		if len(problems) > 0 {
			return nil, problems, fmt.Errorf("cannot read %s: none of its lines holds aliases; the first: line %d: %s",
				path, problems[0].Line, problems[0].Cause)
		}
		return nil, nil, fmt.Errorf(`cannot read %s: it is empty; write lines of {"note": "…", "aliases": ["…"]}`, path)
	}
	return a, problems, nil
}

// Of returns the phrases for m under any of its names.
func (a Aliases) Of(m *stillso.Memory) []string {
	out := append([]string(nil), a[m.ID]...)
	names := []string{m.Name}
	if m.File != nil {
		names = append(names, stem(m.File.Path))
	}
	for _, name := range names {
		if name != "" && name != m.ID {
			out = append(out, missing(out, a[name])...)
		}
	}
	return out
}

// Apply adds to every memory its phrases, without doubles and within the limits
// of a memory. It returns the names for which there is no memory.
func (a Aliases) Apply(list []*stillso.Memory) (unknown []string) {
	used := map[string]bool{}
	for _, m := range list {
		used[m.ID], used[m.Name] = true, true
		if m.File != nil {
			used[stem(m.File.Path)] = true
		}
		for _, phrase := range a.Of(m) {
			phrase = cut(oneLine(phrase), stillso.MaxAlias)
			if phrase != "" && len(m.Aliases) < stillso.MaxAliases {
				m.Aliases = append(m.Aliases, missing(m.Aliases, []string{phrase})...)
			}
		}
	}
	for name := range a {
		if !used[name] {
			unknown = append(unknown, name)
		}
	}
	return unknown
}
