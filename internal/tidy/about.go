package tidy

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stillso"
)

// Target is a memory that a person named in words, or a part of one.
type Target struct {
	Memory *stillso.Memory
	// Rest is what stays of its content, if only a part was named; empty if the
	// whole memory was.
	Rest string
}

// aboutShare is the least share of the words that name a memory which it must have.
const aboutShare = 0.6

// About returns the memories that words name ("the staging database port"): those
// that have every name, number and identifier among the words, and most of the
// rest. Somebody else's memory that shares an attribute is not named. Where a
// memory says two things, or one of two people, and only one is named, the other
// stays. A denial is not what it denies: it names nothing. Memories come in their
// order.
func About(words string, memories []*stillso.Memory) []Target {
	q := newAsk(words, memories)
	if len(q.must)+len(q.terms) == 0 {
		return nil
	}
	var out []Target
	for _, m := range memories {
		if m.State != stillso.Active || !q.named(m.Content) {
			continue
		}
		if negative(normal(m.Content)) && !negative(normal(words)) {
			continue
		}
		out = append(out, Target{Memory: m, Rest: q.rest(m.Content)})
	}
	return q.continued(out, memories)
}

// Spelled returns the memories that hold an identifier in any spelling: ACME-CORP,
// Acme Corp, acme_corp. Only identifiers of two parts or more are looked for:
// others are words.
func Spelled(words string, memories []*stillso.Memory) []Target {
	var ids []string
	for w := range strings.FieldsSeq(words) {
		w = strings.Trim(w, ".,;:'\"`()")
		if id := joined(w); id != "" && strings.ContainsAny(w, "-_") && !strings.Contains(w, "@") {
			ids = append(ids, id)
		}
	}
	var out []Target
	for _, m := range memories {
		if m.State == stillso.Active && slices.ContainsFunc(ids, func(id string) bool { return spells(m.Content, id) }) {
			out = append(out, Target{Memory: m})
		}
	}
	return out
}

// Renamed returns the memories that only give another name or spelling to what a
// target is about ("older records still spell it Peking"): each stands right behind
// a target, or behind another such one. They matter where something is erased.
func Renamed(targets []Target, memories []*stillso.Memory) []Target {
	named := map[*stillso.Memory]bool{}
	for _, t := range targets {
		named[t.Memory] = t.Rest == ""
	}
	var out []Target
	for i, m := range memories {
		if i == 0 || m.State != stillso.Active || named[m] || !named[memories[i-1]] || m.Namespace != memories[i-1].Namespace {
			continue
		}
		norm := normal(m.Content)
		for _, form := range renamings {
			if _, ok := find(norm, form, 0); ok {
				named[m] = true
				out = append(out, Target{Memory: m})
				break
			}
		}
	}
	return out
}

// renamings are the phrases with which a statement gives another name to what was
// spoken of just before.
var renamings = [...]string{
	"refer to the city as", "refer to it as", "refers to it as", "refer to the site as", "refer to this as", "referred to as", "call it", "calls it", "call the city", "called it", "call the same", "spell it", "spells it", "spelled", "spell the same",
	"the spelling", "romanization", "romanisation", "transliteration", "also known as", "also written", "labels it", "label it", "又称", "又叫", "也叫", "写作", "旧称", "也写成",
}

// joined is an identifier without the signs between its parts, in lower case.
func joined(w string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, w)
}

// spells reports whether up to four neighbouring words of s make the identifier.
func spells(s, id string) bool {
	list := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := range list {
		got := ""
		for j := i; j < len(list) && j < i+4 && len(got) < len(id); j++ {
			got += strings.ToLower(list[j])
			if got == id {
				return true
			}
		}
	}
	return false
}

// ask is what somebody names.
type ask struct {
	// must are names and identifiers, in lower case, all of which are needed.
	must  []string
	terms []string
}

func newAsk(words string, memories []*stillso.Memory) ask {
	var q ask
	for i, w := range strings.Fields(words) {
		w = strings.Trim(w, ".,;:'\"`()?!")
		w = strings.TrimSuffix(strings.TrimSuffix(w, "'s"), "’s")
		r, _ := utf8.DecodeRuneInString(w)
		switch {
		case strings.ContainsAny(w, "0123456789@_"), strings.Contains(w, "-") && w != "-":
		case unicode.IsUpper(r) && (i > 0 || !common(w, memories)):
		default:
			continue
		}
		q.must = append(q.must, strings.ToLower(w))
	}
	all, _ := telling(words)
	for _, t := range all {
		if !slices.Contains(q.must, t) {
			q.terms = append(q.terms, t)
		}
	}
	return q
}

// common reports whether a first word has its capital for that only: some memory has
// it in small letters.
func common(w string, memories []*stillso.Memory) bool {
	small := strings.ToLower(w)
	return slices.ContainsFunc(memories, func(m *stillso.Memory) bool {
		return strings.Contains(m.Content, small) && token(m.Content, small)
	})
}

// named reports whether a text has what was named.
func (q ask) named(content string) bool {
	for _, w := range q.must {
		if !token(content, w) {
			return false
		}
	}
	_, have := telling(content)
	got := len(q.must)
	for _, t := range q.terms {
		if have[t] {
			got++
		}
	}
	return float64(got) >= aboutShare*float64(len(q.must)+len(q.terms))
}

// token reports whether w stands in s as a whole: not as a part of a longer
// identifier or address.
func token(s, w string) bool {
	s = strings.ToLower(s)
	inside := func(r rune) bool {
		return unicode.IsLetter(r) && r < 0x2e80 || unicode.IsDigit(r) || r == '_' || r == '@' || r == '-'
	}
	for at := 0; ; {
		i := strings.Index(s[at:], w)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(w)
		before, _ := utf8.DecodeLastRuneInString(s[:i])
		after, n := utf8.DecodeRuneInString(s[end:])
		next, _ := utf8.DecodeRuneInString(s[end+n:])
		dot := after == '.' && (unicode.IsLetter(next) || unicode.IsDigit(next))
		if (i == 0 || !inside(before) && before != '.') && (end == len(s) || !inside(after) && !dot) {
			return true
		}
		at = i + 1
	}
}

// rest returns what stays of a text of which only a part was named, or "".
func (q ask) rest(content string) string {
	if parts := clauses(content); len(parts) == 2 {
		a, b := q.share(parts[0]), q.share(parts[1])
		switch {
		case a > b:
			return parts[1]
		case b > a:
			return parts[0]
		}
	}
	return q.other(content)
}

// share counts how much of what was named a text has.
func (q ask) share(content string) int {
	n := 0
	_, have := telling(content)
	for _, t := range q.terms {
		if have[t] {
			n++
		}
	}
	for _, w := range q.must {
		if token(content, w) {
			n++
		}
	}
	return n
}

// other takes the named ones out of "A and B do x" and "A, B and C do x". It returns
// "" if all of them are named, or nobody stands beside another.
func (q ask) other(content string) string {
	words := strings.Fields(content)
	people, at := coordinated(words)
	if len(people) < 2 {
		return ""
	}
	var stay []string
	for i, p := range people {
		if !q.means(p, people, i) {
			stay = append(stay, p)
		}
	}
	if len(stay) == 0 || len(stay) == len(people) {
		return ""
	}
	tail := slices.Clone(words[at:])
	if (tail[0] == "both" || tail[0] == "all") && len(tail) > 1 {
		tail = tail[1:]
	}
	if len(stay) == 1 {
		tail[0] = one(tail[0])
		return stay[0] + " " + strings.Join(tail, " ")
	}
	last := len(stay) - 1
	return strings.Join(stay[:last], ", ") + " and " + stay[last] + " " + strings.Join(tail, " ")
}

// coordinated returns the names that a text begins with, if there are several, and
// where what they do begins.
func coordinated(words []string) (people []string, at int) {
	var name []string
	and := false
	for i, w := range words {
		r, _ := utf8.DecodeRuneInString(w)
		switch {
		case w == "and" && len(name) > 0 && !and:
			people, name, and = append(people, strings.Join(name, " ")), nil, true
		case unicode.IsUpper(r) && !strings.HasSuffix(w, "'s") && !strings.HasSuffix(w, "’s"):
			name = append(name, strings.TrimSuffix(w, ","))
			if strings.HasSuffix(w, ",") && !and {
				people, name = append(people, strings.Join(name, " ")), nil
			}
		default:
			if !and || len(name) == 0 {
				return nil, 0
			}
			return append(people, strings.Join(name, " ")), i
		}
	}
	return nil, 0
}

// means reports whether the words name this one of several people: by a part of the
// name that the others do not have.
func (q ask) means(person string, people []string, i int) bool {
	for w := range strings.FieldsSeq(strings.ToLower(person)) {
		w = strings.Trim(w, ".")
		others := slices.ContainsFunc(slices.Delete(slices.Clone(people), i, i+1), func(p string) bool { return token(p, w) })
		if !others && slices.Contains(q.must, w) {
			return true
		}
	}
	return false
}

// one puts the verb of several people into the form of one.
func one(verb string) string {
	switch verb {
	case "are":
		return "is"
	case "were":
		return "was"
	case "have":
		return "has"
	}
	if strings.HasSuffix(verb, "ed") || strings.HasSuffix(verb, "s") {
		return verb
	}
	for _, end := range [...]string{"ch", "sh", "x", "z", "o"} {
		if strings.HasSuffix(verb, end) {
			return verb + "es"
		}
	}
	return verb + "s"
}

// continued adds the statements that go on from a named one without naming its
// attribute again: "she later switched to Brave" right behind what she used.
func (q ask) continued(targets []Target, memories []*stillso.Memory) []Target {
	for i, m := range memories {
		if i == 0 || m.State != stillso.Active || slices.ContainsFunc(targets, func(t Target) bool { return t.Memory == m }) {
			continue
		}
		before := memories[i-1]
		if !slices.ContainsFunc(targets, func(t Target) bool { return t.Memory == before && t.Rest == "" }) {
			continue
		}
		words := strings.Fields(strings.ToLower(m.Content))
		was := strings.Fields(strings.ToLower(before.Content))
		if len(words) > 3 && len(was) > 0 && words[0] == was[0] && (words[1] == "later" || words[1] == "then") && (words[2] == "switched" || words[2] == "moved" || words[2] == "changed") && words[3] == "to" {
			targets = append(targets, Target{Memory: m})
		}
	}
	return targets
}
