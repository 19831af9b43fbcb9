package sqlite

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"stillso"
)

// Problem is one thing that is wrong with a store.
type Problem struct {
	// Part is where: database, index, journal, memories, segments, head.
	Part string `json:"part"`
	What string `json:"what"`
	// Do is what a human can do about it.
	Do string `json:"do"`
}

const doRepair = "run stillso repair"

// Check opens the store in dir and reports what is wrong with it; a store that
// is too damaged to be opened is a problem, not an error. It heals nothing but
// what every open heals.
func Check(ctx context.Context, dir string, opt Options) ([]Problem, error) {
	s, err := Open(ctx, dir, opt)
	if errors.Is(err, stillso.ErrDamaged) {
		return []Problem{{"database", err.Error(), doRepair}}, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := s.Check(ctx)
	return list, errors.Join(err, s.Close())
}

// Check reports what is wrong with an open store: the structure of the database,
// the full-text index, the chain of the journal, the memories against the fold
// of the journal, and the segments against the journal.
func (s *Store) Check(ctx context.Context) ([]Problem, error) {
	c := checker{s: s}
	for _, step := range []struct {
		part string
		f    func(context.Context) error
	}{
		{"database", c.database},
		{"index", c.index},
		{"index", c.words},
		{"journal", c.journal},
		{"memories", c.memories},
		{"segments", c.segments},
	} {
		c.part = step.part
		err := step.f(ctx)
		if errors.Is(err, stillso.ErrDamaged) {
			c.add("%v", err)
		} else if err != nil {
			return c.list, fmt.Errorf("check the %s: %w", step.part, err)
		}
	}
	return c.list, nil
}

// maxProblems bounds a report: after that many of one part the rest is noise.
const maxProblems = 20

type checker struct {
	s    *Store
	part string
	list []Problem
	// fold is the hash of the JSON of each memory, as the journal has it.
	fold   map[string][hashSize]byte
	hashes [][hashSize]byte // of the journal, from change 1
	erased map[[2]int64]bool
	broken bool // the journal could not be read to its end
}

func (c *checker) add(format string, a ...any) {
	n := 0
	for _, p := range c.list {
		if p.Part == c.part {
			n++
		}
	}
	if n < maxProblems {
		c.list = append(c.list, Problem{c.part, fmt.Sprintf(format, a...), doRepair})
	}
}

func (c *checker) database(ctx context.Context) error {
	return c.s.view(ctx, func(tx *txn) error {
		if err := c.addRows(ctx, tx, "PRAGMA integrity_check(20)"); err != nil {
			return err
		}
		return c.addRows(ctx, tx, `SELECT 'a row of ' || "table" || ' refers to nothing' FROM pragma_foreign_key_check LIMIT 20`)
	})
}

// addRows adds what a query reports, all but "ok".
func (c *checker) addRows(ctx context.Context, tx *txn, query string) error {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return scanned(err)
		}
		if text != "ok" {
			c.add("%s", text)
		}
	}
	return rows.Err()
}

// index checks the full-text index in itself and against the rows that it is of.
func (c *checker) index(ctx context.Context) error {
	if !c.s.readOnly {
		err := c.s.update(ctx, c.s.write, func(tx *txn) error {
			for _, table := range []string{"memories_fts", "turns_fts"} {
				if _, err := tx.ExecContext(ctx, fmt.Sprintf("INSERT INTO %s (%s) VALUES ('integrity-check')", table, table)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return c.s.view(ctx, func(tx *txn) error {
		for _, q := range []struct{ query, what string }{
			{"SELECT count(*) FROM memories WHERE n NOT IN (SELECT id FROM memories_fts_docsize)", "%d memories are not in the full-text index"},
			{"SELECT count(*) FROM memories_fts_docsize WHERE id NOT IN (SELECT n FROM memories)", "%d rows of the full-text index are of no memory"},
			{"SELECT count(*) FROM turns_fts_docsize WHERE id NOT IN (SELECT n FROM turns)", "%d rows of the full-text index are of no turn"},
		} {
			var n int
			if err := tx.QueryRowContext(ctx, q.query).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				c.add(q.what, n)
			}
		}
		return nil
	})
}

// words compares the terms of the full-text indexes with those of the texts:
// damage can leave an index that is well-formed and wrong.
func (c *checker) words(ctx context.Context) error {
	for _, x := range []struct {
		table string
		each  func(context.Context, *txn, func(lines ...string)) error
	}{
		{"memories_words", memoryLines},
		{"turns_words", turnLines},
	} {
		err := c.s.view(ctx, func(tx *txn) error {
			want := vocabulary{}
			if err := x.each(ctx, tx, want.add); err != nil {
				return err
			}
			wrong, err := want.compare(ctx, tx, x.table)
			if err == nil && wrong > 0 {
				c.add("%d terms of %s do not fit the texts", wrong, x.table)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// vocabulary counts, for each term, the rows that have it and its places.
type vocabulary map[string][2]int

func (v vocabulary) add(lines ...string) {
	seen := map[string]bool{}
	for _, l := range lines {
		for term := range strings.FieldsSeq(l) {
			n := v[term]
			if n[1]++; !seen[term] {
				seen[term] = true
				n[0]++
			}
			v[term] = n
		}
	}
}

// compare returns how many terms are counted otherwise in the index.
func (v vocabulary) compare(ctx context.Context, tx *txn, table string) (wrong int, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT term, doc, cnt FROM "+table)
	if err != nil {
		return 0, err
	}
	defer rows.Close() //nolint:errcheck // rows.Err tells
	found := 0
	for rows.Next() {
		var term string
		var n [2]int
		if err := rows.Scan(&term, &n[0], &n[1]); err != nil {
			return 0, scanned(err)
		}
		if v[term] != n {
			wrong++
		} else {
			found++
		}
	}
	return max(wrong, len(v)-found), rows.Err()
}

func memoryLines(ctx context.Context, tx *txn, f func(lines ...string)) error {
	return eachMemory(ctx, tx, func(_ int64, m *stillso.Memory) error {
		l := indexed(m)
		f(l[:]...)
		return nil
	})
}

func turnLines(ctx context.Context, tx *txn, f func(lines ...string)) error {
	return eachTurn(ctx, tx, func(_ int64, who stillso.Speaker, text string) error {
		said, answered := turnIndexed(who, text)
		f(said, answered)
		return nil
	})
}

// rawEdit is an edit whose memories stay text.
type rawEdit struct {
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// journal checks every row and the chain of hashes, and folds the memories.
func (c *checker) journal(ctx context.Context) error {
	c.fold = map[string][hashSize]byte{}
	c.erased = map[[2]int64]bool{}
	var list []history
	err := c.s.view(ctx, func(tx *txn) error {
		prev := c.s.genesis
		return c.s.entries(ctx, tx, 0, func(e *entry, now stillso.Outcome) error {
			if e.prev != prev {
				c.add("journal entry %d does not follow on the one before", e.core.Seq)
			}
			if err := e.check(); err != nil {
				c.add("%v", err)
			}
			prev = e.hash
			c.hashes = append(c.hashes, e.hash)
			list = append(list, history{e.core.ID, e.core.Outcome, now, e.core.Undoes, e.core.Resolves})
			return c.replay(e)
		})
	})
	if err != nil {
		c.broken = true
		return err
	}
	want := outcomes(list)
	for i, h := range list {
		if h.now != want[i] {
			c.add("change %s is marked %s; by the journal it is %s", h.id, h.now, want[i])
		}
	}
	return nil
}

// replay carries one entry out on the fold.
func (c *checker) replay(e *entry) error {
	for i := range e.parts {
		if e.parts[i].body == nil {
			c.erased[[2]int64{e.core.Seq, int64(i)}] = true
		}
	}
	if e.core.Outcome != stillso.Applied {
		return nil
	}
	for i, id := range e.core.Memories {
		if e.core.Verb == stillso.VerbPurge {
			delete(c.fold, id)
			continue
		}
		if i+1 >= len(e.parts) || e.parts[i+1].body == nil {
			continue // erased
		}
		var edit rawEdit
		if err := json.Unmarshal(e.parts[i+1].body, &edit); err != nil {
			return damaged("edit %d of journal entry %d is not readable", i+1, e.core.Seq)
		}
		now, there := c.fold[id]
		if there != (edit.Before != nil) || there && now != hashJSON(edit.Before) {
			c.add("journal entry %d rests on another state of memory %s", e.core.Seq, id)
		}
		if edit.After == nil {
			delete(c.fold, id)
		} else {
			c.fold[id] = hashJSON(edit.After)
		}
	}
	return nil
}

func hashJSON(b []byte) [hashSize]byte { return sha256.Sum256(bytes.TrimSpace(b)) }

// memories compares what the store holds with the fold of the journal.
func (c *checker) memories(ctx context.Context) error {
	if c.broken {
		return nil
	}
	seen := 0
	_, err := c.s.Each(ctx, 0, func(m *stillso.Memory, _ int64) error {
		seen++
		text, err := payload(m)
		if err != nil {
			return err
		}
		if want, ok := c.fold[m.ID]; !ok {
			c.add("memory %s is not in the journal", m.ID)
		} else if hashJSON([]byte(text)) != want {
			c.add("memory %s is not as the journal has it", m.ID)
		}
		return nil
	})
	if err == nil && seen < len(c.fold) {
		c.add("%d memories of the journal are missing", len(c.fold)-seen)
	}
	return err
}

// segments compares head and segments with the journal.
func (c *checker) segments(ctx context.Context) error {
	if c.broken {
		return nil
	}
	if c.s.readOnly {
		return c.compare()
	}
	return c.s.locked(ctx, c.compare)
}

func (c *checker) compare() error {
	s := c.s
	h, err := readHead(s.path(headFile))
	if err != nil {
		return err
	}
	if h == nil {
		c.add("%s is missing or not readable", headFile)
		return nil
	}
	dir := s.path(journalDir)
	ns, err := segments(dir)
	if err != nil {
		return err
	}
	var seq int64
	for i, n := range ns {
		if n != i+1 {
			c.add("journal segment %d is missing", i+1)
			return nil
		}
		name := filepath.Base(segmentPath(dir, n))
		err := readSegment(segmentPath(dir, n), s.instance, 0, func(text []byte, _ int64) error {
			e, err := parseLine(text)
			if err != nil {
				return damaged("%s: the line after change %d: %v", name, seq, err)
			}
			if e.core.Seq != seq+1 {
				return damaged("%s: change %d follows on %d", name, e.core.Seq, seq)
			}
			seq++
			if seq > int64(len(c.hashes)) {
				return nil // written while we read
			}
			if e.hash != c.hashes[seq-1] {
				return damaged("%s: change %d is not the one in the database", name, seq)
			}
			for i := range e.parts {
				if e.parts[i].body != nil && c.erased[[2]int64{seq, int64(i)}] {
					return damaged("%s: change %d still holds text that was purged", name, seq)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if seq < h.seq {
		c.add("the segments end at change %d, %s says %d", seq, headFile, h.seq)
	}
	if h.seq >= 1 && h.seq <= int64(len(c.hashes)) && c.hashes[h.seq-1] != h.hash {
		c.add("%s does not fit change %d", headFile, h.seq)
	}
	return nil
}

// history is what the outcome of a change follows from.
type history struct {
	id               string
	written, now     stillso.Outcome
	undoes, resolves string
}

// outcomes returns what has become of each change, oldest first: it is undone
// while an applied undo of it stands, and a proposal has the outcome of the
// change that resolved it.
func outcomes(list []history) []stillso.Outcome {
	undone := map[string]bool{}
	resolved := map[string]stillso.Outcome{}
	out := make([]stillso.Outcome, len(list))
	for i := len(list) - 1; i >= 0; i-- { // what acts on a change comes after it
		h := list[i]
		now := h.written
		if o, ok := resolved[h.id]; ok && now == stillso.Proposed {
			now = o
		} else if now == stillso.Applied && undone[h.id] {
			now = stillso.Undone
		}
		if now == stillso.Applied && h.undoes != "" {
			undone[h.undoes] = true
		}
		if h.resolves != "" {
			resolved[h.resolves] = now
		}
		out[i] = now
	}
	return out
}
