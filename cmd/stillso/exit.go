package main

import (
	"context"
	"errors"
	"fmt"

	"stillso"
)

// The exit codes, as `stillso --help` lists them. Scripts rest on them: a code
// is added, never given another meaning.
const (
	exitOK          = 0
	exitProblems    = 1
	exitUsage       = 2
	exitNoStore     = 10
	exitBusy        = 11
	exitDamaged     = 12
	exitNewer       = 13
	exitInterrupted = 130
)

// exitCodes is the table of the help text.
const exitCodes = `Exit codes:
  0    done
  1    problems were found, nothing matched, or the command failed
  2    wrong usage or input
  10   there is no store yet
  11   another process holds the store
  12   the store is damaged (stillso repair)
  13   the store was written by a newer stillso
  130  interrupted`

var (
	// errUsage marks wrong usage or input.
	errUsage = errors.New("usage")
	// errNoStore says that nothing was ever saved under this home.
	errNoStore = errors.New("no store")
)

// marked is an error with a class for the exit code and a text that names
// nothing of that class.
type marked struct {
	class error
	text  string
	cause error
}

func (m *marked) Error() string { return m.text }
func (m *marked) Unwrap() []error {
	if m.cause == nil {
		return []error{m.class}
	}
	return []error{m.class, m.cause}
}

// usagef returns an error of wrong usage or input. The text says what happened:
// why; what to do.
func usagef(format string, a ...any) error {
	err := fmt.Errorf(format, a...)
	return &marked{class: errUsage, text: err.Error(), cause: errors.Unwrap(err)}
}

// exitCode maps an error to the exit code that the help text promises.
func exitCode(err error) int {
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.Is(err, errNoStore):
		return exitNoStore
	case errors.Is(err, stillso.ErrBusy):
		return exitBusy
	case errors.Is(err, stillso.ErrDamaged):
		return exitDamaged
	case errors.Is(err, stillso.ErrNewer):
		return exitNewer
	case errors.Is(err, errUsage), errors.Is(err, stillso.ErrInvalid), errors.Is(err, stillso.ErrNotFound):
		return exitUsage
	}
	return exitProblems
}

// advice is what a person can do about a class of errors whose text comes from
// a room that cannot know the command line.
func advice(err error) string {
	switch {
	case errors.Is(err, context.Canceled):
		return "nothing half-done was kept; run the command again"
	case errors.Is(err, stillso.ErrBusy):
		return "another process is writing; try again in a moment"
	case errors.Is(err, stillso.ErrDamaged):
		return "run `stillso repair`; nothing is overwritten before it has made a copy"
	case errors.Is(err, stillso.ErrNewer):
		return "install the newer stillso that wrote it"
	case errors.Is(err, stillso.ErrReadOnly):
		return "check the permissions of the home directory, and the free space of its disk"
	case errors.Is(err, stillso.ErrConflict):
		return "look at it with `stillso show`, then run the command again"
	}
	return ""
}
