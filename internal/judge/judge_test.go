package judge

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"

	"stillso"
)

func question() Question {
	a := &stillso.Candidate{Memory: stillso.Memory{Content: "Use pnpm.", Type: stillso.Preference}}
	b := &stillso.Candidate{Memory: stillso.Memory{Content: "Ship on Fridays.", Type: stillso.Decision}}
	return Question{Window: "[turn 1, developer]\nuse pnpm", Candidates: []*stillso.Candidate{a, b}, Near: [][]*stillso.Memory{{{ID: "m1", Content: "Use npm.", Type: stillso.Preference}}, nil}}
}

// A reply that is odd in one place must not admit anything.
func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		reply  string
		scores [2]int
		fails  bool
	}{
		"both":             {`{"verdicts":[{"candidate":1,"step":3,"reason":"asked","score":5,"relation":"conflicts","of":"m1"},{"candidate":2,"step":4,"reason":"one-off","score":1,"relation":"new","of":null}]}`, [2]int{5, 1}, false},
		"one passed over":  {`{"verdicts":[{"candidate":2,"score":4}]}`, [2]int{3, 4}, false},
		"twice, low wins":  {`{"verdicts":[{"candidate":1,"score":5},{"candidate":1,"score":2},{"candidate":2,"score":"4"}]}`, [2]int{2, 4}, false},
		"fence and prose":  {"Sure!\n```json\n{\"verdicts\":[{\"candidate\":1,\"score\":4},{\"candidate\":2,\"score\":3}]}\n```\nDone.", [2]int{4, 3}, false},
		"score out of 1-5": {`{"verdicts":[{"candidate":1,"score":9},{"candidate":2,"score":-4}]}`, [2]int{}, true},
		"score is 4.7":     {`{"verdicts":[{"candidate":1,"score":4.7},{"candidate":2,"score":3}]}`, [2]int{3, 3}, false},
		"none":             {`{"verdicts":[]}`, [2]int{}, true},
		"error text":       {"API Error: 529 overloaded", [2]int{}, true},
		"other object":     {`{"candidates":[]}`, [2]int{}, true},
		"cut":              {`{"verdicts":[{"candidate":1,"score":5`, [2]int{}, true},
	} {
		q := question()
		err := Parse(c.reply, q)
		if (err != nil) != c.fails {
			t.Errorf("%s: error %v", name, err)
		}
		if got := [2]int{q.Candidates[0].Score, q.Candidates[1].Score}; got != c.scores {
			t.Errorf("%s: scores %v, want %v", name, got, c.scores)
		}
	}
}

// A model must not name a memory that it was not shown.
func TestRelationOnlyToShown(t *testing.T) {
	q := question()
	if err := Parse(`{"verdicts":[{"candidate":1,"score":5,"relation":"conflicts","of":"m1"},{"candidate":2,"score":5,"relation":"covers","of":"m1"}]}`, q); err != nil {
		t.Fatal(err)
	}
	if c := q.Candidates[0]; c.Relation != stillso.Conflicts || c.Of != "m1" {
		t.Errorf("first: %s of %q", c.Relation, c.Of)
	}
	if c := q.Candidates[1]; c.Relation != stillso.New || c.Of != "" {
		t.Errorf("second: %s of %q", c.Relation, c.Of)
	}
}

func TestNotJSONIsAnError(t *testing.T) {
	if err := Parse("I cannot help with that.", question()); err == nil {
		t.Error("prose was taken for verdicts")
	}
	if err := Parse(`{"verdicts":[{"candidate":7,"score":5}]}`, question()); !errors.Is(err, ErrNoVerdicts) {
		t.Errorf("verdict on nothing: %v", err)
	}
}

// Figures are claimed for one wording: a changed prompt needs a new version here
// and newly recorded replies.
func TestWording(t *testing.T) {
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.ReplaceAll(prompt, "\r\n", "\n"))))[:16]; got != wording {
		t.Errorf("the wording of %s changed: hash %s", PromptVersion, got)
	}
}

func TestRequestShowsAll(t *testing.T) {
	r := Request(question())
	for _, want := range []string{"candidate 1: Use pnpm.", "candidate 2: Ship on Fridays.", "existing memory m1", "use pnpm"} {
		if !strings.Contains(r.Text, want) {
			t.Errorf("the request lacks %q", want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"verdicts":[{"candidate":1,"score":5,"relation":"covers","of":"m1"}]}`)
	f.Add("```\n{\"verdicts\":[{\"candidate\":\"2\",\"score\":\"3\"}]}\n```")
	f.Fuzz(func(t *testing.T, s string) {
		q := question()
		err := Parse(s, q)
		for _, c := range q.Candidates {
			if err != nil && c.Score != 0 || err == nil && (c.Score < 1 || c.Score > 5) {
				t.Fatalf("score %d, error %v", c.Score, err)
			}
		}
	})
}

const wording = "f4c446594c75146c"
