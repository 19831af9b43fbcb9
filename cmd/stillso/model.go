package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"

	"stillso/internal/capture"
	"stillso/internal/judge"
	"stillso/internal/llm"
	"stillso/internal/llm/anthropic"
	"stillso/internal/llm/cli"
	"stillso/internal/llm/openai"
	"stillso/internal/llm/replay"
)

// adapters lists every way to reach a model, the ones to choose by themselves
// first.
func adapters() []llm.Adapter {
	return append(cli.Adapters(), openai.Adapter(), anthropic.Adapter(), replay.Adapter())
}

// providerVariable goes before the provider in the settings: "none" keeps a test
// or a person on a train from calling out.
const providerVariable = "STILLSO_LLM"

// llmClock is the clock of model calls.
func (a *app) llmClock() llm.Clock { return llm.Clock{Now: a.std.clock, Sleep: llm.Sleep} }

// choose returns the model that the settings name or that is installed; nil, with
// the reason, if there is none. It calls nothing.
func (a *app) choose() (llm.Model, llm.Choice, config, error) {
	conf, err := a.config()
	if err != nil {
		return nil, llm.Choice{}, conf, err
	}
	if p := a.std.env(providerVariable); p != "" {
		conf.Model.Adapter = p
	}
	env := llm.Environment{Environ: os.Environ(), Directory: filepath.Join(string(a.dir), "llm"), Clock: a.llmClock()}
	if wd, err := os.Getwd(); err == nil {
		if pl, err := a.place(wd); err == nil && pl.Root != "" {
			env.Avoid = []string{pl.Root} // a program that a repository brings is not run
		}
	}
	m, choice, err := llm.Choose(conf.Model, env, adapters()...)
	return m, choice, conf, err
}

// guarded returns the chosen model for one run, behind time-out, retries, ledger
// and budget; nil if there is none.
func (a *app) guarded() (llm.Model, error) {
	m, _, conf, err := a.choose()
	if err != nil || m == nil {
		return nil, err
	}
	guard := conf.Model.Guard(a.llmClock(), rand.Float64)
	guard.Book, guard.Spent = a.opened.AddUsage, a.opened.Usage
	return guard.Wrap(m), nil
}

// captureModel returns the model that proposes and the judge that scores; both
// are nil where rules alone have to do.
func (a *app) captureModel() (llm.Model, func(context.Context, capture.Question) error, error) {
	m, err := a.guarded()
	if err != nil || m == nil {
		return nil, nil, err
	}
	return m, func(ctx context.Context, q capture.Question) error {
		return judge.Score(ctx, m, judge.Question(q))
	}, nil
}
