package capture

import (
	"hash/fnv"
	"regexp"
	"strings"
	"unicode"
)

// nameForm is what a captured memory's name looks like.
var nameForm = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// maxNameWords and maxName bound a name; it is a label, and usable as the name
// of a file.
const (
	maxNameWords = 5
	maxName      = 60
)

// Name makes a name of letters and hyphens from a statement: its first telling
// words. Korean syllables and Japanese kana are written in Latin letters by
// rule; Chinese, for which that takes a dictionary, gives the Latin words in it,
// or else four letters that stand for its hash.
func Name(content string) string {
	if n := slug(content, true); strings.Count(n, "-") >= 1 || n != "" && !hasCJK(content) {
		return n
	}
	if n := slug(romanise(content), true); n != "" && containsKorean(content) {
		return n
	}
	base := slug(content, true)
	if base == "" {
		base = string(typeOf(content))
	}
	return base + "-" + letters(content)
}

// fixName returns name if it has the form, or the nearest thing that has it, or
// a name made from the content.
func fixName(name, content string) string {
	if nameForm.MatchString(name) && len(name) <= maxName && strings.Count(name, "-") < 2*maxNameWords {
		return name
	}
	if n := slug(name, false); n != "" {
		return n
	}
	return Name(content)
}

// slug joins the first words of s that are letters only; dull leaves out words
// that say nothing.
func slug(s string, dull bool) string {
	var words []string
	n := 0
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return r < 'a' || r > 'z' }) {
		if len(w) > 24 || dull && (len(w) < 2 || strings.Contains(dullWords, " "+w+" ")) {
			continue
		}
		if n+len(w)+1 > maxName || len(words) == maxNameWords {
			break
		}
		if len(words) > 0 && words[len(words)-1] == w {
			continue
		}
		words = append(words, w)
		n += len(w) + 1
	}
	return strings.Join(words, "-")
}

const dullWords = " a an the and or of to in on at by for from with as is are be it its this that these those you your we our us i me my they them he she " +
	"please remember note make sure do don not dont doesn can could should would will shall must have has had when if then so also just any all each every " +
	"always never now going forward there here want like use using used only rather than but into up out etc really always ok okay yes re ll ve "

// letters writes a hash of s in four letters.
func letters(s string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(s)) // a hash never fails
	sum := h.Sum32()
	b := make([]byte, 4)
	for i := range b {
		b[i] = byte('a' + sum%26)
		sum /= 26
	}
	return string(b)
}

func containsKorean(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Hangul, r) })
}

// romanise writes Korean syllables in Latin letters, letter by letter (the
// Revised Romanization of 2000 without its sound changes), and leaves the rest.
func romanise(s string) string {
	lead := [...]string{"g", "kk", "n", "d", "tt", "r", "m", "b", "pp", "s", "ss", "", "j", "jj", "ch", "k", "t", "p", "h"}
	vowel := [...]string{"a", "ae", "ya", "yae", "eo", "e", "yeo", "ye", "o", "wa", "wae", "oe", "yo", "u", "wo", "we", "wi", "yu", "eu", "ui", "i"}
	tail := [...]string{"", "k", "k", "k", "n", "n", "n", "t", "l", "l", "l", "l", "l", "l", "l", "l", "m", "p", "p", "t", "t", "ng", "t", "t", "k", "t", "p", "t"}
	var b strings.Builder
	for _, r := range s {
		if r < '가' || r > '힣' {
			b.WriteRune(r)
			continue
		}
		n := int(r - '가')
		b.WriteString(lead[n/(21*28)] + vowel[n/28%21] + tail[n%28])
	}
	return b.String()
}
