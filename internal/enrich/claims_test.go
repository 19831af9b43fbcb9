package enrich_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/enrich"
)

// claiming knows two probes; the rules claim the first path.
func claiming() *enrich.Claiming {
	return &enrich.Claiming{
		Valid: func(probe string, args []string) bool {
			return (probe == "path" || probe == "url") && len(args) == 1 && !strings.HasPrefix(args[0], "-") && !strings.Contains(args[0], "..")
		},
		Known: func(m *stillso.Memory) []stillso.Claim {
			return append(slices.Clone(m.Claims), stillso.Claim{ID: "rule-1", Probe: "path", Args: []string{"docs/rule.md"}})
		},
	}
}

func claimant() *stillso.Memory {
	m := memory()
	m.Type = stillso.Reference
	m.Content = "The kiln is set in src/kiln.py, see docs/rule.md, ../../etc/passwd, --output=x and ghp_" + strings.Repeat("a1B2", 9) + "; a/b a/c a/d a/e a/f a/g."
	return m
}

// Guards against a model that makes up probes, slips an argument past the types,
// claims what the memory does not say, repeats the rules, or writes a verdict; and
// against a claim of no use that costs the memory its aliases.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		claims string
		want   []string
	}{
		{`[{"probe":"path","args":["src/kiln.py"],"verdict":"fails","reason":"x","id":"rule-9"}]`, []string{"src/kiln.py"}},
		{`[{"probe":"path","args":["docs/rule.md"]}]`, nil},
		{`[{"probe":"sh","args":["src/kiln.py"]},{"probe":"","args":[]},{"probe":"path","args":[]}]`, nil},
		{`[{"probe":"path","args":["../../etc/passwd"]},{"probe":"path","args":["--output=x"]}]`, nil},
		{`[{"probe":"path","args":["src/made_up.py"]},{"probe":"url","args":["https://evil.example/x"]}]`, nil},
		{`[{"probe":"path","args":["src/kiln"]},{"probe":"path","args":["rc/kiln.py"]},{"probe":"path","args":[""]}]`, []string{"src/kiln"}}, // a dot ends a word
		{`[{"probe":"url","args":["ghp_` + strings.Repeat("a1B2", 9) + `"]}]`, nil},
		{`[7, {"probe":7}, null, {"probe":"path","args":"src/kiln.py"}, {"probe":"path","args":["a/b"]}, {"probe":"path","args":["a/b"]}]`, []string{"a/b"}},
		{`[{"probe":"path","args":["a/b"]},{"probe":"path","args":["a/c"]},{"probe":"path","args":["a/d"]},{"probe":"path","args":["a/e"]},{"probe":"path","args":["a/f"]},{"probe":"path","args":["a/g"]}]`, []string{"a/b", "a/c", "a/d", "a/e", "a/f"}},
		{`"none"`, nil},
		{`null`, nil},
	} {
		model := &says{texts: []string{`{"aliases":["oven profile"],"claims":` + c.claims + `}`}}
		got, err := enrich.Enrich(t.Context(), model, claimant(), enrich.Context{Claims: claiming()})
		if err != nil || !slices.Equal(got.Aliases, []string{"oven profile"}) || !got.Asked {
			t.Errorf("%s: %+v, %v", c.claims, got, err)
		}
		var args []string
		for _, one := range got.Claims {
			if one.Verdict != "" || one.Reason != "" || !one.CheckedAt.IsZero() || !strings.HasPrefix(one.ID, "model-") {
				t.Errorf("%s: %+v", c.claims, one)
			}
			args = append(args, one.Args...)
		}
		if !slices.Equal(args, c.want) {
			t.Errorf("%s: got %q, want %q", c.claims, args, c.want)
		}
	}
}

// The prompt that was measured must be asked as it stands where no claims are
// wanted, and stand first, unchanged, where they are.
func TestClaimsPrompt(t *testing.T) {
	measured, err := os.ReadFile("prompts/enrich.md")
	if err != nil {
		t.Fatal(err)
	}
	with, without := enrich.Request(claimant(), enrich.Context{Claims: claiming()}), enrich.Request(claimant(), enrich.Context{})
	if without.System != string(measured) || !strings.HasPrefix(with.System, string(measured)) || with.Text != without.Text || !strings.Contains(with.System, `"claims"`) {
		t.Errorf("with %q\nwithout %q", with.System, without.System)
	}
	for _, kind := range []stillso.Type{stillso.Event, stillso.Todo} { // about what was and will be
		m := claimant()
		m.Type = kind
		if q := enrich.Request(m, enrich.Context{Claims: claiming()}); q.System != string(measured) {
			t.Errorf("%s: claims are asked for", kind)
		}
		model := &says{texts: []string{`{"aliases":[],"claims":[{"probe":"path","args":["a/b"]}]}`}}
		if got, err := enrich.Enrich(t.Context(), model, m, enrich.Context{Claims: claiming()}); err != nil || len(got.Claims) != 0 {
			t.Errorf("%s: %+v, %v", kind, got, err)
		}
	}
}

// A second enriching must replace the claims of the first, keep those of people and
// rules and the verdict of one that is made again; and one that did not ask must
// leave all as they are.
func TestChangeClaims(t *testing.T) {
	at := time.Unix(0, 0)
	person := stillso.Claim{ID: "mine", Probe: "tag", Args: []string{"v1"}}
	claim := func(arg string) stillso.Claim {
		raw, _ := json.Marshal(arg)
		m := claimant()
		m.Content += " " + arg
		got, err := enrich.Enrich(t.Context(), &says{texts: []string{`{"aliases":[],"claims":[{"probe":"path","args":[` + string(raw) + `]}]}`}}, m, enrich.Context{Claims: claiming()})
		if err != nil || len(got.Claims) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Claims[0]
	}
	one, two := claim("a/b"), claim("a/c")
	m := claimant()
	m.Claims = []stillso.Claim{person}
	m = enrich.Change(m, enrich.Answer{Asked: true, Claims: []stillso.Claim{one, two}}, "says", at).Edits[0].After
	if len(m.Claims) != 3 || m.Validate() != nil {
		t.Fatalf("%+v", m.Claims)
	}
	m.Claims[1].Verdict = stillso.Holds
	kept := enrich.Change(m, enrich.Answer{}, "says", at).Edits[0].After
	if len(kept.Claims) != 3 {
		t.Errorf("not asked, yet gone: %+v", kept.Claims)
	}
	again := enrich.Change(m, enrich.Answer{Asked: true, Claims: []stillso.Claim{one}}, "says", at)
	if got := again.Edits[0].After.Claims; len(got) != 2 || got[0].ID != "mine" || got[1].Verdict != stillso.Holds || !strings.Contains(again.Reason, "1 claims") {
		t.Errorf("%+v, %q", got, again.Reason)
	}
}
