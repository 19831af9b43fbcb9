package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"stillso"
	"stillso/internal/terms"
)

// Record stores the session, in the place of an older state of it, and those of
// its turns that are new. A turn without a session gets this one.
func (s *Store) Record(ctx context.Context, session stillso.Session, turns []stillso.Turn) (int, error) {
	if session.ID == "" {
		return 0, errors.New("record a session: it has no id")
	}
	session.StartedAt, session.EndedAt = utc(session.StartedAt), utc(session.EndedAt)
	text, err := json.Marshal(session)
	if err != nil {
		return 0, fmt.Errorf("record session %s: %w", session.ID, err)
	}
	added := 0
	err = s.update(ctx, s.write, func(tx *txn) error {
		added = 0
		_, err := tx.ExecContext(ctx, `INSERT INTO sessions (id, namespace, started_at, payload) VALUES (?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET namespace = excluded.namespace, started_at = excluded.started_at, payload = excluded.payload`,
			session.ID, session.Namespace, micros(session.StartedAt), string(text))
		if err != nil {
			return err
		}
		for _, t := range turns {
			isNew, err := recordTurn(ctx, tx, session.ID, t)
			if err != nil {
				return err
			}
			if isNew {
				added++
			}
		}
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("record session %s: %w", session.ID, err)
	}
	return added, nil
}

func recordTurn(ctx context.Context, tx *txn, session string, t stillso.Turn) (bool, error) {
	if t.ID == "" {
		return false, errors.New("a turn has no id")
	}
	if t.Session == "" {
		t.Session = session
	}
	var n int64
	err := tx.QueryRowContext(ctx, `INSERT INTO turns (id, session, speaker, at, directory, text) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING RETURNING n`, t.ID, t.Session, t.Speaker, micros(t.At), t.Directory, t.Text).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	tx.turns[n] = turnText{t.Speaker, t.Text}
	return true, nil
}

// turnIndexed returns the terms of a turn as the columns of the full-text index.
// Output of tools and the harness is not what anybody said, and bulky.
func turnIndexed(who stillso.Speaker, text string) (said, answered string) {
	switch who {
	case stillso.Typed:
		return terms.Line(text), ""
	case stillso.Assistant:
		return "", terms.Line(text)
	}
	return "", ""
}

// indexTurn enters what a person or the assistant said into the full-text index.
func indexTurn(ctx context.Context, tx *txn, n int64, who stillso.Speaker, text string) error {
	said, answered := turnIndexed(who, text)
	if said == "" && answered == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO turns_fts (rowid, said, answered) VALUES (?, ?, ?)", n, said, answered)
	return err
}

// Session returns one session by id.
func (s *Store) Session(ctx context.Context, id string) (*stillso.Session, error) {
	list, err := decodeAll[stillso.Session](ctx, s, "SELECT payload FROM sessions WHERE id = ?", id)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: no session %s", stillso.ErrNotFound, id)
	}
	return &list[0], nil
}

// Sessions lists sessions, newest first, that started after since. With a zero
// since it lists all, also those whose start is not known.
func (s *Store) Sessions(ctx context.Context, since time.Time) ([]stillso.Session, error) {
	if since.IsZero() {
		return decodeAll[stillso.Session](ctx, s, "SELECT payload FROM sessions ORDER BY started_at DESC, id")
	}
	return decodeAll[stillso.Session](ctx, s, "SELECT payload FROM sessions WHERE started_at > ? ORDER BY started_at DESC, id", since.UnixMicro())
}

// Turns lists the turns of a session in the order in which they were recorded,
// which is that of the transcript. Their times are exact to the microsecond.
func (s *Store) Turns(ctx context.Context, session string) (out []stillso.Turn, err error) {
	err = s.view(ctx, func(tx *txn) error {
		out = nil
		rows, err := tx.QueryContext(ctx, "SELECT "+turnColumns+" FROM turns t WHERE t.session = ? ORDER BY t.n", session)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err tells
		for rows.Next() {
			t, err := scanTurn(rows)
			if err != nil {
				return err
			}
			out = append(out, *t)
		}
		return rows.Err()
	})
	return out, err
}

const turnColumns = "t.id, t.session, t.speaker, t.at, t.directory, t.text"

func scanTurn(row scanner, more ...any) (*stillso.Turn, error) {
	var t stillso.Turn
	var at sql.NullInt64
	if err := row.Scan(append([]any{&t.ID, &t.Session, &t.Speaker, &at, &t.Directory, &t.Text}, more...)...); err != nil {
		return nil, scanned(err)
	}
	if at.Valid {
		t.At = time.UnixMicro(at.Int64).UTC()
	}
	return &t, nil
}

// Seen remembers where a namespace lives. A root that is seen again is updated.
func (s *Store) Seen(ctx context.Context, p stillso.Place) error {
	p.SeenAt = utc(p.SeenAt)
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("remember a place: %w", err)
	}
	return s.update(ctx, s.write, func(tx *txn) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO places (namespace, root, seen_at, payload) VALUES (?, ?, ?, ?)
			ON CONFLICT (namespace, root) DO UPDATE SET seen_at = excluded.seen_at, payload = excluded.payload`,
			p.Namespace, p.Root, micros(p.SeenAt), string(text))
		return err
	})
}

// Places lists what was seen, last seen first.
func (s *Store) Places(ctx context.Context) ([]stillso.Place, error) {
	return decodeAll[stillso.Place](ctx, s, "SELECT payload FROM places ORDER BY seen_at DESC, namespace, root")
}

func utc(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.UTC()
}

// decodeAll returns the rows of a query whose one column is JSON.
func decodeAll[T any](ctx context.Context, s *Store, query string, args ...any) (out []T, err error) {
	err = s.view(ctx, func(tx *txn) error {
		out = nil
		rows, err := tx.QueryContext(ctx, query, args...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err tells
		for rows.Next() {
			var text []byte
			if err := rows.Scan(&text); err != nil {
				return scanned(err)
			}
			var v T
			if err := json.Unmarshal(text, &v); err != nil {
				return damaged("a row is not readable: %v", err)
			}
			out = append(out, v)
		}
		return rows.Err()
	})
	return out, err
}
