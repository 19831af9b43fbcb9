package sqlite

import (
	"context"
	"fmt"
	"strings"
)

// salvaged lists the tables that stand in the database only, with the columns
// to carry over and the order of their key. Row numbers are given anew where
// nothing refers to them.
func salvaged() []struct{ table, columns, key string } {
	return []struct{ table, columns, key string }{
		{"sessions", "id, namespace, started_at, payload", "id"},
		{"turns", "n, id, session, speaker, at, directory, text", "n"},
		{"queue", "kind, key, payload, at, attempts, not_before, last_error", "id"},
		{"receipts", "at, sum, payload", "n"},
		{"usage", "at, payload", "n"},
		{"places", "namespace, root, seen_at, payload", "namespace, root"},
	}
}

// salvage copies what can be read of the damaged database: from both ends of
// each table up to the first damage.
func (r *repairer) salvage(ctx context.Context, tx *txn) error {
	for _, t := range salvaged() {
		var broken error
		for _, order := range []string{"", " DESC"} {
			by := strings.ReplaceAll(t.key, ",", order+",") + order
			var err error
			if broken, err = r.copyRows(ctx, tx, t.table, t.columns, by); err != nil {
				return err
			}
			if broken == nil {
				break
			}
		}
		if broken != nil {
			r.lost("some rows of %s (%v)", t.table, broken)
		}
	}
	if err := reindexTurns(ctx, tx); err != nil {
		return err
	}
	return tx.QueryRowContext(ctx, "SELECT count(*) FROM turns").Scan(&r.report.Turns)
}

// copyRows copies rows in the given order until one cannot be read; broken says
// why it stopped, err that the new store could not be written.
func (r *repairer) copyRows(ctx context.Context, tx *txn, table, columns, order string) (broken, err error) {
	rows, broken := r.old.read.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", columns, table, order))
	if broken != nil {
		return broken, nil
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	n := strings.Count(columns, ",") + 1
	insert := fmt.Sprintf("INSERT OR IGNORE INTO %s (%s) VALUES (?%s)", table, columns, strings.Repeat(", ?", n-1))
	values, dst := make([]any, n), make([]any, n)
	for i := range values {
		dst[i] = &values[i]
	}
	for rows.Next() {
		if broken = rows.Scan(dst...); broken != nil {
			return broken, nil
		}
		if _, err := tx.ExecContext(ctx, insert, values...); err != nil {
			return nil, fmt.Errorf("restore %s: %w", table, err)
		}
	}
	return rows.Err(), nil
}
