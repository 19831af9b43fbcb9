package main

import (
	"context"
	"errors"
	"fmt"

	"stillso"
)

// undoCmd takes changes back.
type undoCmd struct {
	Change string `arg:"" optional:"" help:"The id of the change, or the start of it."`
	Last   bool   `help:"Take back the last change; the whole run if it belongs to one."`
	Batch  string `help:"Take back every change of this run, or the last run." placeholder:"ID|last"`
}

// Help shows examples.
func (undoCmd) Help() string {
	return `Every change can be taken back; the undo itself is a change, too.

Examples:
  stillso undo --last
  stillso undo m4t7
  stillso undo --batch last`
}

// undone is what undo did.
type undone struct {
	Undone []stillso.Change `json:"undone"`
	// Kept lists changes of a batch that could not be taken back, with the reason.
	Kept map[string]string `json:"kept,omitempty"`
}

func (c *undoCmd) run(ctx context.Context, a *app) (summary, error) {
	given := 0
	for _, on := range []bool{c.Change != "", c.Last, c.Batch != ""} {
		if on {
			given++
		}
	}
	if given != 1 {
		return nil, usagef("cannot undo: say which change; give its id (stillso journal lists them), --last, or --batch ID")
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	targets, err := c.targets(ctx, st)
	if err != nil {
		return nil, err
	}
	sum := &undone{Undone: []stillso.Change{}}
	for _, t := range targets {
		ch, err := st.Undo(ctx, t.ID, stillso.Actor{Kind: stillso.Human, Name: "undo"}, a.now())
		if errors.Is(err, stillso.ErrConflict) && len(targets) > 1 {
			if sum.Kept == nil {
				sum.Kept = map[string]string{}
			}
			sum.Kept[t.ID] = err.Error()
			continue
		}
		if err != nil {
			return nil, errors.Join(err, a.refresh(ctx))
		}
		sum.Undone = append(sum.Undone, ch)
	}
	return sum, a.refresh(ctx)
}

// targets lists the changes to take back, newest first.
func (c *undoCmd) targets(ctx context.Context, st store) ([]stillso.Change, error) {
	applied := []stillso.Outcome{stillso.Applied}
	if c.Change != "" {
		found, err := st.Journal(ctx, stillso.JournalFilter{ChangeID: c.Change, Limit: 3})
		switch {
		case err != nil:
			return nil, err
		case len(found) == 0:
			return nil, fmt.Errorf("cannot undo %q: no such change; stillso journal lists them: %w", c.Change, stillso.ErrNotFound)
		case len(found) > 1 && found[0].ID != c.Change:
			return nil, usagef("cannot undo %q: several changes start with it; give more of the id", c.Change)
		case found[0].Outcome == stillso.Undone:
			return nil, usagef("cannot undo %s: it was taken back already", found[0].ID)
		case found[0].Outcome != stillso.Applied:
			return nil, usagef("cannot undo %s: it was %s, so it changed nothing", found[0].ID, found[0].Outcome)
		}
		return found[:1], nil
	}
	batch := c.Batch
	if c.Last || batch == "last" {
		recent, err := st.Journal(ctx, stillso.JournalFilter{Outcomes: applied, Limit: 200})
		if err != nil {
			return nil, err
		}
		batch = ""
		for _, ch := range recent {
			if ch.Verb == stillso.VerbUndo || ch.Verb == stillso.VerbPurge || !c.Last && ch.Batch == "" {
				continue
			}
			if ch.Batch == "" {
				return []stillso.Change{ch}, nil
			}
			batch = ch.Batch
			break
		}
		if batch == "" {
			return nil, usagef("nothing to undo: no applied change is left to take back")
		}
	}
	found, err := st.Journal(ctx, stillso.JournalFilter{Batch: batch, Outcomes: applied})
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("cannot undo the run %q: no applied change belongs to it; stillso journal lists them: %w", batch, stillso.ErrNotFound)
	}
	return found, err
}

func (u *undone) text(p *page) {
	for _, c := range u.Undone {
		p.printf("took back %s  %s\n", p.bold(c.Undoes), changeWords(c))
	}
	for id, why := range u.Kept {
		p.printf("kept %s: %s\n", p.bold(id), why)
	}
	if len(u.Undone) == 1 {
		p.printf("%s\n", p.faint("do it again: stillso undo "+u.Undone[0].ID))
	}
}

func (u *undone) exitCode() int {
	if len(u.Kept) > 0 {
		return exitProblems
	}
	return exitOK
}
