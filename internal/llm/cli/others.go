package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stillso/internal/llm"
)

// instruction is the argument for programs that want one beside standard input.
const instruction = "Follow your instructions, which may also stand at the beginning of the input. Answer with exactly what they ask for and nothing else. Use no tools."

// gemini is Gemini CLI. Measured so (0.61.0): a policy that denies every tool
// leaves none in the request, and our instructions take the place of its own,
// so that the request has 1 KB beside our text instead of 31 KB. It has no
// switch for hooks, the guard variable must do; and it writes a chat file under
// ~/.gemini/tmp with the name of the working directory.
func gemini() *program {
	return &program{
		name: "gemini", binaries: []string{"gemini"}, auto: true,
		model:   "gemini-2.5-flash", // without a name its router makes a call of its own first
		keep:    []string{"GEMINI_API_KEY", "GEMINI_CLI_HOME", "GOOGLE_*"},
		install: "install Gemini CLI, or set another provider in [llm]",
		login:   "run gemini once by hand and log in",
		prepare: func(_ context.Context, c *call) error {
			c.cwd = filepath.Join(filepath.Dir(c.dir), DirectoryPrefix+"gemini")
			if err := os.MkdirAll(c.cwd, 0o700); err != nil {
				return fmt.Errorf("cannot make a working directory for gemini: %w", err)
			}
			c.files = map[string]string{
				"policy.toml": "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n",
				"system.md":   c.r.System,
			}
			c.args = []string{
				"-p", instruction, "--output-format", "json", "-m", c.m.model, "--skip-trust", "-e", "none",
				"--allowed-mcp-server-names", "none", "--policy", c.dir + "/policy.toml",
			}
			c.env = []string{"GEMINI_SYSTEM_MD=" + c.dir + "/system.md"} // takes the place of its 30 KB
			c.stdin = fenced(c.r)
			return nil
		},
		read: readGemini,
	}
}

func readGemini(stdout []byte) (llm.Reply, error) {
	for _, raw := range documents(stdout) {
		var r struct {
			Response *string `json:"response"`
			Stats    struct {
				Models map[string]struct {
					Tokens struct {
						In       int `json:"prompt"`
						Out      int `json:"candidates"`
						Thoughts int `json:"thoughts"`
					} `json:"tokens"`
				} `json:"models"`
				Tools struct {
					Calls int `json:"totalCalls"`
				} `json:"tools"`
			} `json:"stats"`
			Error *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(raw, &r) != nil || r.Response == nil && r.Error == nil {
			continue
		}
		var reply llm.Reply
		for name, m := range r.Stats.Models {
			reply.Model = name
			reply.Usage.In += m.Tokens.In
			reply.Usage.Out += m.Tokens.Out + m.Tokens.Thoughts
		}
		switch {
		case r.Error != nil:
			return reply, llm.Failure(0, r.Error.Message)
		case r.Stats.Tools.Calls > 0:
			return reply, &llm.Error{Kind: llm.ErrTool}
		}
		reply.Text = *r.Response
		return reply, nil
	}
	return llm.Reply{}, badFormat()
}

// cursor is Cursor's command line agent. It has no switch for tools; rules in
// its working directory that deny every permission do stop them (found by
// entireio/cli with version 2026.05.16, not measured by us). It is therefore
// used only when the settings name it.
func cursor() *program {
	return &program{
		name: "cursor", binaries: []string{"cursor-agent", "agent"},
		keep:    []string{"CURSOR_API_KEY"},
		install: "install the Cursor command line agent, or set another provider in [llm]",
		login:   "run cursor-agent login",
		prepare: func(_ context.Context, c *call) error {
			c.files = map[string]string{
				".cursor/cli.json": `{"permissions":{"allow":[],"deny":["Shell(*)","Read(*)","Write(*)","WebFetch(*)","Mcp(*:*)"]}}`,
			}
			c.args = []string{"-p", "--trust", "--workspace", c.dir, "--output-format", "json"}
			if c.m.model != "" {
				c.args = append(c.args, "--model", c.m.model)
			}
			c.stdin = prompt(c.r)
			return nil
		},
		read: readResult,
	}
}

// qwen is Qwen Code. Measured so (0.15.10): no hook fires, no chat is written,
// no tool is offered, and the request has 1 KB beside our text. Without --bare
// hooks fire; with it three tools remain, which are excluded by name.
func qwen() *program {
	return &program{
		name: "qwen", binaries: []string{"qwen"},
		keep:    []string{"OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL", "DASHSCOPE_API_KEY", "BAILIAN_CODING_PLAN_API_KEY", "QWEN_HOME"},
		install: "install Qwen Code, or set another provider in [llm]",
		login:   "run qwen auth",
		prepare: func(_ context.Context, c *call) error {
			c.args = []string{
				"-p", instruction, "--output-format", "json", "--chat-recording=false", "--bare", "--exclude-tools", "read_file,edit,run_shell_command",
				"--allowed-mcp-server-names", "none", "-e", "none", "--max-session-turns", "1", "--system-prompt", instruction,
			}
			if c.m.model != "" {
				c.args = append(c.args, "-m", c.m.model)
			}
			c.stdin = prompt(c.r)
			return nil
		},
		read: readResult,
	}
}

// readResult reads a document, or the last of several, of type "result".
func readResult(stdout []byte) (llm.Reply, error) {
	for i, list := 0, documents(stdout); i < len(list); i++ {
		var r struct {
			Type    string          `json:"type"`
			IsError bool            `json:"is_error"`
			Result  string          `json:"result"`
			Error   json.RawMessage `json:"error"`
			Usage   struct {
				In  int `json:"input_tokens"`
				Out int `json:"output_tokens"`
			} `json:"usage"`
		}
		if json.Unmarshal(list[i], &r) != nil || r.Type != "result" {
			continue
		}
		reply := llm.Reply{Text: r.Result, Usage: llm.Usage{In: r.Usage.In, Out: r.Usage.Out}}
		if r.IsError {
			return llm.Reply{}, llm.Failure(0, strings.TrimSpace(r.Result+" "+string(r.Error)))
		}
		return reply, nil
	}
	return llm.Reply{}, badFormat()
}

// copilot is GitHub Copilot CLI. Measured so (1.0.102): no tool is offered, the
// request has 8 KB beside our text. It keeps a session below ~/.copilot and has
// no switch for hooks.
func copilot() *program {
	return &program{
		name: "copilot", binaries: []string{"copilot"},
		keep: []string{
			"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_GH_HOST", "COPILOT_HOME", "COPILOT_MODEL",
			"COPILOT_PROVIDER_*", "COPILOT_OFFLINE",
		},
		install: "install GitHub Copilot CLI, or set another provider in [llm]",
		login:   "run copilot login",
		prepare: func(_ context.Context, c *call) error {
			c.args = []string{
				"--output-format", "json", "--available-tools=none", "--deny-tool=shell", "--deny-tool=write", "--deny-tool=url",
				"--disable-builtin-mcps", "--no-custom-instructions", "--no-auto-update",
			}
			if c.m.model != "" {
				c.args = append(c.args, "--model", c.m.model)
			}
			c.stdin = prompt(c.r)
			return nil
		},
		read: readCopilot,
	}
}

func readCopilot(stdout []byte) (llm.Reply, error) {
	var reply llm.Reply
	done := false
	for _, raw := range documents(stdout) {
		var e struct {
			Type string `json:"type"`
			Exit int    `json:"exitCode"`
			Data struct {
				Content   string            `json:"content"`
				Message   string            `json:"message"`
				ToolCalls []json.RawMessage `json:"toolRequests"`
				Out       int               `json:"outputTokens"`
			} `json:"data"`
		}
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		switch e.Type {
		case "assistant.message":
			if len(e.Data.ToolCalls) > 0 {
				return llm.Reply{}, &llm.Error{Kind: llm.ErrTool}
			}
			reply.Text = e.Data.Content
			reply.Usage.Out += e.Data.Out
		case "session.error":
			return llm.Reply{}, llm.Failure(0, e.Data.Message)
		case "result":
			done = e.Exit == 0
		}
	}
	if !done {
		return llm.Reply{}, badFormat()
	}
	return reply, nil
}

// opencode is OpenCode. The agent that it runs as stands in its working
// directory and has no tools. Measured so (1.18.34): no tool is offered and the
// request has 1 KB beside our text; a title spares a second call.
func opencode() *program {
	return &program{
		name: "opencode", binaries: []string{"opencode"},
		keep: []string{
			"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GROQ_API_KEY",
			"DEEPSEEK_API_KEY", "OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR",
		},
		install: "install OpenCode, or set another provider in [llm]",
		login:   "run opencode auth login",
		prepare: func(_ context.Context, c *call) error {
			settings := map[string]any{
				"share": "disabled", "autoupdate": false, "permission": map[string]string{"*": "deny"},
				"agent": map[string]any{"stillso": map[string]any{
					"mode": "primary", "description": "answers from its input", "prompt": c.r.System,
					"tools": map[string]bool{"*": false}, "permission": map[string]string{"*": "deny"},
				}},
			}
			text, err := json.Marshal(settings)
			if err != nil {
				return err
			}
			c.files = map[string]string{"opencode.json": string(text)}
			c.args = []string{"run", "--format", "json", "--pure", "--agent", "stillso", "--title", "stillso"}
			if c.m.model != "" {
				c.args = append(c.args, "-m", c.m.model)
			}
			c.args = append(c.args, instruction)
			c.stdin = prompt(c.r)
			return nil
		},
		read: readOpenCode,
	}
}

func readOpenCode(stdout []byte) (llm.Reply, error) {
	var reply llm.Reply
	done := false
	for _, raw := range documents(stdout) {
		var e struct {
			Type string `json:"type"`
			Part struct {
				Text   string  `json:"text"`
				Cost   float64 `json:"cost"`
				Tokens struct {
					In  int `json:"input"`
					Out int `json:"output"`
				} `json:"tokens"`
			} `json:"part"`
			Error json.RawMessage `json:"error"`
		}
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		switch e.Type {
		case "text":
			reply.Text += e.Part.Text
		case "tool_use":
			return llm.Reply{}, &llm.Error{Kind: llm.ErrTool}
		case "error":
			return llm.Reply{}, llm.Failure(0, string(e.Error))
		case "step_finish":
			done = true
			reply.Usage.In += e.Part.Tokens.In
			reply.Usage.Out += e.Part.Tokens.Out
			reply.Usage.CostUSD += e.Part.Cost
		}
	}
	if !done && reply.Text == "" {
		return llm.Reply{}, badFormat()
	}
	return reply, nil
}
