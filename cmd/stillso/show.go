package main

import (
	"context"
	"fmt"
	"strings"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/verify"
)

// showCmd shows one memory.
type showCmd struct {
	ID       string `arg:"" help:"The id, or the start of it."`
	Markdown bool   `name:"note" help:"Print it as a Markdown note with front matter, as import reads it."`
}

// Help shows examples.
func (showCmd) Help() string {
	return `Examples:
  stillso show k3v9
  stillso show k3v9 --json
  stillso show k3v9 --note > k3v9.md`
}

// shown is one memory and what happened to it.
type shown struct {
	Memory  *stillso.Memory  `json:"memory"`
	Changes []stillso.Change `json:"changes"`
	// Claims is what of it can be checked, and what was last seen.
	Claims []stillso.Claim `json:"claims,omitempty"`
}

func (c *showCmd) run(ctx context.Context, a *app) (summary, error) {
	m, err := a.find(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	if c.Markdown {
		m = m.Clone()
		redactMemory(m)
		return nil, files.WriteMarkdown(a.std.out, m)
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := st.Journal(ctx, stillso.JournalFilter{MemoryID: m.ID, Limit: 20})
	if err != nil {
		return nil, err
	}
	sum := &shown{Memory: m, Changes: changes}
	if state, err := verify.ReadState(a.claimsFile()); err == nil && m.State == stillso.Active {
		sum.Claims = state.Last(m)
	}
	return sum, nil
}

func (s *shown) text(p *page) {
	m := s.Memory
	p.printf("%s  %s\n", p.bold(m.ID), p.faint(fmt.Sprintf("%s · %s · %s · priority %d", m.Type, m.Namespace, m.State, m.Priority)))
	for _, line := range wrap(m.Content, p.width-2) {
		p.printf("  %s\n", line)
	}
	p.printf("\n")
	field := func(name, value string) {
		if value != "" {
			p.printf("%s  %s\n", p.faint(fmt.Sprintf("%-12s", name)), value)
		}
	}
	field("name", m.Name)
	field("why", m.Why)
	field("origin", string(m.Origin))
	field("created", m.CreatedAt.Local().Format("2006-01-02 15:04"))
	field("updated", m.UpdatedAt.Local().Format("2006-01-02 15:04"))
	field("unverified", m.Unverified())
	for _, c := range s.Claims {
		was := "not checked so far"
		if c.Verdict != "" {
			was = fmt.Sprintf("%s, seen %s", c.Verdict, c.CheckedAt.Local().Format("2006-01-02 15:04"))
		}
		field("claims", fmt.Sprintf("%s: %s", verify.Says(c), was))
	}
	field("replaced by", m.SupersededBy)
	field("session", m.SourceSession)
	field("files", strings.Join(m.RelatedFiles, ", "))
	field("tags", strings.Join(m.Tags, ", "))
	field("aliases", strings.Join(m.Aliases, " · "))
	if m.Resident {
		field("resident", "injected at every session start")
	}
	if m.File != nil {
		field("stands in", fmt.Sprintf("%s:%d", m.File.Path, m.File.Line))
		if len(m.File.LoadedBy) > 0 {
			field("loaded by", strings.Join(m.File.LoadedBy, ", ")+" (not injected there a second time)")
		}
	}
	for _, e := range m.Evidence {
		field("evidence", fmt.Sprintf("%q", e.Quote))
	}
	if m.Body != "" {
		p.printf("\n")
		for _, line := range wrap(m.Body, p.width) {
			p.printf("%s\n", line)
		}
	}
	if len(s.Changes) > 0 {
		p.printf("\n")
		p.table(changeHead(), changeRows(s.Changes))
	}
}
