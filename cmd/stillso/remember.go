package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"stillso"
	"stillso/internal/capture"
)

// rememberCmd saves one memory that a person typed.
type rememberCmd struct {
	Text       []string `arg:"" help:"What to remember, in at most three sentences; - reads it from standard input."`
	Type       string   `short:"t" help:"preference, constraint, decision, fact, procedure, event, reference or todo; else by the words."`
	Name       string   `short:"n" help:"A short label; else made from the text."`
	Namespace  string   `help:"user (every project), project (this one), or a full namespace." default:"project"`
	Priority   int      `short:"p" help:"1 (nice to know) to 5 (breaking it causes damage)." default:"3"`
	File       []string `sep:"none" help:"A file it is about; repeatable." placeholder:"PATH"`
	Tag        []string `sep:"none" help:"A tag; repeatable."`
	Alias      []string `sep:"none" help:"A phrase you would type when you need it; repeatable."`
	Why        string   `help:"The reason, if there is one."`
	Resident   bool     `help:"Also inject it at the start of every session."`
	Supersedes string   `help:"The id of the memory whose place it takes." placeholder:"ID"`
	Dir        string   `help:"Act as if in this directory." type:"existingdir"`
}

// Help shows examples.
func (rememberCmd) Help() string {
	return `Examples:
  stillso remember "Integration tests need the compose stack: make up first."
  stillso remember --namespace user --type preference "Answer in British English."
  stillso remember --supersedes k3v9 "The staging database moved to port 5433."`
}

// remembered is what remember did.
type remembered struct {
	Memory *stillso.Memory `json:"memory"`
	// Saved is false when a memory already said the same.
	Saved      bool            `json:"saved"`
	Change     string          `json:"change,omitempty"`
	Superseded *stillso.Memory `json:"superseded,omitempty"`
	// Redacted counts the secrets that were taken out before saving.
	Redacted int `json:"redacted,omitempty"`
	// Similar lists active memories that may say something close.
	Similar []*stillso.Memory `json:"similar,omitempty"`
	// Demoted are the lines that left the profile to make room.
	Demoted []stillso.Change `json:"demoted,omitempty"`
}

func (c *rememberCmd) run(ctx context.Context, a *app) (summary, error) {
	text, err := a.textArgument(c.Text)
	if err != nil {
		return nil, err
	}
	if text == "" {
		return nil, usagef("nothing was saved: the content is empty; say what to remember, or - to read it from standard input")
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return nil, usagef("nothing was saved: the content has no word, so that nothing could ever recall it; say it in words")
	}
	m, redacted, err := c.memory(a, text)
	if err != nil {
		return nil, err
	}
	if err := a.create(ctx); err != nil {
		return nil, err
	}
	known, err := a.sameWords(ctx, m.Namespace, m.Content)
	if err != nil {
		return nil, err
	}
	if known != nil && c.Supersedes == "" {
		return &remembered{Memory: known}, nil
	}
	change := a.humanChange(stillso.VerbAdd, "remember", stillso.Edit{After: m})
	sum := &remembered{Memory: m, Saved: true, Redacted: redacted}
	if c.Supersedes != "" {
		old, err := a.find(ctx, c.Supersedes)
		if err != nil {
			return nil, err
		}
		after := old.Clone()
		after.State, after.SupersededBy, after.UpdatedAt = stillso.Superseded, m.ID, a.now()
		change.Verb = stillso.VerbSupersede
		change.Edits = append(change.Edits, stillso.Edit{Before: old, After: after})
		sum.Superseded = after
	} else if sum.Similar, err = a.similar(ctx, m); err != nil {
		return nil, err
	}
	done, err := a.apply(ctx, change)
	if err != nil {
		return nil, err
	}
	sum.Change, sum.Demoted = done[0].ID, a.demoted
	return sum, nil
}

// memory makes the memory that the options describe, redacted and valid.
func (c *rememberCmd) memory(a *app, text string) (*stillso.Memory, int, error) {
	ns, err := a.namespaceOption(c.Namespace, c.Dir)
	if err != nil {
		return nil, 0, err
	}
	said := capture.Explicit(text).Memory
	kind := said.Type
	if c.Type != "" {
		if kind, err = stillso.ParseType(c.Type); err != nil {
			return nil, 0, usagef("cannot save it: %w", err)
		}
	}
	if c.Priority < 1 || c.Priority > 5 {
		return nil, 0, usagef("cannot save it: priority %d is not between 1 and 5", c.Priority)
	}
	m := &stillso.Memory{
		Namespace: ns, Type: kind, Name: c.Name, Content: text, Priority: c.Priority,
		Tags: given(c.Tag), Aliases: given(c.Alias), Why: c.Why, Resident: c.Resident, Origin: stillso.FromUser,
		RelatedFiles: a.relatedFiles(c.File, c.Dir),
	}
	m.Default(a.now())
	redacted := redactMemory(m)
	if m.Name == "" {
		m.Name = said.Name
	}
	if err := m.Validate(); err != nil { // its id means nothing yet
		return nil, 0, usagef("cannot save it: %s", strings.TrimPrefix(err.Error(), "invalid memory "+m.ID+": "))
	}
	return m, redacted, nil
}

func (r *remembered) text(p *page) {
	if !r.Saved {
		p.printf("already known as %s: %s\n", p.bold(r.Memory.ID), oneLine(r.Memory.Content))
		return
	}
	p.printf("saved %s  %s\n", p.bold(r.Memory.ID), p.faint(string(r.Memory.Type)+" · "+string(r.Memory.Namespace)))
	for _, line := range wrap(r.Memory.Content, p.width-2) {
		p.printf("  %s\n", line)
	}
	if r.Redacted > 0 {
		p.printf("%s\n", p.yellow(plural(r.Redacted, "secret was", "secrets were")+" taken out before saving"))
	}
	if r.Superseded != nil {
		p.printf("it takes the place of %s: %s\n", r.Superseded.ID, oneLine(r.Superseded.Content))
	}
	for _, m := range r.Similar {
		p.printf("similar: %s  %s\n", m.ID, oneLine(m.Content))
	}
	if len(r.Similar) > 0 {
		p.printf("%s\n", p.faint("if it takes the place of one: stillso undo "+r.Change+", then remember --supersedes ID"))
	}
	printDemoted(p, r.Demoted)
	p.printf("%s\n", p.faint("take it back: stillso undo "+r.Change))
}

// textArgument joins the words of an argument; a single - reads standard input.
func (a *app) textArgument(words []string) (string, error) {
	text := strings.Join(words, " ")
	if len(words) == 1 && words[0] == "-" {
		b, err := io.ReadAll(io.LimitReader(a.std.in, stillso.MaxBody*64))
		if err != nil {
			return "", fmt.Errorf("cannot read standard input: %w", err)
		}
		if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
			return "", usagef("cannot read standard input: it is no UTF-8 text; convert it first")
		}
		text = string(b)
	}
	return strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"), nil
}

// relatedFiles returns the files as the store keeps them: relative to the root
// of the place where that is possible, with forward slashes.
func (a *app) relatedFiles(files []string, dir string) []string {
	if len(files) == 0 {
		return nil
	}
	base := a.directory(dir)
	root := base
	if pl, err := a.place(base); err == nil && pl.Root != "" {
		root = pl.Root
	}
	out := make([]string, 0, len(files))
	for _, f := range files {
		abs := f
		if !filepath.IsAbs(abs) {
			abs = filepath.Join(base, f)
		}
		rel, err := filepath.Rel(root, abs)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			abs = rel
		}
		if abs = filepath.ToSlash(abs); !slices.Contains(out, abs) {
			out = append(out, abs)
		}
	}
	return out
}
