package sqlite

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"stillso"
	"stillso/internal/terms"
)

// analysis identifies how text becomes terms: what a sample with every kind of
// word turns into. An index that another analysis made is built anew.
func analysis() string {
	sum := sha256.Sum256([]byte(terms.Line(`The getUserName of config_file v1.2.3 wasn't running; users' naïve Straße ﬁles.
		部署前先跑数据库迁移 データベースの移行 데이터베이스를 배포하다 Мы используем базы данных /usr/local/bin k8s useEffect 2024-05-01`)))
	return hex.EncodeToString(sum[:8])
}

// refreshIndex builds the full-text indexes anew if another analysis made them.
// The caller holds the lock file.
func (s *Store) refreshIndex(ctx context.Context) error {
	return s.update(ctx, s.write, func(tx *txn) error {
		now, err := meta(ctx, tx, "terms")
		if err != nil || now == analysis() {
			return err
		}
		return reindex(ctx, tx)
	})
}

// reindex builds the full-text indexes from the texts.
func reindex(ctx context.Context, tx *txn) error {
	for _, q := range []string{
		"INSERT INTO memories_fts (memories_fts) VALUES ('delete-all')",
		"INSERT INTO turns_fts (turns_fts) VALUES ('delete-all')",
	} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	if err := reindexMemories(ctx, tx); err != nil {
		return err
	}
	if err := reindexTurns(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "UPDATE meta SET value = ? WHERE key = 'terms'", analysis())
	return err
}

func reindexMemories(ctx context.Context, tx *txn) error {
	return eachMemory(ctx, tx, func(n int64, m *stillso.Memory) error { return indexMemory(ctx, tx, n, m) })
}

func reindexTurns(ctx context.Context, tx *txn) error {
	return eachTurn(ctx, tx, func(n int64, who stillso.Speaker, text string) error { return indexTurn(ctx, tx, n, who, text) })
}

func eachMemory(ctx context.Context, tx *txn, f func(n int64, m *stillso.Memory) error) error {
	rows, err := tx.QueryContext(ctx, "SELECT "+memoryColumns+", m.n FROM memories m")
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var n int64
		m, _, err := scanMemory(rows, &n)
		if err != nil {
			return err
		}
		if err := f(n, m); err != nil {
			return err
		}
	}
	return rows.Err()
}

func eachTurn(ctx context.Context, tx *txn, f func(n int64, who stillso.Speaker, text string) error) error {
	rows, err := tx.QueryContext(ctx, "SELECT n, speaker, text FROM turns")
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var n int64
		var who stillso.Speaker
		var text string
		if err := rows.Scan(&n, &who, &text); err != nil {
			return scanned(err)
		}
		if err := f(n, who, text); err != nil {
			return err
		}
	}
	return rows.Err()
}
