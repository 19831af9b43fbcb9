package tidy

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stillso"
	"stillso/internal/llm"
)

//go:embed prompts/tidy.md
var prompt string // never written

// The bounds of one request: so many pairs a model judges with care.
const (
	pairsPerCall = 20
	maxText      = 1500 // bytes of one memory that are shown
	mergeLeast   = 4    // memories that a merge joins, as the prompt says
	mergeMost    = 24
)

// Version names the prompt by its text: another wording is another version.
func Version() string {
	sum := sha256.Sum256([]byte(prompt))
	return hex.EncodeToString(sum[:4])
}

// hash names a list of texts.
func hash(parts ...string) string {
	var all []byte
	for _, s := range parts {
		all = fmt.Appendf(all, "%d:%s", len(s), s)
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:12])
}

// Verdict is a model's answer about one pair.
type Verdict struct {
	A, B       string
	Relation   stillso.Relation
	Confidence float64
	// Shared are the topics both are about, if the model named any; Named says
	// whether it did.
	Shared []string
	Named  bool
	// Partial says that the newer one does not deal with all that the older says.
	Partial bool
	Reason  string
}

// Merge is a model's proposal to make one statement of many.
type Merge struct {
	IDs     []string `json:"ids"`
	Content string   `json:"content"`
}

const replySchema = `{"type":"object","required":["verdicts"],"properties":{"verdicts":{"type":"array","items":{"type":"object","required":["a","b","relation","confidence"],"properties":{` +
	`"pair":{"type":"integer"},"a":{"type":"string"},"b":{"type":"string"},"relation":{"enum":["new","duplicate","supplements","conflicts","covers","unrelated"]},` +
	`"confidence":{"type":"number"},"shared":{"type":"array","items":{"type":"string"}},"coverage":{"enum":["full","partial"]},"reason":{"type":"string"}}}},` +
	`"merges":{"type":"array","items":{"type":"object","required":["ids","content"],"properties":{"ids":{"type":"array","items":{"type":"string"}},"content":{"type":"string"}}}}}}`

// request asks about some pairs.
func request(pairs []pair) llm.Request {
	var b strings.Builder
	b.WriteString("Memories\n")
	shown := map[string]bool{}
	for _, p := range pairs {
		for _, x := range []*profile{p.a, p.b} {
			m := x.m
			if shown[m.ID] {
				continue
			}
			shown[m.ID] = true
			fmt.Fprintf(&b, "\n[%s] %s, %s, %s, %s\n%s\n", m.ID, m.Type, m.Origin, scope(m.Namespace), m.CreatedAt.Format("2006-01-02"), clip(text(m), maxText))
		}
	}
	b.WriteString("\nPairs\n")
	for i, p := range pairs {
		fmt.Fprintf(&b, "%d: a=%s b=%s\n", i+1, p.a.m.ID, p.b.m.ID)
	}
	return llm.Request{Purpose: "tidy", System: prompt, Text: b.String(), Schema: json.RawMessage(replySchema)}
}

// text is all that a memory says, on one line.
func text(m *stillso.Memory) string {
	s := line(m.Content)
	if body := line(m.Body); body != "" && !strings.HasPrefix(s, body) {
		s += " / " + body
	}
	return s
}

func scope(n stillso.Namespace) string {
	if n == stillso.UserNamespace {
		return "user"
	}
	return "project"
}

func line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Parse reads a model's reply: verdicts and merges. Single ones that are not of
// the asked form are left out; a reply that holds only such is an error.
func Parse(reply string) ([]Verdict, []Merge, error) {
	var doc struct {
		Verdicts []json.RawMessage `json:"verdicts"`
		Merges   []json.RawMessage `json:"merges"`
	}
	if err := llm.Decode(reply, "verdicts", &doc); err != nil {
		return nil, nil, err
	}
	var verdicts []Verdict
	for _, raw := range doc.Verdicts {
		if v, ok := verdict(raw); ok {
			verdicts = append(verdicts, v)
		}
	}
	if len(verdicts) == 0 && len(doc.Verdicts) > 0 {
		return nil, nil, fmt.Errorf("%w: none of %d verdicts is of the asked form", ErrReply, len(doc.Verdicts))
	}
	var merges []Merge
	for _, raw := range doc.Merges {
		var m Merge
		if json.Unmarshal(raw, &m) == nil && strings.TrimSpace(m.Content) != "" {
			merges = append(merges, m)
		}
	}
	return verdicts, merges, nil
}

// ErrReply says that the reply holds JSON of the right name and nothing usable in it.
var ErrReply = errors.New("the reply holds no usable verdict")

// verdict reads one answer. Models vary the names of what they were asked for;
// what cannot be read never makes a verdict stronger.
func verdict(raw json.RawMessage) (Verdict, bool) {
	var f map[string]json.RawMessage
	if json.Unmarshal(raw, &f) != nil {
		return Verdict{}, false
	}
	word := func(names ...string) string {
		for _, n := range names {
			var s string
			if json.Unmarshal(f[n], &s) == nil && s != "" {
				return strings.TrimSpace(s)
			}
		}
		return ""
	}
	v := Verdict{A: word("a"), B: word("b"), Reason: clip(line(word("reason", "why")), 300)}
	swap := false
	switch r := strings.ToLower(word("relation")); r {
	case "duplicate", "duplicates", "same":
		v.Relation = stillso.Duplicate
	case "conflicts", "conflict", "contradicts", "contradiction", "supersedes":
		v.Relation = stillso.Conflicts
	case "covers", "subsumes":
		v.Relation = stillso.Covers
	case "superseded_by", "superseded by", "covered_by", "covered by":
		v.Relation, swap = stillso.Conflicts, true
	case "supplements", "supplement", "new", "unrelated":
		v.Relation = stillso.Relation(strings.TrimSuffix(r, "s") + map[bool]string{true: "s"}[strings.HasPrefix(r, "supp")])
	default:
		return v, false
	}
	if swap {
		v.A, v.B = v.B, v.A
	}
	v.Confidence = number(f["confidence"])
	for _, n := range []string{"shared", "shared_topics", "topics", "shared_entities", "entities"} {
		var list []string
		if raw, ok := f[n]; ok && json.Unmarshal(raw, &list) == nil {
			v.Named = true
			v.Shared = append(v.Shared, list...)
		}
	}
	switch c := strings.ToLower(string(first(f, "coverage", "covers", "full_coverage"))); {
	case c == "", strings.HasPrefix(c, `"full`), strings.HasPrefix(c, `"complete`), c == "true":
	default:
		v.Partial = number(json.RawMessage(c)) < 0.95 // a share, or "partial", "unsure", false, null
	}
	return v, v.A != "" && v.B != "" && v.A != v.B
}

func first(f map[string]json.RawMessage, names ...string) json.RawMessage {
	for _, n := range names {
		if raw, ok := f[n]; ok {
			return raw
		}
	}
	return nil
}

// number reads a share that may be a string or a percentage; 0 if it is none.
func number(raw json.RawMessage) float64 {
	s := strings.Trim(string(raw), `" `)
	f, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	switch {
	case err != nil || f < 0 || f > 100 || f != f:
		return 0
	case strings.HasSuffix(s, "%") || f > 1:
		return f / 100
	}
	return f
}

// ask puts the pairs that were not judged before to the model, the strongest
// first. A reply that is of no use leaves its pairs for the next time; a spent
// budget or a model that is down ends the asking and is no error of the run.
func (p *pass) ask(ctx context.Context, pairs []pair) error {
	var due []pair
	for _, x := range pairs {
		if x.a.alive() && x.b.alive() && !p.job.Judged[Pair(x.a.m, x.b.m)] {
			due = append(due, x)
		}
	}
	due = p.together(due)
	for calls := 0; len(due) > 0 && (p.job.Calls == 0 || calls < p.job.Calls); calls++ {
		batch := due[:min(pairsPerCall, len(due))]
		due = due[len(batch):]
		reply, err := p.job.Model.Complete(ctx, request(batch))
		if err == nil {
			var verdicts []Verdict
			var merges []Merge
			if verdicts, merges, err = Parse(reply.Text); err == nil {
				p.settle(batch, verdicts, merges)
				continue
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		p.res.Stopped = err
		if !errors.Is(err, llm.ErrNotJSON) && !errors.Is(err, ErrReply) {
			return nil
		}
	}
	return nil
}

// together puts pairs of one namespace side by side, so that a request is about
// one project and a pile of small memories can be seen as one.
func (p *pass) together(due []pair) []pair {
	slices.SortStableFunc(due, func(a, b pair) int { return strings.Compare(string(a.b.m.Namespace), string(b.b.m.Namespace)) })
	return due
}

// settle acts on the verdicts about the pairs of one request. A verdict about
// memories that were not shown is dropped.
func (p *pass) settle(batch []pair, verdicts []Verdict, merges []Merge) {
	shown := map[string]*profile{}
	for _, x := range batch {
		shown[x.a.m.ID], shown[x.b.m.ID] = x.a, x.b
		p.res.Judged = append(p.res.Judged, Pair(x.a.m, x.b.m))
		p.res.Asked++
	}
	for _, v := range verdicts {
		if a, b := shown[v.A], shown[v.B]; a != nil && b != nil && a.alive() && b.alive() {
			p.decide(v, a, b)
		}
	}
	for _, m := range merges {
		p.compress(m, shown)
	}
}

// who is the model as an actor.
func (p *pass) who() stillso.Actor {
	return stillso.Actor{Kind: stillso.Model, Name: p.job.Model.Name()}
}
