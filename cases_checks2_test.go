//go:build unix

package stillso_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// ownHooksOnce: in every event our hook command is registered once, and in some.
func ownHooksOnce(r *caseRun, o *outcome, _ *stepWords) error {
	var doc struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct{ Command string }
		}
	}
	if err := json.Unmarshal([]byte(o.text), &doc); err != nil {
		return err
	}
	events := 0
	for event, groups := range doc.Hooks {
		seen := map[string]int{}
		for _, g := range groups {
			for _, h := range g.Hooks {
				if strings.Contains(h.Command, "stillso") {
					seen[g.Matcher+"\x00"+h.Command]++
					events++
				}
			}
		}
		for what, n := range seen {
			if n > 1 {
				return fmt.Errorf("%s: %q stands there %d times", event, what, n)
			}
		}
	}
	if events == 0 {
		return errors.New("none of our hooks is registered")
	}
	return nil
}

// frameIntact: exactly one opening and one closing fence, and nothing after it.
func frameIntact(_ *caseRun, o *outcome, _ *stepWords) error {
	text := strings.TrimSpace(o.text)
	if strings.Count(text, openTag) != 1 || strings.Count(text, closeTag) != 1 ||
		!strings.HasSuffix(text, closeTag) || strings.Index(text, openTag) > strings.Index(text, closeTag) {
		return fmt.Errorf("got %q", short(o.text))
	}
	return nil
}

// validUnicode: no broken character, no half of a pair, no replacement for one.
func validUnicode(_ *caseRun, o *outcome, _ *stepWords) error {
	for _, s := range []string{o.stdout, o.text} {
		if !utf8.ValidString(s) || strings.ContainsRune(s, utf8.RuneError) {
			return fmt.Errorf("got %q", short(s))
		}
	}
	if loneSurrogate(o.stdout) {
		return errors.New("half of a UTF-16 pair is written out")
	}
	return nil
}

// loneSurrogate looks for \ud800 to \udfff escapes without their other half.
func loneSurrogate(s string) bool {
	for {
		i := strings.Index(strings.ToLower(s), `\ud`)
		if i < 0 || i+6 > len(s) {
			return false
		}
		kind := strings.ToLower(s[i+3 : i+4])
		rest := strings.ToLower(s[i+6:])
		switch {
		case strings.Contains("89ab", kind):
			if !strings.HasPrefix(rest, `\ud`) || len(rest) < 6 || !strings.Contains("cdef", rest[3:4]) {
				return true
			}
			s = s[i+12:]
		case strings.Contains("cdef", kind):
			return true
		default: // \ud7ff and below are characters
			s = s[i+6:]
		}
	}
}

func idSets(_ *caseRun, o *outcome, c *stepWords) error {
	got, want := slices.Clone(o.ids), c.list("ids")
	slices.Sort(got)
	slices.Sort(want)
	n := 0
	for _, id := range want {
		if slices.Contains(got, id) {
			n++
		}
	}
	ok := false
	switch c.str("check") {
	case "ids_equal", "export_ids":
		ok = slices.Equal(got, want)
	case "ids_include":
		ok = n == len(want)
	case "exactly_one_of":
		ok = n == 1
	}
	if !ok {
		return fmt.Errorf("got %v", o.ids)
	}
	return nil
}

// exportField compares a field of one exported memory, or its text with a file.
// The fields of the notes' front matter go by the names they have there.
func exportField(r *caseRun, o *outcome, c *stepWords) error {
	for _, m := range memoriesOf(o.text) {
		if m.ID != c.str("id") {
			continue
		}
		if c.str("check") == "export_body_equals" {
			want, err := os.ReadFile(r.in(c.str("file")))
			if err != nil {
				return err
			}
			body := m.Body
			if body == "" {
				body = m.Content
			}
			body = strings.TrimSpace(body)
			if body != strings.TrimSpace(string(want)) && body != strings.TrimSpace(noteBody(string(want))) {
				return fmt.Errorf("got %q", short(body))
			}
			return nil
		}
		var doc map[string]any
		if err := json.Unmarshal(encode(m), &doc); err != nil {
			return err
		}
		return fieldEquals(doc, c)
	}
	return fmt.Errorf("there is no memory %s", c.str("id"))
}

// noteBody is the text of a note without its front matter.
func noteBody(text string) string {
	if rest, ok := strings.CutPrefix(text, "---\n"); ok {
		if _, body, ok := strings.Cut(rest, "\n---\n"); ok {
			return body
		}
	}
	return text
}

func fieldEquals(doc map[string]any, c *stepWords) error {
	field := c.str("field")
	value := c.str("value")
	names := map[string]string{"title": "name", "created": "created_at", "updated": "updated_at", "pinned": "resident", "state": "status", "scope": "namespace", "text": "content"}
	got, ok := doc[field]
	if extra, is := doc["extra"].(map[string]any); !ok && is {
		got, ok = extra[field]
	}
	if !ok {
		got = doc[names[field]]
	}
	text, is := got.(string)
	if !is {
		text = string(encode(got))
		if got == nil {
			text = map[bool]string{true: "false", false: ""}[value == "false"]
		}
	}
	switch {
	case text == value:
		return nil
	case field == "type" && value == "rule" && text == "constraint": // one word a concept
		return nil
	case (field == "scope" || field == "namespace") && value == "project" && strings.HasPrefix(text, "project/"):
		return nil
	case strings.HasPrefix(field, "created") && strings.TrimSuffix(text, "Z") == strings.TrimSuffix(value, "Z"):
		return nil
	}
	return fmt.Errorf("%s is %q", field, text)
}

// singleFrontMatter: a note with one block between dashes at its top, and the
// text below it.
func singleFrontMatter(_ *caseRun, o *outcome, _ *stepWords) error {
	rest, ok := strings.CutPrefix(o.text, "---\n")
	head, body, closed := strings.Cut(rest, "\n---\n")
	if !ok || !closed {
		return fmt.Errorf("no front matter: %q", short(o.text))
	}
	if strings.Count(head, "\nid:")+strings.Count("\n"+head, "\nid:") < 1 {
		return fmt.Errorf("no id in the front matter: %q", short(o.text))
	}
	if b := strings.TrimSpace(body); strings.HasPrefix(b, "---\n") && strings.Contains(b, "\nid:") {
		return fmt.Errorf("a second front matter: %q", short(o.text))
	}
	return nil
}

// marked: the memory is shown with the state as a label, or without any.
func marked(_ *caseRun, o *outcome, c *stepWords) error {
	id := c.str("id")
	line := blockItem(o.text, id)
	if line == "" {
		return fmt.Errorf("%s is not shown: %v", id, o.ids)
	}
	label, _, _ := strings.Cut(strings.TrimPrefix(line, "- ["), "]")
	states := []string{"unverified", "stale", "superseded"}
	if st := c.str("state"); st == "superseded" {
		states = []string{st}
	} else if st == "unverified" || st == "stale" { // our word is unverified
		states = []string{"unverified"}
	} else if st != "" {
		states = []string{st}
	}
	got := slices.ContainsFunc(states, func(s string) bool { return strings.Contains(label, s) })
	if got != (c.str("check") == "marked") {
		return fmt.Errorf("got [%s]", label)
	}
	return nil
}

// evidenceSessions counts the sessions that the memory with the text rests on.
func evidenceSessions(_ *caseRun, o *outcome, c *stepWords) error {
	want := strings.ToLower(c.str("text"))
	for _, source := range []string{o.text, o.stored, o.stdout} {
		for _, m := range memoriesOf(source) {
			if !strings.Contains(strings.ToLower(m.Content+"\n"+m.Body), want) {
				continue
			}
			sessions := map[string]bool{}
			for _, e := range m.Evidence {
				sessions[e.Session] = true
			}
			if len(sessions) == 0 && m.SourceSession != "" {
				sessions[m.SourceSession] = true
			}
			if !within(float64(len(sessions)), c) {
				return fmt.Errorf("%d sessions", len(sessions))
			}
			return nil
		}
	}
	return fmt.Errorf("no memory says %q", c.str("text"))
}

func noChildren(r *caseRun, o *outcome, _ *stepWords) error {
	if o.number != nil && *o.number > 0 {
		return fmt.Errorf("%d processes are left: %s", *o.number, r.describeChildren())
	}
	return nil
}

func (r *caseRun) describeChildren() string {
	var out []string
	for _, pid := range r.children() {
		cmd, _ := os.ReadFile(filepath.Join("/proc", fmt.Sprint(pid), "cmdline"))
		out = append(out, strings.ReplaceAll(string(cmd), "\x00", " "))
	}
	return strings.Join(out, "; ")
}
