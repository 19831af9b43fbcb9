package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"stillso"
	"stillso/internal/capture"
	"stillso/internal/inject"
	"stillso/internal/profile"
)

// profileDesk is what is needed to weigh the lines of the profile.
type profileDesk struct {
	memories []*stillso.Memory
	frame    profile.Size
	budget   profile.Size
	use      map[string]profile.Use
}

// profileDesk reads the active memories and the budget.
func (a *app) profileDesk(ctx context.Context) (*profileDesk, error) {
	conf, _, err := readConfig(a.dir.Config())
	if err != nil {
		return nil, err
	}
	d := &profileDesk{budget: profile.Size{Bytes: conf.Profile.MaxBytes, Tokens: conf.Profile.MaxTokens}}
	d.budget.Bytes = min(d.budget.Bytes, inject.MaxSize) // a host counts otherwise, but never less than bytes
	d.frame.Bytes, d.frame.Tokens = inject.SessionFrame()
	d.memories, err = a.opened.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active}})
	return d, err
}

// residents returns the lines of these namespaces that are in the profile.
func (d *profileDesk) residents(spaces ...stillso.Namespace) []profile.Line {
	return d.lines(spaces, true)
}

func (d *profileDesk) lines(spaces []stillso.Namespace, resident bool) []profile.Line {
	var out []profile.Line
	for _, m := range d.memories {
		if m.Resident != resident || !slices.Contains(spaces, m.Namespace) {
			continue
		}
		l := profile.Line{Memory: m, Use: d.use[m.ID]}
		l.Size.Bytes, l.Size.Tokens = inject.Cost(itemOf(m))
		out = append(out, l)
	}
	return out
}

// namespaces lists those that have memories in the profile, the user's first: its
// lines are in every session.
func (d *profileDesk) namespaces() []stillso.Namespace {
	out := []stillso.Namespace{stillso.UserNamespace}
	for _, m := range d.memories {
		if m.Resident && !slices.Contains(out, m.Namespace) {
			out = append(out, m.Namespace)
		}
	}
	slices.Sort(out[1:])
	return out
}

// useAge is how far back the use of a memory counts, and useReceipts how many
// receipts are read for it.
const (
	useAge      = 90 * 24 * time.Hour
	useReceipts = 50_000
)

// learnUse counts, from receipts and journal, how the memories served.
func (d *profileDesk) learnUse(ctx context.Context, a *app) error {
	since := a.now().Add(-useAge)
	receipts, err := a.opened.Receipts(ctx, since, useReceipts)
	if err != nil {
		return err
	}
	d.use = map[string]profile.Use{}
	seen := map[[2]string]bool{}
	for _, r := range receipts {
		for _, h := range r.Hits {
			at := [2]string{h.ID, r.Session}
			if !h.Shown || r.Event != "prompt" || seen[at] {
				continue
			}
			seen[at] = true
			u := d.use[h.ID]
			u.Sessions++
			d.use[h.ID] = u
		}
	}
	changes, err := a.opened.Journal(ctx, stillso.JournalFilter{Since: since})
	if err != nil {
		return err
	}
	for _, ch := range changes {
		repeat := ch.Actor.Name == capture.RepeatMissed || ch.Actor.Name == capture.RepeatIgnored
		for _, e := range ch.Edits {
			switch {
			case repeat:
				u := d.use[e.MemoryID()]
				u.Repeats++
				d.use[e.MemoryID()] = u
			case ch.Outcome == stillso.Applied && e.After != nil && e.After.SupersededBy != "":
				u := d.use[e.After.SupersededBy]
				u.Corrects = true
				d.use[e.After.SupersededBy] = u
			}
		}
	}
	return nil
}

// inheritPlace lets what takes the place of a line of the profile take its place there,
// too: a correction of what is always there must not be the part that is looked up.
func inheritPlace(changes []stillso.Change) {
	for _, c := range changes {
		heir := ""
		for _, e := range c.Edits {
			if e.Before != nil && e.Before.Resident && e.Before.State == stillso.Active && e.After != nil && e.After.State == stillso.Superseded {
				heir = e.After.SupersededBy
			}
		}
		for _, e := range c.Edits {
			if heir != "" && e.After != nil && e.After.ID == heir && e.After.State == stillso.Active && c.Outcome == stillso.Applied {
				e.After.Resident = true
			}
		}
	}
}

// joinResidents returns the batch of changes that touch the profile, "" if none
// does. They get one, so that what has to make room is taken back with them.
func joinResidents(changes []stillso.Change) string {
	touched := false
	for _, c := range changes {
		for _, e := range c.Edits {
			touched = touched || c.Outcome == stillso.Applied && e.After != nil && e.After.Resident && e.After.State == stillso.Active
		}
	}
	if !touched {
		return ""
	}
	batch := changes[0].Batch
	if batch == "" {
		batch = stillso.NewID()
	}
	for i := range changes {
		if changes[i].Batch == "" {
			changes[i].Batch = batch
		}
	}
	return batch
}

// fitProfile demotes the weakest lines where the text of a session exceeds the
// budget. What was just saved stays saved whatever becomes of this.
func (a *app) fitProfile(ctx context.Context, batch string) error {
	desk, err := a.profileDesk(ctx)
	if err != nil {
		return fmt.Errorf("what was changed is saved, but the profile was not fitted to its budget: %w", err)
	}
	for _, ns := range desk.namespaces() {
		if profile.Sum(desk.frame, desk.residents(ns, stillso.UserNamespace)).In(desk.budget) {
			continue
		}
		if desk.use == nil {
			if err := desk.learnUse(ctx, a); err != nil {
				return err
			}
		}
		_, gone := profile.Fit(desk.residents(ns, stillso.UserNamespace), desk.frame, desk.budget)
		for _, l := range gone {
			ch := profile.Demotion(l, desk.budget, a.now())
			ch.Batch = batch
			done, err := a.opened.Apply(ctx, ch)
			if errors.Is(err, stillso.ErrConflict) {
				continue // somebody else was quicker; the next sweep looks again
			}
			if err != nil {
				return err
			}
			a.demoted = append(a.demoted, done...)
			i := slices.Index(desk.memories, l.Memory)
			desk.memories[i] = ch.Edits[0].After
		}
	}
	return nil
}

// profileConstants are the settings of the profile as the hook reads them. Settings
// that cannot be read leave the defaults.
func (a *app) profileConstants() map[string][]byte {
	conf, _, err := readConfig(a.dir.Config())
	if err != nil {
		conf = defaultConfig()
	}
	return map[string][]byte{
		"profile.max_bytes":  []byte(strconv.Itoa(conf.Profile.MaxBytes)),
		"profile.max_tokens": []byte(strconv.Itoa(conf.Profile.MaxTokens)),
	}
}

// profile fits the profile to its budget, then promotes by rule into free room what a
// person stated and needs. What a person demoted, or whose promotion a person took
// back, is not promoted by rule again.
func (s *sweeper) profile(ctx context.Context) error {
	a := s.app
	if err := a.fitProfile(ctx, stillso.NewID()); err != nil {
		return err
	}
	desk, err := a.profileDesk(ctx)
	if err != nil {
		return err
	}
	if err := desk.learnUse(ctx, a); err != nil {
		return err
	}
	against, err := a.against(ctx)
	if err != nil {
		return err
	}
	batch, n := stillso.NewID(), 0
	spaces := []stillso.Namespace{stillso.UserNamespace}
	for _, m := range desk.memories {
		if !slices.Contains(spaces, m.Namespace) {
			spaces = append(spaces, m.Namespace)
		}
	}
	slices.Sort(spaces[1:])
	for _, ns := range spaces {
		others := slices.DeleteFunc(desk.lines([]stillso.Namespace{ns}, false), func(l profile.Line) bool { return against[l.Memory.ID] })
		// The user's own lines are in the sessions of every project: the fullest counts.
		full := desk.residents(ns, stillso.UserNamespace)
		if ns == stillso.UserNamespace {
			for _, p := range desk.namespaces() {
				if with := desk.residents(p, ns); profile.Sum(desk.frame, with).Bytes > profile.Sum(desk.frame, full).Bytes {
					full = with
				}
			}
		}
		for _, l := range profile.Promote(full, others, desk.frame, desk.budget) {
			ch := profile.Promotion(l, a.now())
			ch.Batch = batch
			if _, err := a.opened.Apply(ctx, ch); err != nil {
				return err
			}
			n++
			desk.memories[slices.Index(desk.memories, l.Memory)] = ch.Edits[0].After
		}
	}
	if n+len(a.demoted) > 0 {
		s.log.Info("profile", "promoted", n, "demoted", len(a.demoted))
	}
	s.sum.Promoted, s.sum.Demoted = n, len(a.demoted)
	return nil
}

// against lists the memories that a person does not want in the profile.
func (a *app) against(ctx context.Context) (map[string]bool, error) {
	list, err := a.opened.Journal(ctx, stillso.JournalFilter{Verbs: []stillso.Verb{stillso.VerbPromote, stillso.VerbDemote}, Oldest: true})
	out := map[string]bool{}
	for _, c := range list {
		for _, e := range c.Edits {
			switch {
			case c.Actor.Kind == stillso.Human && c.Outcome == stillso.Applied:
				out[e.MemoryID()] = c.Verb == stillso.VerbDemote
			case c.Verb == stillso.VerbPromote && c.Outcome == stillso.Undone:
				out[e.MemoryID()] = true
			}
		}
	}
	return out, err
}
