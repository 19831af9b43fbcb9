//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stillso/internal/home"
)

// as calls the hook as a host would.
func (w *world) as(hostName, event, doc string, env ...string) string {
	w.t.Helper()
	c := w.command(event, env...)
	c.Args[1] = hostName
	c.Stdin = strings.NewReader(strings.ReplaceAll(doc, "DIR", w.project))
	return w.run(hostName+" "+event, c).stdout
}

// Fault: a host gets a shape that it drops without a word, and the memory counts as
// shown.
func TestShapeOfEachHost(t *testing.T) {
	nested := func(event string) string {
		return `{"hookSpecificOutput":{"hookEventName":"` + event + `","additionalContext":"`
	}
	w := newWorld(t, zebra())
	for name, c := range map[string]struct{ doc, start string }{
		"claude-code": {`{"session_id":"c1","cwd":"DIR","prompt":"P"}`, nested("UserPromptSubmit")},
		"codex":       {`{"session_id":"c2","turn_id":"t","transcript_path":null,"cwd":"DIR","hook_event_name":"UserPromptSubmit","prompt":"P"}`, nested("UserPromptSubmit")},
		"gemini":      {`{"session_id":"c3","cwd":"DIR","hook_event_name":"BeforeAgent","prompt":"<hook_context>x</hook_context>\n\nP"}`, nested("BeforeAgent")},
		"qwen":        {`{"session_id":"c4","cwd":"DIR","hook_event_name":"UserPromptSubmit","prompt":"P"}`, nested("UserPromptSubmit")},
		"copilot":     {`{"sessionId":"c5","timestamp":1,"cwd":"DIR","prompt":"P"}`, `{"additionalContext":"`},
		"cursor":      {`{"conversation_id":"c6","hook_event_name":"beforeSubmitPrompt","workspace_roots":["DIR"],"prompt":"P","transcript_path":null}`, `{"additional_context":"`},
		"opencode":    {`{"session_id":"ses_7","cwd":"DIR","prompt":"P"}`, `{"additionalContext":"`},
	} {
		out := w.as(name, "prompt", strings.ReplaceAll(c.doc, "P\"", topical+`"`))
		if !strings.HasPrefix(out, c.start) || strings.Count(out, "zebra1") != 1 || !json.Valid([]byte(out)) {
			t.Errorf("%s printed %q", name, out)
		}
		if out := w.as(name, "prompt", strings.ReplaceAll(c.doc, "P\"", `ok, go on"`)); out != "" {
			t.Errorf("%s: chit-chat printed %q", name, out)
		}
	}
}

// Fault: a host that reads the settings of Claude Code gets the shape of Claude Code,
// or the same memory from two registrations.
func TestSettingsOfAnotherHost(t *testing.T) {
	w := newWorld(t, zebra())
	snake := `{"session_id":"SID","cwd":"DIR","hook_event_name":"UserPromptSubmit","prompt":"` + topical + `"}`
	camel := `{"sessionId":"SID","timestamp":1,"cwd":"DIR","hookEventName":"UserPromptSubmit","prompt":"` + topical + `"}`
	for name, c := range map[string]struct {
		doc, want string
		env       []string
	}{
		"copilot":               {snake, `{"additionalContext":"`, []string{"COPILOT_CLI=1", "CLAUDE_PROJECT_DIR=/w"}},
		"gemini, migrated":      {snake, `"hookEventName":"BeforeAgent"`, []string{"GEMINI_SESSION_ID=gm", "CLAUDE_PROJECT_DIR=/w"}},
		"cursor":                {snake, `{"additional_context":"`, []string{"CURSOR_VERSION=3.20.17"}},
		"vs code":               {camel, "", nil},
		"claude in copilot":     {snake, `"hookEventName":"UserPromptSubmit"`, []string{"COPILOT_CLI=1", "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=SID"}},
		"old claude in copilot": {strings.Replace(snake, `"cwd"`, `"transcript_path":"/h/.claude/projects/p/SID.jsonl","cwd"`, 1), `"hookEventName":"UserPromptSubmit"`, []string{"COPILOT_CLI=1", "CLAUDECODE=1"}},
		"claude in crush":       {snake, `"hookEventName":"UserPromptSubmit"`, []string{"CRUSH=1", "CLAUDECODE=1"}},
	} {
		id := strings.ReplaceAll(name, " ", "-")
		for i := range c.env {
			c.env[i] = strings.ReplaceAll(c.env[i], "SID", id)
		}
		out := w.as("claude-code", "prompt", strings.ReplaceAll(c.doc, "SID", id), c.env...)
		if c.want == "" && out != "" || !strings.Contains(out, c.want) {
			t.Errorf("%s printed %q", name, out)
		}
	}
	began := w.as("claude-code", "session-start", `{"sessionId":"v","cwd":"DIR","hookEventName":"SessionStart","source":"new"}`)
	if began != "" && !strings.Contains(began, `"hookEventName":"SessionStart"`) {
		t.Errorf("vs code begins with %q", began)
	}
	if err := os.MkdirAll(filepath.Join(w.home.String(), "install"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.home.String(), "install", "copilot.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	own := w.as("claude-code", "prompt", strings.ReplaceAll(snake, "SID", "two"), "COPILOT_CLI=1")
	other := w.as("copilot", "prompt", strings.ReplaceAll(camel, "SID", "two"), "COPILOT_CLI=1")
	if own != "" || strings.Count(other, "zebra1") != 1 {
		t.Errorf("two registrations printed %q and %q", own, other)
	}
}

// Fault: registered twice, the hook runs twice at once, and one prompt gets two blocks.
func TestTwoAtOnce(t *testing.T) {
	w := newWorld(t, zebra())
	for round := range 20 {
		doc := []byte(`{"session_id":"r` + string(rune('a'+round)) + `","cwd":"` + w.project + `","prompt":"` + topical + `"}`)
		var outs [3]bytes.Buffer
		var wg sync.WaitGroup
		for i := range outs {
			c := w.command("prompt")
			c.Stdin, c.Stdout = bytes.NewReader(doc), &outs[i]
			wg.Go(func() {
				if err := c.Run(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := strings.Count(outs[0].String()+outs[1].String()+outs[2].String(), "[constraint"); n != 1 {
			t.Fatalf("round %d: %d blocks: %q %q %q", round, n, outs[0].String(), outs[1].String(), outs[2].String())
		}
	}
}

// Fault: a host that does not name its transcript is never captured; or one that
// compacts without saying when it is done never hears a memory again.
func TestEndsOfOtherHosts(t *testing.T) {
	w := newWorld(t, zebra())
	h := w.project
	cursorFile := filepath.Join(h, ".cursor", "projects", strings.NewReplacer("/", "-", " ", "-", "_", "-", ".", "-").Replace(h[1:]), "agent-transcripts", "k9.jsonl")
	if err := os.MkdirAll(filepath.Dir(cursorFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cursorFile, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.as("copilot", "session-end", `{"sessionId":"k8","timestamp":1,"cwd":"DIR","reason":"complete"}`)
	w.as("cursor", "session-end", `{"conversation_id":"k9","workspace_roots":["DIR"],"transcript_path":null,"reason":"completed"}`)
	w.as("opencode", "turn-end", `{"session_id":"ses_10","cwd":"DIR"}`)
	w.as("codex", "session-end", `{"session_id":"k11","transcript_path":"/s/rollout-1.jsonl","cwd":"DIR","reason":"other"}`)
	want := map[string]string{
		"copilot k8 ended": filepath.Join(h, ".copilot", "session-state", "k8", "events.jsonl"),
		"cursor k9 ended":  cursorFile,
		"opencode ses_10":  "opencode:ses_10",
		"codex k11 ended":  "/s/rollout-1.jsonl",
	}
	for _, q := range lines[struct {
		Key     string
		Payload map[string]string
	}](w, home.Queue) {
		if want[q.Key] != q.Payload["transcript"] {
			t.Errorf("%s: transcript %q, want %q", q.Key, q.Payload["transcript"], want[q.Key])
		}
		delete(want, q.Key)
	}
	if len(want) > 0 {
		t.Errorf("not queued: %v", want)
	}
	ask := `{"sessionId":"z","cwd":"DIR","prompt":"` + topical + `"}`
	first, second := w.as("copilot", "prompt", ask), w.as("copilot", "prompt", ask)
	w.as("copilot", "pre-compact", `{"sessionId":"z","cwd":"DIR","transcriptPath":"/t"}`)
	if third := w.as("copilot", "prompt", ask); first == "" || second != "" || third != first {
		t.Errorf("before compaction %q, %q, after it %q", first, second, third)
	}
}

// Fault: the program that a host calls does not start where a path has spaces or
// characters of other scripts.
func TestAwkwardPath(t *testing.T) {
	w := newWorld(t, zebra())
	dir := filepath.Join(t.TempDir(), "my tools", "ünï 工具")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "stillso-hook")
	if err := os.Link(w.hook, program); err != nil {
		t.Skip(err)
	}
	c := exec.Command(program, "claude-code", "prompt")
	c.Env, c.Dir = w.command("prompt").Env, dir
	c.Stdin = strings.NewReader(`{"session_id":"q","cwd":"` + dir + `","prompt":"` + topical + `"}`)
	if out := w.run("awkward path", c).stdout; !strings.Contains(out, "zebra1") {
		t.Errorf("printed %q", out)
	}
}
