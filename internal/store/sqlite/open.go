package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"stillso"
)

// prepare opens the store in s.dir: see Open.
func (s *Store) prepare(ctx context.Context) error {
	if err := checkFolder(s.dir, !s.readOnly); err != nil {
		return err
	}
	if !s.readOnly && isReadOnly(s.dir) {
		s.readOnly = true
	}
	if s.readOnly {
		return s.prepareRead(ctx)
	}
	if err := closeToOthers(s.dir); err != nil {
		return fmt.Errorf("close the folder to others: %w", err)
	}
	// Most opens find everything in place and take no lock.
	if done, err := s.ready(ctx); done || err != nil {
		return err
	}
	return s.locked(ctx, func() error { return s.settle(ctx) })
}

// ready opens the database if nothing is to be created, migrated or healed.
func (s *Store) ready(ctx context.Context) (bool, error) {
	h, err := readHead(s.path(headFile))
	if err != nil || h == nil {
		return false, err
	}
	if err := s.attach(h); err != nil {
		return false, err
	}
	done := false
	err = s.view(ctx, func(tx *txn) error {
		version, err := s.identify(ctx, tx)
		if err != nil || version < s.version() {
			return err
		}
		if err := s.agree(ctx, tx, h); err != nil {
			return err
		}
		index, err := meta(ctx, tx, "terms")
		if err != nil {
			return err
		}
		seq, _, err := s.dbHead(ctx, tx)
		due, dueErr := scrubDue(ctx, tx)
		done = seq == h.seq && index == analysis() && !due
		return errors.Join(err, dueErr)
	})
	return done, err
}

// attach connects to the database file, which must have something in it: SQLite
// takes an empty file for an empty database, and throws its log away.
func (s *Store) attach(h *head) error {
	if s.read != nil {
		return nil
	}
	path := s.path(dbFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return damaged("%s is missing, but %s is there", dbFile, headFile)
	}
	if err != nil {
		return err
	}
	if info.Size() == 0 && h != nil {
		return damaged("%s is empty", dbFile)
	}
	s.opened = info
	return s.connect(path, false)
}

// identify checks that the database is a store and returns its version, 0 if it
// has not been begun.
func (s *Store) identify(ctx context.Context, tx *txn) (int, error) {
	var app, version int
	if err := tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return 0, explain(err)
	}
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, explain(err)
	}
	if app == 0 && version == 0 {
		var tables int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return 0, explain(err)
		}
		if tables == 0 {
			return 0, nil
		}
	}
	if app != applicationID || version < 1 {
		return 0, damaged("%s is not a database of stillso", dbFile)
	}
	least, err := metaNumber(ctx, tx, "min_reader")
	if err != nil {
		return 0, err
	}
	if least > s.version() {
		return 0, fmt.Errorf("%w: version %d of the format is needed to read it, this program has %d; update stillso",
			stillso.ErrNewer, least, s.version())
	}
	if s.instance, err = meta(ctx, tx, "instance"); err != nil {
		return 0, err
	}
	s.genesis = genesis(s.instance)
	return version, nil
}

// settle creates, migrates and heals. It runs under the lock file.
func (s *Store) settle(ctx context.Context) error {
	h, err := readHead(s.path(headFile))
	if err != nil {
		return err
	}
	ns, err := segments(s.path(journalDir))
	if err != nil {
		return err
	}
	info, err := os.Lstat(s.path(dbFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if empty := err != nil || info.Size() == 0; empty && h == nil {
		if len(ns) > 0 {
			return damaged("%s is missing or empty, but there is a journal", dbFile)
		}
		f, err := os.OpenFile(s.path(dbFile), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return err
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if err := s.attach(h); err != nil {
		return err
	}
	version := 0
	err = s.view(ctx, func(tx *txn) error {
		version, err = s.identify(ctx, tx)
		return err
	})
	if err != nil {
		return err
	}
	if version == 0 && (h != nil || len(ns) > 0) {
		return damaged("%s is empty, but there is a journal", dbFile)
	}
	if version < s.version() {
		if err := s.migrate(ctx, version); err != nil {
			return err
		}
		if err := s.view(ctx, func(tx *txn) error { _, err := s.identify(ctx, tx); return err }); err != nil {
			return err
		}
	}
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	return errors.Join(s.refreshIndex(ctx), s.finishPurge(ctx))
}

// prepareRead opens the store without writing anything. A folder that nobody
// can write is opened as immutable, since the log needs a file of its own there.
func (s *Store) prepareRead(ctx context.Context) error {
	h, err := readHead(s.path(headFile))
	if err != nil {
		return err
	}
	path := s.path(dbFile)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return s.nothing(h)
	}
	if err != nil {
		return err
	}
	s.opened = info
	immutable := isReadOnly(s.dir)
	if log, err := os.Stat(path + "-wal"); immutable && err == nil && log.Size() > 0 {
		// The last writer was killed. Its log can only be read where a file
		// can be made for its index.
		if path, err = s.copyOut(); err != nil {
			return fmt.Errorf("copy the database out of a read-only folder: %w", err)
		}
		immutable = false
	}
	if err := s.connect(path, immutable); err != nil {
		return err
	}
	return s.view(ctx, func(tx *txn) error {
		version, err := s.identify(ctx, tx)
		if err != nil {
			return err
		}
		if version == 0 {
			return s.nothing(h)
		}
		if h != nil {
			return s.agree(ctx, tx, h)
		}
		end, _, err := s.findEnd(nil)
		if err != nil {
			return err
		}
		return s.agree(ctx, tx, end)
	})
}

// nothing is the error for a missing or empty database: damage if there ever was a change,
// else another process is only just creating the store.
func (s *Store) nothing(h *head) error {
	ns, err := segments(s.path(journalDir))
	if err != nil {
		return err
	}
	if h != nil || len(ns) > 0 {
		return damaged("%s is missing or empty, but there is a journal", dbFile)
	}
	return fmt.Errorf("%w: there is no store", stillso.ErrNotFound)
}

// copyOut copies database and log to a temporary folder of this user.
func (s *Store) copyOut() (string, error) {
	temp, err := os.MkdirTemp("", "stillso-*") // mode 0700
	if err != nil {
		return "", err
	}
	s.temp = temp
	root, err := os.OpenRoot(temp)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // nothing is written through the folder itself
	for _, name := range []string{dbFile, dbFile + "-wal"} {
		in, err := os.Open(s.path(name))
		if err != nil {
			return "", err
		}
		out, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = io.Copy(out, in)
			err = errors.Join(err, out.Close())
		}
		if err = errors.Join(err, in.Close()); err != nil {
			return "", err
		}
	}
	return temp + string(os.PathSeparator) + dbFile, nil
}
