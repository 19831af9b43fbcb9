package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"stillso"
)

// Enqueue adds items; one whose Kind and Key wait already is dropped.
func (s *Store) Enqueue(ctx context.Context, items ...stillso.QueueItem) error {
	err := s.update(ctx, s.write, func(tx *txn) error {
		for _, it := range items {
			text, err := json.Marshal(it.Payload)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO queue (kind, key, payload, at, attempts, not_before, last_error) VALUES (?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (kind, key) DO NOTHING`,
				it.Kind, it.Key, string(text), micros(it.At), it.Attempts, micros(it.NotBefore), it.LastError)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

// Waiting lists items whose NotBefore has passed, oldest first; limit 0 is no
// limit.
func (s *Store) Waiting(ctx context.Context, now time.Time, limit int) (out []stillso.QueueItem, err error) {
	if limit <= 0 {
		limit = -1
	}
	err = s.view(ctx, func(tx *txn) error {
		out = nil
		rows, err := tx.QueryContext(ctx, `SELECT id, kind, key, payload, at, attempts, not_before, last_error FROM queue
			WHERE not_before IS NULL OR not_before <= ? ORDER BY at, id LIMIT ?`, now.UnixMicro(), limit)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err tells
		for rows.Next() {
			var it stillso.QueueItem
			var text []byte
			var at, before sql.NullInt64
			if err := rows.Scan(&it.ID, &it.Kind, &it.Key, &text, &at, &it.Attempts, &before, &it.LastError); err != nil {
				return scanned(err)
			}
			if err := json.Unmarshal(text, &it.Payload); err != nil {
				return damaged("queue item %d is not readable", it.ID)
			}
			if at.Valid {
				it.At = time.UnixMicro(at.Int64).UTC()
			}
			if before.Valid {
				it.NotBefore = time.UnixMicro(before.Int64).UTC()
			}
			out = append(out, it)
		}
		return rows.Err()
	})
	return out, err
}

// Finish removes an item; one that is gone already is fine.
func (s *Store) Finish(ctx context.Context, id int64) error {
	return s.update(ctx, s.write, func(tx *txn) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM queue WHERE id = ?", id)
		return err
	})
}

// Postpone counts a failure and sets when to retry.
func (s *Store) Postpone(ctx context.Context, id int64, until time.Time, cause string) error {
	return s.update(ctx, s.write, func(tx *txn) error {
		r, err := tx.ExecContext(ctx, "UPDATE queue SET attempts = attempts + 1, not_before = ?, last_error = ? WHERE id = ?",
			micros(until), cause, id)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 0 {
			return fmt.Errorf("%w: no queue item %d", stillso.ErrNotFound, id)
		}
		return nil
	})
}

// AddReceipts stores drained receipts. The same receipt is stored once, so a
// spool file may be drained again after a crash.
func (s *Store) AddReceipts(ctx context.Context, list []stillso.Receipt) error {
	err := s.update(ctx, s.light, func(tx *txn) error {
		for _, r := range list {
			r.At = utc(r.At)
			text, err := json.Marshal(r)
			if err != nil {
				return err
			}
			sum := sha256.Sum256(text)
			_, err = tx.ExecContext(ctx, "INSERT INTO receipts (at, sum, payload) VALUES (?, ?, ?) ON CONFLICT (sum) DO NOTHING",
				micros(r.At), sum[:16], string(text))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("store receipts: %w", err)
	}
	return nil
}

// Receipts lists receipts from since on, newest first; limit 0 is no limit.
func (s *Store) Receipts(ctx context.Context, since time.Time, limit int) ([]stillso.Receipt, error) {
	if limit <= 0 {
		limit = -1
	}
	return decodeAll[stillso.Receipt](ctx, s, "SELECT payload FROM receipts WHERE ifnull(at, 0) >= ? ORDER BY at DESC, n DESC LIMIT ?", from(since), limit)
}

// AddUsage books a model call.
func (s *Store) AddUsage(ctx context.Context, u stillso.Usage) error {
	u.At = utc(u.At)
	text, err := json.Marshal(u)
	if err != nil {
		return fmt.Errorf("book a model call: %w", err)
	}
	return s.update(ctx, s.light, func(tx *txn) error {
		_, err := tx.ExecContext(ctx, "INSERT INTO usage (at, payload) VALUES (?, ?)", micros(u.At), string(text))
		return err
	})
}

// Usage lists the model calls from since on, oldest first.
func (s *Store) Usage(ctx context.Context, since time.Time) ([]stillso.Usage, error) {
	return decodeAll[stillso.Usage](ctx, s, "SELECT payload FROM usage WHERE ifnull(at, 0) >= ? ORDER BY at, n", from(since))
}

// from is the smallest column value of a time that is not before t.
func from(t time.Time) int64 {
	if t.IsZero() {
		return -1 << 63
	}
	return t.UnixMicro()
}
