package main

import (
	"context"
	"fmt"
	"slices"

	"stillso"
)

// listCmd lists memories, newest first.
type listCmd struct {
	State         []string `help:"draft, active, superseded or retired; else active and draft." sep:","`
	Type          []string `short:"t" help:"Only these types." sep:","`
	Namespace     string   `help:"user, project (with user, the default), all, or a full namespace." default:"project"`
	File          string   `help:"Only memories about this file." placeholder:"PATH"`
	All           bool     `short:"a" help:"Every namespace and every state."`
	Count         bool     `help:"Print only how many there are; without --state, those that are not retired."`
	Limit         atMost   `help:"At most so many; 0 is no limit." default:"0"`
	Dir           string   `help:"Act as if in this directory." type:"path"`
	Since         string   `help:"Only those changed since this date (2026-11-30) or span (7d)."`
	AllNamespaces bool     `help:"Every namespace."`
}

// Help shows examples.
func (listCmd) Help() string {
	return `Examples:
  stillso list                      this project's memories and yours
  stillso list --type todo,decision
  stillso list --namespace user --json
  stillso list --all --state retired`
}

// atMost is the value of an option that bounds how many are shown.
type atMost int

// Validate is called by the reader of the command line.
func (m atMost) Validate() error {
	if m < 0 {
		return fmt.Errorf("at most %d is none: give 0 or more", int(m))
	}
	return nil
}

// listed is what list found.
type listed struct {
	Memories  []*stillso.Memory `json:"memories"`
	Count     int               `json:"count"`
	countOnly bool
	filtered  bool
}

func (c *listCmd) run(ctx context.Context, a *app) (summary, error) {
	f, err := c.filter(a)
	if err != nil {
		return nil, err
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	ms, err := st.Memories(ctx, f)
	if err != nil {
		return nil, err
	}
	sum := &listed{Memories: ms, Count: len(ms), countOnly: c.Count, filtered: c.filtered()}
	if ms == nil || c.Count {
		sum.Memories = []*stillso.Memory{}
	}
	return sum, nil
}

// filtered reports whether an option left memories of this place out.
func (c *listCmd) filtered() bool {
	return len(c.State)+len(c.Type) > 0 || c.File != "" || c.Since != "" || c.Namespace != "project"
}

func (c *listCmd) filter(a *app) (stillso.Filter, error) {
	f := stillso.Filter{Limit: int(c.Limit), File: c.File}
	var err error
	if f.Types, err = parseTypes(c.Type); err != nil {
		return f, err
	}
	if f.States, err = parseStates(c.State); err != nil {
		return f, err
	}
	if f.Since, err = parseWhen(c.Since, a.now()); err != nil {
		return f, err
	}
	if len(c.State) == 0 && !c.All {
		f.States = []stillso.State{stillso.Active, stillso.Draft}
		if c.Count {
			f.States = append(f.States, stillso.Superseded)
		}
	}
	if c.All || c.AllNamespaces || c.Namespace == "all" {
		return f, nil
	}
	f.Namespaces, err = a.readNamespaces(c.Namespace, c.Dir)
	return f, err
}

func (l *listed) text(p *page) {
	if l.countOnly {
		p.printf("%d\n", l.Count)
		return
	}
	if len(l.Memories) == 0 && l.filtered {
		p.printf("no such memories\n")
		return
	}
	if len(l.Memories) == 0 {
		p.printf("no memories here yet; `stillso remember` saves one, `stillso list --all` shows every project\n")
		return
	}
	p.table([]string{"id", "type", "date", "namespace", "content"}, memoryRows(l.Memories))
}

// memoryRows returns table rows of memories; what is not active says so.
func memoryRows(ms []*stillso.Memory) [][]string {
	rows := make([][]string, len(ms))
	for i, m := range ms {
		rows[i] = []string{m.ID, typeLabel(m), m.UpdatedAt.Format("2006-01-02"), string(m.Namespace), m.Content}
	}
	return rows
}

// typeLabel returns the type of m, with its state if that is not active.
func typeLabel(m *stillso.Memory) string {
	if m.State == stillso.Active {
		return string(m.Type)
	}
	return string(m.Type) + ", " + string(m.State)
}

func parseTypes(words []string) ([]stillso.Type, error) {
	var out []stillso.Type
	for _, w := range words {
		t, err := stillso.ParseType(w)
		if err != nil {
			return nil, usagef("cannot filter: %w", err)
		}
		out = append(out, t)
	}
	return out, nil
}

func parseStates(words []string) ([]stillso.State, error) {
	var out []stillso.State
	for _, w := range words {
		s := stillso.State(w)
		if !slices.Contains(stillso.States(), s) {
			return nil, usagef("cannot filter: unknown state %q; use draft, active, superseded or retired", w)
		}
		out = append(out, s)
	}
	return out, nil
}
