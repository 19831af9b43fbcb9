// Package tidy finds what has gone stale among memories: duplicates, statements
// that a later one replaces, contradictions, what has decayed. It reads memories
// and returns changes; it writes nothing. What is certain is applied, and can be
// undone; what a guard stops, or what only a person can know, is proposed.
package tidy

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/llm"
)

// Job is one run of the pass.
type Job struct {
	// Memories are those of all namespaces, in any state; only active ones are
	// looked at. They are not changed.
	Memories []*stillso.Memory
	// Past are the changes of earlier runs that did not last: proposed, refused or
	// undone. Nothing of it is found again while its memories stay as they were.
	Past []stillso.Change
	// Used says when a memory was last injected; what is used does not decay.
	Used map[string]time.Time
	// FailingSince says since when a claim of the memory fails; nil, or the zero
	// time, is unknown.
	FailingSince func(*stillso.Memory) time.Time
	// Gone reports whether nothing is left of the place of a namespace.
	Gone func(stillso.Namespace) bool
	// Judged holds the pairs that a model has judged before, by Pair.
	Judged map[string]bool
	// Model judges pairs; nil leaves it to the rules.
	Model llm.Model
	// Calls bounds the requests of one run; 0 is no limit of our own.
	Calls int
	Batch string
	Now   time.Time
	NewID func() string
}

// Result is what a run found.
type Result struct {
	// Changes are in an order in which they can be applied; each rests on those
	// before it.
	Changes []stillso.Change
	// Pairs counts the pairs that were looked at, Asked those put to the model.
	Pairs, Asked int
	// Judged are the pairs that the model has judged in this run.
	Judged []string
	// Orphans counts the active memories of namespaces whose place is gone.
	Orphans map[stillso.Namespace]int
	// Stopped says why the model was not asked about the rest.
	Stopped error
}

// Rule is the actor of everything that the pass finds without a model.
var rule = stillso.Actor{Kind: stillso.Rule, Name: "tidy"} // never written

// maxProposals bounds what waits for a person at a time, so that an import of a
// thousand old notes does not bury the review.
const maxProposals = 40

// pass is one run at work.
type pass struct {
	job      *Job
	res      *Result
	live     []*profile // active memories, oldest first
	byID     map[string]*profile
	past     map[string]bool
	proposed int
	// held are what the rules would put to a person; where a model judges a pair
	// its verdict comes first.
	held []held
}

// held is one proposal that waits for what the model says.
type held struct {
	pair pair
	do   func()
}

// propose puts a finding of the rules about a pair to a person, unless a model is
// about to judge it.
func (p *pass) propose(x pair, do func()) {
	if p.job.Model == nil {
		do()
		return
	}
	p.held = append(p.held, held{x, do})
}

// release makes the held proposals about pairs that the model did not judge.
func (p *pass) release() {
	judged := map[string]bool{}
	for _, k := range p.res.Judged {
		judged[k] = true
	}
	for _, h := range p.held {
		k := Pair(h.pair.a.m, h.pair.b.m)
		if h.pair.a.alive() && h.pair.b.alive() && !judged[k] && !p.job.Judged[k] {
			h.do()
		}
	}
}

// Run looks through the memories of the job.
func Run(ctx context.Context, job *Job) (*Result, error) {
	p := &pass{job: job, res: &Result{Orphans: map[stillso.Namespace]int{}}, byID: map[string]*profile{}, past: map[string]bool{}}
	for _, c := range job.Past {
		p.past[key(c)] = true
		if c.Outcome == stillso.Proposed && c.Actor.Kind != stillso.Human {
			p.proposed++
		}
	}
	for _, m := range job.Memories {
		if m.State == stillso.Active {
			x := newProfile(m)
			p.live = append(p.live, x)
			p.byID[m.ID] = x
		}
	}
	slices.SortFunc(p.live, func(a, b *profile) int {
		return cmp.Or(a.m.CreatedAt.Compare(b.m.CreatedAt), cmp.Compare(a.m.ID, b.m.ID))
	})
	p.orphans()
	p.duplicates()
	pairs := p.pairs()
	p.res.Pairs = len(pairs)
	for _, x := range pairs {
		if err := ctx.Err(); err != nil {
			return p.res, err
		}
		p.replace(x)
	}
	p.age()
	if job.Model != nil {
		if err := p.ask(ctx, pairs); err != nil {
			return p.res, err
		}
		p.release()
	}
	return p.res, nil
}

// alive reports whether a memory is still active after what this run has done.
func (x *profile) alive() bool { return x.m.State == stillso.Active }

// change appends a change, unless it was found before and did not last. It
// returns false if nothing came of it.
func (p *pass) change(c stillso.Change) bool {
	if c.Outcome == stillso.Proposed && p.proposed >= maxProposals {
		return false
	}
	if p.past[key(c)] {
		return false
	}
	c.ID, c.At, c.Batch = p.job.NewID(), p.job.Now.UTC(), p.job.Batch
	if c.Actor.Kind == "" {
		c.Actor = rule
	}
	p.past[key(c)] = true
	p.res.Changes = append(p.res.Changes, c)
	if c.Outcome == stillso.Proposed {
		p.proposed++
		return true
	}
	for _, e := range c.Edits {
		if x := p.byID[e.MemoryID()]; x != nil && e.After != nil {
			x.put(e.After.Clone())
		}
	}
	return true
}

// key names a finding: which memories change, what they said, and which took
// their place.
func key(c stillso.Change) string {
	var parts []string
	for _, e := range c.Edits {
		if e.Before == nil || e.After == nil || e.Before.Equal(e.After) || c.Verb == stillso.VerbSupersede && e.After.SupersededBy == "" {
			continue
		}
		parts = append(parts, e.Before.ID+"\x00"+e.Before.Content+"\x00"+e.After.SupersededBy)
	}
	slices.Sort(parts)
	return strings.Join(parts, "\x01")
}

// retire is a change that takes x out of recall.
func (p *pass) retire(x *profile, o stillso.Outcome, confidence float64, reason string) bool {
	after := x.m.Clone()
	after.State, after.UpdatedAt = stillso.Retired, p.stamp(after)
	return p.change(stillso.Change{Verb: stillso.VerbRetire, Outcome: o, Confidence: confidence, Reason: reason, Edits: []stillso.Edit{{Before: x.m.Clone(), After: after}}})
}

// supersede is a change by which by takes the place of old. The memory that
// stays is in it too, unchanged: a person sees both, and a change of either makes
// the proposal out of date.
func (p *pass) supersede(old, by *profile, o stillso.Outcome, who stillso.Actor, confidence float64, reason string) bool {
	after := old.m.Clone()
	after.State, after.SupersededBy, after.UpdatedAt = stillso.Superseded, by.m.ID, p.stamp(after)
	edits := []stillso.Edit{{Before: old.m.Clone(), After: after}}
	if stays := by.m.Clone(); o == stillso.Proposed {
		edits = append(edits, stillso.Edit{Before: by.m.Clone(), After: stays})
	} else if by.m.Origin != stillso.FromFile && lessSlice(old.m.Aliases, stays.Aliases) {
		// What found the older one finds the newer one from now on.
		inherits(stays, old.m.ID, old.m.Aliases...)
		edits = append(edits, stillso.Edit{Before: by.m.Clone(), After: stays})
	}
	return p.change(stillso.Change{Verb: stillso.VerbSupersede, Outcome: o, Actor: who, Confidence: confidence, Reason: reason, Edits: edits})
}

// stamp is the time of an edit: never before the memory's own.
func (p *pass) stamp(m *stillso.Memory) time.Time {
	if p.job.Now.Before(m.UpdatedAt) {
		return m.UpdatedAt
	}
	return p.job.Now.UTC()
}

// orphans counts memories whose place is gone. They are reported and left alone:
// a disk may come back.
func (p *pass) orphans() {
	if p.job.Gone == nil {
		return
	}
	gone := map[stillso.Namespace]bool{}
	for _, x := range p.live {
		ns := x.m.Namespace
		is, known := gone[ns]
		if !known {
			is = ns != stillso.UserNamespace && p.job.Gone(ns)
			gone[ns] = is
		}
		if is {
			p.res.Orphans[ns]++
		}
	}
}
