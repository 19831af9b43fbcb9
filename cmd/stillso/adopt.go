package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"stillso"
	"stillso/internal/namespace"
)

// adoptCmd makes a directory belong to a namespace.
type adoptCmd struct {
	Namespace string `arg:"" help:"The namespace, such as project/<id>; stillso doctor lists those without a directory."`
	Directory string `arg:"" optional:"" help:"The directory; else this one." type:"path"`
	Undo      bool   `help:"Take it back: the directory is resolved by itself again."`
}

// Help shows examples.
func (adoptCmd) Help() string {
	return `For a plain directory that was moved, or two repositories that are one project.
Repositories find their namespace again by themselves.

Examples:
  stillso adopt project/shop-1f2e3d4c ~/code/shop`
}

// adopted is what adopt did.
type adopted struct {
	Directory string            `json:"directory"`
	Before    stillso.Namespace `json:"before"`
	Now       stillso.Namespace `json:"now"`
	Memories  int               `json:"memories"`
}

func (c *adoptCmd) run(ctx context.Context, a *app) (summary, error) {
	dir := a.directory(c.Directory)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, usagef("cannot adopt %s: it is no directory; name one that exists", dir)
	}
	ns := stillso.Namespace(c.Namespace)
	if !ns.Valid() {
		return nil, usagef("unknown namespace %q: use user or a full one such as project/<id>; stillso doctor lists those without a directory", c.Namespace)
	}
	before, err := a.place(dir)
	if err != nil {
		return nil, err
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	ms, err := st.Memories(ctx, stillso.Filter{Namespaces: []stillso.Namespace{ns}})
	if err != nil {
		return nil, err
	}
	if len(ms) == 0 && !c.Undo && !a.known(ns) {
		return nil, usagef("cannot adopt %s: no memory and no directory has it, so it may be a typing error; `stillso doctor` lists those without a directory", ns)
	}
	target := ns
	err = namespace.Update(a.dir.Places(), func(r *namespace.Registry) error {
		if !c.Undo {
			return r.SetOverride(dir, target)
		}
		if !slices.ContainsFunc(r.Overrides(), func(o namespace.Override) bool { return o.Namespace == ns }) {
			return usagef("cannot take it back: no directory was given to %s", ns)
		}
		return r.SetOverride(dir, "")
	})
	if err != nil {
		return nil, fmt.Errorf("cannot change the places: %w", err)
	}
	a.places = nil
	after, err := a.place(dir)
	return &adopted{Directory: dir, Before: before.Namespace, Now: after.Namespace, Memories: len(ms)}, err
}

// known reports whether a directory was ever seen under the namespace.
func (a *app) known(ns stillso.Namespace) bool {
	reg, err := namespace.ReadRegistry(a.dir.Places())
	return err != nil || ns == stillso.UserNamespace || slices.ContainsFunc(reg.Places(), func(p stillso.Place) bool { return p.Namespace == ns })
}

func (r *adopted) text(p *page) {
	p.printf("%s belongs to %s now (before: %s), with %s\n", r.Directory, p.bold(string(r.Now)), r.Before, plural(r.Memories, "memory", "memories"))
}
