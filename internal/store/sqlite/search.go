package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"stillso"
	"stillso/internal/terms"
)

const (
	// memoryWeights are the weights of name, aliases, content, body and tags in
	// bm25: a word in a label tells more than one in a long text.
	memoryWeights = "bm25(memories_fts, 3.0, 3.0, 2.0, 1.0, 1.0)"
	// turnWeights: what the user typed tells more than what was answered.
	turnWeights = "bm25(turns_fts, 2.0, 1.0)"
	// yielded is the factor on the score of a memory that was superseded or
	// retired: it is found, below what holds.
	yielded = 0.25
	// maxQueryTerms bounds the work of one search; a longer text is cut.
	maxQueryTerms = 64
	// A term that more than one in commonShare rows have is left out of a search
	// in more than largeStore rows, if rarer ones remain: it hardly changes the
	// order, and scoring what it matches takes nearly all of the time (measured:
	// 12 words of prose among 100,000 memories).
	commonShare = 20
	largeStore  = 5000
	// keptTerms are never left out, however common: the rarest ones.
	keptTerms = 2
	// defaultLimit is how many results a search returns if nothing is said.
	defaultLimit = 20
)

// queryTerms returns the distinct terms that a search for text asks for.
func queryTerms(text string) []string {
	var out []string
	seen := map[string]bool{}
	for _, t := range terms.Analyze(text) {
		if seen[t.Text] || terms.Stop(t) {
			continue
		}
		seen[t.Text] = true
		if out = append(out, t.Text); len(out) == maxQueryTerms {
			break
		}
	}
	return out
}

// match is the FTS5 query for any of the terms. Each is quoted, so no text of a
// user is ever query syntax.
func match(list []string) string {
	quoted := make([]string, len(list))
	for i, t := range list {
		quoted[i] = `"` + strings.ReplaceAll(t, `"`, `""`) + `"`
	}
	return strings.Join(quoted, " OR ")
}

// Search finds memories by full text, best first, and turns if q asks for them.
// Of the filter, only Namespaces, Since, Until and Limit apply to turns. At most
// 20 are returned if q sets no Limit.
func (s *Store) Search(ctx context.Context, q stillso.TextQuery) ([]stillso.Found, error) {
	asked := queryTerms(q.Text)
	if len(asked) == 0 {
		return nil, nil
	}
	if q.Limit <= 0 {
		q.Limit = defaultLimit
	}
	var out []stillso.Found
	err := s.view(ctx, func(tx *txn) error {
		var err error
		if out, err = searchMemories(ctx, tx, q, asked); err != nil || !q.Turns {
			return err
		}
		turns, err := searchTurns(ctx, tx, q, asked)
		out = append(out, turns...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	slices.SortStableFunc(out, func(a, b stillso.Found) int { return cmp.Compare(b.Score, a.Score) })
	return out[:min(len(out), q.Limit)], nil
}

// telling returns the terms that a search in a large index is done by.
func telling(ctx context.Context, tx *txn, rows, words string, asked []string) ([]string, error) {
	var all int
	if err := tx.QueryRowContext(ctx, "SELECT ifnull(max(n), 0) FROM "+rows).Scan(&all); err != nil || all < largeStore || len(asked) <= keptTerms {
		return asked, scanned(err)
	}
	type counted struct {
		term string
		rows int
	}
	list := make([]counted, 0, len(asked))
	for _, term := range asked {
		n := 0
		err := tx.QueryRowContext(ctx, "SELECT doc FROM "+words+" WHERE term = ?", term).Scan(&n)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, scanned(err)
		}
		list = append(list, counted{term, n})
	}
	slices.SortStableFunc(list, func(a, b counted) int { return cmp.Compare(a.rows, b.rows) })
	var kept []string
	for i, c := range list {
		if i < keptTerms || c.rows <= all/commonShare {
			kept = append(kept, c.term)
		}
	}
	return kept, nil
}

func searchMemories(ctx context.Context, tx *txn, q stillso.TextQuery, asked []string) ([]stillso.Found, error) {
	by, err := telling(ctx, tx, "memories", "memories_words", asked)
	if err != nil || len(by) == 0 {
		return nil, err
	}
	w := where(q.Filter)
	w.add("memories_fts MATCH ?", match(by))
	// The rows are chosen before their text is read.
	query := fmt.Sprintf(`SELECT %s, best.score FROM (
			SELECT m.n AS n, -%s * CASE WHEN m.state IN ('superseded', 'retired') THEN %g ELSE 1 END AS score,
				m.updated_at AS updated, m.seq AS seq, m.id AS id
			FROM memories_fts JOIN memories m ON m.n = memories_fts.rowid WHERE %s
			ORDER BY score DESC, updated DESC, seq DESC, id DESC LIMIT %d) AS best
		JOIN memories m ON m.n = best.n ORDER BY best.score DESC, best.updated DESC, best.seq DESC, best.id DESC`,
		memoryColumns, memoryWeights, yielded, w.sql(), q.Limit)
	rows, err := tx.QueryContext(ctx, query, w.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var out []stillso.Found
	for rows.Next() {
		var score float64
		m, _, err := scanMemory(rows, &score)
		if err != nil {
			return nil, err
		}
		text := m.Content
		if m.Body != "" {
			text += "\n" + m.Body
		}
		if !holdsAny(indexed(m), by) {
			return nil, damaged("the full-text index does not fit memory %s", m.ID)
		}
		out = append(out, stillso.Found{Memory: m, Score: score, Excerpt: excerpt(text, asked)})
	}
	return out, rows.Err()
}

func searchTurns(ctx context.Context, tx *txn, q stillso.TextQuery, asked []string) ([]stillso.Found, error) {
	by, err := telling(ctx, tx, "turns", "turns_words", asked)
	if err != nil || len(by) == 0 {
		return nil, err
	}
	w := new(conditions)
	w.add("turns_fts MATCH ?", match(by))
	if len(q.Namespaces) > 0 {
		in(w, "(SELECT namespace FROM sessions WHERE id = t.session)", q.Namespaces)
	}
	if !q.Since.IsZero() {
		w.add("t.at >= ?", q.Since.UnixMicro())
	}
	if !q.Until.IsZero() {
		w.add("t.at <= ?", q.Until.UnixMicro())
	}
	query := fmt.Sprintf(`SELECT %s, -%s AS score FROM turns_fts JOIN turns t ON t.n = turns_fts.rowid
		WHERE %s ORDER BY score DESC, t.at DESC, t.n DESC LIMIT %d`, turnColumns, turnWeights, w.sql(), q.Limit)
	rows, err := tx.QueryContext(ctx, query, w.args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	var out []stillso.Found
	for rows.Next() {
		var score float64
		t, err := scanTurn(rows, &score)
		if err != nil {
			return nil, err
		}
		out = append(out, stillso.Found{Turn: t, Score: score, Excerpt: excerpt(t.Text, asked)})
	}
	return out, rows.Err()
}

// holdsAny reports whether one of the lines has one of the terms.
func holdsAny(lines [5]string, asked []string) bool {
	for _, l := range lines {
		for term := range strings.SplitSeq(l, " ") {
			if slices.Contains(asked, term) {
				return true
			}
		}
	}
	return false
}

// maxExcerpt is the length of an excerpt in bytes: about two lines.
const maxExcerpt = 240

// excerpt returns the passage of text with the most of the asked terms: whole
// lines or sentences where they are short enough.
func excerpt(text string, asked []string) string {
	want := make(map[string]bool, len(asked))
	for _, t := range asked {
		want[t] = true
	}
	best, most := "", -1
	for _, p := range passages(text) {
		found := map[string]bool{}
		for _, t := range terms.Analyze(p) {
			if want[t.Text] {
				found[t.Text] = true
			}
		}
		if len(found) > most {
			best, most = p, len(found)
		}
	}
	return strings.Join(strings.Fields(best), " ")
}

// passages cuts text at the ends of lines and sentences, and where a passage
// grows too long.
func passages(text string) []string {
	var out []string
	start, space := 0, 0
	cut := func(end int) {
		if p := strings.TrimSpace(text[start:end]); p != "" {
			out = append(out, p)
		}
		start, space = end, end
	}
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			next = i + 1
		}
		next = min(next, len(text))
		if r == ' ' {
			space = next
		}
		switch {
		case r == '\n' || strings.ContainsRune("。！？", r):
			cut(next)
		case strings.ContainsRune(".!?", r) && (next == len(text) || text[next] == ' '):
			cut(next)
		case next-start > maxExcerpt && space > start:
			cut(space)
		case next-start > maxExcerpt:
			cut(next)
		}
	}
	cut(len(text))
	return out
}
