// Package profile decides which memories are always there: those that are resident
// are injected at the start of every session. The profile is a view of memories,
// never a copy. It has a budget; what does not fit is demoted, weakest first, and is
// found by recall from then on. Nothing is refused for lack of room.
package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"stillso"
)

// Size is the size of a text, in bytes and in estimated tokens.
type Size struct {
	Bytes  int `json:"bytes"`
	Tokens int `json:"tokens"`
}

// Plus adds two sizes.
func (s Size) Plus(o Size) Size { return Size{s.Bytes + o.Bytes, s.Tokens + o.Tokens} }

// In reports whether s is within a budget; both measures count.
func (s Size) In(budget Size) bool { return s.Bytes <= budget.Bytes && s.Tokens <= budget.Tokens }

// Use is what is known of how a memory served.
type Use struct {
	// Sessions counts those in which it was injected at a prompt.
	Sessions int `json:"sessions"`
	// Repeats counts how often the user had to say it again.
	Repeats int `json:"repeats"`
	// Corrects says that it took the place of another memory.
	Corrects bool `json:"corrects,omitempty"`
}

// Line is one memory and what it costs at the start of a session.
type Line struct {
	Memory *stillso.Memory `json:"memory"`
	Size   Size            `json:"size"`
	Use    Use             `json:"use"`
}

// Stated reports whether a human said it, or accepted it.
func (l Line) Stated() bool {
	return l.Memory.Origin == stillso.FromUser || l.Memory.Origin == stillso.FromProposal
}

// trust orders origins: whatever else counts, nothing that a human stated goes before
// something inferred.
func trust(o stillso.Origin) int {
	switch o {
	case stillso.FromUser, stillso.FromProposal:
		return 2
	case stillso.FromFile, stillso.FromImport:
		return 1
	}
	return 0
}

// strength is how much a line is worth its place, in steps of priority: a standing
// rule and a correction two each, a repeat one (at most three), use up to two, on a
// logarithm, for the tenth session says less than the second; a failing claim takes
// two away.
func strength(l Line) float64 {
	s := float64(l.Memory.Priority) + float64(min(l.Use.Repeats, 3)) + min(math.Log2(1+float64(l.Use.Sessions))/2, 2)
	if l.Memory.Type.Standing() {
		s += 2
	}
	if l.Use.Corrects {
		s += 2
	}
	if l.Memory.Unverified() != "" {
		s -= 2
	}
	return s
}

// Compare orders lines, strongest first: by trust, strength, and then the newest.
func Compare(a, b Line) int {
	return cmp.Or(
		cmp.Compare(trust(b.Memory.Origin), trust(a.Memory.Origin)),
		cmp.Compare(strength(b), strength(a)),
		b.Memory.UpdatedAt.Compare(a.Memory.UpdatedAt),
		cmp.Compare(a.Memory.ID, b.Memory.ID),
	)
}

// Fit returns the lines that stay, strongest first, and those to be demoted, weakest
// first, so that frame and lines are within the budget. A line that does not fit even
// alone is demoted before any other.
func Fit(lines []Line, frame, budget Size) (stay, demote []Line) {
	stay = slices.Clone(lines)
	slices.SortFunc(stay, Compare)
	stay = slices.DeleteFunc(stay, func(l Line) bool {
		alone := frame.Plus(l.Size).In(budget)
		if !alone {
			demote = append(demote, l)
		}
		return !alone
	})
	for len(stay) > 0 && !Sum(frame, stay).In(budget) {
		demote = append(demote, stay[len(stay)-1])
		stay = stay[:len(stay)-1]
	}
	return stay, demote
}

// Sum is the size of the frame with all lines.
func Sum(frame Size, lines []Line) Size {
	for _, l := range lines {
		frame = frame.Plus(l.Size)
	}
	return frame
}

// The rule of promotion: one of these is enough.
const (
	promotePriority = 4
	promoteRepeats  = 1
	promoteSessions = 5
)

// reserve is the share of the budget that promotion by rule leaves free, so that the
// next line of a person finds room.
const reserve = 0.2

// Promote returns those of others that the rule promotes, strongest first: standing
// rules that a human stated, and that are important, had to be said again, or were
// needed in five sessions. They go into free room only and displace nothing.
func Promote(resident, others []Line, frame, budget Size) []Line {
	room := Size{int(float64(budget.Bytes) * (1 - reserve)), int(float64(budget.Tokens) * (1 - reserve))}
	used := Sum(frame, resident)
	list := slices.Clone(others)
	slices.SortFunc(list, Compare)
	var out []Line
	for _, l := range list {
		m := l.Memory
		if m.Resident || m.State != stillso.Active || !m.Type.Standing() || !l.Stated() || m.Unverified() != "" || Why(l) == "" {
			continue
		}
		if next := used.Plus(l.Size); next.In(room) {
			used = next
			out = append(out, l)
		}
	}
	return out
}

// Why says why the rule promotes a line, or "".
func Why(l Line) string {
	var why []string
	if l.Memory.Priority >= promotePriority {
		why = append(why, fmt.Sprintf("priority %d", l.Memory.Priority))
	}
	if l.Use.Repeats >= promoteRepeats {
		why = append(why, fmt.Sprintf("said again %d times", l.Use.Repeats))
	}
	if l.Use.Sessions >= promoteSessions {
		why = append(why, fmt.Sprintf("needed in %d sessions", l.Use.Sessions))
	}
	return strings.Join(why, ", ")
}

// Demotion is the journalled change that takes a line out of the profile. Its date
// stays: demoting makes nothing newer.
func Demotion(l Line, budget Size, at time.Time) stillso.Change {
	why := fmt.Sprintf("the profile holds %d bytes and %d tokens; this line was the weakest: %s, priority %d, %d repeats, needed in %d sessions",
		budget.Bytes, budget.Tokens, l.Memory.Origin, l.Memory.Priority, l.Use.Repeats, l.Use.Sessions)
	return change(l.Memory, stillso.VerbDemote, false, why, at)
}

// Promotion is the journalled change that the rule makes.
func Promotion(l Line, at time.Time) stillso.Change {
	return change(l.Memory, stillso.VerbPromote, true, "a standing rule: "+Why(l), at)
}

func change(m *stillso.Memory, verb stillso.Verb, resident bool, why string, at time.Time) stillso.Change {
	after := m.Clone()
	after.Resident = resident
	return stillso.Change{
		ID: stillso.NewID(), Verb: verb, Outcome: stillso.Applied, Actor: stillso.Actor{Kind: stillso.Rule, Name: "profile"},
		Confidence: 1, Reason: why, Edits: []stillso.Edit{{Before: m, After: after}}, At: at,
	}
}
