package settings

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// PlanTables works out how a TOML file looks without the tables that Record wrote
// down or that are named (all below parent), as it was before where nobody
// touched it since. If parent is empty then, and has a header, that goes too.
func PlanTables(path, keep string, parent, names []string) (*Plan, error) {
	return planBack(path, keep, func(text []byte, created []string) ([]byte, error) {
		return CutTables(text, parent, func(name string) bool { return slices.Contains(created, name) || slices.Contains(names, name) })
	})
}

// CutTables returns TOML without the tables parent.NAME that ours names, and
// without the header of parent if nothing is left below it. All else stays as it
// is, byte for byte. Text that is not TOML is refused; so is one in which the
// tables are written otherwise than with headers, for what would remain says
// something else than it should.
func CutTables(text []byte, parent []string, ours func(name string) bool) ([]byte, error) {
	before, err := decode(text)
	if err != nil {
		return nil, err
	}
	tables := headers(text)
	mine := func(t table) bool {
		return len(t.path) > len(parent) && slices.Equal(t.path[:len(parent)], parent) && ours(t.path[len(parent)])
	}
	if !slices.ContainsFunc(tables, mine) && !holds(before, parent, ours) {
		return text, nil
	}
	var out bytes.Buffer
	at := 0
	for i, t := range tables {
		if !mine(t) {
			continue
		}
		out.Write(text[at:t.start])
		at = len(text)
		if i+1 < len(tables) {
			at = tables[i+1].start
		}
		// Comments and blank lines before the next header belong to it.
		at = t.start + len(trimComments(text[t.start:at]))
	}
	out.Write(text[at:])
	left := cutHeader(out.Bytes(), parent)
	after, err := decode(left)
	if err != nil {
		return nil, err
	}
	drop(before, parent, ours)
	drop(after, parent, func(string) bool { return false })
	if !reflect.DeepEqual(before, after) {
		return nil, &SyntaxError{Line: 1, Column: 1, Problem: fmt.Sprintf("the tables below [%s] are written in a way that cannot be cut out", strings.Join(parent, "."))}
	}
	return left, nil
}

// cutHeader cuts the header of a table out of which nothing hangs any more,
// together with the blank line before it.
func cutHeader(text []byte, path []string) []byte {
	tables := headers(text)
	for i, t := range tables {
		if !slices.Equal(t.path, path) {
			continue
		}
		end := len(text)
		if i+1 < len(tables) {
			end = tables[i+1].start
		}
		below := slices.ContainsFunc(tables, func(o table) bool { return len(o.path) > len(path) && slices.Equal(o.path[:len(path)], path) })
		body := text[t.end:end]
		own := body[:len(trimComments(append([]byte("#\n"), body...)))-2]
		if below || len(bytes.TrimSpace(own)) > 0 {
			return text
		}
		start, end := t.start, t.end+len(own)
		if end == len(text) { // the end of the file: the blank lines before it were put there, too
			start = len(bytes.TrimRight(text[:start], "\r\n"))
			if start > 0 {
				start += lineEnd(text[start:])
			}
		}
		return append(bytes.Clone(text[:start]), text[end:]...)
	}
	return text
}

func lineEnd(text []byte) int { return bytes.IndexByte(text, '\n') + 1 }

func decode(text []byte) (map[string]any, error) {
	doc := map[string]any{}
	_, err := toml.Decode(strings.TrimPrefix(string(text), "\ufeff"), &doc)
	if err == nil {
		return doc, nil
	}
	bad := &SyntaxError{Line: 1, Column: 1, Problem: "this is no TOML"}
	if p, ok := err.(toml.ParseError); ok { //nolint:errorlint // the library returns it bare
		bad.Line, bad.Column, bad.Problem = max(p.Position.Line, 1), 1, p.Message
	}
	return nil, bad
}

func below(doc map[string]any, parent []string) map[string]any {
	for _, name := range parent {
		next, ok := doc[name].(map[string]any)
		if !ok {
			return nil
		}
		doc = next
	}
	return doc
}

func holds(doc map[string]any, parent []string, ours func(string) bool) bool {
	for name := range below(doc, parent) {
		if ours(name) {
			return true
		}
	}
	return false
}

// drop removes what ours names below parent, and the tables that only had that
// in them.
func drop(doc map[string]any, parent []string, ours func(string) bool) {
	at := below(doc, parent)
	for name := range at {
		if ours(name) {
			delete(at, name)
		}
	}
	for n := len(parent); n > 0 && len(below(doc, parent[:n])) == 0; n-- {
		delete(below(doc, parent[:n-1]), parent[n-1])
	}
}

// table is a header, [a.b."c"] or [[a]], with its bytes: those of its line.
type table struct {
	path       []string
	start, end int
}

// headers finds the lines that begin tables: not those inside a string or a list
// of several lines.
func headers(text []byte) (list []table) {
	depth, long := 0, "" // of brackets; the quotes that end a string of several lines
	for start := 0; start < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n + 1
		}
		line := string(text[start:end])
		if trimmed := strings.TrimLeft(strings.TrimPrefix(line, "\ufeff"), " \t"); depth == 0 && long == "" && strings.HasPrefix(trimmed, "[") {
			list = append(list, table{keys(strings.Trim(trimmed, "[")), start, end})
		} else {
			depth, long = scan(line, depth, long)
		}
		start = end
	}
	return list
}

// keys reads a dotted name up to its closing bracket.
func keys(s string) (path []string) {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" {
			return path
		}
		var key string
		switch s[0] {
		case '"':
			end := 1
			for end < len(s) && s[end] != '"' {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			key = unquote(s[:min(end+1, len(s))])
			s = s[min(end+1, len(s)):]
		case '\'':
			var rest string
			key, rest, _ = strings.Cut(s[1:], "'")
			s = rest
		default:
			n := strings.IndexAny(s, ".] \t\r\n")
			if n < 0 {
				n = len(s)
			}
			key, s = s[:n], s[n:]
		}
		path = append(path, key)
		if s = strings.TrimLeft(s, " \t"); s == "" || s[0] != '.' {
			return path
		}
		s = s[1:]
	}
}

func unquote(s string) string {
	var doc struct{ K string }
	if _, err := toml.Decode("K = "+s, &doc); err != nil {
		return s
	}
	return doc.K
}

// scan follows the brackets and strings of one line.
func scan(line string, depth int, long string) (brackets int, quotes string) {
	for i := 0; i < len(line); i++ {
		if long != "" {
			n := strings.Index(line[i:], long)
			if n < 0 {
				return depth, long
			}
			if long[0] == '"' && n > 0 && oddSlashes(line[i:i+n]) {
				i += n
				continue
			}
			i += n + 2
			long = ""
			continue
		}
		switch c := line[i]; c {
		case '#':
			return depth, ""
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(depth-1, 0)
		case '"', '\'':
			if mark := strings.Repeat(string(c), 3); strings.HasPrefix(line[i:], mark) {
				long = mark
				i += 2
				continue
			}
			for i++; i < len(line) && line[i] != c; i++ {
				if c == '"' && line[i] == '\\' {
					i++
				}
			}
		}
	}
	return depth, long
}

func oddSlashes(s string) bool { return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1 }

// trimComments returns the body of a table without the comments at its end,
// which stand before what follows. Blank lines stay with the table.
func trimComments(body []byte) []byte {
	lines := bytes.SplitAfter(body, []byte("\n"))
	end := len(body)
	for i := len(lines) - 1; i > 0; i-- {
		l := bytes.TrimSpace(lines[i])
		if len(l) > 0 && l[0] != '#' {
			break
		}
		if len(l) > 0 {
			end = len(bytes.Join(lines[:i], nil))
		}
	}
	return body[:end]
}
