// Package judge scores proposed memories from 1 to 5 and says how they stand to
// existing ones. One call serves all candidates of a run. It is a second,
// independent opinion that is biased low: people are annoyed more by memories
// that should not exist than by missing ones.
package judge

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"stillso"
	"stillso/internal/llm"
)

// PromptVersion names the wording of the judge's prompt. It changes with the
// wording, and figures measured with one wording are not claimed for another.
const PromptVersion = "judge/1"

//go:embed prompts/judge.md
var prompt string

// maxReason bounds the judge's reason, in bytes.
const maxReason = 400

// schema is the form of the answer, for models that can be held to one.
const schema = `{"type":"object","required":["verdicts"],"properties":{"verdicts":{"type":"array","items":{"type":"object","required":["candidate","step","reason","score","relation"],"properties":{"candidate":{"type":"integer"},"step":{"type":"integer"},"reason":{"type":"string"},"score":{"type":"integer","minimum":1,"maximum":5},"relation":{"enum":["new","duplicate","supplements","conflicts","covers"]},"of":{"type":["string","null"]}}}}}}`

// Question is what is judged: the conversation as the proposer saw it, the
// candidates, and for each the existing memories that are nearest. Its fields are
// those of capture.Question, so that one converts to the other.
type Question struct {
	Session    string
	Window     string
	Candidates []*stillso.Candidate
	Near       [][]*stillso.Memory
}

// ErrNoVerdicts says that the reply judges none of the candidates.
var ErrNoVerdicts = errors.New("the judge's reply holds no verdict on the candidates")

// Request is the call that asks about q.
func Request(q Question) llm.Request {
	var b strings.Builder
	b.WriteString("The conversation:\n\n")
	b.WriteString(q.Window)
	b.WriteString("\nThe proposals:\n")
	for i, c := range q.Candidates {
		m := &c.Memory
		fmt.Fprintf(&b, "\ncandidate %d: %s (%s, %s)\n", i+1, line(m.Content), m.Type, scope(m.Namespace))
		if m.Why != "" {
			fmt.Fprintf(&b, "  why: %s\n", line(m.Why))
		}
		for _, e := range m.Evidence {
			fmt.Fprintf(&b, "  evidence: %q\n", line(e.Quote))
		}
		if i < len(q.Near) {
			for _, x := range q.Near[i] {
				fmt.Fprintf(&b, "  existing memory %s (%s): %s\n", x.ID, x.Type, line(x.Content))
			}
		}
	}
	return llm.Request{Purpose: "judge", System: prompt, Text: b.String(), Session: q.Session, Schema: json.RawMessage(schema)}
}

func line(s string) string { return strings.Join(strings.Fields(s), " ") }

func scope(n stillso.Namespace) string {
	if n == stillso.UserNamespace {
		return "user"
	}
	return "project"
}

// Score asks the model about all candidates of q in one call and writes score,
// reason, relation and the related memory into them. A candidate that the reply
// passes over gets 3: in doubt, a human decides. A reply that judges none is an
// error, and then nothing is changed.
func Score(ctx context.Context, m llm.Model, q Question) error {
	if len(q.Candidates) == 0 {
		return nil
	}
	reply, err := m.Complete(ctx, Request(q))
	if err != nil {
		return err
	}
	return Parse(reply.Text, q)
}

// Parse reads the judge's reply into the candidates of q.
func Parse(reply string, q Question) error {
	var doc struct {
		Verdicts []json.RawMessage `json:"verdicts"`
	}
	if err := llm.Decode(reply, "verdicts", &doc); err != nil {
		return err
	}
	got := make([]*Verdict, len(q.Candidates))
	n := 0
	for _, raw := range doc.Verdicts {
		v, err := ParseVerdict(raw)
		// Numbers begin with 1; of two verdicts on one candidate the lower counts.
		if i := v.Candidate - 1; err == nil && i >= 0 && i < len(got) {
			if got[i] == nil || v.Score < got[i].Score {
				got[i] = &v
			}
			n++
		}
	}
	if n == 0 {
		return fmt.Errorf("%w: %d verdicts, %d candidates", ErrNoVerdicts, len(doc.Verdicts), len(q.Candidates))
	}
	for i, c := range q.Candidates {
		if got[i] == nil {
			c.Score, c.Reason, c.Relation = stillso.ScoreReview, "the judge passed it over", stillso.New
			continue
		}
		var near []*stillso.Memory
		if i < len(q.Near) {
			near = q.Near[i]
		}
		got[i].Put(c, near)
	}
	return nil
}

// Verdict is the judge's answer about one candidate.
type Verdict struct {
	Candidate int
	Step      int
	Reason    string
	Score     int
	Relation  stillso.Relation
	Of        string
}

// ParseVerdict reads one verdict. A score outside 1 to 5 is an error; an unknown
// relation is new.
func ParseVerdict(raw []byte) (Verdict, error) {
	var p struct {
		Candidate json.RawMessage `json:"candidate"`
		Step      json.RawMessage `json:"step"`
		Reason    string          `json:"reason"`
		Score     json.RawMessage `json:"score"`
		Relation  string          `json:"relation"`
		Of        any             `json:"of"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return Verdict{}, fmt.Errorf("cannot read a verdict: %w", err)
	}
	v := Verdict{Candidate: whole(p.Candidate), Step: whole(p.Step), Reason: line(p.Reason), Score: whole(p.Score), Relation: stillso.New}
	if len(v.Reason) > maxReason {
		v.Reason = strings.ToValidUTF8(v.Reason[:maxReason], "")
	}
	if v.Score < 1 || v.Score > 5 {
		return v, fmt.Errorf("score %s is not between 1 and 5: %w", p.Score, ErrNoVerdicts)
	}
	switch r := stillso.Relation(p.Relation); r {
	case stillso.Duplicate, stillso.Supplements, stillso.Conflicts, stillso.Covers:
		v.Relation = r
	}
	v.Of, _ = p.Of.(string)
	return v, nil
}

// Put writes the verdict into c. A relation to a memory that was not among those
// shown is none: a model chooses among the ids it was given.
func (v Verdict) Put(c *stillso.Candidate, near []*stillso.Memory) {
	c.Score, c.Reason, c.Relation, c.Of = v.Score, v.Reason, stillso.New, ""
	for _, x := range near {
		if x.ID == v.Of {
			c.Relation, c.Of = v.Relation, v.Of
		}
	}
}

// whole reads a number that may be written as a string; 0 if it is none.
func whole(raw json.RawMessage) int {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `" `), 64)
	if err != nil || f < 0 || f > 1e6 || f != float64(int(f)) {
		return 0
	}
	return int(f)
}
