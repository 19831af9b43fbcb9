package tidy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stillso"
	"stillso/internal/guard"
	"stillso/internal/terms"
)

// profile is what the pass compares of one memory.
type profile struct {
	m *stillso.Memory
	// words are the telling terms of the content without numbers and words of
	// change, in order; set is the same without order.
	words []string
	set   map[string]bool
	// values are the numbers, and the names with digits.
	values map[string]bool
	topics map[string]bool
	norm   string
	// changes reports that the statement itself says that something is different
	// now; denies holds what it says is no longer so.
	changes bool
	denies  map[string]bool
	// moves reports that it says how something went on; the rest is made when it is
	// first needed: see counted, modified and conditions.
	moves  bool
	counts []quantity
	mods   map[string]string
	bound  *string
}

func newProfile(m *stillso.Memory) *profile {
	x := &profile{}
	x.read(m)
	return x
}

// read takes over what a memory says.
func (x *profile) read(m *stillso.Memory) {
	x.m = m
	x.topics = guard.Topics(m)
	x.norm = normal(m.Content)
	x.changes = says(x.norm)
	x.denies = denied(x.norm)
	x.moves = slices.ContainsFunc(moves[:], func(w string) bool { _, ok := find(x.norm, w, 0); return ok })
	x.counts, x.mods, x.bound = nil, nil, nil
	x.values = values(x.norm)
	x.words, x.set = telling(m.Content)
}

// put sets another version of the memory in its place.
func (x *profile) put(m *stillso.Memory) {
	if x.m != nil && x.m.Content == m.Content && x.m.Name == m.Name {
		x.m = m
		return
	}
	x.read(m)
}

// normal folds what does not change a statement: case, space, quotation marks,
// emphasis, marks at the end.
func normal(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r >= '！' && r <= '～':
			r -= '！' - '!'
		case r == '’' || r == '‘' || r == '´':
			r = '\''
		case r == '–' || r == '—' || r == '‐' || r == '‑':
			r = '-'
		case r == '。':
			r = '.'
		}
		if r == '`' || r == '*' || r == '"' || r == '“' || r == '”' || r == '「' || r == '」' || unicode.Is(unicode.Cf, r) {
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.TrimRight(b.String(), ".!;: ")
}

// telling returns the terms that say something, in order and without repetition.
//
// Of scripts without spaces single characters are taken: pairs across the border
// of a changed word would differ too.
func telling(s string) ([]string, map[string]bool) {
	var list []string
	set := map[string]bool{}
	if dense(s) {
		for _, c := range fillers {
			s = strings.ReplaceAll(s, c, " ")
		}
	}
	for _, t := range terms.Analyze(s) {
		if t.Kind == terms.Whole || t.Kind == terms.Pair || terms.Stop(t) || set[t.Text] || strings.ContainsAny(t.Text, "0123456789") || strings.Contains(changeTerms, " "+t.Text+" ") {
			continue
		}
		set[t.Text] = true
		list = append(list, t.Text)
	}
	return list, set
}

// changeTerms are what is left, as index terms, of the words of change: they name
// no topic. Those that can name one (renamed, branch moves) cost little here.
const changeTerms = " now longer anymor instead rather switch chang move migrat transfer replac renam reschedul extend increas reduc shorten upgrad restor back updat reach current actual correct later first initi origin temporari again new old previou former still alreadi sinc " +
	"改为 改成 改用 换成 换为 不再 现在 已经 迁移 迁到 调整 推迟 提前 升级 更正 "

// fillers are what stands between a subject and its value in Chinese, the words
// of change among them.
var fillers = [...]string{
	"改为", "改成", "改用", "换成", "换为", "换到", "不再", "现在", "已经", "迁移到", "迁到", "调整为", "调整到", "推迟到", "提前到", "升级到", "升级为", "从现在起", "更正", "而不是",
	"固定在", "固定", "统一", "一律", "目前", "使用", "采用", "安排在", "设为", "设置为",
}

// dense reports whether s is written in a script without spaces.
func dense(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) })
}

// values returns the numbers, and the names with digits, of a normalised text.
func values(norm string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(norm, func(r rune) bool {
		return r >= utf8.RuneSelf || (r < '0' || r > '9') && (r < 'a' || r > 'z') && r != '_' && r != '.' && r != '-'
	}) {
		w = strings.TrimPrefix(strings.Trim(w, "._-"), "v")
		if strings.ContainsAny(w, "0123456789") {
			out[w] = true
		}
	}
	return out
}

// cues are the phrases by which a person says that something is different now.
// English ones are matched as whole words.
var cues = [...]string{
	"no longer", "not anymore", "not any more", "instead of", "rather than", "now", "moved", "switched", "changed to", "changed from", "migrated", "transferred",
	"replaced", "replaces", "renamed", "rescheduled", "extended to", "extended my", "increased", "reduced to", "lowered to", "raised to", "shortened", "upgraded", "downgraded", "restored", "took over",
	"taken over", "from now on", "as of today", "correction", "updated to", "set to", "went back to", "back to", "improved to", "postponed", "brought forward",
	"改为", "改成", "改用", "换成", "换为", "换到", "不再", "现在", "已迁", "迁移到", "迁到", "调整为", "调整到", "推迟到", "提前到", "升级到", "升级为", "从现在起", "更正", "而不是",
	"이제", "더 이상", "바뀌", "변경", "今は", "変更", "ではなく",
}

// says reports whether a normalised text says that something changed.
func says(norm string) bool {
	for i := range cues {
		if _, ok := find(norm, cues[i], 0); ok {
			return true
		}
	}
	return false
}

// find returns where phrase stands in s from at on: as whole words if it is
// written in Latin letters.
func find(s, phrase string, at int) (int, bool) {
	for at < len(s) {
		i := strings.Index(s[at:], phrase)
		if i < 0 {
			return 0, false
		}
		i += at
		end := i + len(phrase)
		if phrase[0] >= utf8.RuneSelf || (i == 0 || !letter(s[i-1])) && (end == len(s) || !letter(s[end])) {
			return i, true
		}
		at = i + 1
	}
	return 0, false
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// denials are the phrases behind which stands what is no longer so, and nots all
// negations.
var (
	denials = [...]string{"no longer use", "no longer", "instead of", "rather than", "not", "never", "不再用", "不再使用", "不再", "而不是", "不要用", "不用", "不要"}
	nots    = [...]string{"not", "never", "no", "don't", "doesn't", "isn't", "aren't", "cannot", "can't", "won't", "without", "avoid", "stop", "no longer", "不", "别", "勿", "没有", "禁止", "避免", "금지", "말고", "ない", "しない"}
)

// denied returns the first two telling terms behind each denial.
func denied(norm string) map[string]bool {
	out := map[string]bool{}
	for i := range denials {
		d := denials[i]
		for at := 0; ; {
			j, ok := find(norm, d, at)
			if !ok {
				break
			}
			at = j + len(d)
			list, _ := telling(clip(norm[at:], 60))
			for k, w := range list {
				if k < 2 {
					out[w] = true
				}
			}
		}
	}
	return out
}

// negative reports whether a normalised text has a negation.
func negative(norm string) bool {
	for i := range nots {
		if _, ok := find(norm, nots[i], 0); ok {
			return true
		}
	}
	return false
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// less returns what of a is not in b, in a's order where a is a list.
func less(a []string, b map[string]bool) []string {
	var out []string
	for _, w := range a {
		if !b[w] {
			out = append(out, w)
		}
	}
	return out
}

func lessSet(a, b map[string]bool) int {
	n := 0
	for w := range a {
		if !b[w] {
			n++
		}
	}
	return n
}
