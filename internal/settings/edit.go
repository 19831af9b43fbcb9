package settings

import (
	"bytes"
	"strings"
)

// style is how a file is laid out, so that what we add looks like it.
type style struct {
	newline string // between lines
	unit    string // of indentation
	colon   string // between name and value
	// line is true for a file that stands on one line.
	line bool
}

func styleOf(text []byte, root *node) style {
	s := style{newline: "\n", unit: "  ", colon: ": "}
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		s.newline = "\r\n"
	}
	if root == nil || len(root.items) == 0 {
		return s
	}
	s.line = !bytes.Contains(text[root.start:root.end], []byte("\n"))
	first := root.items[0]
	if indent, ok := ownLine(text, first.start); ok {
		if outer := indentOf(text, root.start); strings.HasPrefix(indent, outer) && len(indent) > len(outer) {
			s.unit = indent[len(outer):]
		}
	}
	if root.kind == '{' && s.line && first.value.start > 0 && text[first.value.start-1] == ':' {
		s.colon = ":"
	}
	return s
}

// indentOf returns the white space at the start of the line that offset is on.
func indentOf(text []byte, offset int) string {
	line := bytes.TrimPrefix(text[bytes.LastIndexByte(text[:offset], '\n')+1:], []byte("\ufeff"))
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// ownLine returns the indentation of what starts at offset, if nothing stands
// before it on its line.
func ownLine(text []byte, offset int) (string, bool) {
	before := text[bytes.LastIndexByte(text[:offset], '\n')+1 : offset]
	if len(before) == offset { // the first line
		return "", false
	}
	return string(before), len(bytes.TrimLeft(before, " \t")) == 0
}

// spread reports whether the items of a container stand on lines of their own.
func spread(text []byte, n *node) bool { return bytes.Contains(text[n.tail:n.end-1], []byte("\n")) }

// insert puts a new item at the end of a container. render writes the item for
// an indentation; on one line if lines is false.
func insert(text []byte, n *node, s style, lines bool, render func(indent string, lines bool) string) []byte {
	var b bytes.Buffer
	inner := text[n.start+1 : n.end-1]
	if len(n.items) == 0 && len(bytes.TrimSpace(inner)) == 0 { // {} or []
		b.Write(text[:n.start+1])
		if lines {
			indent := indentOf(text, n.start)
			b.WriteString(s.newline + indent + s.unit + render(indent+s.unit, true) + s.newline + indent)
		} else {
			pad := strings.TrimPrefix(s.colon, ":")
			b.WriteString(pad + render("", false) + pad)
		}
		b.Write(text[n.end-1:])
		return b.Bytes()
	}
	lines = spread(text, n) || len(n.items) == 0
	indent := indentOf(text, n.start) + s.unit
	comma := false
	if k := len(n.items); k > 0 {
		last := n.items[k-1]
		comma = last.comma >= 0
		if own, ok := ownLine(text, last.start); ok {
			indent = own
		}
		b.Write(text[:last.value.end])
		if !comma {
			b.WriteByte(',')
		}
		b.Write(text[last.value.end:n.tail])
		// Neighbours that stand on one line each are company for one that does, too.
		if !bytes.Contains(text[last.start:last.value.end], []byte("\n")) && last.value.kind != 'v' && last.value.kind != '"' {
			b.WriteString(gap(lines, s, indent) + render("", false))
		} else {
			b.WriteString(gap(lines, s, indent) + render(indent, lines))
		}
	} else { // nothing but comments
		b.Write(text[:n.tail])
		b.WriteString(s.newline + indent + render(indent, true))
	}
	if comma {
		b.WriteByte(',')
	}
	b.Write(text[n.tail:])
	return b.Bytes()
}

func gap(lines bool, s style, indent string) string {
	if lines {
		return s.newline + indent
	}
	return strings.TrimPrefix(s.colon, ":")
}

// cut takes item i out of a container, together with the white space before it
// and one comma. A container that is left with nothing in it is closed up.
func cut(text []byte, n *node, i int) []byte {
	it := n.items[i]
	var b bytes.Buffer
	last := i == len(n.items)-1
	switch {
	case len(n.items) == 1:
		end := it.value.end
		if it.comma >= 0 {
			end = it.comma + 1
		}
		before, after := text[n.start+1:it.lead], text[end:n.end-1]
		b.Write(text[:n.start+1])
		if len(bytes.TrimSpace(before)) > 0 || len(bytes.TrimSpace(after)) > 0 {
			b.Write(before)
			b.Write(after)
		}
		b.Write(text[n.end-1:])
	case it.comma >= 0:
		b.Write(text[:it.lead])
		b.Write(text[it.value.end:it.comma]) // comments, if any
		b.Write(text[it.comma+1:])
	case last:
		comma := n.items[i-1].comma
		b.Write(text[:comma])
		b.Write(text[comma+1 : it.lead])
		b.Write(text[it.value.end:])
	}
	return b.Bytes()
}
