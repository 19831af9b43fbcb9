package capture

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"stillso"
)

// heard knows what was said by whom, to tell a person's own words from those
// that they pass on.
type heard struct {
	turns  []stillso.Turn
	plains []string
}

func newHeard(turns []stillso.Turn) *heard {
	return &heard{turns: turns, plains: make([]string, len(turns))}
}

// plain returns turn i as it is compared.
func (h *heard) plain(i int) string {
	if h.plains[i] == "" && h.turns[i].Text != "" {
		h.plains[i] = plain(h.turns[i].Text) + "\x00"
	}
	return h.plains[i]
}

// farBack bounds how many turns before a turn are searched for what it repeats.
const farBack = 400

// echo reports whether text, said in turn i, repeats what an assistant, a tool
// or a host said before, and what no human had typed earlier still.
func (h *heard) echo(i int, text string) bool {
	p := plain(text)
	if n := utf8.RuneCountInString(p); n < 8 || n < 20 && !hasCJK(p) {
		return false
	}
	pieces := shingles(p)
	hit := make([]bool, len(pieces))
	whole := false
	for j := i - 1; j >= 0 && j >= i-farBack && !whole; j-- {
		if h.turns[j].Speaker == stillso.Typed {
			continue
		}
		t := h.plain(j)
		if strings.Contains(t, p) {
			whole = !h.typedBefore(j, p)
			continue
		}
		for k, s := range pieces {
			if !hit[k] && strings.Contains(t, s) && !h.typedBefore(j, s) {
				hit[k] = true
			}
		}
	}
	if whole {
		return true
	}
	n := 0
	for _, x := range hit {
		if x {
			n++
		}
	}
	return len(pieces) > 0 && n*10 >= len(pieces)*7
}

// typedBefore reports whether a human typed p before turn j.
func (h *heard) typedBefore(j int, p string) bool {
	for k := j - 1; k >= 0 && k >= j-farBack; k-- {
		if h.turns[k].Speaker == stillso.Typed && strings.Contains(h.plain(k), p) {
			return true
		}
	}
	return false
}

// shingles cuts p into pieces of six words, or of twelve characters where words
// are not separated, for finding what was copied in part.
func shingles(p string) []string {
	var out []string
	if hasCJK(p) {
		r := []rune(p)
		for i := 0; i+12 <= len(r); i += 6 {
			out = append(out, string(r[i:i+12]))
		}
		return out
	}
	w := strings.Fields(p)
	for i := 0; i+6 <= len(w); i += 3 {
		out = append(out, strings.Join(w[i:i+6], " "))
	}
	return out
}

// proof is what the evidence of a candidate comes to.
type proof struct {
	// refused and review say why the evidence does not do; both empty: it does.
	refused, review string
	// typed is the text of the typed quotes, context the typed turns they stand
	// in, proposal the assistant's sentences that were confirmed.
	typed, context, proposal string
	// origin is user or confirmed.
	origin stillso.Origin
	// turn is the number of the last typed turn of the evidence; fresh is true if
	// at least one such turn is new in this run.
	turn  int
	fresh bool
	list  []stillso.Evidence
}

// prove checks a candidate's evidence. first is the number of the first turn
// that is new.
func (h *heard) prove(c *stillso.Candidate, first int) proof {
	p := proof{turn: -1, origin: stillso.FromUser}
	var why string
	for _, e := range c.Memory.Evidence {
		i, where := h.find(e)
		switch {
		case i < 0:
			why = "the evidence is not what anybody said: " + cut(oneLine(e.Quote), 80)
			continue
		case where != "":
			why = where
			continue
		}
		t := h.turns[i]
		e = stillso.Evidence{Session: t.Session, Turn: t.ID, Quote: strings.TrimSpace(e.Quote)}
		switch t.Speaker {
		case stillso.Typed:
			switch {
			case acknowledges(e.Quote):
				why = "the evidence is only an acknowledgement: " + cut(oneLine(e.Quote), 40)
				p.list = append(p.list, e)
				continue
			case h.echo(i, e.Quote):
				why = "the evidence repeats what an assistant or a tool had said"
				continue
			}
			if h.deep(i, e.Quote) {
				p.review = "the evidence stands in what looks like a pasted text"
			}
			p.typed += e.Quote + "\n"
			p.context += t.Text + "\n"
			p.turn = max(p.turn, i)
			p.fresh = p.fresh || i >= first
		case stillso.Assistant:
			p.proposal += e.Quote + "\n"
			if h.echoed(i, e.Quote) {
				p.review = "the assistant's sentence repeats a tool's output"
			}
		default:
			why = "the evidence was said by a tool or a host, not by the user"
			continue
		}
		p.list = append(p.list, e)
	}
	switch {
	case p.typed == "" && why == "":
		p.refused = "there is no evidence in a turn that the user typed"
	case p.typed == "":
		p.refused = why
	case !p.fresh:
		p.refused = "the evidence was captured before"
	default:
		h.ground(c, &p)
	}
	return p
}

// The least shares of a content's telling terms that the user's turns must hold:
// without any it is refused, below the first a human decides. Below ownShare a
// human decides unless the user's words set a rule and no line of a tool holds
// toolShare of it. Measured: of 24 recorded candidates those that set no rule in
// so many words all had 0.6 and more, but for one that the judge doubted too.
const (
	groundShare = 0.12
	toolShare   = 0.5
	ownShare    = 0.4
)

// ground checks that the content says what the evidence does: that it shares
// words with it, and that no address in it comes from elsewhere.
func (h *heard) ground(c *stillso.Candidate, p *proof) {
	content := telling(c.Memory.Content)
	n := float64(shared(content, telling(p.context)))
	all := float64(len(content))
	confirms := p.proposal != "" && settles(p.typed)
	if confirms && float64(shared(content, telling(p.typed))) < all/3 && shared(content, telling(p.proposal)) > 0 {
		p.origin = stillso.FromProposal
	} else if all > 0 && n < groundShare*all {
		switch {
		case hasCJK(c.Memory.Content) != hasCJK(p.typed): // another language: no words to compare
			p.review = "the content is in another language than the evidence"
		case n == 0:
			p.refused = "the content is not what the evidence says"
			return
		default:
			p.review = "the content shares few words with the evidence"
		}
	} else if n < ownShare*all && (!settles(p.typed) || h.fromTool(content, p.turn)) {
		p.review = "the content says more than the evidence"
	}
	from := ""
	for i := range h.turns {
		if h.turns[i].Speaker == stillso.Typed && i >= p.turn-farBack {
			from += h.plain(i) + " "
		}
	}
	if confirms {
		from += plain(p.proposal)
	}
	for _, a := range addresses(c.Memory.Content) {
		if !strings.Contains(from, plain(a)) {
			p.refused = fmt.Sprintf("it names %s, which the user did not", cut(a, 80))
			return
		}
	}
}

// fromTool reports whether a line that a tool or a host brought before turn i
// holds most of the content.
func (h *heard) fromTool(content map[string]bool, i int) bool {
	for j := i - 1; j >= 0 && j >= i-farBack; j-- {
		if s := h.turns[j].Speaker; s != stillso.Tool && s != stillso.Harness {
			continue
		}
		for line := range strings.SplitSeq(cut(h.turns[j].Text, 64<<10), "\n") {
			if len(line) < 2000 && float64(shared(content, telling(line))) >= toolShare*float64(len(content)) {
				return true
			}
		}
	}
	return false
}

// find returns the turn in which a quote stands, and why it cannot be used
// there. The turn that the evidence names comes first, then the typed turns,
// newest first, then the others. -1: nobody said it.
func (h *heard) find(e stillso.Evidence) (turn int, unusable string) {
	parts := quoteParts(e.Quote)
	if len(parts) == 0 {
		return -1, ""
	}
	at, why := -1, ""
	try := func(i int) bool {
		if !h.holds(i, parts) {
			return false
		}
		w := h.tainted(i, parts)
		if at < 0 || why != "" && w == "" {
			at, why = i, w
		}
		return w == ""
	}
	for i := range h.turns {
		if h.turns[i].ID == e.Turn && e.Turn != "" && try(i) {
			return i, ""
		}
	}
	if at >= 0 {
		return at, why
	}
	for _, typed := range [...]bool{true, false} {
		for i := len(h.turns) - 1; i >= 0; i-- {
			if (h.turns[i].Speaker == stillso.Typed) == typed && try(i) {
				return i, ""
			}
		}
	}
	return at, why
}

// quoteParts cuts a quote at its ellipses; each part must be found.
func quoteParts(q string) []string {
	var out []string
	for _, s := range strings.FieldsFunc(strings.ReplaceAll(q, "...", "…"), func(r rune) bool { return r == '…' }) {
		if s = strings.Trim(plain(s), " "); utf8.RuneCountInString(s) >= 2 {
			out = append(out, s)
		}
	}
	return out
}

// holds reports whether turn i has all the parts, in order.
func (h *heard) holds(i int, parts []string) bool {
	t := h.plain(i)
	for _, p := range parts {
		n := strings.Index(t, p)
		if n < 0 {
			return false
		}
		t = t[n+len(p):]
	}
	return true
}

// tainted says why parts found in a typed turn are not its author's words: they
// stand only in a code block, in what a host wrapped, or among hidden characters.
func (h *heard) tainted(i int, parts []string) string {
	t := h.turns[i]
	if t.Speaker != stillso.Typed {
		return ""
	}
	if hidden(t.Text) {
		return "the turn carries hidden characters"
	}
	mine := t.Text
	for _, p := range append(fenced(t.Text), wrapped(t.Text)...) {
		mine = mine[:p.start] + strings.Repeat("\x00", p.end-p.start) + mine[p.end:]
	}
	m := plain(mine)
	for _, p := range parts {
		if !strings.Contains(m, p) {
			return "the evidence stands in a pasted block"
		}
	}
	return ""
}

// deep reports whether a quote stands where pasted text is: behind a line that
// announces it, or in the middle of a long typed turn.
func (h *heard) deep(i int, quote string) bool {
	t := h.turns[i].Text
	if at, ok := pasted(t); ok {
		mine := plain(t[:at.start]) + "\x00" + plain(t[at.end:])
		for _, p := range quoteParts(quote) {
			if !strings.Contains(mine, p) {
				return true
			}
		}
	}
	if len(t) <= maxSpoken {
		return false
	}
	edge := plain(cut(t, maxSpoken/2)) + "\x00" + plain(tail(t, maxSpoken/2))
	for _, p := range quoteParts(quote) {
		if !strings.Contains(edge, p) {
			return true
		}
	}
	return false
}

// echoed reports whether an assistant's sentence repeats a tool's output.
func (h *heard) echoed(i int, quote string) bool {
	p := plain(quote)
	pieces := shingles(p)
	for j := i - 1; j >= 0 && j >= i-farBack; j-- {
		if s := h.turns[j].Speaker; s != stillso.Tool && s != stillso.Harness {
			continue
		}
		t := h.plain(j)
		if strings.Contains(t, p) {
			return true
		}
		n := 0
		for _, s := range pieces {
			if strings.Contains(t, s) {
				n++
			}
		}
		if len(pieces) > 0 && n*2 >= len(pieces) {
			return true
		}
	}
	return false
}

// nods are words of agreement in the languages of the cues. A turn of nothing
// else proves nothing: it may have been about anything.
const nods = " ok okay k yes yeah yep yup sure fine good great nice perfect cool right correct exactly agreed thanks thank you please go ahead continue proceed do it that this sounds looks lgtm alright done next on with and the so i we let's lets that's it's works for me as you suggest suggested say said now then " +
	"好 好的 好吧 行 可以 嗯 对 是 是的 没错 继续 同意 没问题 谢谢 按你说的 按你说的做 就这样 这样 做吧 开始吧 吧 来吧 弄吧 执行 确认 네 예 좋아 좋아요 그래 그래요 계속 진행 진행해 해줘 응 はい ええ 了解 お願いします 続けて それで いいです "

// acknowledges reports whether a quote only agrees.
func acknowledges(q string) bool {
	p := strings.Map(func(r rune) rune {
		if strings.ContainsRune(".,!?;:~。，！？；：、…()\"", r) {
			return ' '
		}
		return r
	}, plain(q))
	for _, w := range strings.Fields(p) {
		if !strings.Contains(nods, " "+w+" ") {
			return false
		}
	}
	return true
}

// settles reports whether a confirmation says more than yes: that it holds from
// now on, always, as a rule.
func settles(q string) bool {
	view := seen(q)
	for _, l := range languagesOf(view) {
		if l.question.MatchString(view) && !l.record.MatchString(view) {
			continue
		}
		if l.asked.MatchString(view) || l.record.MatchString(view) {
			return true
		}
	}
	for _, w := range [...]string{"always", "from now on", "as a rule", "every time", "going forward", "in future", "in the future", "remember", "never", "以后", "每次", "一直", "都这样", "记住", "统一", "一律", "始终", "항상", "앞으로", "기억", "今後", "必ず", "常に", "覚えて"} {
		if strings.Contains(view, w) {
			return true
		}
	}
	return false
}

// addresses returns the parts of a content that must not come from anybody but
// the user: URLs, hosts with a dot and a port, IP addresses.
func addresses(s string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'`()<>[]{}，。；、,;", r) }) {
		w = strings.TrimRight(w, ".:!?")
		switch {
		case strings.Contains(w, "://"):
			out = append(out, w)
		case strings.Count(w, ".") == 3 && strings.Trim(w, "0123456789.:/") == "":
			out = append(out, w)
		case strings.Contains(w, "@") && strings.Contains(w, "."):
			out = append(out, w)
		}
	}
	return out
}
