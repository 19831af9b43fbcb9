package main

import (
	"context"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/namespace"
	"stillso/internal/verify"
)

// triedClaims is what the memories and instruction files of a project claim, and
// which of it is not so any more.
type triedClaims struct {
	Claims  int           `json:"claims"`
	Holds   int           `json:"holds"`
	Unknown int           `json:"unknown"`
	Fails   []claimResult `json:"fails"`
}

// verify checks, by probes that only read this machine, what the instruction files of
// a directory and the memories about it claim.
func (t *trial) verify(ctx context.Context, dir string) error {
	pl, err := namespace.Resolve(dir, namespace.Registry{})
	if err != nil || pl.Namespace == stillso.UserNamespace || pl.Root == "" {
		return nil // no project, nothing to look at
	}
	ns := projectOf(dir)
	list, err := t.app.opened.Memories(ctx, stillso.Filter{Namespaces: []stillso.Namespace{ns}, States: []stillso.State{stillso.Active}})
	if err != nil {
		return err
	}
	if t.sum.Sample { // its own files are not those of the sample
		for _, path := range files.FindInstructions(dir) {
			if r, err := files.ReadInstructions(path, files.Options{Namespace: ns, Root: dir, Now: t.app.now()}); err == nil {
				list = append(list, r.Memories...)
			}
		}
	}
	state := &verify.State{Memories: map[string]map[string]*verify.Seen{}}
	site := verify.Site{Root: pl.Root, GitDir: pl.GitDir, Remote: pl.Remote}
	r, err := verify.Run(ctx, list, state, verify.Options{
		Env: t.app.std.env, Now: t.app.now(), Limit: 2000,
		Sites: func(of stillso.Namespace) []verify.Site {
			if of != ns {
				return nil
			}
			return []verify.Site{site}
		},
	})
	if err != nil {
		return err
	}
	sum := summed(r)
	t.sum.Verified = triedClaims{Claims: len(sum.Claims), Holds: sum.Holds, Unknown: sum.Unknown, Fails: []claimResult{}}
	for _, c := range sum.Claims {
		if c.Verdict == stillso.Fails {
			t.sum.Verified.Fails = append(t.sum.Verified.Fails, c)
		}
	}
	return nil
}

// stillSo prints what was checked.
func (t *tried) stillSo(p *page) {
	v := t.Verified
	if v.Claims == 0 {
		return
	}
	p.printf("\n%s  %s\n", p.bold("What is still so"), p.faint("paths, branches, targets, versions that memories and instruction files of this project name"))
	p.printf("  %s checked on this machine: %d hold, %d fail, %d cannot be told\n", plural(v.Claims, "claim", "claims"), v.Holds, len(v.Fails), v.Unknown)
	for i, c := range v.Fails {
		if i == 5 {
			p.printf("  %s\n", p.faint("and more; --json lists them all"))
			break
		}
		p.printf("  %s %s\n", p.yellow("unverified:"), c.Reason)
	}
	if len(v.Fails) > 0 {
		p.printf("  %s\n", p.faint("such a memory is recalled with that label until the claim holds again"))
	}
}
