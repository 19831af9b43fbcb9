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

// profileCmd is what every session begins with.
type profileCmd struct {
	Show    profileShowCmd    `cmd:"" default:"withargs" help:"Show what a session here begins with."`
	Promote profilePromoteCmd `cmd:"" help:"Put memories into the profile."`
	Demote  profileDemoteCmd  `cmd:"" help:"Take memories out of the profile; recall still finds them."`
	Budget  profileBudgetCmd  `cmd:"" help:"Show how much room there is, in every project."`
}

// Help shows examples.
func (profileCmd) Help() string {
	return `The profile is a view of memories: those that are injected at the start of every
session. It has a budget (profile.max_tokens and profile.max_bytes in config.toml).
Nothing is refused for lack of room: the weakest line is demoted, which means that it
is no longer always there, and is found by recall. What the user said never goes
before what was inferred. Every change stands in the journal.

Examples:
  stillso profile
  stillso profile promote k3v9
  stillso profile demote k3v9
  stillso profile budget`
}

type profileShowCmd struct {
	Text bool   `help:"Show the text as the assistant gets it."`
	Dir  string `help:"Act as if in this directory." type:"path"`
}

type profilePromoteCmd struct {
	ID     []string `arg:"" help:"The ids, or the starts of them."`
	Reason string   `help:"Why; it stands in the journal."`
}

type profileDemoteCmd struct {
	ID     []string `arg:"" help:"The ids, or the starts of them."`
	Reason string   `help:"Why; it stands in the journal."`
}

type profileBudgetCmd struct{}

// profileShown is the profile of one place.
type profileShown struct {
	Lines  []profile.Line `json:"lines"`
	Used   profile.Size   `json:"used"`
	Budget profile.Size   `json:"budget"`
	Text   string         `json:"text,omitempty"`
}

func (c *profileShowCmd) run(ctx context.Context, a *app) (summary, error) {
	spaces, err := a.readNamespaces("project", c.Dir)
	if err != nil {
		return nil, err
	}
	if _, err := a.store(ctx); err != nil {
		return nil, err
	}
	desk, err := a.profileDesk(ctx)
	if err != nil {
		return nil, err
	}
	if err := desk.learnUse(ctx, a); err != nil {
		return nil, err
	}
	lines := desk.residents(spaces...)
	slices.SortFunc(lines, profile.Compare)
	sum := &profileShown{Lines: lines, Used: profile.Sum(desk.frame, lines), Budget: desk.budget}
	if len(lines) == 0 {
		sum.Lines, sum.Used = []profile.Line{}, profile.Size{}
	}
	if c.Text {
		var items []inject.Item
		for _, l := range lines {
			items = append(items, itemOf(l.Memory))
		}
		sum.Text, _ = inject.Block(items, inject.Options{
			Items: len(items), Size: inject.MaxSize, Session: true, Bytes: desk.budget.Bytes, Tokens: desk.budget.Tokens,
		})
	}
	return sum, nil
}

// profileBudgets is the room in every project.
type profileBudgets struct {
	Budget   profile.Size  `json:"budget"`
	Frame    profile.Size  `json:"frame"`
	Projects []profileRoom `json:"projects"`
}

type profileRoom struct {
	Namespace stillso.Namespace `json:"namespace"`
	Lines     int               `json:"lines"`
	Used      profile.Size      `json:"used"`
}

func (c *profileBudgetCmd) run(ctx context.Context, a *app) (summary, error) {
	if _, err := a.store(ctx); err != nil {
		return nil, err
	}
	desk, err := a.profileDesk(ctx)
	if err != nil {
		return nil, err
	}
	sum := &profileBudgets{Budget: desk.budget, Frame: desk.frame}
	for _, ns := range desk.namespaces() {
		lines := desk.residents(ns, stillso.UserNamespace)
		sum.Projects = append(sum.Projects, profileRoom{ns, len(lines), profile.Sum(desk.frame, lines)})
	}
	return sum, nil
}

func (c *profilePromoteCmd) run(ctx context.Context, a *app) (summary, error) {
	return a.setResident(ctx, c.ID, stillso.VerbPromote, c.Reason)
}

func (c *profileDemoteCmd) run(ctx context.Context, a *app) (summary, error) {
	return a.setResident(ctx, c.ID, stillso.VerbDemote, c.Reason)
}

// profileMoved is what became of the lines that a person moved.
type profileMoved struct {
	Verb    stillso.Verb      `json:"verb"`
	Memory  []*stillso.Memory `json:"memories"`
	Changes []string          `json:"changes"`
	Same    []string          `json:"unchanged,omitempty"`
	// Demoted are the lines that made room.
	Demoted []stillso.Change `json:"demoted,omitempty"`
}

// setResident puts memories into the profile or takes them out.
func (a *app) setResident(ctx context.Context, ids []string, verb stillso.Verb, reason string) (summary, error) {
	sum := &profileMoved{Verb: verb}
	var changes []stillso.Change
	for _, id := range ids {
		old, err := a.find(ctx, id)
		if err != nil {
			return nil, err
		}
		after := old.Clone()
		after.Resident = verb == stillso.VerbPromote
		twice := slices.ContainsFunc(changes, func(c stillso.Change) bool { return c.Edits[0].MemoryID() == old.ID })
		if old.Resident == after.Resident || twice {
			sum.Same = append(sum.Same, old.ID)
			continue
		}
		if after.Resident && old.State != stillso.Active {
			return nil, usagef("nothing was promoted: %s is %s; stillso restore brings it back first", old.ID, old.State)
		}
		if after.Resident {
			after.UpdatedAt = a.now() // a person's word of today goes before older ones
		}
		ch := a.humanChange(verb, "profile", stillso.Edit{Before: old, After: after})
		ch.Reason = reason
		changes = append(changes, ch)
		sum.Memory = append(sum.Memory, after)
	}
	if len(changes) == 0 {
		return sum, nil
	}
	done, err := a.apply(ctx, changes...)
	if err != nil {
		return nil, err
	}
	for _, d := range done {
		sum.Changes = append(sum.Changes, d.ID)
	}
	sum.Demoted = a.demoted
	return sum, nil
}

// itemOf is a memory as a session's block shows it.
func itemOf(m *stillso.Memory) inject.Item {
	it := inject.Item{ID: m.ID, Type: m.Type, Name: m.Name, Content: m.Content, Date: m.UpdatedAt.Format(time.DateOnly)}
	switch reason := m.Unverified(); {
	case reason != "":
		it.Label = "unverified: " + reason
	case m.Origin == stillso.FromInferred:
		it.Label = "inferred, unconfirmed"
	}
	return it
}

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

func (s *profileShown) text(p *page) {
	if s.Text != "" {
		p.printf("%s\n", s.Text)
		return
	}
	if len(s.Lines) == 0 {
		p.printf("the profile is empty: a session begins with the most important memories only; stillso profile promote ID puts one in for good\n")
		return
	}
	rows := make([][]string, len(s.Lines))
	for i, l := range s.Lines {
		use := fmt.Sprintf("%d/%d", l.Use.Sessions, l.Use.Repeats)
		rows[i] = []string{l.Memory.ID, string(l.Memory.Origin), string(l.Memory.Namespace), fmt.Sprint(l.Memory.Priority), use, fmt.Sprint(l.Size.Bytes), l.Memory.Content}
	}
	p.table([]string{"id", "origin", "namespace", "prio", "used/said again", "bytes", "content"}, rows)
	p.printf("\n%s, strongest first: %d of %d bytes, %d of %d tokens\n", plural(len(s.Lines), "line", "lines"), s.Used.Bytes, s.Budget.Bytes, s.Used.Tokens, s.Budget.Tokens)
	p.printf("%s\n", p.faint("stillso profile --text shows the text; stillso profile demote ID takes one out"))
}

func (b *profileBudgets) text(p *page) {
	p.printf("a session begins with at most %d bytes and %d tokens, the frame of %d bytes among them\n\n", b.Budget.Bytes, b.Budget.Tokens, b.Frame.Bytes)
	var rows [][]string
	for _, r := range b.Projects {
		rows = append(rows, []string{fmt.Sprint(r.Lines), fmt.Sprint(r.Used.Bytes), fmt.Sprint(r.Used.Tokens), string(r.Namespace)})
	}
	p.table([]string{"lines", "bytes", "tokens", "in the sessions of"}, rows)
	p.printf("\n%s\n", p.faint("change it in config.toml: [profile] max_bytes and max_tokens"))
}

func (m *profileMoved) text(p *page) {
	past := map[stillso.Verb]string{stillso.VerbPromote: "promoted", stillso.VerbDemote: "demoted"}[m.Verb]
	for i, x := range m.Memory {
		p.printf("%s %s  %s\n", past, p.bold(x.ID), oneLine(x.Content))
		p.printf("%s\n", p.faint("take it back: stillso undo "+m.Changes[i]))
	}
	for _, id := range m.Same {
		p.printf("%s is so already: nothing changed\n", p.bold(id))
	}
	printDemoted(p, m.Demoted)
}

// printDemoted names the lines that made room.
func printDemoted(p *page, list []stillso.Change) {
	for _, c := range list {
		m := c.Edits[0].After
		p.printf("%s %s left the profile to make room, and is found by recall: %s\n", p.yellow("demoted"), m.ID, cut(oneLine(m.Content), 80))
	}
	if len(list) > 0 {
		p.printf("%s\n", p.faint("take all of it back: stillso undo --batch "+list[0].Batch))
	}
}
