//go:build unix

package stillso_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// check from JSON, for tests of the checks themselves.
func asWords(t *testing.T, text string) *stepWords {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return words(m)
}

const sampleBlock = openTag + `
Some words.
- [constraint · 2026-02-10 · P1] Deploy on Tuesday.
- [fact · unverified: path a.go is gone · 2026-02-10 · S1] Tokens are in a.go; a &lt;b is fine.
- [fact · superseded by P1 · 2026-02-10 · HUB] Log.
` + closeTag

// A check that cannot fail proves nothing: each is shown both ways.
func TestCaseChecks(t *testing.T) {
	n3, n5 := 3, 5
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("same.txt", "exactly\n")
	write("body.md", "---\nid: A\n---\nThe body.\n")
	line := `{"id":"A","content":"The body.","type":"constraint","namespace":"project/x","created_at":"2026-02-10T09:00:00Z","extra":{"k":"v"},` +
		`"evidence":[{"session":"S1"},{"session":"S2"},{"session":"S1"}],"priority":3,"status":"active","origin":"import","updated_at":"2026-02-10T09:00:00Z"}` + "\n"
	other := strings.ReplaceAll(line, `"A"`, `"B"`)
	doc, err := json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{"additionalContext": sampleBlock}})
	if err != nil {
		t.Fatal(err)
	}
	r := &caseRun{t: t, dir: dir, results: map[string]*outcome{
		"r":     {text: sampleBlock, ids: blockIDs(sampleBlock), stdout: string(doc), ms: 40, rss: 20},
		"none":  {},
		"fail":  {exit: 2, stderr: "trouble", stdout: "{}\n{}", text: "x"},
		"s1":    {saved: "P1"},
		"s2":    {saved: "X9"},
		"p":     {exits: []int{0, 0}},
		"q":     {exits: []int{0, 1}},
		"n":     {number: &n3},
		"m":     {number: &n5},
		"file":  {text: "exactly\n"},
		"e":     {text: line, ids: []string{"A"}},
		"e2":    {text: other + line},
		"c":     {requests: []string{"one two", "three"}, userInput: "typed", stored: "kept"},
		"note":  {text: "---\nid: A\n---\nText\n\n---\nnot one\n"},
		"twice": {text: "---\nid: A\n---\n---\nid: B\n---\nText\n"},
		"hooks": {text: `{"hooks":{"Stop":[{"hooks":[{"command":"echo"}]},{"matcher":"*","hooks":[{"command":"/x/stillso-hook a"}]}]}}`},
		"dup":   {text: `{"hooks":{"Stop":[{"hooks":[{"command":"stillso-hook a"},{"command":"stillso-hook a"}]}]}}`},
		"bad":   {text: "caf\xe9", stdout: `"\ud83d"`},
		"t1":    {tree: map[string]string{"a": "1"}}, "t2": {tree: map[string]string{"a": "2"}}, "t3": {tree: map[string]string{"a": "1", "b": "1"}},
		"list": {text: "Fact 0 Fact 1 Fact 2", ids: []string{"X1", "X2"}},
	}}
	for _, c := range []struct{ yes, no string }{
		{`{"check":"in_top","of":"r","id":"P1","k":1}`, `{"check":"in_top","of":"r","id":"S1","k":1}`},
		{`{"check":"in_top","of":"r","id":"S1","k":9}`, `{"check":"in_top","of":"none","id":"S1","k":9}`},
		{`{"check":"absent","of":"r","id":"Z"}`, `{"check":"absent","of":"r","id":"HUB"}`},
		{`{"check":"empty","of":"none"}`, `{"check":"empty","of":"r"}`},
		{`{"check":"nonempty","of":"r"}`, `{"check":"nonempty","of":"none"}`},
		{`{"check":"ranked_before","of":"r","id":"P1","other":"HUB"}`, `{"check":"ranked_before","of":"r","id":"HUB","other":"P1"}`},
		{`{"check":"ranked_before","of":"r","id":"Z","other":"Y"}`, `{"check":"ranked_before","of":"r","id":"Z","other":"P1"}`},
		{`{"check":"contains_saved","of":"r","saved":"s1"}`, `{"check":"contains_saved","of":"r","saved":"s2"}`},
		{`{"check":"lacks_saved","of":"r","saved":"s2"}`, `{"check":"lacks_saved","of":"r","saved":"s1"}`},
		{`{"check":"exit","of":"r","code":0}`, `{"check":"exit","of":"fail","code":0}`},
		{`{"check":"exit_nonzero","of":"fail"}`, `{"check":"exit_nonzero","of":"r"}`},
		{`{"check":"all_exit","of":"p","code":0}`, `{"check":"all_exit","of":"q","code":0}`},
		{`{"check":"stderr_empty","of":"r"}`, `{"check":"stderr_empty","of":"fail"}`},
		{`{"check":"json_or_empty","of":"r"}`, `{"check":"json_or_empty","of":"fail"}`},
		{`{"check":"max_ms","of":"r","ms":40}`, `{"check":"max_ms","of":"r","ms":39}`},
		{`{"check":"max_rss_mb","of":"r","mb":20}`, `{"check":"max_rss_mb","of":"r","mb":19}`},
		{`{"check":"max_bytes","of":"file","bytes":8}`, `{"check":"max_bytes","of":"file","bytes":7}`},
		{`{"check":"max_request_chars","of":"c","chars":7}`, `{"check":"max_request_chars","of":"c","chars":6}`},
		{`{"check":"text_has","of":"r","text":"a <b is"}`, `{"check":"text_has","of":"r","text":"Wednesday"}`},
		{`{"check":"text_lacks","of":"r","text":"Wednesday"}`, `{"check":"text_lacks","of":"r","text":"Tuesday"}`},
		{`{"check":"text_matches","of":"r","pattern":"Dep.oy"}`, `{"check":"text_matches","of":"r","pattern":"^Dep"}`},
		{`{"check":"occurs","of":"r","text":"2026-02-10","eq":3}`, `{"check":"occurs","of":"r","text":"2026-02-10","eq":2}`},
		{`{"check":"text_has","of":"c.user_input","text":"typed"}`, `{"check":"text_has","of":"c.model_input","text":"typed"}`},
		{`{"check":"text_has","of":"c.stored","text":"kept"}`, `{"check":"text_has","of":"c.nothing","text":"kept"}`},
		{`{"check":"text_has_series","of":"list","pattern":"Fact %d","from":0,"to":2}`, `{"check":"text_has_series","of":"list","pattern":"Fact %d","from":0,"to":3}`},
		{`{"check":"count","of":"n","eq":3}`, `{"check":"count","of":"n","eq":4}`},
		{`{"check":"number","of":"n","ge":1,"le":3}`, `{"check":"number","of":"n","ge":1,"le":2}`},
		{`{"check":"count_delta","a":"n","b":"m","eq":2}`, `{"check":"count_delta","a":"m","b":"n","eq":2}`},
		{`{"check":"size_not_smaller","a":"n","b":"m"}`, `{"check":"size_not_smaller","a":"m","b":"n"}`},
		{`{"check":"same","a":"file","b":"file"}`, `{"check":"same","a":"file","b":"r"}`},
		{`{"check":"same_bytes","of":"file","file":"same.txt"}`, `{"check":"same_bytes","of":"r","file":"same.txt"}`},
		{`{"check":"same_tree","a":"t1","b":"t1"}`, `{"check":"same_tree","a":"t1","b":"t2"}`},
		{`{"check":"same_tree","a":"t2","b":"t2"}`, `{"check":"same_tree","a":"t1","b":"t3"}`},
		{`{"check":"json_equal","of":"hooks","path":"/hooks/Stop/0/hooks/0/command","value":"echo"}`, `{"check":"json_equal","of":"hooks","path":"/hooks/Stop/1","value":{}}`},
		{`{"check":"own_hooks_once","of":"hooks"}`, `{"check":"own_hooks_once","of":"dup"}`},
		{`{"check":"frame_intact","of":"r"}`, `{"check":"frame_intact","of":"file"}`},
		{`{"check":"valid_unicode","of":"r"}`, `{"check":"valid_unicode","of":"bad"}`},
		{`{"check":"ids_equal","of":"list","ids":["X2","X1"]}`, `{"check":"ids_equal","of":"list","ids":["X2"]}`},
		{`{"check":"ids_include","of":"list","ids":["X2"]}`, `{"check":"ids_include","of":"list","ids":["X2","X3"]}`},
		{`{"check":"exactly_one_of","of":"list","ids":["X2","X3"]}`, `{"check":"exactly_one_of","of":"list","ids":["X2","X1"]}`},
		{`{"check":"export_ids","of":"e","ids":["A"]}`, `{"check":"export_ids","of":"e","ids":["A","B"]}`},
		{`{"check":"exports_equal","a":"e2","b":"e2"}`, `{"check":"exports_equal","a":"e","b":"e2"}`},
		{`{"check":"export_field","of":"e","id":"A","field":"type","value":"rule"}`, `{"check":"export_field","of":"e","id":"A","field":"type","value":"fact"}`},
		{`{"check":"export_field","of":"e","id":"A","field":"k","value":"v"}`, `{"check":"export_field","of":"e","id":"B","field":"k","value":"v"}`},
		{`{"check":"export_field","of":"e","id":"A","field":"created","value":"2026-02-10T09:00:00Z"}`, `{"check":"export_field","of":"e","id":"A","field":"pinned","value":true}`},
		{`{"check":"export_body_equals","of":"e","id":"A","file":"body.md"}`, `{"check":"export_body_equals","of":"e","id":"A","file":"same.txt"}`},
		{`{"check":"single_frontmatter","of":"note"}`, `{"check":"single_frontmatter","of":"twice"}`},
		{`{"check":"marked","of":"r","id":"S1","state":"unverified"}`, `{"check":"marked","of":"r","id":"P1","state":"unverified"}`},
		{`{"check":"unmarked","of":"r","id":"P1"}`, `{"check":"unmarked","of":"r","id":"HUB"}`},
		{`{"check":"evidence_sessions","of":"e","text":"the body","eq":2}`, `{"check":"evidence_sessions","of":"e","text":"the body","eq":3}`},
		{`{"check":"no_children","of":"none"}`, `{"check":"no_children","of":"n"}`},
		{`{"check":"any_of","checks":[{"check":"empty","of":"r"},{"check":"empty","of":"none"}]}`, `{"check":"any_of","checks":[{"check":"empty","of":"r"}]}`},
		{`{"check":"nonempty","of":"r"}`, `{"check":"nosuchcheck","of":"r"}`},
		{`{"check":"nonempty","of":"r"}`, `{"check":"nonempty","of":"nosuchstep"}`},
	} {
		if err := r.check(asWords(t, c.yes)); err != nil {
			t.Errorf("%s: %v", c.yes, err)
		}
		if err := r.check(asWords(t, c.no)); err == nil {
			t.Errorf("%s holds, and should not", c.no)
		}
	}
}

// The stub quotes what stands in the window to the letter, and names its turn.
func TestStubEvidence(t *testing.T) {
	job := modelJob{
		Stub: []stubEntry{{IfContains: "pnpm", Type: "rule", Text: "Use pnpm.", Evidence: "u3"}, {IfContains: "absent", Text: "No."}},
		Rows: map[string]string{"u3": "Good. Remember: always pnpm.", "u1": "hello"},
	}
	for _, window := range []string{
		"never absent\n===== data 0a =====\n[turn 1, developer]\nhello there\n\n[turn 2, assistant]\nhi\n\n[turn 3, developer, captured before]\nGood. Remember: always pnpm.\n===== data 0a =====\n",
		"turn 1 (developer):\nhello there\n\nturn 3 (developer):\nGood. Remember: always pnpm.\n",
	} {
		turns := windowTurns(window)
		if len(turns) < 2 || !turns[0].typed {
			t.Fatalf("turns of %q: %+v", window, turns)
		}
		got := string(encode(proposals(job, window)))
		if !strings.Contains(got, `"evidence":[{"quote":"Good. Remember: always pnpm.","turn":3}]`) || strings.Contains(got, "No.") {
			t.Errorf("proposed %s", got)
		}
	}
	if got := blockIDs(sampleBlock); !slices.Equal(got, []string{"P1", "S1", "HUB"}) {
		t.Errorf("ids of a block: %v", got)
	}
}
