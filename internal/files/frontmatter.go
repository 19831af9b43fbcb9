package files

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// field is one entry of a front matter. A nested key is written with dots:
// metadata.type.
type field struct {
	key    string
	values []string
	list   bool // written as a list
	line   int  // from 1
}

func (f field) text() string { return strings.Join(f.values, ", ") }

// splitFrontMatter reads the block between two lines of three dashes at the top
// of a note, and returns the text after it. A note without one is all body.
//
// This is the part of YAML that assistants and people write into notes: nested
// keys, lists, quoted, folded and literal values, comments. Our own reader,
// because what is found in the wild is often not YAML (a colon or an apostrophe
// in an unquoted description stops a YAML library, and the note would be lost);
// and because nothing here may expand aliases, tags or merge keys.
func splitFrontMatter(text string) (fields []field, body string, err error) {
	lines := strings.Split(text, "\n")
	if strings.TrimRight(lines[0], " \t") != "---" {
		return nil, text, nil
	}
	end := -1
	for i, l := range lines[1:] {
		if l = strings.TrimRight(l, " \t"); l == "---" || l == "..." {
			end = i + 1
			break
		}
		if i > 1000 {
			break
		}
	}
	if end < 0 {
		return nil, "", fmt.Errorf("line 1: the front matter is not closed; end it with a line of three dashes (---)")
	}
	p := matter{lines: lines[:end], at: 1}
	if err := p.read(); err != nil {
		return nil, "", err
	}
	return p.fields, strings.Join(lines[end+1:], "\n"), nil
}

// matter reads fields from lines; at is the line that comes next.
type matter struct {
	lines  []string
	at     int
	fields []field
	open   []openKey // the keys whose values stand below them, by depth
}

type openKey struct {
	indent int
	key    string
}

func (p *matter) read() error {
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		trim := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		p.at++
		if trim == "" || strings.HasPrefix(trim, "#") {
			continue
		}
		if item, ok := strings.CutPrefix(trim, "- "); ok && p.addItem(item) {
			continue
		}
		key, value, ok := keyValue(trim)
		if !ok {
			// A value that was broken without indenting belongs to the one before.
			if len(p.fields) == 0 || len(p.fields[len(p.fields)-1].values) != 1 {
				return fmt.Errorf("line %d: %q is no entry of a front matter; write key: value", p.at, cut(trim, 60))
			}
			last := &p.fields[len(p.fields)-1]
			last.values[0] = strings.TrimSpace(last.values[0] + " " + trim)
			continue
		}
		for len(p.open) > 0 && p.open[len(p.open)-1].indent >= indent {
			p.open = p.open[:len(p.open)-1]
		}
		full := key
		if n := len(p.open); n > 0 {
			full = p.open[n-1].key + "." + key
		}
		if err := p.value(full, value, indent); err != nil {
			return err
		}
	}
	return nil
}

// value reads what follows the colon: on the same line, or on the lines below.
func (p *matter) value(key, value string, indent int) error {
	f := field{key: key, line: p.at, values: []string{}}
	switch {
	case value == "":
		p.open = append(p.open, openKey{indent, key})
	case value[0] == '|' || value[0] == '>':
		if strings.Trim(value[1:], "+-0123456789 ") == "" {
			f.values = []string{p.block(value[0] == '>', indent)}
			break
		}
		f.values = []string{p.plain(value, indent)}
	case value[0] == '"' || value[0] == '\'':
		s, err := p.quoted(value)
		if err != nil {
			return err
		}
		f.values = []string{s}
	case value[0] == '[':
		f.values, f.list = p.flow(value)
	default:
		f.values = []string{p.plain(value, indent)}
	}
	p.fields = append(p.fields, f)
	return nil
}

// addItem adds an item to the list that the last key opened.
func (p *matter) addItem(item string) bool {
	if len(p.open) == 0 || len(p.fields) == 0 {
		return false
	}
	last := &p.fields[len(p.fields)-1]
	if last.key != p.open[len(p.open)-1].key {
		return false
	}
	last.values, last.list = append(last.values, unquote(comment(item))), true
	return true
}

// plain reads an unquoted value and the deeper lines that continue it.
func (p *matter) plain(value string, indent int) string {
	value = comment(value)
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		if strings.TrimSpace(line) == "" || len(line)-len(strings.TrimLeft(line, " \t")) <= indent {
			break
		}
		value += " " + comment(strings.TrimSpace(line))
		p.at++
	}
	return strings.TrimSpace(value)
}

// block reads a literal (|) or folded (>) value.
func (p *matter) block(folded bool, indent int) string {
	var lines []string
	depth := -1
	for p.at < len(p.lines) {
		line := p.lines[p.at]
		in := len(line) - len(strings.TrimLeft(line, " \t"))
		if strings.TrimSpace(line) == "" {
			lines = append(lines, "")
			p.at++
			continue
		}
		if in <= indent {
			break
		}
		if depth < 0 {
			depth = in
		}
		lines = append(lines, line[min(depth, in):])
		p.at++
	}
	text := strings.TrimRight(strings.Join(lines, "\n"), "\n ")
	if !folded {
		return text
	}
	paragraphs := strings.Split(text, "\n\n")
	for i, s := range paragraphs {
		paragraphs[i] = oneLine(s)
	}
	return strings.Join(paragraphs, "\n")
}

// quoted reads a value in quotes, over as many lines as it takes.
func (p *matter) quoted(value string) (string, error) {
	start := p.at
	for {
		if s, ok := closed(value); ok {
			return s, nil
		}
		if p.at >= len(p.lines) {
			// A quote that opens but never closes is text, for instance
			// "soon" is not a date.
			p.at = start
			return comment(firstLine(value)), nil
		}
		value += "\n" + strings.TrimSpace(p.lines[p.at])
		p.at++
		if len(value) > MaxFile {
			return "", fmt.Errorf("line %d: the quoted value does not end", start)
		}
	}
}

// flow reads a list in brackets.
func (p *matter) flow(value string) (values []string, isList bool) {
	for !strings.HasSuffix(strings.TrimSpace(comment(value)), "]") && p.at < len(p.lines) {
		next := strings.TrimSpace(p.lines[p.at])
		if _, _, key := keyValue(next); key {
			return []string{comment(value)}, false
		}
		value += " " + next
		p.at++
	}
	value = strings.TrimSpace(comment(value))
	inner, ok := strings.CutSuffix(value[1:], "]")
	if !ok {
		return []string{value}, false
	}
	for inner = strings.TrimSpace(inner); inner != ""; {
		part := inner
		if i := itemEnd(inner); i >= 0 {
			part, inner = inner[:i], strings.TrimSpace(inner[i+1:])
		} else {
			inner = ""
		}
		if part = unquote(strings.TrimSpace(part)); part != "" {
			values = append(values, part)
		}
	}
	return values, true
}

// itemEnd returns the place of the comma that ends the first item, or -1. A
// comma within quotes does not.
func itemEnd(s string) int {
	quote := byte(0)
	if s[0] == '"' || s[0] == '\'' {
		quote = s[0]
	}
	for i := 1; i < len(s) && quote != 0; i++ {
		if s[i] == '\\' && quote == '"' {
			i++
		} else if s[i] == quote {
			if j := strings.IndexByte(s[i:], ','); j >= 0 {
				return i + j
			}
			return -1
		}
	}
	return strings.IndexByte(s, ',')
}

// closed returns the text of a quoted value that is complete.
func closed(s string) (string, bool) {
	q := s[0]
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case q == '"' && c == '\\' && i+1 < len(s):
			n := escape(s[i:], &out)
			i += n - 1
		case c == q && q == '\'' && i+1 < len(s) && s[i+1] == q:
			out.WriteByte(q)
			i++
		case c == q:
			rest := strings.TrimSpace(s[i+1:])
			if rest != "" && rest[0] != '#' {
				return "", false
			}
			return fold(out.String()), true
		default:
			out.WriteByte(c)
		}
	}
	return "", false
}

// escape writes the character that the escape at the start of s stands for, and
// returns the length of the escape.
func escape(s string, out *strings.Builder) int {
	switch c := s[1]; c {
	case 'n':
		out.WriteString("\x00") // a written line end; fold must not join it
	case 't':
		out.WriteByte('\t')
	case 'r':
	case '"', '\\', '/', ' ':
		out.WriteByte(c)
	case 'x', 'u', 'U':
		n := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		if len(s) >= 2+n {
			if v, err := strconv.ParseUint(s[2:2+n], 16, 32); err == nil && v > 0 && v <= unicode.MaxRune {
				out.WriteRune(rune(v))
				return 2 + n
			}
		}
		out.WriteString(s[:2])
	default:
		out.WriteString(s[:2])
	}
	return 2
}

// fold joins the lines of a quoted value, as YAML does; written line ends stay.
func fold(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		if i > 0 {
			lines[i] = strings.TrimLeft(lines[i], " \t")
		}
	}
	return strings.ReplaceAll(strings.Join(lines, " "), "\x00", "\n")
}

func unquote(s string) string {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		if v, ok := closed(s); ok {
			return v
		}
	}
	return s
}

// comment drops a comment at the end of an unquoted value. A number sign is one
// only with a space on both sides, so that "PR #305" stays.
func comment(s string) string {
	if i := strings.Index(s, " # "); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(strings.TrimSuffix(s, " #"))
}

func firstLine(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }

// keyValue splits an entry. A key is a word or two in any script; the colon must
// be followed by a space or the end, so that a URL is no key.
func keyValue(s string) (key, value string, ok bool) {
	i := strings.Index(s, ":")
	for i >= 0 && i+1 < len(s) && s[i+1] != ' ' && s[i+1] != '\t' {
		return "", "", false
	}
	if i <= 0 || i > 64 {
		return "", "", false
	}
	key = unquote(s[:i])
	if strings.Count(key, " ") > 1 || strings.ContainsFunc(key, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-. $@/", r)
	}) {
		return "", "", false
	}
	return key, strings.TrimSpace(s[i+1:]), true
}
