package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"stillso/internal/eval"
)

// evalControlCmd measures supersede, release and purge by description.
type evalControlCmd struct {
	Dir string `arg:"" help:"The folder with cases.jsonl." type:"path"`
}

// Help shows examples.
func (evalControlCmd) Help() string {
	return `Facts are told, one is superseded, released or purged in words, then a question is
asked. Works without a model; the score is that of the set (ForgetEval).

Examples:
  stillso eval control bench/forgeteval-external77`
}

// controlled is what eval control found.
type controlled struct{ *eval.ControlFigures }

func (*evalControlCmd) needsNoHome() {}

func (c *evalControlCmd) run(ctx context.Context, a *app) (summary, error) {
	f, err := eval.Control(ctx, c.Dir, a.now())
	if err != nil {
		return nil, usagef("cannot measure: %w", err)
	}
	return &controlled{f}, nil
}

func (c *controlled) text(p *page) {
	var rows [][]string
	for _, k := range c.Kinds {
		rows = append(rows, []string{fmt.Sprintf("%d/%d", k.Right, k.Cases), k.Kind})
	}
	p.table([]string{"right", "kind"}, rows)
	for _, m := range c.Wrong {
		p.printf("%s %s  %s\n", p.red("wrong"), m.ID, m.Why)
	}
	p.printf("%d of %d right, %s\n", c.Right, c.Cases, plural(c.WrongDeletions, "wrong deletion", "wrong deletions"))
}

// evalNewestCmd measures whether a new statement outranks the old one.
type evalNewestCmd struct {
	Dir  string `arg:"" help:"The folder with N.messages.jsonl and N.questions.json." type:"path"`
	Raw  bool   `help:"Load the whole messages instead of the statements in them."`
	List bool   `help:"Also list the questions for which the old statement comes first."`
}

// Help shows examples.
func (evalNewestCmd) Help() string {
	return `For each knowledge-update question of BEAM the old and the new statement are loaded
as memories and tidied without a model; then the question is asked.

Examples:
  stillso eval newest bench/beam-100k`
}

// outranked is what eval newest found.
type outranked struct {
	*eval.NewestFigures
	list bool
}

func (*evalNewestCmd) needsNoHome() {}

func (c *evalNewestCmd) run(ctx context.Context, a *app) (summary, error) {
	f, err := eval.Newest(ctx, c.Dir, c.Raw, a.now())
	if err != nil {
		return nil, usagef("cannot measure: %w", err)
	}
	return &outranked{f, c.List}, nil
}

func (o *outranked) text(p *page) {
	for _, d := range o.Details {
		if o.list && !d.NewFirst {
			p.printf("%s %s\n  old %s\n  new %s\n", p.red("old first"), d.Question, cut(oneLine(d.Old), 160), cut(oneLine(d.New), 160))
		}
	}
	p.printf("the new statement comes first in %d of %d", o.New, o.Questions)
	if o.LeftOut > 0 {
		p.printf(", %d left out: both are one message", o.LeftOut)
	}
	p.printf("\n")
}

// evalConflictCmd plays a story of changes, lies and conditions.
type evalConflictCmd struct {
	Seed int  `help:"Which story." default:"0"`
	List bool `help:"Also list some wrong answers."`
}

// Help shows examples.
func (evalConflictCmd) Help() string {
	return `Fifty sessions tell facts that change, lies that were planted, statements that hold
under a condition, and much else; after each the store is tidied without a model and
asked about everything. +1 for the right memory, -1 for a wrong one without a label.

Examples:
  stillso eval conflict
  stillso eval conflict --seed 7 --list`
}

// conflicted is what eval conflict found.
type conflicted struct {
	*eval.ConflictFigures
	list bool
}

func (*evalConflictCmd) needsNoHome() {}

func (c *evalConflictCmd) run(ctx context.Context, a *app) (summary, error) {
	if c.Seed < 0 {
		return nil, usagef("cannot measure: the seed %d is negative; use 0 or more", c.Seed)
	}
	f, err := eval.Conflict(ctx, uint64(c.Seed), a.now())
	if err != nil {
		return nil, err
	}
	return &conflicted{f, c.List}, nil
}

func (c *conflicted) text(p *page) {
	var rows [][]string
	for _, a := range append(c.Ages, c.Kinds...) {
		rows = append(rows, []string{fmt.Sprint(a.Questions), fmt.Sprint(a.Right), fmt.Sprint(a.Silent), fmt.Sprint(a.Wrong), fmt.Sprintf("%.1f %%", 100*a.Of()), a.Name})
	}
	p.table([]string{"questions", "right", "silent", "wrong", "share", ""}, rows)
	if c.list {
		for _, w := range c.Wrong {
			p.printf("%s %s\n", p.red("wrong"), w)
		}
	}
	p.printf("score %d of %d in %d sessions with %s; %s recalled without a label\n", c.Score, c.Questions, c.Sessions, plural(c.Memories, "memory", "memories"), plural(c.Unlabelled, "lie", "lies"))
}

// control measures what keeps a store true: sets that are there, and the story.
func (e *evaluatedAll) control(ctx context.Context, a *app, bench string) error {
	runs := []command{&evalConflictCmd{}}
	if dir := filepath.Join(bench, "beam-100k"); isDir(dir) {
		runs = append([]command{&evalNewestCmd{Dir: dir}}, runs...)
	}
	if dir := filepath.Join(bench, "forgeteval-external77"); isDir(dir) {
		runs = append([]command{&evalControlCmd{Dir: dir}}, runs...)
	}
	for _, r := range runs {
		got, err := r.run(ctx, a)
		if err != nil {
			return err
		}
		e.Control = append(e.Control, got)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
