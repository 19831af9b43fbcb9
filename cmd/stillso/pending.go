package main

import (
	"context"
	"errors"

	"stillso"
)

var errPending = errors.New("this command is not wired yet")

type evalCmd struct{}

func (evalCmd) run(context.Context, *app) (summary, error) { return nil, errPending }

func (a *app) importable(string) string { return "" }

type captureCmd struct{}

func (captureCmd) run(context.Context, *app) (summary, error)                       { return nil, errPending }
func (s *sweeper) capture(context.Context) error                                    { return nil }
func (a *app) candidates(s stillso.Session, turns []stillso.Turn) []*stillso.Memory { return nil }
