package profile

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"stillso"
)

var start = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)

func line(id string, origin stillso.Origin, set ...func(*Line)) Line {
	l := Line{Memory: &stillso.Memory{ID: id, Type: stillso.Constraint, Content: id, Origin: origin, Resident: true, Namespace: stillso.UserNamespace}, Size: Size{100, 25}}
	l.Memory.Default(start)
	for _, f := range set {
		f(&l)
	}
	return l
}

func ids(list []Line) []string {
	var out []string
	for _, l := range list {
		out = append(out, l.Memory.ID)
	}
	return out
}

// The newest entry, usually a correction, was the one that a full profile refused.
// Twelve new lines into one of fourteen that holds six: four go, and none of them was
// said by the user.
func TestFit(t *testing.T) {
	var lines []Line
	for i := range 6 {
		origin := stillso.FromUser
		if i%2 == 1 {
			origin = stillso.FromInferred
		}
		lines = append(lines, line(fmt.Sprint("old", i), origin))
	}
	for i := range 12 {
		origin := stillso.FromInferred
		if i < 4 {
			origin = stillso.FromUser
		} else if i < 8 {
			origin = stillso.FromProposal
		}
		lines = append(lines, line(fmt.Sprint("new", i), origin, func(l *Line) {
			l.Memory.UpdatedAt = start.AddDate(0, 1, i)
			l.Memory.Priority = 1 + i%5
		}))
	}
	frame := Size{50, 10}
	stay, gone := Fit(lines, frame, Size{50 + 14*100, 1000})
	if len(stay) != 14 || len(gone) != 4 {
		t.Fatalf("%d stay, %d go", len(stay), len(gone))
	}
	for _, l := range gone {
		if l.Stated() {
			t.Errorf("%s was said by the user, and goes", l.Memory.ID)
		}
		c := Demotion(l, Size{1, 2}, start)
		if c.Verb != stillso.VerbDemote || c.Edits[0].After.Resident || !c.Edits[0].Before.Resident || c.Reason == "" ||
			!c.Edits[0].After.UpdatedAt.Equal(l.Memory.UpdatedAt) || c.Edits[0].After.State != stillso.Active {
			t.Errorf("%+v", c)
		}
	}
}

func TestCompare(t *testing.T) {
	weak := line("weak", stillso.FromUser)
	for name, strong := range map[string]Line{
		"priority":   line("a", stillso.FromUser, func(l *Line) { l.Memory.Priority = 4 }),
		"repeats":    line("a", stillso.FromUser, func(l *Line) { l.Use.Repeats = 1 }),
		"use":        line("a", stillso.FromUser, func(l *Line) { l.Use.Sessions = 3 }),
		"correction": line("a", stillso.FromUser, func(l *Line) { l.Use.Corrects = true }),
		"recency":    line("a", stillso.FromUser, func(l *Line) { l.Memory.UpdatedAt = start.Add(time.Hour) }),
	} {
		if Compare(strong, weak) >= 0 {
			t.Errorf("%s counts for nothing", name)
		}
	}
	inferred := line("a", stillso.FromInferred, func(l *Line) {
		l.Memory.Priority, l.Use = 5, Use{Sessions: 100, Repeats: 9, Corrects: true}
	})
	if Compare(weak, inferred) >= 0 {
		t.Error("an inferred line goes before what the user said")
	}
	fact := line("z", stillso.FromUser, func(l *Line) { l.Memory.Type = stillso.Fact })
	broken := line("z", stillso.FromUser, func(l *Line) {
		l.Memory.Claims = []stillso.Claim{{ID: "c", Verdict: stillso.Fails, Reason: "gone"}}
	})
	if Compare(weak, fact) >= 0 || Compare(weak, broken) >= 0 {
		t.Error("a fact or an unverified line is as strong as a standing rule")
	}
}

// Whatever the lines: nothing is lost, the budget holds, no stated line goes before
// an inferred one, and the order of the input means nothing.
func TestFitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 30).Draw(t, "n")
		var lines []Line
		for i := range n {
			origin := rapid.SampledFrom(stillso.Origins()).Draw(t, "origin")
			size := rapid.IntRange(10, 400).Draw(t, "size")
			lines = append(lines, line(fmt.Sprintf("m%02d", i), origin, func(l *Line) {
				l.Size = Size{size, size / rapid.IntRange(1, 4).Draw(t, "per token")}
				l.Memory.Priority = rapid.IntRange(1, 5).Draw(t, "priority")
			}))
		}
		frame := Size{100, 30}
		budget := Size{rapid.IntRange(100, 3000).Draw(t, "bytes"), rapid.IntRange(30, 1000).Draw(t, "tokens")}
		stay, gone := Fit(lines, frame, budget)
		if len(stay)+len(gone) != n || len(stay) > 0 && !Sum(frame, stay).In(budget) {
			t.Fatalf("%d of %d, %v of %v", len(stay)+len(gone), n, Sum(frame, stay), budget)
		}
		for _, g := range gone {
			for _, s := range stay {
				if g.Stated() && s.Memory.Origin == stillso.FromInferred && frame.Plus(g.Size).In(budget) {
					t.Fatalf("%s goes, %s stays", g.Memory.ID, s.Memory.ID)
				}
			}
		}
		slices.Reverse(lines)
		if again, _ := Fit(lines, frame, budget); !slices.Equal(ids(again), ids(stay)) {
			t.Fatalf("%v, then %v", ids(stay), ids(again))
		}
		if again, more := Fit(stay, frame, budget); len(more) > 0 || len(again) != len(stay) {
			t.Fatal("what fits does not fit")
		}
	})
}

// The rule promotes what a person stated and needs, into free room, and nothing else.
func TestPromote(t *testing.T) {
	free := func(set func(*Line)) func(*Line) { return func(l *Line) { l.Memory.Resident = false; set(l) } }
	others := []Line{
		line("important", stillso.FromUser, free(func(l *Line) { l.Memory.Priority = 5 })),
		line("again", stillso.FromProposal, free(func(l *Line) { l.Use.Repeats = 1 })),
		line("used", stillso.FromUser, free(func(l *Line) { l.Use.Sessions = 5 })),
		line("plain", stillso.FromUser, free(func(*Line) {})),
		line("inferred", stillso.FromInferred, free(func(l *Line) { l.Memory.Priority = 5 })),
		line("fact", stillso.FromUser, free(func(l *Line) { l.Memory.Priority, l.Memory.Type = 5, stillso.Fact })),
		line("retired", stillso.FromUser, free(func(l *Line) { l.Memory.Priority, l.Memory.State = 5, stillso.Retired })),
	}
	got := ids(Promote(nil, others, Size{}, Size{1000, 1000}))
	if !slices.Equal(got, []string{"important", "used", "again"}) {
		t.Errorf("%v", got)
	}
	full := []Line{line("a", stillso.FromUser), line("b", stillso.FromUser)}
	if got := ids(Promote(full, others, Size{}, Size{400, 1000})); !slices.Equal(got, []string{"important"}) {
		t.Errorf("into three places of four, a fifth of them reserved: %v", got)
	}
	c := Promotion(others[0], start)
	if c.Verb != stillso.VerbPromote || !c.Edits[0].After.Resident || c.Reason != "a standing rule: priority 5" {
		t.Errorf("%+v", c)
	}
}
