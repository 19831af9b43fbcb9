package main

import (
	"bufio"
	"context"
	"os"
	"slices"
	"strings"

	"stillso/internal/tidy"
)

// purgeCmd erases memories and their history.
type purgeCmd struct {
	ID    []string `arg:"" optional:"" help:"The ids, in full."`
	About string   `help:"Those that these words name, in any spelling, instead of ids." placeholder:"WORDS"`
	Yes   bool     `help:"Do not ask."`
	Dir   string   `help:"Act as if in this directory." type:"path"`
}

// Help shows examples.
func (purgeCmd) Help() string {
	return `Purge is for secrets that slipped in: it erases the memory from the store, the
journal, the index and the waiting files, and leaves a tombstone with the id only.
It cannot be undone. To take a memory out of recall, use stillso retire.

Examples:
  stillso purge k3v9qp07xm2a
  stillso purge --about "ACME-CORP project name"`
}

// purged is what purge did.
type purged struct {
	Purged []string `json:"purged"`
	// Also lists memories that still hold the same text.
	Also []string `json:"also,omitempty"`
}

func (c *purgeCmd) run(ctx context.Context, a *app) (summary, error) {
	if (c.About == "") == (len(c.ID) == 0) {
		return nil, usagef("nothing was purged: say which; give ids, or words with --about")
	}
	var targets []tidy.Target
	if c.About != "" {
		var err error
		if targets, err = a.about(ctx, c.About, c.Dir, true); err != nil {
			return nil, err
		}
	}
	for _, id := range c.ID {
		m, err := a.find(ctx, id)
		if err != nil {
			return nil, err
		}
		if m.ID != id {
			return nil, usagef("nothing was purged: %q is only the start of an id; give it in full: %s", id, m.ID)
		}
		targets = append(targets, tidy.Target{Memory: m})
	}
	if !c.Yes {
		if err := c.confirm(a, targets); err != nil {
			return nil, err
		}
	}
	sum := &purged{}
	for _, t := range targets {
		also, err := a.purgeTarget(ctx, t)
		if err != nil {
			return nil, err
		}
		sum.Also = append(sum.Also, also...)
		sum.Purged = append(sum.Purged, t.Memory.ID)
	}
	sum.Also = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(sum.Also))), func(id string) bool { return slices.Contains(sum.Purged, id) })
	return sum, nil
}

// confirm asks the person; without a terminal nobody can answer.
func (c *purgeCmd) confirm(a *app, targets []tidy.Target) error {
	in, ok := a.std.in.(*os.File)
	if !ok || !isTerminal(in) || a.json {
		return usagef("nothing was purged: it cannot be undone and there is no terminal to ask at; add --yes")
	}
	p := newPage(a.std.err, a.std.env)
	for _, t := range targets {
		p.printf("%s  %s\n", p.bold(t.Memory.ID), oneLine(t.Memory.Content))
		if t.Rest != "" {
			p.printf("  %s\n", p.faint("what stays: "+oneLine(t.Rest)))
		}
	}
	p.printf("erase for good? type yes: ")
	line, err := bufio.NewReader(in).ReadString('\n')
	if strings.TrimSpace(line) != "yes" {
		return usagef("nothing was purged: you did not type yes")
	}
	return err
}

func (r *purged) text(p *page) {
	for _, id := range r.Purged {
		p.printf("purged %s; a tombstone with its id stays\n", p.bold(id))
	}
	for _, id := range r.Also {
		p.printf("%s the same text stands in %s, too; purge it as well if it must go\n", p.yellow("note"), p.bold(id))
	}
}
