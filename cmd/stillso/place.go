package main

import (
	"context"
	"fmt"

	"stillso"
	"stillso/internal/namespace"
)

// place returns the place that a directory lies in: the resolver and the
// registry that the hook uses.
func (a *app) place(dir string) (stillso.Place, error) {
	if pl, ok := a.places[dir]; ok {
		return pl, nil
	}
	if err := a.usable(); err != nil {
		return stillso.Place{}, err
	}
	reg, err := namespace.ReadRegistry(a.dir.Places())
	if err != nil {
		return stillso.Place{}, fmt.Errorf("cannot read the places: %w; stillso repair makes the file anew", err)
	}
	pl, err := namespace.Resolve(dir, reg)
	if err != nil {
		return pl, usagef("cannot tell whose project %s is: %w; name a directory with --dir", dir, err)
	}
	if a.places == nil {
		a.places = map[string]stillso.Place{}
	}
	a.places[dir] = pl
	return pl, nil
}

// register remembers where the namespaces of the changes live: the places that
// this command resolved, so that a repository keeps its memories when it moves.
func (a *app) register(ctx context.Context, st store, changes []stillso.Change) error {
	touched := map[stillso.Namespace]bool{}
	for _, c := range changes {
		for _, e := range c.Edits {
			if e.After != nil {
				touched[e.After.Namespace] = true
			}
		}
	}
	for _, pl := range a.places {
		if touched[pl.Namespace] {
			if err := a.seen(ctx, st, pl); err != nil {
				return err
			}
		}
	}
	return nil
}

// seen writes a place into the registry that the hook reads, and into the store.
func (a *app) seen(ctx context.Context, st store, pl stillso.Place) error {
	if pl.Namespace == stillso.UserNamespace {
		return nil
	}
	pl.SeenAt = a.now()
	added := false
	err := namespace.Update(a.dir.Places(), func(r *namespace.Registry) error {
		added = r.Add(pl)
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot remember where %s lives: %w", pl.Namespace, err)
	}
	if !added {
		return nil
	}
	return st.Seen(ctx, pl)
}
