package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"stillso"
)

// undoCmd takes changes back.
type undoCmd struct {
	Change string `arg:"" optional:"" help:"The id of the change, or the start of it."`
	Last   bool   `help:"Take back the last change; the whole run if it belongs to one."`
	Batch  string `help:"Take back every change of this run, or the last run." placeholder:"ID|last"`
	Since  string `help:"Take back everything since this date (2026-11-30) or span (2h, 7d)." placeholder:"DATE"`
	DryRun bool   `name:"dry-run" help:"Only show what would become of the memories."`
}

// Help shows examples.
func (undoCmd) Help() string {
	return `Every change can be taken back; the undo itself is a change, too, and can be undone.
A change cannot be taken back while a later one rests on it: the answer names that
one. Of several changes, those that can be are. What was purged stays erased.

Examples:
  stillso undo --last
  stillso undo m4t7
  stillso undo --batch last
  stillso undo --since 2h --dry-run`
}

// undone is what undo did.
type undone struct {
	Undone []stillso.Change `json:"undone"`
	// Preview holds, of a dry run, what each memory would become.
	Preview []preview `json:"preview,omitempty"`
	DryRun  bool      `json:"dry_run,omitempty"`
	// Kept lists changes of a batch that could not be taken back, with the reason.
	Kept map[string]string `json:"kept,omitempty"`
	// verbs are those of the changes that were taken back.
	verbs map[string]stillso.Verb
}

func (c *undoCmd) run(ctx context.Context, a *app) (summary, error) {
	given := 0
	for _, on := range []bool{c.Change != "", c.Last, c.Batch != "", c.Since != ""} {
		if on {
			given++
		}
	}
	if given != 1 {
		return nil, usagef("cannot undo: say which change; give its id (stillso journal lists them), --last, --batch ID, or --since DATE")
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	targets, err := c.targets(ctx, a, st)
	if err != nil {
		return nil, err
	}
	if c.DryRun {
		return previewUndo(ctx, st, targets)
	}
	sum := &undone{Undone: []stillso.Change{}, verbs: map[string]stillso.Verb{}}
	for _, t := range targets {
		sum.verbs[t.ID] = t.Verb
		ch, err := st.Undo(ctx, t.ID, stillso.Actor{Kind: stillso.Human, Name: "undo"}, a.now())
		if errors.Is(err, stillso.ErrConflict) && (len(targets) > 1 || c.Since != "") {
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
func (c *undoCmd) targets(ctx context.Context, a *app, st store) ([]stillso.Change, error) {
	applied := []stillso.Outcome{stillso.Applied}
	if c.Change != "" {
		found, err := st.Journal(ctx, stillso.JournalFilter{ChangeID: c.Change, Limit: 3})
		switch {
		case err != nil:
			return nil, err
		case len(found) == 0:
			return nil, usagef("cannot undo %q: no such change; `stillso journal` lists them", c.Change)
		case len(found) > 1 && found[0].ID != c.Change:
			return nil, usagef("cannot undo %q: several changes start with it; give more of the id", c.Change)
		case found[0].Outcome == stillso.Undone:
			return nil, usagef("cannot undo %s: it was taken back already", found[0].ID)
		case found[0].Outcome != stillso.Applied:
			return nil, usagef("cannot undo %s: it was %s, so it changed nothing", found[0].ID, found[0].Outcome)
		}
		return found[:1], nil
	}
	if c.Since != "" {
		return c.since(ctx, a, st)
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
			what := "no applied change is left to take back"
			if c.Batch != "" {
				what = "no run is left to take back; `stillso undo --last` takes back the last change"
			}
			return nil, usagef("nothing to undo: %s", what)
		}
	}
	found, err := st.Journal(ctx, stillso.JournalFilter{Batch: batch, Outcomes: applied})
	if err == nil && len(found) > 0 {
		found, err = withoutApproved(ctx, st, found)
	}
	if err == nil && len(found) == 0 {
		err = usagef("cannot undo the run %q: no applied change belongs to it; `stillso journal` lists them", batch)
	}
	return found, err
}

// withoutApproved leaves out what the run only proposed and a person approved: that
// was their decision, and is a change of its own.
func withoutApproved(ctx context.Context, st store, list []stillso.Change) ([]stillso.Change, error) {
	later, err := st.Journal(ctx, stillso.JournalFilter{AfterSeq: list[len(list)-1].Seq})
	if err != nil {
		return nil, err
	}
	approved := map[string]bool{}
	for _, c := range later {
		approved[c.Resolves] = true
	}
	return slices.DeleteFunc(list, func(c stillso.Change) bool { return approved[c.ID] }), nil
}

// since lists all that was applied since a time, newest first. A change that was
// taken back since, and the undo that did it, cancel each other; what a person
// approved is taken back by the change that approved it.
func (c *undoCmd) since(ctx context.Context, a *app, st store) ([]stillso.Change, error) {
	from, err := parseWhen(c.Since, a.now())
	if err != nil {
		return nil, err
	}
	all, err := st.Journal(ctx, stillso.JournalFilter{Since: from})
	if err != nil {
		return nil, err
	}
	skip := map[string]bool{}
	for _, ch := range all {
		if ch.Resolves != "" {
			skip[ch.Resolves] = true
		}
		if ch.Outcome == stillso.Undone {
			skip[ch.ID] = true
		}
	}
	var out []stillso.Change
	for _, ch := range all {
		if ch.Outcome == stillso.Applied && ch.Verb != stillso.VerbPurge && !skip[ch.ID] && !skip[ch.Undoes] && !ch.At.Before(from) {
			out = append(out, ch)
		}
	}
	if len(out) == 0 {
		return nil, usagef("nothing to undo: nothing was changed since %s", from.Local().Format("2006-01-02 15:04"))
	}
	return out, nil
}

// preview is what would become of one memory.
type preview struct {
	Memory string   `json:"memory"`
	Change string   `json:"change"`
	Lines  []string `json:"lines"`
}

// previewUndo says what taking the changes back would do, without doing it.
func previewUndo(ctx context.Context, st store, targets []stillso.Change) (*undone, error) {
	sum := &undone{DryRun: true, Undone: []stillso.Change{}, Kept: map[string]string{}}
	now := map[string]*stillso.Memory{}
	for _, t := range targets {
		if len(t.Edits) == 0 {
			continue
		}
		stale := ""
		for _, e := range t.Edits {
			id := e.MemoryID()
			if _, known := now[id]; !known {
				m, err := st.Memory(ctx, id)
				if err != nil && !errors.Is(err, stillso.ErrNotFound) {
					return nil, err
				}
				now[id] = m
			}
			if !e.After.Equal(now[id]) || erased(e) {
				stale = id
			}
		}
		if stale != "" {
			sum.Kept[t.ID] = restsOn(ctx, st, t, stale)
			continue
		}
		for _, e := range slices.Backward(t.Edits) {
			now[e.MemoryID()] = e.Before
			lines := difference(stillso.Edit{Before: e.After, After: e.Before})
			if len(lines) == 0 {
				continue // only its times
			}
			if e.Before == nil {
				lines = append(lines, "it would be as if it had never been saved")
			}
			sum.Preview = append(sum.Preview, preview{Memory: e.MemoryID(), Change: t.ID, Lines: lines})
		}
	}
	return sum, nil
}

// restsOn says what keeps a change from being taken back.
func restsOn(ctx context.Context, st store, c stillso.Change, id string) string {
	later, err := st.Journal(ctx, stillso.JournalFilter{MemoryID: id, AfterSeq: c.Seq, Outcomes: []stillso.Outcome{stillso.Applied}, Limit: 1})
	if err == nil && len(later) > 0 && later[0].Verb == stillso.VerbPurge {
		return fmt.Sprintf("memory %s was purged, so there is nothing to go back to", id)
	}
	if err != nil || len(later) == 0 {
		return fmt.Sprintf("memory %s is not what this change made of it; look at stillso history %s", id, id)
	}
	l := later[0]
	return fmt.Sprintf("memory %s was changed again by %s (%s, %s); undo that first", id, l.ID, l.Verb, l.At.Local().Format("2006-01-02 15:04"))
}

func (u *undone) text(p *page) {
	for _, v := range u.Preview {
		p.printf("%s would become  %s\n", p.bold(v.Memory), p.faint("by undo of "+v.Change))
		for _, line := range v.Lines {
			p.printf("  %s\n", line)
		}
	}
	if u.DryRun {
		p.printf("%s\n", p.faint("nothing was changed"))
	}
	for _, c := range u.Undone {
		p.printf("took back %s  %s\n", p.bold(c.Undoes), u.words(c))
	}
	for _, id := range slices.Sorted(maps.Keys(u.Kept)) {
		p.printf("%s %s: %s\n", p.yellow("kept"), p.bold(id), u.Kept[id])
	}
	if len(u.Undone) == 1 {
		p.printf("%s\n", p.faint("do it again: stillso undo "+u.Undone[0].ID))
	}
}

// words says what an undo took back: the verb, and the content it was about.
func (u *undone) words(c stillso.Change) string {
	c.Reason = string(u.verbs[c.Undoes])
	return oneLine(changeWords(c))
}

func (u *undone) exitCode() int {
	if len(u.Kept) > 0 {
		return exitProblems
	}
	return exitOK
}
