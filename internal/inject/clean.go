package inject

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean turns any bytes into one line of visible text: white space becomes single
// spaces; control, format, bidirectional, tag and private characters and variation
// selectors go; runs of three or more backticks or tildes, which open a code block,
// become one; a < that could start a tag becomes &lt;. Cleaning twice is cleaning once.
func Clean(text string) string {
	if plain(text) {
		return text
	}
	var kept strings.Builder
	kept.Grow(len(text))
	space := false
	for _, r := range text {
		if unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' || r == '\u0085' {
			space = true
			continue
		}
		if hidden(r) {
			continue
		}
		if space && kept.Len() > 0 {
			kept.WriteByte(' ')
		}
		space = false
		kept.WriteRune(r)
	}
	return escape(kept.String())
}

// plain reports whether nothing has to be changed; most memories are so.
func plain(text string) bool {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c < ' ' || c >= 0x7f || c == '<' || c == '`' || c == '~':
			return false
		case c == ' ' && (i == 0 || i == len(text)-1 || text[i-1] == ' '):
			return false
		}
	}
	return true
}

// hidden reports whether a reader would not see r, or it would change how others look.
func hidden(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	case r < 0xa0:
		return false
	case r == utf8.RuneError, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x17b4, r == 0x17b5:
		return true // not text, or blank by nature
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true // variation selectors and tags
	case r >= 0xe000 && r <= 0xf8ff, r >= 0xf0000:
		return true // private use
	case r&0xfffe == 0xfffe, r >= 0xfdd0 && r <= 0xfdef:
		return true // no characters
	}
	return unicode.Is(unicode.Cf, r)
}

// escape makes tags and code blocks harmless. Text has no hidden characters any more.
func escape(text string) string {
	if !strings.ContainsAny(text, "<＜﹤`~") {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch r {
		case '`', '~':
			run := len(text[i:]) - len(strings.TrimLeft(text[i:], string(r)))
			if n = run; run >= 3 {
				b.WriteRune(r)
			} else {
				b.WriteString(text[i : i+run])
			}
		case '<', '＜', '﹤':
			run := len(text[i:]) - len(strings.TrimLeft(text[i:], "<＜﹤"))
			if n = run; opensTag(text[i+run:]) {
				b.WriteString(strings.Repeat("&lt;", utf8.RuneCountInString(text[i:i+run])))
			} else {
				b.WriteString(text[i : i+run])
			}
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// opensTag reports whether what follows one or more < makes it a tag, if read with good will. A
// letter must follow at once, else a < b would be one.
func opensTag(rest string) bool {
	if r, _ := utf8.DecodeRuneInString(rest); unicode.IsLetter(r) || r == '_' {
		return true
	}
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest, " "))
	return strings.ContainsRune(`/\!?|:%$[{／`, r)
}
