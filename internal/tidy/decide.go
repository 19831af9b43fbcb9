package tidy

import (
	"fmt"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/guard"
)

// worthReview is the confidence below which a finding is not even put to a person.
const worthReview = 0.5

// decide acts on a model's verdict about two memories. What passes the guards is
// applied; everything else that would retire a memory goes to review, with both
// texts and the guard that stopped it.
func (p *pass) decide(v Verdict, a, b *profile) {
	if v.Confidence < worthReview {
		return
	}
	switch v.Relation {
	case stillso.Duplicate:
		p.decideDuplicate(v, a, b)
	case stillso.Conflicts, stillso.Covers:
		p.decideReplaced(v, a, b)
	}
}

func (p *pass) decideDuplicate(v Verdict, a, b *profile) {
	stays, goes := a, b
	if before(b, a) < 0 {
		stays, goes = b, a
	}
	if goes.m.Origin == stillso.FromFile {
		stays, goes = goes, stays
	}
	if stays.m.Origin == stillso.FromFile {
		return // the host has it, or doctor names it; nothing is to be joined with a file
	}
	stop := v.stops(guard.Case{New: stays.m, Old: goes.m, Relation: stillso.Duplicate, Confidence: v.Confidence})
	switch {
	case stop != "":
	case lessSet(goes.values, stays.values) > 0:
		stop = "the numbers or names in them differ"
	case negative(goes.norm) != negative(stays.norm):
		stop = "one denies what the other says"
	}
	p.act(v, stop, func(o stillso.Outcome, reason string) {
		p.merge(stays, goes, o, p.who(), v.Confidence, reason)
	})
}

func (p *pass) decideReplaced(v Verdict, a, b *profile) {
	n, o := a, b
	newer := !n.m.CreatedAt.Before(o.m.CreatedAt)
	if v.Relation == stillso.Conflicts && !newer {
		n, o = o, n // of two that conflict the later holds
		newer = true
	}
	if o.m.Origin == stillso.FromFile {
		n, o = o, n
	}
	stop := v.stops(guard.Case{New: n.m, Old: o.m, Relation: v.Relation, Confidence: v.Confidence})
	if stop == "" && !newer {
		stop = "the one that would stay is older"
	}
	if stop == "" && n.m.Origin == stillso.FromFile {
		stop = "one stands in " + place(n.m)
	}
	p.act(v, stop, func(out stillso.Outcome, reason string) {
		p.supersede(o, n, out, p.who(), v.Confidence, reason)
	})
}

// stops is what keeps a finding from being applied: a guard, or what the model
// itself said about topics and coverage.
func (v Verdict) stops(c guard.Case) string {
	if stop := guard.Check(c); stop != "" {
		return stop
	}
	if v.Partial {
		return "the newer one does not deal with all that the older one says"
	}
	topics := slices.DeleteFunc(slices.Clone(v.Shared), func(s string) bool { return guard.Technology(s) })
	if v.Named && len(topics) < 2 && v.Relation != stillso.Duplicate {
		return fmt.Sprintf("they share %d topics; two are needed", len(topics))
	}
	return ""
}

// act applies a finding, or puts it to a person if something stopped it.
func (p *pass) act(v Verdict, stop string, do func(stillso.Outcome, string)) {
	reason := string(v.Relation)
	if stop == "" && v.Relation != stillso.Duplicate {
		// The model's sentence may quote the memory that stays, which is not in the
		// change and could be purged without it.
		do(stillso.Applied, reason)
		return
	}
	if v.Reason != "" {
		reason += ": " + v.Reason
	}
	if stop == "" {
		do(stillso.Applied, reason)
		return
	}
	do(stillso.Proposed, reason+"; not applied, for "+stop)
}

// compress proposes one statement in the place of many small ones. It is never
// applied without a person, who sees the full text.
func (p *pass) compress(m Merge, shown map[string]*profile) {
	ids := slices.Compact(slices.Sorted(slices.Values(m.IDs)))
	if len(ids) < mergeLeast || len(ids) > mergeMost || len(m.Content) > stillso.MaxContent {
		return
	}
	var list []*profile
	for _, id := range ids {
		x := shown[id]
		if x == nil || !x.alive() || x.m.Origin == stillso.FromFile {
			return
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b *profile) int { return a.m.CreatedAt.Compare(b.m.CreatedAt) })
	one := list[len(list)-1].m.Clone()
	one.ID, one.Content, one.State, one.SupersededBy = p.job.NewID(), line(m.Content), stillso.Active, ""
	one.CreatedAt, one.UpdatedAt = p.job.Now.UTC(), p.job.Now.UTC()
	one.Aliases, one.Evidence, one.Claims, one.RelatedFiles, one.Body, one.Extra, one.File = nil, nil, nil, nil, "", nil, nil
	have := values(normal(one.Content))
	var lost []string
	edits := []stillso.Edit{{After: one}}
	for _, x := range list {
		if x.m.Type != one.Type || x.m.Namespace != one.Namespace {
			return
		}
		for w := range x.values {
			if !have[w] {
				lost = append(lost, w)
			}
		}
		one.Aliases = union(one.Aliases, x.m.Aliases, stillso.MaxAliases)
		one.RelatedFiles = union(one.RelatedFiles, x.m.RelatedFiles, 64)
		one.Evidence = append(one.Evidence, x.m.Evidence...)
		one.Priority = max(one.Priority, x.m.Priority)
		if rank(x.m.Origin) < rank(one.Origin) {
			one.Origin = x.m.Origin
		}
		after := x.m.Clone()
		after.State, after.SupersededBy, after.UpdatedAt = stillso.Superseded, one.ID, p.stamp(after)
		edits = append(edits, stillso.Edit{Before: x.m.Clone(), After: after})
	}
	reason := fmt.Sprintf("%d small memories made one", len(list))
	if len(lost) > 0 {
		slices.Sort(lost)
		reason += "; it leaves out " + strings.Join(slices.Compact(lost), ", ")
	}
	p.change(stillso.Change{Verb: stillso.VerbMerge, Outcome: stillso.Proposed, Actor: p.who(), Confidence: probable, Reason: reason, Edits: edits})
}
