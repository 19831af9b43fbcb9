package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/inject"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// recallCmd shows what a prompt would get.
type recallCmd struct {
	Prompt   []string `arg:"" help:"The prompt; - reads it from standard input."`
	Previous string   `help:"The user's turn before."`
	File     []string `sep:"none" help:"A file that is open; repeatable." placeholder:"PATH"`
	Host     string   `help:"Leave out what this host loads itself; an empty value leaves nothing out." default:"claude-code"`
	Limit    atMost   `short:"n" help:"At most so many; 0 is the hook's own limit."`
	All      bool     `short:"a" help:"Also show what was weighed and held back, and why."`
	Dir      string   `help:"Act as if in this directory." type:"existingdir"`
	At       string   `help:"Answer as of then: a date (2026-11-30) or a span back (7d)." placeholder:"DATE"`
}

// Help shows examples.
func (recallCmd) Help() string {
	return `Asks the same index in the same way as the hook, without a session: nothing is
remembered as shown. Exit code 1 on silence.

Examples:
  stillso recall "why can't the app reach postgres on staging"
  stillso recall --all "fix the rounding"
  stillso recall --at 2026-10-01 "which port does staging use"`
}

// recalled is what recall found.
type recalled struct {
	Block     string              `json:"block"`
	Hint      string              `json:"hint,omitempty"`
	IDs       []string            `json:"ids"`
	Silence   string              `json:"silence,omitempty"`
	Namespace []stillso.Namespace `json:"namespaces"`
	Asked     []asked             `json:"terms"`
	Weighed   []weighed           `json:"weighed"`
	Micros    int64               `json:"us"`
	all       bool
}

// asked is one term of the prompt.
type asked struct {
	Term   string  `json:"term"`
	Weight float64 `json:"weight"`
	// Info is how much the term tells.
	Info float64 `json:"info"`
	// Memories is how many memories have it, of all namespaces.
	Memories int `json:"memories"`
}

// weighed is one memory that recall looked at.
type weighed struct {
	ID        string       `json:"id"`
	Type      stillso.Type `json:"type"`
	Name      string       `json:"name,omitempty"`
	Content   string       `json:"content"`
	Label     string       `json:"label,omitempty"`
	Strength  float64      `json:"strength"`
	Threshold float64      `json:"threshold"`
	Evidence  float64      `json:"evidence"`
	Coverage  float64      `json:"coverage"`
	Factor    float64      `json:"factor"`
	Matched   []string     `json:"matched"`
	// Why says what held it back; empty if it is shown.
	Why string `json:"why,omitempty"`
}

func (c *recallCmd) run(ctx context.Context, a *app) (summary, error) {
	prompt, err := a.textArgument(c.Prompt)
	if err != nil {
		return nil, err
	}
	return c.ask(ctx, a, prompt)
}

func (c *recallCmd) ask(ctx context.Context, a *app, prompt string) (*recalled, error) {
	if _, known := a.assistant(c.Host); c.Host != "" && !known {
		return nil, usagef("cannot ask: unknown host %q; use one of %s", c.Host, a.assistantNames())
	}
	ns, err := a.readNamespaces("project", c.Dir)
	if err != nil {
		return nil, err
	}
	at, err := parseWhen(c.At, a.now())
	if err != nil {
		return nil, err
	}
	if len(strings.TrimSpace(c.At)) == len("2026-11-30") && strings.Count(c.At, "-") == 2 {
		at = at.AddDate(0, 0, 1).Add(-time.Millisecond) // a date is the whole day
	}
	var snap *snapshot.Snapshot
	if at.IsZero() {
		at = a.now()
		if snap, err = a.openIndex(); err != nil {
			return nil, err
		}
		defer snap.Close() //nolint:errcheck // it was only read
	} else {
		var done func()
		if snap, done, err = a.openIndexAt(ctx, at); err != nil {
			return nil, err
		}
		defer done()
	}
	q := recall.Query{
		Prompt: prompt, PreviousTurn: c.Previous, Files: c.File, Namespaces: ns, Host: c.Host,
		Now: at, Limit: int(c.Limit), Explain: true, Hints: string(snap.Constant(hintsKey)) == "on",
	}
	begin := a.std.clock()
	o := recall.Recall(snap, q)
	r := &recalled{Namespace: ns, IDs: []string{}, Asked: []asked{}, Weighed: []weighed{}, Silence: o.Receipt.Silence, all: c.All}
	r.Block, r.IDs = block(o.Hits)
	if r.Block == "" {
		r.Hint, _ = inject.Hint(items(o.Hints))
	}
	r.Micros = a.std.clock().Sub(begin).Microseconds()
	if r.Block == "" {
		r.loaded(snap, q)
	}
	for _, t := range o.Asked {
		r.Asked = append(r.Asked, asked{Term: t.Term, Weight: t.Weight, Info: t.Info, Memories: snap.Frequency(t.Term)})
	}
	for _, h := range o.Weighed {
		r.Weighed = append(r.Weighed, weigh(h))
	}
	return r, damaged(snap.Err())
}

// loaded says it if the silence is only because the host loads what fits itself: a
// person who has just imported a CLAUDE.md wonders where it went.
func (r *recalled) loaded(snap *snapshot.Snapshot, q recall.Query) {
	host := q.Host
	if q.Host = ""; host == "" {
		return
	}
	if hits := recall.Recall(snap, q).Hits; len(hits) > 0 {
		r.Silence = fmt.Sprintf("%s loads what fits from its own files, so it is not injected there a second time: %s; --host '' shows it", host, hits[0].Doc.ID)
	}
}

// openIndex opens the index that the hook reads.
func (a *app) openIndex() (*snapshot.Snapshot, error) {
	if err := a.usable(); err != nil {
		return nil, err
	}
	snap, err := snapshot.Open(string(a.dir))
	if errors.Is(err, stillso.ErrNotFound) {
		if !a.exists() {
			return nil, &marked{class: errNoStore, text: fmt.Sprintf("no memories under %s: nothing was saved yet; `stillso remember` or `stillso import` makes the store", a.dir)}
		}
		return nil, &marked{class: errNoStore, text: "there is no recall index: it was never built or was removed; stillso sweep --rebuild builds it"}
	}
	return snap, damaged(err)
}

// damaged says what to do about an index that cannot be read.
func damaged(err error) error {
	if errors.Is(err, stillso.ErrDamaged) {
		return fmt.Errorf("cannot read the recall index: %w; stillso sweep --rebuild builds it anew from the store", err)
	}
	return err
}

func weigh(h recall.Hit) weighed {
	return weighed{
		ID: h.Doc.ID, Type: h.Doc.Type, Name: h.Doc.Name, Content: h.Doc.Content, Label: h.Doc.Label,
		Strength: h.Strength, Threshold: h.Threshold, Evidence: h.Evidence, Coverage: h.Coverage, Factor: h.Factor,
		Matched: h.Matched, Why: h.Why,
	}
}

// items are hits as they are shown.
func items(hits []recall.Hit) []inject.Item {
	list := make([]inject.Item, len(hits))
	for i, h := range hits {
		list[i] = inject.Item{
			ID: h.Doc.ID, Type: h.Doc.Type, Label: h.Doc.Label, Content: h.Doc.Content, Name: h.Doc.Name,
			Date: time.Unix(h.Doc.Updated, 0).UTC().Format("2006-01-02"),
		}
	}
	return list
}

// block returns the text that would be injected, and the ids in it.
func block(hits []recall.Hit) (string, []string) {
	text, ids := inject.Block(items(hits), inject.Options{})
	if ids == nil {
		ids = []string{}
	}
	return text, ids
}

func (r *recalled) text(p *page) {
	if r.Hint != "" {
		p.printf("%s\n", r.Hint)
	}
	if r.Block == "" {
		p.printf("silence: %s  %s\n", r.Silence, p.faint(fmt.Sprintf("%.1f ms", float64(r.Micros)/1000)))
	} else {
		p.printf("%s\n", r.Block)
		p.printf("%s\n", p.faint(fmt.Sprintf("%.1f ms", float64(r.Micros)/1000)))
	}
	if !r.all || len(r.Weighed) == 0 {
		return
	}
	p.printf("\n")
	p.table(weighedHead(), weighedRows(r.Weighed))
}

func weighedHead() []string {
	return []string{"id", "strength", "needed", "covers", "decision", "content"}
}

func weighedRows(list []weighed) [][]string {
	rows := make([][]string, len(list))
	for i, w := range list {
		why := w.Why
		if why == "" {
			why = "shown"
		}
		rows[i] = []string{
			w.ID, fmt.Sprintf("%.2f", w.Strength), fmt.Sprintf("%.2f", w.Threshold),
			fmt.Sprintf("%.0f %%", 100*w.Coverage), why, w.Content,
		}
	}
	return rows
}

func (r *recalled) exitCode() int {
	if r.Block == "" {
		return exitProblems
	}
	return exitOK
}

// shows reports whether recall would inject the memory.
func (r *recalled) shows(id string) bool { return slices.Contains(r.IDs, id) }
