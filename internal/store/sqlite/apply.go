package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"stillso"
)

// Apply writes changes and their journal in one transaction, in order, and
// returns them with Seq set; an empty ID is given one. It returns when they
// also stand in a journal segment on the disk. Times become UTC. Other writers
// wait meanwhile, so a large import is applied a thousand changes at a time.
func (s *Store) Apply(ctx context.Context, changes ...stillso.Change) ([]stillso.Change, error) {
	for i := range changes {
		switch v := changes[i].Verb; v {
		case stillso.VerbUndo, stillso.VerbPurge:
			return nil, fmt.Errorf("%w: a change of verb %s is made by the store itself", stillso.ErrInvalid, v)
		}
	}
	var out []stillso.Change
	err := s.update(ctx, s.write, func(tx *txn) error {
		w, err := s.newWriter(ctx, tx)
		if err != nil {
			return err
		}
		out = make([]stillso.Change, len(changes))
		for i, c := range changes {
			if out[i], err = w.apply(ctx, c); err != nil {
				return fmt.Errorf("change %d of %d (%s): %w", i+1, len(changes), c.Verb, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("save: %w", err)
	}
	if len(changes) == 0 {
		return out, nil
	}
	return out, s.publish(ctx)
}

// publish brings the journal segments up to date after a commit. The caller's
// context no longer counts: what was committed is to be told.
func (s *Store) publish(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	err := s.locked(ctx, func() error { return s.catchUp(ctx) })
	if errors.Is(err, stillso.ErrDamaged) {
		return fmt.Errorf("the change may be lost: %w", err)
	}
	if err != nil {
		return fmt.Errorf("the change was saved, but not yet in the journal segments: %w", err)
	}
	return nil
}

// writer applies changes in one transaction.
type writer struct {
	tx   *txn
	seq  int64
	prev [hashSize]byte
}

func (s *Store) newWriter(ctx context.Context, tx *txn) (*writer, error) {
	seq, prev, err := s.dbHead(ctx, tx)
	return &writer{tx: tx, seq: seq, prev: prev}, err
}

// apply writes one change that a caller made.
func (w *writer) apply(ctx context.Context, c stillso.Change) (stillso.Change, error) {
	c, err := normal(c)
	if err != nil {
		return c, err
	}
	for _, e := range c.Edits {
		if e.After == nil {
			return c, fmt.Errorf("%w %s: a memory is retired, never deleted", stillso.ErrInvalid, e.MemoryID())
		}
		if err := e.After.Validate(); err != nil {
			return c, err
		}
	}
	if c.Resolves != "" {
		if err := w.resolve(ctx, c); err != nil {
			return c, err
		}
	}
	return w.journal(ctx, c)
}

// journal edits the memories of an applied change and writes its row.
func (w *writer) journal(ctx context.Context, c stillso.Change) (stillso.Change, error) {
	c.Seq = w.seq + 1
	var known string
	err := w.tx.QueryRowContext(ctx, "SELECT id FROM journal WHERE id = ?", c.ID).Scan(&known)
	if err == nil {
		return c, fmt.Errorf("%w: change %s is in the journal already", stillso.ErrConflict, c.ID)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return c, err
	}
	if c.Outcome == stillso.Applied {
		for _, e := range c.Edits {
			if err := w.edit(ctx, c.Seq, e); err != nil {
				return c, err
			}
		}
	}
	e, err := newEntry(&c, w.prev)
	if err != nil {
		return c, fmt.Errorf("%w: %w", stillso.ErrInvalid, err)
	}
	if err := writeEntry(ctx, w.tx, e); err != nil {
		return c, err
	}
	w.seq, w.prev = c.Seq, e.hash
	return c, nil
}

// normal returns a copy of c in the form in which it is stored, or says what is
// wrong with it.
func normal(c stillso.Change) (stillso.Change, error) {
	bad := func(format string, a ...any) (stillso.Change, error) {
		return c, fmt.Errorf("%w: %s", stillso.ErrInvalid, fmt.Sprintf(format, a...))
	}
	if c.ID == "" {
		c.ID = stillso.NewID()
	}
	switch {
	case len(c.ID) > 200:
		return bad("the id of the change has %d bytes; 200 are allowed", len(c.ID))
	case c.Verb == "":
		return bad("the change has no verb")
	case !slices.Contains([]stillso.Outcome{stillso.Applied, stillso.Proposed, stillso.Refused}, c.Outcome):
		return bad("a change cannot begin with outcome %q", c.Outcome)
	case !slices.Contains([]stillso.ActorKind{stillso.Human, stillso.Rule, stillso.Model}, c.Actor.Kind):
		return bad("the change has no actor")
	case !(c.Confidence >= 0 && c.Confidence <= 1):
		return bad("confidence %v is not between 0 and 1", c.Confidence)
	case c.At.IsZero():
		return bad("the change has no time")
	case c.Outcome == stillso.Applied && len(c.Edits) == 0:
		return bad("the change has no edits")
	case c.Resolves != "" && c.Outcome == stillso.Proposed:
		return bad("a proposal cannot resolve another")
	}
	c.At = c.At.UTC()
	c.Evidence = slices.Clone(c.Evidence)
	edits := make([]stillso.Edit, len(c.Edits))
	for i, e := range c.Edits {
		switch {
		case e.Before == nil && e.After == nil:
			return bad("edit %d has neither before nor after", i+1)
		case e.Before != nil && e.After != nil && e.Before.ID != e.After.ID:
			return bad("edit %d joins two memories, %s and %s", i+1, e.Before.ID, e.After.ID)
		}
		edits[i] = stillso.Edit{Before: inUTC(e.Before), After: inUTC(e.After)}
	}
	c.Edits = edits
	return c, nil
}

// inUTC returns a copy of m with its times in UTC.
func inUTC(m *stillso.Memory) *stillso.Memory {
	if m = m.Clone(); m == nil {
		return nil
	}
	m.CreatedAt, m.UpdatedAt = m.CreatedAt.UTC(), m.UpdatedAt.UTC()
	for i := range m.Claims {
		if at := m.Claims[i].CheckedAt; !at.IsZero() {
			m.Claims[i].CheckedAt = at.UTC()
		}
	}
	return m
}

// edit puts After in the place of Before, if Before is what the store holds.
func (w *writer) edit(ctx context.Context, seq int64, e stillso.Edit) error {
	id := e.MemoryID()
	now, err := readMemory(ctx, w.tx, id)
	if err != nil && !errors.Is(err, stillso.ErrNotFound) {
		return err
	}
	if e.Before == nil && now == nil {
		var purged int64
		err := w.tx.QueryRowContext(ctx, "SELECT seq FROM purged WHERE memory = ?", id).Scan(&purged)
		if err == nil {
			return fmt.Errorf("%w: memory %s was purged and cannot come back under its id", stillso.ErrConflict, id)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	if !e.Before.Equal(now) {
		return w.conflict(ctx, e, now)
	}
	if e.After == nil {
		return w.removeMemory(ctx, id)
	}
	return w.putMemory(ctx, seq, e.After)
}

// conflict explains why an edit does not fit.
func (w *writer) conflict(ctx context.Context, e stillso.Edit, now *stillso.Memory) error {
	id := e.MemoryID()
	switch {
	case e.Before == nil:
		return fmt.Errorf("%w: memory %s exists already (%s)", stillso.ErrConflict, id, title(now))
	case now == nil:
		return fmt.Errorf("%w: memory %s does not exist (any more)", stillso.ErrConflict, id)
	}
	var change, verb, actor string
	err := w.tx.QueryRowContext(ctx, `SELECT id, verb, actor FROM journal WHERE seq = (SELECT seq FROM memories WHERE id = ?)`, id).
		Scan(&change, &verb, &actor)
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: memory %s (%s) is changed by an earlier edit of the same change", stillso.ErrConflict, id, title(now))
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: memory %s (%s) has been changed since, last by change %s (%s by a %s); look at it again, or undo that first",
		stillso.ErrConflict, id, title(now), change, verb, actor)
}

// title is a memory in a few words, for an error.
func title(m *stillso.Memory) string {
	t := m.Name
	if t == "" {
		t = m.Content
	}
	if r := []rune(t); len(r) > 40 {
		t = string(r[:40]) + "…"
	}
	return fmt.Sprintf("%q", t)
}

// resolve settles the proposal that c resolves.
func (w *writer) resolve(ctx context.Context, c stillso.Change) error {
	now, err := outcomeOf(ctx, w.tx, c.Resolves)
	if err != nil {
		return fmt.Errorf("proposal %s: %w", c.Resolves, err)
	}
	if now != stillso.Proposed {
		return fmt.Errorf("%w: change %s is not waiting for review, it is %s", stillso.ErrConflict, c.Resolves, now)
	}
	return setOutcome(ctx, w.tx, c.Resolves, c.Outcome)
}

func outcomeOf(ctx context.Context, tx *txn, id string) (now stillso.Outcome, err error) {
	err = tx.QueryRowContext(ctx, "SELECT outcome FROM journal WHERE id = ?", id).Scan(&now)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w: no change %s in the journal", stillso.ErrNotFound, id)
	}
	return now, err
}

func setOutcome(ctx context.Context, tx *txn, id string, now stillso.Outcome) error {
	_, err := tx.ExecContext(ctx, "UPDATE journal SET outcome = ? WHERE id = ?", now, id)
	return err
}

// Undo takes an applied change back by a new change of verb undo. For a proposal
// that was accepted, the change that accepted it is taken back.
func (s *Store) Undo(ctx context.Context, changeID string, by stillso.Actor, at time.Time) (stillso.Change, error) {
	var out stillso.Change
	err := s.update(ctx, s.write, func(tx *txn) error {
		w, err := s.newWriter(ctx, tx)
		if err != nil {
			return err
		}
		out, err = w.undo(ctx, changeID, by, at)
		return err
	})
	if err != nil {
		return stillso.Change{}, fmt.Errorf("undo %s: %w", changeID, err)
	}
	return out, s.publish(ctx)
}

func (w *writer) undo(ctx context.Context, id string, by stillso.Actor, at time.Time) (stillso.Change, error) {
	c, err := w.undoable(ctx, id)
	if err != nil {
		return c, err
	}
	u := stillso.Change{
		Verb: stillso.VerbUndo, Outcome: stillso.Applied, Actor: by, Confidence: 1, At: at,
		Reason: "undo of " + string(c.Verb) + " " + c.ID, Undoes: c.ID,
	}
	for _, e := range slices.Backward(c.Edits) {
		if isTombstone(e) {
			return c, fmt.Errorf("%w: memory %s was purged since, so there is nothing to go back to", stillso.ErrConflict, e.MemoryID())
		}
		u.Edits = append(u.Edits, stillso.Edit{Before: e.After, After: e.Before})
	}
	if u, err = normal(u); err != nil {
		return c, err
	}
	if u, err = w.journal(ctx, u); err != nil {
		return u, err
	}
	return u, w.settle(ctx, c.ID)
}

// settle sets the outcome of an applied change, after an undo of it was written
// or undone: it is undone while an applied undo of it stands. What it undoes
// itself follows, and so does the proposal that it resolved.
func (w *writer) settle(ctx context.Context, id string) error {
	for id != "" {
		now := stillso.Applied
		var undo string
		err := w.tx.QueryRowContext(ctx, "SELECT id FROM journal WHERE undoes = ? AND outcome = ?", id, stillso.Applied).Scan(&undo)
		if err == nil {
			now = stillso.Undone
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var undoes, resolves sql.NullString
		if err := w.tx.QueryRowContext(ctx, "SELECT undoes, resolves FROM journal WHERE id = ?", id).Scan(&undoes, &resolves); err != nil {
			return err
		}
		if err := setOutcome(ctx, w.tx, id, now); err != nil {
			return err
		}
		if err := setOutcome(ctx, w.tx, resolves.String, now); err != nil {
			return err
		}
		id = undoes.String
	}
	return nil
}

// undoable reads the change that an undo of id takes back.
func (w *writer) undoable(ctx context.Context, id string) (stillso.Change, error) {
	now, err := outcomeOf(ctx, w.tx, id)
	if err != nil {
		return stillso.Change{}, err
	}
	if now != stillso.Applied {
		return stillso.Change{}, fmt.Errorf("%w: it is %s; only applied changes can be undone", stillso.ErrConflict, now)
	}
	var by string
	err = w.tx.QueryRowContext(ctx, "SELECT id FROM journal WHERE resolves = ?", id).Scan(&by)
	if err == nil {
		id = by
	} else if !errors.Is(err, sql.ErrNoRows) {
		return stillso.Change{}, err
	}
	var c stillso.Change
	err = readEntries(ctx, w.tx, "j.id = ?", []any{id}, "ORDER BY p.part", func(e *entry, now stillso.Outcome) error {
		if err := e.checkParts(); err != nil {
			return err
		}
		c, err = e.change(now)
		return err
	})
	if err == nil && c.Verb == stillso.VerbPurge {
		err = fmt.Errorf("%w: what was purged is gone", stillso.ErrConflict)
	}
	return c, err
}

// payload returns the stored form of a memory.
func payload(m *stillso.Memory) (string, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return "", fmt.Errorf("%w %s: %w", stillso.ErrInvalid, m.ID, err)
	}
	return string(b), nil
}
