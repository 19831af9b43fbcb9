package main

import (
	"context"
	"errors"
	"fmt"

	"stillso"
)

// reviewCmd is what waits for a human's decision.
type reviewCmd struct {
	List    reviewListCmd    `cmd:"" default:"withargs" help:"List what waits."`
	Approve reviewApproveCmd `cmd:"" help:"Accept proposals."`
	Refuse  reviewRefuseCmd  `cmd:"" help:"Refuse proposals; they are not made again."`
}

// Help shows examples.
func (reviewCmd) Help() string {
	return `Examples:
  stillso review
  stillso review approve m4t7 p07x
  stillso review refuse --all`
}

type reviewListCmd struct {
	Limit int `short:"n" help:"At most so many; 0 is no limit." default:"50"`
}

type reviewApproveCmd struct {
	Change []string `arg:"" optional:"" help:"The ids of the changes, or the starts of them."`
	All    bool     `help:"Everything that waits."`
	Reason string   `help:"Why; it stands in the journal."`
}

type reviewRefuseCmd struct {
	Change []string `arg:"" optional:"" help:"The ids of the changes, or the starts of them."`
	All    bool     `help:"Everything that waits."`
	Reason string   `help:"Why; it stands in the journal."`
}

// reviewed is what waits, or what became of it.
type reviewed struct {
	Waiting  []stillso.Change `json:"waiting,omitempty"`
	Outcome  stillso.Outcome  `json:"outcome,omitempty"`
	Settled  []stillso.Change `json:"settled,omitempty"`
	Outdated []string         `json:"outdated,omitempty"`
}

func (c *reviewListCmd) run(ctx context.Context, a *app) (summary, error) {
	list, err := a.waiting(ctx, c.Limit)
	return &reviewed{Waiting: list}, err
}

func (c *reviewApproveCmd) run(ctx context.Context, a *app) (summary, error) {
	return a.settle(ctx, c.Change, c.All, c.Reason, stillso.Applied)
}

func (c *reviewRefuseCmd) run(ctx context.Context, a *app) (summary, error) {
	return a.settle(ctx, c.Change, c.All, c.Reason, stillso.Refused)
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
func (a *app) settle(ctx context.Context, ids []string, all bool, reason string, outcome stillso.Outcome) (summary, error) {
	if all == (len(ids) > 0) {
		return nil, usagef("nothing was decided: say which; give the ids that stillso review lists, or --all")
	}
	list, err := a.proposals(ctx, ids, all)
	if err != nil {
		return nil, err
	}
	sum := &reviewed{Outcome: outcome}
	for _, p := range list {
		ch := a.humanChange(p.Verb, "review")
		ch.Outcome, ch.Resolves, ch.Evidence, ch.Reason = outcome, p.ID, p.Evidence, reason
		if reason == "" {
			ch.Reason = p.Reason
		}
		for _, e := range p.Edits {
			after := e.After.Clone()
			if after != nil && outcome == stillso.Applied {
				after.UpdatedAt = a.now()
				if after.State == stillso.Draft {
					after.State = stillso.Active
				}
				if after.Origin == stillso.FromInferred {
					after.Origin = stillso.FromProposal
				}
			}
			ch.Edits = append(ch.Edits, stillso.Edit{Before: e.Before, After: after})
		}
		done, err := a.apply(ctx, ch)
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
	if r.Outcome == "" {
		if len(r.Waiting) == 0 {
			p.printf("nothing waits for review\n")
			return
		}
		p.table(changeHead(), changeRows(r.Waiting))
		p.printf("%s\n", p.faint("stillso review approve ID, or refuse ID"))
		return
	}
	for _, c := range r.Settled {
		p.printf("%s %s  %s\n", r.Outcome, p.bold(c.Resolves), changeWords(c))
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
