package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stillso"
	"stillso/internal/home"
)

// testApp is an app on a home of its own, whose clock goes on by a second each time
// it is asked.
func testApp(t interface{ Fatal(...any) }, dir string) *app {
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	a := &app{dir: home.Dir(dir), std: streams{
		in: strings.NewReader(""), out: io.Discard, err: io.Discard,
		env:   func(k string) string { return map[string]string{"STILLSO_LLM": "none"}[k] },
		clock: func() time.Time { now = now.Add(time.Second); return now },
	}}
	if err := a.create(context.Background()); err != nil {
		t.Fatal(err)
	}
	return a
}

// After some sequence of acts the store was not what its journal says, or an undo
// of everything did not lead back to the start.
func TestStoreIsWhatItsJournalSays(t *testing.T) {
	texts := []string{
		"The staging database listens on port %d.", "The staging database now listens on port %d.", "Session tokens of the gateway live %d hours.",
		"Session tokens of the gateway now live %d hours.", "Ada's desk is Room %d and her badge is owl-7.", "Ada's desk has moved to Room %d.",
	}
	if f := flag.Lookup("rapid.checks"); f != nil && f.Value.String() == f.DefValue {
		must(t, f.Value.Set("25")) // each is a store of its own on the disk
	}
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		ctx := context.Background()
		n++
		a := testApp(t, fmt.Sprintf("%s/%d", t.TempDir(), n))
		defer a.close() //nolint:errcheck // a test's store
		st := a.opened
		pick := func() *stillso.Memory {
			list, err := st.Memories(ctx, stillso.Filter{})
			if err != nil || len(list) == 0 {
				return nil
			}
			slices.SortFunc(list, func(a, b *stillso.Memory) int { return strings.Compare(a.ID, b.ID) })
			return list[rapid.IntRange(0, len(list)-1).Draw(rt, "memory")]
		}
		for range rapid.IntRange(1, 14).Draw(rt, "acts") {
			switch rapid.IntRange(0, 6).Draw(rt, "act") {
			case 0, 1, 2:
				m := &stillso.Memory{
					ID: fmt.Sprintf("m%d", a.now().Unix()), Namespace: "project/p", Origin: stillso.FromUser,
					Content: fmt.Sprintf(rapid.SampledFrom(texts).Draw(rt, "text"), rapid.IntRange(1, 4).Draw(rt, "number")),
				}
				m.Default(a.now())
				must(t, errOf(st.Apply(ctx, a.humanChange(stillso.VerbAdd, "test", stillso.Edit{After: m}))))
			case 3:
				if m := pick(); m != nil {
					after := m.Clone()
					// Never a change that changes nothing: an undo cannot see it.
					after.State = rapid.SampledFrom(stillso.States()).Draw(rt, "state")
					after.UpdatedAt = a.now()
					must(t, errOf(st.Apply(ctx, a.humanChange(stillso.VerbEdit, "test", stillso.Edit{Before: m, After: after}))))
				}
			case 4:
				_, err := a.tidy(ctx, tidyOptions{rules: true})
				must(t, err)
			case 5:
				waiting, err := a.waiting(ctx, 0)
				must(t, err)
				for _, w := range waiting {
					out := rapid.SampledFrom([]stillso.Outcome{stillso.Applied, stillso.Refused}).Draw(rt, "outcome")
					if _, err := a.settleOne(ctx, w, out, stillso.Actor{Kind: stillso.Human, Name: "test"}, "", ""); err != nil && !errors.Is(err, stillso.ErrConflict) {
						t.Fatal(err)
					}
				}
			case 6:
				changes, err := st.Journal(ctx, stillso.JournalFilter{Outcomes: []stillso.Outcome{stillso.Applied}})
				must(t, err)
				if len(changes) > 0 {
					c := changes[rapid.IntRange(0, len(changes)-1).Draw(rt, "undo")]
					if _, err := st.Undo(ctx, c.ID, stillso.Actor{Kind: stillso.Human, Name: "test"}, a.now()); err != nil && !errors.Is(err, stillso.ErrConflict) {
						t.Fatal(err)
					}
				}
			}
			sameAsJournal(t, a)
		}
		undo := &undoCmd{Since: "2026-01-01"}
		if _, err := undo.run(ctx, a); err != nil && !strings.Contains(err.Error(), "nothing to undo") {
			t.Fatal(err)
		}
		sameAsJournal(t, a)
		if left, err := st.Memories(ctx, stillso.Filter{}); err != nil || len(left) > 0 {
			t.Fatalf("%d memories are left after an undo of everything (%v)", len(left), err)
		}
	})
}

// sameAsJournal compares the store with the fold of its journal.
func sameAsJournal(t *testing.T, a *app) {
	t.Helper()
	ctx := context.Background()
	changes, err := a.opened.Journal(ctx, stillso.JournalFilter{Oldest: true})
	must(t, err)
	now, _ := fold(changes, a.now())
	list, err := a.opened.Memories(ctx, stillso.Filter{})
	must(t, err)
	for _, m := range list {
		if !m.Equal(now[m.ID]) {
			t.Fatalf("memory %s is not what the journal says", m.ID)
		}
		delete(now, m.ID)
	}
	for id, m := range now {
		if m != nil {
			t.Fatalf("memory %s of the journal is lost", id)
		}
	}
}

func errOf(_ []stillso.Change, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A person who goes through the review must see both texts, and what each key does
// must be what happens.
func TestReviewKeys(t *testing.T) {
	ctx := context.Background()
	a := testApp(t, t.TempDir()+"/store")
	defer a.close() //nolint:errcheck // a test's store
	add := func(id, text string) {
		m := &stillso.Memory{ID: id, Namespace: "project/p", Origin: stillso.FromUser, Content: text}
		m.Default(a.now())
		must(t, errOf(a.opened.Apply(ctx, a.humanChange(stillso.VerbAdd, "test", stillso.Edit{After: m}))))
	}
	add("t1", "Session tokens of the gateway live 24 hours.")
	add("t2", "Session tokens of the gateway live 12 hours.")
	add("d1", "Backups of the ledger tables are kept 14 days.")
	add("d2", "Backups of the ledger tables are kept 30 days.")
	_, err := a.tidy(ctx, tidyOptions{rules: true})
	must(t, err)
	candidate := &stillso.Memory{ID: "n1", Namespace: "project/p", Origin: stillso.FromInferred, Content: "They like short commit mesages."}
	candidate.Default(a.now())
	proposal := a.change(stillso.VerbAdd, stillso.Actor{Kind: stillso.Rule, Name: "capture"}, stillso.Edit{After: candidate})
	proposal.Outcome = stillso.Proposed
	must(t, errOf(a.opened.Apply(ctx, proposal)))
	list, err := a.waiting(ctx, 0)
	must(t, err)
	if len(list) != 3 {
		t.Fatalf("%d wait", len(list))
	}
	in, keys, err := os.Pipe()
	must(t, err)
	if _, err := io.WriteString(keys, "x\na\nr\ne\nThey like short commit messages.\n"); err != nil {
		t.Fatal(err)
	}
	must(t, keys.Close())
	out, err := os.CreateTemp(t.TempDir(), "page")
	must(t, err)
	if _, err := a.goThrough(ctx, &reviewed{Waiting: list}, in, out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(out.Name())
	must(t, err)
	for _, want := range []string{"live 24 hours", "live 12 hours", "becomes superseded", "stays", "kept 30 days", "1 of 3"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("not shown: %s", want)
		}
	}
	states := map[string]stillso.State{}
	all, err := a.opened.Memories(ctx, stillso.Filter{})
	must(t, err)
	for _, m := range all {
		states[m.ID] = m.State
		if m.ID == "n1" && (m.Content != "They like short commit messages." || m.Origin != stillso.FromProposal) {
			t.Errorf("edited and approved: %s, %q", m.Origin, m.Content)
		}
	}
	if states["n1"] != stillso.Active || (states["t1"] == stillso.Superseded) == (states["d1"] == stillso.Superseded) {
		t.Errorf("one is approved, one refused: %v", states)
	}
	if left, err := a.waiting(ctx, 0); err != nil || len(left) > 0 {
		t.Errorf("%d still wait (%v)", len(left), err)
	}
}

// Old proposals piled up until nobody looked at them any more.
func TestProposalsExpire(t *testing.T) {
	ctx := context.Background()
	a := testApp(t, t.TempDir()+"/store")
	defer a.close() //nolint:errcheck // a test's store
	for i, at := range []time.Time{a.now().AddDate(0, 0, -61), a.now().AddDate(0, 0, -59)} {
		m := &stillso.Memory{ID: fmt.Sprintf("m%d", i), Namespace: "project/p", Content: fmt.Sprintf("Statement %d.", i)}
		m.Default(at)
		c := a.humanChange(stillso.VerbAdd, "test", stillso.Edit{After: m})
		c.Outcome, c.At = stillso.Proposed, at
		must(t, errOf(a.opened.Apply(ctx, c)))
	}
	s := &sweeper{app: a, sum: &swept{}}
	must(t, s.expire(ctx))
	waiting, err := a.waiting(ctx, 0)
	must(t, err)
	refused, err := a.opened.Journal(ctx, stillso.JournalFilter{Outcomes: []stillso.Outcome{stillso.Refused}})
	must(t, err)
	if len(waiting) != 1 || s.sum.Expired != 1 || !slices.ContainsFunc(refused, func(c stillso.Change) bool { return c.Reason == "not decided in 60 days" }) {
		t.Errorf("%d wait, %d expired, refused %v", len(waiting), s.sum.Expired, refused)
	}
}

// A sweep runs after every session; tidying each time would cost a second and, with
// a model, money. A new store is not tidied at all.
func TestSweepTidiesOnceADay(t *testing.T) {
	ctx := context.Background()
	a := testApp(t, t.TempDir()+"/store")
	defer a.close() //nolint:errcheck // a test's store
	log, err := openSweepLog(a)
	must(t, err)
	defer log.Close() //nolint:errcheck // a test's log
	for i, text := range []string{"The staging database listens on port 5432.", "The staging database now listens on port 5433."} {
		m := &stillso.Memory{ID: fmt.Sprintf("m%d", i), Namespace: "project/p", Origin: stillso.FromUser, Content: text}
		m.Default(a.now())
		must(t, errOf(a.opened.Apply(ctx, a.humanChange(stillso.VerbAdd, "test", stillso.Edit{After: m}))))
	}
	start := a.now()
	var tidied []int
	for _, after := range []time.Duration{0, time.Hour, 21 * time.Hour, 22 * time.Hour} {
		a.std.clock = func() time.Time { return start.Add(after) }
		s := &sweeper{app: a, sum: &swept{}, log: log}
		must(t, s.tidy(ctx))
		tidied = append(tidied, s.sum.Tidied)
	}
	if !slices.Equal(tidied, []int{0, 0, 1, 0}) {
		t.Errorf("tidied %v", tidied)
	}
	state, known := a.tidyState()
	if !known || !state.At.Equal(start.Add(21*time.Hour)) {
		t.Errorf("state %+v", state)
	}
}
