package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Field is one member of an object that goes into a settings file.
type Field struct {
	Name string
	// Value is JSON on one line.
	Value string
}

// Entry is an object of ours in a settings file, such as a server in mcpServers.
type Entry struct {
	// Parent is the name of the object it stands in, Name its own.
	Parent, Name string
	Fields       []Field
	// Own is the program that the command of our entry runs: an entry of that name
	// with another one was written by somebody else, and is left alone.
	Own string
}

// PlanEntry works out how a JSON file looks with the entry. keep is as in
// PlanInstall.
func PlanEntry(path string, e Entry, keep string) (*Plan, error) {
	return planForward(path, keep, insertion{
		put:   func(text []byte) ([]byte, []string, error) { return SetEntry(text, e) },
		there: func(text []byte) bool { n, err := parse(text); return err == nil && e.ours(text, e.find(n)) },
		cut:   func(text []byte, created []string) ([]byte, error) { return CutEntry(text, e, created) },
	})
}

// PlanEntryRemoval works out how a JSON file looks without the entry.
func PlanEntryRemoval(path string, e Entry, keep string) (*Plan, error) {
	return planBack(path, keep, func(text []byte, created []string) ([]byte, error) { return CutEntry(text, e, created) })
}

// SetEntry returns the text with the entry in it. One that is there is brought up
// to date in its place: fields that we do not set stay as somebody set them.
// created names the parent if it had to be made.
func SetEntry(text []byte, e Entry) (out []byte, created []string, err error) {
	out = text
	root, err := e.root(text)
	if err != nil {
		return nil, nil, err
	}
	if root == nil { // nothing there but comments, maybe
		if out = bytes.TrimRight(text, " \t\r\n"); len(bytes.TrimPrefix(out, []byte("\ufeff"))) > 0 {
			out = append(bytes.Clone(out), '\n')
		}
		out = append(bytes.Clone(out), "{}\n"...)
		if root, err = e.root(out); err != nil {
			return nil, nil, err
		}
	}
	s := styleOf(out, root)
	if root.member(e.Parent) == nil {
		out = insert(out, root, s, !s.line, func(string, bool) string { return quote(e.Parent) + s.colon + "{}" })
		created = []string{e.Parent}
		if root, err = e.root(out); err != nil {
			return nil, nil, err
		}
	}
	parent := root.member(e.Parent).value
	if have := parent.member(e.Name); have != nil {
		if !e.ours(out, have) {
			return nil, nil, fmt.Errorf("%w: there is another %q in %q; take it out there, and try again", ErrForeign, e.Name, e.Parent)
		}
		out, err = e.update(out)
		return out, created, err
	}
	return insert(out, parent, s, !s.line, func(indent string, lines bool) string {
		members := make([]string, len(e.Fields))
		for i, f := range e.Fields {
			members[i] = quote(f.Name) + s.colon + f.Value
		}
		return quote(e.Name) + s.colon + renderObject(members, s, indent, lines)
	}), created, nil
}

// CutEntry returns the text without the entry, and without its parent if created
// names it and nothing else is in it.
func CutEntry(text []byte, e Entry, created []string) ([]byte, error) {
	root, err := e.root(text)
	if err != nil {
		return nil, err
	}
	have := e.find(root)
	if !e.ours(text, have) {
		return text, nil
	}
	parent := root.member(e.Parent).value
	text = cut(text, parent, slices.IndexFunc(parent.items, func(it item) bool { return it.value == have.value }))
	if created == nil || slices.Contains(created, e.Parent) {
		text = cutEmpty(text, e.Parent)
	}
	return text, nil
}

// root parses a settings file, which must be an object with an object at Parent.
func (e Entry) root(text []byte) (*node, error) {
	root, err := parse(text)
	if err != nil || root == nil {
		return nil, err
	}
	p := parser{text: text}
	if root.kind != '{' {
		return nil, p.fail(root.start, "settings should be an object in braces")
	}
	if m := root.member(e.Parent); m != nil && m.value.kind != '{' {
		return nil, p.fail(m.value.start, fmt.Sprintf("%q should be an object in braces", e.Parent))
	}
	return root, nil
}

func (e Entry) find(root *node) *item {
	if parent := root.member(e.Parent); parent != nil {
		return parent.value.member(e.Name)
	}
	return nil
}

// ours reports whether the command of an entry, a text or a list, is our program.
func (e Entry) ours(text []byte, it *item) bool {
	if it == nil {
		return false
	}
	command := it.value.member("command")
	if command == nil {
		return false
	}
	n := command.value
	if n.kind == '[' && len(n.items) > 0 {
		n = n.items[0].value
	}
	return Program(str(text, n)) == e.Own
}

// update sets the fields that differ.
func (e Entry) update(text []byte) ([]byte, error) {
	for _, f := range e.Fields {
		root, err := e.root(text)
		if err != nil {
			return nil, err
		}
		entry := e.find(root).value
		s := styleOf(text, root)
		have := entry.member(f.Name)
		switch {
		case have == nil:
			text = insert(text, entry, s, !s.line, func(string, bool) string { return quote(f.Name) + s.colon + f.Value })
		case !sameJSON(text[have.value.start:have.value.end], []byte(f.Value)):
			text = slices.Concat(text[:have.value.start], []byte(f.Value), text[have.value.end:])
		}
	}
	return text, nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// PlanTable works out how a TOML file looks with the table [e.Parent.e.Name] at
// its end. One that is there with the same fields stays as it is. The values of
// the fields are JSON texts and lists of texts, which TOML writes alike.
func PlanTable(path string, e Entry, keep string) (*Plan, error) {
	mine := func(name string) bool { return name == e.Name }
	return planForward(path, keep, insertion{
		put: func(text []byte) ([]byte, []string, error) {
			out, err := setTable(text, e)
			return out, []string{e.Name}, err
		},
		there: func(text []byte) bool { doc, err := decode(text); return err == nil && e.oursTable(doc) },
		cut:   func(text []byte, _ []string) ([]byte, error) { return CutTables(text, []string{e.Parent}, mine) },
	})
}

// PlanTableRemoval works out how a TOML file looks without the table.
func PlanTableRemoval(path string, e Entry, keep string) (*Plan, error) {
	return planBack(path, keep, func(text []byte, _ []string) ([]byte, error) {
		doc, err := decode(text)
		if err != nil || !e.oursTable(doc) {
			return text, err
		}
		return CutTables(text, []string{e.Parent}, func(name string) bool { return name == e.Name })
	})
}

func (e Entry) oursTable(doc map[string]any) bool {
	table, _ := below(doc, []string{e.Parent})[e.Name].(map[string]any)
	command, _ := table["command"].(string)
	return Program(command) == e.Own
}

func setTable(text []byte, e Entry) ([]byte, error) {
	doc, err := decode(text)
	if err != nil {
		return nil, err
	}
	if have, there := below(doc, []string{e.Parent})[e.Name]; there {
		if !e.oursTable(doc) {
			return nil, fmt.Errorf("%w: there is another [%s.%s]; take it out there, and try again", ErrForeign, e.Parent, e.Name)
		}
		if table, ok := have.(map[string]any); ok && e.sameTable(table) {
			return text, nil
		}
		if text, err = CutTables(text, []string{e.Parent}, func(name string) bool { return name == e.Name }); err != nil {
			return nil, err
		}
	}
	if err := e.headed(text, doc); err != nil {
		return nil, err
	}
	newline := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		newline = "\r\n"
	}
	var b strings.Builder
	b.Write(text)
	if len(bytes.TrimPrefix(text, []byte("\ufeff"))) > 0 {
		if !bytes.HasSuffix(text, []byte("\n")) {
			b.WriteString(newline)
		}
		if !bytes.HasSuffix(text, []byte(newline+newline)) {
			b.WriteString(newline)
		}
	}
	fmt.Fprintf(&b, "[%s.%s]%s", e.Parent, e.Name, newline)
	for _, f := range e.Fields {
		fmt.Fprintf(&b, "%s = %s%s", f.Name, f.Value, newline)
	}
	out := []byte(b.String())
	if _, err := decode(out); err != nil {
		return nil, err
	}
	return out, nil
}

// headed refuses a parent that is written without headers, as an inline table: one
// such must not be added to further down, and not every reader says so.
func (e Entry) headed(text []byte, doc map[string]any) error {
	if _, there := doc[e.Parent]; !there {
		return nil
	}
	if slices.ContainsFunc(headers(text), func(t table) bool { return len(t.path) > 0 && t.path[0] == e.Parent }) {
		return nil
	}
	return &SyntaxError{Line: 1, Column: 1, Problem: fmt.Sprintf("%q is written without headers such as [%s.other]; put %q there by hand", e.Parent, e.Parent, e.Name)}
}

func (e Entry) sameTable(table map[string]any) bool {
	for _, f := range e.Fields {
		have, err := json.Marshal(table[f.Name])
		if err != nil || !sameJSON(have, []byte(f.Value)) {
			return false
		}
	}
	return true
}
