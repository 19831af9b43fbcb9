package main

import (
	"context"
	"errors"
	"maps"

	"stillso"
	"stillso/internal/redact"
	"stillso/internal/terms"
)

// humanChange returns a change that a person made with a command.
func (a *app) humanChange(verb stillso.Verb, command string, edits ...stillso.Edit) stillso.Change {
	return a.change(verb, stillso.Actor{Kind: stillso.Human, Name: command}, edits...)
}

// change returns an applied change by actor.
func (a *app) change(verb stillso.Verb, by stillso.Actor, edits ...stillso.Edit) stillso.Change {
	return stillso.Change{
		ID: stillso.NewID(), Verb: verb, Outcome: stillso.Applied, Actor: by,
		Confidence: 1, Edits: edits, At: a.now(),
	}
}

// apply is the one way in which a command changes memory: secrets are taken
// out, the store writes memory and journal in one transaction, and the index
// is brought up to date before the command says that it is done, so that a hook
// started right after it finds what was saved.
func (a *app) apply(ctx context.Context, changes ...stillso.Change) ([]stillso.Change, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	for i := range changes {
		redactChange(&changes[i])
	}
	inheritPlace(changes)
	resident := joinResidents(changes)
	done, err := st.Apply(ctx, changes...)
	if err != nil {
		return nil, err
	}
	if resident != "" {
		err = a.fitProfile(ctx, resident)
	}
	return done, errors.Join(err, a.refresh(ctx), a.register(ctx, st, done))
}

// redactChange takes the secrets out of all that a change would write. What
// stood in the store before is left as it is: it must equal what is there.
func redactChange(c *stillso.Change) {
	c.Reason, _ = redact.Text(c.Reason)
	for i := range c.Evidence {
		c.Evidence[i].Quote, _ = redact.Text(c.Evidence[i].Quote)
	}
	for _, e := range c.Edits {
		if e.After != nil {
			redactMemory(e.After)
		}
	}
}

// redactMemory takes the secrets out of every text of m and returns how many
// there were.
func redactMemory(m *stillso.Memory) int {
	n := 0
	clean := func(s *string) {
		text, found := redact.Text(*s)
		*s = text
		n += len(found)
	}
	for _, s := range []*string{&m.Name, &m.Content, &m.Body, &m.Why, &m.SourceSession} {
		clean(s)
	}
	for _, list := range [][]string{m.Aliases, m.Tags, m.RelatedFiles} {
		for i := range list {
			clean(&list[i])
		}
	}
	for i := range m.Evidence {
		e := &m.Evidence[i]
		clean(&e.Quote)
		clean(&e.Session)
		clean(&e.Turn)
	}
	for i := range m.Claims {
		c := &m.Claims[i]
		clean(&c.Reason)
		for k := range c.Args {
			clean(&c.Args[k])
		}
	}
	for k, v := range maps.Clone(m.Extra) {
		delete(m.Extra, k)
		clean(&k)
		clean(&v)
		m.Extra[k] = v
	}
	return n
}

// sharedWords returns which part of the words of the shorter text the other one
// has, too: 0 to 1. Stop words do not count.
func sharedWords(a, b string) float64 {
	wa, wb := wordSet(a), wordSet(b)
	if len(wa) > len(wb) {
		wa, wb = wb, wa
	}
	if len(wa) == 0 {
		return 0
	}
	shared := 0
	for w := range wa {
		if wb[w] {
			shared++
		}
	}
	return float64(shared) / float64(len(wa))
}

// wordSet returns the words of s; of Chinese the characters, for pairs change with
// their neighbours and a sentence in other words shares few of them.
func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, t := range terms.Analyze(s) {
		unwanted := terms.Char
		if terms.ScriptOf(t.Text) == terms.Han {
			unwanted = terms.Pair
		}
		if t.Kind != unwanted && !terms.Stop(t) {
			set[t.Text] = true
		}
	}
	return set
}
