// Package enrich finds the words that a person would type when a memory would
// help. Recall is plain full-text search: only shared words find a memory, and
// people ask in other words than they write. So a model, or without one the
// user's own prompts, adds phrases offline.
//
// Where the aliases of a memory came from stands in its Extra under Key, so that
// they can be derived again when the prompt or the memory changes, without
// touching the aliases that a person or a repeat gave.
package enrich

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/llm"
	"stillso/internal/redact"
	"stillso/internal/terms"
)

//go:embed prompts/enrich.md
var prompt string // never written

// Key is the name in Memory.Extra of what is known about derived aliases: on
// the first line the version of the prompt and the hash of the memory's text,
// then one line for each derived alias.
const Key = "enriched"

const (
	most       = 12 // aliases that one enriching gives, as the prompt says
	minLength  = 2  // characters
	maxLength  = 60
	maxLearned = 32 // aliases of a memory that were not derived and not imported
	fewest     = 10 // memories from which on "half of the store" means something
)

// Version names the prompt by its text: another wording is another version.
func Version() string {
	sum := sha256.Sum256([]byte(prompt))
	return hex.EncodeToString(sum[:4])
}

// Frequency tells in how many of the store's memories a term stands, as analysed
// by package terms, and how many memories there are.
type Frequency func(term string) (n, total int)

// Context is what is known around a memory.
type Context struct {
	// Neighbours are similar memories, from which a phrase should tell this one.
	Neighbours []*stillso.Memory
	// Languages are those that the user types, for example "en", "zh". In other
	// scripts than theirs and the memory's own no alias is taken.
	Languages []string
	Frequency Frequency
	// Session is booked in the ledger.
	Session string
	// Claims, if set, has the model also say what can be checked.
	Claims *Claiming
}

// Answer is what an enriching gives a memory.
type Answer struct {
	Aliases []string
	// Claims have no verdict yet.
	Claims []stillso.Claim
	// Asked says that claims were asked for: then no claims means that there are
	// none, else that nothing is known.
	Asked bool
}

// Due reports whether the memory's aliases were never derived, or from another
// text, or by another prompt. Only active memories are due.
func Due(m *stillso.Memory) bool {
	head, _, _ := strings.Cut(m.Extra[Key], "\n")
	return m.State == stillso.Active && head != stamp(m)
}

// stamp is the first line under Key.
func stamp(m *stillso.Memory) string {
	sum := sha256.Sum256([]byte(m.Name + "\x00" + m.Content + "\x00" + m.Body))
	return Version() + " " + hex.EncodeToString(sum[:4])
}

// Derived returns the aliases that the last enriching gave the memory.
func Derived(m *stillso.Memory) []string {
	_, list, _ := strings.Cut(m.Extra[Key], "\n")
	if list == "" {
		return nil
	}
	return strings.Split(list, "\n")
}

// Enrich asks the model for aliases, and for claims where they are wanted, and
// returns what the rules let through: at most 12 aliases and 5 claims; there may be
// none. The error wraps one of llm.
func Enrich(ctx context.Context, model llm.Model, m *stillso.Memory, c Context) (Answer, error) {
	var answer struct {
		Aliases []string        `json:"aliases"`
		Claims  json.RawMessage `json:"claims"`
	}
	_, err := llm.Ask(ctx, model, Request(m, c), "aliases", &answer)
	if err != nil {
		return Answer{}, err
	}
	if len(answer.Aliases) > 100 {
		return Answer{}, &llm.Error{Kind: llm.ErrNotJSON, Model: model.Name(), Detail: fmt.Sprintf("%d aliases where 6 to 12 were asked for", len(answer.Aliases))}
	}
	out := Answer{Aliases: Clean(m, answer.Aliases, c)}
	if c.Claims.wanted(m) {
		out.Asked, out.Claims = true, c.Claims.clean(m, answer.Claims)
	}
	return out, nil
}

// Request is the question about one memory. Secrets are taken out of it.
func Request(m *stillso.Memory, c Context) llm.Request {
	var b strings.Builder
	line := func(label, text string, limit int) {
		text = strings.Join(strings.Fields(text), " ")
		if r := []rune(text); len(r) > limit {
			text = string(r[:limit]) + "…"
		}
		if text != "" {
			b.WriteString(label + ": " + text + "\n")
		}
	}
	b.WriteString("Memory\n")
	line("type", string(m.Type), 20)
	line("name", m.Name, 200)
	line("content", m.Content, 2000)
	line("why", m.Why, 300)
	line("more", m.Body, 1500)
	line("files", strings.Join(m.RelatedFiles, ", "), 300)
	if len(c.Neighbours) > 0 {
		b.WriteString("\nNeighbours\n")
	}
	for _, n := range c.Neighbours[:min(len(c.Neighbours), 5)] {
		line("- "+strings.Join(strings.Fields(n.Name), " "), n.Content, 200)
	}
	if len(c.Languages) > 0 {
		b.WriteString("\nThe developer types: " + strings.Join(c.Languages, ", ") + "\n")
	}
	text, _ := redact.Text(b.String())
	r := llm.Request{Purpose: "enrich", System: prompt, Text: text, MaxTokens: 1000, Session: c.Session}
	if c.Claims.wanted(m) {
		r.System += "\n" + claimsPrompt
		r.MaxTokens += 500
	}
	return r
}

// Clean applies the rules to phrases from a model: what is no phrase of 2 to 60
// characters, holds a secret, is in a script that nobody here types, says only
// what the memory says in its own words, would match half of the store, or says
// the same as a phrase before it, is dropped. At most 12 are left.
func Clean(m *stillso.Memory, phrases []string, c Context) []string {
	r := newRules(m, c)
	var kept []string
	for _, p := range phrases {
		if p, ok := r.take(p); ok && len(kept) < most {
			kept = append(kept, p)
		}
	}
	return kept
}

// Learn returns the phrases of a user that may become aliases of a memory,
// beside those it has. The prompts are known to be about it: they repeated it,
// or asked for it in vain. Of a long prompt only the clauses that share a word
// with the memory are taken. No model is needed.
func Learn(m *stillso.Memory, prompts []string, c Context) []string {
	return learn(m, prompts, c, false)
}

// FromSession is Learn for the prompts of the session that the memory was
// captured in: they may be about anything, so each phrase must share a telling
// word with the memory.
func FromSession(m *stillso.Memory, prompts []string, c Context) []string {
	return learn(m, prompts, c, true)
}

func learn(m *stillso.Memory, prompts []string, c Context, strict bool) []string {
	r := newRules(m, c)
	for i := range r.scripts { // the user typed them: every script is right
		r.scripts[i] = true
	}
	for _, a := range m.Aliases {
		r.take(a)
	}
	var kept []string
	for _, p := range prompts {
		list := clauses(p)
		for _, clause := range list {
			if (strict || len(list) > 1) && !r.related(clause) {
				continue
			}
			if p, ok := r.take(clause); ok && len(kept) < most {
				kept = append(kept, p)
			}
		}
	}
	return kept
}

// clauses cuts a prompt into the pieces that a person would type again.
func clauses(prompt string) []string {
	if prompt = strings.TrimSpace(prompt); len([]rune(prompt)) <= maxLength && !strings.Contains(prompt, "\n") {
		return []string{prompt}
	}
	return strings.FieldsFunc(prompt[:min(len(prompt), 4<<10)], func(r rune) bool { return strings.ContainsRune("\n.;!?,。；！？，、", r) })
}

// rules decide on phrases for one memory.
type rules struct {
	own     map[string]bool // terms of name and content
	scripts [terms.Scripts]bool
	seen    map[string]bool // sets of terms of the phrases taken
	df      Frequency
}

func newRules(m *stillso.Memory, c Context) *rules {
	r := &rules{own: map[string]bool{}, seen: map[string]bool{}, df: c.Frequency}
	r.scripts[terms.Latin] = true
	for _, t := range terms.Analyze(m.Name + "\n" + m.Content) {
		r.own[t.Text] = true
		r.scripts[terms.ScriptOf(t.Text)] = true
	}
	for _, t := range terms.Analyze(m.Body) {
		r.scripts[terms.ScriptOf(t.Text)] = true
	}
	for _, l := range c.Languages {
		for _, s := range scriptsOf(l) {
			r.scripts[s] = true
		}
	}
	return r
}

// scriptsOf returns the scripts that a language beside Latin is written in.
func scriptsOf(language string) []terms.Script {
	switch l, _, _ := strings.Cut(strings.ToLower(language), "-"); l {
	case "zh", "yue", "chinese":
		return []terms.Script{terms.Han}
	case "ja", "japanese":
		return []terms.Script{terms.Han, terms.Kana}
	case "ko", "korean":
		return []terms.Script{terms.Hangul}
	case "ru", "uk", "bg", "sr", "russian":
		return []terms.Script{terms.Cyrillic}
	case "ar", "he", "el", "hi", "th", "fa":
		return []terms.Script{terms.OtherScript}
	}
	return nil
}

// take returns the phrase in its tidy form, and whether it may be an alias. A
// phrase that was taken is not taken again.
func (r *rules) take(phrase string) (string, bool) {
	phrase = strings.Trim(strings.Join(strings.Fields(phrase), " "), " \"'`“”„«»「」")
	if n := len([]rune(phrase)); n < minLength || n > maxLength || strings.ContainsFunc(phrase, unprintable) {
		return "", false
	}
	if !redact.Clean(phrase) || strings.Contains(phrase, "[redacted:") {
		return "", false
	}
	var set []string
	fresh, telling := false, r.df == nil
	for _, t := range terms.Analyze(phrase) {
		if !r.scripts[terms.ScriptOf(t.Text)] {
			return "", false
		}
		if terms.Stop(t) {
			continue
		}
		set = append(set, t.Text)
		fresh = fresh || !r.own[t.Text]
		if !telling {
			n, total := r.df(t.Text)
			telling = total < fewest || 2*n < total
		}
	}
	slices.Sort(set)
	key := strings.Join(slices.Compact(set), " ")
	if key == "" || !fresh || !telling || r.seen[key] {
		return "", false
	}
	r.seen[key] = true
	return phrase, true
}

// related reports whether the phrase shares a word with the memory that less
// than a tenth of the store has: a pair of characters, not a single one.
func (r *rules) related(phrase string) bool {
	for _, t := range terms.Analyze(phrase) {
		if terms.Stop(t) || t.Kind == terms.Char || !r.own[t.Text] {
			continue
		}
		if r.df == nil {
			return true
		}
		if n, total := r.df(t.Text); total < fewest || 10*n < total {
			return true
		}
	}
	return false
}

// unprintable tells runes that can do harm on a terminal or in a block, and that
// nobody types in a question.
func unprintable(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == '<' || r == '>' || r == 0xfffd || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0xe0000
}

// ErrUnchanged says that the memory has these aliases already.
var ErrUnchanged = errors.New("the aliases are the same")

// Change makes the change that gives a memory its derived aliases, and where they
// were asked for its claims, in place of those of the last enriching. What is from
// elsewhere stays. It notes the version also when there are none, so that the memory
// is not asked about again.
func Change(m *stillso.Memory, answer Answer, model string, at time.Time) stillso.Change {
	after := m.Clone()
	old := Derived(m)
	after.Aliases = slices.DeleteFunc(after.Aliases, func(a string) bool { return slices.Contains(old, a) })
	var derived []string
	for _, a := range answer.Aliases {
		if len(after.Aliases) < stillso.MaxAliases && !slices.Contains(after.Aliases, a) {
			after.Aliases = append(after.Aliases, a)
			derived = append(derived, a)
		}
	}
	if after.Extra == nil {
		after.Extra = map[string]string{}
	}
	after.Extra[Key] = strings.Join(append([]string{stamp(m)}, derived...), "\n")
	what := fmt.Sprintf("%d aliases", len(derived))
	if answer.Asked {
		setClaims(after, answer.Claims)
		what += fmt.Sprintf(" and %d claims", len(answer.Claims))
	}
	return edit(m, after, stillso.Actor{Kind: stillso.Model, Name: model}, what+" by prompt enrich "+Version(), at)
}

// LearnChange makes the change that adds learned aliases; rule says why, for
// example "repeat". Of its learned aliases a memory keeps the newest 32; those
// that were imported with it are never dropped. It is ErrUnchanged if there is
// nothing to add.
func LearnChange(m *stillso.Memory, aliases []string, rule string, at time.Time) (stillso.Change, error) {
	after, derived := m.Clone(), Derived(m)
	imported := m.Origin == stillso.FromImport || m.Origin == stillso.FromFile
	added := 0
	for _, a := range aliases {
		if slices.Contains(after.Aliases, a) || imported && len(after.Aliases) >= stillso.MaxAliases-most {
			continue
		}
		after.Aliases = append(after.Aliases, a)
		added++
	}
	if added == 0 {
		return stillso.Change{}, ErrUnchanged
	}
	if learned := len(after.Aliases) - len(derived); !imported && learned > maxLearned {
		over := learned - maxLearned
		after.Aliases = slices.DeleteFunc(after.Aliases, func(a string) bool { // oldest first
			if over == 0 || slices.Contains(derived, a) {
				return false
			}
			over--
			return true
		})
	}
	return edit(m, after, stillso.Actor{Kind: stillso.Rule, Name: rule}, count(added)+" in the user's own words", at), nil
}

func edit(before, after *stillso.Memory, by stillso.Actor, reason string, at time.Time) stillso.Change {
	confidence := 1.0
	if by.Kind == stillso.Model {
		confidence = 0.8 // not measured; an alias can only help a memory to be found
	}
	return stillso.Change{
		ID: stillso.NewID(), Verb: stillso.VerbEdit, Outcome: stillso.Applied, Actor: by, Confidence: confidence, Reason: reason,
		Edits: []stillso.Edit{{Before: before.Clone(), After: after}}, At: at.UTC(),
	}
}

// count returns "1 alias", "2 aliases".
func count(n int) string {
	if n == 1 {
		return "1 alias"
	}
	return fmt.Sprintf("%d aliases", n)
}
