package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"stillso/internal/redact"
)

// This file prints for people. The rules are:
//
//   - What a command found or did goes to standard output, once: as text, or
//     with --json as one JSON document made from the same value.
//   - Errors, warnings and progress go to standard error, with "stillso:" before
//     errors and warnings; no capital at the start, no full stop at the end.
//   - Text that came from memories, files or prompts is cleaned before it is
//     printed, so that none of it can command a terminal; and secrets are taken
//     out once more, for what an older version stored.
//   - Colours and progress only where a person looks: on a terminal, and not
//     with NO_COLOR.

// page writes text for people. Errors of the writer are kept and reported once.
type page struct {
	w      io.Writer
	colour bool
	width  int // columns; 0 is unlimited
	err    error
}

// newPage returns a page on w, with colours if w is a terminal that wants them.
func newPage(w io.Writer, env func(string) string) *page {
	p := &page{w: w}
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		p.colour = env("NO_COLOR") == "" && env("TERM") != "dumb"
		p.width = terminalWidth(f)
	}
	return p
}

// styled is text that the page made safe and coloured itself.
type styled string

// printf prints a format of our own; every argument that is text is cleaned.
func (p *page) printf(format string, a ...any) {
	if p.err != nil {
		return
	}
	for i, v := range a {
		switch v := v.(type) {
		case styled, int, int64, float64, bool, rune, byte:
		case string:
			a[i] = safeText(v)
		default:
			a[i] = safeText(fmt.Sprint(v))
		}
	}
	_, p.err = fmt.Fprintf(p.w, format, a...)
}

// The styles. They clean their text, and are plain text without colours.
func (p *page) bold(s string) styled   { return p.style("1", s) }
func (p *page) faint(s string) styled  { return p.style("2", s) }
func (p *page) red(s string) styled    { return p.style("31", s) }
func (p *page) green(s string) styled  { return p.style("32", s) }
func (p *page) yellow(s string) styled { return p.style("33", s) }
func (p *page) cyan(s string) styled   { return p.style("36", s) }

func (p *page) style(code, s string) styled {
	s = safeText(s)
	if !p.colour || s == "" {
		return styled(s)
	}
	return styled("\x1b[" + code + "m" + s + "\x1b[0m")
}

// safeText returns s without secrets, and safe for a terminal.
func safeText(s string) string {
	s, _ = redact.Text(s)
	return cleanText(s)
}

// cleanText makes text safe for a terminal: control characters (also C1) other
// than newline and tab, invalid bytes, and the characters that reorder or hide
// text become U+FFFD or vanish.
func cleanText(s string) string {
	if isClean(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case unsafeRune(r):
			return utf8.RuneError
		}
		return r
	}, s)
}

func isClean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return !strings.ContainsFunc(s, func(r rune) bool { return r == '\r' || unsafeRune(r) }) && utf8.ValidString(s)
		}
	}
	return true
}

// unsafeRune reports whether r can command a terminal or make text look like
// other text: controls, bidirectional overrides and isolates, tag characters.
func unsafeRune(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.Is(unicode.Cc, r):
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// oneLine folds white space, so that a memory takes one line of a table.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// writeJSON prints v as one indented JSON document without secrets that is safe to
// look at in a terminal.
func writeJSON(w io.Writer, v any) error {
	b, err := marshalSafe(v, "  ")
	if err == nil {
		b, err = redactJSON(b)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// redactJSON takes the secrets out of every text of a JSON document; names of
// members, and all that is no text, stay as they stand.
func redactJSON(doc []byte) ([]byte, error) {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		if doc[i] != '"' {
			out = append(out, doc[i])
			i++
			continue
		}
		end := i + 1
		for end < len(doc) && doc[end] != '"' {
			if doc[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(doc))
		literal := doc[i:end]
		i = end
		if i < len(doc) && doc[i] == ':' {
			out = append(out, literal...)
			continue
		}
		var text string
		if err := json.Unmarshal(literal, &text); err != nil {
			return nil, fmt.Errorf("cannot print as JSON: %w", err)
		}
		if clean, found := redact.Text(text); len(found) > 0 {
			quoted, err := marshalSafe(clean, "")
			if err != nil {
				return nil, err
			}
			literal = bytes.TrimSuffix(quoted, []byte("\n"))
		}
		out = append(out, literal...)
	}
	return out, nil
}

// marshalSafe returns v as JSON with a newline at the end. What encoding/json
// leaves as it is but a terminal may obey (DEL, C1, bidirectional controls) is
// escaped; the value stays the same. HTML characters stay readable.
func marshalSafe(v any, indent string) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("cannot print as JSON: %w", err)
	}
	return escapeUnsafe(b.String()), nil
}

// escapeUnsafe writes what a terminal would obey, inside of JSON, as JSON escapes.
func escapeUnsafe(text string) []byte {
	if isClean(text) {
		return []byte(text)
	}
	var out strings.Builder
	for _, r := range text {
		if !unsafeRune(r) {
			out.WriteRune(r)
		} else if r < 0x10000 {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			r -= 0x10000
			fmt.Fprintf(&out, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		}
	}
	return []byte(out.String())
}
