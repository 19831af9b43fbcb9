package tidy

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stillso"
	"stillso/internal/guard"
)

// How sure the rules are, as confidences: what a person said in so many words, and
// what only looks like it.
const (
	certain  = 0.9
	probable = 0.6
)

// replace acts on one pair without a model. A later statement takes the place of
// an earlier one only where that is certain: same subject, same attribute, another
// value, and the person says that it changed. Where all but the last is true a
// person decides.
func (p *pass) replace(x pair) {
	n, o := x.a, x.b
	if !n.alive() || !o.alive() || n.m.Origin == stillso.FromInferred && o.m.Origin == stillso.FromInferred {
		return
	}
	switch {
	case n.m.Origin == stillso.FromFile || o.m.Origin == stillso.FromFile || n.m.Namespace != o.m.Namespace:
		p.across(x)
		return
	case rank(n.m.Origin) < rank(o.m.Origin) || rank(n.m.Origin) < 3 && verified(o.m) && !verified(n.m):
		p.lie(x)
		return
	}
	how := otherValue(n, o)
	trusted := rank(n.m.Origin) > rank(o.m.Origin) // later, and trusted more
	if how == "" && trusted {
		how = oneWord(n, o)
	}
	if how == "" {
		if !n.changes || !p.part(n, o) {
			p.inherit(n, o)
		}
		return
	}
	sure := probable
	if how == inTheMiddle && !denies(n, o) {
		sure = probable
	} else if trusted || n.changes || len(n.denies) > 0 && denies(n, o) {
		sure = certain
	}
	stop := guard.Check(guard.Case{New: n.m, Old: o.m, Relation: stillso.Conflicts, Confidence: certain})
	if stop == "" && sure == certain && rank(n.m.Origin) == 3 {
		p.supersede(o, n, stillso.Applied, rule, sure, how+", said later")
		return
	}
	switch {
	case stop == "" && how == inTheMiddle:
		stop = "it may be about something else"
	case stop == "":
		stop = "it does not say that the older one is over"
	}
	p.propose(x, func() { p.supersede(o, n, stillso.Proposed, rule, sure, how+"; "+stop) })
}

// across compares a memory with a statement in a file, or one of the user's with
// one of a project. Neither yields by itself: a person decides.
func (p *pass) across(x pair) {
	n, o := x.a, x.b
	how := otherValue(n, o)
	if how == "" {
		if how = otherValue(o, n); how == "" {
			return
		}
	}
	stays, goes := n, o
	if goes.m.Origin == stillso.FromFile {
		stays, goes = o, n // a file is only read
	}
	why := "they are in different namespaces"
	if stays.m.Origin == stillso.FromFile {
		why = "one stands in " + place(stays.m)
	}
	p.propose(x, func() { p.supersede(goes, stays, stillso.Proposed, rule, probable, how+"; "+why) })
}

// lie acts on a later statement that is trusted less and contradicts an earlier
// one: it must not be recalled beside it without a label, and never takes its
// place.
func (p *pass) lie(x pair) {
	n, o := x.a, x.b
	how := otherValue(n, o)
	if how == "" {
		how = oneWord(n, o)
	}
	if how == "" {
		return
	}
	stop := guard.Check(guard.Case{New: o.m, Old: n.m, Relation: stillso.Conflicts, Confidence: certain})
	switch {
	case stop == "" && n.m.Origin == stillso.FromInferred && n.changes:
		// It is labelled as unconfirmed already, and may be the news.
		stop = "it was inferred later, and may be right"
	case how == inTheMiddle:
		stop = "it may be about something else"
	case stop == "":
		than := "what is " + string(o.m.Origin)
		if rank(n.m.Origin) == rank(o.m.Origin) {
			than = "what was verified"
		}
		p.supersede(n, o, stillso.Applied, rule, certain, fmt.Sprintf("what is %s contradicts %s: %s", n.m.Origin, than, how))
		return
	}
	p.propose(x, func() { p.supersede(n, o, stillso.Proposed, rule, probable, how+"; "+stop) })
}

// verified reports whether the claims of a memory were checked and hold.
func verified(m *stillso.Memory) bool {
	for _, c := range m.Claims {
		if c.Verdict != stillso.Holds {
			return false
		}
	}
	return len(m.Claims) > 0
}

// denies reports whether n says that what o says is no longer so.
func denies(n, o *profile) bool {
	for w := range n.denies {
		if o.set[w] && !o.denies[w] {
			return true
		}
	}
	return false
}

// otherValue says in words which value of one subject and attribute the newer
// statement changes, or "" where that is not certain.
func otherValue(n, o *profile) string {
	said := n.set
	if denies(n, o) {
		said = map[string]bool{}
		for w := range n.set {
			said[w] = !n.denies[w] || !o.set[w]
		}
		for w := range said {
			if !said[w] {
				delete(said, w)
			}
		}
	}
	common, gone := 0, less(o.words, said)
	come := less(n.words, o.set)
	common = len(o.words) - len(gone)
	lost, got := lessSet(o.values, n.values), lessSet(n.values, o.values)
	switch {
	case common < 2 || dense(o.norm) && common < 4 || len(o.words) > 0 && !said[o.words[0]]:
		return "" // another subject
	case contrast(n, o):
		return "" // of two different things
	case lost > 0 && got > 0:
		// Numbers differ: everything else is the same, or a condition may differ.
		if len(gone) > 1 || len(come) > 2 || len(gone) == 1 && !unit(gone[0]) || conditions(n) != conditions(o) || lost > 2 {
			return ""
		}
		return "another value of the same"
	case lost > 0 || got > 1:
		return ""
	case negative(n.norm) != negative(o.norm) && len(gone) == 0 && len(come) <= 1 && len(n.denies) > 0:
		return "the opposite of the same"
	case len(gone) == 0 || len(gone) > 3 || len(come) == 0 || len(come) > 3 || 2*common < len(o.words):
		return ""
	case !sideBySide(o.words, gone) || conditions(n) != conditions(o) && !n.changes:
		return ""
	case !n.changes && !denies(n, o):
		return "" // two names beside each other are no change
	case gone[len(gone)-1] != o.words[len(o.words)-1] && !dense(o.norm):
		return inTheMiddle
	}
	return "another value of the same"
}

// inTheMiddle is a change of words that are not the last: it may be the value
// ("deploys run on Tuesdays at noon"), or what has the value ("the gateway keeps
// sessions in Redis"). A person can tell.
const inTheMiddle = "another word in the same"

// oneWord says that two statements differ in one word only, and not in their
// subject. Between equals that is no reason for anything: both can be true.
func oneWord(n, o *profile) string {
	gone, come := less(o.words, n.set), less(n.words, o.set)
	if len(gone) != 1 || len(come) != 1 || len(o.words) < 3 || lessSet(o.values, n.values)+lessSet(n.values, o.values) > 0 || contrast(n, o) || negative(n.norm) != negative(o.norm) {
		return ""
	}
	if gone[0] != o.words[len(o.words)-1] { // the subject, or what has the value
		return ""
	}
	return "the same but for one word"
}

// sideBySide reports whether the words stand side by side in list, and not first.
func sideBySide(list, words []string) bool {
	i := slices.Index(list, words[0])
	return i > 0 && i+len(words) <= len(list) && slices.Equal(list[i:i+len(words)], words)
}

// unit reports whether a term is a unit, which changes with its number.
func unit(t string) bool {
	return strings.Contains(" s sec second min minut h hour day week month year ms kb mb gb tb percent am pm usd eur dollar euro time 小时 分钟 天 周 月 年 秒 ", " "+t+" ")
}

// conditions returns the words by which a statement is bound to a case ("in CI",
// "when", "on Windows"): two statements with different ones can both be true.
func conditions(x *profile) string {
	if x.bound == nil {
		x.bound = new(string)
		*x.bound = boundTo(x)
	}
	return *x.bound
}

func boundTo(x *profile) string {
	var out []string
	fields := strings.FieldsFunc(x.norm, func(r rune) bool { return r == ' ' || r == ',' || r == ':' || r == ';' || r == '(' || r == ')' })
	for i, w := range fields {
		switch w {
		case "if", "when", "while", "unless", "during", "only", "except", "locally", "under", "for", "in", "on", "at":
			if i+1 < len(fields) && !valued(fields[i+1:]) {
				out = append(out, w+" "+strings.Join(fields[i+1:min(i+3, len(fields))], " "))
			}
		}
	}
	for _, w := range [...]string{"如果", "当", "仅", "只有", "时候", "除非", "本地", "线上", "测试环境", "生产环境", "周末", "工作日"} {
		if strings.Contains(x.norm, w) {
			out = append(out, w)
		}
	}
	slices.Sort(out)
	return strings.Join(out, "|")
}

// valued reports whether a number stands among the next words: then they are the
// value, and no condition.
func valued(next []string) bool {
	for _, w := range next[:min(2, len(next))] {
		if strings.ContainsAny(w, "0123456789") {
			return true
		}
	}
	return false
}

// part acts where the older memory says several things and the newer one changes
// one of them: that one is taken out, the others stay.
func (p *pass) part(n, o *profile) bool {
	if rank(n.m.Origin) < 3 || n.m.Type != o.m.Type || o.m.Type == stillso.Event {
		return false
	}
	parts := clauses(o.m.Content)
	if len(parts) != 2 {
		return false
	}
	for i, text := range parts {
		one := o.m.Clone()
		one.Content = text
		x := newProfile(one)
		if how := otherValue(n, x); how == "" || how == inTheMiddle || guard.Check(guard.Case{New: n.m, Old: one, Relation: stillso.Conflicts, Confidence: certain}) != "" {
			continue
		}
		after := o.m.Clone()
		after.Content, after.UpdatedAt = parts[1-i], p.stamp(after)
		return p.change(stillso.Change{
			Verb: stillso.VerbEdit, Outcome: stillso.Applied, Confidence: certain,
			Reason: "a part of it was replaced by " + n.m.ID, Edits: []stillso.Edit{{Before: o.m.Clone(), After: after}},
		})
	}
	return false
}

// joints part a sentence in two statements about one subject: "and her alias is",
// where the subject is an owner.
var joints = [...]string{" and his ", " and her ", " and its ", " and their ", " and the "}

// clauses splits "A's x is 1 and her y is 2" and "A does x and does y" in two
// statements, each with its subject. What is not plainly so stays one.
func clauses(s string) []string {
	whole := []string{s}
	flat := strings.ReplaceAll(strings.ReplaceAll(s, ", and ", " and "), "; ", " and ")
	words := strings.Fields(flat)
	if strings.Count(flat, " and ") != 1 || strings.Contains(s, "\n") || strings.Contains(s, ". ") || len(words) < 6 {
		return whole
	}
	if first, _ := utf8.DecodeRuneInString(flat); !unicode.IsUpper(first) {
		return whole
	}
	owner, _, owned := strings.Cut(strings.ReplaceAll(flat, "’", "'"), "'s ")
	owned = owned && len(strings.Fields(owner)) <= 3
	for _, j := range joints {
		a, b, ok := strings.Cut(flat, j)
		if ok && owned {
			return []string{a + ".", owner + "'s " + b}
		}
	}
	a, b, _ := strings.Cut(flat, " and ")
	verb, _, _ := strings.Cut(b, " ")
	if owned || !strings.HasSuffix(verb, "s") || len(strings.Fields(a)) < 3 {
		return whole // a list of things, not of statements
	}
	subject := words[0]
	if strings.Contains(" The A An Our My Their His Her ", " "+subject+" ") {
		if strings.HasSuffix(words[1], "s") || !strings.HasSuffix(words[2], "s") {
			return whole // where the subject ends is not plain
		}
		subject += " " + words[1]
	}
	return []string{a + ".", subject + " " + b}
}

// place names the file that a memory stands in.
func place(m *stillso.Memory) string {
	if m.File == nil || m.File.Path == "" {
		return "a file"
	}
	if m.File.Line > 0 {
		return fmt.Sprintf("%s:%d", m.File.Path, m.File.Line)
	}
	return m.File.Path
}
