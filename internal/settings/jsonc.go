// Package settings edits the settings files of assistants as text: JSON with
// comments and trailing commas. What a person wrote stays as it is, byte for
// byte: comments, order, indentation, line ends, byte order mark. Only our own
// hook entries are put in and cut out again, and a file that is not understood
// is refused, never rewritten.
package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of a settings file, maxSize its bytes.
const (
	maxDepth = 200
	maxSize  = 8 << 20
)

// SyntaxError says where a settings file stops being JSON.
type SyntaxError struct {
	Path         string // "" if the text came from no file
	Line, Column int    // from 1; the column counts characters
	Problem      string
}

func (e *SyntaxError) Error() string {
	path := e.Path
	if path == "" {
		path = "settings"
	}
	return fmt.Sprintf("%s:%d:%d: %s; nothing was changed: mend the file there, or move it away, and try again", path, e.Line, e.Column, e.Problem)
}

// node is a value of the text.
type node struct {
	kind       byte // { [ " or, for all other values, v
	start, end int  // its bytes
	items      []item
	// tail is the end of the last thing before the closing bracket: an item, a
	// comma, a comment, or the opening bracket.
	tail int
}

// item is a member of an object or an element of an array.
type item struct {
	start int // of the key, or of the element
	lead  int // end of the thing before it
	key   string
	value *node
	comma int // offset of the comma behind it, or -1
}

// member returns the last member of that name: where a name stands twice, the
// last one holds.
func (n *node) member(key string) *item {
	if n == nil || n.kind != '{' {
		return nil
	}
	for i := len(n.items) - 1; i >= 0; i-- {
		if n.items[i].key == key {
			return &n.items[i]
		}
	}
	return nil
}

type parser struct {
	text []byte
	at   int
	// last is the end of the last token or comment.
	last int
}

// parse returns the value that the text consists of; nil for a text without
// any. The text may begin with a byte order mark.
func parse(text []byte) (*node, error) {
	p := &parser{text: text}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		p.at = 3
	}
	p.last = p.at
	if len(text) > maxSize {
		return nil, p.fail(0, "the file is too large for settings")
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at == len(text) {
		return nil, nil
	}
	root, err := p.value(0)
	if err != nil {
		return nil, err
	}
	if err := p.space(); err != nil {
		return nil, err
	}
	if p.at < len(text) {
		return nil, p.fail(p.at, "more text follows the end of the settings")
	}
	return root, nil
}

func (p *parser) fail(at int, problem string) error {
	before := p.text[:min(at, len(p.text))]
	line := bytes.Count(before, []byte("\n"))
	column := utf8.RuneCount(bytes.TrimPrefix(before[bytes.LastIndexByte(before, '\n')+1:], []byte("\ufeff")))
	return &SyntaxError{Line: line + 1, Column: column + 1, Problem: problem}
}

// space passes over white space and comments.
func (p *parser) space() error {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\n' || rest[0] == '\r':
			p.at++
		case bytes.HasPrefix(rest, []byte("//")):
			n := bytes.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest)
			}
			p.at += n
			p.last = p.at - (n - len(bytes.TrimRight(rest[:n], "\r")))
		case bytes.HasPrefix(rest, []byte("/*")):
			n := bytes.Index(rest[2:], []byte("*/"))
			if n < 0 {
				return p.fail(p.at, "a comment does not end")
			}
			p.at += n + 4
			p.last = p.at
		default:
			return nil
		}
	}
	return nil
}

func (p *parser) value(depth int) (*node, error) {
	if p.at >= len(p.text) {
		return nil, p.fail(p.at, "the file ends where a value should be")
	}
	if depth > maxDepth {
		return nil, p.fail(p.at, "the settings are nested too deeply")
	}
	n := &node{kind: 'v', start: p.at}
	var err error
	switch c := p.text[p.at]; c {
	case '{', '[':
		n.kind = c
		err = p.container(n, depth)
	case '"':
		n.kind = '"'
		err = p.quoted()
	default:
		err = p.word()
	}
	n.end, p.last = p.at, p.at
	return n, err
}

// container reads the items of an object or array, comma by comma.
func (p *parser) container(n *node, depth int) error {
	shut := n.kind + 2 // the closing brackets come two behind the opening ones
	p.at++
	p.last = p.at
	for {
		if err := p.space(); err != nil {
			return err
		}
		if p.at >= len(p.text) {
			return p.fail(n.start, fmt.Sprintf("the %q that opens here is never closed", n.kind))
		}
		if p.text[p.at] == shut {
			n.tail = p.last
			p.at++
			return nil
		}
		if k := len(n.items); k > 0 && n.items[k-1].comma < 0 {
			return p.fail(p.at, fmt.Sprintf("a comma or %q is missing before this", shut))
		}
		it := item{start: p.at, lead: p.last, comma: -1}
		if n.kind == '{' {
			if err := p.key(&it); err != nil {
				return err
			}
		}
		var err error
		if it.value, err = p.value(depth + 1); err != nil {
			return err
		}
		if err := p.space(); err != nil {
			return err
		}
		if p.at < len(p.text) && p.text[p.at] == ',' {
			it.comma = p.at
			p.at++
			p.last = p.at
		}
		n.items = append(n.items, it)
	}
}

func (p *parser) key(it *item) error {
	if p.text[p.at] != '"' {
		return p.fail(p.at, "a name in double quotes should stand here")
	}
	if err := p.quoted(); err != nil {
		return err
	}
	if err := json.Unmarshal(p.text[it.start:p.at], &it.key); err != nil {
		return p.fail(it.start, "this name is not a JSON string")
	}
	if err := p.space(); err != nil {
		return err
	}
	if p.at >= len(p.text) || p.text[p.at] != ':' {
		return p.fail(p.at, fmt.Sprintf("a colon is missing after %q", shortened(it.key)))
	}
	p.at++
	return p.space()
}

func shortened(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

func (p *parser) quoted() error {
	start := p.at
	for p.at++; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			if !json.Valid(p.text[start:p.at]) {
				return p.fail(start, "this string is not JSON: an escape in it is wrong")
			}
			return nil
		case c == '\\':
			p.at++
		case c == '\n' || c == '\r':
			return p.fail(start, "this string does not end on its line")
		}
	}
	p.at = len(p.text)
	return p.fail(start, "this string never ends")
}

func (p *parser) word() error {
	start := p.at
	for p.at < len(p.text) && !bytes.ContainsRune([]byte(" \t\r\n,:{}[]\"/"), rune(p.text[p.at])) {
		p.at++
	}
	if !json.Valid(p.text[start:p.at]) {
		problem := "a value should stand here"
		if w := strings.TrimSpace(string(p.text[start:p.at])); w != "" {
			problem = fmt.Sprintf("%q is no JSON value", shortened(w))
		}
		return p.fail(start, problem)
	}
	return nil
}
