package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"stillso"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks the database as a store: "Stil" in ASCII.
const applicationID = 0x5374696C

// migration takes a store to version number.
type migration struct {
	number int
	sql    string
}

// migrations reads the embedded steps, in order and without gaps from 1.
func migrations() ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var steps []migration
	for i, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		digits, _, _ := strings.Cut(filepath.Base(name), "_")
		if n, err := strconv.Atoi(digits); err != nil || n != i+1 {
			return nil, fmt.Errorf("migration %s is not number %d", name, i+1)
		}
		steps = append(steps, migration{i + 1, string(text)})
	}
	return steps, nil
}

// version is the format that this program writes.
func (s *Store) version() int { return len(s.steps) }

// migrate takes the database to the newest version, one transaction a step. It
// runs under the lock file. A store that held something is backed up first.
func (s *Store) migrate(ctx context.Context, from int) error {
	if from == 0 {
		// Permanent for the file; SQLite needs the whole file for itself here.
		if _, err := s.write.ExecContext(ctx, "PRAGMA journal_mode=WAL"); err != nil {
			return explain(err)
		}
	}
	for _, step := range s.steps[from:] {
		if step.number > 1 {
			if err := s.backup(ctx, step.number-1); err != nil {
				return fmt.Errorf("back up before migration %d: %w", step.number, err)
			}
		}
		err := s.retry(ctx, func() error { return s.migrateStep(ctx, step) })
		if err != nil {
			return fmt.Errorf("migration %d: %w", step.number, err)
		}
	}
	_, err := s.write.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return explain(err)
}

func (s *Store) migrateStep(ctx context.Context, step migration) error {
	tx, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	var now int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&now); err != nil || now >= step.number {
		return explain(err)
	}
	if _, err := tx.ExecContext(ctx, step.sql); err != nil {
		return explain(err)
	}
	if step.number == 1 {
		if err := begin(ctx, newTxn(tx)); err != nil {
			return explain(err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d", step.number)); err != nil {
		return explain(err)
	}
	return explain(tx.Commit())
}

// begin gives a new database its identity.
func begin(ctx context.Context, tx *txn) error {
	id, err := newInstance()
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id=%d", applicationID))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO meta (key, value)
		VALUES ('instance', ?), ('min_reader', '1'), ('min_writer', '1'), ('terms', ?)`, id, analysis())
	return err
}

// newInstance draws the identity of a store.
func newInstance() (string, error) {
	id := make([]byte, 12)
	_, err := rand.Read(id)
	return hex.EncodeToString(id), err
}

// backup copies the database as it was in the old version; three are kept.
func (s *Store) backup(ctx context.Context, old int) error {
	dir := s.path(backupDir)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	name := filepath.Join(dir, fmt.Sprintf("store-v%d.db", old))
	temp := name + ".new"
	if err := errors.Join(remove(temp), remove(name)); err != nil {
		return err
	}
	// An empty file that exists is written by VACUUM INTO, and keeps its mode.
	if err := os.WriteFile(temp, nil, 0o600); err != nil {
		return err
	}
	if _, err := s.write.ExecContext(ctx, "VACUUM INTO ?", temp); err != nil {
		return errors.Join(explain(err), remove(temp))
	}
	if err := os.Rename(temp, name); err != nil {
		return err
	}
	syncDir(dir)
	return remove(filepath.Join(dir, fmt.Sprintf("store-v%d.db", old-3)))
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// mayWrite stops a writer that a newer version has shut out since it opened.
func (s *Store) mayWrite(ctx context.Context, tx *txn) error {
	least, err := metaNumber(ctx, tx, "min_writer")
	if err == nil && least > s.version() {
		err = fmt.Errorf("%w: version %d of the format is needed to write, this program has %d; update stillso",
			stillso.ErrNewer, least, s.version())
	}
	return err
}

func meta(ctx context.Context, tx *txn, key string) (string, error) {
	var v string
	err := tx.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return "", damaged("meta value %s is missing", key)
	}
	return v, scanned(err)
}

func metaNumber(ctx context.Context, tx *txn, key string) (int, error) {
	v, err := meta(ctx, tx, key)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, damaged("meta value %s is %q", key, v)
	}
	return n, nil
}
