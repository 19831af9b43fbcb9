package host

import (
	"strings"
	"unicode/utf8"
)

// The longest tool line and assistant text of a turn, in bytes.
const (
	MaxToolLine  = 300
	MaxAssistant = 256 << 10
)

// OwnFence is the name of the fence around what we injected: it must never be
// read back as if somebody had said it.
const OwnFence = "long_term_memories"

// Line decodes a field that is an id, a path or a word: "" if it is too long
// for one, or has a control character in it.
func Line(value []byte) string {
	if len(value) > MaxField {
		return ""
	}
	s := Text(value, MaxField)
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	return s
}

// Without cuts the spans <name>…</name> out of text, attributes or not. One
// that does not end is cut to the end: in doubt nobody said it.
func Without(text string, names ...string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	for _, name := range names {
		text = withoutSpans(text, name)
	}
	return text
}

func withoutSpans(text, name string) string {
	open, shut := "<"+name, "</"+name+">"
	i := strings.Index(text, open)
	if i < 0 {
		return text
	}
	var kept strings.Builder
	for ; i >= 0; i = strings.Index(text, open) {
		rest := text[i+len(open):]
		if rest != "" && !strings.ContainsRune("> \t\n\r/", rune(rest[0])) { // a longer name
			kept.WriteString(text[:i+len(open)])
			text = rest
			continue
		}
		kept.WriteString(text[:i])
		_, text, _ = strings.Cut(rest, shut)
	}
	kept.WriteString(text)
	return kept.String()
}

// StartsWithAny reports whether text begins with one of the marks.
func StartsWithAny(text string, marks []string) bool {
	for _, m := range marks {
		if strings.HasPrefix(text, m) {
			return true
		}
	}
	return false
}

// Join puts two texts together as paragraphs, or keeps the first alone if both
// are more than limit bytes.
func Join(a, b string, limit int) string {
	switch {
	case b == "":
		return a
	case a == "":
		return b
	case len(a)+len(b) > limit:
		return a
	}
	return a + "\n\n" + b
}

// OneLine folds all white space and control characters, and shortens to
// MaxToolLine.
func OneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(shorten(s, 4*MaxToolLine), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	return shorten(s, MaxToolLine)
}

func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.TrimSpace(s[:limit]) + "…"
}

// Output reduces what a tool printed, in one JSON string or in several, to one
// line: its first and its last, since commands say at the end how it went.
func Output(failed bool, values ...[]byte) string {
	var first, last string
	for _, value := range values {
		if first == "" {
			first = firstLine(Text(value, 4*MaxToolLine))
		}
		tail := value
		if len(tail) > 8*MaxToolLine { // decode the end only; a cut escape does no harm
			tail = append([]byte{'"'}, tail[len(tail)-8*MaxToolLine:]...)
		}
		if l := lastLine(Text(tail, 8*MaxToolLine)); l != "" {
			last = l
		}
	}
	text := first
	if last != "" && last != first {
		text = shorten(first, MaxToolLine/2-10) + " … " + shorten(last, MaxToolLine/2-10)
	}
	if failed {
		text = "error: " + text
	}
	return OneLine(text)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(s)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// Use says in one line what the assistant had a tool do: the most telling of
// the strings in its input, an object.
func Use(name string, input []byte) string {
	what, rank := "", 99
	if Kind(input) == '{' {
		_ = Fields(input, func(key, value []byte) bool { // an odd input is passed over
			for i, k := range [...]string{"command", "cmd", "file_path", "filePath", "notebook_path", "absolute_path", "pattern", "url", "query", "description", "path"} {
				if i < rank && string(key) == k && Kind(value) == '"' {
					what, rank = Text(value, 4*MaxToolLine), i
				}
			}
			return true
		})
	}
	return OneLine(strings.TrimSpace(name + ": " + what))
}
