package capture

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/guard"
	"stillso/internal/redact"
)

// maxSentences is the most that one memory may say.
const maxSentences = 3

// Repeat is a statement that an existing memory already says: the failure that
// recall exists to end.
type Repeat struct {
	Memory  string    `json:"memory"`
	Session string    `json:"session,omitempty"`
	Turn    string    `json:"turn,omitempty"`
	Quote   string    `json:"quote"`
	At      time.Time `json:"at"`
	// Missed is true if the memory had not been injected before the user said it
	// again; otherwise it had been, and was ignored.
	Missed bool `json:"missed"`
	// Alias is what the memory learnt from it, if anything.
	Alias string `json:"alias,omitempty"`
}

// The names of the rules that act on repeats, in the journal.
const (
	RepeatMissed  = "repeat-missed"
	RepeatIgnored = "repeat-ignored"
)

// disposer applies the rules to the candidates of one run.
type disposer struct {
	job     *Job
	first   int
	heard   *heard
	changes []stillso.Change
	repeats []Repeat
	// notes belong to the candidates that screen kept, by their place.
	notes []note
	taken []*stillso.Memory // admitted or proposed in this run
	past  []tombstone
	// edited holds memories as the changes of this run leave them, so that a
	// second change of one rests on the first.
	edited map[string]*stillso.Memory
}

// note is what the screen learnt about a kept candidate.
type note struct {
	proof  proof
	review string // why only a human may admit it
	near   []*stillso.Memory
}

// tombstone is what was refused or undone before.
type tombstone struct {
	memory *stillso.Memory
	hard   bool // by a human
	waits  bool // for review
	topic  map[string]bool
}

func newDisposer(job *Job, first int) *disposer {
	d := &disposer{job: job, first: first, heard: newHeard(job.Turns), edited: map[string]*stillso.Memory{}}
	for _, c := range job.Refused {
		if c.Verb != stillso.VerbAdd {
			continue
		}
		hard := c.Outcome == stillso.Undone || c.Actor.Kind == stillso.Human
		for _, e := range c.Edits {
			if e.After != nil {
				d.past = append(d.past, tombstone{memory: e.After, hard: hard, waits: c.Outcome == stillso.Proposed})
			}
		}
	}
	return d
}

// all screens and settles candidates that are scored already.
func (d *disposer) all(cands []stillso.Candidate) {
	kept := d.screen(cands)
	for i := range kept {
		d.relate(&kept[i], d.notes[i].near)
	}
	d.settle(kept)
}

// screen completes the candidates and refuses those that no score could save.
func (d *disposer) screen(cands []stillso.Candidate) []stillso.Candidate {
	var kept []stillso.Candidate
	for _, c := range cands {
		// The turns hold no secret any more, so what is compared with them must not either.
		c.Memory.Content, _ = redact.Text(c.Memory.Content)
		for i := range c.Memory.Evidence {
			c.Memory.Evidence[i].Quote, _ = redact.Text(c.Memory.Evidence[i].Quote)
		}
		n, keep := d.look(&c)
		if keep {
			kept = append(kept, c)
			d.notes = append(d.notes, n)
			d.taken = append(d.taken, &c.Memory)
		}
	}
	return kept
}

// look is the screen of one candidate.
func (d *disposer) look(c *stillso.Candidate) (note, bool) {
	if c.Finding {
		return d.lookFinding(c)
	}
	p := d.heard.prove(c, d.first)
	if p.typed != "" && !p.fresh {
		return note{}, false // seen in an earlier run
	}
	d.complete(c, p)
	if p.refused != "" {
		d.refuse(c, p.refused)
		return note{}, false
	}
	n := note{proof: p, review: p.review}
	return n, d.lookContent(c, &n)
}

// lookContent checks what a candidate says, and against what is known already.
func (d *disposer) lookContent(c *stillso.Candidate, n *note) bool {
	m := &c.Memory
	if len(telling(redact.Bare(m.Content))) < 2 {
		d.refuse(c, "nothing useful remains without the secret in it")
		return false
	}
	if harm := dangerous(m.Content + "\n" + m.Why); harm != "" {
		n.review = "it " + harm + "; only a human may admit it"
	} else if s := countSentences(m.Content); s > maxSentences && n.review == "" {
		n.review = fmt.Sprintf("it has %d sentences; %d are allowed", s, maxSentences)
	}
	for _, t := range d.taken {
		if near(t.Content, m.Content) {
			return false
		}
	}
	n.near = d.around(m)
	said := d.saidAt(n.proof.turn)
	for _, x := range n.near {
		switch {
		case sameTurn(x.Evidence, m.Evidence) && again(x.Content, m.Content):
			return false // captured before, whatever became of it
		case x.State == stillso.Retired && again(x.Content, m.Content):
			if settles(n.proof.typed) && said.After(x.UpdatedAt) {
				n.review = "it was retired earlier and said again since"
				continue
			}
			d.refuse(c, "it brings back what was retired: "+x.ID)
			return false
		case x.State == stillso.Active && says(x.Content, m.Content):
			d.repeat(c, x, n.proof)
			return false
		}
	}
	return d.lookPast(c, n)
}

// lookPast checks a candidate against what was refused before or still waits for
// review.
func (d *disposer) lookPast(c *stillso.Candidate, n *note) bool {
	topic := telling(c.Memory.Content)
	for i := range d.past {
		t := &d.past[i]
		if t.memory.Namespace != c.Memory.Namespace && t.memory.Namespace != stillso.UserNamespace && c.Memory.Namespace != stillso.UserNamespace {
			continue
		}
		if t.topic == nil {
			t.topic = telling(t.memory.Content)
		}
		// Most share nothing; only the few others are worth a closer look.
		if shared(topic, t.topic) == 0 && !t.hard {
			continue
		}
		if (!t.hard || !again(t.memory.Content, c.Memory.Content)) && !near(t.memory.Content, c.Memory.Content) {
			continue
		}
		switch {
		case sameTurn(t.memory.Evidence, c.Memory.Evidence):
			return false
		case !t.hard && settles(n.proof.typed):
			continue // the user now asks for it
		case t.waits:
			d.refuse(c, "the same waits for review already")
		default:
			d.refuse(c, "the same was refused before")
		}
		return false
	}
	return true
}

// around returns the nearest memories that a candidate may clash with.
func (d *disposer) around(m *stillso.Memory) []*stillso.Memory {
	var out []*stillso.Memory
	for _, x := range d.job.Near(m.Content, 16) {
		if x != nil && (x.Namespace == m.Namespace || x.Namespace == stillso.UserNamespace || m.Namespace == stillso.UserNamespace && x.Namespace == d.job.Project) {
			out = append(out, x)
		}
	}
	return out
}

// complete fills and cleans a candidate's memory.
func (d *disposer) complete(c *stillso.Candidate, p proof) {
	m := &c.Memory
	said := d.saidAt(p.turn)
	m.Content, _ = redact.Text(absolute(oneLine(strings.Map(visible, m.Content)), said))
	m.Why, _ = redact.Text(absolute(oneLine(strings.Map(visible, m.Why)), said))
	m.Content, m.Why = cut(m.Content, stillso.MaxContent), cut(m.Why, 1000)
	m.Name, _ = redact.Text(m.Name)
	m.Name = fixName(m.Name, m.Content)
	if p.list != nil {
		m.Evidence = p.list
	}
	if len(m.Evidence) > 6 {
		m.Evidence = m.Evidence[:6]
	}
	for i := range m.Evidence {
		m.Evidence[i].Quote, _ = redact.Text(cut(strings.Map(visible, m.Evidence[i].Quote), 1000))
	}
	m.RelatedFiles = relative(m.RelatedFiles, d.job.Root)
	if m.Namespace != stillso.UserNamespace {
		m.Namespace = d.job.Project
	}
	if m.Origin == "" || !c.Finding {
		m.Origin = p.origin
	}
	m.ID, m.State, m.SourceSession = d.job.NewID(), stillso.Active, d.job.Session.ID
	m.Priority = min(max(m.Priority, 1), 5)
	m.CreatedAt = said.UTC()
	m.UpdatedAt = m.CreatedAt
}

// visible drops characters that nobody sees and keeps the others.
func visible(r rune) rune {
	if r == '\n' || r == '\t' {
		return r
	}
	if r < ' ' || r >= 0x7f && r < 0xa0 || unseen(r) || hidden(string(r)) || r == '\u200d' || r == '\u200c' || r == '\ufeff' || r == '\u00ad' {
		return -1
	}
	return r
}

// saidAt returns the time of turn i, in the user's zone, and of the run if the
// turn has none or lies in the future.
func (d *disposer) saidAt(i int) time.Time {
	at := d.job.Now
	if i >= 0 && i < len(d.job.Turns) {
		if t := d.job.Turns[i].At; !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	return at.In(d.job.Location)
}

func sameTurn(a, b []stillso.Evidence) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Turn != "" && x.Turn == y.Turn && (x.Session == "" || y.Session == "" || x.Session == y.Session) {
				return true
			}
		}
	}
	return false
}

// relate guesses, without a judge, whether a statement changes an existing one:
// it speaks of the same things, and denies it or names another value.
func (d *disposer) relate(c *stillso.Candidate, nearby []*stillso.Memory) {
	for _, x := range nearby {
		if x.State != stillso.Active || x.Namespace != c.Memory.Namespace || x.Type != c.Memory.Type {
			continue
		}
		if changed(x.Content, c.Memory.Content) {
			c.Relation, c.Of = stillso.Conflicts, x.ID
			return
		}
	}
}

// settle turns scored candidates into changes.
func (d *disposer) settle(kept []stillso.Candidate) {
	for i := range kept {
		c, n := &kept[i], d.notes[i]
		if c.Score == 0 {
			c.Score, c.Reason = stillso.ScoreReview, "the judge gave no score"
		}
		old := pick(n.near, c.Of)
		switch {
		case c.Score < stillso.ScoreReview:
			d.refuse(c, fmt.Sprintf("scored %d: %s", c.Score, c.Reason))
		case old != nil && old.State == stillso.Active && c.Relation == stillso.Duplicate && !opposed(old.Content, c.Memory.Content) && subset(specifics(c.Memory.Content), specifics(old.Content)):
			d.repeat(c, old, n.proof)
		case c.Score < stillso.ScoreAdmit || n.review != "":
			reason := n.review
			if reason == "" {
				reason = fmt.Sprintf("scored %d: %s", c.Score, c.Reason)
			}
			d.add(c, stillso.Proposed, reason)
		case old != nil && old.State == stillso.Active && (c.Relation == stillso.Conflicts || c.Relation == stillso.Covers):
			d.supersede(c, old)
		default:
			d.add(c, stillso.Applied, fmt.Sprintf("scored %d: %s", c.Score, c.Reason))
		}
	}
}

func pick(list []*stillso.Memory, id string) *stillso.Memory {
	i := slices.IndexFunc(list, func(m *stillso.Memory) bool { return id != "" && m.ID == id })
	if i < 0 {
		return nil
	}
	return list[i]
}

// confidence is what a score comes to.
func confidence(score int) float64 {
	return [...]float64{0.5, 0.1, 0.3, 0.5, 0.85, 0.95}[min(max(score, 0), 5)]
}

// change returns a change of this run without edits.
func (d *disposer) change(v stillso.Verb, o stillso.Outcome, score int, reason string) stillso.Change {
	actor := stillso.Actor{Kind: stillso.Rule, Name: "capture"}
	if d.job.Model != nil {
		actor = stillso.Actor{Kind: stillso.Model, Name: d.job.Model.Name()}
	}
	reason, _ = redact.Text(cut(oneLine(reason), 500))
	return stillso.Change{ID: d.job.NewID(), Verb: v, Outcome: o, Actor: actor, Confidence: confidence(score), Reason: reason, At: d.job.Now.UTC(), Batch: d.job.Batch}
}

func (d *disposer) add(c *stillso.Candidate, o stillso.Outcome, reason string) {
	ch := d.change(stillso.VerbAdd, o, c.Score, reason)
	ch.Evidence = c.Memory.Evidence
	ch.Edits = []stillso.Edit{{After: c.Memory.Clone()}}
	d.changes = append(d.changes, ch)
}

func (d *disposer) refuse(c *stillso.Candidate, reason string) {
	ch := d.change(stillso.VerbAdd, stillso.Refused, c.Score, reason)
	if c.Score == 0 || !strings.HasPrefix(reason, "scored") {
		ch.Actor = stillso.Actor{Kind: stillso.Rule, Name: "capture"}
	}
	ch.Evidence = c.Memory.Evidence
	m := c.Memory.Clone()
	m.State = stillso.Draft
	ch.Edits = []stillso.Edit{{After: m}}
	d.changes = append(d.changes, ch)
}

// latest returns memory m as the changes of this run have left it.
func (d *disposer) latest(m *stillso.Memory) *stillso.Memory {
	if e := d.edited[m.ID]; e != nil {
		return e
	}
	return m
}

// supersede lets a newer statement take the place of an older one if the guards
// allow it. If not, the newer one is kept, for what the user said is never
// dropped, and the human decides about the older one.
func (d *disposer) supersede(c *stillso.Candidate, old *stillso.Memory) {
	m := c.Memory.Clone()
	if old = d.latest(old); old.State != stillso.Active { // superseded a moment ago
		d.add(c, stillso.Applied, fmt.Sprintf("scored %d: %s", c.Score, c.Reason))
		return
	}
	// Without a judge only the words of the user count for certain.
	sure := confidence(c.Score)
	if d.job.Model == nil && c.Score < 5 {
		sure = guard.MinConfidence - 0.05
	}
	after := old.Clone()
	after.State, after.SupersededBy, after.UpdatedAt = stillso.Superseded, m.ID, d.job.Now.UTC()
	why := guard.Check(guard.Case{New: m, Old: old, Relation: c.Relation, Confidence: sure})
	if why == "" {
		ch := d.change(stillso.VerbSupersede, stillso.Applied, c.Score, fmt.Sprintf("%s %s: %s", c.Relation, old.ID, c.Reason))
		ch.Evidence = m.Evidence
		ch.Edits = []stillso.Edit{{After: m}, {Before: old.Clone(), After: after}}
		d.edited[old.ID] = after
		d.changes = append(d.changes, ch)
		return
	}
	d.add(c, stillso.Applied, fmt.Sprintf("scored %d: %s", c.Score, c.Reason))
	ch := d.change(stillso.VerbSupersede, stillso.Proposed, c.Score, fmt.Sprintf("%s with %s, but %s", c.Relation, m.ID, why))
	ch.Evidence = m.Evidence
	ch.Edits = []stillso.Edit{{Before: old.Clone(), After: after}}
	d.changes = append(d.changes, ch)
}

// repeat counts a statement that memory x already says. If x had not been
// injected, it learns the user's words as an alias, so that it is found next
// time.
func (d *disposer) repeat(c *stillso.Candidate, x *stillso.Memory, p proof) {
	said := d.saidAt(p.turn)
	turn := ""
	if p.turn >= 0 {
		turn = d.job.Turns[p.turn].ID
	}
	if x.SourceSession == d.job.Session.ID && x.SourceSession != "" || sameTurn(x.Evidence, c.Memory.Evidence) || x.CreatedAt.After(said) {
		return // it could not have been recalled yet
	}
	x = d.latest(x)
	r := Repeat{Memory: x.ID, Session: d.job.Session.ID, Turn: turn, Quote: cut(oneLine(p.typed), 300), At: said.UTC(), Missed: !d.shown(x.ID, said)}
	name := RepeatIgnored
	if r.Missed {
		name = RepeatMissed
		r.Alias = newAlias(x, p.typed)
	}
	outcome, after := stillso.Refused, x.Clone()
	reason := "the user said again what this memory says; it had been injected"
	if r.Missed {
		reason = "the user said again what this memory says; it had not been injected"
	}
	if r.Alias != "" {
		outcome = stillso.Applied
		after.Aliases = append(after.Aliases, r.Alias)
		after.UpdatedAt = d.job.Now.UTC()
		reason += "; it learnt the user's words"
		d.edited[x.ID] = after
	}
	ch := d.change(stillso.VerbEdit, outcome, 5, reason)
	ch.Actor = stillso.Actor{Kind: stillso.Rule, Name: name}
	ch.Evidence = c.Memory.Evidence
	ch.Edits = []stillso.Edit{{Before: x.Clone(), After: after}}
	d.changes, d.repeats = append(d.changes, ch), append(d.repeats, r)
}

// shown reports whether the memory had been injected in this session before it
// was said again.
func (d *disposer) shown(id string, before time.Time) bool {
	for _, r := range d.job.Receipts {
		if r.Session != "" && r.Session != d.job.Session.ID || !r.At.IsZero() && r.At.After(before.Add(2*time.Second)) {
			continue
		}
		for _, h := range r.Hits {
			if h.ID == id && h.Shown {
				return true
			}
		}
	}
	return false
}

// newAlias returns the user's words as an alias of x, or "" if they hold no word
// that x does not have.
func newAlias(x *stillso.Memory, quote string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(quote), "\n")
	a := oneLine(first)
	if len(a) > 160 || len(a) < 4 || len(x.Aliases) >= stillso.MaxAliases || dangerous(a) != "" {
		return ""
	}
	if a, found := redact.Text(a); len(found) > 0 || a == "" {
		return ""
	}
	known := telling(x.Content + "\n" + x.Name + "\n" + strings.Join(x.Aliases, "\n"))
	for t := range telling(a) {
		if !known[t] {
			return a
		}
	}
	return ""
}
