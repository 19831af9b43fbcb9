package tidy

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"stillso"
	"stillso/internal/guard"
)

// moves are the phrases of a statement that says how something went on, and so
// speaks of what an earlier one said: "was moved to", "has grown to", "now includes".
// They are not enough to retire anything.
var moves = [...]string{
	"moved", "shifted", "rescheduled", "reschedule", "postponed", "extended", "shortened", "increased", "increase in", "raised", "lowered", "reduced", "decreased", "cut to", "improved", "grown", "grew", "risen", "rose", "dropped", "fell",
	"reached", "updated", "revised", "adjusted", "changed", "expanded", "upgraded", "now", "no longer", "new deadline", "new date", "bringing the total",
	"达到", "增加到", "增至", "减少到", "降到", "延长", "缩短", "提高到", "推迟", "提前", "调整", "改为", "改到", "现在", "升级",
}

// The bounds of what a memory inherits.
const (
	maxPhrase   = 160 // bytes of one phrase
	maxInherits = 3   // phrases of one memory
	inheritKey  = "inherited"
)

// inherit gives a later statement that goes on about an earlier one its words, as
// an alias: who asks about the matter in the words of the old statement then finds
// the new one first. Nothing is retired, for it is not certain that anything is
// over.
func (p *pass) inherit(n, o *profile) {
	if n.m.Origin == stillso.FromFile || n.m.Type == stillso.Event || rank(n.m.Origin) < rank(o.m.Origin) || n.m.Namespace != o.m.Namespace {
		return
	}
	if !n.moves {
		return
	}
	if !revalued(n, o) || contrast(n, o) {
		return
	}
	phrase := p.phrase(n, o)
	if phrase == "" || strings.Count(n.m.Extra[inheritKey], "\n") >= maxInherits-1 || slices.Contains(n.m.Aliases, phrase) || len(n.m.Aliases) >= stillso.MaxAliases {
		return
	}
	after := n.m.Clone()
	inherits(after, o.m.ID, phrase)
	p.change(stillso.Change{
		Verb: stillso.VerbEdit, Outcome: stillso.Applied, Confidence: probable,
		Reason: "it goes on from " + o.m.ID + ", and is found by its words", Edits: []stillso.Edit{{Before: n.m.Clone(), After: after}},
	})
}

// inherits gives m aliases of another memory, and writes down whose they are.
func inherits(m *stillso.Memory, from string, aliases ...string) {
	if m.Extra == nil {
		m.Extra = map[string]string{}
	}
	for _, alias := range aliases {
		if len(m.Aliases) < stillso.MaxAliases && !slices.Contains(m.Aliases, alias) {
			m.Aliases = append(m.Aliases, alias)
			m.Extra[inheritKey] = strings.TrimSpace(m.Extra[inheritKey] + "\n" + from + "\t" + alias)
		}
	}
}

// Disinherit takes out of m what it has inherited from another memory, as when that
// one is erased. It returns false if there is nothing.
func Disinherit(m *stillso.Memory, from string) bool {
	found := false
	var stays []string
	for line := range strings.SplitSeq(m.Extra[inheritKey], "\n") {
		id, alias, _ := strings.Cut(line, "\t")
		if id != from {
			stays = append(stays, line)
			continue
		}
		found = true
		m.Aliases = slices.DeleteFunc(m.Aliases, func(a string) bool { return a == alias })
	}
	if !found {
		return false
	}
	if m.Extra[inheritKey] = strings.Join(stays, "\n"); m.Extra[inheritKey] == "" {
		delete(m.Extra, inheritKey)
	}
	return true
}

// phrase returns the older statement without its numbers, or, if it is long, the
// part that has the most to do with the newer one; "" if no part has two topics in
// common with it.
func (p *pass) phrase(n, o *profile) string {
	best, most := "", 1
	for part := range strings.FieldsFuncSeq(o.m.Content, func(r rune) bool { return strings.ContainsRune(",.;?!，。；？！\n", r) }) {
		shared := 0
		list, _ := telling(part)
		for _, w := range list {
			if n.set[w] && !guard.Technology(w) {
				shared++
			}
		}
		if shared > most {
			best, most = part, shared
		}
	}
	if best != "" && len(o.m.Content) <= maxPhrase {
		best = o.m.Content
	}
	var out []string
	for w := range strings.FieldsSeq(best) {
		if !strings.ContainsAny(w, "0123456789") {
			out = append(out, w)
		}
	}
	return strings.TrimSpace(clip(strings.Join(out, " "), maxPhrase))
}

// quantity is a number with what it is a number of.
type quantity struct{ value, kind string }

var quantityForms = sync.OnceValue(func() *regexp.Regexp {
	const month = `(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	return regexp.MustCompile(`(` + month + `\.? \d{1,2}(?:-\d{1,2})?)|(\d{1,2}(?::\d\d)? ?[ap]m)|([$€£¥]\d[\d,.]*)|(\d[\d,.]*(?:-\d+)?) ?(%|[\pL]+)?`)
})

// quantities returns the numbers of a statement: dates, times of day, amounts of
// money, and numbers with the word behind them.
func quantities(norm string) []quantity {
	var out []quantity
	for _, m := range quantityForms().FindAllStringSubmatch(norm, 24) {
		switch {
		case m[1] != "":
			out = append(out, quantity{m[1], "date"})
		case m[2] != "":
			out = append(out, quantity{m[2], "time"})
		case m[3] != "":
			out = append(out, quantity{strings.TrimRight(m[3], ".,"), "money"})
		default:
			kind := m[5]
			if list, _ := telling(kind); len(list) > 0 && kind != "%" {
				kind = list[0]
			}
			out = append(out, quantity{strings.TrimRight(m[4], ".,"), kind})
		}
	}
	return out
}

// counted and modified are made when they are first needed.
func (x *profile) counted() []quantity {
	if x.counts == nil {
		x.counts = append([]quantity{}, quantities(x.norm)...)
	}
	return x.counts
}

func (x *profile) modified() map[string]string {
	if x.mods == nil {
		x.mods = modifiers(x.norm)
	}
	return x.mods
}

// revalued reports whether the newer statement has another number of a kind that
// the older one has: another date, another amount, another count of the same things.
func revalued(n, o *profile) bool {
	for _, a := range n.counted() {
		for _, b := range o.counted() {
			if a.value == b.value {
				continue
			}
			switch {
			case a.kind == b.kind && a.kind != "":
				return true
			case a.kind == "" && b.kind != "" && n.set[b.kind], b.kind == "" && a.kind != "" && o.set[a.kind]:
				return true
			}
		}
	}
	return false
}

// contrast reports whether the statements put different words before one word that
// both have: the staging database is not the metrics database.
func contrast(n, o *profile) bool {
	a, b := n.modified(), o.modified()
	for w, x := range a {
		if y := b[w]; y != "" && x != y && !o.set[x] && !n.set[y] {
			return true
		}
	}
	return false
}

// modifiers returns, for each telling word of a text where it first stands, the
// telling word right before it, or the one that follows with "of".
func modifiers(norm string) map[string]string {
	out, seen := map[string]string{}, map[string]bool{}
	last := ""
	fields := strings.Fields(norm)
	for i, f := range fields {
		list, _ := telling(f)
		if len(list) == 0 {
			last = ""
			continue
		}
		w := list[len(list)-1]
		if last != "" && !seen[w] {
			out[w] = last
		}
		if !seen[w] && i+2 < len(fields) && fields[i+1] == "of" {
			for _, g := range fields[i+2 : min(i+4, len(fields))] {
				if owner, _ := telling(g); len(owner) > 0 {
					out[w] = owner[0]
					break
				}
			}
		}
		last, seen[w] = w, true
		if strings.ContainsAny(f[len(f)-1:], ",.:;)") {
			last = ""
		}
	}
	return out
}
