package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/home"
	"stillso/internal/snapshot"
)

// spooled reports whether hooks have left something to drain.
func (a *app) spooled() bool {
	list, err := os.ReadDir(a.dir.Spool())
	if err != nil {
		return false
	}
	for _, e := range list {
		if st, err := e.Info(); err == nil && st.Mode().IsRegular() && st.Size() > 0 {
			return true
		}
	}
	return false
}

// keepShown is how long the list of what a session was shown is kept.
const keepShown = 30 * 24 * time.Hour

// tidySpool removes the lists of sessions that are long over.
func (s *sweeper) tidySpool() {
	dir := filepath.Join(s.app.dir.Spool(), "sessions")
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil && s.app.now().Sub(info.ModTime()) > keepShown {
			os.Remove(filepath.Join(dir, e.Name())) //nolint:errcheck,gosec // the next sweep tries again
		}
	}
}

// overdueDelta is from how many memories in the delta a sweep builds a new base.
const overdueDelta = 64

// overdue reports whether the index is due for a new base: the delta is long,
// another version made it, or there are new prompts to learn the background from and it costs little.
func (s *sweeper) overdue() bool {
	w, err := snapshot.Lock(string(s.app.dir), lockWait)
	if err != nil {
		return false
	}
	defer w.Unlock() //nolint:errcheck // the lock ends with the process
	if delta, err := w.Delta(); err == nil && delta.Docs >= overdueDelta {
		return true
	}
	if x := s.app.indexer(s.app.opened, w); x.foreign() {
		return true
	}
	base, err := w.Base()
	return err == nil && s.sum.Sessions > 0 && base.Docs <= inlineBase
}

// standing is a file of instructions, a note, or a folder of notes with its
// index, and the memories that stand in it.
type standing struct {
	path     string
	ns       stillso.Namespace
	memories []*stillso.Memory
}

// Above manyMemories, looking for those that stand in files takes seconds; then
// it is done once in filesPause, not after every turn.
const (
	manyMemories = 5000
	filesPause   = time.Hour
)

// files brings the memories that stand in files into step with them.
func (s *sweeper) files(ctx context.Context) error {
	mark := filepath.Join(filepath.Dir(s.app.dir.SweepLog()), "files.mark")
	if info, err := os.Stat(mark); err == nil && !s.whole && s.app.now().Sub(info.ModTime()) < filesPause && s.large() {
		return nil
	}
	n, err := s.app.inStep(ctx)
	s.sum.InStep += n
	if err != nil {
		return err
	}
	f, err := home.OpenFile(mark, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	now := s.app.now()
	return errors.Join(f.Close(), os.Chtimes(mark, now, now))
}

// large reports whether the index holds many memories.
func (s *sweeper) large() bool {
	snap, err := snapshot.Open(string(s.app.dir))
	if err != nil {
		return false
	}
	defer snap.Close() //nolint:errcheck // it was only read
	return snap.All().Len() > manyMemories
}

// inStep compares every file that memories stand in with what it holds now, and
// applies the changes. A file whose folder is gone, as on a disk that is not
// there, changes nothing.
func (a *app) inStep(ctx context.Context) (int, error) {
	st, err := a.store(ctx)
	if err != nil {
		return 0, err
	}
	all, err := st.Memories(ctx, stillso.Filter{Origins: []stillso.Origin{stillso.FromFile, stillso.FromImport}})
	if err != nil {
		return 0, err
	}
	var changes []stillso.Change
	var errs []error
	for _, at := range standings(all) {
		fresh, err := a.readStanding(at)
		if errors.Is(err, errAway) {
			continue
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if _, err := a.dropPurged(ctx, &fresh); err != nil {
			return 0, err
		}
		for _, m := range fresh.Memories {
			redactMemory(m)
		}
		changes = append(changes, files.Sync(at.memories, fresh.Memories, stillso.Actor{Kind: stillso.Rule, Name: "sweep"}, a.now())...)
	}
	changes = withoutTaken(changes, all)
	if len(changes) == 0 {
		return 0, errors.Join(errs...)
	}
	batch := stillso.NewID()
	for i := range changes {
		changes[i].Batch = batch
	}
	_, err = a.apply(ctx, changes...)
	return len(changes), errors.Join(append(errs, err)...)
}

// withoutTaken leaves out new lines whose id another memory has: two notes that
// claim one id must not keep all files from being brought into step.
func withoutTaken(changes []stillso.Change, all []*stillso.Memory) []stillso.Change {
	taken := make(map[string]bool, len(all))
	for _, m := range all {
		taken[m.ID] = true
	}
	return slices.DeleteFunc(changes, func(c stillso.Change) bool {
		id := c.Edits[0].MemoryID()
		drop := c.Verb == stillso.VerbAdd && taken[id]
		taken[id] = true
		return drop
	})
}

// errAway says that a file cannot be compared now.
var errAway = errors.New("the folder is not there")

// standings groups memories by the file or folder that has to be read as one.
func standings(all []*stillso.Memory) []*standing {
	var out []*standing
	byPath := map[string]*standing{}
	for _, m := range all {
		if m.File == nil || !filepath.IsAbs(m.File.Path) {
			continue
		}
		path := m.File.Path
		if !files.IsInstructions(path) {
			path = notesFolder(path)
		}
		at := byPath[path]
		if at == nil {
			at = &standing{path: path, ns: m.Namespace}
			byPath[path] = at
			out = append(out, at)
		}
		if at.ns == stillso.UserNamespace {
			at.ns = m.Namespace // a note may be for the user, its folder is the project's
		}
		at.memories = append(at.memories, m)
	}
	return out
}

// notesFolder returns the folder with an index that a note lies in, else the
// note: a note that was imported alone does not speak for its neighbours.
func notesFolder(note string) string {
	dir := filepath.Dir(note)
	for range 3 {
		if _, err := os.Stat(filepath.Join(dir, "MEMORY.md")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return note
}

// readStanding reads it as the import did.
func (a *app) readStanding(at *standing) (files.Reading, error) {
	o := files.Options{Namespace: at.ns, Root: a.rootFor(at.path), Now: a.now(), Loaded: a.loadedLines}
	read := files.Read
	if files.IsInstructions(at.path) {
		read = files.ReadInstructions // an emptied file holds no statement, and that is no error
	}
	r, err := read(at.path, o)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Dir(at.path)); err != nil {
			return r, errAway
		}
		return files.Reading{}, nil
	}
	return r, err
}
