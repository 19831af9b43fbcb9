package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stillso/internal/eval"
)

// evalExtractionCmd measures capture.
type evalExtractionCmd struct {
	Gold    string `required:"" help:"Labelled excerpts, a line each." placeholder:"FILE" type:"path"`
	Replies string `help:"A folder with a model's recorded replies; else the rules alone." placeholder:"DIR" type:"path"`
	Wrong   bool   `help:"Also list the rows that were missed or captured falsely."`
}

// Help shows examples.
func (evalExtractionCmd) Help() string {
	return `Nothing is sent anywhere: replies are recorded ones.

Examples:
  stillso eval extraction --gold extraction.jsonl
  stillso eval extraction --gold extraction.jsonl --replies replies --wrong`
}

// extracted is what eval extraction found.
type extracted struct {
	*eval.CaptureFigures
	wrong bool
}

func (*evalExtractionCmd) needsNoHome() {}

func (c *evalExtractionCmd) run(ctx context.Context, a *app) (summary, error) {
	e, err := eval.MeasureCapture(ctx, c.Gold, c.Replies, a.now())
	if err != nil {
		return nil, usagef("cannot measure: %w", err)
	}
	return &extracted{e, c.Wrong}, nil
}

func (e *extracted) text(p *page) {
	p.table([]string{"rows", "borderline", "right", "false", "missed", "precision", "recall", "to review", "mode"}, [][]string{{
		fmt.Sprint(e.Rows), fmt.Sprint(e.Borderline), fmt.Sprint(e.Right), fmt.Sprint(e.False), fmt.Sprint(e.Missed),
		fmt.Sprintf("%.3f", e.Precision), fmt.Sprintf("%.3f", e.Recall), fmt.Sprint(e.ToReview), e.Mode,
	}})
	if !e.wrong {
		return
	}
	for _, h := range e.Details {
		if !h.Wrong() {
			continue
		}
		what := "missed"
		if !h.Remember {
			what = "false"
		}
		p.printf("\n%s %s  %s\n", p.red(what), p.bold(h.ID), cut(oneLine(h.Said), 160))
		if h.Want != "" {
			p.printf("  wanted   %s\n", oneLine(h.Want))
		}
		for _, s := range h.Admitted {
			p.printf("  admitted %s\n", oneLine(s))
		}
		for _, s := range h.Refused {
			p.printf("  refused  %s\n", oneLine(s))
		}
	}
}

// evalBenchCmd runs a public benchmark.
type evalBenchCmd struct {
	Name string `arg:"" help:"Which one; stillso eval bench list names them."`
	Dir  string `arg:"" optional:"" help:"The folder of its data." type:"path"`
}

// Help shows examples.
func (evalBenchCmd) Help() string {
	return `R@k is the mean share of the right documents among the first k; any@k the share of
questions with a right one among them; MRR the mean of 1/rank of the first right one.

Examples:
  stillso eval bench devmembench bench/devmembench
  stillso eval bench list`
}

// benched is what benchmarks came to.
type benched struct {
	Runs []eval.BenchFigures `json:"runs"`
	List []string            `json:"benchmarks,omitempty"`
}

func (*evalBenchCmd) needsNoHome() {}

func (c *evalBenchCmd) run(ctx context.Context, _ *app) (summary, error) {
	if c.Name == "list" {
		return &benched{List: eval.Benches()}, nil
	}
	if !slices.Contains(eval.Benches(), c.Name) {
		return nil, usagef("unknown benchmark %q: use one of %s", c.Name, strings.Join(eval.Benches(), ", "))
	}
	if c.Dir == "" {
		return nil, usagef("cannot run %s: no folder was given; name that of its data", c.Name)
	}
	f, err := eval.Bench(ctx, c.Name, c.Dir)
	if err != nil {
		return nil, usagef("cannot run %s: %w", c.Name, err)
	}
	return &benched{Runs: []eval.BenchFigures{f}}, nil
}

func (b *benched) text(p *page) {
	for _, name := range b.List {
		p.printf("%s\n", name)
	}
	for _, f := range b.Runs {
		p.printf("%-14s %6d documents %5d questions ", f.Name, f.Documents, f.Questions)
		for _, name := range slices.Sorted(maps.Keys(f.Metrics)) {
			p.printf("  %s %.1f", name, f.Metrics[name])
		}
		p.printf("\n")
	}
}

// evalAllCmd measures everything in the folder of shared data.
type evalAllCmd struct {
	Shared string `help:"The folder of shared data; else $STILLSO_SHARED, else ../shared." placeholder:"DIR" type:"path"`
	Quick  bool   `help:"Leave the public benchmarks out."`
}

// evaluatedAll is what eval all found.
type evaluatedAll struct {
	Bare    *evaluated   `json:"recall_without_aliases"`
	Aliased *evaluated   `json:"recall_with_aliases"`
	Capture []*extracted `json:"extraction"`
	Bench   *benched     `json:"bench"`
	Control []summary    `json:"control"`
}

func (c *evalAllCmd) run(ctx context.Context, a *app) (summary, error) {
	dir := c.Shared
	if dir == "" {
		dir = a.std.env("STILLSO_SHARED")
	}
	if dir == "" {
		dir = a.directory(filepath.Join("..", "shared"))
	}
	sets, err := filepath.Glob(filepath.Join(dir, "real", "recall", "*"))
	if err != nil || len(sets) == 0 {
		return nil, usagef("nothing to measure: there is no real/recall below %s; set STILLSO_SHARED to the folder of shared data", dir)
	}
	p := newProgress(a)
	defer p.clear()
	sum := &evaluatedAll{Bench: &benched{}}
	foreign := filepath.Join(dir, "real", "prompts.jsonl")
	for _, bare := range []bool{true, false} {
		p.show("recall on %d sets", len(sets))
		got, err := (&evalRecallCmd{Set: sets, Bare: bare, Foreign: foreign}).run(ctx, a)
		if err != nil {
			return nil, err
		}
		if e, ok := got.(*evaluated); ok && bare {
			sum.Bare = e
		} else if ok {
			sum.Aliased = e
		}
	}
	for _, replies := range []string{"", filepath.Join(dir, "real", "replies")} {
		p.show("extraction")
		e, err := eval.MeasureCapture(ctx, filepath.Join(dir, "real", "extraction.jsonl"), replies, a.now())
		if err != nil {
			return nil, err
		}
		sum.Capture = append(sum.Capture, &extracted{CaptureFigures: e})
	}
	for _, name := range eval.Benches() {
		data := filepath.Join(dir, "bench", name)
		if _, err := os.Stat(data); err != nil || c.Quick {
			continue
		}
		p.show("bench %s", name)
		f, err := eval.Bench(ctx, name, data)
		if err != nil {
			return nil, err
		}
		sum.Bench.Runs = append(sum.Bench.Runs, f)
	}
	p.show("control")
	return sum, sum.control(ctx, a, filepath.Join(dir, "bench"))
}

func (e *evaluatedAll) text(p *page) {
	p.printf("%s\n", p.bold("Recall without aliases"))
	e.Bare.text(p)
	p.printf("\n%s\n", p.bold("Recall with aliases"))
	e.Aliased.text(p)
	for _, x := range e.Capture {
		p.printf("\n%s\n", p.bold("Extraction, "+x.Mode))
		x.text(p)
	}
	if len(e.Bench.Runs) > 0 {
		p.printf("\n%s\n", p.bold("Public benchmarks of search"))
		e.Bench.text(p)
	}
	p.printf("\n%s\n", p.bold("Control: forgetting, the newest value, lies"))
	for _, c := range e.Control {
		c.text(p)
	}
}
