package enrich

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/redact"
)

// claimsPrompt is added to the prompt where claims are wanted; what was measured
// of the first prompt was measured without it.
//
//go:embed prompts/claims.md
var claimsPrompt string // never written

const (
	modelID   = "model-" // begins the id of a claim that a model made
	maxClaims = 5        // claims that one enriching gives, as the prompt says
)

// Claiming lets the model also say what of a memory can be checked. It only fills
// in arguments: which probes there are, and what their arguments may be, is decided
// by those who run them.
type Claiming struct {
	// Valid reports whether such a probe exists and takes these arguments.
	Valid func(probe string, args []string) bool
	// Known returns what the memory claims already by other means.
	Known func(*stillso.Memory) []stillso.Claim
}

// wanted reports whether to ask for claims about m. The words of events and todos
// are about what was and what will be.
func (c *Claiming) wanted(m *stillso.Memory) bool {
	return c != nil && m.Type != stillso.Event && m.Type != stillso.Todo
}

// clean reads the claims of an answer and returns those that may be kept, at most
// five, without verdicts: each of a known probe with arguments that are valid, hold
// no secret and stand in the memory's own words, and none that is known. What is
// malformed is left out alone.
func (c *Claiming) clean(m *stillso.Memory, answer json.RawMessage) []stillso.Claim {
	var list []json.RawMessage
	if json.Unmarshal(answer, &list) != nil {
		return nil
	}
	own := strings.Join(append([]string{m.Name, m.Content, m.Why, m.Body}, m.RelatedFiles...), "\n")
	before := m.Clone()
	before.Claims = slices.DeleteFunc(before.Claims, byModel) // they are replaced
	known := c.Known(before)
	var kept []stillso.Claim
	for _, raw := range list[:min(len(list), 10*maxClaims)] {
		var one struct {
			Probe string   `json:"probe"`
			Args  []string `json:"args"`
		}
		if json.Unmarshal(raw, &one) != nil || !c.Valid(one.Probe, one.Args) {
			continue
		}
		said := func(arg string) bool { return states(own, arg) && redact.Clean(arg) }
		same := func(o stillso.Claim) bool { return o.Probe == one.Probe && slices.Equal(o.Args, one.Args) }
		if !all(one.Args, said) || slices.ContainsFunc(known, same) || slices.ContainsFunc(kept, same) || len(kept) == maxClaims {
			continue
		}
		kept = append(kept, stillso.Claim{ID: claimID(one.Probe, one.Args), Probe: one.Probe, Args: one.Args})
	}
	return kept
}

// states reports whether a text holds an argument letter by letter, and not as a
// part of a longer word or number.
func states(text, arg string) bool {
	inWord := func(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
	for at := 0; arg != ""; {
		i := strings.Index(text[at:], arg)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(arg)
		before := from > 0 && inWord(text[from-1]) && inWord(arg[0])
		after := to < len(text) && inWord(text[to]) && inWord(arg[len(arg)-1])
		if !before && !after {
			return true
		}
		at = from + 1
	}
	return false
}

func all(list []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !ok(s) })
}

func byModel(c stillso.Claim) bool { return strings.HasPrefix(c.ID, modelID) }

func claimID(probe string, args []string) string {
	sum := sha256.Sum256([]byte(probe + "\x00" + strings.Join(args, "\x00")))
	return modelID + hex.EncodeToString(sum[:5])
}

// setClaims gives m the claims of an answer in place of those that a model made
// before; one that is made again keeps its verdict.
func setClaims(m *stillso.Memory, claims []stillso.Claim) {
	old := slices.Clone(m.Claims)
	m.Claims = slices.DeleteFunc(m.Claims, byModel)
	for _, c := range claims {
		if i := slices.IndexFunc(old, func(o stillso.Claim) bool { return o.ID == c.ID }); i >= 0 {
			c = old[i]
		}
		c.Args = slices.Clone(c.Args)
		m.Claims = append(m.Claims, c)
	}
}
