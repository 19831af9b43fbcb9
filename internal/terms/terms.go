// Package terms turns text into index terms. Writing and asking use the same
// analysis, so that what was written can be asked for: Unicode folding,
// identifiers split and kept whole, English and Russian words stemmed, scripts
// without spaces cut into characters and pairs. Words that say nothing are told
// apart by Stop, tokens that nobody would ask for (hashes) are dropped.
//
// The package is on the prompt path: it has no state and no start-up cost, and
// text of the usual scripts is folded without the normalisation tables.
package terms

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says how a term came out of the text.
type Kind uint8

// The kinds of a term.
const (
	Word  Kind = iota // a word, or a part of an identifier
	Whole             // an identifier that was also split: useeffect of useEffect
	Char              // one character of a script without spaces
	Pair              // two neighbouring characters of such a script
)

// Term is one index term of a text. Text is folded and stemmed; it holds letters
// and digits only, so it is safe as a token of any full-text index.
type Term struct {
	Text string
	Kind Kind
	// Pos counts the words and characters of the text, so that neighbours have
	// neighbouring positions. An identifier stands at its first part.
	Pos int
}

// maxTerm is the longest word that is kept, in bytes: longer ones are data.
const maxTerm = 40

// Analyze returns the terms of text in order. Any text is allowed.
func Analyze(text string) []Term { return Append(nil, text) }

// Append appends the terms of text to dst.
func Append(dst []Term, text string) []Term {
	if dst == nil { // grown step by step it would touch as much memory again
		dst = make([]Term, 0, min(len(text)/5+4, 512))
	}
	a := analyzer{text: Fold(text), out: dst}
	return a.run()
}

// Full returns the terms of text with the grammar that Analyze leaves out: in a
// search for code, "from string to int" is not "string int".
func Full(text string) []Term {
	a := analyzer{text: Fold(text), full: true}
	return a.run()
}

func (a *analyzer) run() []Term {
	for a.at < len(a.text) {
		c := a.text[a.at]
		if c < utf8.RuneSelf {
			if !wordByte(c) {
				a.at++
				continue
			}
			a.word()
			continue
		}
		r, n := utf8.DecodeRuneInString(a.text[a.at:])
		switch classOf(r) {
		case classWord:
			a.word()
		case classDense:
			a.dense()
		case classSign:
			a.add(a.text[a.at:a.at+n], Char, a.pos)
			a.pos++
			a.at += n
		default:
			a.at += n
		}
	}
	return a.out
}

type analyzer struct {
	text string
	at   int
	pos  int
	out  []Term
	full bool
}

func (a *analyzer) add(text string, k Kind, pos int) {
	a.out = append(a.out, Term{Text: text, Kind: k, Pos: pos})
}

// class says how a character takes part in terms.
type class uint8

const (
	classNone  class = iota
	classWord        // letters and digits of scripts that write spaces, and _
	classDense       // scripts without spaces
	classSign        // emoji: a term of its own
)

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// classOf puts the frequent ranges first; the Unicode tables decide the rest.
func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if wordByte(byte(r)) {
			return classWord
		}
		return classNone
	case r < 0xc0:
		return classNone
	case r <= 0x24f:
		if r == 0xd7 || r == 0xf7 {
			return classNone
		}
		return classWord
	case r >= 0x400 && r <= 0x481 || r >= 0x48a && r <= 0x52f:
		return classWord
	case r >= 0x2000 && r <= 0x206f:
		return classNone
	case r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fe && r != 0x30fb, r == 0x3005:
		return classDense
	case r >= 0x20000 && r <= 0x3ffff:
		return classDense
	case r >= 0x0e00 && r <= 0x0eff, r >= 0x1000 && r <= 0x109f, r >= 0x1780 && r <= 0x17dd: // Thai, Lao, Burmese, Khmer
		if unicode.IsLetter(r) || unicode.IsMark(r) {
			return classDense
		}
		return classNone
	case r >= 0x2600 && r <= 0x27bf, r >= 0x1f300 && r <= 0x1faff:
		if r >= 0x1f3fb && r <= 0x1f3ff { // skin tones
			return classNone
		}
		return classSign
	case r == utf8.RuneError:
		return classNone
	}
	if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) && !(r >= 0xfe00 && r <= 0xfe0f) {
		return classWord
	}
	return classNone
}

// dense cuts a run of a script without spaces into characters and pairs.
func (a *analyzer) dense() {
	prev, prevPos := -1, 0
	for a.at < len(a.text) {
		r, n := utf8.DecodeRuneInString(a.text[a.at:])
		if classOf(r) != classDense {
			break
		}
		a.add(a.text[a.at:a.at+n], Char, a.pos)
		if prev >= 0 {
			a.add(a.text[prev:a.at+n], Pair, prevPos)
		}
		prev, prevPos = a.at, a.pos
		a.at += n
		a.pos++
	}
}

// word reads one run of word characters and adds its parts.
func (a *analyzer) word() {
	start, ascii := a.at, true
	for a.at < len(a.text) {
		c := a.text[a.at]
		if c < utf8.RuneSelf {
			if !wordByte(c) {
				break
			}
			a.at++
			continue
		}
		r, n := utf8.DecodeRuneInString(a.text[a.at:])
		if classOf(r) != classWord {
			break
		}
		ascii = false
		a.at += n
	}
	w := a.text[start:a.at]
	// What follows an apostrophe is grammar: don't, user's.
	if a.at+1 < len(a.text) && a.text[a.at] == '\'' && isLower(a.text[a.at+1]) {
		for a.at++; a.at < len(a.text) && isLower(a.text[a.at]); {
			a.at++
		}
	}
	if ascii && hashLike(w) {
		a.pos++
		return
	}
	a.identifier(w)
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// identifier adds the parts of w, and before them w as a whole if it has several.
func (a *analyzer) identifier(w string) {
	parts, size := 0, 0
	for rest := w; rest != ""; {
		var p string
		if p, rest = nextPart(rest); p != "" {
			parts++
			size += len(p)
		}
	}
	if parts > 1 && size <= maxTerm {
		t := lower(w)
		if strings.IndexByte(t, '_') >= 0 {
			t = strings.ReplaceAll(t, "_", "")
		}
		a.add(stem(t), Whole, a.pos)
	}
	for rest := w; rest != ""; {
		var p string
		if p, rest = nextPart(rest); p != "" {
			a.part(p, parts > 1)
		}
	}
}

// part adds one word. Grammar words are dropped where they stand alone; a single
// letter or digit says nothing.
func (a *analyzer) part(p string, inside bool) {
	pos := a.pos
	a.pos++
	if n := utf8.RuneCountInString(p); n == 1 || n > maxTerm {
		return
	}
	t := lower(p)
	s := stem(t)
	if !inside && !a.full && (grammar(t) || grammar(s)) {
		return
	}
	a.add(s, Word, pos)
}

// lower is lower case; what folding does to letters that only it brings up is done
// as well (ẞ, İ).
func lower(w string) string {
	t := strings.ToLower(w)
	for i := range len(t) {
		if t[i] >= utf8.RuneSelf {
			return foldFrom(t, i)
		}
	}
	return t
}

// nextPart cuts the first part off an identifier: at underscores, at changes
// between letters and digits, and where upper case begins. Parts of scripts
// without case end at underscores and digits.
func nextPart(w string) (part, rest string) {
	i := 0
	for i < len(w) && w[i] == '_' {
		i++
	}
	w = w[i:]
	if w == "" {
		return "", ""
	}
	if w[0] >= '0' && w[0] <= '9' {
		for i = 1; i < len(w) && w[i] >= '0' && w[i] <= '9'; {
			i++
		}
		return w[:i], w[i:]
	}
	first, i := utf8.DecodeRuneInString(w)
	capitals, last := unicode.IsUpper(first), 0 // still in the leading capitals; where the last of them starts
	for i < len(w) {
		r, n := utf8.DecodeRuneInString(w[i:])
		switch {
		case r == '_' || r >= '0' && r <= '9':
			return w[:i], w[i:]
		case unicode.IsUpper(r):
			if !capitals {
				return w[:i], w[i:]
			}
			last = i
		case capitals && last > 0:
			// HTTPServer: the last capital begins the next word. APIs: a plural.
			if end := i + n; r != 's' || end < len(w) && w[end] != '_' && !unicode.IsUpper(rune(w[end])) {
				return w[:last], w[last:]
			}
			return w[:i+n], w[i+n:]
		default:
			capitals = false
		}
		i += n
	}
	return w, ""
}

// hashLike reports whether an ASCII word is an identifier for machines: a commit,
// a UUID part, a token. Names such as i18n, x264 or sha256sum are kept.
func hashLike(w string) bool {
	if len(w) < 7 {
		return false
	}
	digits, changes, run, longest, hex := 0, 0, 0, 0, true
	for i := range len(w) {
		c := w[i]
		d := c >= '0' && c <= '9'
		if d {
			digits++
			run = 0
		} else {
			if c == '_' {
				return false
			}
			run++
			longest = max(longest, run)
			hex = hex && (c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
		}
		if i > 0 && d != (w[i-1] >= '0' && w[i-1] <= '9') {
			changes++
		}
	}
	switch {
	case hex && len(w) >= 12:
		return true
	case digits < 2 || digits == len(w):
		return false
	case hex:
		return true
	}
	return len(w) >= 8 && changes >= 3 && (longest <= 3 || len(w) >= 20 && changes >= 5)
}

// Script is the writing a term is in, as far as frequencies differ by it.
type Script uint8

// The scripts that the background tells apart.
const (
	Latin Script = iota
	Cyrillic
	Han
	Kana
	Hangul
	OtherScript
	Scripts // their number
)

// ScriptOf returns the script of a term's first character.
func ScriptOf(term string) Script {
	r, _ := utf8.DecodeRuneInString(term)
	switch {
	case r < 0x370:
		return Latin
	case r >= 0x400 && r <= 0x52f:
		return Cyrillic
	case r >= 0x3041 && r <= 0x30ff:
		return Kana
	case r >= 0xac00 && r <= 0xd7a3, r >= 0x3130 && r <= 0x318f:
		return Hangul
	case r >= 0x3400 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff, r >= 0x20000 && r <= 0x3ffff, r == 0x3005:
		return Han
	}
	return OtherScript
}

// Line returns the terms of text, separated by spaces: what a full-text index
// stores. Stop words are left out, since no query asks for them.
func Line(text string) string {
	var b strings.Builder
	for _, t := range Analyze(text) {
		if Stop(t) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t.Text)
	}
	return b.String()
}
