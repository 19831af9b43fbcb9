// Package guard holds the conditions that must be met before a newer memory may
// take the place of an older one without a human. They are never loosened: what
// does not pass goes to review.
package guard

import (
	"fmt"
	"strings"

	"stillso"
	"stillso/internal/terms"
)

// MinConfidence is the least confidence with which a relation found by a model
// is acted on.
const MinConfidence = 0.75

// The least shares of what the older memory says that the newer one must speak
// of: all but a changed value in a conflict, practically all when it is said to
// cover it.
const (
	conflictCover = 0.6
	fullCover     = 0.85
)

// Case is a finding that New takes the place of Old.
type Case struct {
	New, Old   *stillso.Memory
	Relation   stillso.Relation
	Confidence float64
}

// Check returns why the older memory must not be superseded without a human, in
// words, or "" if all guards are passed: confidence, authority, type, overlap,
// coverage.
func Check(c Case) string {
	switch {
	case c.New == nil || c.Old == nil:
		return "one of the two memories is missing"
	case c.Old.State != stillso.Active:
		return "the older memory is not active"
	case c.Relation != stillso.Conflicts && c.Relation != stillso.Covers && c.Relation != stillso.Duplicate:
		return fmt.Sprintf("the relation %q supersedes nothing", c.Relation)
	case c.Confidence < MinConfidence:
		return fmt.Sprintf("the confidence of %.2f is below %.2f", c.Confidence, MinConfidence)
	case c.New.Namespace != c.Old.Namespace:
		return "they are in different namespaces"
	case rank(c.New.Origin) < rank(c.Old.Origin):
		return fmt.Sprintf("what is %s cannot supersede what is %s", c.New.Origin, c.Old.Origin)
	case c.Old.Origin == stillso.FromFile:
		return "the older one stands in a file, which only its author changes"
	case c.New.Type != c.Old.Type:
		return fmt.Sprintf("a %s does not supersede a %s", c.New.Type, c.Old.Type)
	case c.Old.Type == stillso.Event:
		return "an event has happened and is not superseded"
	}
	if stop := lists(c.New.Content, c.Old.Content); stop != "" {
		return stop
	}
	a, b := Topics(c.New), Topics(c.Old)
	if n := len(common(a, b)); n < 2 {
		return fmt.Sprintf("they share %d topics; two are needed", n)
	}
	x, y := said(c.New), said(c.Old)
	if c.Old.Body != "" { // what is searched and shown on demand is said, too
		for t := range tellings(c.New.Body) {
			x[t] = true
		}
		for t := range tellings(c.Old.Body) {
			y[t] = true
		}
	}
	n := len(common(x, y))
	least := conflictCover
	if c.Relation != stillso.Conflicts {
		least = fullCover
	}
	if float64(n) < least*float64(len(y)) {
		return fmt.Sprintf("the newer one speaks of %d of the %d things that the older one says", n, len(y))
	}
	if c.Relation == stillso.Conflicts && len(y)-n > 4 {
		return "the older one says more than the newer one replaces"
	}
	return ""
}

// lists compares lists: one of pointers does not replace what it points to, and a
// word about some items does not replace the list.
func lists(newer, older string) string {
	n, o := items(newer), items(older)
	switch {
	case o >= 3 && n < o:
		return fmt.Sprintf("the older one lists %d items, the newer one speaks of %d", o, n)
	case pointers(newer) >= 3 && pointers(older) < 2:
		return "a list of pointers does not replace what it points to"
	}
	return ""
}

// items counts what a text lists: lines with bullets or numbers, else what is
// parted by commas and semicolons.
func items(s string) int {
	n := 0
	for line := range strings.SplitSeq(s, "\n") {
		line = strings.TrimSpace(line)
		rest := strings.TrimLeft(line, "0123456789")
		if strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "• ") || len(rest) < len(line) && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
			n++
		}
	}
	if n >= 2 {
		return n
	}
	for _, mark := range []string{";", "；", "、", ",", "，"} {
		if k := strings.Count(s, mark); k >= 2 {
			n = max(n, k+1)
		}
	}
	return max(n, 1)
}

// pointers counts the words of a text that are addresses or paths.
func pointers(s string) int {
	n := 0
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune(",;()[]<>\"'`，；、", r) }) {
		if strings.Contains(w, "://") || strings.Contains(w, "/") && len(w) > 3 || strings.HasSuffix(strings.TrimRight(w, ".:"), ".md") {
			n++
		}
	}
	return n
}

// Technology reports whether a name is a shared technology, which makes no topic.
func Technology(name string) bool {
	for t := range tellings(name) {
		if !strings.Contains(technologies, " "+t+" ") {
			return false
		}
	}
	return true
}

// rank orders origins by how far they are trusted.
func rank(o stillso.Origin) int {
	switch o {
	case stillso.FromUser:
		return 3
	case stillso.FromProposal:
		return 3
	case stillso.FromFile, stillso.FromImport:
		return 2
	}
	return 1
}

// Topics returns what a memory is about: the telling terms of its name, content
// and tags, without shared technologies, which make no topic.
func Topics(m *stillso.Memory) map[string]bool {
	out := map[string]bool{}
	for t := range tellings(m.Name + " " + m.Content + " " + strings.Join(m.Tags, " ")) {
		if !strings.Contains(technologies, " "+t+" ") {
			out[t] = true
		}
	}
	return out
}

// said returns the telling terms of a memory's content.
func said(m *stillso.Memory) map[string]bool { return tellings(m.Content) }

func tellings(s string) map[string]bool {
	out := map[string]bool{}
	for _, t := range terms.Analyze(s) {
		if t.Kind == terms.Whole || t.Kind == terms.Char || terms.Stop(t) {
			continue
		}
		out[t.Text] = true
	}
	return out
}

func common(a, b map[string]bool) []string {
	var out []string
	for t := range a {
		if b[t] {
			out = append(out, t)
		}
	}
	return out
}

// technologies are shared by half of a project's memories, so that sharing one
// says nothing.
const technologies = " go golang python java javascript typescript js ts rust ruby php react vue svelt node npm docker kubernet k8 postgr postgresql mysql sqlite redi kafka " +
	"git github gitlab linux window maco aw gcp azur api http json yaml sql html css test code file project repo user server servic app databas config "
