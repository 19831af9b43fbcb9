package capture

import (
	"slices"
	"strings"

	"stillso"
)

// lookFinding screens what a session is said to have established. It rests on the
// assistant's own words, not on a tool's alone, tells what is and not what is to
// be done, and is never more than unconfirmed.
func (d *disposer) lookFinding(c *stillso.Candidate) (note, bool) {
	m := &c.Memory
	var p proof
	p.turn = -1
	ok := false
	for _, e := range m.Evidence {
		i, where := d.heard.find(e)
		if i < 0 || where != "" {
			continue
		}
		t := d.job.Turns[i]
		if t.Speaker == stillso.Harness {
			continue
		}
		p.list = append(p.list, stillso.Evidence{Session: t.Session, Turn: t.ID, Quote: strings.TrimSpace(e.Quote)})
		p.turn = max(p.turn, i)
		p.fresh = p.fresh || i >= d.first
		ok = ok || t.Speaker == stillso.Assistant && !d.heard.echoed(i, e.Quote)
	}
	if p.turn >= 0 && !p.fresh {
		return note{}, false
	}
	m.Origin = stillso.FromInferred
	d.complete(c, p)
	m.Priority = min(m.Priority, 2)
	c.Score = stillso.ScoreAdmit
	var why string
	view := seen(m.Content)
	switch {
	case !ok:
		why = "no assistant's sentence of its own says it"
	case !slices.Contains([]stillso.Type{stillso.Fact, stillso.Procedure, stillso.Event, stillso.Reference}, m.Type):
		why = "a finding is never a " + string(m.Type)
	case orderly(view) || settles(view):
		why = "a finding tells what is, not what is to be done"
	case dangerous(m.Content) != "":
		why = "it " + dangerous(m.Content)
	case countSentences(m.Content) > maxSentences:
		why = "it has more than three sentences"
	}
	if why != "" {
		d.refuse(c, why)
		return note{}, false
	}
	n := note{proof: p}
	if len(addresses(m.Content)) > 0 {
		n.review = "it names an address that the user did not"
	}
	if c.Reason == "" {
		c.Reason = "established in the session, unconfirmed"
	}
	return n, d.lookContent(c, &n)
}

// orderly reports whether a sentence gives an order.
func orderly(view string) bool {
	for _, l := range languagesOf(view) {
		if l.asked.MatchString(view) || l.standing.MatchString(view) {
			return true
		}
	}
	return false
}

// Update says what a session made of an unconfirmed memory.
type Update struct {
	ID string
	// Confirmed is true if it was confirmed, false if it was refuted.
	Confirmed bool
	Evidence  stillso.Evidence
}

// told acts on what the model says became of unconfirmed memories: refuted ones
// are retired, those that the user confirmed in words are no longer inferred.
func (d *disposer) told(w Window) {
	for _, u := range w.updates {
		m := pick(w.known, u.ID)
		if m == nil || m.Origin != stillso.FromInferred || m.State != stillso.Active {
			continue
		}
		m = d.latest(m)
		i, where := d.heard.find(u.Evidence)
		if m.State != stillso.Active || i < d.first || where != "" {
			continue
		}
		t := d.job.Turns[i]
		after := m.Clone()
		after.UpdatedAt = d.job.Now.UTC()
		e := stillso.Evidence{Session: t.Session, Turn: t.ID, Quote: u.Evidence.Quote}
		var ch stillso.Change
		switch {
		case !u.Confirmed && (t.Speaker == stillso.Typed || t.Speaker == stillso.Assistant && !d.heard.echoed(i, e.Quote)):
			after.State = stillso.Retired
			ch = d.change(stillso.VerbRetire, stillso.Applied, stillso.ScoreAdmit, "a later session refuted it")
		case u.Confirmed && t.Speaker == stillso.Typed && !acknowledges(e.Quote) && !d.heard.echo(i, e.Quote):
			after.Origin = stillso.FromProposal
			after.Evidence = append(after.Evidence, e)
			ch = d.change(stillso.VerbEdit, stillso.Applied, stillso.ScoreAdmit, "the user confirmed it")
		default:
			continue
		}
		ch.Evidence = []stillso.Evidence{e}
		ch.Edits = []stillso.Edit{{Before: m.Clone(), After: after}}
		d.edited[m.ID] = after
		d.changes = append(d.changes, ch)
	}
}
