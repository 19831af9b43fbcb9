package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// The index is brought up to date after every write. What changed since the base
// goes into a small delta, which costs milliseconds whatever the size of the
// store; the base is built again when that is cheap or overdue.
const (
	// A base of at most smallBase memories is built anew each time instead: it
	// takes as long as a delta, and its frequencies are never out of date.
	smallBase = 300
	// Above deltaLimit changed memories a delta costs as much as smallBase.
	deltaLimit = 300
	// Up to inlineBase memories a base is built by the command that found the
	// delta too large (about 50 µs each); above, by the next sweep.
	inlineBase = 5000
	// learntPrompts bounds the user's own prompts that the background is learnt
	// from: a thousand random ones are as good as all.
	learntPrompts = 2000
	// lockWait is how long to wait for another writer of the index; building a
	// base of 100,000 memories takes seconds.
	lockWait = 30 * time.Second
)

// refresh brings the index up to date with the store.
func (a *app) refresh(ctx context.Context) error { return a.index(ctx, false) }

// rebuild builds the whole index anew.
func (a *app) rebuild(ctx context.Context) error { return a.index(ctx, true) }

func (a *app) index(ctx context.Context, whole bool) (err error) {
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	w, err := snapshot.Lock(string(a.dir), lockWait)
	if err != nil {
		return savedBut(err)
	}
	defer func() { err = errors.Join(err, savedBut(w.Unlock())) }()
	x := a.indexer(st, w)
	if whole {
		return savedBut(x.base(ctx))
	}
	return savedBut(x.update(ctx))
}

// savedBut names what could not be done after the memory was already saved.
func savedBut(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("what was changed is saved, but the recall index is not up to date: %w; stillso sweep --rebuild builds it", err)
}

// indexer writes the index while it holds the writers' lock, and reads the store
// only then: else an older view of the store could replace a newer one.
type indexer struct {
	st  store
	w   *snapshot.Writer
	dir string
	// hints switches hints on in the hook, which reads no settings.
	hints bool
	// session bounds what a session begins with; the hook has to know it.
	session map[string][]byte
}

// indexer returns one for the home of a.
func (a *app) indexer(st store, w *snapshot.Writer) indexer {
	x := indexer{st: st, w: w, dir: string(a.dir), session: a.profileConstants()}
	if conf, _, err := readConfig(a.dir.Config()); err == nil {
		x.hints = conf.Recall.Hints
	}
	return x
}

// update writes a delta, or a base where a delta would not do.
func (x *indexer) update(ctx context.Context) error {
	base, err := x.w.Base()
	if errors.Is(err, stillso.ErrNotFound) || errors.Is(err, stillso.ErrDamaged) || errors.Is(err, stillso.ErrNewer) {
		return x.base(ctx)
	}
	if err != nil {
		return err
	}
	seq, err := x.st.Seq(ctx)
	if err != nil {
		return err
	}
	if x.others() {
		return x.base(ctx)
	}
	foreign := x.foreign()
	if x.upToDate(base, seq) && x.settled() && (!foreign || base.Docs > inlineBase) {
		return nil
	}
	if base.Docs <= smallBase || foreign && base.Docs <= inlineBase || seq < base.Seq { // behind its index: the store was put back from a backup
		return x.base(ctx)
	}
	n, err := x.delta(ctx, base.Seq, seq)
	if err == nil && n > deltaLimit && base.Docs <= inlineBase {
		return x.base(ctx)
	}
	return err
}

// The constants of a base that say how it was made.
const (
	hintsKey = "inject.hints" // "on" or nothing; the hook reads it
	madeKey  = "stillso.made-by"
	storeKey = "stillso.store" // the instance of the store it was made from
)

// madeBy names what the impacts in an index rest on beside the memories: the
// program and its formula. Another one weighs words differently.
func madeBy() string {
	v := buildVersion()
	return fmt.Sprintf("%s %s %v", v.Version, v.Commit, recall.Default())
}

// constants are those of a base: the model's and ours.
func (x *indexer) constants(model *recall.Model) map[string][]byte {
	c := maps.Clone(model.Constants())
	if c == nil {
		c = map[string][]byte{}
	}
	maps.Copy(c, x.session)
	c[madeKey] = []byte(madeBy())
	c[storeKey] = []byte(x.st.Instance())
	if x.hints {
		c[hintsKey] = []byte("on")
	}
	return c
}

// settled reports whether the index carries the bounds of a session as they are
// now; a delta can bring them.
func (x *indexer) settled() bool {
	snap, err := snapshot.Open(x.dir)
	if err != nil {
		return false
	}
	defer snap.Close() //nolint:errcheck // it was only read
	for k, v := range x.session {
		if string(snap.Constant(k)) != string(v) {
			return false
		}
	}
	return true
}

// foreign reports whether the base was made by another version, or for other
// settings.
func (x *indexer) foreign() bool {
	snap, err := snapshot.Open(x.dir)
	if err != nil {
		return true
	}
	defer snap.Close() //nolint:errcheck // it was only read
	return string(snap.Constant(madeKey)) != madeBy() || (string(snap.Constant(hintsKey)) == "on") != x.hints
}

// others reports whether the index was made from another store.
func (x *indexer) others() bool {
	snap, err := snapshot.Open(x.dir)
	if err != nil {
		return false
	}
	defer snap.Close() //nolint:errcheck // it was only read
	return ofOther(snap, x.st)
}

// ofOther reports whether an index was made from another store than st, as one that
// was copied from another machine: what it shows is not in st.
func ofOther(snap *snapshot.Snapshot, st store) bool {
	made := string(snap.Constant(storeKey))
	return made != "" && made != st.Instance()
}

// upToDate reports whether the index knows the last change already.
func (x *indexer) upToDate(base snapshot.Info, seq int64) bool {
	delta, err := x.w.Delta()
	if errors.Is(err, stillso.ErrNotFound) || err == nil && delta.ID != base.ID {
		return base.Seq == seq
	}
	return err == nil && delta.Seq == seq
}

// delta writes all memories that changed after the base, and returns how many.
// seq is read before the memories: an index may know more than its Seq says,
// never less.
func (x *indexer) delta(ctx context.Context, after, seq int64) (int, error) {
	snap, err := snapshot.Open(x.dir)
	if err != nil {
		return 0, err
	}
	defer snap.Close() //nolint:errcheck // it was only read
	model := recall.ModelOf(snap)
	b, err := x.w.NewDelta(snapshot.Options{Seq: seq, Constants: x.session})
	if err != nil {
		return 0, err
	}
	n := 0
	read, err := x.st.Each(ctx, after, func(m *stillso.Memory, _ int64) error {
		n++
		if !indexed(m) {
			b.Hide(m.ID)
			return nil
		}
		return x.add(b, model, m)
	})
	if err != nil {
		b.Discard()
		return n, err
	}
	for _, id := range read.Removed {
		b.Hide(id)
	}
	_, err = b.Commit()
	return n, err
}

// base writes the whole store: one reading to learn the frequencies, one to
// weigh every memory by them.
func (x *indexer) base(ctx context.Context) error {
	seq, err := x.st.Seq(ctx)
	if err != nil {
		return err
	}
	l := recall.NewLearner()
	if _, err := x.st.Each(ctx, 0, func(m *stillso.Memory, _ int64) error {
		if indexed(m) {
			l.Memory(m)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := x.learn(ctx, l); err != nil {
		return err
	}
	model := l.Model()
	b, err := x.w.NewBase(snapshot.Options{Seq: seq, Constants: x.constants(model)})
	if err != nil {
		return err
	}
	if _, err := x.st.Each(ctx, 0, func(m *stillso.Memory, _ int64) error {
		if !indexed(m) {
			return nil
		}
		return x.add(b, model, m)
	}); err != nil {
		b.Discard()
		return err
	}
	for key, value := range model.Calibrated() {
		b.Set(key, value)
	}
	_, err = b.Commit()
	return err
}

// add puts a memory into an index. The hook has no rules for secrets, so none may
// get this far: what an older version stored is taken out here.
func (x *indexer) add(b *snapshot.Builder, model *recall.Model, m *stillso.Memory) error {
	redactMemory(m)
	doc, postings := model.Index(m)
	doc.Content = shownText(m)
	return b.Add(doc, postings)
}

// The limits of what is shown of a note that has a body.
const (
	shownSentences = 3
	shownBytes     = 450
)

// shownText is what a hit shows of a memory: its content, and where that is only
// the first sentence of the body, as in the notes of Claude Code, the next ones
// too, for they hold the why.
func shownText(m *stillso.Memory) string {
	body, content := oneLine(m.Body), strings.TrimRight(oneLine(m.Content), ".。")
	if content == "" || !strings.HasPrefix(body, content) {
		return m.Content
	}
	end, n := 0, 0
	for i, r := range body {
		if i > shownBytes {
			break
		}
		next := i + utf8.RuneLen(r)
		wide := strings.ContainsRune("。！？", r)
		if wide || strings.ContainsRune(".!?", r) && (next == len(body) || body[next] == ' ') {
			end = next
			if n++; n == shownSentences {
				break
			}
		}
	}
	if end < len(content) {
		return m.Content
	}
	return body[:end]
}

// indexed reports whether a memory can be recalled at all.
func indexed(m *stillso.Memory) bool {
	return m.State == stillso.Active || m.State == stillso.Superseded
}

// learn shows the learner what the user typed lately, in all projects.
func (x *indexer) learn(ctx context.Context, l *recall.Learner) error {
	sessions, err := x.st.Sessions(ctx, time.Time{})
	if err != nil {
		return err
	}
	n := 0
	for _, s := range sessions {
		turns, err := x.st.Turns(ctx, s.ID)
		if err != nil {
			return err
		}
		for _, t := range turns {
			if t.Speaker == stillso.Typed {
				l.Prompt(s.Namespace, t.Text)
				n++
			}
		}
		if n >= learntPrompts {
			return nil
		}
	}
	return nil
}
