package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/store/sqlite"
)

// app opens what a command needs when it needs it: home, store, index and
// namespace, all with one clock.
type app struct {
	std      streams
	homeFlag string
	json     bool

	dir    home.Dir
	opened store
	places map[string]stillso.Place
	// demoted are the lines that made room in the profile during this command.
	demoted []stillso.Change
	// settings are those of config.toml, once they were read.
	settings *config
}

// store is what the commands need of the store.
type store interface {
	stillso.Memories
	stillso.Sessions
	stillso.Queue
	// Each visits the memories that changed after a place in the journal.
	Each(ctx context.Context, after int64, f func(m *stillso.Memory, seq int64) error) (sqlite.Extent, error)
	// Seq is the place of the last change in the journal.
	Seq(ctx context.Context) (int64, error)
	// Instance names this store among all.
	Instance() string
	// Purge erases a memory and its history.
	Purge(ctx context.Context, id string, by stillso.Actor, at time.Time) (stillso.Change, error)
	Close() error
}

// now returns the time, in UTC and whole milliseconds, as the store keeps it.
func (a *app) now() time.Time { return a.std.clock().UTC().Truncate(time.Millisecond) }

// print writes the summary once, as text or as JSON.
func (a *app) print(sum summary) error {
	if a.json {
		return writeJSON(a.std.out, sum)
	}
	p := newPage(a.std.out, a.std.env)
	sum.text(p)
	return p.err
}

// warn tells a person something beside the summary, on standard error.
func (a *app) warn(format string, v ...any) {
	fmt.Fprintf(a.std.err, "stillso: warning: %s\n", oneLine(safeText(fmt.Sprintf(format, v...)))) //nolint:errcheck // where standard error is gone, nobody listens
}

// close closes what was opened.
func (a *app) close() error {
	if a.opened == nil {
		return nil
	}
	return a.opened.Close()
}

// openHome finds the home directory: the option, else the environment.
func (a *app) openHome() error {
	if a.homeFlag != "" {
		a.dir = home.Dir(a.homeFlag)
		return a.dirOnly()
	}
	dir, err := home.Locate(a.std.env)
	if err != nil {
		return usagef("cannot tell where the memories are: %w; set it, or use --home DIR", err)
	}
	a.dir = dir
	return a.dirOnly()
}

// dirOnly refuses a home that is something else than a directory.
func (a *app) dirOnly() error {
	if st, err := os.Stat(string(a.dir)); err == nil && !st.IsDir() {
		return usagef("cannot use %s as the home of the memories: it is no directory; set STILLSO_HOME to one, or use --home DIR", a.dir)
	}
	return nil
}

// exists reports whether a store was ever made here. A store of which only a
// part is left exists: opening it says that it is damaged. So does one that cannot
// be looked at: it must not be taken for none.
func (a *app) exists() bool {
	for _, path := range []string{a.dir.Store(), a.dir.Head()} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	segments, err := os.ReadDir(a.dir.Journal())
	return len(segments) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// usable refuses a home directory that is there but is not for this user to use, as
// the hook does.
func (a *app) usable() error {
	if !a.dir.Exists() {
		return nil
	}
	if err := a.dir.Check(); err != nil {
		return fmt.Errorf("cannot use %s: %w", a.dir, err)
	}
	if f, err := os.Open(string(a.dir)); err != nil {
		return fmt.Errorf("cannot use %s: %w; make it yours: chmod 700", a.dir, errors.Unwrap(err))
	} else if err := f.Close(); err != nil {
		return fmt.Errorf("cannot use %s: %w", a.dir, err)
	}
	return nil
}

// store opens the store; it never makes one.
func (a *app) store(ctx context.Context) (store, error) {
	if a.opened == nil && !a.exists() {
		return nil, &marked{class: errNoStore, text: fmt.Sprintf("no memories under %s: nothing was saved yet; `stillso remember` or `stillso import` makes the store", a.dir)}
	}
	if err := a.create(ctx); err != nil {
		return nil, err
	}
	return a.opened, nil
}

// create opens the store, and makes it if there is none.
func (a *app) create(ctx context.Context) error {
	if a.opened != nil {
		return nil
	}
	if err := a.usable(); err != nil {
		return err
	}
	if !a.dir.Exists() {
		if err := a.dir.Create(); err != nil {
			return fmt.Errorf("cannot make %s: %w", a.dir, err)
		}
	}
	st, err := sqlite.Open(ctx, string(a.dir), sqlite.Options{})
	if err != nil {
		return err
	}
	a.opened = st
	return nil
}

// directory returns the absolute directory that a command acts in.
func (a *app) directory(dir string) string {
	if dir == "" {
		dir = "."
	}
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// namespaceOption returns the namespace that an option names: user, project
// (that of the directory), or a full one.
func (a *app) namespaceOption(name, dir string) (stillso.Namespace, error) {
	switch name {
	case "", "project":
		pl, err := a.place(a.directory(dir))
		return pl.Namespace, err
	}
	ns := stillso.Namespace(name)
	if !ns.Valid() {
		return "", usagef("unknown namespace %q: use user, project, or a full one such as project/<id>; `stillso list --all` shows them", name)
	}
	return ns, nil
}

// readNamespaces returns the namespaces that a reading command looks into: with
// project also the user's own, as in recall.
func (a *app) readNamespaces(name, dir string) ([]stillso.Namespace, error) {
	ns, err := a.namespaceOption(name, dir)
	if err != nil {
		return nil, err
	}
	if (name == "" || name == "project") && ns != stillso.UserNamespace {
		return []stillso.Namespace{ns, stillso.UserNamespace}, nil
	}
	return []stillso.Namespace{ns}, nil
}

// find returns the memory with the id, or the only one whose id starts so.
func (a *app) find(ctx context.Context, id string) (*stillso.Memory, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	id = strings.TrimSpace(id)
	m, err := st.Memory(ctx, id)
	if err == nil || !errors.Is(err, stillso.ErrNotFound) {
		return m, err
	}
	var found []*stillso.Memory
	if id != "" {
		if found, err = st.Memories(ctx, stillso.Filter{IDPrefix: id, Limit: 6}); err != nil {
			return nil, err
		}
	}
	switch len(found) {
	case 0:
		return nil, &marked{class: stillso.ErrNotFound, text: fmt.Sprintf("no memory %q: no id starts so; `stillso list --all` shows the ids", id)}
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, m := range found {
		ids = append(ids, m.ID)
	}
	return nil, usagef("%q is not one memory: %s start so; give more of the id", id, strings.Join(ids, ", "))
}

// normalised folds what does not change the words: case, space, end marks.
func normalised(s string) string {
	return strings.TrimRight(strings.ToLower(oneLine(s)), ".!。！ ")
}

// sameWords returns an active memory of the namespace that says the same in the
// same words, or nil.
func (a *app) sameWords(ctx context.Context, ns stillso.Namespace, content string) (*stillso.Memory, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	found, err := st.Search(ctx, stillso.TextQuery{Text: content, Filter: stillso.Filter{
		Namespaces: []stillso.Namespace{ns}, States: []stillso.State{stillso.Active}, Limit: 20,
	}})
	if err != nil {
		return nil, err
	}
	want := normalised(content)
	for _, f := range found {
		if f.Memory != nil && normalised(f.Memory.Content) == want {
			return f.Memory, nil
		}
	}
	return nil, nil
}

// similar returns up to two active memories that share most words with m.
func (a *app) similar(ctx context.Context, m *stillso.Memory) ([]*stillso.Memory, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	found, err := st.Search(ctx, stillso.TextQuery{Text: m.Content, Filter: stillso.Filter{
		Namespaces: slices.Compact([]stillso.Namespace{m.Namespace, stillso.UserNamespace}),
		States:     []stillso.State{stillso.Active}, Limit: 5,
	}})
	if err != nil {
		return nil, err
	}
	var out []*stillso.Memory
	for _, f := range found {
		if f.Memory != nil && sharedWords(f.Memory.Content, m.Content) >= 0.6 && len(out) < 2 {
			out = append(out, f.Memory)
		}
	}
	return out, nil
}

// userHome returns the home directory of the person.
func (a *app) userHome() string {
	if h := a.std.env("HOME"); h != "" {
		return h
	}
	h, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return h
}

// absolute returns the absolute form of a path given on the command line.
func (a *app) absolute(path string) string { return a.directory(path) }
