package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stillso"
)

// repairDir is where repair builds the new store before it takes its place.
const repairDir = "repair.tmp"

// Repaired says what a repair has restored.
type Repaired struct {
	Changes  int `json:"changes"`
	Memories int `json:"memories"`
	Turns    int `json:"turns"`
	// Kept lists the files, by name, that hold the store as it was before.
	Kept []string `json:"kept"`
	// Lost lists in words what could not be restored; empty if all was.
	Lost []string `json:"lost,omitempty"`
}

// Repair builds the store in dir anew: memories and journal from the journal
// segments, with what only the database still has; sessions, queue and ledger as
// far as the database can be read. The old files are kept with the ending
// .corrupt-<time>, at is that time. Stores that other processes hold open stop
// working. A repair that was interrupted is run again.
func Repair(ctx context.Context, dir string, at time.Time) (Repaired, error) {
	fail := func(err error) (Repaired, error) {
		return Repaired{}, fmt.Errorf("repair the store in %s: %w", dir, err)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fail(err)
	}
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		return fail(fmt.Errorf("%w: there is no store", stillso.ErrNotFound))
	}
	if err := checkFolder(dir, true); err != nil {
		return fail(err)
	}
	steps, err := migrations()
	if err != nil {
		return fail(err)
	}
	r := repairer{dir: dir, steps: steps, stamp: at.UTC().Format("20060102T150405Z")}
	if err := withLock(ctx, dir, lockPatience, func() error { return r.run(ctx) }); err != nil {
		return fail(err)
	}
	return r.report, nil
}

type repairer struct {
	dir    string
	steps  []migration
	stamp  string
	report Repaired
	// instance is that of the journal; found are its changes.
	instance string
	found    []*entry
	old      *Store // a copy of the damaged database, nil if it cannot be opened
}

func (r *repairer) lost(format string, a ...any) {
	r.report.Lost = append(r.report.Lost, fmt.Sprintf(format, a...))
}

func (r *repairer) path(name ...string) string {
	return filepath.Join(append([]string{r.dir}, name...)...)
}

func (r *repairer) run(ctx context.Context) (err error) {
	if err := os.RemoveAll(r.path(repairDir)); err != nil {
		return err
	}
	if err := os.MkdirAll(r.path(repairDir, "old"), 0o700); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.path(repairDir))) }()
	if err := r.openOld(ctx); err != nil {
		return err
	}
	defer func() {
		if r.old != nil {
			err = errors.Join(err, r.old.Close())
		}
	}()
	if err := r.collect(ctx); err != nil {
		return err
	}
	if r.old == nil && len(r.found) == 0 {
		r.lost("whatever was saved: neither the database nor the journal holds a change")
	}
	s, err := r.build(ctx)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return r.swap()
}

// openOld opens a copy of the damaged database, so that reading it changes
// nothing. A newer format is not for this program to repair.
func (r *repairer) openOld(ctx context.Context) error {
	for _, name := range []string{dbFile, dbFile + "-wal"} {
		if err := copyFile(r.path(name), r.path(repairDir, "old", name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	path := r.path(repairDir, "old", dbFile)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return nil
	}
	s := &Store{dir: r.path(repairDir, "old"), readOnly: true, busy: time.Second, steps: r.steps}
	if err := s.connect(path, false); err != nil {
		return err
	}
	err := s.view(ctx, func(tx *txn) error {
		version, err := s.identify(ctx, tx)
		if err == nil && version == 0 {
			err = damaged("it is empty")
		}
		return err
	})
	if err != nil {
		err = errors.Join(err, s.Close())
		if errors.Is(err, stillso.ErrNewer) || ctx.Err() != nil {
			return err
		}
		r.lost("the database could not be opened (%v): sessions, turns, queue, receipts and usage that stood in it only", err)
		return nil
	}
	r.old = s
	return nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// collect finds the changes: those in the segments first, then those that only
// the database has.
func (r *repairer) collect(ctx context.Context) error {
	h, err := readHead(r.path(headFile))
	if err != nil {
		return err
	}
	if h != nil {
		r.instance = h.instance
	}
	bySeq := map[int64]*entry{}
	if err := r.readSegments(bySeq); err != nil {
		return err
	}
	switch {
	case r.old == nil:
	case r.instance == "" || r.instance == r.old.instance:
		r.instance = r.old.instance
		err := r.old.view(ctx, func(tx *txn) error { return r.readJournal(ctx, tx, bySeq) })
		if err != nil && !errors.Is(err, stillso.ErrDamaged) {
			return err
		}
	case h == nil:
		return fmt.Errorf("%s and the folder %s are of two different stores, and nothing says which one is meant: move one of them away, then run stillso repair again",
			dbFile, journalDir)
	default:
		r.lost("%s is the database of another store and was left out", dbFile)
		if err := r.old.Close(); err != nil {
			return err
		}
		r.old = nil
	}
	var last int64
	for seq := range bySeq {
		last = max(last, seq)
	}
	if h != nil && h.instance == r.instance {
		last = max(last, h.seq)
	}
	whole := true
	prev := genesis(r.instance)
	for seq := int64(1); seq <= last; seq++ {
		e := bySeq[seq]
		if e == nil {
			r.lost("change %d of the journal", seq)
			whole = false
			continue
		}
		if whole && e.prev != prev {
			whole = false
		}
		prev = e.hash
		r.found = append(r.found, e)
	}
	if whole && r.instance != "" {
		return nil
	}
	return r.rechain()
}

// readSegments reads every line of the segments that is whole in itself. Where
// a folder was being replaced, the segments stand in the one beside it.
func (r *repairer) readSegments(bySeq map[int64]*entry) error {
	for _, name := range []string{journalDir, journalDir + ".new", journalDir + ".old"} {
		ns, err := segments(r.path(name))
		if err != nil {
			return err
		}
		for _, n := range ns {
			if err := r.readOneSegment(segmentPath(r.path(name), n), bySeq); err != nil {
				return err
			}
		}
		if len(ns) > 0 {
			return nil
		}
	}
	return nil
}

func (r *repairer) readOneSegment(path string, bySeq map[int64]*entry) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	bad := 0
	for number := 0; len(b) > 0; number++ {
		var text []byte
		text, b = cutLine(b)
		var h segmentHeader
		if number == 0 && json.Unmarshal(text, &h) == nil && h.Format == segmentFormat {
			switch {
			case h.V > 1:
				return stillso.ErrNewer
			case r.instance == "":
				r.instance = h.Instance
			case r.instance != h.Instance:
				r.lost("%s is of another store and was left out", filepath.Base(path))
				return nil
			}
			continue
		}
		if e, err := parseLine(text); err != nil {
			bad++
		} else if bySeq[e.core.Seq] == nil {
			bySeq[e.core.Seq] = e
		}
	}
	if bad > 0 {
		r.lost("%d unreadable lines of %s; what the database still had of them was taken from there", bad, filepath.Base(path))
	}
	return nil
}

func cutLine(b []byte) (text, rest []byte) {
	for i, c := range b {
		if c == '\n' {
			return b[:i], b[i+1:]
		}
	}
	return b, nil
}

// readJournal adds the changes that no segment has, as far as the rows can be
// read and are what was written: all at once, and behind damage one by one.
func (r *repairer) readJournal(ctx context.Context, tx *txn, bySeq map[int64]*entry) error {
	found := func(e *entry, _ stillso.Outcome) error {
		if bySeq[e.core.Seq] != nil {
			return nil
		}
		before := bySeq[e.core.Seq-1]
		switch {
		case e.core.Seq == 1:
			e.prev = r.old.genesis
		case before != nil:
			e.prev = before.hash
		}
		// After a gap only the parts can be checked.
		if e.check() == nil || before == nil && e.core.Seq > 1 && len(e.parts) == len(e.core.Memories)+1 && e.checkParts() == nil {
			bySeq[e.core.Seq] = e
		}
		return nil
	}
	if err := readEntries(ctx, tx, "1", nil, "ORDER BY j.seq, p.part", found); !errors.Is(err, stillso.ErrDamaged) {
		return err
	}
	last, _, err := r.old.dbHead(ctx, tx)
	if err != nil {
		return err
	}
	for seq := int64(1); seq <= last; seq++ {
		if bySeq[seq] != nil {
			continue
		}
		err := readEntries(ctx, tx, "j.seq = ?", []any{seq}, "ORDER BY p.part", found)
		if err != nil && !errors.Is(err, stillso.ErrDamaged) {
			return err
		}
	}
	return nil
}

// rechain numbers what was found anew and gives it a chain of its own, since the
// old one has gaps.
func (r *repairer) rechain() error {
	id, err := newInstance()
	if err != nil {
		return err
	}
	if len(r.found) > 0 {
		r.lost("the unbroken chain of the journal: it was begun anew")
	}
	r.instance = id
	prev := genesis(id)
	for i, e := range r.found {
		e.core.Seq, e.prev = int64(i)+1, prev
		if e.raw, err = json.Marshal(e.core); err != nil {
			return err
		}
		e.hash = e.sum()
		prev = e.hash
	}
	return nil
}

// build makes the new store beside the old one.
func (r *repairer) build(ctx context.Context) (*Store, error) {
	s, err := open(ctx, r.path(repairDir, "new"), Options{}, r.steps)
	if err != nil {
		return nil, err
	}
	err = s.update(ctx, s.write, func(tx *txn) error {
		if _, err := tx.ExecContext(ctx, "UPDATE meta SET value = ? WHERE key = 'instance'", r.instance); err != nil {
			return err
		}
		s.instance, s.genesis = r.instance, genesis(r.instance)
		if err := r.restore(ctx, tx); err != nil {
			return err
		}
		if r.old == nil {
			return nil
		}
		return r.salvage(ctx, tx)
	})
	if err == nil {
		err = remove(s.path(headFile)) // it has the instance that the new store began with
	}
	if err == nil {
		err = s.locked(ctx, func() error { return s.catchUp(ctx) })
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// restore writes the journal and the memories that it leads to.
func (r *repairer) restore(ctx context.Context, tx *txn) error {
	type stored struct {
		m   *stillso.Memory
		seq int64
	}
	fold := map[string]stored{}
	purged := map[string]int64{}
	list := make([]history, len(r.found))
	for i, e := range r.found {
		list[i] = history{e.core.ID, e.core.Outcome, "", e.core.Undoes, e.core.Resolves}
		if err := writeEntry(ctx, tx, e); err != nil {
			return err
		}
		c, err := e.change(e.core.Outcome)
		if err != nil {
			return err
		}
		for _, edit := range c.Edits {
			id := edit.MemoryID()
			switch {
			case c.Outcome != stillso.Applied:
			case c.Verb == stillso.VerbPurge:
				purged[id] = e.core.Seq
				delete(fold, id)
			case isTombstone(edit):
			case edit.After == nil:
				delete(fold, id)
			default:
				if now := fold[id].m; !now.Equal(edit.Before) {
					r.lost("a state of memory %s before change %d", id, e.core.Seq)
				}
				fold[id] = stored{edit.After, e.core.Seq}
			}
		}
	}
	for i, now := range outcomes(list) {
		if now != list[i].written {
			if err := setOutcome(ctx, tx, list[i].id, now); err != nil {
				return err
			}
		}
	}
	for id, seq := range purged {
		if _, err := tx.ExecContext(ctx, "INSERT INTO purged (memory, seq) VALUES (?, ?)", id, seq); err != nil {
			return err
		}
	}
	w := writer{tx: tx}
	for _, id := range slices.Sorted(maps.Keys(fold)) {
		if err := w.putMemory(ctx, fold[id].seq, fold[id].m); err != nil {
			return err
		}
	}
	r.report.Changes, r.report.Memories = len(r.found), len(fold)
	return nil
}

// swap puts the new store in the place of the old one, which is kept. The
// segments go last: until then they say what a second repair needs.
func (r *repairer) swap() error {
	keep := func(name string) error {
		to := name + ".corrupt-" + r.stamp
		if name == dbFile+"-wal" {
			to = dbFile + ".corrupt-" + r.stamp + "-wal" // where SQLite looks for it
		}
		if _, err := os.Lstat(r.path(to)); err == nil {
			return fmt.Errorf("%s exists already; wait a second and try again", to)
		}
		err := os.Rename(r.path(name), r.path(to))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		r.report.Kept = append(r.report.Kept, to)
		return err
	}
	put := func(name string) error {
		err := os.Rename(r.path(repairDir, "new", name), r.path(name))
		if errors.Is(err, fs.ErrNotExist) && name == journalDir {
			return nil // a store without changes has no segments
		}
		return err
	}
	for _, step := range []func() error{
		func() error { return keep(dbFile) },
		func() error { return keep(dbFile + "-wal") },
		func() error { return remove(r.path(dbFile + "-shm")) },
		func() error { return put(dbFile) },
		func() error { return keep(journalDir) },
		func() error { return put(journalDir) },
		func() error { return put(headFile) },
		func() error { return os.RemoveAll(r.path(journalDir + ".new")) },
		func() error { return os.RemoveAll(r.path(journalDir + ".old")) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	syncDir(r.dir)
	return nil
}
