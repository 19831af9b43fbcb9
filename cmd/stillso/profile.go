package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"stillso"
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
