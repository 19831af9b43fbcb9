package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"stillso"
)

// micros is the form of a time in a column: microseconds since 1970, NULL for
// the zero time.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// null is NULL for the empty string.
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// writeEntry adds a row to the journal.
func writeEntry(ctx context.Context, tx *txn, e *entry) error {
	c := &e.core
	_, err := tx.ExecContext(ctx, `INSERT INTO journal (seq, id, outcome, verb, actor, batch, undoes, resolves, at, core, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Seq, c.ID, c.Outcome, c.Verb, c.Actor.Kind, null(c.Batch), null(c.Undoes), null(c.Resolves), micros(c.At), string(e.raw), e.hash[:])
	if err != nil {
		return err
	}
	for i, p := range e.parts {
		var memory any
		if i > 0 {
			memory = c.Memories[i-1]
		}
		var body any
		if p.body != nil {
			body = string(p.body)
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO journal_parts (seq, part, memory, salt, body, hash) VALUES (?, ?, ?, ?, ?, ?)`,
			c.Seq, i, memory, p.salt, body, p.hash[:])
		if err != nil {
			return err
		}
	}
	return nil
}

// entries calls f for every row of the journal after seq, oldest first, with the
// outcome that it has now. It does not check them.
func (s *Store) entries(ctx context.Context, tx *txn, after int64, f func(*entry, stillso.Outcome) error) error {
	prev, err := s.hashAt(ctx, tx, after)
	if err != nil {
		return err
	}
	return readEntries(ctx, tx, "j.seq > ?", []any{after}, "ORDER BY j.seq, p.part", func(e *entry, now stillso.Outcome) error {
		if after++; e.core.Seq != after {
			return damaged("journal entry %d is missing", after)
		}
		e.prev = prev
		prev = e.hash
		return f(e, now)
	})
}

// readEntries reads rows of the journal; prev is not set.
func readEntries(ctx context.Context, tx *txn, where string, args []any, order string, f func(*entry, stillso.Outcome) error) error {
	rows, err := tx.QueryContext(ctx, `SELECT j.seq, j.outcome, j.core, j.hash, p.part, p.salt, p.body, p.hash
		FROM journal j LEFT JOIN journal_parts p ON p.seq = j.seq WHERE `+where+" "+order, args...)
	if err != nil {
		return explain(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var e *entry
	var now stillso.Outcome
	for rows.Next() {
		var seq int64
		var number sql.NullInt64
		var outcome, text string
		var salt, hash, partHash []byte
		var body sql.NullString
		if err := rows.Scan(&seq, &outcome, &text, &hash, &number, &salt, &body, &partHash); err != nil {
			return scanned(err)
		}
		if e == nil || e.core.Seq != seq {
			if e != nil {
				if err := f(e, now); err != nil {
					return err
				}
			}
			e, now = &entry{raw: []byte(text)}, stillso.Outcome(outcome)
			if json.Unmarshal(e.raw, &e.core) != nil || e.core.Seq != seq || len(hash) != hashSize {
				return damaged("journal entry %d is not readable", seq)
			}
			copy(e.hash[:], hash)
		}
		if !number.Valid || number.Int64 != int64(len(e.parts)) || len(partHash) != hashSize {
			return damaged("a part of journal entry %d is missing", seq)
		}
		p := part{hash: [hashSize]byte(partHash)}
		if body.Valid {
			p.body, p.salt = []byte(body.String), salt
		}
		e.parts = append(e.parts, p)
	}
	if err := rows.Err(); err != nil {
		return explain(err)
	}
	if e != nil {
		return f(e, now)
	}
	return nil
}

// Journal lists changes, newest first, or oldest first if f says so.
func (s *Store) Journal(ctx context.Context, f stillso.JournalFilter) ([]stillso.Change, error) {
	var w conditions
	if f.MemoryID != "" {
		w.add("seq IN (SELECT seq FROM journal_parts WHERE memory = ?)", f.MemoryID)
	}
	if f.ChangeID != "" {
		startsWith(&w, "id", f.ChangeID)
	}
	if f.Batch != "" {
		w.add("batch = ?", f.Batch)
	}
	in(&w, "outcome", f.Outcomes)
	in(&w, "actor", f.Actors)
	in(&w, "verb", f.Verbs)
	if !f.Since.IsZero() {
		w.add("at >= ?", f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		w.add("at <= ?", f.Until.UnixMicro())
	}
	if f.AfterSeq > 0 {
		w.add("seq > ?", f.AfterSeq)
	}
	order, limit := "DESC", -1
	if f.Oldest {
		order = "ASC"
	}
	if f.Limit > 0 {
		limit = f.Limit
	}
	var out []stillso.Change
	err := s.view(ctx, func(tx *txn) error {
		out = nil
		last := int64(0)
		where := fmt.Sprintf("j.seq IN (SELECT seq FROM journal WHERE %s ORDER BY seq %s LIMIT %d)", w.sql(), order, limit)
		return readEntries(ctx, tx, where, w.args, "ORDER BY j.seq "+order+", p.part", func(e *entry, now stillso.Outcome) error {
			if err := e.checkParts(); err != nil {
				return err
			}
			// Without other conditions the numbers have no gaps.
			if gap := e.core.Seq - last; last != 0 && len(w.list) == 0 && gap != 1 && gap != -1 {
				return damaged("an entry between %d and %d of the journal is missing", last, e.core.Seq)
			}
			last = e.core.Seq
			c, err := e.change(now)
			out = append(out, c)
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal: %w", err)
	}
	return out, nil
}

// conditions is the WHERE of a query.
type conditions struct {
	list []string
	args []any
}

func (w *conditions) add(cond string, args ...any) {
	w.list = append(w.list, "("+cond+")")
	w.args = append(w.args, args...)
}

func (w *conditions) sql() string {
	if len(w.list) == 0 {
		return "1"
	}
	return strings.Join(w.list, " AND ")
}

// in lets through rows whose column is one of list; an empty list lets all through.
func in[S ~string](w *conditions, column string, list []S) {
	if len(list) == 0 {
		return
	}
	args := make([]any, len(list))
	for i, v := range list {
		args[i] = string(v)
	}
	w.add(column+" IN (?"+strings.Repeat(", ?", len(list)-1)+")", args...)
}

// startsWith lets through rows whose column begins with prefix. The bounds are
// for the index; the comparison decides.
func startsWith(w *conditions, column, prefix string) {
	w.add(fmt.Sprintf("%[1]s >= ? AND %[1]s < ? || char(1114111) AND substr(%[1]s, 1, length(?)) = ?", column), prefix, prefix, prefix, prefix)
}
