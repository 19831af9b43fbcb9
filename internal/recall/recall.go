package recall

import (
	"cmp"
	"math"
	"math/bits"
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
	// Explain fills in all that was weighed, not only what a receipt holds.
	Explain bool
}

// MaxHits is how many memories are injected at most: the first two do the work,
// more come only where they are nearly as strong as the first.
const MaxHits = 5

// Hit is a memory that was found.
type Hit struct {
	Doc snapshot.Doc
	// Strength is what the gate compares with Threshold.
	Strength, Threshold float64
	// Evidence is the likelihood ratio in nats, Coverage the share of the
	// prompt's information that the memory covers, Factor what priority, age,
	// origin, state and generality make of its place among the others.
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
	r := &run{snap: snap, model: m, view: snap.In(q.Namespaces...), q: q}
	o := &r.out
	o.Receipt.V, o.Receipt.At = 1, q.Now
	cleaned := Clean(q.Prompt)
	o.Asked = m.Formula.Ask(cleaned, m.Language, m.Stats)
	terms := query(o.Asked)
	signal := triggerTerm(cleaned)
	if len(terms) == 0 && signal == "" {
		o.Receipt.Silence = "the prompt has no word with a topic"
		return *o
	}
	accept := func(ref snapshot.Ref) bool { return accept(snap, ref, q.Host) }
	found := r.view.Search(terms, candidates, accept)
	r.weigh(found, terms)
	if signal != "" {
		r.triggered(r.view.Search([]snapshot.QueryTerm{{Term: signal, Weight: 1}}, MaxHits, accept))
	}
	r.decide()
	r.receipt()
	return *o
}

// run is one recall.
type run struct {
	snap  *snapshot.Snapshot
	model *Model
	view  snapshot.View
	q     Query
	out   Outcome
}

// accept leaves out what must not be shown at all.
func accept(snap *snapshot.Snapshot, r snapshot.Ref, host string) bool {
	h := snap.Head(r)
	if h.State != stillso.Active && h.State != stillso.Superseded {
		return false
	}
	return h.Flags&snapshot.Loaded == 0 || !slices.Contains(snap.Doc(r).LoadedBy, host)
}

// weigh makes hits of candidates, best first.
func (r *run) weigh(found []snapshot.Candidate, asked []snapshot.QueryTerm) {
	if len(found) == 0 {
		return
	}
	f := &r.model.Formula
	n, scale := r.view.Len(), scaleOf(r.model.limits, r.q.Namespaces)
	if pasted(r.q.Prompt) {
		scale *= f.Pasted
	}
	before := r.before()
	files := fileTerms(r.q.Files)
	w := make([]ranked, 0, len(found))
	for _, c := range found {
		head := r.snap.Head(c.Ref)
		threshold := scale * f.Threshold(n, wordingOf(head.Flags&snapshot.HasAliases != 0, head.Flags&snapshot.HasBody != 0))
		r.sharpen(&c, before, files, f.Touched*threshold, generality(head.Numbers))
		x := ranked{Candidate: c, head: head, threshold: threshold, factor: factor(head, r.q.Now) * math.Exp(-f.Place*(generality(head.Numbers)-1))}
		w = append(w, x)
	}
	slices.SortStableFunc(w, func(a, b ranked) int { return cmp.Compare(b.place(), a.place()) })
	if !r.q.Explain {
		w = w[:min(len(w), receiptHits)]
	}
	r.out.Weighed = make([]Hit, 0, len(w))
	for _, x := range w {
		h := Hit{Doc: r.snap.Doc(x.Ref), Evidence: x.L, Factor: x.factor, Matched: make([]string, 0, bits.OnesCount32(x.Matched))}
		h.Strength, h.Coverage = f.Strength(r.out.Asked, x.Candidate, generality(x.head.Numbers))
		if x.head.State == stillso.Superseded {
			h.Strength *= supersededFactor
		}
		h.Threshold = x.threshold
		for i, a := range r.out.Asked {
			if x.Matched&(1<<i) != 0 {
				h.Matched = append(h.Matched, a.Term)
			}
		}
		r.out.Weighed = append(r.out.Weighed, h)
	}
}

// sharpen adds to the evidence of a candidate what the turn before and the files at
// hand say for it, if the prompt touches it by itself with a strength of at least
// touched: context never brings a topic of its own.
func (r *run) sharpen(c *snapshot.Candidate, before, files []snapshot.QueryTerm, touched, general float64) {
	if len(before)+len(files) == 0 {
		return
	}
	f := &r.model.Formula
	if s, _ := f.Strength(r.out.Asked, *c, general); s < touched {
		return
	}
	if len(before) > 0 {
		c.L += f.Before * r.snap.Score(c.Ref, before).L
	}
	if len(files) > 0 && r.snap.Score(c.Ref, files).L > 0 {
		c.L *= f.File
	}
}

// place is what candidates are ordered by: their evidence against a part of what a
// memory of their wording needs, since a long text collects more than a statement
// does. The whole of it would put a newer value with a text behind an older one.
func (r *ranked) place() float64 { return r.L * r.factor / math.Pow(r.threshold, placeShare) }

// placeShare is that part: at .33 a hub of many words passes a specific statement
// (case 03), at .4 an older value passes the newer one that tidying gave its words
// (TestNewest); the six stores do not tell values between .3 and .4 apart.
const placeShare = .36

// ranked is a candidate with its place in the order.
type ranked struct {
	snapshot.Candidate
	head      snapshot.Head
	threshold float64
	factor    float64
}

// receiptHits is how many of the best a receipt names.
const receiptHits = 6

// score is the evidence of a hit with its factors.
func (h *Hit) score() float64 { return h.Evidence * h.Factor }

// before returns the terms of the previous turn.
func (r *run) before() []snapshot.QueryTerm {
	if r.q.PreviousTurn == "" {
		return nil
	}
	m := r.model
	return query(m.Formula.Ask(Clean(r.q.PreviousTurn), m.Language, m.Stats))
}
