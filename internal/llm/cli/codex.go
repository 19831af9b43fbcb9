package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/BurntSushi/toml"

	"stillso/internal/llm"
)

// codex is Codex CLI. Measured so (0.171.0): no hook fires, no session file is
// written, the one tool that is left asks the user, whom it cannot reach, and
// the request has 20 KB beside our text. Web search is off: a query could carry
// the text away. It has no switch for all MCP servers at once: each one that
// the user's settings name is switched off by name. Its own instructions
// could be replaced too, but whether a subscription allows that is not known.
func codex() *program {
	return &program{
		name: "codex", binaries: []string{"codex"}, auto: true,
		keep:    []string{"CODEX_HOME", "CODEX_API_KEY", "CODEX_CA_CERTIFICATE", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT"},
		install: "install Codex CLI, or set another provider in [llm]",
		login:   "run codex login",
		prepare: prepareCodex,
		read:    readCodex,
	}
}

func prepareCodex(_ context.Context, c *call) error {
	c.args = []string{
		"exec", "--json", "--color", "never", "--ephemeral", "--skip-git-repo-check",
		"--disable", "hooks", "--disable", "shell_tool", "--disable", "plugins", "--disable", "apps",
		"-s", "read-only", "-C", c.dir, "-c", "project_doc_max_bytes=0", "-c", "web_search=\"disabled\"", "-c", "tools.view_image=false",
		"-c", "features.multi_agent=false", "-c", "features.goals=false", "-c", "features.web_search_request=false",
		"-c", "features.view_image=false", "-c", "include_environment_context=false", "-c", "include_permissions_instructions=false",
		"-c", "skills.include_instructions=false",
	}
	for _, name := range servers(c.m.env) {
		c.args = append(c.args, "-c", "mcp_servers."+name+".enabled=false")
	}
	if c.m.model != "" {
		c.args = append(c.args, "-m", c.m.model)
	}
	c.args = append(c.args, "-")
	c.stdin = prompt(c.r)
	return nil
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`) // the names that Codex itself accepts

// servers lists the MCP servers in the user's settings of Codex. Settings that
// cannot be read have none: Codex then does not start either.
func servers(env []string) []string {
	e := llm.Environment{Environ: env}
	home := e.Get("CODEX_HOME")
	if home == "" {
		dir := e.Get("HOME")
		if dir == "" {
			dir = e.Get("USERPROFILE")
		}
		home = filepath.Join(dir, ".codex")
	}
	text, err := os.ReadFile(filepath.Join(home, "config.toml")) // #nosec G304 -- the settings of the person's own Codex
	if err != nil || len(text) > 1<<20 {
		return nil
	}
	var settings struct {
		Servers map[string]any `toml:"mcp_servers"`
	}
	if _, err := toml.Decode(string(text), &settings); err != nil {
		return nil
	}
	var names []string
	for name := range settings.Servers {
		if serverName.MatchString(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// readCodex reads the events of --json: the last message is the answer.
func readCodex(stdout []byte) (llm.Reply, error) {
	var reply llm.Reply
	var failed, tool string
	done := false
	for _, raw := range documents(stdout) {
		var e struct {
			Type    string `json:"type"`
			Message string `json:"message"`
			Error   struct {
				Message string `json:"message"`
			} `json:"error"`
			Item struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"item"`
			Usage struct {
				In  int `json:"input_tokens"`
				Out int `json:"output_tokens"`
			} `json:"usage"`
		}
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		switch e.Type {
		case "item.started", "item.completed":
			switch e.Item.Type {
			case "agent_message":
				if e.Type == "item.completed" {
					reply.Text = e.Item.Text
				}
			case "command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call":
				tool = e.Item.Type
			}
		case "turn.completed":
			done = true
			reply.Usage = llm.Usage{In: e.Usage.In, Out: e.Usage.Out}
		case "turn.failed":
			failed = e.Error.Message
		case "error":
			if failed == "" {
				failed = e.Message
			}
		}
	}
	switch {
	case tool != "":
		return reply, &llm.Error{Kind: llm.ErrTool, Detail: tool}
	case done:
		return reply, nil
	case failed != "":
		return reply, llm.Failure(0, failed)
	}
	return reply, badFormat()
}
