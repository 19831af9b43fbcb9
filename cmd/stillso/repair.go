package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"stillso"
	"stillso/internal/namespace"
	"stillso/internal/snapshot"
	"stillso/internal/store/sqlite"
)

// repairCmd repairs what doctor found.
type repairCmd struct {
	Force bool `help:"Build the store anew even if no problem was found."`
}

// Help shows examples.
func (repairCmd) Help() string {
	return `Closes the files to others, builds a damaged store anew from its journal, the list
of places from the store, and the index. What was there before is kept beside it.
Run it while no other stillso is at work.

Examples:
  stillso doctor
  stillso repair`
}

// repaired is what repair did.
type repaired struct {
	Closed   []string         `json:"closed,omitempty"`
	Problems []sqlite.Problem `json:"problems,omitempty"`
	Store    *sqlite.Repaired `json:"store,omitempty"`
	Places   bool             `json:"places,omitempty"`
	Index    string           `json:"index,omitempty"`
}

func (c *repairCmd) run(ctx context.Context, a *app) (summary, error) {
	if !a.exists() && !a.dir.Exists() {
		return nil, &marked{class: errNoStore, text: fmt.Sprintf("nothing to repair under %s: nothing was saved yet", a.dir)}
	}
	r := &repaired{}
	if err := r.close(string(a.dir)); err != nil {
		return nil, err
	}
	if err := a.usable(); err != nil {
		return nil, err
	}
	unlock, err := a.lockSweep(ctx, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if a.exists() {
		if err := c.store(ctx, a, r); err != nil {
			return nil, err
		}
		if err := r.places(ctx, a); err != nil {
			return nil, err
		}
		return r, r.index(ctx, a)
	}
	return r, nil
}

// close takes the permissions of others away.
func (r *repaired) close(dir string) error {
	for _, path := range looseFiles(dir) {
		info, err := os.Lstat(path)
		if err != nil {
			continue // it went away meanwhile
		}
		mode := os.FileMode(0o600)
		if info.IsDir() {
			mode = 0o700
		}
		if err := os.Chmod(path, mode); err != nil {
			return fmt.Errorf("cannot close %s to others: %w; change its owner or mode", path, err)
		}
		r.Closed = append(r.Closed, path)
	}
	return nil
}

// store builds the store anew if something is wrong with it.
func (c *repairCmd) store(ctx context.Context, a *app, r *repaired) error {
	problems, err := sqlite.Check(ctx, string(a.dir), sqlite.Options{})
	if errors.Is(err, stillso.ErrNewer) || errors.Is(err, stillso.ErrBusy) {
		return err
	}
	if err != nil {
		problems = append(problems, sqlite.Problem{Part: "store", What: err.Error()})
	}
	r.Problems = problems
	if len(problems) == 0 && !c.Force {
		return nil
	}
	done, err := sqlite.Repair(ctx, string(a.dir), a.now())
	if err != nil {
		return fmt.Errorf("the store could not be repaired: %w; its files are as they were", err)
	}
	r.Store = &done
	return nil
}

// places writes the registry anew from the store if it cannot be read.
func (r *repaired) places(ctx context.Context, a *app) error {
	if _, err := namespace.ReadRegistry(a.dir.Places()); err == nil {
		if _, err := os.Stat(a.dir.Places()); err == nil {
			return nil
		}
	} else if err := os.Rename(a.dir.Places(), a.dir.Places()+".broken"); err != nil {
		return fmt.Errorf("cannot put the broken list of places aside: %w", err)
	}
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	list, err := st.Places(ctx)
	if err != nil || len(list) == 0 {
		return err
	}
	r.Places = true
	return namespace.Update(a.dir.Places(), func(reg *namespace.Registry) error {
		for _, p := range list {
			reg.Add(p)
		}
		return nil
	})
}

// index builds the index anew if it cannot be trusted or is behind.
func (r *repaired) index(ctx context.Context, a *app) error {
	why := ""
	switch snap, err := snapshot.Open(string(a.dir)); {
	case err != nil:
		why = err.Error()
	default:
		if err := errors.Join(snap.Verify(), snap.Delta()); err != nil {
			why = err.Error()
		} else if st, err := a.store(ctx); err == nil && ofOther(snap, st) {
			why = "it was made from another store"
		}
		if err := snap.Close(); err != nil && why == "" {
			why = err.Error()
		}
	}
	if r.Store != nil {
		why = "the store was built anew"
	}
	if why == "" {
		return a.refresh(ctx)
	}
	r.Index = why
	return a.rebuild(ctx)
}

func (r *repaired) text(p *page) {
	if len(r.Closed) > 0 {
		p.printf("closed to others: %s\n", plural(len(r.Closed), "file", "files"))
	}
	for _, pr := range r.Problems {
		p.printf("found  %s: %s\n", pr.Part, bareProblem(pr.What))
	}
	if s := r.Store; s != nil {
		p.printf("store built anew: %s, %s, %s\n", plural(s.Memories, "memory", "memories"), plural(s.Changes, "change", "changes"), plural(s.Turns, "turn", "turns"))
		if len(s.Kept) > 0 {
			p.printf("what was there is kept as %s\n", strings.Join(s.Kept, ", "))
		}
		for _, l := range s.Lost {
			p.printf("%s %s\n", p.red("lost"), bareProblem(l))
		}
	}
	if r.Places {
		p.printf("list of places written anew from the store\n")
	}
	if r.Index != "" {
		p.printf("index built anew: %s\n", r.Index)
	}
	if len(r.Closed)+len(r.Problems) == 0 && r.Store == nil && !r.Places && r.Index == "" {
		p.printf("nothing to repair\n")
	}
}

func (r *repaired) exitCode() int {
	if r.Store != nil && len(r.Store.Lost) > 0 {
		return exitProblems
	}
	return exitOK
}
