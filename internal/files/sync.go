package files

import (
	"slices"
	"strings"
	"time"

	"stillso"
)

// goneKey marks in Extra a memory that was retired because its line left the
// file, so that it can come back with the line. One that a human retired has no
// such mark and stays retired.
const goneKey = "retired_because"

const goneText = "no longer in its file"

// similarEnough is how much two texts must share (see likeness) to be two
// versions of one line. At a half, changing one word in three still counts, and
// two rules that share only "always use … for …" do not.
const similarEnough = 0.5

// Sync compares the memories of some files with what the files hold now, and
// returns the changes that bring them into step: new lines are added, changed
// ones edited in place (id, aliases and age stay), and those that are gone
// retired. existing must be all memories of these files and of no other, in any
// state; fresh is what was read from them. What was imported rather than kept in
// step (origin import) is never retired, and what a human retired or edited
// stays as long as its line does not change.
func Sync(existing, fresh []*stillso.Memory, by stillso.Actor, now time.Time) []stillso.Change {
	s := syncer{by: by, now: now, pairs: map[*stillso.Memory][]uint64{}}
	old := slices.Clone(existing)
	var rest []*stillso.Memory
	for _, f := range fresh { // the same line, wherever it stands now
		i := slices.IndexFunc(old, func(m *stillso.Memory) bool { return sameLine(m, f) && m.ID == f.ID })
		if i < 0 {
			i = slices.IndexFunc(old, func(m *stillso.Memory) bool { return sameLine(m, f) })
		}
		if i < 0 {
			rest = append(rest, f)
			continue
		}
		s.same(old[i], f)
		old = slices.Delete(old, i, i+1)
	}
	for _, f := range rest {
		// A note keeps its id when its text changes.
		i := slices.IndexFunc(old, func(m *stillso.Memory) bool { return m.ID == f.ID })
		if i < 0 {
			i = s.closest(old, f)
		}
		if i < 0 {
			s.change(stillso.VerbAdd, "new in "+f.File.Path, nil, f)
			continue
		}
		s.changed(old[i], f)
		old = slices.Delete(old, i, i+1)
	}
	for _, m := range old {
		if m.Origin == stillso.FromFile && m.State != stillso.Retired {
			after := m.Clone()
			after.State = stillso.Retired
			extra(after, goneKey, goneText)
			s.change(stillso.VerbRetire, goneText, m, after)
		}
	}
	return s.changes
}

type syncer struct {
	by      stillso.Actor
	now     time.Time
	changes []stillso.Change
	pairs   map[*stillso.Memory][]uint64 // of texts that were compared before
}

func sameLine(m, f *stillso.Memory) bool {
	return m.File != nil && f.File != nil && m.File.Hash == f.File.Hash
}

// same handles a line that has not changed: it may have moved, come back, or be
// loaded by other hosts than before. A new line number alone is no change: one
// line inserted at the top would edit the whole file.
func (s *syncer) same(m, f *stillso.Memory) {
	after := m.Clone()
	back := m.State == stillso.Retired && m.Extra[goneKey] != ""
	if back {
		after.State = stillso.Active
		delete(after.Extra, goneKey)
	}
	moved := m.File.Path != f.File.Path || !slices.Equal(m.File.LoadedBy, f.File.LoadedBy)
	if !back && !moved {
		return
	}
	after.File = f.Clone().File
	if back {
		s.change(stillso.VerbRestore, "back in "+f.File.Path, m, after)
	} else {
		s.change(stillso.VerbEdit, "moved in its file", m, after)
	}
}

// changed handles a line that says something else now. What the file does not
// say (aliases, priority, state) stays; what a human retired stays retired.
func (s *syncer) changed(m, f *stillso.Memory) {
	if m.State == stillso.Retired && m.Extra[goneKey] == "" {
		return
	}
	after := m.Clone()
	c := f.Clone()
	after.Name, after.Content, after.Body, after.Type, after.File = c.Name, c.Content, c.Body, c.Type, c.File
	if m.State == stillso.Retired {
		after.State = stillso.Active
	}
	delete(after.Extra, goneKey)
	for _, a := range c.Aliases {
		if !slices.Contains(after.Aliases, a) && len(after.Aliases) < stillso.MaxAliases {
			after.Aliases = append(after.Aliases, a)
		}
	}
	verb := stillso.VerbEdit
	if m.State == stillso.Retired {
		verb = stillso.VerbRestore
	}
	s.change(verb, "changed in "+f.File.Path, m, after)
}

func (s *syncer) change(verb stillso.Verb, reason string, before, after *stillso.Memory) {
	s.changes = append(s.changes, newChange(verb, reason, before, after, s.by, s.now))
}

// newChange makes one applied change of one memory and dates the memory.
func newChange(verb stillso.Verb, reason string, before, after *stillso.Memory, by stillso.Actor, now time.Time) stillso.Change {
	if before == nil {
		after = after.Clone()
		after.Default(now)
	} else {
		after.UpdatedAt = now.UTC()
	}
	return stillso.Change{
		ID: stillso.NewID(), Verb: verb, Outcome: stillso.Applied, Actor: by, Confidence: 1,
		Reason: reason, Edits: []stillso.Edit{{Before: before, After: after}}, At: now.UTC(),
	}
}

// closest returns the memory whose text is most like f's, or -1.
func (s *syncer) closest(old []*stillso.Memory, f *stillso.Memory) int {
	best, at := similarEnough, -1
	want := pairs(f)
	for i, m := range old {
		if m.File == nil || m.File.Path != f.File.Path || m.ID == "" {
			continue
		}
		if s.pairs[m] == nil {
			s.pairs[m] = pairs(m)
		}
		if l := likeness(s.pairs[m], want); l > best || l == best && at < 0 {
			best, at = l, i
		}
	}
	return at
}

// likeness is Dice's coefficient of two sorted lists: twice what they share,
// divided by the sum of their lengths. Source: Dice 1945, on character pairs.
func likeness(a, b []uint64) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	shared := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			shared++
			i++
			j++
		case a[i] < b[j]:
			i++
		default:
			j++
		}
	}
	return 2 * float64(shared) / float64(len(a)+len(b))
}

// pairs returns the pairs of neighbouring characters of a memory's text, sorted.
// Pairs work for scripts with and without spaces.
func pairs(m *stillso.Memory) []uint64 {
	text := m.Body
	if text == "" {
		text = m.Content
	}
	text = cutAt(strings.ToLower(oneLine(text)), 2000)
	var out []uint64
	last := rune(' ')
	for _, r := range text {
		out = append(out, uint64(last)<<32|uint64(r))
		last = r
	}
	slices.Sort(out)
	return out
}

func cutAt(s string, n int) string { return s[:min(n, len(s))] }
