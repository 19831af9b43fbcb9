package main

import (
	"context"
	"fmt"
	"slices"

	"stillso"
	"stillso/internal/tidy"
)

// about returns the active memories of the project and of the person that words
// name, the oldest first; none is an error.
func (a *app) about(ctx context.Context, words, dir string, spelled bool) ([]tidy.Target, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	ns, err := a.readNamespaces("project", dir)
	if err != nil {
		return nil, err
	}
	list, err := st.Memories(ctx, stillso.Filter{Namespaces: ns, States: []stillso.State{stillso.Active}})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list, func(a, b *stillso.Memory) int { return a.CreatedAt.Compare(b.CreatedAt) })
	targets := tidy.About(words, list)
	if spelled {
		more := tidy.Spelled(words, list)
		more = append(more, tidy.Renamed(append(slices.Clone(targets), more...), list)...)
		for _, t := range more {
			if !slices.ContainsFunc(targets, func(x tidy.Target) bool { return x.Memory == t.Memory }) {
				targets = append(targets, t)
			}
		}
	}
	if len(targets) == 0 {
		return nil, &marked{class: stillso.ErrNotFound, text: fmt.Sprintf("nothing was done: no memory has every name and most of the words of %q; stillso search finds more", words)}
	}
	return targets, nil
}

// retireAbout retires what words name. Where a memory says more than was named, it
// keeps the rest.
func (a *app) retireAbout(ctx context.Context, c *retireCmd) (summary, error) {
	targets, err := a.about(ctx, c.About, c.Dir, false)
	if err != nil {
		return nil, err
	}
	sum := &edited{Verb: stillso.VerbRetire}
	batch := stillso.NewID()
	var changes []stillso.Change
	for _, t := range targets {
		verb, after := stillso.VerbRetire, t.Memory.Clone()
		if t.Rest != "" {
			verb, after.Content = stillso.VerbEdit, t.Rest
		} else {
			after.State = stillso.Retired
		}
		after.UpdatedAt = a.now()
		ch := a.humanChange(verb, "retire", stillso.Edit{Before: t.Memory, After: after})
		ch.Reason, ch.Batch = c.Reason, batch
		changes = append(changes, ch)
		sum.Memory = append(sum.Memory, after)
	}
	done, err := a.apply(ctx, changes...)
	for _, d := range done {
		sum.Changes = append(sum.Changes, d.ID)
	}
	return sum, err
}

// purgeTarget erases a memory that words name. Where only a part was named the rest
// is saved anew: the old text stands in the history of the old one.
func (a *app) purgeTarget(ctx context.Context, t tidy.Target) (also []string, err error) {
	if also, err = a.purge(ctx, t.Memory.ID); err != nil || t.Rest == "" {
		return also, err
	}
	rest := t.Memory.Clone()
	rest.ID, rest.Content, rest.Name, rest.Body, rest.Why = stillso.NewID(), t.Rest, "", "", ""
	rest.Evidence, rest.Aliases, rest.Claims, rest.Extra, rest.File = nil, nil, nil, nil, nil
	rest.UpdatedAt = a.now()
	_, err = a.apply(ctx, a.humanChange(stillso.VerbAdd, "purge", stillso.Edit{After: rest}))
	return also, err
}
