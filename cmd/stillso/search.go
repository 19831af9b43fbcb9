package main

import (
	"context"

	"stillso"
)

// searchCmd searches memories, and what was said, by full text.
type searchCmd struct {
	Query         []string `arg:"" help:"The words; no query syntax."`
	Namespace     string   `help:"user, project (with user, the default), all, or a full namespace." default:"project"`
	Type          []string `short:"t" help:"Only these types." sep:","`
	State         []string `help:"Only these states; else all but retired." sep:","`
	Since         string   `help:"Only those changed since this date (2026-11-30) or span (7d)."`
	Until         string   `help:"Only those changed before this date or span."`
	File          string   `help:"Only memories about this file." placeholder:"PATH"`
	Turns         bool     `help:"Also search what was said in the captured sessions."`
	AllNamespaces bool     `short:"a" help:"Every namespace."`
	Limit         atMost   `short:"n" help:"At most so many." default:"10"`
	Dir           string   `help:"Act as if in this directory." type:"path"`
}

// Help shows examples.
func (searchCmd) Help() string {
	return `Search finds everything that shares words, best first, where recall says only
what it is sure of. Exit code 1 if nothing matched.

Examples:
  stillso search staging database port
  stillso search --type decision --since 30d queue
  stillso search --turns -a "why did we drop redis"`
}

// searched is what search found.
type searched struct {
	Found []stillso.Found `json:"found"`
}

func (c *searchCmd) run(ctx context.Context, a *app) (summary, error) {
	text, err := a.textArgument(c.Query)
	if err != nil {
		return nil, err
	}
	q := stillso.TextQuery{Text: text, Turns: c.Turns, Filter: stillso.Filter{File: c.File, Limit: int(c.Limit)}}
	if q.Types, err = parseTypes(c.Type); err != nil {
		return nil, err
	}
	if q.States, err = parseStates(c.State); err != nil {
		return nil, err
	}
	if len(q.States) == 0 {
		q.States = []stillso.State{stillso.Active, stillso.Draft, stillso.Superseded}
	}
	if q.Since, err = parseWhen(c.Since, a.now()); err != nil {
		return nil, err
	}
	if q.Until, err = parseWhen(c.Until, a.now()); err != nil {
		return nil, err
	}
	if !c.AllNamespaces && c.Namespace != "all" {
		if q.Namespaces, err = a.readNamespaces(c.Namespace, c.Dir); err != nil {
			return nil, err
		}
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	found, err := st.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	if found == nil {
		found = []stillso.Found{}
	}
	return &searched{Found: found}, nil
}

func (s *searched) text(p *page) {
	if len(s.Found) == 0 {
		p.printf("nothing matched\n")
		return
	}
	rows := make([][]string, len(s.Found))
	for i, f := range s.Found {
		if m := f.Memory; m != nil {
			rows[i] = []string{m.ID, typeLabel(m), m.UpdatedAt.Format("2006-01-02"), m.Content}
		} else if t := f.Turn; t != nil {
			rows[i] = []string{cut(t.Session, 13), "said by " + string(t.Speaker), t.At.Format("2006-01-02"), f.Excerpt}
		}
	}
	p.table([]string{"id", "type", "date", "content"}, rows)
}

func (s *searched) exitCode() int {
	if len(s.Found) == 0 {
		return exitProblems
	}
	return exitOK
}
