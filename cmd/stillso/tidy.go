package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2/maybe"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/namespace"
	"stillso/internal/tidy"
)

// tidyCmd looks for duplicates, contradictions and decay.
type tidyCmd struct {
	DryRun bool `name:"dry-run" help:"Only show what would be done."`
	Rules  bool `help:"Leave the model out."`
}

// Help shows examples.
func (tidyCmd) Help() string {
	return `Joins duplicates, marks what a later statement of yours replaces, and retires what
is over. Whatever is not certain waits in stillso review. Nothing is deleted, and
stillso undo --batch last takes a whole run back. The sweep does this once a day.

Examples:
  stillso tidy --dry-run
  stillso tidy
  stillso undo --batch last`
}

// tidied is what a run found, and did.
type tidied struct {
	DryRun   bool             `json:"dry_run,omitempty"`
	Batch    string           `json:"batch,omitempty"`
	Applied  []stillso.Change `json:"applied"`
	Proposed []stillso.Change `json:"proposed"`
	// Outdated counts findings about memories that changed meanwhile.
	Outdated int `json:"outdated,omitempty"`
	Memories int `json:"memories"`
	Pairs    int `json:"pairs"`
	Asked    int `json:"asked"`
	// Orphans counts the memories of namespaces whose directory is gone.
	Orphans map[stillso.Namespace]int `json:"orphans,omitempty"`
	// Stopped says why the model was not asked about the rest.
	Stopped string `json:"stopped,omitempty"`
	Millis  int64  `json:"ms"`
}

func (c *tidyCmd) run(ctx context.Context, a *app) (summary, error) {
	if _, err := a.store(ctx); err != nil {
		return nil, err
	}
	return a.tidy(ctx, tidyOptions{dryRun: c.DryRun, rules: c.Rules})
}

// tidyOptions say how a run is to be done.
type tidyOptions struct {
	dryRun bool
	rules  bool // leave the model out
	calls  int  // at most so many requests; 0 is up to the budget
}

// tidyState is what one run leaves for the next. It holds no text.
type tidyState struct {
	At      time.Time `json:"at"`
	ModelAt time.Time `json:"model_at,omitzero"`
	// Judged lists the pairs that the model judged, latest last.
	Judged []string `json:"judged,omitempty"`
	// Prompt is the version of the prompt that judged them.
	Prompt string `json:"prompt,omitempty"`
}

// maxJudged bounds the list of judged pairs: those of about 5,000 memories.
const maxJudged = 20_000

func (a *app) tidyFile() string { return filepath.Join(string(a.dir), "tidy.json") }

// tidyState reads what the last run left. A broken file is no state.
func (a *app) tidyState() (tidyState, bool) {
	var s tidyState
	data, err := home.ReadFile(a.tidyFile(), 8<<20)
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if s.Prompt != tidy.Version() {
		s.Judged = nil
	}
	return s, !errors.Is(err, fs.ErrNotExist)
}

func (a *app) keepTidyState(s tidyState) error {
	s.Judged, s.Prompt = s.Judged[max(0, len(s.Judged)-maxJudged):], tidy.Version()
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return maybe.WriteFile(a.tidyFile(), data, 0o600)
}

// tidy runs the pass over all memories and applies what it found.
func (a *app) tidy(ctx context.Context, o tidyOptions) (*tidied, error) {
	begin := a.now()
	job, err := a.tidyJob(ctx)
	if err != nil {
		return nil, err
	}
	state, _ := a.tidyState()
	job.Judged, job.Calls = map[string]bool{}, o.calls
	for _, k := range state.Judged {
		job.Judged[k] = true
	}
	if !o.rules {
		if job.Model, err = a.guarded(); err != nil {
			return nil, err
		}
	}
	res, err := tidy.Run(ctx, job)
	if err != nil {
		return nil, err
	}
	sum := &tidied{DryRun: o.dryRun, Memories: len(job.Memories), Pairs: res.Pairs, Asked: res.Asked, Orphans: res.Orphans, Applied: []stillso.Change{}, Proposed: []stillso.Change{}}
	if res.Stopped != nil {
		sum.Stopped = res.Stopped.Error()
	}
	changes := res.Changes
	if !o.dryRun {
		if changes, sum.Outdated, err = a.applySome(ctx, res.Changes); err != nil {
			return nil, err
		}
		state.At = a.now()
		if job.Model != nil {
			state.ModelAt = state.At
			state.Judged = append(state.Judged, res.Judged...)
		}
		if err := a.keepTidyState(state); err != nil {
			return nil, fmt.Errorf("what was found is saved, but not that it was looked for: %w", err)
		}
	}
	for _, c := range changes {
		sum.Batch = job.Batch
		if c.Outcome == stillso.Applied {
			sum.Applied = append(sum.Applied, c)
		} else {
			sum.Proposed = append(sum.Proposed, c)
		}
	}
	sum.Millis = a.now().Sub(begin).Milliseconds()
	return sum, nil
}

// tidyJob gathers what the pass needs to know.
func (a *app) tidyJob(ctx context.Context) (*tidy.Job, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	job := &tidy.Job{Now: a.now(), NewID: stillso.NewID, Batch: stillso.NewID(), Used: map[string]time.Time{}}
	if job.Memories, err = st.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active}}); err != nil {
		return nil, err
	}
	if job.Past, err = st.Journal(ctx, stillso.JournalFilter{
		Outcomes: []stillso.Outcome{stillso.Proposed, stillso.Refused, stillso.Undone},
		Verbs:    []stillso.Verb{stillso.VerbMerge, stillso.VerbSupersede, stillso.VerbRetire, stillso.VerbEdit},
	}); err != nil {
		return nil, err
	}
	receipts, err := st.Receipts(ctx, job.Now.AddDate(0, -6, 0), 50_000)
	if err != nil {
		return nil, err
	}
	for _, r := range receipts {
		for _, h := range r.Hits {
			if h.Shown && r.At.After(job.Used[h.ID]) {
				job.Used[h.ID] = r.At
			}
		}
	}
	gone := map[stillso.Namespace]bool{}
	if reg, err := namespace.ReadRegistry(a.dir.Places()); err == nil { // doctor tells what is wrong with it
		for _, p := range reg.Orphans() {
			gone[p.Namespace] = true
		}
	}
	job.Gone = func(ns stillso.Namespace) bool { return gone[ns] }
	job.FailingSince = func(m *stillso.Memory) time.Time { return failingSince(ctx, st, m) }
	return job, nil
}

// failingSince returns since when a claim of m fails, by its journal; the zero
// time if that cannot be told.
func failingSince(ctx context.Context, st store, m *stillso.Memory) time.Time {
	var since time.Time
	changes, err := st.Journal(ctx, stillso.JournalFilter{MemoryID: m.ID, Outcomes: []stillso.Outcome{stillso.Applied}})
	if err != nil {
		return since
	}
	for _, c := range changes { // newest first
		for _, e := range c.Edits {
			if e.MemoryID() != m.ID || e.After == nil {
				continue
			}
			if e.After.Unverified() == "" {
				return since
			}
			since = c.At
		}
	}
	return since
}

// applySome applies changes together, or, if a memory changed meanwhile, those
// that still fit. It returns those that were, and how many were not.
func (a *app) applySome(ctx context.Context, changes []stillso.Change) ([]stillso.Change, int, error) {
	if len(changes) == 0 {
		return nil, 0, nil
	}
	done, err := a.apply(ctx, changes...)
	if err == nil || !errors.Is(err, stillso.ErrConflict) {
		return done, 0, err
	}
	done = nil
	outdated := 0
	for _, c := range changes {
		one, err := a.opened.Apply(ctx, c)
		switch {
		case errors.Is(err, stillso.ErrConflict):
			outdated++
		case err != nil:
			return done, outdated, errors.Join(err, a.refresh(ctx))
		default:
			done = append(done, one...)
		}
	}
	return done, outdated, a.refresh(ctx)
}

// tidyEvery is how often a sweep tidies: a little less than a day, so that it does
// not wander through the hours.
const tidyEvery = 20 * time.Hour

// tidyCalls bounds the requests of one sweep; each is about twenty pairs.
const tidyCalls = 5

// tidy tidies once a day. The model is asked in a sweep that captured nothing: a
// session's end costs at most its capture.
func (s *sweeper) tidy(ctx context.Context) error {
	state, known := s.app.tidyState()
	now := s.app.now()
	if !known {
		return s.app.keepTidyState(tidyState{At: now, ModelAt: now}) // a new store has nothing to tidy
	}
	model, _, _, err := s.app.choose()
	if err != nil {
		return err
	}
	withModel := model != nil && !s.busy(ctx) && now.Sub(state.ModelAt) >= tidyEvery
	if !withModel && now.Sub(state.At) < tidyEvery {
		return nil
	}
	got, err := s.app.tidy(ctx, tidyOptions{rules: !withModel, calls: tidyCalls})
	if got != nil {
		s.sum.Tidied += len(got.Applied)
		s.sum.Review += len(got.Proposed)
		s.log.Info("tidied", "memories", got.Memories, "pairs", got.Pairs, "asked", got.Asked, "applied", len(got.Applied), "review", len(got.Proposed), "batch", got.Batch, "stopped", got.Stopped)
	}
	return err
}

func (t *tidied) text(p *page) {
	if all := append(slices.Clone(t.Applied), t.Proposed...); len(all) > 0 {
		rows := make([][]string, len(all))
		for i, c := range all {
			what := string(c.Verb)
			if c.Outcome == stillso.Proposed {
				what += "?"
			}
			var ids []string
			for _, e := range c.Edits {
				ids = append(ids, e.MemoryID())
			}
			rows[i] = []string{what, strings.Join(ids, " "), fmt.Sprintf("%.2f", c.Confidence), changeWords(c)}
		}
		p.table([]string{"what", "memories", "sure", ""}, rows)
	}
	verb := ""
	if t.DryRun {
		verb = "would be "
	}
	p.printf("%s, %s looked at, %d judged by a model: %s%d changed, %d put to review  %s\n", plural(t.Memories, "memory", "memories"), plural(t.Pairs, "pair", "pairs"), t.Asked,
		verb, len(t.Applied), len(t.Proposed), p.faint(fmt.Sprintf("%d ms", t.Millis)))
	for _, ns := range slices.Sorted(maps.Keys(t.Orphans)) {
		p.printf("%s of %s: its directory is gone; stillso adopt gives them to another\n", plural(t.Orphans[ns], "memory", "memories"), ns)
	}
	if t.Stopped != "" {
		p.printf("the model was not asked about the rest: %s\n", t.Stopped)
	}
	if !t.DryRun && len(t.Applied) > 0 {
		p.printf("%s\n", p.faint("take it back: stillso undo --batch "+t.Batch))
	}
	if !t.DryRun && len(t.Proposed) > 0 {
		p.printf("%s\n", p.faint("decide: stillso review"))
	}
}

// twice names the rules that stand in a file and once more elsewhere: one day one
// of them is changed and the other is not.
func (d *checkup) twice(ctx context.Context) {
	if d.st == nil {
		return
	}
	list, err := d.st.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active}})
	if err != nil {
		return // the store's own check tells
	}
	const most = 5
	groups := tidy.Twice(list)
	for _, g := range groups[:min(most, len(groups))] {
		var at []string
		for _, m := range g {
			where := m.ID
			if m.Origin == stillso.FromFile && m.File != nil {
				where = fmt.Sprintf("%s:%d", m.File.Path, m.File.Line)
			}
			at = append(at, where)
		}
		d.health.add("twice", note, "keep it in one place: stillso retire ID, or delete the line", "it stands twice, in %s: %s", strings.Join(at, " and in "), cut(oneLine(g[0].Content), 80))
	}
	if len(groups) > most {
		d.health.add("twice", note, "", "and %s more", plural(len(groups)-most, "statement", "statements"))
	}
}
