package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stillso"
)

// reviewCmd is what waits for a human's decision.
type reviewCmd struct {
	List    reviewListCmd    `cmd:"" default:"withargs" help:"List what waits; in a terminal, go through it."`
	Show    reviewShowCmd    `cmd:"" help:"Show one proposal, its memories side by side."`
	Approve reviewApproveCmd `cmd:"" help:"Accept proposals, one of them with another text if you like."`
	Refuse  reviewRefuseCmd  `cmd:"" help:"Refuse proposals; they are not made again."`
}

// Help shows examples.
func (reviewCmd) Help() string {
	return `New memories that the judge was not sure of, contradictions, merges, corrections and
what may be over wait here, grouped by what they are about. What nobody decides in 60
days is refused. In a terminal each is shown with its texts and one letter, with Enter, decides:
a approve, e edit and approve, r refuse, s skip, q quit.

Examples:
  stillso review
  stillso review --list
  stillso review show m4t7
  stillso review approve m4t7 p07x
  stillso review approve m4t7 --content "The staging database listens on port 5434."
  stillso review refuse --all`
}

type reviewListCmd struct {
	Limit int  `short:"n" help:"At most so many; 0 is no limit." default:"50"`
	List  bool `short:"l" help:"Only list, also in a terminal."`
}

type reviewShowCmd struct {
	Change string `arg:"" help:"The id of the change, or the start of it."`
}

type reviewApproveCmd struct {
	Change  []string `arg:"" optional:"" help:"The ids of the changes, or the starts of them."`
	All     bool     `help:"Everything that waits."`
	Content string   `help:"Approve it with this text; for one proposal."`
	Reason  string   `help:"Why; it stands in the journal."`
}

type reviewRefuseCmd struct {
	Change []string `arg:"" optional:"" help:"The ids of the changes, or the starts of them."`
	All    bool     `help:"Everything that waits."`
	Reason string   `help:"Why; it stands in the journal."`
}

// reviewed is what waits, or what became of it.
type reviewed struct {
	Waiting []stillso.Change `json:"waiting"`
	// Subjects are the ids of the waiting changes, those about one thing together.
	Subjects [][]string       `json:"subjects,omitempty"`
	Outcome  stillso.Outcome  `json:"outcome,omitempty"`
	Settled  []stillso.Change `json:"settled,omitempty"`
	// Outdated rest on a memory that changed since.
	Outdated []string `json:"outdated,omitempty"`
	asked    bool     // a person went through it in the terminal
}

func (c *reviewListCmd) run(ctx context.Context, a *app) (summary, error) {
	list, err := a.waiting(ctx, c.Limit)
	if err != nil {
		return nil, err
	}
	sum := &reviewed{Waiting: []stillso.Change{}}
	for _, group := range bySubject(list) {
		var ids []string
		for _, ch := range group {
			sum.Waiting = append(sum.Waiting, ch)
			ids = append(ids, ch.ID)
		}
		sum.Subjects = append(sum.Subjects, ids)
	}
	if in, out, ok := a.terminal(); ok && !c.List && len(list) > 0 {
		return a.goThrough(ctx, sum, in, out)
	}
	return sum, nil
}

func (c *reviewShowCmd) run(ctx context.Context, a *app) (summary, error) {
	list, err := a.proposals(ctx, []string{c.Change}, false)
	if err != nil {
		return nil, err
	}
	return a.proposal(ctx, list[0])
}

func (c *reviewApproveCmd) run(ctx context.Context, a *app) (summary, error) {
	if c.Content != "" && (c.All || len(c.Change) != 1) {
		return nil, usagef("nothing was decided: --content gives the text of one proposal; name just one")
	}
	return a.settle(ctx, c.Change, c.All, c.Reason, strings.TrimSpace(c.Content), stillso.Applied)
}

func (c *reviewRefuseCmd) run(ctx context.Context, a *app) (summary, error) {
	return a.settle(ctx, c.Change, c.All, c.Reason, "", stillso.Refused)
}

// waiting lists the proposed changes, oldest first.
func (a *app) waiting(ctx context.Context, limit int) ([]stillso.Change, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	return st.Journal(ctx, stillso.JournalFilter{Outcomes: []stillso.Outcome{stillso.Proposed}, Oldest: true, Limit: limit})
}

// settle accepts or refuses proposals. One that rests on what has changed since
// cannot be accepted; the others are.
func (a *app) settle(ctx context.Context, ids []string, all bool, reason, content string, outcome stillso.Outcome) (summary, error) {
	if all == (len(ids) > 0) {
		return nil, usagef("nothing was decided: say which; give the ids that stillso review lists, or --all")
	}
	list, err := a.proposals(ctx, ids, all)
	if err != nil {
		return nil, err
	}
	sum := &reviewed{Outcome: outcome}
	by := stillso.Actor{Kind: stillso.Human, Name: "review"}
	for _, p := range list {
		done, err := a.settleOne(ctx, p, outcome, by, reason, content)
		if errors.Is(err, stillso.ErrConflict) {
			sum.Outdated = append(sum.Outdated, p.ID)
			continue
		}
		if err != nil {
			return sum, err
		}
		sum.Settled = append(sum.Settled, done...)
	}
	return sum, nil
}

// settleOne accepts or refuses one proposal; with content, a person gave it
// another text.
func (a *app) settleOne(ctx context.Context, p stillso.Change, outcome stillso.Outcome, by stillso.Actor, reason, content string) ([]stillso.Change, error) {
	ch := a.change(p.Verb, by)
	ch.Outcome, ch.Resolves, ch.Evidence, ch.Reason = outcome, p.ID, p.Evidence, reason
	if reason == "" {
		ch.Reason = p.Reason
	}
	if outcome != stillso.Applied {
		ch.Edits = p.Edits
		return a.apply(ctx, ch)
	}
	for _, e := range p.Edits {
		edit, changes, err := a.rebase(ctx, e)
		if err != nil {
			return nil, err
		}
		if !changes {
			continue
		}
		if edit.Before == nil || p.Verb == stillso.VerbEdit || p.Verb == stillso.VerbAdd {
			accepted(edit.After, content)
			content = ""
		}
		edit.After.UpdatedAt = a.now()
		ch.Edits = append(ch.Edits, edit)
	}
	if content != "" {
		return nil, usagef("nothing was decided: %s makes no text, so it cannot be given another; refuse it and use stillso edit", p.ID)
	}
	return a.apply(ctx, ch)
}

// accepted makes a proposed memory one that a person stands for.
func accepted(m *stillso.Memory, content string) {
	if content != "" {
		m.Content, m.Origin = content, stillso.FromProposal
	}
	if m.State == stillso.Draft {
		m.State = stillso.Active
	}
	if m.Origin == stillso.FromInferred {
		m.Origin = stillso.FromProposal
	}
}

// rebase fits an edit to what the memory is now. What the proposal did not speak
// of may have changed since (aliases, verdicts); what it rests on may not: then
// it is out of date, an ErrConflict. changes is false for a memory that is in the
// proposal only to be seen.
func (a *app) rebase(ctx context.Context, e stillso.Edit) (edit stillso.Edit, changes bool, err error) {
	if e.Before == nil {
		return stillso.Edit{After: e.After.Clone()}, true, nil
	}
	st, err := a.store(ctx)
	if err != nil {
		return e, false, err
	}
	now, err := st.Memory(ctx, e.Before.ID)
	if errors.Is(err, stillso.ErrNotFound) || err == nil && (now.Content != e.Before.Content || now.State != e.Before.State || now.Type != e.Before.Type) {
		return e, false, fmt.Errorf("%w: memory %s is not what the proposal rests on", stillso.ErrConflict, e.Before.ID)
	}
	if err != nil {
		return e, false, err
	}
	if e.Before.Equal(e.After) {
		return e, false, nil
	}
	b, after := e.Before, e.After.Clone()
	for _, f := range []struct {
		before []string
		after  *[]string
		now    []string
	}{{b.Aliases, &after.Aliases, now.Aliases}, {b.Tags, &after.Tags, now.Tags}, {b.RelatedFiles, &after.RelatedFiles, now.RelatedFiles}} {
		for _, s := range f.now {
			if !slices.Contains(f.before, s) && !slices.Contains(*f.after, s) && len(*f.after) < stillso.MaxAliases {
				*f.after = append(*f.after, s)
			}
		}
	}
	if len(after.Claims) == len(b.Claims) {
		after.Claims = now.Clone().Claims
	}
	if maps.Equal(after.Extra, b.Extra) {
		after.Extra = now.Clone().Extra
	}
	return stillso.Edit{Before: now, After: after}, true, nil
}

// waitsAtMost is how long a proposal waits for a person.
const waitsAtMost = 60 * 24 * time.Hour

// expire refuses what nobody has decided in two months, so that old proposals do
// not pile up; each leaves its line in the journal.
func (s *sweeper) expire(ctx context.Context) error {
	list, err := s.app.waiting(ctx, 0)
	if err != nil {
		return err
	}
	by := stillso.Actor{Kind: stillso.Rule, Name: "review"}
	for _, p := range list {
		if s.app.now().Sub(p.At) < waitsAtMost {
			break // oldest first
		}
		if _, err := s.app.settleOne(ctx, p, stillso.Refused, by, "not decided in 60 days", ""); err != nil && !errors.Is(err, stillso.ErrConflict) {
			return err
		}
		s.sum.Expired++
	}
	return nil
}

// proposals returns the waiting changes that were named.
func (a *app) proposals(ctx context.Context, ids []string, all bool) ([]stillso.Change, error) {
	if all {
		return a.waiting(ctx, 0)
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	var list []stillso.Change
	for _, id := range ids {
		found, err := st.Journal(ctx, stillso.JournalFilter{ChangeID: id, Outcomes: []stillso.Outcome{stillso.Proposed}, Limit: 2})
		switch {
		case err != nil:
			return nil, err
		case len(found) == 0:
			return nil, &marked{class: stillso.ErrNotFound, text: fmt.Sprintf("nothing was decided: no change %q waits; stillso review lists them", id)}
		case len(found) > 1:
			return nil, usagef("nothing was decided: several changes start with %q; give more of the id", id)
		}
		list = append(list, found[0])
	}
	return list, nil
}

func (r *reviewed) text(p *page) {
	if r.Outcome == "" && !r.asked {
		if len(r.Waiting) == 0 {
			p.printf("nothing waits for review\n")
			return
		}
		byID := map[string]stillso.Change{}
		for _, c := range r.Waiting {
			byID[c.ID] = c
		}
		for i, ids := range r.Subjects {
			if i > 0 {
				p.printf("\n")
			}
			var group []stillso.Change
			for _, id := range ids {
				group = append(group, byID[id])
			}
			p.printf("%s\n", p.bold(subjectOf(group)))
			p.table(changeHead(), changeRows(group))
		}
		p.printf("%s\n", p.faint("stillso review show ID, approve ID, or refuse ID"))
		return
	}
	for _, c := range r.Settled {
		p.printf("%s %s  %s\n", c.Outcome, p.bold(c.Resolves), changeWords(c))
	}
	for _, id := range r.Outdated {
		p.printf("%s %s rests on a memory that changed since; refuse it, or edit the memory yourself\n", p.yellow("kept"), p.bold(id))
	}
	if len(r.Settled)+len(r.Outdated) == 0 {
		p.printf("nothing waits for review\n")
	}
}

func (r *reviewed) exitCode() int {
	if len(r.Outdated) > 0 {
		return exitProblems
	}
	return exitOK
}
