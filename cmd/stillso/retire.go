package main

import (
	"context"

	"stillso"
)

// retireCmd takes memories out of recall.
type retireCmd struct {
	ID     []string `arg:"" optional:"" help:"The ids, or the starts of them."`
	About  string   `help:"Those that these words name, instead of ids." placeholder:"WORDS"`
	Reason string   `help:"Why; it stands in the journal."`
	Dir    string   `help:"Act as if in this directory." type:"path"`
}

// Help shows examples.
func (retireCmd) Help() string {
	return `Nothing is deleted: a retired memory is no longer recalled and can be restored.

With --about a memory is meant if it has every name and number of the words, and most
of the others. Of one that says two things, or speaks of two people, the rest stays.

Examples:
  stillso retire k3v9
  stillso retire --about "Frank's desk at the Harbor office"
  stillso retire k3v9 p07x --reason "the service is gone"`
}

func (c *retireCmd) run(ctx context.Context, a *app) (summary, error) {
	if (c.About == "") == (len(c.ID) == 0) {
		return nil, usagef("nothing was retired: say which; give ids, or words with --about")
	}
	if c.About != "" {
		return a.retireAbout(ctx, c)
	}
	return a.setState(ctx, c.ID, stillso.VerbRetire, stillso.Retired, c.Reason)
}

// restoreCmd brings memories back into recall.
type restoreCmd struct {
	ID     []string `arg:"" help:"The ids, or the starts of them."`
	Reason string   `help:"Why; it stands in the journal."`
}

// Help shows examples.
func (restoreCmd) Help() string {
	return `Examples:
  stillso list --state retired
  stillso restore k3v9`
}

func (c *restoreCmd) run(ctx context.Context, a *app) (summary, error) {
	return a.setState(ctx, c.ID, stillso.VerbRestore, stillso.Active, c.Reason)
}

// setState moves memories to a state, all of them or none.
func (a *app) setState(ctx context.Context, ids []string, verb stillso.Verb, to stillso.State, reason string) (summary, error) {
	sum := &edited{Verb: verb}
	var changes []stillso.Change
	seen := map[string]bool{}
	for _, id := range ids {
		old, err := a.find(ctx, id)
		if err != nil {
			return nil, err
		}
		if old.State == to {
			sum.Same = append(sum.Same, old.ID)
			continue
		}
		if seen[old.ID] {
			continue
		}
		seen[old.ID] = true
		after := old.Clone()
		after.State, after.UpdatedAt = to, a.now()
		if to == stillso.Active {
			after.SupersededBy = ""
		}
		change := a.humanChange(verb, string(verb), stillso.Edit{Before: old, After: after})
		change.Reason = reason
		changes = append(changes, change)
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
	return sum, nil
}
