package terms

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold brings spellings of one text together: compatibility forms and full-width
// characters, composed and decomposed letters (macOS file names are decomposed),
// accents of Latin letters (people leave them out when they type), typographic
// apostrophes. Case is kept, since identifiers are split at it. Invalid UTF-8
// becomes the replacement character. ASCII text is returned as it is.
func Fold(text string) string {
	i := 0
	for i < len(text) && text[i] < utf8.RuneSelf {
		i++
	}
	if i == len(text) {
		return text
	}
	if needsNorm(text[i:]) {
		text = norm.NFKC.String(strings.ToValidUTF8(text, "\ufffd"))
		for i = 0; i < len(text) && text[i] < utf8.RuneSelf; {
			i++
		}
	}
	return foldFrom(text, i)
}

// needsNorm reports whether text holds a character that the normalisation tables
// may change. It is right about those it clears, and may be wrong the other way.
func needsNorm(text string) bool {
	for i, r := range text {
		switch {
		case r < 0x250 && r != 0xa0 && r != 0xa8 && r != 0xaa && r != 0xaf && !(r >= 0xb2 && r <= 0xb5) && !(r >= 0xb8 && r <= 0xba) &&
			!(r >= 0xbc && r <= 0xbe) && !(r >= 0x132 && r <= 0x133) && !(r >= 0x13f && r <= 0x140) && r != 0x149 && r != 0x17f && !(r >= 0x1c4 && r <= 0x1cc) && !(r >= 0x1f1 && r <= 0x1f3):
		case r >= 0x400 && r <= 0x481, r >= 0x48a && r <= 0x52f:
		case r >= 0x2010 && r <= 0x2022 && r != 0x2011 && r != 0x2017:
		case r >= 0x2190 && r <= 0x21ff, r >= 0x2500 && r <= 0x27bf:
		case r >= 0x3001 && r <= 0x302f, r >= 0x3041 && r <= 0x3096, r >= 0x30a1 && r <= 0x30fe:
		case r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3:
		case r >= 0xff01 && r <= 0xff5e: // folded below
		case r >= 0x1f300 && r <= 0x1faff, r == 0xfe0f, r == 0x200d:
		case r == utf8.RuneError:
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return true
			}
		default:
			return true
		}
	}
	return false
}

// foldFrom folds text from byte i on.
func foldFrom(text string, i int) string {
	for {
		if i == len(text) {
			return text
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		if _, ok := plain(r); ok {
			break
		}
		i += n
	}
	var b strings.Builder
	b.Grow(len(text))
	b.WriteString(text[:i])
	for _, r := range text[i:] {
		if p, ok := plain(r); ok {
			b.WriteString(p)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plain returns what stands for r after folding, if that is not r itself.
func plain(r rune) (string, bool) {
	switch {
	case r < 0xc0:
		return "", false
	case r <= 0x17f:
		const from = "ÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝàáâãäåçèéêëìíîïñòóôõöøùúûüýÿĀāĂăĄąĆćĈĉĊċČčĎďĐđĒēĔĕĖėĘęĚěĜĝĞğĠġĢģĤĥĦħĨĩĪīĬĭĮįİıĴĵĶķĹĺĻļĽľŁłŃńŅņŇňŌōŎŏŐőŔŕŖŗŘřŚśŜŝŞşŠšŢţŤťŦŧŨũŪūŬŭŮůŰűŲųŴŵŶŷŸŹźŻżŽž"
		const to = "AAAAAACEEEEIIIINOOOOOOUUUUYaaaaaaceeeeiiiinoooooouuuuyyAaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiJjKkLlLlLlLlNnNnNnOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZz"
		// Every letter of from has two bytes, so its index is half its offset.
		if at := strings.IndexRune(from, r); at >= 0 {
			return to[at/2 : at/2+1], true
		}
		switch r {
		case 'ß':
			return "ss", true
		case 'Æ', 'æ':
			return "ae", true
		case 'Œ', 'œ':
			return "oe", true
		}
	case r == 'ё':
		return "е", true
	case r == 'Ё':
		return "Е", true
	case r == 'ẞ':
		return "SS", true
	case r >= 0x1e00 && r <= 0x1eff: // Vietnamese and other letters with marks
		var b [12]byte
		d := norm.NFD.PropertiesString(string(r)).Decomposition()
		if len(d) > 0 && d[0] < utf8.RuneSelf {
			return string(append(b[:0], d[0])), true
		}
	case r == 0x2018 || r == 0x2019 || r == 0x02bc:
		return "'", true
	case r >= 0xff01 && r <= 0xff5e: // full-width ASCII
		return string(rune(r - 0xff01 + '!')), true
	case r >= 0x300 && r <= 0x36f: // marks left over by composition
		return "", true
	case r >= 0x64b && r <= 0x65f, r == 0x640, r >= 0x591 && r <= 0x5bd: // Arabic and Hebrew vowel marks
		return "", true
	}
	return "", false
}
