package eval

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
	"stillso/internal/tidy"
)

// ControlFigures are what the control cases came to: facts are told, one is
// superseded, released or purged by a description, then a question is asked.
type ControlFigures struct {
	Cases int             `json:"cases"`
	Right int             `json:"right"`
	Kinds []ControlByKind `json:"kinds"`
	// WrongDeletions counts cases in which a fact that had to stay is no longer
	// active.
	WrongDeletions int           `json:"wrong_deletions"`
	Wrong          []ControlMiss `json:"wrong"`
}

// ControlByKind is the part of one kind of case.
type ControlByKind struct {
	Kind  string `json:"kind"`
	Cases int    `json:"cases"`
	Right int    `json:"right"`
}

// ControlMiss is a case that was not right, and why.
type ControlMiss struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

type controlCase struct {
	ID       string     `json:"id"`
	Kind     string     `json:"category"`
	Facts    []string   `json:"setup_facts"`
	Acts     [][]string `json:"mutations"`
	Question string     `json:"final_query"`
	Must     []string   `json:"must_contain"`
	MustNot  []string   `json:"must_not_contain"`
}

// Control runs the cases of a folder (cases.jsonl) without a model. Scoring is
// that of the set (ForgetEval, arXiv 2606.15903): the first five active memories
// for the question must hold every must string; they and the first five for each
// forbidden string must hold none of the forbidden ones.
func Control(ctx context.Context, dir string, now time.Time) (*ControlFigures, error) {
	cases, err := readLines[controlCase](filepath.Join(dir, "cases.jsonl"))
	if err != nil {
		return nil, err
	}
	f := &ControlFigures{Wrong: []ControlMiss{}}
	for _, c := range cases {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		world, err := c.play(ctx, now)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.ID, err)
		}
		why, err := c.score(world, now)
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", c.ID, err)
		}
		f.count(c, world, why)
	}
	return f, nil
}

func (f *ControlFigures) count(c controlCase, world *world, why string) {
	i := slices.IndexFunc(f.Kinds, func(k ControlByKind) bool { return k.Kind == c.Kind })
	if i < 0 {
		i = len(f.Kinds)
		f.Kinds = append(f.Kinds, ControlByKind{Kind: c.Kind})
	}
	f.Cases++
	f.Kinds[i].Cases++
	if why == "" {
		f.Right++
		f.Kinds[i].Right++
	} else {
		f.Wrong = append(f.Wrong, ControlMiss{ID: c.ID, Why: why})
	}
	// What answers the question must be there, and whatever was not named and is not
	// forbidden must have stayed.
	var left []string
	for _, m := range world.active() {
		left = append(left, m.Content)
	}
	lost := !contains(strings.Join(left, "\n"), c.Must)
	for _, s := range c.Facts {
		lost = lost || !slices.Contains(left, s) && !world.named[s] && !containsAny(s, c.MustNot)
	}
	if lost {
		f.WrongDeletions++
	}
}

// world is a store in memory: what changes make of it is what they would make of
// the real one.
type world struct {
	all []*stillso.Memory
	now time.Time
	n   int
	// named are the facts that an act named.
	named map[string]bool
}

func (w *world) add(content string, origin stillso.Origin, typ stillso.Type) *stillso.Memory {
	for _, m := range w.all {
		if m.State == stillso.Active && m.Content == content {
			return m // known already, as remember says
		}
	}
	m := &stillso.Memory{ID: w.id("m"), Content: content, Type: typ, Origin: origin, Namespace: EvalNamespace}
	m.Default(w.now)
	w.all = append(w.all, m)
	return m
}

func (w *world) id(kind string) string { w.n++; return fmt.Sprintf("%s%04d", kind, w.n) }

// apply does what the store does with changes.
func (w *world) apply(changes []stillso.Change) {
	for _, c := range changes {
		if c.Outcome != stillso.Applied {
			continue
		}
		for _, e := range c.Edits {
			i := slices.IndexFunc(w.all, func(m *stillso.Memory) bool { return m.ID == e.MemoryID() })
			if i < 0 {
				w.all = append(w.all, e.After.Clone())
			} else {
				w.all[i] = e.After.Clone()
			}
		}
	}
}

// tidy runs the pass without a model, to the end.
func (w *world) tidy(ctx context.Context) error {
	for range 3 {
		res, err := tidy.Run(ctx, &tidy.Job{Memories: w.all, Now: w.now, NewID: func() string { return w.id("c") }, Batch: "b"})
		if err != nil {
			return err
		}
		w.apply(res.Changes)
		if !slices.ContainsFunc(res.Changes, func(c stillso.Change) bool { return c.Outcome == stillso.Applied }) {
			return nil
		}
	}
	return nil
}

// active are the memories that an explicit search looks through.
func (w *world) active() []*stillso.Memory {
	return slices.DeleteFunc(slices.Clone(w.all), func(m *stillso.Memory) bool { return m.State != stillso.Active })
}

// play tells the facts and does the acts of a case.
func (c *controlCase) play(ctx context.Context, now time.Time) (*world, error) {
	w := &world{named: map[string]bool{}, now: now.Add(-time.Duration(len(c.Facts)+len(c.Acts)) * time.Hour)}
	for _, fact := range c.Facts {
		w.now = w.now.Add(time.Hour)
		w.add(fact, stillso.FromUser, stillso.Fact)
	}
	for _, act := range c.Acts {
		w.now = w.now.Add(time.Hour)
		if len(act) < 2 {
			return nil, fmt.Errorf("an act has %d words", len(act))
		}
		targets := tidy.About(act[1], w.all)
		for _, t := range targets {
			w.named[t.Memory.Content] = true
		}
		switch act[0] {
		case "purge":
			targets = append(targets, tidy.Spelled(act[1], w.all)...)
			targets = append(targets, tidy.Renamed(targets, w.all)...)
			w.purge(targets)
		case "release":
			w.retire(targets, nil)
		case "supersede":
			if len(act) < 3 {
				return nil, fmt.Errorf("supersede has no new statement")
			}
			by := w.add(act[2], stillso.FromUser, stillso.Fact)
			w.retire(targets, by)
		default:
			return nil, fmt.Errorf("unknown act %q", act[0])
		}
	}
	return w, w.tidy(ctx)
}

// retire takes what was named out of recall; where only a part was, that part. A
// statement does not take its own place: what it repeats is what the person had
// taken out of it.
func (w *world) retire(targets []tidy.Target, by *stillso.Memory) {
	for _, t := range targets {
		m := t.Memory
		switch {
		case t.Rest != "":
			m.Content = t.Rest
		case m == by:
		case by != nil:
			m.State, m.SupersededBy = stillso.Superseded, by.ID
		default:
			m.State = stillso.Retired
		}
	}
}

// purge erases what was named.
func (w *world) purge(targets []tidy.Target) {
	for _, t := range targets {
		if t.Rest != "" {
			t.Memory.Content = t.Rest
			continue
		}
		w.all = slices.DeleteFunc(w.all, func(m *stillso.Memory) bool { return m == t.Memory })
	}
}

// topFive are the contents of the first five active memories for a prompt, in the
// order of recall.
func (w *world) topFive(prompts []string, now time.Time) ([][]string, error) {
	out := make([][]string, len(prompts))
	err := withSnapshot(w.active(), RecallOptions{Now: now}, func(snap *snapshot.Snapshot) error {
		for i, prompt := range prompts {
			o := recall.Recall(snap, recall.Query{Prompt: prompt, Namespaces: []stillso.Namespace{EvalNamespace}, Host: "eval", Now: now, Explain: true})
			for _, h := range o.Weighed[:min(5, len(o.Weighed))] {
				out[i] = append(out[i], h.Doc.Content)
			}
		}
		return nil
	})
	return out, err
}

// score returns why a case is not right, or "".
func (c *controlCase) score(w *world, now time.Time) (string, error) {
	found, err := w.topFive(append([]string{c.Question}, c.MustNot...), now)
	if err != nil {
		return "", err
	}
	answer := strings.Join(found[0], "\n")
	for _, s := range c.Must {
		if !contains(answer, []string{s}) {
			return fmt.Sprintf("%q is not found", s), nil
		}
	}
	for _, list := range found {
		for _, s := range c.MustNot {
			if contains(strings.Join(list, "\n"), []string{s}) {
				return fmt.Sprintf("%q is still found", s), nil
			}
		}
	}
	return "", nil
}

// contains reports whether s holds every one of the list, whatever the case.
func contains(s string, list []string) bool {
	s = strings.ToLower(s)
	return !slices.ContainsFunc(list, func(x string) bool { return !strings.Contains(s, strings.ToLower(x)) })
}

func containsAny(s string, list []string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(list, func(x string) bool { return strings.Contains(s, strings.ToLower(x)) })
}
