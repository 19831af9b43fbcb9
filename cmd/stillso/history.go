package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// historyCmd shows a memory through time.
type historyCmd struct {
	ID string `arg:"" help:"The id of the memory, or the start of it."`
}

// Help shows examples.
func (historyCmd) Help() string {
	return `Shows every change of a memory, oldest first: what it said, who changed it and why,
and what was taken back. Proposals that were refused are in it, too.

Examples:
  stillso history k3v9
  stillso history k3v9 --json`
}

// aged is a memory with its changes, oldest first.
type aged struct {
	ID      string           `json:"id"`
	Memory  *stillso.Memory  `json:"memory,omitempty"`
	Changes []stillso.Change `json:"changes"`
}

func (c *historyCmd) run(ctx context.Context, a *app) (summary, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	h := &aged{ID: strings.TrimSpace(c.ID)}
	m, err := a.find(ctx, c.ID)
	if err == nil {
		h.ID, h.Memory = m.ID, m
	}
	var found error
	if h.Changes, found = st.Journal(ctx, stillso.JournalFilter{MemoryID: h.ID, Oldest: true}); found != nil {
		return nil, found
	}
	if err != nil && len(h.Changes) == 0 { // a purged memory has a history, too
		return nil, err
	}
	return h, nil
}

func (h *aged) text(p *page) {
	p.printf("%s\n", p.bold(h.ID))
	for _, c := range h.Changes {
		what := string(c.Verb)
		if c.Outcome != stillso.Applied {
			what += ", " + string(c.Outcome)
		}
		by := string(c.Actor.Kind)
		if c.Actor.Name != "" {
			by += " (" + c.Actor.Name + ")"
		}
		p.printf("\n%s  %s  %s\n", c.At.Local().Format("2006-01-02 15:04"), p.bold(what), p.faint(by+" · "+c.ID))
		if c.Reason != "" {
			p.printf("  %s\n", p.faint(oneLine(c.Reason)))
		}
		for _, e := range c.Edits {
			if e.MemoryID() == h.ID {
				for _, line := range difference(e) {
					p.printf("  %s\n", line)
				}
			}
		}
	}
}

// difference says in lines what an edit did to a memory.
func difference(e stillso.Edit) []string {
	b, f := e.Before, e.After
	switch {
	case erased(e):
		return []string{"its text was erased"}
	case f == nil:
		return []string{"- " + oneLine(b.Content)}
	case b == nil:
		return []string{"+ " + oneLine(f.Content), fmt.Sprintf("%s · %s · %s", f.Type, f.Namespace, f.Origin)}
	}
	var out []string
	if b.Content != f.Content {
		out = append(out, "- "+oneLine(b.Content), "+ "+oneLine(f.Content))
	}
	field := func(name string, before, after any) {
		if x, y := fmt.Sprint(before), fmt.Sprint(after); x != y {
			out = append(out, fmt.Sprintf("%s: %s → %s", name, orNothing(x), orNothing(y)))
		}
	}
	field("state", b.State, f.State)
	field("superseded by", b.SupersededBy, f.SupersededBy)
	field("type", b.Type, f.Type)
	field("name", b.Name, f.Name)
	field("namespace", b.Namespace, f.Namespace)
	field("origin", b.Origin, f.Origin)
	field("priority", b.Priority, f.Priority)
	field("resident", b.Resident, f.Resident)
	field("unverified", b.Unverified(), f.Unverified())
	field("why", b.Why, f.Why)
	for _, l := range []struct {
		name          string
		before, after []string
	}{{"alias", b.Aliases, f.Aliases}, {"tag", b.Tags, f.Tags}, {"file", b.RelatedFiles, f.RelatedFiles}} {
		for _, s := range l.after {
			if !slices.Contains(l.before, s) {
				out = append(out, fmt.Sprintf("+ %s %s", l.name, oneLine(s)))
			}
		}
		for _, s := range l.before {
			if !slices.Contains(l.after, s) {
				out = append(out, fmt.Sprintf("- %s %s", l.name, oneLine(s)))
			}
		}
	}
	return out
}

// erased reports whether a purge has taken the text of an edit.
func erased(e stillso.Edit) bool {
	return (e.Before == nil || e.Before.Content == "") && (e.After == nil || e.After.Content == "")
}

func orNothing(s string) string {
	if s == "" {
		return "nothing"
	}
	return oneLine(s)
}

// asOf returns the memories as they were at a time, by the journal. What was
// purged since is not among them.
func (a *app) asOf(ctx context.Context, at time.Time) ([]*stillso.Memory, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := st.Journal(ctx, stillso.JournalFilter{Oldest: true, Until: at})
	if err != nil {
		return nil, err
	}
	now, order := fold(changes, at)
	var out []*stillso.Memory
	for _, id := range order {
		if m := now[id]; m != nil && m.Content != "" && indexed(m) {
			m = m.Clone()
			redactMemory(m)
			out = append(out, m)
		}
	}
	return out, nil
}

// fold makes the memories of the journal, oldest change first, up to a time. The
// ids come in the order in which they first appear; a memory that is nil was taken
// back or purged.
func fold(changes []stillso.Change, at time.Time) (now map[string]*stillso.Memory, order []string) {
	// A proposal that was accepted is applied by the change that accepted it.
	accepted := map[string]bool{}
	for _, c := range changes {
		accepted[c.Resolves] = c.Resolves != ""
	}
	now = map[string]*stillso.Memory{}
	for _, c := range changes {
		if c.Outcome != stillso.Applied && c.Outcome != stillso.Undone || accepted[c.ID] || c.At.After(at) {
			continue
		}
		for _, e := range c.Edits {
			id := e.MemoryID()
			if _, known := now[id]; !known {
				order = append(order, id)
			}
			now[id] = e.After
		}
	}
	return now, order
}

// openIndexAt makes the index as it was at a time, in a folder that is removed by
// the returned function.
func (a *app) openIndexAt(ctx context.Context, at time.Time) (*snapshot.Snapshot, func(), error) {
	memories, err := a.asOf(ctx, at)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "stillso-at-")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot look back: %w", err)
	}
	remove := func() { _ = os.RemoveAll(dir) } // the system cleans its temporary files
	if err := buildAt(dir, memories); err != nil {
		remove()
		return nil, nil, fmt.Errorf("cannot look back: %w", err)
	}
	snap, err := snapshot.Open(dir)
	if err != nil {
		remove()
		return nil, nil, errors.Join(err)
	}
	return snap, func() { _ = snap.Close(); remove() }, nil
}

// buildAt writes an index of memories that lasts as long as one answer.
func buildAt(dir string, memories []*stillso.Memory) (err error) {
	l := recall.NewLearner()
	for _, m := range memories {
		l.Memory(m)
	}
	model := l.Model()
	w, err := snapshot.Lock(dir, lockWait)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Unlock()) }()
	b, err := w.NewBase(snapshot.Options{Constants: model.Constants()})
	if err != nil {
		return err
	}
	for _, m := range memories {
		if err := b.Add(model.Index(m)); err != nil {
			b.Discard()
			return err
		}
	}
	_, err = b.Commit()
	return err
}
