package host

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// Fault: the reader by shape disagrees with JSON about what a document says.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		`{"a":"b\n\u00e9\ud83d\ude00","c":[1,{"d":[]},"x\\"],"e":{},"f":-1.5e3,"g":true,"h":null}`, `[]`, `[1,"\"",[{}]]`, `{"a":"\u12`, `"\ud800\ud800"`, "{\"a\" : \"\xff\"}", `{"a":[}]}`, "\ufeff{}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		members := 0
		err := Fields(data, func(_, value []byte) bool {
			members++
			if Kind(value) == '[' {
				_ = Elements(value, func(v []byte) bool { return len(v) > 0 })
			}
			return true
		})
		elements := 0
		errArray := Elements(data, func([]byte) bool { elements++; return true })
		if !json.Valid(data) || strings.Count(string(data), "[")+strings.Count(string(data), "{") > 500 {
			return
		}
		var doc any
		if json.Unmarshal(data, &doc) != nil {
			return
		}
		switch doc := doc.(type) {
		case map[string]any:
			if err != nil || members < len(doc) {
				t.Fatalf("%d of %d members, %v", members, len(doc), err)
			}
		case []any:
			if errArray != nil || elements != len(doc) {
				t.Fatalf("%d of %d elements, %v", elements, len(doc), errArray)
			}
		case string:
			value := []byte(strings.Trim(string(data), " \t\r\n"))
			got := Text(value, len(data)*3)
			if strings.ReplaceAll(got, "\ufffd", "") != strings.ReplaceAll(doc, "\ufffd", "") {
				t.Fatalf("Text(%q) = %q, want %q", value, got, doc)
			}
			for _, limit := range []int{0, 1, 5} {
				if short := Text(value, limit); len(short) > limit || !utf8.ValidString(short) || !strings.HasPrefix(got, short) {
					t.Fatalf("Text(%q, %d) = %q", value, limit, short)
				}
			}
			var back string
			if err := json.Unmarshal(AppendText(nil, doc), &back); err != nil || back != doc {
				t.Fatalf("AppendText(%q) = %s, %v", doc, AppendText(nil, doc), err)
			}
		}
	})
}

// Fault: one of the hosts that set the variables of others as aliases is taken
// for Claude Code; or the guard against recursion does not hold.
func TestEnvironment(t *testing.T) {
	for want, env := range map[string]map[string]string{
		// started from a shell of Copilot
		"claude-code": {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s1", "CLAUDE_PROJECT_DIR": "/w", "COPILOT_CLI": "1"},
		"gemini":      {"GEMINI_SESSION_ID": "x", "CLAUDE_PROJECT_DIR": "/w"},
		"qwen":        {"QWEN_PROJECT_DIR": "/w", "GEMINI_PROJECT_DIR": "/w"},
		"copilot":     {"COPILOT_CLI": "1", "CLAUDE_PROJECT_DIR": "/w", "CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "another"},
		"":            {"CLAUDE_PROJECT_DIR": "/w"},
	} {
		if got := Detect(func(k string) string { return env[k] }, "s1"); got != want {
			t.Errorf("%v: detected %q, want %q", env, got, want)
		}
	}
	for value, want := range map[string]bool{"": false, "0": false, "1": true, "yes": true} {
		if got := Suppressed(func(k string) string { return map[string]string{SuppressVariable: value}[k] }); got != want {
			t.Errorf("%s=%q: suppressed %v, want %v", SuppressVariable, value, got, want)
		}
	}
}
