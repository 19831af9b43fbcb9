package tidy

import (
	"cmp"
	"fmt"
	"slices"

	"stillso"
)

// rank orders origins by how far they are trusted, as the guards do.
func rank(o stillso.Origin) int {
	switch o {
	case stillso.FromUser, stillso.FromProposal:
		return 3
	case stillso.FromFile, stillso.FromImport:
		return 2
	}
	return 1
}

// duplicates joins memories of one namespace that say the same in the same words.
// What stands in a file is left to its author; see Twice.
func (p *pass) duplicates() {
	groups := map[string][]*profile{}
	var order []string
	for _, x := range p.live {
		if x.m.Origin == stillso.FromFile {
			continue
		}
		k := string(x.m.Namespace) + "\x00" + x.norm
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], x)
	}
	for _, k := range order {
		g := groups[k]
		if len(g) < 2 {
			continue
		}
		slices.SortStableFunc(g, before)
		for _, x := range g[1:] {
			how, outcome, sure := "the same, word for word", stillso.Applied, 1.0
			switch {
			case x.m.Type != g[0].m.Type:
				how = fmt.Sprintf("the same words, but one is a %s and one a %s", g[0].m.Type, x.m.Type)
				outcome, sure = stillso.Proposed, 0.7
			case x.m.Content != g[0].m.Content:
				how, sure = "the same but for case, spaces or marks", 0.98
			}
			p.merge(g[0], x, outcome, rule, sure, how)
		}
	}
}

// before orders duplicates: the one that stays comes first, which is the most
// trusted, and of these the oldest.
func before(a, b *profile) int {
	return cmp.Or(cmp.Compare(rank(b.m.Origin), rank(a.m.Origin)), a.m.CreatedAt.Compare(b.m.CreatedAt), cmp.Compare(a.m.ID, b.m.ID))
}

// merge joins a duplicate into the memory that stays.
func (p *pass) merge(stays, goes *profile, o stillso.Outcome, who stillso.Actor, confidence float64, reason string) bool {
	s, g := stays.m.Clone(), goes.m.Clone()
	s.Aliases = union(s.Aliases, g.Aliases, stillso.MaxAliases)
	s.Tags = union(s.Tags, g.Tags, 64)
	s.RelatedFiles = union(s.RelatedFiles, g.RelatedFiles, 64)
	for _, e := range g.Evidence {
		if !slices.Contains(s.Evidence, e) {
			s.Evidence = append(s.Evidence, e)
		}
	}
	for _, c := range g.Claims {
		if !slices.ContainsFunc(s.Claims, func(x stillso.Claim) bool { return x.Probe == c.Probe && slices.Equal(x.Args, c.Args) }) {
			s.Claims = append(s.Claims, c)
		}
	}
	s.Priority = max(s.Priority, g.Priority)
	s.Resident = s.Resident || g.Resident
	if s.Why == "" {
		s.Why = g.Why
	}
	if s.Body == "" {
		s.Body = g.Body
	}
	s.UpdatedAt = p.stamp(s)
	g.State, g.SupersededBy, g.Resident, g.UpdatedAt = stillso.Superseded, s.ID, false, p.stamp(g)
	return p.change(stillso.Change{Verb: stillso.VerbMerge, Outcome: o, Actor: who, Confidence: confidence, Reason: reason, Edits: []stillso.Edit{
		{Before: stays.m.Clone(), After: s}, {Before: goes.m.Clone(), After: g},
	}})
}

// union appends what of b is not in a, up to most.
func union(a, b []string, most int) []string {
	for _, s := range b {
		if len(a) < most && !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// lessSlice reports whether a has something that b has not.
func lessSlice(a, b []string) bool {
	return slices.ContainsFunc(a, func(s string) bool { return !slices.Contains(b, s) })
}

// Twice returns groups of active memories that say the same and of which at least
// one stands in a file: a rule that two places keep will one day be two rules.
// Members of one namespace, or of the user's and a project's, make a group.
func Twice(memories []*stillso.Memory) [][]*stillso.Memory {
	groups := map[string][]*stillso.Memory{}
	var order []string
	for _, m := range memories {
		if m.State != stillso.Active {
			continue
		}
		k := normal(m.Content)
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], m)
	}
	var out [][]*stillso.Memory
	for _, k := range order {
		byProject := map[stillso.Namespace][]*stillso.Memory{}
		for _, m := range groups[k] {
			byProject[m.Namespace] = append(byProject[m.Namespace], m)
		}
		everywhere := byProject[stillso.UserNamespace]
		delete(byProject, stillso.UserNamespace)
		if len(byProject) == 0 {
			byProject[stillso.UserNamespace] = nil
		}
		for _, m := range groups[k] { // in the order of the memories
			list, ok := byProject[m.Namespace]
			if !ok {
				continue
			}
			delete(byProject, m.Namespace)
			list = append(slices.Clone(list), everywhere...)
			if len(list) > 1 && slices.ContainsFunc(list, func(m *stillso.Memory) bool { return m.Origin == stillso.FromFile }) {
				out = append(out, list)
			}
		}
	}
	return out
}
