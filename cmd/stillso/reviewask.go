package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/guard"
)

// terminal returns standard input and output if a person sits at both.
func (a *app) terminal() (in, out *os.File, ok bool) {
	in, okIn := a.std.in.(*os.File)
	out, okOut := a.std.out.(*os.File)
	return in, out, okIn && okOut && !a.json && isTerminal(in) && isTerminal(out)
}

// goThrough shows one proposal after the other and does what the person says.
func (a *app) goThrough(ctx context.Context, sum *reviewed, in, out *os.File) (summary, error) {
	p := newPage(out, a.std.env)
	lines := bufio.NewReader(in)
	done := &reviewed{asked: true}
	by := stillso.Actor{Kind: stillso.Human, Name: "review"}
	for i := 0; i < len(sum.Waiting); {
		ch := sum.Waiting[i]
		shown, err := a.proposal(ctx, ch)
		if err != nil {
			return done, err
		}
		p.printf("\n%s\n", p.faint(fmt.Sprintf("%d of %d", i+1, len(sum.Waiting))))
		shown.text(p)
		p.printf("%s ", p.bold("[a]pprove [e]dit [r]efuse [s]kip [q]uit:"))
		key, content, err := readKey(lines, p)
		if err != nil || key == 'q' {
			return done, p.err
		}
		outcome := stillso.Applied
		switch key {
		case 's':
			i++
			continue
		case 'r':
			outcome = stillso.Refused
		case 'a', 'e':
		default:
			continue // asked again
		}
		i++
		settled, err := a.settleOne(ctx, ch, outcome, by, "", content)
		var wrong *marked
		switch {
		case errors.Is(err, stillso.ErrConflict):
			p.printf("%s\n", p.yellow("it rests on a memory that changed since; refuse it, or edit the memory yourself"))
			done.Outdated = append(done.Outdated, ch.ID)
		case errors.As(err, &wrong):
			p.printf("%s\n", p.yellow(err.Error()))
		case err != nil:
			return done, err
		}
		done.Settled = append(done.Settled, settled...)
	}
	return done, p.err
}

// readKey reads the person's decision, and the new text where they edit.
func readKey(lines *bufio.Reader, p *page) (key byte, content string, err error) {
	line, err := lines.ReadString('\n')
	if line = strings.ToLower(strings.TrimSpace(line)); line == "" {
		return 0, "", err
	}
	if line[0] != 'e' {
		return line[0], "", nil
	}
	p.printf("new text, on one line; nothing leaves it undecided: ")
	content, err = lines.ReadString('\n')
	if content = strings.TrimSpace(content); content == "" {
		return 's', "", err
	}
	return 'e', content, nil
}

// side is one memory of a proposal.
type side struct {
	ID      string         `json:"id"`
	Type    stillso.Type   `json:"type"`
	Origin  stillso.Origin `json:"origin"`
	Date    string         `json:"date"`
	Fate    string         `json:"fate"`
	Content string         `json:"content"`
	// After is the text it would have, if that changes.
	After string `json:"after,omitempty"`
}

// proposalShown is one proposal with the memories that it is about.
type proposalShown struct {
	Change stillso.Change `json:"change"`
	Sides  []side         `json:"sides"`
}

// proposal shows a proposed change: what goes, what stays, both texts.
func (a *app) proposal(ctx context.Context, c stillso.Change) (*proposalShown, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	r := &proposalShown{Change: c}
	have := map[string]bool{}
	for _, e := range c.Edits {
		m := e.Before
		if m == nil {
			m = e.After
		}
		have[m.ID] = true
		s := side{ID: m.ID, Type: m.Type, Origin: m.Origin, Date: m.CreatedAt.Local().Format("2006-01-02"), Content: m.Content, Fate: fate(e)}
		if e.Before != nil && e.After.Content != e.Before.Content {
			s.After = e.After.Content
		}
		r.Sides = append(r.Sides, s)
	}
	for _, e := range c.Edits { // what would take its place, if the change does not hold it
		id := e.After.SupersededBy
		if id == "" || have[id] {
			continue
		}
		have[id] = true
		if m, err := st.Memory(ctx, id); err == nil {
			r.Sides = append(r.Sides, side{ID: m.ID, Type: m.Type, Origin: m.Origin, Date: m.CreatedAt.Local().Format("2006-01-02"), Content: m.Content, Fate: "stays"})
		}
	}
	return r, nil
}

// fate says what becomes of a memory by an edit.
func fate(e stillso.Edit) string {
	switch {
	case e.Before == nil:
		return "is new"
	case e.After.State != e.Before.State:
		return "becomes " + string(e.After.State)
	case e.After.Content != e.Before.Content:
		return "changes"
	}
	return "stays"
}

func (r *proposalShown) text(p *page) {
	c := r.Change
	by := string(c.Actor.Kind)
	if c.Actor.Name != "" {
		by += " (" + c.Actor.Name + ")"
	}
	p.printf("%s  %s  %s\n", p.bold(c.ID), string(c.Verb), p.faint(fmt.Sprintf("%s · %.2f sure · by %s", c.At.Local().Format("2006-01-02"), c.Confidence, by)))
	for _, line := range wrap(c.Reason, p.width-2) {
		p.printf("  %s\n", line)
	}
	if len(r.Sides) == 2 && p.width >= 80 {
		p.beside(r.Sides[0], r.Sides[1])
	} else {
		for _, s := range r.Sides {
			p.printf("\n%s  %s\n", p.bold(s.ID), p.faint(s.head()))
			for _, line := range s.lines(p.width - 2) {
				p.printf("  %s\n", line)
			}
		}
	}
	for _, e := range c.Evidence {
		p.printf("  %s\n", p.faint("“"+cut(oneLine(e.Quote), max(p.width-6, 60))+"”"))
	}
}

func (s side) head() string {
	return fmt.Sprintf("%s · %s · %s · %s", s.Fate, s.Type, s.Origin, s.Date)
}

func (s side) lines(width int) []string {
	list := wrap(s.Content, width)
	if s.After != "" {
		list = append(append(list, "would say:"), wrap(s.After, width)...)
	}
	return list
}

// beside prints two memories in two columns.
func (p *page) beside(a, b side) {
	width := (p.width - 5) / 2
	left := append([]string{a.ID, a.head(), ""}, a.lines(width)...)
	right := append([]string{b.ID, b.head(), ""}, b.lines(width)...)
	p.printf("\n")
	for i := range max(len(left), len(right)) {
		l, r := "", ""
		if i < len(left) {
			l = cut(cleanText(left[i]), width)
		}
		if i < len(right) {
			r = cut(cleanText(right[i]), width)
		}
		p.printf("  %s%s | %s\n", l, strings.Repeat(" ", max(width-columns(l), 0)), r)
	}
}

// maxGrouped bounds the grouping, which compares each with each.
const maxGrouped = 300

// bySubject groups changes that are about one thing: they share a memory, or two
// topics. Groups and their members are in the order of the list.
func bySubject(list []stillso.Change) [][]stillso.Change {
	group := make([]int, len(list))
	ids := make([]map[string]bool, len(list))
	topics := make([]map[string]bool, len(list))
	for i, c := range list {
		group[i], ids[i], topics[i] = i, map[string]bool{}, map[string]bool{}
		for _, e := range c.Edits {
			ids[i][e.MemoryID()] = true
			if m := cmp.Or(e.After, e.Before); m != nil && i < maxGrouped {
				for t := range guard.Topics(m) {
					topics[i][string(m.Namespace)+"\x00"+t] = true
				}
			}
		}
		for j := range i {
			if group[j] == j && (meets(ids[i], ids[j], 1) || meets(topics[i], topics[j], 2)) {
				group[i] = j
				break
			}
		}
	}
	var out [][]stillso.Change
	at := map[int]int{}
	for i, c := range list {
		n, ok := at[group[i]]
		if !ok {
			n = len(out)
			at[group[i]] = n
			out = append(out, nil)
		}
		out[n] = append(out[n], c)
	}
	return out
}

// meets reports whether a and b share at least n members.
func meets(a, b map[string]bool, n int) bool {
	for t := range a {
		if b[t] {
			if n--; n == 0 {
				return true
			}
		}
	}
	return false
}

// subjectOf names a group by the first memory in it.
func subjectOf(group []stillso.Change) string {
	for _, c := range group {
		for _, e := range c.Edits {
			m := cmp.Or(e.After, e.Before)
			if m == nil {
				continue
			}
			name := strings.ReplaceAll(m.Name, "-", " ")
			if name == "" {
				name = cut(oneLine(m.Content), 60)
			}
			return name
		}
	}
	ids := make([]string, 0, len(group))
	for _, c := range group {
		ids = append(ids, c.ID)
	}
	return strings.Join(slices.Sorted(slices.Values(ids)), " ")
}
