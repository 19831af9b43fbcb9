package main

import (
	"context"
	"errors"

	"stillso"
	"stillso/internal/files"
)

var errPending = errors.New("this command is not wired yet")

type (
	installCmd   struct{}
	uninstallCmd struct{}
	evalCmd      struct{}
)

func (installCmd) run(context.Context, *app) (summary, error)   { return nil, errPending }
func (uninstallCmd) run(context.Context, *app) (summary, error) { return nil, errPending }
func (evalCmd) run(context.Context, *app) (summary, error)      { return nil, errPending }

func (a *app) loadedLines(path, text string) []files.Loaded { return nil }
func (a *app) importable(string) string                     { return "" }

func (d *checkup) hooks(context.Context) {}

type captureCmd struct{}

func (captureCmd) run(context.Context, *app) (summary, error)                       { return nil, errPending }
func (s *sweeper) capture(context.Context) error                                    { return nil }
func (a *app) candidates(s stillso.Session, turns []stillso.Turn) []*stillso.Memory { return nil }
