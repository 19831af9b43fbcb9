package sqlite

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"stillso"
)

// txn is a transaction that prepares a statement when it comes a second time,
// and enters texts into the full-text index last: between two entries any other
// statement would make FTS5 write its buffer out, which makes a large import
// several times slower.
type txn struct {
	*sql.Tx
	known    map[string]*sql.Stmt
	memories map[int64]*stillso.Memory // by row; nil: to be taken out
	turns    map[int64]turnText
}

type turnText struct {
	who  stillso.Speaker
	text string
}

func newTxn(tx *sql.Tx) *txn {
	return &txn{Tx: tx, known: map[string]*sql.Stmt{}, memories: map[int64]*stillso.Memory{}, turns: map[int64]turnText{}}
}

// prepared returns the statement of a query that was used before, or nil.
func (t *txn) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	st, seen := t.known[query]
	if !seen || st != nil {
		t.known[query] = st
		return st, nil
	}
	st, err := t.Tx.PrepareContext(ctx, query) // the end of the transaction closes it
	t.known[query] = st
	return st, err
}

func (t *txn) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	st, err := t.prepared(ctx, query) //nolint:sqlclosecheck // the end of the transaction closes it
	if err != nil {
		return nil, err
	}
	if st == nil {
		return t.Tx.ExecContext(ctx, query, args...)
	}
	return st.ExecContext(ctx, args...)
}

func (t *txn) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	st, err := t.prepared(ctx, query) //nolint:sqlclosecheck // the end of the transaction closes it
	if err != nil || st == nil {
		return t.Tx.QueryRowContext(ctx, query, args...)
	}
	return st.QueryRowContext(ctx, args...)
}

// index brings the full-text index to where the rows are.
func (t *txn) index(ctx context.Context) error {
	for _, n := range slices.Sorted(maps.Keys(t.memories)) {
		var err error
		if m := t.memories[n]; m != nil {
			err = indexMemory(ctx, t, n, m)
		} else {
			_, err = t.ExecContext(ctx, "DELETE FROM memories_fts WHERE rowid = ?", n)
		}
		if err != nil {
			return err
		}
	}
	for _, n := range slices.Sorted(maps.Keys(t.turns)) {
		if err := indexTurn(ctx, t, n, t.turns[n].who, t.turns[n].text); err != nil {
			return err
		}
	}
	return nil
}
