package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stillso"
	"stillso/internal/terms"
)

// rowSum is the checksum of a row of memories: SQLite notices damage to its own
// structure, not to the text in it.
func rowSum(id string, seq int64, payload string) []byte {
	h := sha256.New()
	h.Write([]byte(id))
	h.Write([]byte{0})
	h.Write(strconv.AppendInt(nil, seq, 10))
	h.Write([]byte{0})
	h.Write([]byte(payload))
	return h.Sum(nil)[:8]
}

// memoryColumns is what scanMemory reads.
const memoryColumns = "m.id, m.seq, m.namespace, m.type, m.state, m.origin, m.created_at, m.updated_at, m.sum, m.payload"

type scanner interface{ Scan(...any) error }

// scanMemory reads a row, and refuses one that was damaged.
func scanMemory(row scanner, more ...any) (*stillso.Memory, int64, error) {
	var id, namespace, kind, state, origin, text string
	var seq int64
	var created, updated sql.NullInt64
	var sum []byte
	dst := []any{&id, &seq, &namespace, &kind, &state, &origin, &created, &updated, &sum, &text}
	if err := row.Scan(append(dst, more...)...); err != nil {
		return nil, 0, scanned(err)
	}
	if !slices.Equal(sum, rowSum(id, seq, text)) {
		return nil, 0, damaged("memory %q was altered outside of stillso", id)
	}
	m := new(stillso.Memory)
	if err := json.Unmarshal([]byte(text), m); err != nil {
		return nil, 0, damaged("memory %q is not readable", id)
	}
	if m.ID != id || string(m.Namespace) != namespace || string(m.Type) != kind || string(m.State) != state ||
		string(m.Origin) != origin || m.CreatedAt.UnixMicro() != created.Int64 || m.UpdatedAt.UnixMicro() != updated.Int64 {
		return nil, 0, damaged("the columns of memory %q do not fit its text", id)
	}
	return m, seq, nil
}

// readMemory returns the memory with this id, or nil and ErrNotFound.
func readMemory(ctx context.Context, tx *txn, id string) (*stillso.Memory, error) {
	m, _, err := scanMemory(tx.QueryRowContext(ctx, "SELECT "+memoryColumns+" FROM memories m WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: no memory %s", stillso.ErrNotFound, id)
	}
	return m, err
}

// putMemory stores m as of change seq, with all that is derived from it.
func (w *writer) putMemory(ctx context.Context, seq int64, m *stillso.Memory) error {
	text, err := payload(m)
	if err != nil {
		return err
	}
	// What is stored is what reads back: characters that JSON cannot hold are
	// replaced before anything is derived from them.
	stored := new(stillso.Memory)
	if err := json.Unmarshal([]byte(text), stored); err != nil {
		return err
	}
	m = stored
	var n int64
	err = w.tx.QueryRowContext(ctx, `INSERT INTO memories (id, seq, namespace, type, state, origin, created_at, updated_at, sum, payload)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET seq = excluded.seq, namespace = excluded.namespace, type = excluded.type, state = excluded.state,
			origin = excluded.origin, created_at = excluded.created_at, updated_at = excluded.updated_at, sum = excluded.sum, payload = excluded.payload
		RETURNING n`,
		m.ID, seq, m.Namespace, m.Type, m.State, m.Origin, m.CreatedAt.UnixMicro(), m.UpdatedAt.UnixMicro(), rowSum(m.ID, seq, text), text).Scan(&n)
	if err != nil {
		return err
	}
	if _, err := w.tx.ExecContext(ctx, "DELETE FROM memory_files WHERE memory = ?", m.ID); err != nil {
		return err
	}
	files := slices.Clone(m.RelatedFiles)
	if m.File != nil && m.File.Path != "" {
		files = append(files, m.File.Path)
	}
	for _, f := range files {
		if _, err := w.tx.ExecContext(ctx, "INSERT OR IGNORE INTO memory_files (memory, path) VALUES (?, ?)", m.ID, f); err != nil {
			return err
		}
	}
	w.tx.memories[n] = m
	return nil
}

// indexed returns the terms of m as the columns of the full-text index: name,
// aliases, content, body and tags.
func indexed(m *stillso.Memory) [5]string {
	return [5]string{
		terms.Line(m.Name), terms.Line(strings.Join(m.Aliases, "\n")), terms.Line(m.Content), terms.Line(m.Body + "\n" + m.Why),
		terms.Line(strings.Join(m.Tags, "\n") + "\n" + strings.Join(m.RelatedFiles, "\n")),
	}
}

// indexMemory enters m into the full-text index, in the place of what was there.
func indexMemory(ctx context.Context, tx *txn, n int64, m *stillso.Memory) error {
	l := indexed(m)
	_, err := tx.ExecContext(ctx, "INSERT OR REPLACE INTO memories_fts (rowid, name, aliases, content, body, tags) VALUES (?, ?, ?, ?, ?, ?)",
		n, l[0], l[1], l[2], l[3], l[4])
	return err
}

// removeMemory takes a memory out of the store: the undo of adding it.
func (w *writer) removeMemory(ctx context.Context, id string) error {
	var n int64
	if err := w.tx.QueryRowContext(ctx, "DELETE FROM memories WHERE id = ? RETURNING n", id).Scan(&n); err != nil {
		return err
	}
	w.tx.memories[n] = nil
	return nil
}

// Memory returns one memory in any state, by id.
func (s *Store) Memory(ctx context.Context, id string) (m *stillso.Memory, err error) {
	err = s.view(ctx, func(tx *txn) error {
		m, err = readMemory(ctx, tx, id)
		return err
	})
	return m, err
}

// where turns a filter into conditions on memories m.
func where(f stillso.Filter) *conditions {
	w := new(conditions)
	in(w, "m.namespace", f.Namespaces)
	in(w, "m.type", f.Types)
	in(w, "m.state", f.States)
	in(w, "m.origin", f.Origins)
	if f.IDPrefix != "" {
		startsWith(w, "m.id", f.IDPrefix)
	}
	if f.File != "" {
		// The same file, or one of them is the end of the other's path.
		w.add(`m.id IN (SELECT memory FROM memory_files WHERE path = ?
			OR substr(path, -length(?) - 1) = '/' || ? OR substr(?, -length(path) - 1) = '/' || path)`, f.File, f.File, f.File, f.File)
	}
	if !f.Since.IsZero() {
		w.add("m.updated_at >= ?", f.Since.UnixMicro())
	}
	if !f.Until.IsZero() {
		w.add("m.updated_at <= ?", f.Until.UnixMicro())
	}
	if f.ChangedAfter > 0 {
		w.add("m.seq > ?", f.ChangedAfter)
	}
	return w
}

// Memories lists what the filter lets through, newest first: by updated_at, then
// by the change that was written last.
func (s *Store) Memories(ctx context.Context, f stillso.Filter) ([]*stillso.Memory, error) {
	w := where(f)
	limit := -1
	if f.Limit > 0 {
		limit = f.Limit
	}
	// The few that changed lately are found by their change, not by their time.
	order := "m.updated_at"
	if f.ChangedAfter > 0 {
		order = "+m.updated_at"
	}
	var out []*stillso.Memory
	err := s.view(ctx, func(tx *txn) error {
		out = nil
		rows, err := tx.QueryContext(ctx, "SELECT "+memoryColumns+" FROM memories m WHERE "+w.sql()+
			" ORDER BY "+order+" DESC, m.seq DESC, m.id DESC LIMIT "+strconv.Itoa(limit), w.args...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // rows.Err tells
		for rows.Next() {
			m, _, err := scanMemory(rows)
			if err != nil {
				return err
			}
			out = append(out, m)
		}
		if err := rows.Err(); err != nil || len(w.list) > 0 || limit >= 0 {
			return err
		}
		return complete(ctx, tx, "memories_seq", len(out))
	})
	if err != nil {
		return nil, fmt.Errorf("read memories: %w", err)
	}
	return out, nil
}

// complete reports damage unless another index than the one that was read by
// knows of n memories as well.
func complete(ctx context.Context, tx *txn, index string, n int) error {
	var all int
	err := tx.QueryRowContext(ctx, "SELECT count(*) FROM memories INDEXED BY "+index).Scan(&all)
	if err == nil && all != n {
		err = damaged("%d memories were read, %d are known", n, all)
	}
	return explain(err)
}

// Extent says which moment of the store a reading shows.
type Extent struct {
	// Seq is the number of the last change that the reading contains.
	Seq int64
	// Removed lists the ids of memories that changed after the start of the
	// reading and are no longer there: an add was undone, or they were purged.
	Removed []string
}

// Each calls f for every memory whose last change has a number greater than
// after, in the order of those changes, with that number. All is read as of one
// moment, which Each returns. An error of f ends the reading. It serves the
// building of a snapshot: with after 0 it reads the whole store, memory by memory.
func (s *Store) Each(ctx context.Context, after int64, f func(m *stillso.Memory, seq int64) error) (Extent, error) {
	var ext Extent
	var tx *sql.Tx
	// Only the beginning is repeated when another process is in the way: f must
	// see every memory once.
	err := s.retry(ctx, func() (err error) {
		if tx, err = s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
			return explain(err)
		}
		if ext.Seq, _, err = s.dbHead(ctx, newTxn(tx)); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return nil
	})
	if err != nil {
		return ext, err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	rows, err := tx.QueryContext(ctx, "SELECT "+memoryColumns+" FROM memories m WHERE m.seq > ? ORDER BY m.seq, m.id", after)
	if err != nil {
		return ext, explain(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	count := 0
	for rows.Next() {
		m, seq, err := scanMemory(rows)
		if err != nil {
			return ext, err
		}
		count++
		if err := f(m, seq); err != nil {
			return ext, err
		}
	}
	if err := rows.Err(); err != nil {
		return ext, explain(err)
	}
	if after == 0 {
		return ext, complete(ctx, newTxn(tx), "memories_updated", count)
	}
	gone, err := tx.QueryContext(ctx, `SELECT DISTINCT p.memory FROM journal_parts p
		WHERE p.seq > ? AND p.part > 0 AND NOT EXISTS (SELECT 1 FROM memories m WHERE m.id = p.memory)`, after)
	if err != nil {
		return ext, explain(err)
	}
	defer gone.Close() //nolint:errcheck // gone.Err tells
	for gone.Next() {
		var id string
		if err := gone.Scan(&id); err != nil {
			return ext, scanned(err)
		}
		ext.Removed = append(ext.Removed, id)
	}
	return ext, explain(gone.Err())
}

// Seq returns the number of the last change in the journal, 0 if there is none.
func (s *Store) Seq(ctx context.Context) (seq int64, err error) {
	err = s.view(ctx, func(tx *txn) error {
		seq, _, err = s.dbHead(ctx, tx)
		return err
	})
	return seq, err
}
