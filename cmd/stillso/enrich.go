package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"stillso"
	"stillso/internal/enrich"
	"stillso/internal/llm"
	"stillso/internal/snapshot"
	"stillso/internal/terms"
	"stillso/internal/verify"
)

// enrichCmd adds the words that a person would type.
type enrichCmd struct {
	ID    []string `arg:"" optional:"" help:"The memories; else those of this project and yours that are due."`
	All   bool     `short:"a" help:"Every namespace."`
	Limit int      `short:"n" help:"At most so many memories; 0 is no limit." default:"0"`
	Dir   string   `help:"Act as if in this directory." type:"path"`
}

// Help shows examples.
func (enrichCmd) Help() string {
	return `Aliases are phrases that a person would type when they need a memory: only they
reach a memory that shares no word with the prompt. A model writes them, one call a
memory, within the budget of config.toml; without a model they are learnt from what
was said in the memory's own session. Interrupted, it goes on where it was.
In the same call the model says what in a memory can be checked (paths, branches,
versions): verify.model_claims = false in config.toml turns that off.

Examples:
  stillso enrich
  stillso enrich --all
  stillso enrich k3v9`
}

// enriched is what enrich did.
type enriched struct {
	enrich.Summary
	Model string `json:"model,omitempty"`
	Batch string `json:"batch,omitempty"`
	// Stopped says why it ended before all were done.
	Stopped string `json:"stopped,omitempty"`
}

func (c *enrichCmd) run(ctx context.Context, a *app) (summary, error) {
	list, err := c.memories(ctx, a)
	if err != nil {
		return nil, err
	}
	p := newProgress(a)
	defer p.clear()
	return a.enrich(ctx, list, c.Limit, func(s enrich.Summary) { p.show("memory %d of %d, %d aliases", s.Done+s.Failed, s.Due, s.Aliases) })
}

func (c *enrichCmd) memories(ctx context.Context, a *app) ([]*stillso.Memory, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	var list []*stillso.Memory
	for _, id := range c.ID {
		m, err := a.find(ctx, id)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	if len(list) > 0 {
		return list, nil
	}
	f := stillso.Filter{States: []stillso.State{stillso.Active}}
	if !c.All {
		if f.Namespaces, err = a.readNamespaces("project", c.Dir); err != nil {
			return nil, err
		}
	}
	return st.Memories(ctx, f)
}

// enrich gives memories their aliases: by a model, or by what was said in their
// sessions. That the budget is spent or the model is not to be had is no error:
// it says so, and the rest waits.
func (a *app) enrich(ctx context.Context, list []*stillso.Memory, limit int, tell func(enrich.Summary)) (*enriched, error) {
	model, err := a.guarded()
	if err != nil {
		return nil, err
	}
	if model == nil {
		return a.enrichBySessions(ctx, list)
	}
	if limit > 0 {
		due := slices.DeleteFunc(slices.Clone(list), func(m *stillso.Memory) bool { return !enrich.Due(m) })
		list = due[:min(limit, len(due))]
	}
	snap, err := a.openIndex()
	if err != nil {
		return nil, err
	}
	defer snap.Close() //nolint:errcheck // it was only read
	languages, err := a.languages(ctx)
	if err != nil {
		return nil, err
	}
	claims, err := a.claiming()
	if err != nil {
		return nil, err
	}
	sum := &enriched{Model: model.Name(), Batch: stillso.NewID()}
	b := enrich.Batch{
		Model: model, Now: a.now, ID: sum.Batch, Progress: tell,
		Context: func(ctx context.Context, m *stillso.Memory) (enrich.Context, error) {
			near := slices.DeleteFunc(a.near(ctx, m.Namespace, m.Content, 4), func(n *stillso.Memory) bool { return n.ID == m.ID || n.State != stillso.Active })
			return enrich.Context{Neighbours: near, Languages: languages, Session: m.SourceSession, Frequency: frequency(snap), Claims: claims}, nil
		},
		Apply: func(ctx context.Context, c stillso.Change) error {
			redactChange(&c)
			_, err := a.opened.Apply(ctx, c)
			return err
		},
	}
	sum.Summary, err = b.Run(ctx, list)
	if sum.Done == 0 {
		sum.Batch = ""
	} else {
		err = errors.Join(err, a.refresh(ctx))
	}
	if errors.Is(err, llm.ErrBudget) || llm.NeedsPerson(err) || llm.Retryable(err) {
		sum.Stopped, err = err.Error(), nil
	}
	return sum, err
}

// claiming lets the model say what can be checked, by the probes that there are; nil
// if the settings say no.
func (a *app) claiming() (*enrich.Claiming, error) {
	conf, err := a.config()
	if err != nil || !conf.Verify.ModelClaims {
		return nil, err
	}
	return &enrich.Claiming{
		Valid: func(probe string, args []string) bool {
			return verify.Valid(stillso.Claim{Probe: probe, Args: args}) == nil
		},
		Known: verify.Claims,
	}, nil
}

// frequency tells how common a term is in the index.
func frequency(snap *snapshot.Snapshot) enrich.Frequency {
	total := snap.All().Len()
	return func(term string) (int, int) { return snap.Frequency(term), total }
}

// enrichBySessions learns aliases from the prompts of the session that each
// memory was captured in.
func (a *app) enrichBySessions(ctx context.Context, list []*stillso.Memory) (*enriched, error) {
	sum := &enriched{Batch: stillso.NewID()}
	sum.Total = len(list)
	snap, err := a.openIndex()
	if err != nil {
		return nil, err
	}
	defer snap.Close() //nolint:errcheck // it was only read
	prompts := map[string][]string{}
	var changes []stillso.Change
	for _, m := range list {
		m, err := a.opened.Memory(ctx, m.ID) // as it is now: another capture may have changed it since
		if errors.Is(err, stillso.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.SourceSession == "" || len(m.Aliases) > 0 || m.State != stillso.Active {
			continue
		}
		sum.Due++
		if prompts[m.SourceSession] == nil {
			turns, err := a.opened.Turns(ctx, m.SourceSession)
			if err != nil {
				return nil, err
			}
			prompts[m.SourceSession] = []string{}
			for _, t := range turns {
				if t.Speaker == stillso.Typed {
					prompts[m.SourceSession] = append(prompts[m.SourceSession], t.Text)
				}
			}
		}
		phrases := enrich.FromSession(m, prompts[m.SourceSession], enrich.Context{Frequency: frequency(snap)})
		ch, err := enrich.LearnChange(m, phrases, "session", a.now())
		if errors.Is(err, enrich.ErrUnchanged) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ch.Batch = sum.Batch
		changes = append(changes, ch)
		sum.Done++
		sum.Aliases += len(phrases)
	}
	if len(changes) == 0 {
		sum.Batch = ""
		return sum, nil
	}
	_, err = a.apply(ctx, changes...)
	return sum, err
}

// languages lists those that the user types, by the scripts of recent prompts.
func (a *app) languages(ctx context.Context) ([]string, error) {
	sessions, err := a.opened.Sessions(ctx, a.now().Add(-60*24*time.Hour))
	if err != nil {
		return nil, err
	}
	seen, total := map[terms.Script]int{}, 0
	for _, s := range sessions[:min(20, len(sessions))] {
		turns, err := a.opened.Turns(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		for _, t := range turns {
			if t.Speaker != stillso.Typed {
				continue
			}
			scripts := map[terms.Script]bool{}
			for _, term := range terms.Analyze(t.Text) {
				scripts[terms.ScriptOf(term.Text)] = true
			}
			for s := range scripts {
				seen[s]++
			}
			total++
		}
	}
	var out []string
	for _, l := range []struct {
		script terms.Script
		name   string
	}{{terms.Latin, "en"}, {terms.Han, "zh"}, {terms.Kana, "ja"}, {terms.Hangul, "ko"}} {
		if seen[l.script]*20 > total { // one prompt in twenty
			out = append(out, l.name)
		}
	}
	return out, nil
}

func (e *enriched) text(p *page) {
	how := "from what was said in their sessions, for there is no model"
	if e.Model != "" {
		how = "by " + e.Model
	}
	p.printf("%s for %d of %s, %s\n", plural(e.Aliases, "alias", "aliases"), e.Done, plural(e.Due, "memory that was due", "memories that were due"), how)
	if e.Claims > 0 {
		p.printf("%s that can be checked; stillso verify does\n", plural(e.Claims, "claim", "claims"))
	}
	if e.Failed > 0 {
		p.printf("%s left for the next time: %s\n", plural(e.Failed, "memory is", "memories are"), e.LastError)
	}
	if e.Stopped != "" {
		p.printf("%s %s\n", p.yellow("stopped:"), e.Stopped)
	}
	if e.Batch != "" {
		p.printf("%s\n", p.faint("take it back: stillso undo --batch "+e.Batch))
	}
}

func (e *enriched) exitCode() int {
	if e.Failed > 0 || e.Stopped != "" {
		return exitProblems
	}
	return exitOK
}
