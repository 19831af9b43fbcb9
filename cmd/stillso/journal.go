package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"stillso"
)

// journalCmd lists changes.
type journalCmd struct {
	Memory  string   `help:"Only changes of this memory." placeholder:"ID"`
	Outcome []string `help:"proposed, applied, refused or undone." sep:","`
	Actor   []string `help:"human, rule or model." sep:","`
	Batch   string   `help:"Only changes of this run." placeholder:"ID"`
	Since   string   `help:"Only since this date (2026-11-30) or span (7d)."`
	Limit   atMost   `short:"n" help:"At most so many; 0 is no limit." default:"30"`
}

// Help shows examples.
func (journalCmd) Help() string {
	return `Examples:
  stillso journal
  stillso journal --outcome refused --since 7d
  stillso journal --memory k3v9 --json`
}

// journalled is what journal found.
type journalled struct {
	Changes []stillso.Change `json:"changes"`
}

func (c *journalCmd) run(ctx context.Context, a *app) (summary, error) {
	f := stillso.JournalFilter{Batch: c.Batch, Limit: int(c.Limit)}
	for _, o := range c.Outcome {
		out := stillso.Outcome(o)
		if !slices.Contains([]stillso.Outcome{stillso.Proposed, stillso.Applied, stillso.Refused, stillso.Undone}, out) {
			return nil, usagef("cannot filter: unknown outcome %q; use proposed, applied, refused or undone", o)
		}
		f.Outcomes = append(f.Outcomes, out)
	}
	for _, k := range c.Actor {
		kind := stillso.ActorKind(k)
		if !slices.Contains([]stillso.ActorKind{stillso.Human, stillso.Rule, stillso.Model}, kind) {
			return nil, usagef("cannot filter: unknown actor %q; use human, rule or model", k)
		}
		f.Actors = append(f.Actors, kind)
	}
	var err error
	if f.Since, err = parseWhen(c.Since, a.now()); err != nil {
		return nil, err
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	var unknown error
	if c.Memory != "" {
		f.MemoryID = c.Memory
		m, err := a.find(ctx, c.Memory)
		if unknown = err; err == nil { // a purged memory has changes, too
			f.MemoryID = m.ID
		}
	}
	changes, err := st.Journal(ctx, f)
	if err != nil {
		return nil, err
	}
	if unknown != nil && len(changes) == 0 {
		return nil, unknown
	}
	if changes == nil {
		changes = []stillso.Change{}
	}
	return &journalled{Changes: changes}, nil
}

func (j *journalled) text(p *page) {
	if len(j.Changes) == 0 {
		p.printf("no such changes\n")
		return
	}
	p.table(changeHead(), changeRows(j.Changes))
}

func changeHead() []string { return []string{"change", "when", "what", "by", "memory", ""} }

// changeRows returns table rows of changes.
func changeRows(changes []stillso.Change) [][]string {
	rows := make([][]string, len(changes))
	for i, c := range changes {
		what := string(c.Verb)
		if c.Outcome != stillso.Applied {
			what += ", " + string(c.Outcome)
		}
		by := string(c.Actor.Kind)
		if c.Actor.Name != "" {
			by += " (" + c.Actor.Name + ")"
		}
		var ids []string
		for _, e := range c.Edits {
			ids = append(ids, e.MemoryID())
		}
		rows[i] = []string{c.ID, c.At.Local().Format("2006-01-02 15:04"), what, by, strings.Join(ids, " "), changeWords(c)}
	}
	return rows
}

// changeWords says in words what a change did: its reason, else the content.
func changeWords(c stillso.Change) string {
	var content string
	for _, e := range c.Edits {
		if e.After != nil {
			content = e.After.Content
			break
		} else if e.Before != nil {
			content = e.Before.Content
		}
	}
	switch {
	case c.Reason == "":
		return content
	case content == "":
		return c.Reason
	}
	return fmt.Sprintf("%s: %s", c.Reason, content)
}
