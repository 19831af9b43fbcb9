package terms

import (
	"strings"
	"unicode/utf8"
)

// stem reduces a lower-case word to its stem: English words by Porter's method
// (M. F. Porter, "An algorithm for suffix stripping", 1980, steps 1a to 5b),
// repeated until nothing changes, so that the stem of a stem is itself; Russian
// words by their common endings. Words with digits are left alone.
func stem(w string) string {
	if len(w) <= 2 || len(w) > maxTerm {
		return w
	}
	for i := range len(w) {
		if c := w[i]; c < 'a' || c > 'z' {
			if c >= utf8.RuneSelf && ScriptOf(w) == Cyrillic {
				return stemRussian(w)
			}
			return w
		}
	}
	var buf [maxTerm + 4]byte
	p := porter{b: append(buf[:0], w...)}
	for {
		var before [maxTerm + 4]byte
		n := copy(before[:], p.b)
		p.run()
		if string(p.b) == string(before[:n]) {
			break
		}
	}
	if len(p.b) < 2 { // "ies": nothing would be left
		return w
	}
	if strings.HasPrefix(w, string(p.b)) {
		return w[:len(p.b)]
	}
	return string(p.b)
}

type porter struct{ b []byte }

func (p *porter) consonant(i int) bool {
	switch p.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !p.consonant(i-1)
	}
	return true
}

// measure counts the vowel-consonant sequences in the first n letters.
func (p *porter) measure(n int) int {
	m, vowel := 0, false
	for i := range n {
		c := p.consonant(i)
		if vowel && c {
			m++
		}
		vowel = !c
	}
	return m
}

func (p *porter) hasVowel(n int) bool {
	for i := range n {
		if !p.consonant(i) {
			return true
		}
	}
	return false
}

// short reports whether the first n letters end consonant, vowel, consonant,
// where the last is not w, x or y.
func (p *porter) short(n int) bool {
	if n < 3 || !p.consonant(n-1) || p.consonant(n-2) || !p.consonant(n-3) {
		return false
	}
	c := p.b[n-1]
	return c != 'w' && c != 'x' && c != 'y'
}

// ends looks at the last letter first: seventy endings are tried for every word.
func (p *porter) ends(s string) bool {
	n := len(p.b) - len(s)
	return n >= 0 && p.b[len(p.b)-1] == s[len(s)-1] && string(p.b[n:]) == s
}

func (p *porter) cut(n int)      { p.b = p.b[:len(p.b)-n] }
func (p *porter) put(s string)   { p.b = append(p.b, s...) }
func (p *porter) stem(n int) int { return len(p.b) - n }

func (p *porter) run() {
	if len(p.b) <= 2 {
		return
	}
	p.plurals()
	p.pastTense()
	if p.ends("y") && p.hasVowel(p.stem(1)) {
		p.b[len(p.b)-1] = 'i'
	}
	p.rewrite(step2[:])
	p.rewrite(step3[:])
	p.strip()
	if p.ends("e") {
		if m := p.measure(p.stem(1)); m > 1 || m == 1 && !p.short(p.stem(1)) {
			p.cut(1)
		}
	}
	if p.ends("ll") && p.measure(len(p.b)) > 1 {
		p.cut(1)
	}
}

func (p *porter) plurals() {
	switch {
	case p.ends("sses"), p.ends("ies"):
		p.cut(2)
	case p.ends("ss"):
	case p.ends("s"):
		p.cut(1)
	}
}

func (p *porter) pastTense() {
	switch {
	case p.ends("eed"):
		if p.measure(p.stem(3)) > 0 {
			p.cut(1)
		}
		return
	case p.ends("ed") && p.hasVowel(p.stem(2)):
		p.cut(2)
	case p.ends("ing") && p.hasVowel(p.stem(3)):
		p.cut(3)
	default:
		return
	}
	n := len(p.b)
	switch {
	case p.ends("at"), p.ends("bl"), p.ends("iz"):
		p.put("e")
	case n > 1 && p.b[n-1] == p.b[n-2] && p.consonant(n-1) && p.b[n-1] != 'l' && p.b[n-1] != 's' && p.b[n-1] != 'z':
		p.cut(1)
	case p.measure(n) == 1 && p.short(n):
		p.put("e")
	}
}

var step2 = [...][2]string{
	{"ational", "ate"},
	{"tional", "tion"},
	{"enci", "ence"},
	{"anci", "ance"},
	{"izer", "ize"},
	{"abli", "able"},
	{"alli", "al"},
	{"entli", "ent"},
	{"eli", "e"},
	{"ousli", "ous"},
	{"ization", "ize"},
	{"ation", "ate"},
	{"ator", "ate"},
	{"alism", "al"},
	{"iveness", "ive"},
	{"fulness", "ful"},
	{"ousness", "ous"},
	{"aliti", "al"},
	{"iviti", "ive"},
	{"biliti", "ble"},
}

var step3 = [...][2]string{{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""}}

// rewrite applies the first rule whose ending fits, if enough is left before it.
func (p *porter) rewrite(rules [][2]string) {
	for i := range rules {
		if from := rules[i][0]; p.ends(from) {
			if p.measure(p.stem(len(from))) > 0 {
				p.cut(len(from))
				p.put(rules[i][1])
			}
			return
		}
	}
}

var step4 = [...]string{"ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "ion", "al", "er", "ic", "ou"}

func (p *porter) strip() {
	for _, s := range &step4 {
		if !p.ends(s) {
			continue
		}
		n := p.stem(len(s))
		if p.measure(n) > 1 && (s != "ion" || p.b[n-1] == 's' || p.b[n-1] == 't') {
			p.cut(len(s))
		}
		return
	}
}

// stemRussian cuts the longest common inflection off a Russian word, where at
// least three letters remain. It is a light stemmer: cases, numbers and persons
// come together, derivation does not.
func stemRussian(w string) string {
	for {
		s := w
		for _, e := range &russian {
			if strings.HasSuffix(w, e) && len(w)-len(e) >= 6 {
				w = w[:len(w)-len(e)]
				break
			}
		}
		if s == w {
			return w
		}
	}
}

// russian lists endings, longest first.
var russian = [...]string{
	"иями", "ями", "ами", "ией", "иям", "ием", "иях", "ого", "его", "ому", "ему", "ыми", "ими", "ешь", "ете", "ить", "ать", "ять", "еть",
	"ала", "али", "ало", "ила", "или", "ило", "ует", "уют",
	"ий", "ый", "ой", "ых", "их", "ая", "яя", "ое", "ее", "ые", "ие", "ов", "ев", "ей", "ам", "ям", "ах", "ях", "ом", "ем", "ую", "юю", "ия", "ию", "ии", "ет", "ит", "ут", "ют", "ат", "ят", "ал", "ил",
	"а", "я", "о", "е", "ы", "и", "у", "ю", "ь", "й",
}
