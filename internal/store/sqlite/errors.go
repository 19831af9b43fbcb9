package sqlite

import (
	"errors"
	"fmt"
	"strings"

	"stillso"

	"modernc.org/sqlite"
)

// The primary result codes of SQLite that have a meaning for callers
// (sqlite.org/rescode.html).
const (
	codeBusy     = 5
	codeLocked   = 6
	codeReadOnly = 8
	codeIO       = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26

	codeShortRead = codeIO | 2<<8
)

// explain wraps an error of SQLite in the error of the contract that it means.
func explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	for _, known := range []error{stillso.ErrBusy, stillso.ErrDamaged, stillso.ErrReadOnly, stillso.ErrNewer} {
		if errors.Is(err, known) {
			return err
		}
	}
	if e.Code() == codeShortRead {
		return fmt.Errorf("%w: the database is cut short (%w); run stillso repair", stillso.ErrDamaged, err)
	}
	switch e.Code() & 0xff {
	case codeBusy, codeLocked:
		return fmt.Errorf("%w: another process is writing (%w); try again", stillso.ErrBusy, err)
	case codeReadOnly:
		return fmt.Errorf("%w (%w)", stillso.ErrReadOnly, err)
	case codeCorrupt, codeNotADB:
		return fmt.Errorf("%w: %w; run stillso repair", stillso.ErrDamaged, err)
	case codeFull:
		return fmt.Errorf("the disk is full: nothing was saved (%w); free some space and try again", err)
	case codeCantOpen:
		return fmt.Errorf("the database cannot be opened: %w; check the permissions of the folder", err)
	}
	return err
}

// scanned explains an error of reading a row. A value of another type than the
// column's is damage: no writer of ours stores it.
func scanned(err error) error {
	if err != nil && strings.HasPrefix(err.Error(), "sql: Scan error") {
		return damaged("a row is not readable (%v)", err)
	}
	return explain(err)
}

func damaged(format string, a ...any) error {
	return fmt.Errorf("%w: %s; run stillso repair", stillso.ErrDamaged, fmt.Sprintf(format, a...))
}
