package settings

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Hook is one entry that registers a command for an event of the host, in the
// form that Claude Code, Codex, Gemini and Qwen share,
// hooks.EVENT[] = {matcher, hooks[] = {type, name, command, args, timeout}},
// or flat, as Cursor has it: hooks.EVENT[] = {command, timeout}.
type Hook struct {
	Event   string
	Matcher string // "" for every occasion
	Command string
	Args    []string // nil if the command is a line for a shell
	Timeout int      // in the host's unit
	Name    string   // "" for hosts without names
	Flat    bool
}

// Position says where one of our hooks stands: in which entry of its event, and
// where in that. Both count from 0.
type Position struct {
	Event        string
	Group, Index int
}

// Install returns the text with exactly these hooks of ours registered. Ours is
// every handler whose command is a program called own, wherever it lies: one
// that is registered already is brought up to date in its place. All else stays
// as it is. created names the containers that had to be made ("hooks",
// "hooks.Stop"); Remove wants to know.
func Install(text []byte, own string, hooks []Hook) (out []byte, created []string, err error) {
	out = text
	if root, err := object(text); err != nil {
		return nil, nil, err
	} else if root == nil {
		out = bytes.TrimRight(text, " \t\r\n")
		if len(bytes.TrimPrefix(out, []byte("\ufeff"))) > 0 { // comments
			out = append(bytes.Clone(out), '\n')
		}
		doc := "{}\n"
		if len(hooks) > 0 && hooks[0].Flat {
			doc = "{\n  \"version\": 1\n}\n" // the host asks for it
		}
		out = append(bytes.Clone(out), doc...)
	}
	for _, event := range events(out, own) {
		wanted := slices.DeleteFunc(slices.Clone(hooks), func(h Hook) bool { return h.Event != event })
		if out, err = bringUpToDate(out, own, event, wanted); err != nil {
			return nil, nil, err
		}
	}
	for _, h := range hooks {
		registered, err := Registered(out, own)
		if err != nil {
			return nil, nil, err
		}
		if slices.ContainsFunc(registered, func(r Hook) bool { return r.Event == h.Event }) {
			continue
		}
		var made []string
		if out, made, err = register(out, h); err != nil {
			return nil, nil, err
		}
		created = append(created, made...)
	}
	return out, created, nil
}

// Remove returns the text without our hooks. Containers that are empty then are
// cut out if created names them, or, when created is nil and so nobody knows,
// in any case.
func Remove(text []byte, own string, created []string) ([]byte, error) {
	if _, err := object(text); err != nil && bytes.Contains(text, []byte(own)) {
		return nil, err // what cannot be read cannot be said to have none of ours
	}
	names := events(text, own)
	for _, event := range names {
		var err error
		if text, err = cutHandlers(text, own, event); err != nil {
			return nil, err
		}
		if created == nil || slices.Contains(created, "hooks."+event) {
			text = cutEmpty(text, "hooks", event)
		}
	}
	if len(names) > 0 && (created == nil || slices.Contains(created, "hooks")) {
		text = cutEmpty(text, "hooks")
	}
	return text, nil
}

// Registered lists our hooks in a settings file, in its order.
func Registered(text []byte, own string) ([]Hook, error) {
	root, err := object(text)
	if err != nil {
		return nil, err
	}
	var list []Hook
	each(text, root, own, func(event string, g, _ *node, h Hook) bool {
		if m := g.member("matcher"); m != nil {
			h.Matcher = str(text, m.value)
		}
		h.Event = event
		list = append(list, h)
		return true
	})
	return list, nil
}

// Positions lists where our hooks stand in a settings file.
func Positions(text []byte, own string) (list []Position) {
	root, err := object(text)
	if err != nil {
		return nil
	}
	each(text, root, own, func(event string, g, h *node, _ Hook) bool {
		groups := root.member("hooks").value.member(event).value.items
		at := Position{Event: event, Group: slices.IndexFunc(groups, func(it item) bool { return it.value == g })}
		if g != h {
			at.Index = slices.IndexFunc(g.member("hooks").value.items, func(it item) bool { return it.value == h })
		}
		list = append(list, at)
		return true
	})
	return list
}

// Value returns the value at a path of names as it stands in the text.
func Value(text []byte, path ...string) (value []byte, found bool) {
	n, err := parse(text)
	for _, key := range path {
		m := n.member(key)
		if err != nil || m == nil {
			return nil, false
		}
		n = m.value
	}
	if err != nil || n == nil {
		return nil, false
	}
	return text[n.start:n.end], true
}

// object parses a settings file, whose value must be an object, and so must
// its hooks. It is nil for an empty file.
func object(text []byte) (*node, error) {
	root, err := parse(text)
	if err != nil || root == nil {
		return nil, err
	}
	p := parser{text: text}
	if root.kind != '{' {
		return nil, p.fail(root.start, "settings should be an object in braces")
	}
	hooks := root.member("hooks")
	if hooks == nil {
		return root, nil
	}
	if hooks.value.kind != '{' {
		return nil, p.fail(hooks.value.start, `"hooks" should be an object in braces`)
	}
	for _, event := range hooks.value.items {
		if event.value.kind != '[' {
			return nil, p.fail(event.value.start, fmt.Sprintf("hooks for %q should be a list in brackets", shortened(event.key)))
		}
	}
	return root, nil
}

// each calls yield for every handler of ours, with the group it stands in and
// its node, until it returns false.
func each(text []byte, root *node, own string, yield func(event string, group, handler *node, h Hook) bool) {
	hooks := root.member("hooks")
	if hooks == nil {
		return
	}
	for _, event := range hooks.value.items {
		for _, group := range event.value.items {
			list := group.value.member("hooks")
			if list == nil || list.value.kind != '[' {
				if h, ours := readHandler(text, group.value, own); ours { // a flat one
					h.Flat = true
					if !yield(event.key, group.value, group.value, h) {
						return
					}
				}
				continue
			}
			for _, handler := range list.value.items {
				if h, ours := readHandler(text, handler.value, own); ours && !yield(event.key, group.value, handler.value, h) {
					return
				}
			}
		}
	}
}

func readHandler(text []byte, n *node, own string) (h Hook, ours bool) {
	command := n.member("command")
	if command == nil || command.value.kind != '"' {
		return h, false
	}
	h.Command = str(text, command.value)
	if args := n.member("args"); args != nil && args.value.kind == '[' {
		h.Args = []string{}
		for _, a := range args.value.items {
			h.Args = append(h.Args, str(text, a.value))
		}
	}
	if t := n.member("timeout"); t != nil {
		h.Timeout, _ = strconv.Atoi(string(text[t.value.start:t.value.end])) // 0 for an odd one: it is brought up to date
	}
	if name := n.member("name"); name != nil {
		h.Name = str(text, name.value)
	}
	return h, Program(h.Command) == own
}

func str(text []byte, n *node) string {
	var s string
	if n.kind != '"' || json.Unmarshal(text[n.start:n.end], &s) != nil {
		return ""
	}
	return s
}

// Program returns the base name of the program that a command runs, without
// .exe. The command is a path, or a line for a shell: its first word may be
// quoted, and variables may be set before it.
func Program(command string) string {
	command = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(command), "& "))
	for {
		word, rest, found := cutWord(command)
		if name, _, set := strings.Cut(word, "="); !found || !set || strings.ContainsAny(name, `/\"' `) {
			break
		}
		command = strings.TrimSpace(rest)
	}
	// In the exec form a path with spaces stands there without quotes.
	path := strings.HasPrefix(command, "/") || strings.HasPrefix(command, "~") || len(command) > 2 && command[1] == ':'
	if i := strings.LastIndexAny(command, `/\`); path && i >= 0 && !strings.ContainsAny(command[i:], ` "'`) {
		return baseName(command)
	}
	word, _, _ := cutWord(command)
	return baseName(word)
}

func baseName(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	if n := len(path) - 4; n > 0 && strings.EqualFold(path[n:], ".exe") {
		path = path[:n]
	}
	return path
}

// cutWord cuts the first word off a line for a shell, as far as paths need it:
// one pair of quotes, or spaces behind a backslash.
func cutWord(s string) (word, rest string, found bool) {
	if s != "" && (s[0] == '"' || s[0] == '\'') {
		return strings.Cut(s[1:], s[:1])
	}
	for i := range len(s) {
		if s[i] == ' ' && (i == 0 || s[i-1] != '\\') {
			return s[:i], s[i:], true
		}
	}
	return s, "", false
}

// events lists the events that have a handler of ours, each once.
func events(text []byte, own string) (list []string) {
	root, err := object(text)
	if err != nil {
		return nil
	}
	each(text, root, own, func(event string, _, _ *node, _ Hook) bool {
		if !slices.Contains(list, event) {
			list = append(list, event)
		}
		return true
	})
	return list
}

// bringUpToDate changes what is registered for an event to what is wanted: in
// its place if one handler has become another, else by cutting it out.
func bringUpToDate(text []byte, own, event string, wanted []Hook) ([]byte, error) {
	root, err := object(text)
	if err != nil {
		return nil, err
	}
	type place struct {
		group, handler *node
		hook           Hook
	}
	var found []place
	each(text, root, own, func(e string, g, h *node, hook Hook) bool {
		if e == event {
			if m := g.member("matcher"); m != nil {
				hook.Matcher = str(text, m.value)
			}
			found = append(found, place{g, h, hook})
		}
		return true
	})
	if len(found) != 1 || len(wanted) != 1 || found[0].hook.Matcher != wanted[0].Matcher || found[0].hook.Flat != wanted[0].Flat {
		return cutHandlers(text, own, event)
	}
	have, want := found[0], wanted[0]
	if have.hook.Command == want.Command && slices.Equal(have.hook.Args, want.Args) && have.hook.Timeout == want.Timeout && have.hook.Name == want.Name {
		return text, nil
	}
	s := styleOf(text, root)
	lines := bytes.Contains(text[have.handler.start:have.handler.end], []byte("\n"))
	fresh := renderHandler(want, s, indentOf(text, have.handler.start), lines)
	return slices.Concat(text[:have.handler.start], []byte(fresh), text[have.handler.end:]), nil
}

// cutHandlers cuts our handlers of an event out, and the groups that held
// nothing else.
func cutHandlers(text []byte, own, event string) ([]byte, error) {
	for {
		root, err := object(text)
		if err != nil {
			return nil, err
		}
		next := text
		each(text, root, own, func(e string, g, h *node, _ Hook) bool {
			if e != event {
				return true
			}
			if handlers := g.member("hooks"); g != h && len(handlers.value.items) > 1 {
				next = cut(text, handlers.value, slices.IndexFunc(handlers.value.items, func(it item) bool { return it.value == h }))
				return false
			}
			for _, ev := range root.member("hooks").value.items {
				if i := slices.IndexFunc(ev.value.items, func(it item) bool { return it.value == g }); i >= 0 {
					next = cut(text, ev.value, i)
				}
			}
			return false
		})
		if len(next) == len(text) {
			return text, nil
		}
		text = next
	}
}

// cutEmpty cuts the container at a path out of the text if nothing is in it.
func cutEmpty(text []byte, path ...string) []byte {
	n, err := parse(text)
	if err != nil {
		return text
	}
	for i, key := range path {
		m := n.member(key)
		if m == nil {
			return text
		}
		if i == len(path)-1 && len(m.value.items) == 0 && len(bytes.TrimSpace(text[m.value.start+1:m.value.end-1])) == 0 {
			return cut(text, n, slices.IndexFunc(n.items, func(it item) bool { return it.value == m.value }))
		}
		n = m.value
	}
	return text
}

// register adds one hook behind what is registered for its event.
func register(text []byte, h Hook) (out []byte, created []string, err error) {
	root, err := object(text)
	if err != nil {
		return nil, nil, err
	}
	s := styleOf(text, root)
	hooks := root.member("hooks")
	if hooks == nil {
		text = insert(text, root, s, !s.line, func(string, bool) string { return quote("hooks") + s.colon + "{}" })
		created = append(created, "hooks")
		if root, err = object(text); err != nil {
			return nil, nil, err
		}
		hooks = root.member("hooks")
	}
	list := hooks.value.member(h.Event)
	if list == nil {
		text = insert(text, hooks.value, s, !s.line, func(string, bool) string { return quote(h.Event) + s.colon + "[]" })
		created = append(created, "hooks."+h.Event)
		if root, err = object(text); err != nil {
			return nil, nil, err
		}
		list = root.member("hooks").value.member(h.Event)
	}
	lines := !s.line && bytes.Contains(text[root.member("hooks").value.start:root.member("hooks").value.end], []byte("\n"))
	return insert(text, list.value, s, lines, func(indent string, lines bool) string { return renderGroup(h, s, indent, lines) }), created, nil
}

func renderGroup(h Hook, s style, indent string, lines bool) string {
	if h.Flat {
		return renderHandler(h, s, indent, lines)
	}
	in := indent + s.unit
	var members []string
	if h.Matcher != "" {
		members = append(members, quote("matcher")+s.colon+quote(h.Matcher))
	}
	handlers := "[" + renderHandler(h, s, "", false) + "]"
	if lines {
		handlers = "[" + s.newline + in + s.unit + renderHandler(h, s, in+s.unit, true) + s.newline + in + "]"
	}
	return renderObject(append(members, quote("hooks")+s.colon+handlers), s, indent, lines)
}

func renderHandler(h Hook, s style, indent string, lines bool) string {
	var members []string
	if !h.Flat {
		members = append(members, quote("type")+s.colon+quote("command"))
	}
	if h.Name != "" {
		members = append(members, quote("name")+s.colon+quote(h.Name))
	}
	members = append(members, quote("command")+s.colon+quote(h.Command))
	if h.Args != nil {
		args := make([]string, len(h.Args))
		for i, a := range h.Args {
			args[i] = quote(a)
		}
		members = append(members, quote("args")+s.colon+"["+strings.Join(args, ","+s.colon[1:])+"]")
	}
	if h.Timeout > 0 {
		members = append(members, quote("timeout")+s.colon+strconv.Itoa(h.Timeout))
	}
	return renderObject(members, s, indent, lines)
}

func renderObject(members []string, s style, indent string, lines bool) string {
	if !lines {
		pad := s.colon[1:]
		return "{" + pad + strings.Join(members, ","+pad) + pad + "}"
	}
	sep := s.newline + indent + s.unit
	return "{" + sep + strings.Join(members, ","+sep) + s.newline + indent + "}"
}

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
