package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"stillso/internal/llm"
)

// claude is Claude Code. The options below were measured together (2.1.332): no
// hook fires, plugins' neither, no transcript is written, no tool is offered,
// and the request has 2 KB beside our text instead of 50 KB. --bare would read
// no subscription login, so it is not used.
func claude() *program {
	return &program{
		name: "claude", binaries: []string{"claude"}, auto: true, model: "haiku",
		keep: []string{
			"ANTHROPIC_*", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
			"CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_GIT_BASH_PATH", "AWS_*", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUD_ML_REGION",
		},
		install: "install Claude Code, or set another provider in [llm]",
		login:   "run claude once by hand and log in",
		prepare: prepareClaude,
		read:    readClaude,
	}
}

func prepareClaude(ctx context.Context, c *call) error {
	v, err := c.m.probe(ctx)
	if err != nil {
		return err
	}
	if v.before(2, 1, 0) {
		return &llm.Error{Kind: llm.ErrConfig, Detail: "Claude Code " + v.String() + " has no way to switch tools and hooks off", Do: "update Claude Code to 2.1.0 or later"}
	}
	c.files = map[string]string{"system.md": c.r.System, "settings.json": `{"disableAllHooks":true}`}
	c.args = []string{"-p", "--output-format", "json", "--settings", c.dir + "/settings.json"}
	if !v.before(2, 1, 101) { // before, an empty list made it delete old sessions
		c.args = append(c.args, "--setting-sources", "")
	}
	if !v.before(2, 1, 169) {
		c.args = append(c.args, "--safe-mode")
	}
	c.args = append(
		c.args, "--tools", "", "--strict-mcp-config", "--disable-slash-commands", "--no-session-persistence",
		"--max-turns", "1", "--model", c.m.model, "--system-prompt-file", c.dir+"/system.md",
	)
	c.stdin = c.r.Text
	c.env = []string{"CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	if c.r.MaxTokens > 0 {
		c.env = append(c.env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS="+strconv.Itoa(c.r.MaxTokens))
	}
	return nil
}

func readClaude(stdout []byte) (llm.Reply, error) {
	type result struct {
		Type    string  `json:"type"`
		Subtype string  `json:"subtype"`
		IsError bool    `json:"is_error"`
		Result  string  `json:"result"`
		Cost    float64 `json:"total_cost_usd"`
		Status  int     `json:"api_error_status"`
		Stop    string  `json:"stop_reason"`
		Usage   struct {
			In     int `json:"input_tokens"`
			Made   int `json:"cache_creation_input_tokens"`
			Cached int `json:"cache_read_input_tokens"`
			Out    int `json:"output_tokens"`
		} `json:"usage"`
		Models map[string]json.RawMessage `json:"modelUsage"`
	}
	var r result
	for _, raw := range documents(stdout) {
		var one result
		if json.Unmarshal(raw, &one) == nil && one.Type == "result" {
			r = one
		}
	}
	if r.Type == "" {
		return llm.Reply{}, badFormat()
	}
	reply := llm.Reply{Text: r.Result, Usage: llm.Usage{In: r.Usage.In + r.Usage.Made + r.Usage.Cached, Out: r.Usage.Out, CostUSD: r.Cost}}
	for name := range r.Models {
		if reply.Model == "" || name < reply.Model {
			reply.Model = name
		}
	}
	switch {
	case r.Subtype == "error_max_turns":
		return reply, &llm.Error{Kind: llm.ErrTool, Detail: "it wanted a second turn"}
	case r.Stop == "refusal":
		return reply, &llm.Error{Kind: llm.ErrRefused, Detail: llm.Short(r.Result)}
	case r.Stop == "max_tokens":
		return reply, &llm.Error{Kind: llm.ErrTooLarge, Detail: "the answer was cut off at its token limit"}
	case r.IsError || r.Subtype != "success":
		return reply, llm.Failure(r.Status, r.Result+" "+r.Subtype)
	}
	return reply, nil
}

// badFormat: the output is not in the format that was asked for.
func badFormat() error {
	return &llm.Error{Kind: llm.ErrNotJSON, Detail: "the output is not in the format that was asked for"}
}

// documents splits output into its JSON values: one a line, or one array of
// them, or one alone. Lines that are no JSON, such as warnings, are left out.
func documents(out []byte) []json.RawMessage {
	out = bytes.TrimSpace(out)
	if json.Valid(out) {
		var list []json.RawMessage
		if json.Unmarshal(out, &list) == nil {
			return list
		}
		return []json.RawMessage{out}
	}
	var list []json.RawMessage
	for line := range bytes.Lines(out) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' && json.Valid(line) {
			list = append(list, line)
		}
	}
	if len(list) == 0 { // one indented document after some words
		if i := bytes.Index(out, []byte("\n{")); i >= 0 && json.Valid(out[i:]) {
			list = append(list, bytes.TrimSpace(out[i:]))
		}
	}
	return list
}

// version is a program's version.
type version [3]int

var versionForm = regexp.MustCompile(`(\d{1,6})\.(\d{1,6})\.(\d{1,6})`)

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// before reports whether v is older. A version that cannot be told is not.
func (v version) before(major, minor, patch int) bool {
	o := version{major, minor, patch}
	for i := range v {
		if v[i] != o[i] {
			return v[i] < o[i] && v != version{}
		}
	}
	return false
}

// probe asks the program for its version, once.
func (m *model) probe(ctx context.Context) (version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.version != nil {
		return *m.version, nil
	}
	text, err := m.ask(ctx, "--version")
	if err != nil {
		if ctx.Err() != nil {
			return version{}, ctx.Err()
		}
		return version{}, &llm.Error{Kind: llm.ErrUnavailable, Detail: llm.Short("it does not tell its version: " + err.Error()), Err: err}
	}
	var v version
	if parts := versionForm.FindStringSubmatch(text); parts != nil {
		for i := range v {
			v[i], _ = strconv.Atoi(parts[i+1]) // at most six digits
		}
	}
	m.version = &v
	return v, nil
}

// prompt joins instructions and data into one text, for programs that take one.
func prompt(r llm.Request) string {
	return strings.TrimRight(r.System, "\n") + "\n\n" + fenced(r)
}

// fenced puts the data between two equal lines that hold its own hash: text
// cannot hold the hash of itself, so it cannot close the fence and go on as
// instructions.
func fenced(r llm.Request) string {
	fence := "===== data " + r.Hash() + " =====\n"
	return fence + strings.TrimRight(r.Text, "\n") + "\n" + fence
}
