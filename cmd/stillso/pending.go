package main

import (
	"context"
	"errors"

	"stillso"
)

var errPending = errors.New("this command is not wired yet")

type (
	tryCmd       struct{}
	recallCmd    struct{}
	importCmd    struct{}
	exportCmd    struct{}
	captureCmd   struct{}
	sweepCmd     struct{}
	installCmd   struct{}
	uninstallCmd struct{}
	doctorCmd    struct{}
	repairCmd    struct{}
	evalCmd      struct{}
	purgeCmd     struct{}
)

func (tryCmd) run(context.Context, *app) (summary, error)       { return nil, errPending }
func (recallCmd) run(context.Context, *app) (summary, error)    { return nil, errPending }
func (importCmd) run(context.Context, *app) (summary, error)    { return nil, errPending }
func (exportCmd) run(context.Context, *app) (summary, error)    { return nil, errPending }
func (captureCmd) run(context.Context, *app) (summary, error)   { return nil, errPending }
func (sweepCmd) run(context.Context, *app) (summary, error)     { return nil, errPending }
func (installCmd) run(context.Context, *app) (summary, error)   { return nil, errPending }
func (uninstallCmd) run(context.Context, *app) (summary, error) { return nil, errPending }
func (doctorCmd) run(context.Context, *app) (summary, error)    { return nil, errPending }
func (repairCmd) run(context.Context, *app) (summary, error)    { return nil, errPending }
func (evalCmd) run(context.Context, *app) (summary, error)      { return nil, errPending }
func (purgeCmd) run(context.Context, *app) (summary, error)     { return nil, errPending }

type homeDir struct{ dir string }

func (homeDir) exists() bool                                    { return false }
func (a *app) home() homeDir                                    { return homeDir{} }
func (a *app) storeToWrite(context.Context) (store, error)      { return nil, errPending }
func (a *app) create(context.Context) error                     { return errPending }
func (a *app) refresh(context.Context) error                    { return nil }
func (a *app) place(dir string) (stillso.Place, error)          { return stillso.Place{Namespace: "user"}, nil }
func memoryName(string) string                                  { return "" }
func guessType(string) stillso.Type                             { return stillso.Fact }
