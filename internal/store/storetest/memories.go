package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"stillso"
)

// A store that loses a field, numbers with gaps or forgets the reason is no journal.
func testApply(t *testing.T, open Opener) {
	s := open(t)
	full := memory("full", "Deploy with make ship.")
	full.Name, full.Body, full.Why = "deploy", "long\ntext", "because"
	full.Tags, full.Aliases, full.RelatedFiles = []string{"a", "b"}, []string{"how do I ship"}, []string{"cmd/main.go"}
	full.Evidence = []stillso.Evidence{{Session: "s1", Turn: "t1", Quote: "“ship” <it> & more\u2028"}}
	full.Claims = []stillso.Claim{{ID: "c", Probe: "path", Args: []string{"a"}, Verdict: stillso.Holds, CheckedAt: start}}
	full.File = &stillso.FileOrigin{Path: "CLAUDE.md", Line: 3, Hash: "ab", LoadedBy: []string{"claude-code"}}
	full.Extra = map[string]string{"x": "y"}
	full.SourceSession, full.Resident, full.Priority = "s1", true, 5

	out := apply(t, s, add(full), add(memory("two", "second")))
	if out[0].Seq != 1 || out[1].Seq != 2 {
		t.Errorf("Seq = %d, %d; want 1, 2", out[0].Seq, out[1].Seq)
	}
	want(t, s, "full", full)
	want(t, s, "none", nil)

	two := edited(memory("two", ""), "second, edited")
	c := change("", stillso.VerbEdit, stillso.Edit{Before: memory("two", "second"), After: two})
	c.Batch, c.Confidence, c.Actor = "b1", 0.5, stillso.Actor{Kind: stillso.Model, Name: "m"}
	got := apply(t, s, c)[0]
	if got.ID == "" || got.Seq != 3 {
		t.Errorf("a change without id became %q, Seq %d; want some id, 3", got.ID, got.Seq)
	}
	want(t, s, "two", two)
	list, err := s.Journal(t.Context(), stillso.JournalFilter{ChangeID: got.ID})
	if err != nil || len(list) != 1 || !reflect.DeepEqual(list[0], got) {
		t.Errorf("Journal = %+v, %v\nwant %+v", list, err, got)
	}
	if out := apply(t, s); len(out) != 0 {
		t.Errorf("no changes became %v", out)
	}

	// One change edits several memories, in order, and one of them twice.
	a, b := memory("a", "one"), memory("b", "two")
	a2 := edited(a, "one, merged")
	apply(t, s, change("m", stillso.VerbMerge, stillso.Edit{After: a}, stillso.Edit{After: b}, stillso.Edit{Before: a, After: a2}))
	want(t, s, "a", a2)
	want(t, s, "b", b)

	// The same moment in another time zone is no other memory.
	zone := a2.Clone()
	zone.CreatedAt, zone.UpdatedAt = zone.CreatedAt.In(time.FixedZone("x", 3600)), zone.UpdatedAt.In(time.FixedZone("x", 3600))
	apply(t, s, change("z", stillso.VerbEdit, stillso.Edit{Before: zone, After: edited(zone, "zone")}))
	want(t, s, "a", edited(a2, "zone"))
}

// A stale before that is written over loses what somebody else has said.
func testConflict(t *testing.T, open Opener) {
	s := open(t)
	m := memory("m", "one")
	m2 := edited(m, "two")
	apply(t, s, add(m), change("e", stillso.VerbEdit, stillso.Edit{Before: m, After: m2}))
	for name, c := range map[string]stillso.Change{
		"stale before":   change("x", stillso.VerbEdit, stillso.Edit{Before: m, After: edited(m, "three")}),
		"exists already": change("x", stillso.VerbAdd, stillso.Edit{After: memory("m", "new")}),
		"does not exist": change("x", stillso.VerbEdit, stillso.Edit{Before: memory("no", "a"), After: memory("no", "b")}),
		"known change":   change("e", stillso.VerbEdit, stillso.Edit{Before: m2, After: edited(m2, "three")}),
	} {
		// Changes before the one that does not fit are not kept either.
		out, err := s.Apply(t.Context(), add(memory("other", "x")), c)
		if !errors.Is(err, stillso.ErrConflict) {
			t.Errorf("%s: Apply = %v, %v; want ErrConflict", name, out, err)
			continue
		}
		if id := c.Edits[0].MemoryID(); name != "known change" && !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %q does not name memory %s", name, err, id)
		}
		want(t, s, "other", nil)
		want(t, s, "m", m2)
	}
	list, err := s.Journal(t.Context(), stillso.JournalFilter{})
	if err != nil || len(list) != 2 {
		t.Errorf("the journal has %d changes, %v; want 2", len(list), err)
	}
	// Proposals are not checked: they rest on what will be there when accepted.
	p := change("p", stillso.VerbEdit, stillso.Edit{Before: m, After: edited(m, "three")})
	p.Outcome = stillso.Proposed
	apply(t, s, p)
	want(t, s, "m", m2)
}

// What breaks the rules must not reach the journal: it could never be replayed.
func testInvalid(t *testing.T, open Opener) {
	s := open(t)
	with := func(f func(*stillso.Change)) stillso.Change {
		c := add(memory("m", "x"))
		f(&c)
		return c
	}
	for name, c := range map[string]stillso.Change{
		"empty content":    with(func(c *stillso.Change) { c.Edits[0].After.Content = " " }),
		"huge content":     with(func(c *stillso.Change) { c.Edits[0].After.Content = strings.Repeat("x", stillso.MaxContent+1) }),
		"bad namespace":    with(func(c *stillso.Change) { c.Edits[0].After.Namespace = "x" }),
		"no outcome":       with(func(c *stillso.Change) { c.Outcome = "" }),
		"outcome undone":   with(func(c *stillso.Change) { c.Outcome = stillso.Undone }),
		"no verb":          with(func(c *stillso.Change) { c.Verb = "" }),
		"verb undo":        with(func(c *stillso.Change) { c.Verb = stillso.VerbUndo }),
		"verb purge":       with(func(c *stillso.Change) { c.Verb = stillso.VerbPurge }),
		"no actor":         with(func(c *stillso.Change) { c.Actor = stillso.Actor{} }),
		"no time":          with(func(c *stillso.Change) { c.At = time.Time{} }),
		"confidence":       with(func(c *stillso.Change) { c.Confidence = 1.5 }),
		"no edits":         with(func(c *stillso.Change) { c.Edits = nil }),
		"empty edit":       with(func(c *stillso.Change) { c.Edits[0] = stillso.Edit{} }),
		"two ids":          with(func(c *stillso.Change) { c.Edits[0].Before = memory("other", "x") }),
		"deletion":         with(func(c *stillso.Change) { c.Edits[0] = stillso.Edit{Before: c.Edits[0].After} }),
		"year 10000":       with(func(c *stillso.Change) { c.Edits[0].After.UpdatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }),
		"proposal settles": with(func(c *stillso.Change) { c.Outcome, c.Resolves = stillso.Proposed, "x" }),
	} {
		if out, err := s.Apply(t.Context(), c); !errors.Is(err, stillso.ErrInvalid) {
			t.Errorf("%s: Apply = %v, %v; want ErrInvalid", name, out, err)
		}
	}
	if list, err := s.Journal(t.Context(), stillso.JournalFilter{}); err != nil || len(list) != 0 {
		t.Errorf("the journal has %d changes, %v; want none", len(list), err)
	}
	// Odd text is no error: it is kept as JSON can hold it.
	odd := memory("odd", "a\x00b \xff \U000e0041 \u202e")
	apply(t, s, add(odd))
	m, err := s.Memory(t.Context(), "odd")
	if err != nil || !strings.Contains(m.Content, "a\x00b \ufffd") {
		t.Errorf("Memory = %+v, %v", m, err)
	}
}

// A proposal that touches memory before a human says so, or is settled twice.
func testReview(t *testing.T, open Opener) {
	s := open(t)
	m := memory("m", "proposed")
	p := add(m)
	p.Outcome, p.ID = stillso.Proposed, "p"
	q := add(memory("n", "other"))
	q.Outcome, q.ID = stillso.Proposed, "q"
	apply(t, s, p, q)
	want(t, s, "m", nil)

	yes := change("yes", stillso.VerbAdd, stillso.Edit{After: m})
	yes.Resolves = "p"
	no := change("no", stillso.VerbAdd, stillso.Edit{After: memory("n", "other")})
	no.Resolves, no.Outcome = "q", stillso.Refused
	apply(t, s, yes, no)
	want(t, s, "m", m)
	want(t, s, "n", nil)
	if a, b := outcome(t, s, "p"), outcome(t, s, "q"); a != stillso.Applied || b != stillso.Refused {
		t.Errorf("outcomes of the proposals = %s, %s; want applied, refused", a, b)
	}
	again := change("again", stillso.VerbEdit, stillso.Edit{Before: m, After: edited(m, "x")})
	again.Resolves = "p"
	if _, err := s.Apply(t.Context(), again); !errors.Is(err, stillso.ErrConflict) {
		t.Errorf("settling twice = %v; want ErrConflict", err)
	}
	again.Resolves = "nothing"
	if _, err := s.Apply(t.Context(), again); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("settling what is not there = %v; want ErrNotFound", err)
	}
	if _, err := s.Undo(t.Context(), "q", human, start); !errors.Is(err, stillso.ErrConflict) {
		t.Errorf("undo of a refusal = %v; want ErrConflict", err)
	}
	u, err := s.Undo(t.Context(), "p", human, start)
	if err != nil || u.Undoes != "yes" {
		t.Fatalf("undo of an accepted proposal = %+v, %v; want an undo of what accepted it", u, err)
	}
	want(t, s, "m", nil)
	if a, b := outcome(t, s, "p"), outcome(t, s, "yes"); a != stillso.Undone || b != stillso.Undone {
		t.Errorf("outcomes after the undo = %s, %s; want undone", a, b)
	}
}

// An undo that is not exact, not journalled or not undoable is no way back.
func testUndo(t *testing.T, open Opener) {
	s := open(t)
	m := memory("m", "one")
	m2, n := edited(m, "two"), memory("n", "n")
	apply(t, s, add(m), change("both", stillso.VerbMerge, stillso.Edit{Before: m, After: m2}, stillso.Edit{After: n}))

	undo := func(id string) stillso.Change {
		t.Helper()
		u, err := s.Undo(t.Context(), id, human, start.Add(time.Hour))
		if err != nil {
			t.Fatalf("Undo(%s): %v", id, err)
		}
		if u.Verb != stillso.VerbUndo || u.Undoes != id || u.Outcome != stillso.Applied || u.Actor != human || u.Seq == 0 {
			t.Errorf("Undo(%s) = %+v", id, u)
		}
		if o := outcome(t, s, id); o != stillso.Undone {
			t.Errorf("%s is %s after its undo", id, o)
		}
		return u
	}
	u := undo("both")
	want(t, s, "m", m)
	want(t, s, "n", nil)
	if _, err := s.Undo(t.Context(), "both", human, start); !errors.Is(err, stillso.ErrConflict) {
		t.Errorf("second undo = %v; want ErrConflict", err)
	}
	uu := undo(u.ID)
	want(t, s, "m", m2)
	want(t, s, "n", n)
	if o := outcome(t, s, "both"); o != stillso.Applied {
		t.Errorf("the change is %s after the undo of its undo", o)
	}
	undo(uu.ID)
	want(t, s, "m", m)
	if o, p := outcome(t, s, "both"), outcome(t, s, u.ID); o != stillso.Undone || p != stillso.Applied {
		t.Errorf("after three undos the change is %s and its undo %s; want undone, applied", o, p)
	}
	// What came later is not thrown away.
	m3 := edited(m, "three")
	apply(t, s, change("later", stillso.VerbEdit, stillso.Edit{Before: m, After: m3}))
	_, err := s.Undo(t.Context(), "add-m", human, start)
	if !errors.Is(err, stillso.ErrConflict) || !strings.Contains(err.Error(), "later") {
		t.Errorf("undo below a later change = %v; want ErrConflict that names the change", err)
	}
	want(t, s, "m", m3)
	undo("later")
	undo("add-m")
	want(t, s, "m", nil)
	if _, err := s.Undo(t.Context(), "nothing", human, start); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("undo of nothing = %v; want ErrNotFound", err)
	}
	if list, err := s.Memories(t.Context(), stillso.Filter{}); err != nil || len(list) != 0 {
		t.Errorf("everything undone leaves %s, %v", ids(list), err)
	}
}

// A filter that lets foreign memories through leaks one project into another.
func testFilter(t *testing.T, open Opener) {
	s := open(t)
	var changes []stillso.Change
	for i, f := range []func(*stillso.Memory){
		func(m *stillso.Memory) {},
		func(m *stillso.Memory) { m.Namespace = "user" },
		func(m *stillso.Memory) { m.Type = stillso.Todo },
		func(m *stillso.Memory) { m.State = stillso.Retired },
		func(m *stillso.Memory) { m.Origin = stillso.FromImport },
		func(m *stillso.Memory) { m.RelatedFiles = []string{"/src/p/internal/a.go", "x"} },
		func(m *stillso.Memory) { m.File = &stillso.FileOrigin{Path: "docs/CLAUDE.md"} },
	} {
		m := memory(fmt.Sprintf("m%d", i), "text")
		m.UpdatedAt = start.Add(time.Duration(i) * time.Hour)
		f(m)
		changes = append(changes, add(m))
	}
	apply(t, s, changes...)
	for _, c := range []struct {
		name string
		f    stillso.Filter
		want string
	}{
		{"zero", stillso.Filter{}, "[m6 m5 m4 m3 m2 m1 m0]"},
		{"limit", stillso.Filter{Limit: 2}, "[m6 m5]"},
		{"namespace", stillso.Filter{Namespaces: []stillso.Namespace{"user"}}, "[m1]"},
		{"namespaces", stillso.Filter{Namespaces: []stillso.Namespace{"user", "project/other"}}, "[m1]"},
		{"no such namespace", stillso.Filter{Namespaces: []stillso.Namespace{"project/P"}}, "[]"},
		{"type", stillso.Filter{Types: []stillso.Type{stillso.Todo, stillso.Event}}, "[m2]"},
		{"state", stillso.Filter{States: []stillso.State{stillso.Retired}}, "[m3]"},
		{"origin", stillso.Filter{Origins: []stillso.Origin{stillso.FromImport}}, "[m4]"},
		{"prefix", stillso.Filter{IDPrefix: "m", Limit: 1}, "[m6]"},
		{"whole id", stillso.Filter{IDPrefix: "m3"}, "[m3]"},
		{"wild card", stillso.Filter{IDPrefix: "%"}, "[]"},
		{"file", stillso.Filter{File: "/src/p/internal/a.go"}, "[m5]"},
		{"end of a path", stillso.Filter{File: "internal/a.go"}, "[m5]"},
		{"part of a name", stillso.Filter{File: "l/a.go"}, "[]"},
		{"longer path", stillso.Filter{File: "/src/p/docs/CLAUDE.md"}, "[m6]"},
		{"since", stillso.Filter{Since: start.Add(5 * time.Hour)}, "[m6 m5]"},
		{"until", stillso.Filter{Until: start.Add(time.Hour)}, "[m1 m0]"},
		{"changed after", stillso.Filter{ChangedAfter: 5}, "[m6 m5]"},
		{"together", stillso.Filter{Namespaces: []stillso.Namespace{"project/p"}, Since: start.Add(4 * time.Hour), Origins: []stillso.Origin{stillso.FromUser}}, "[m6 m5]"},
	} {
		list, err := s.Memories(t.Context(), c.f)
		if err != nil || ids(list) != c.want {
			t.Errorf("%s: %s, %v; want %s", c.name, ids(list), err, c.want)
		}
	}
	// Equal times: the later change comes first.
	m := memory("m7", "text")
	m.UpdatedAt = start.Add(6 * time.Hour)
	apply(t, s, add(m))
	if list, err := s.Memories(t.Context(), stillso.Filter{Limit: 2}); err != nil || ids(list) != "[m7 m6]" {
		t.Errorf("equal times: %s, %v; want [m7 m6]", ids(list), err)
	}
}

// An audit that misses a change, or shows another's, is none.
func testJournal(t *testing.T, open Opener) {
	s := open(t)
	a, b := memory("a", "a"), memory("b", "b")
	c1, c2, c3 := add(a), add(b), change("e", stillso.VerbMerge, stillso.Edit{Before: a, After: edited(a, "ab")}, stillso.Edit{Before: b, After: edited(b, "gone")})
	c2.Actor.Kind, c2.Batch, c2.At = stillso.Rule, "night", start.Add(time.Hour)
	c3.Batch, c3.At = "night", start.Add(2*time.Hour)
	c4 := add(memory("c", "c"))
	c4.Outcome, c4.At = stillso.Refused, start.Add(3*time.Hour)
	apply(t, s, c1, c2, c3, c4)
	for _, c := range []struct {
		name string
		f    stillso.JournalFilter
		want string
	}{
		{"zero", stillso.JournalFilter{}, "[add-c e add-b add-a]"},
		{"oldest", stillso.JournalFilter{Oldest: true}, "[add-a add-b e add-c]"},
		{"limit", stillso.JournalFilter{Limit: 2}, "[add-c e]"},
		{"oldest limit", stillso.JournalFilter{Oldest: true, Limit: 1}, "[add-a]"},
		{"memory", stillso.JournalFilter{MemoryID: "b"}, "[e add-b]"},
		{"start of an id", stillso.JournalFilter{ChangeID: "add"}, "[add-c add-b add-a]"},
		{"batch", stillso.JournalFilter{Batch: "night"}, "[e add-b]"},
		{"outcome", stillso.JournalFilter{Outcomes: []stillso.Outcome{stillso.Refused, stillso.Proposed}}, "[add-c]"},
		{"actor", stillso.JournalFilter{Actors: []stillso.ActorKind{stillso.Rule}}, "[add-b]"},
		{"verb", stillso.JournalFilter{Verbs: []stillso.Verb{stillso.VerbMerge}}, "[e]"},
		{"since", stillso.JournalFilter{Since: start.Add(2 * time.Hour)}, "[add-c e]"},
		{"until", stillso.JournalFilter{Until: start.Add(time.Hour)}, "[add-b add-a]"},
		{"after", stillso.JournalFilter{AfterSeq: 3}, "[add-c]"},
		{"none", stillso.JournalFilter{MemoryID: "zz"}, "[]"},
	} {
		list, err := s.Journal(t.Context(), c.f)
		got := []string{}
		for _, ch := range list {
			got = append(got, ch.ID)
		}
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, %v; want %s", c.name, got, err, c.want)
		}
	}
}
