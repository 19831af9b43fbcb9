package capture

import (
	"strings"

	"stillso/internal/terms"
)

// The bars of likeness, as shares of the telling terms of two statements. They
// are set so that a changed number, name or negation is never taken for the same.
const (
	sameShare  = 0.75 // of all terms of both: the same statement
	saidShare  = 0.85 // of the new one's terms: the old one says it already
	againShare = 0.34 // of the smaller one's words, beside equal specifics: a retracted value again
)

// near reports whether two statements say the same.
func near(a, b string) bool {
	if plain(a) == plain(b) {
		return true
	}
	x, y := telling(a), telling(b)
	if len(x) == 0 || len(y) == 0 || opposed(a, b) || !equalSets(specifics(a), specifics(b)) {
		return false
	}
	n := shared(x, y)
	return float64(n) >= sameShare*float64(len(x)+len(y)-n)
}

// says reports whether an existing statement already says what a new one does.
func says(existing, new string) bool {
	if near(existing, new) {
		return true
	}
	x, y := telling(existing), telling(new)
	if len(y) < 2 || opposed(existing, new) || !subset(specifics(new), specifics(existing)) {
		return false
	}
	return float64(shared(x, y)) >= saidShare*float64(len(y))
}

// again reports whether a new statement brings back a retracted one, also in
// other words: it says the same, or it holds the same numbers and identifiers
// beside some of the same words.
func again(retracted, new string) bool {
	if says(retracted, new) || says(new, retracted) {
		return true
	}
	spec := specifics(retracted)
	if len(spec) == 0 || !subset(spec, specifics(new)) {
		return false
	}
	x, y := telling(retracted), telling(new)
	for t := range spec {
		delete(x, t)
		delete(y, t)
	}
	small := min(len(x), len(y))
	return small == 0 || float64(shared(x, y)) >= againShare*float64(small)
}

// changed reports whether two statements speak of the same things and cannot
// both hold: one denies what the other affirms, or they name different values.
func changed(a, b string) bool {
	x, y, v, w := telling(a), telling(b), specifics(a), specifics(b)
	for t := range v {
		delete(x, t)
	}
	for t := range w {
		delete(y, t)
	}
	small := min(len(x), len(y))
	if small < 2 || float64(shared(x, y)) < 0.6*float64(small) {
		return false
	}
	return !otherSubjects(v, w) && (opposed(a, b) || len(v) > 0 && len(w) > 0 && shared(v, w) == 0)
}

// otherSubjects reports whether two statements that share no number and no name with
// a digit speak of different things: each has a name ("port 9004 for server4", "port
// 9005 for server5") beside another value. One that differs alone is the value.
func otherSubjects(v, w map[string]bool) bool {
	return len(v) > 1 && len(w) > 1 && named(v) && named(w) && shared(v, w) == 0
}

// named reports whether one of the specifics begins with a letter.
func named(specifics map[string]bool) bool {
	for s := range specifics {
		if s[0] >= 'a' && s[0] <= 'z' {
			return true
		}
	}
	return false
}

func equalSets(a, b map[string]bool) bool { return len(a) == len(b) && subset(a, b) }

func subset(a, b map[string]bool) bool {
	for t := range a {
		if !b[t] {
			return false
		}
	}
	return true
}

// opposed reports whether one statement denies what the other affirms: only one
// of them has a negation, or they deny different things ("pnpm, never npm" and
// "npm, never pnpm").
func opposed(a, b string) bool {
	x, y := denied(a), denied(b)
	if len(x) == 0 && len(y) == 0 {
		return false
	}
	return shared(x, y) == 0
}

// negations in the languages of the cues, lower case. English ones are whole
// words.
var negations = [...]string{
	"never ", "not ", "don't ", "do not ", "doesn't ", "no ", "without ", "avoid ", "stop ", "instead of ", "rather than ", "isn't ", "aren't ", "won't ", "shouldn't ", "cannot ", "can't ",
	"不要", "不再", "不准", "不许", "不能", "不得", "不用", "而不是", "禁止", "严禁", "别", "勿", "不", "没有", "避免",
	"하지 마", "쓰지 마", "금지", "말고", "ないで", "しない", "禁止",
}

// denied returns the first telling terms behind each negation of s.
func denied(s string) map[string]bool {
	out := map[string]bool{}
	l := " " + plain(s) + " "
	for _, n := range negations {
		word := n[0] < 0x80
		for at := 0; ; {
			i := strings.Index(l[at:], n)
			if i < 0 {
				break
			}
			i += at
			at = i + len(n)
			if word && l[i-1] != ' ' && l[i-1] != '(' && l[i-1] != ',' {
				continue
			}
			got := 0
			for _, t := range terms.Analyze(cut(l[at:], 80)) {
				if t.Kind == terms.Char || t.Kind == terms.Whole || terms.Stop(t) || t.Text == "use" {
					continue
				}
				out[t.Text] = true
				if got++; got == 2 {
					break
				}
			}
		}
	}
	return out
}
