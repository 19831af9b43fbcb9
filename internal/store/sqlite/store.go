// Package sqlite keeps memories, their journal, sessions and the queue in one
// SQLite database, and the journal a second time in append-only text files.
//
// The rules that must stay true: memory changes only in Apply, Undo and Purge,
// in one transaction with the journal; the memories are the fold of the
// journal; a database that is empty, replaced, rolled back or corrupt is
// ErrDamaged and never an empty store. docs/format.md describes every byte.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"stillso"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// The contracts that a Store fulfils.
var (
	_ stillso.Memories = (*Store)(nil)
	_ stillso.Sessions = (*Store)(nil)
	_ stillso.Queue    = (*Store)(nil)
)

// Options says how to open a store. The zero value opens for reading and
// writing, and creates the store if the folder holds none.
type Options struct {
	// ReadOnly never writes, creates, migrates or repairs. A folder that cannot
	// be written is opened like this without being asked.
	ReadOnly bool
	// BusyTimeout is how long to wait for other processes; 0 is 5 seconds.
	BusyTimeout time.Duration
}

// Store is an open store. Its methods may be used by many goroutines, and many
// processes may hold the same folder open.
type Store struct {
	dir      string
	readOnly bool
	busy     time.Duration
	instance string
	genesis  [hashSize]byte
	opened   os.FileInfo // of store.db, to notice that repair has replaced it
	steps    []migration

	read  *sql.DB // several connections, for queries only
	write *sql.DB // one connection, synchronous=FULL, BEGIN IMMEDIATE
	light *sql.DB // one connection, synchronous=NORMAL: receipts and usage
	// mu lets one goroutine at a time write segments; other processes are kept
	// out by the lock file.
	mu   sync.Mutex
	temp string // folder of the copy that is read in place of a read-only store
}

// Open opens the store in dir. It returns an error that wraps ErrNotFound if
// there is none and opt.ReadOnly is set, ErrDamaged if the store is not what it
// was, ErrNewer if a newer version wrote it, and ErrBusy if another process
// held it for longer than opt.BusyTimeout.
func Open(ctx context.Context, dir string, opt Options) (*Store, error) {
	steps, err := migrations()
	if err != nil {
		return nil, err
	}
	return open(ctx, dir, opt, steps)
}

func open(ctx context.Context, dir string, opt Options, steps []migration) (*Store, error) {
	if opt.BusyTimeout <= 0 {
		opt.BusyTimeout = 5 * time.Second
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	s := &Store{dir: dir, readOnly: opt.ReadOnly, busy: opt.BusyTimeout, steps: steps}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open store in %s: %w", dir, err), s.Close())
	}
	return s, nil
}

// Close releases the store. The last process to close it folds the write-ahead
// log into the database.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.light, s.write} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	if s.temp != "" {
		errs = append(errs, os.RemoveAll(s.temp))
	}
	return errors.Join(errs...)
}

// Instance returns the identity that the store was given when it was created.
func (s *Store) Instance() string { return s.instance }

// ReadOnly reports whether the store can only be read.
func (s *Store) ReadOnly() bool { return s.readOnly }

func (s *Store) path(name string) string { return filepath.Join(s.dir, name) }

// The files of a store.
const (
	dbFile     = "store.db"
	headFile   = "store.head"
	lockFile   = "store.lock"
	journalDir = "journal"
	backupDir  = "backup"
)

// connect prepares the pools on the database file at path; connections are made
// when they are first used. An immutable database is one that nobody can write.
func (s *Store) connect(path string, immutable bool) (err error) {
	if s.read, err = s.pool(path, 4, "deferred", "NORMAL", immutable); err != nil || s.readOnly {
		return err
	}
	if s.write, err = s.pool(path, 1, "immediate", "FULL", false); err != nil {
		return err
	}
	s.light, err = s.pool(path, 1, "immediate", "NORMAL", false)
	return err
}

// pool makes a pool of so many connections to the database. lock says whether
// a transaction takes the write lock when it begins: immediate or, for a pool
// that only reads, deferred.
func (s *Store) pool(path string, conns int, lock, synchronous string, immutable bool) (*sql.DB, error) {
	q := url.Values{"mode": {"rw"}, "_txlock": {lock}, "_dqs": {"0"}}
	if s.readOnly {
		q.Set("mode", "ro")
	}
	if immutable {
		q.Set("immutable", "1")
	}
	// busy_timeout comes first, so that the other settings wait as well.
	q["_pragma"] = []string{
		fmt.Sprintf("busy_timeout(%d)", s.busy.Milliseconds()),
		"secure_delete(1)", "foreign_keys(1)", "trusted_schema(0)", "cell_size_check(1)",
		"mmap_size(0)", "temp_store(2)", "cache_size(-16384)", "synchronous(" + synchronous + ")",
	}
	if lock == "deferred" {
		q.Add("_pragma", "query_only(1)")
	}
	name := filepath.ToSlash(path)
	if name[0] != '/' {
		name = "/" + name // a drive letter
	}
	u := url.URL{Scheme: "file", Path: name, RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// update runs f in one write transaction of db. A lock held by another process
// is waited for, up to the busy timeout; SQLite itself does not wait in every
// case, such as while another process recovers the log.
func (s *Store) update(ctx context.Context, db *sql.DB, f func(*txn) error) error {
	if s.readOnly {
		return fmt.Errorf("%w: %s", stillso.ErrReadOnly, s.dir)
	}
	if err := s.same(); err != nil {
		return err
	}
	return s.retry(ctx, func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return explain(err)
		}
		defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
		t := newTxn(tx)
		if err := s.mayWrite(ctx, t); err != nil {
			return err
		}
		if err := f(t); err != nil {
			return explain(err)
		}
		if err := t.index(ctx); err != nil {
			return explain(err)
		}
		return explain(tx.Commit())
	})
}

// view runs f in one read transaction, so that all it reads is of one moment.
func (s *Store) view(ctx context.Context, f func(*txn) error) error {
	return s.retry(ctx, func() error {
		tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return explain(err)
		}
		defer tx.Rollback() //nolint:errcheck // nothing was written
		return explain(f(newTxn(tx)))
	})
}

// retry repeats f while it fails with ErrBusy, up to the busy timeout. f must
// not have had an effect when it fails.
func (s *Store) retry(ctx context.Context, f func() error) error {
	over := time.NewTimer(s.busy)
	defer over.Stop()
	for pause := 2 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := f()
		if !errors.Is(err, stillso.ErrBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-over.C:
			return err
		case <-time.After(pause):
		}
	}
}

// same reports an error if the database file is no longer the one that was
// opened: repair has put another in its place, or it was moved away.
func (s *Store) same() error {
	now, err := os.Lstat(s.path(dbFile))
	if err != nil || !os.SameFile(now, s.opened) {
		return fmt.Errorf("%w: %s was replaced while it was open; run the command again", stillso.ErrDamaged, dbFile)
	}
	return nil
}
