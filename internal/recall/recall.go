package recall

import (
	"cmp"
	"math"
	"slices"
	"time"

	"stillso"
	"stillso/internal/snapshot"
)

// Query is what a host's prompt event says.
type Query struct {
	Prompt string
	// PreviousTurn is the user's turn before; it can sharpen what the prompt
	// touches, never bring a topic of its own.
	PreviousTurn string
	// Files are those open or named; they sharpen likewise.
	Files []string
	// Namespaces are searched; no other namespace can be in the answer.
	Namespaces []stillso.Namespace
	// Host leaves out what this host loads itself.
	Host string
	Now  time.Time
	// Skip reports whether a memory was already injected in this session.
	Skip func(id string) bool
	// Limit is the largest number of hits; 0 is MaxHits.
	Limit int
	// Hints asks for hints where there is no hit.
	Hints bool
}

// MaxHits is how many memories are injected at most.
const MaxHits = 2

// Hit is a memory that was found.
type Hit struct {
	Doc snapshot.Doc
	// Strength is what the gate compares with Threshold.
	Strength, Threshold float64
	// Evidence is the likelihood ratio in nats, Coverage the share of the
	// prompt's information that the memory covers, Factor what priority, age,
	// origin and state make of it.
	Evidence, Coverage, Factor float64
	// Matched are the terms of the prompt that the memory has.
	Matched []string
	// Why says in words why it is not shown; empty if it is.
	Why string
}

// Outcome is what a recall found, and why it was silent if it found nothing.
type Outcome struct {
	Hits  []Hit
	Hints []Hit
	// Weighed are all candidates that were looked at, hits included, best first.
	Weighed []Hit
	// Asked are the terms of the prompt, the most telling first.
	Asked []Asked
	// Receipt has the part of a receipt that recall knows; who, where and how long
	// is filled in by the caller.
	Receipt stillso.Receipt
}

// candidates is how many of the best are weighed: factors and the previous turn
// can only move a memory by a few places.
const candidates = 16

// Recall returns the memories that a prompt needs, or none, with the reason.
func Recall(snap *snapshot.Snapshot, q Query) Outcome {
	m := ModelOf(snap)
	view := snap.In(q.Namespaces...)
	f := &m.Formula
	var o Outcome
	o.Receipt.V, o.Receipt.At = 1, q.Now
	cleaned := Clean(q.Prompt)
	o.Asked = f.Ask(cleaned, m.Language, m.Stats)
	if len(o.Asked) == 0 {
		o.Receipt.Silence = "the prompt has no word with a topic"
		return o
	}
	found := view.Search(query(o.Asked), candidates, func(r snapshot.Ref) bool { return accept(snap, r, q.Host) })
	n := view.Len()
	for _, c := range found {
		o.Weighed = append(o.Weighed, weigh(snap, f, m, o.Asked, c, n, q.Now))
	}
	slices.SortStableFunc(o.Weighed, func(a, b Hit) int { return cmp.Compare(b.Evidence*b.Factor, a.Evidence*a.Factor) })
	o.decide(f, q)
	o.receipt(snap)
	return o
}

// accept leaves out what must not be shown at all.
func accept(snap *snapshot.Snapshot, r snapshot.Ref, host string) bool {
	h := snap.Head(r)
	if h.State != stillso.Active && h.State != stillso.Superseded {
		return false
	}
	return h.Flags&snapshot.Loaded == 0 || !slices.Contains(snap.Doc(r).LoadedBy, host)
}

func weigh(snap *snapshot.Snapshot, f *Formula, m *Model, asked []Asked, c snapshot.Candidate, n int, now time.Time) Hit {
	head := snap.Head(c.Ref)
	h := Hit{Doc: snap.Doc(c.Ref), Evidence: c.L, Factor: factor(head, now)}
	h.Strength, h.Coverage = f.Strength(asked, c, generality(head.Numbers))
	h.Strength *= h.Factor
	h.Threshold = f.Threshold(n, head.Flags&snapshot.HasAliases != 0)
	for i, a := range asked {
		if c.Matched&(1<<i) != 0 {
			h.Matched = append(h.Matched, a.Term)
		}
	}
	return h
}

// decide lets through what is strong enough.
func (o *Outcome) decide(f *Formula, q Query) {
	limit := q.Limit
	if limit == 0 {
		limit = MaxHits
	}
	shown := 0
	for i := range o.Weighed {
		h := &o.Weighed[i]
		switch {
		case h.Strength < h.Threshold:
			h.Why = "too weak"
		case i > 0 && h.Strength < f.Second*o.Weighed[0].Strength:
			h.Why = "much weaker than the first"
		case shown == limit:
			h.Why = "more than the limit"
		case q.Skip != nil && q.Skip(h.Doc.ID):
			h.Why = "already shown in this session"
			shown++
		default:
			o.Hits = append(o.Hits, *h)
			shown++
		}
	}
}

func (o *Outcome) receipt(snap *snapshot.Snapshot) {
	r := &o.Receipt
	for _, a := range o.Asked {
		if snap.Frequency(a.Term) > 0 {
			r.Terms = append(r.Terms, a.Term)
		}
	}
	for _, h := range o.Weighed[:min(len(o.Weighed), 5)] {
		r.Hits = append(r.Hits, stillso.ReceiptHit{
			ID: h.Doc.ID, Score: round(h.Evidence * h.Factor), Strength: round(h.Strength), Shown: h.Why == "", Why: h.Why,
		})
	}
	if len(o.Weighed) > 0 {
		r.Threshold = round(o.Weighed[0].Threshold)
	}
	switch {
	case len(o.Hits) > 0:
	case len(o.Weighed) == 0:
		r.Silence = "no memory shares a word with the prompt"
	default:
		r.Silence = "the best memory is " + o.Weighed[0].Why
	}
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// The factors are gentle: they order what is about equally relevant, and cannot
// lift an irrelevant memory over a relevant one.
func factor(h snapshot.Head, now time.Time) float64 {
	f := 1 + .03*(float64(h.Priority)-3)
	if h.Priority == 0 {
		f = 1
	}
	if h.Origin == stillso.FromInferred {
		f *= .9
	}
	if h.State == stillso.Superseded {
		f *= .5
	}
	if half := halfLife(h.Type, h.Origin); half > 0 && !now.IsZero() {
		if age := now.Sub(time.Unix(h.Updated, 0)).Hours() / 24; age > 0 {
			f *= 1 - maxDecay*(1-math.Exp2(-age/half))
		}
	}
	return f
}

// maxDecay is what the oldest memory loses.
const maxDecay = .15

// halfLife is after how many days a memory has lost half of what age can take; 0
// is never. What the user stated as a rule does not age.
func halfLife(t stillso.Type, o stillso.Origin) float64 {
	if o == stillso.FromInferred {
		return 30
	}
	switch t {
	case stillso.Preference, stillso.Constraint, stillso.Decision:
		return 0
	case stillso.Todo:
		return 30
	case stillso.Event:
		return 90
	case stillso.Procedure, stillso.Reference:
		return 300
	}
	return 150
}

// FileQuery asks for what is known about one file.
type FileQuery struct {
	// Path is absolute or relative to the work tree.
	Path       string
	Namespaces []stillso.Namespace
	Host       string
	Now        time.Time
	Skip       func(id string) bool
	Limit      int
}

// ForFile returns the memories related to a file that is about to be read or
// changed: those that name it among their related files or in their text.
func ForFile(snap *snapshot.Snapshot, q FileQuery) Outcome {
	var o Outcome
	o.Receipt.V, o.Receipt.At = 1, q.Now
	o.Receipt.Silence = "no memory names this file"
	return o
}

// Start returns what a session begins with: the residents, then the most
// important recent memories of the namespaces.
func Start(snap *snapshot.Snapshot, q Query) []Hit {
	return nil
}
