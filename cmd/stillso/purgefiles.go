package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2/maybe"

	"stillso"
	"stillso/internal/tidy"
)

// purge erases one memory from everything below the home: store, journal and their
// backups, waiting lines of the hooks, index, log, and what other memories have
// inherited from it. It returns the memories that hold the same text.
func (a *app) purge(ctx context.Context, id string) ([]string, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	texts, err := textsOf(ctx, st, id)
	if err != nil {
		return nil, err
	}
	also, err := a.others(ctx, st, id, texts)
	if err != nil {
		return nil, err
	}
	// A sweep drains the waiting lines, too: two at once would lose some, and what it
	// has read but not yet written would come after the purge.
	unlock, err := a.lockSweep(ctx, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	// The waiting lines go into the store first: there they are erased with it.
	if log, err := openSweepLog(a); err == nil {
		err = (&sweeper{app: a, log: log, sum: &swept{}}).drain(ctx)
		if err = errors.Join(err, log.Close()); err != nil {
			return nil, fmt.Errorf("nothing was purged: the waiting lines of the hooks cannot be read: %w", err)
		}
	}
	_, err = st.Purge(ctx, id, stillso.Actor{Kind: stillso.Human, Name: "purge"}, a.now())
	err = errors.Join(err, a.rebuild(ctx), a.dir.ForgetTerms(), a.scrubFiles(texts))
	return also, err
}

// minNeedle is the length in bytes from which a text is looked for in files.
const minNeedle = 8

// textsOf returns all that a memory ever said: what must be found nowhere.
func textsOf(ctx context.Context, st store, id string) ([]string, error) {
	changes, err := st.Journal(ctx, stillso.JournalFilter{MemoryID: id})
	if err != nil {
		return nil, err
	}
	var out []string
	add := func(list ...string) {
		for _, s := range list {
			if s = strings.TrimSpace(s); len(s) >= minNeedle && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	for _, c := range changes {
		for _, e := range c.Edits {
			if e.MemoryID() != id {
				continue
			}
			for _, m := range []*stillso.Memory{e.Before, e.After} {
				if m == nil {
					continue
				}
				add(m.Content, m.Why)
				add(strings.Split(m.Body, "\n")...)
				for _, q := range m.Evidence {
					add(q.Quote)
				}
			}
		}
	}
	return out, nil
}

// others returns the memories that hold a text of an erased one. Those that only
// inherited words of it are saved anew without them, since their history has them.
func (a *app) others(ctx context.Context, st store, id string, texts []string) ([]string, error) {
	var also []string
	var heirs []*stillso.Memory
	_, err := st.Each(ctx, 0, func(m *stillso.Memory, _ int64) error {
		heir := m.Clone()
		switch {
		case m.ID == id:
		case tidy.Disinherit(heir, id):
			heirs = append(heirs, m)
		case slices.ContainsFunc(texts, func(s string) bool {
			return strings.Contains(strings.ToLower(m.Content+"\n"+m.Body), strings.ToLower(strings.TrimRight(s, ".!。")))
		}):
			also = append(also, m.ID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := a.purgeNever(ctx, st, id, texts); err != nil {
		return nil, err
	}
	for _, m := range heirs {
		fresh := m.Clone()
		tidy.Disinherit(fresh, id)
		fresh.ID, fresh.UpdatedAt = stillso.NewID(), a.now()
		add := a.humanChange(stillso.VerbAdd, "purge", stillso.Edit{After: fresh})
		add.Reason = "it takes the place of " + m.ID + ", which held words of what is purged"
		if _, err := a.apply(ctx, add); err != nil {
			return nil, err
		}
		if _, err := st.Purge(ctx, m.ID, stillso.Actor{Kind: stillso.Human, Name: "purge"}, a.now()); err != nil {
			return nil, err
		}
	}
	return also, nil
}

// purgeNever erases candidates that were refused or still wait and hold a text of
// what is erased: they are in the journal only.
func (a *app) purgeNever(ctx context.Context, st store, id string, texts []string) error {
	changes, err := st.Journal(ctx, stillso.JournalFilter{Outcomes: []stillso.Outcome{stillso.Proposed, stillso.Refused}})
	if err != nil {
		return err
	}
	done := map[string]bool{id: true}
	for _, c := range changes {
		for _, e := range c.Edits {
			if e.After == nil || done[e.After.ID] || !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(e.After.Content+"\n"+e.After.Body, s) }) {
				continue
			}
			done[e.After.ID] = true
			if _, err := st.Memory(ctx, e.After.ID); !errors.Is(err, stillso.ErrNotFound) {
				continue
			}
			if _, err := st.Purge(ctx, e.After.ID, stillso.Actor{Kind: stillso.Human, Name: "purge"}, a.now()); err != nil {
				return err
			}
		}
	}
	return nil
}

// keptFile reports whether a file is one of those below the home that the store and the index have cleaned
// already, or is not ours to change: the settings of the person, and the backups
// of the hosts' settings.
func keptFile(rel string) bool {
	base := filepath.Base(rel)
	return strings.HasPrefix(base, "store.") || strings.HasPrefix(base, "recall.") || base == "config.toml" || strings.HasSuffix(base, ".lock") ||
		strings.HasPrefix(filepath.ToSlash(rel), "journal/") || strings.HasSuffix(base, ".backup")
}

// scrubFiles takes the texts out of all other files below the home: lines that hold
// one are dropped, and a file of one document that does is deleted, for all of them
// can be made again.
func (a *app) scrubFiles(texts []string) error {
	var needles [][]byte
	for _, s := range texts {
		needles = append(needles, []byte(s))
		if quoted, err := json.Marshal(s); err == nil {
			needles = append(needles, quoted[1:len(quoted)-1])
		}
	}
	holds := func(b []byte) bool {
		return slices.ContainsFunc(needles, func(n []byte) bool { return bytes.Contains(b, n) })
	}
	root := string(a.dir)
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || keptFile(rel) {
			return err
		}
		data, err := os.ReadFile(path) // #nosec G304 G122 -- a file below our home, where only its owner may write
		if errors.Is(err, fs.ErrNotExist) || err == nil && !holds(data) {
			return nil
		}
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".jsonl", ".log", ".tsv", ".1":
			var out []byte
			for line := range bytes.SplitAfterSeq(data, []byte("\n")) {
				if !holds(line) {
					out = append(out, line...)
				}
			}
			return maybe.WriteFile(path, out, 0o600)
		}
		return os.Remove(path) // #nosec G122 -- below our home, where only its owner may write
	})
}
