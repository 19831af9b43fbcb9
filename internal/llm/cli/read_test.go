package cli

import (
	"errors"
	"testing"

	"stillso/internal/llm"
)

// FuzzRead: whatever a program prints, reading it neither panics nor gives an
// error of a kind that nobody handles.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"", "null", "[]", "[null,1]", `{"type":"result"}`, `{"response":null,"error":{}}`, `{"type":"turn.completed"}`, "x\n{\n\"response\":\"a\"}",
		`{"type":"result","result":5}`, `{"response":"a","stats":{"models":null}}`, "{\"type\":\"text\"}\n{", `{"type":"result","exitCode":"0"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		for _, read := range []func([]byte) (llm.Reply, error){readClaude, readCodex, readGemini, readResult, readCopilot, readOpenCode} {
			_, err := read(out)
			var e *llm.Error
			if err != nil && (!errors.As(err, &e) || e.Kind == nil) {
				t.Fatalf("%q: %v", out, err)
			}
		}
	})
}
