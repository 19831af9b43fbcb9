//go:build hosts

package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"stillso/internal/mcp"
)

// Fault: a real client does not list our tools, does not tell its model when to use
// them, or what it calls gives no memory.
func TestRealMCP(t *testing.T) {
	if os.Getenv("HOSTBIN") == "" {
		t.Skip("HOSTBIN is not set: see docs/hosts.md")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "stillso/cmd/stillso").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	type how struct {
		tool, space string
		more        []string
		// env is what the host needs to show its model a tool at once.
		env []string
		// told is set if the model gets the sentence that says when.
		told bool
		// names is set if the host gives its model only the names of tools at first.
		names bool
	}
	hows := map[string]how{
		"claude-code": {tool: "mcp__stillso__recall", more: []string{"--allowedTools", "mcp__stillso__recall"}, env: []string{"ENABLE_TOOL_SEARCH=false"}, told: true},
		"codex":       {tool: "recall", space: "mcp__stillso", told: true},
		"gemini":      {tool: "mcp_stillso_recall", more: []string{"--yolo"}, told: true},
		"qwen":        {tool: "mcp__stillso__recall", more: []string{"--yolo"}, names: true},
		"copilot":     {tool: "stillso-recall", told: true},
	}
	for _, h := range realHosts() {
		how, ok := hows[h.name]
		if !ok {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			env := h.env
			h.env = func(url string) []string { return append(env(url), how.env...) }
			l := newLab(t, h, bin)
			l.run(time.Minute, "stillso", "remember", "--namespace", "user", "--alias", "restore the zebrafish staging database", zebraText)
			if h.warm {
				l.run(3*time.Minute, h.program, h.ask("hello")...)
			}
			out := l.run(time.Minute, "stillso", "mcp", "install", h.name)
			if command := regexp.MustCompile(`run: claude (.*)`).FindStringSubmatch(out); command != nil {
				l.run(time.Minute, "claude", strings.Fields(command[1])...)
			}
			l.model.take()
			l.model.use(toolCall{when: "zebrafish", name: how.tool, args: `{"prompt":"` + zebraPrompt + `"}`, space: how.space})
			l.run(3*time.Minute, h.program, append(h.ask(zebraPrompt), how.more...)...)
			listed, told, given := false, false, false
			for _, r := range l.model.take() {
				listed = listed || strings.Contains(r.body, how.tool)
				told = told || strings.Contains(r.body, mcp.When)
				given = given || strings.Contains(r.body, zebraText)
			}
			t.Logf("%s %s: listed %v, told when %v, called and answered %v", h.name, l.version, listed, told, given)
			if !listed || how.told && !told || !given && !how.names {
				t.Errorf("listed %v, told %v, answered %v", listed, told, given)
			}
			if h.name == "claude-code" {
				return // its own command takes it out
			}
			l.run(time.Minute, "stillso", "mcp", "uninstall", h.name)
			for name, text := range l.tree() { // some hosts write into their settings meanwhile
				if strings.Contains(text, bin) {
					t.Errorf("%s after the uninstall: %s", name, text)
				}
			}
		})
	}
}
