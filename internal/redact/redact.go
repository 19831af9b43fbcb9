// Package redact takes secrets out of any text before it is written, sent or
// logged: keys and tokens with a known beginning, passwords in URLs, private
// keys, JWTs, cookies and authorisation headers, values assigned to a name such
// as "password" or "api_key", passwords told in a sentence (English, Chinese,
// Korean, Japanese), and what a person put between <private> and </private>.
//
// It is a few tables and scanners without regular expressions, so its time grows
// with the length of the text only, nothing is compiled at start, and the
// smallest binary may link it.
package redact

import (
	"sort"
	"strings"
)

// Finding is one secret that was taken out. The secret itself is kept nowhere.
type Finding struct {
	// Rule names what was found, for example "github-token".
	Rule string
	// Start and End are its place in the text as it was given, in bytes.
	Start, End int
}

// passes bounds the repetitions of Text. Taking a secret out changes what stands
// beside its neighbours, so that a second look may find one more.
const passes = 4

const (
	mark    = "[redacted:"
	markEnd = "]"
)

// Text returns s with every secret replaced by [redacted:rule], and what it
// found, in order. It changes nothing in its own output. Findings of a second
// look give no place (Start and End are -1), for they are not in s as such.
func Text(s string) (string, []Finding) {
	found := scan(s)
	if len(found) == 0 {
		return s, nil
	}
	out := replace(s, found)
	for range passes {
		more := scan(out)
		if len(more) == 0 {
			break
		}
		out = replace(out, more)
		for _, f := range more {
			found = append(found, Finding{Rule: f.Rule, Start: -1, End: -1})
		}
	}
	return out, found
}

// Clean reports whether Text would leave s as it is.
func Clean(s string) bool { return len(scan(s)) == 0 }

// Mark returns the text that stands for a secret found by the rule.
func Mark(rule string) string { return mark + rule + markEnd }

// Bare returns s without the marks that Text leaves, to see whether anything
// useful remains.
func Bare(s string) string {
	for {
		i := strings.Index(s, mark)
		if i < 0 {
			return s
		}
		n := markLen(s[i:])
		if n == 0 {
			return s
		}
		s = s[:i] + s[i+n:]
	}
}

// markLen returns the length of the mark that s begins with, or 0.
func markLen(s string) int {
	if !strings.HasPrefix(s, mark) {
		return 0
	}
	end := strings.IndexByte(s, ']')
	if end < 0 || end > 60 {
		return 0
	}
	return end + 1
}

// scan finds all secrets of s, ordered and without overlaps.
func scan(s string) []Finding {
	if len(s) < 4 {
		return nil
	}
	var found []Finding
	found = private(s, found)
	found = pem(s, found)
	found = walk(s, found)
	return settle(found)
}

// settle orders findings and joins those that overlap; the one that begins first,
// and among equals the longest, gives the name.
func settle(f []Finding) []Finding {
	if len(f) < 2 {
		return f
	}
	sort.SliceStable(f, func(i, j int) bool {
		if f[i].Start != f[j].Start {
			return f[i].Start < f[j].Start
		}
		return f[i].End > f[j].End
	})
	out := f[:1]
	for _, x := range f[1:] {
		last := &out[len(out)-1]
		if x.Start < last.End {
			last.End = max(last.End, x.End)
			continue
		}
		out = append(out, x)
	}
	return out
}

func replace(s string, found []Finding) string {
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for _, f := range found {
		b.WriteString(s[at:f.Start])
		b.WriteString(Mark(f.Rule))
		at = f.End
	}
	b.WriteString(s[at:])
	return b.String()
}

// private finds the spans that a person marked. A span that is not closed runs
// to the end, since the text may have been cut; one in backquotes is talk about
// the tag.
func private(s string, found []Finding) []Finding {
	const open, shut = "<private>", "</private>"
	unclosed := false // no closing tag follows
	for at := 0; ; {
		i := indexFold(s[at:], open)
		if i < 0 {
			return found
		}
		i += at
		body := i + len(open)
		end := -1
		if !unclosed {
			end = indexFold(s[body:], shut)
		}
		if end < 0 {
			unclosed = true
			if i > 0 && s[i-1] == '`' {
				at = body
				continue
			}
			if strings.TrimSpace(s[body:]) == "" {
				return found
			}
			return append(found, Finding{"private", i, len(s)})
		}
		end += body + len(shut)
		found = append(found, Finding{"private", i, end})
		at = end
	}
}

// indexFold is strings.Index for a lower-case ASCII needle, without regard to
// case.
func indexFold(s, needle string) int {
	first := needle[0]
	for i := 0; i+len(needle) <= len(s); i++ {
		if lower(s[i]) == first && hasFold(s[i:], needle) {
			return i
		}
	}
	return -1
}

// hasFold reports whether s begins with the lower-case needle, without regard to
// ASCII case.
func hasFold(s, needle string) bool {
	if len(s) < len(needle) {
		return false
	}
	for i := range len(needle) {
		if lower(s[i]) != needle[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
