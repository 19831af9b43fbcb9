package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stillso"
)

// minQuote is the length in bytes from which a text is looked for in turns when
// it is purged: shorter ones stand in turns that have nothing to do with it.
const minQuote = 8

// Purge erases a memory: its text goes from the memories, the journal, the
// full-text index, the journal segments, the write-ahead log and the free pages,
// from the turns that it rests on or that repeat it, and from the receipts that
// name it. Backups and what repair has kept aside are deleted. What stays is the
// id and the hashes of the journal. It cannot be undone and is for humans only.
//
// If it fails with ErrBusy the memory is gone, but another process still reads
// old pages; Purge is then to be called again, and may be at any time.
func (s *Store) Purge(ctx context.Context, id string, by stillso.Actor, at time.Time) (stillso.Change, error) {
	var out stillso.Change
	fail := func(err error) (stillso.Change, error) { return out, fmt.Errorf("purge %s: %w", id, err) }
	switch {
	case by.Kind != stillso.Human:
		return fail(errors.New("only a human may erase a memory; retire it instead"))
	case at.IsZero():
		return fail(fmt.Errorf("%w: it has no time", stillso.ErrInvalid))
	case s.readOnly:
		return fail(stillso.ErrReadOnly)
	}
	err := s.locked(ctx, func() error {
		// What was written before is told first: the segments are about to change.
		if err := s.catchUp(ctx); err != nil {
			return err
		}
		err := s.update(ctx, s.write, func(tx *txn) error {
			w, err := s.newWriter(ctx, tx)
			if err != nil {
				return err
			}
			out, err = w.purge(ctx, id, by, at.UTC())
			return err
		})
		if err != nil {
			return err
		}
		return s.scrub(context.WithoutCancel(ctx))
	})
	if err != nil {
		return fail(err)
	}
	return out, nil
}

// purge erases the text in the database and writes the change that says so. A
// memory that was purged before gets no second change.
func (w *writer) purge(ctx context.Context, id string, by stillso.Actor, at time.Time) (c stillso.Change, err error) {
	var known, before bool
	err = w.tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM journal_parts WHERE memory = ?), EXISTS (SELECT 1 FROM purged WHERE memory = ?)`, id, id).
		Scan(&known, &before)
	if err != nil {
		return c, err
	}
	if !known {
		return c, fmt.Errorf("%w: no memory %s", stillso.ErrNotFound, id)
	}
	texts, turns, err := w.said(ctx, id)
	if err != nil {
		return c, err
	}
	erased, err := w.eraseTurns(ctx, texts, turns)
	if err != nil {
		return c, err
	}
	name, err := json.Marshal(id)
	if err != nil {
		return c, err
	}
	for _, step := range []struct {
		query string
		args  []any
	}{
		{`UPDATE journal_parts SET salt = NULL, body = NULL WHERE part = 0 AND seq IN
			(SELECT p.seq FROM journal_parts p JOIN journal j ON j.seq = p.seq WHERE p.memory = ? AND j.verb <> 'purge')`, []any{id}},
		{`UPDATE journal_parts SET salt = NULL, body = NULL WHERE memory = ?`, []any{id}},
		{`DELETE FROM memories_fts WHERE rowid = (SELECT n FROM memories WHERE id = ?)`, []any{id}},
		{`DELETE FROM memories WHERE id = ?`, []any{id}},
		{`DELETE FROM receipts WHERE instr(payload, '"id":' || ?) > 0`, []any{string(name)}},
		// A row that was deleted stays in its segment of the index until that is
		// merged.
		{`INSERT INTO memories_fts (memories_fts) VALUES ('optimize')`, nil},
		{`INSERT INTO turns_fts (turns_fts) VALUES ('optimize')`, nil},
		// If this process dies now, the next one finishes the work: see scrub.
		{`INSERT INTO meta (key, value) VALUES ('scrub', '1') ON CONFLICT (key) DO UPDATE SET value = '1'`, nil},
	} {
		if _, err := w.tx.ExecContext(ctx, step.query, step.args...); err != nil {
			return c, err
		}
	}
	if before {
		return w.purgeOf(ctx, id)
	}
	c = stillso.Change{
		ID: stillso.NewID(), Seq: w.seq + 1, Verb: stillso.VerbPurge, Outcome: stillso.Applied, Actor: by, Confidence: 1, At: at,
		Reason: fmt.Sprintf("purge of memory %s, with %d turns", id, erased), Edits: []stillso.Edit{tombstone(id)},
	}
	e, err := newEntry(&c, w.prev)
	if err != nil {
		return c, err
	}
	if err := writeEntry(ctx, w.tx, e); err != nil {
		return c, err
	}
	_, err = w.tx.ExecContext(ctx, "INSERT INTO purged (memory, seq) VALUES (?, ?)", id, c.Seq)
	return c, err
}

// purgeOf returns the change that purged a memory.
func (w *writer) purgeOf(ctx context.Context, id string) (c stillso.Change, err error) {
	err = readEntries(ctx, w.tx, "j.seq = (SELECT seq FROM purged WHERE memory = ?)", []any{id}, "ORDER BY p.part",
		func(e *entry, now stillso.Outcome) error {
			c, err = e.change(now)
			return err
		})
	return c, err
}

// said collects what the journal knows of a memory: the texts that it consists
// of and rests on, and the turns that it cites.
func (w *writer) said(ctx context.Context, id string) (texts, turns []string, err error) {
	cite := func(list []stillso.Evidence) {
		for _, e := range list {
			texts = append(texts, e.Quote)
			if e.Turn != "" {
				turns = append(turns, e.Turn)
			}
		}
	}
	err = readEntries(ctx, w.tx, "j.seq IN (SELECT seq FROM journal_parts WHERE memory = ?)", []any{id}, "ORDER BY j.seq, p.part",
		func(e *entry, now stillso.Outcome) error {
			c, err := e.change(now)
			if err != nil {
				return err
			}
			if len(c.Edits) == 1 { // the evidence of a batch may belong to another memory
				cite(c.Evidence)
			}
			for _, edit := range c.Edits {
				for _, m := range []*stillso.Memory{edit.Before, edit.After} {
					if m != nil && m.ID == id {
						texts = append(texts, m.Content, m.Body, m.Why)
						cite(m.Evidence)
					}
				}
			}
			return nil
		})
	texts = slices.DeleteFunc(texts, func(t string) bool { return len(t) < minQuote })
	slices.Sort(texts)
	slices.Sort(turns)
	return slices.Compact(texts), slices.Compact(turns), err
}

// eraseTurns empties the turns that are cited, and those that hold one of the
// texts word for word. It returns their number.
func (w *writer) eraseTurns(ctx context.Context, texts, turns []string) (int64, error) {
	var erased int64
	empty := func(cond, arg string) error {
		_, err := w.tx.ExecContext(ctx, "DELETE FROM turns_fts WHERE rowid IN (SELECT n FROM turns WHERE "+cond+")", arg)
		if err != nil {
			return err
		}
		r, err := w.tx.ExecContext(ctx, "UPDATE turns SET text = '' WHERE text <> '' AND "+cond, arg)
		if err != nil {
			return err
		}
		n, err := r.RowsAffected()
		erased += n
		return err
	}
	for _, t := range turns {
		if err := empty("id = ?", t); err != nil {
			return erased, err
		}
	}
	for _, t := range texts {
		if err := empty("instr(text, ?) > 0", t); err != nil {
			return erased, err
		}
	}
	return erased, nil
}

// scrub removes what was erased from everywhere but the live rows. Until it is
// through, the meta key scrub says that it is due.
func (s *Store) scrub(ctx context.Context) error {
	if err := s.view(ctx, func(tx *txn) error { return s.rewriteSegments(ctx, tx) }); err != nil {
		return fmt.Errorf("rewrite the journal segments: %w", err)
	}
	for _, pattern := range []string{backupDir, dbFile + ".corrupt-*", journalDir + ".corrupt-*", headFile + ".new-*", repairDir} {
		names, err := filepath.Glob(filepath.Join(globEscape(s.dir), pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := os.RemoveAll(name); err != nil {
				return err
			}
		}
	}
	err := s.retry(ctx, func() error {
		_, err := s.write.ExecContext(ctx, "VACUUM")
		return explain(err)
	})
	if err != nil {
		return fmt.Errorf("free pages: %w", err)
	}
	err = s.retry(ctx, func() error {
		var busy, log, done int
		if err := s.write.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &log, &done); err != nil {
			return explain(err)
		}
		if busy != 0 {
			return fmt.Errorf("%w: it is erased, but another process still reads old pages of the log; end it, then purge again", stillso.ErrBusy)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.update(ctx, s.write, func(tx *txn) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM meta WHERE key = 'scrub'")
		return err
	})
}

// finishPurge scrubs if a purge was cut short. The caller holds the lock file.
// A reader that is in the way is left alone: the next open tries again.
func (s *Store) finishPurge(ctx context.Context) error {
	due := false
	err := s.view(ctx, func(tx *txn) (err error) {
		due, err = scrubDue(ctx, tx)
		return err
	})
	if err != nil || !due {
		return err
	}
	if err := s.scrub(ctx); !errors.Is(err, stillso.ErrBusy) {
		return err
	}
	return nil
}

func scrubDue(ctx context.Context, tx *txn) (due bool, err error) {
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'scrub')").Scan(&due)
	return due, err
}

// globEscape quotes what a pattern of filepath.Glob takes for a wild card.
func globEscape(path string) string {
	if os.PathSeparator == '\\' {
		return path // Windows knows no escape, and no * or ? in names
	}
	var out []byte
	for i := range len(path) {
		if c := path[i]; c == '*' || c == '?' || c == '[' || c == '\\' {
			out = append(out, '\\')
		}
		out = append(out, path[i])
	}
	return string(out)
}
