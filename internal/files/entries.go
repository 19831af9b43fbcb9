package files

import (
	"strings"

	"stillso"
)

// Entry is one statement of a MEMORY.md.
type Entry struct {
	// First and Last are its lines, from 1 and inclusive.
	First, Last int
	Text        string
	// Target is the note that it points to, relative to the folder and perhaps
	// without .md; empty if it stands alone.
	Target string
	// Hash is that of the memory which an import makes of an entry that stands alone.
	Hash string
	// Rule says that its words are those of a rule.
	Rule bool
}

// Entries returns the statements of the text of a MEMORY.md in their order, as an
// import reads them.
func Entries(text string) ([]Entry, error) {
	_, body, err := splitFrontMatter(text)
	if err != nil {
		return nil, err
	}
	var out []Entry
	first := 1 + strings.Count(text, "\n") - strings.Count(body, "\n")
	for _, it := range split(body, first) {
		_, target, _ := pointer(it.text)
		out = append(out, Entry{
			First: it.first, Last: it.last, Text: oneLine(it.text), Target: target, Hash: hash(it.text),
			Rule: it.kind(it.intro+" "+it.text) == stillso.Constraint,
		})
	}
	return out, nil
}
