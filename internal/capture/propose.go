package capture

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

// PromptVersion names the wording of the capture prompt. It changes with the
// wording, and figures measured with one wording are not claimed for another.
const PromptVersion = "capture/1"

// The prompts. findings.md is added where findings are wanted.
var (
	//go:embed prompts/capture.md
	capturePrompt string
	//go:embed prompts/findings.md
	findingsPrompt string
)

// The limits of a reply: what is beyond them is not an answer to our question.
const (
	maxCandidates = 8
	maxFindings   = 4
	maxProposal   = 2000 // bytes of one content
	maxQuotes     = 8
)

// schema is the form of the answer, for models that can be held to one.
const schema = `{"type":"object","required":["candidates"],"properties":{"candidates":{"type":"array","maxItems":8,"items":{"type":"object","required":["name","type","content","namespace","evidence"],"properties":{"name":{"type":"string"},"type":{"enum":["preference","constraint","decision","procedure","fact","event","todo","reference"]},"content":{"type":"string"},"why":{"type":"string"},"namespace":{"enum":["user","project"]},"related_files":{"type":"array","items":{"type":"string"}},"priority":{"type":"integer"},"evidence":{"type":"array","items":{"type":"object","required":["turn","quote"],"properties":{"turn":{"type":"integer"},"quote":{"type":"string"}}}},"confirmed":{"type":"boolean"}}}}}}`

// Request is the call that asks a model about the window.
func (w *Window) Request() llm.Request {
	r := llm.Request{Purpose: "capture", System: capturePrompt, Text: w.Text, Session: w.Session, Schema: json.RawMessage(schema)}
	if w.findings {
		r.System += "\n" + findingsPrompt
		r.Schema = nil
	}
	return r
}

// Propose asks the model what is worth remembering of a window. A reply that is
// not the asked JSON is an error.
func Propose(ctx context.Context, m llm.Model, w Window) ([]stillso.Candidate, error) {
	c, _, err := propose(ctx, m, w)
	return c, err
}

func propose(ctx context.Context, m llm.Model, w Window) ([]stillso.Candidate, []Update, error) {
	reply, err := m.Complete(ctx, w.Request())
	if err != nil {
		return nil, nil, err
	}
	return w.Parse(reply.Text)
}

// ErrReply says that the reply holds JSON of the right name and nothing usable in it.
var ErrReply = errors.New("the reply holds no usable candidate")

// Parse reads a model's reply about the window: strict in what it takes, lenient
// about what stands around. Single candidates that are not of the asked form are
// left out; if none is left of several, the reply is an error.
func (w *Window) Parse(reply string) ([]stillso.Candidate, []Update, error) {
	var doc struct {
		Candidates []json.RawMessage `json:"candidates"`
		Findings   []json.RawMessage `json:"findings"`
		Updates    []json.RawMessage `json:"updates"`
	}
	if err := llm.Decode(reply, "candidates", &doc); err != nil {
		return nil, nil, err
	}
	var out []stillso.Candidate
	bad := 0
	for i, raw := range doc.Candidates {
		if i == maxCandidates {
			break
		}
		c, err := w.candidate(raw)
		if err != nil {
			bad++
			continue
		}
		out = append(out, c)
	}
	if bad > 0 && len(out) == 0 {
		return nil, nil, fmt.Errorf("%w: %d of %d are not of the asked form", ErrReply, bad, len(doc.Candidates))
	}
	if !w.findings {
		return out, nil, nil
	}
	for i, raw := range doc.Findings {
		if i == maxFindings {
			break
		}
		if c, err := w.candidate(raw); err == nil {
			c.Finding, c.Confirmed = true, false
			out = append(out, c)
		}
	}
	var updates []Update
	for i, raw := range doc.Updates {
		var u struct {
			ID     string `json:"id"`
			Became string `json:"became"`
			Turn   number `json:"turn"`
			Quote  string `json:"quote"`
		}
		if i == maxKnown || json.Unmarshal(raw, &u) != nil || u.Became != "confirmed" && u.Became != "refuted" {
			continue
		}
		updates = append(updates, Update{ID: u.ID, Confirmed: u.Became == "confirmed", Evidence: w.quote(u.Turn, u.Quote)})
	}
	return out, updates, nil
}

// candidate reads one proposal.
func (w *Window) candidate(raw json.RawMessage) (stillso.Candidate, error) {
	var p struct {
		Name      string          `json:"name"`
		Type      string          `json:"type"`
		Content   string          `json:"content"`
		Why       string          `json:"why"`
		Namespace string          `json:"namespace"`
		Files     json.RawMessage `json:"related_files"`
		Priority  number          `json:"priority"`
		Evidence  json.RawMessage `json:"evidence"`
		Confirmed *bool           `json:"confirmed"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return stillso.Candidate{}, fmt.Errorf("cannot read a candidate: %w", err)
	}
	typ, err := stillso.ParseType(p.Type)
	content := strings.TrimSpace(p.Content)
	if err != nil || content == "" || len(content) > maxProposal {
		return stillso.Candidate{}, fmt.Errorf("a candidate of type %q with %d bytes of content: %w", p.Type, len(content), ErrReply)
	}
	m := stillso.Memory{Name: cut(p.Name, 100), Type: typ, Content: content, Why: strings.TrimSpace(p.Why), State: stillso.Active, Priority: int(p.Priority)}
	if m.Priority == 0 {
		m.Priority = 3
	}
	if strings.EqualFold(strings.TrimSpace(p.Namespace), "user") {
		m.Namespace = stillso.UserNamespace
	}
	m.RelatedFiles = stringsOf(p.Files)
	m.Evidence = w.evidence(p.Evidence)
	return stillso.Candidate{Memory: m, Confirmed: p.Confirmed == nil || *p.Confirmed, Relation: stillso.New}, nil
}

// evidence reads a list of quotes, a single one, or plain strings.
func (w *Window) evidence(raw json.RawMessage) []stillso.Evidence {
	type quote struct {
		Turn  number `json:"turn"`
		Quote string `json:"quote"`
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		items = []json.RawMessage{raw}
	}
	var out []stillso.Evidence
	for _, item := range items {
		var q quote
		if json.Unmarshal(item, &q) != nil && json.Unmarshal(item, &q.Quote) != nil {
			continue
		}
		if q.Quote != "" && len(q.Quote) <= maxTyped && len(out) < maxQuotes {
			out = append(out, w.quote(q.Turn, q.Quote))
		}
	}
	return out
}

// quote names the turn by its id; a number that no turn has names none, and then
// the quote decides.
func (w *Window) quote(turn number, text string) stillso.Evidence {
	e := stillso.Evidence{Session: w.Session, Quote: text}
	if n := int(turn); n >= 1 && n <= len(w.ids) {
		e.Turn = w.ids[n-1]
	}
	return e
}

// stringsOf reads a list of strings or one string; anything else is empty.
func stringsOf(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var one string
	if json.Unmarshal(raw, &one) == nil && one != "" {
		return []string{one}
	}
	return nil
}

// number is a number that may come as a string or not at all.
type number int

// UnmarshalJSON never fails: what is no number is 0.
func (n *number) UnmarshalJSON(b []byte) error {
	s := strings.Trim(string(b), `" `)
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f < -1e6 || f > 1e6 {
		*n = 0
		return nil
	}
	*n = number(f)
	return nil
}
