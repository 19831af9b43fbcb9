// Package anthropic reaches models through Anthropic's Messages interface. It
// needs one request of it, and so no vendor's library.
package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"stillso/internal/llm"
)

const (
	base      = "https://api.anthropic.com"
	version   = "2023-06-01" // of the interface; the service asks for it
	maxTokens = 8192         // the service wants a bound; our longest answers have some 2,000
)

// Adapter is the provider "anthropic".
func Adapter() llm.Adapter { return llm.Adapter{Name: "anthropic", Find: find} }

func find(c llm.Config, env llm.Environment) (llm.Model, string, error) {
	if c.Model == "" {
		return nil, "", &llm.Error{Kind: llm.ErrConfig, Detail: "no model is set", Do: `write model = "…" in [llm]`}
	}
	at := c.BaseURL
	usual := "" // a key for Anthropic is not sent to others unasked
	if at == "" {
		at, usual = base, "ANTHROPIC_API_KEY"
	}
	key, err := llm.Key(c, env, usual)
	if err != nil {
		return nil, "", err
	}
	if at == base && key == "" {
		return nil, "", &llm.Error{Kind: llm.ErrConfig, Detail: "there is no key for " + base, Do: "set ANTHROPIC_API_KEY, or name another variable in key_env"}
	}
	url, err := llm.Endpoint(at, "/v1/messages", key)
	if err != nil {
		return nil, "", err
	}
	m := &model{name: c.Model, url: url, key: key, now: env.Clock.Now}
	return m, m.name + " at " + at, nil
}

type model struct {
	name, url, key string
	now            func() time.Time
}

// Name is the model's name in the settings.
func (m *model) Name() string { return "anthropic/" + m.name }

// Complete asks once.
func (m *model) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if n := len(r.System) + len(r.Text); n > llm.MaxRequest {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrTooLarge, Detail: fmt.Sprintf("the request has %d bytes; %d are allowed", n, llm.MaxRequest)})
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	limit := r.MaxTokens
	if limit == 0 {
		limit = maxTokens
	}
	text, err := json.Marshal(map[string]any{
		"model": m.name, "max_tokens": limit, "system": r.System, "messages": []message{{"user", r.Text}},
	})
	if err != nil {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrConfig, Detail: llm.Short(err.Error()), Err: err})
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(text))
	if err != nil {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrConfig, Detail: llm.Short(err.Error(), m.key)})
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", version)
	if m.key != "" {
		req.Header.Set("X-Api-Key", m.key)
	}
	// A redirect is not followed: it would take the key along.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return llm.Reply{}, m.unreachable(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 2*llm.MaxReply+1))
	if err != nil {
		return llm.Reply{}, m.unreachable(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return llm.Reply{}, m.failed(resp, answer)
	}
	if len(answer) > 2*llm.MaxReply {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrTooLarge, Detail: "the answer is larger than 2 MiB"})
	}
	return m.read(answer)
}

// failed tells a status other than 200 in words.
func (m *model) failed(resp *http.Response, answer []byte) error {
	var said struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	text := string(answer)
	if json.Unmarshal(answer, &said) == nil && said.Error.Message != "" {
		text = said.Error.Type + " " + said.Error.Message
	}
	err := llm.Failure(resp.StatusCode, llm.Short(text, m.key))
	var e *llm.Error
	if errors.As(err, &e) {
		if after := llm.RetryAfter(resp.Header.Get("Retry-After"), m.now()); after > 0 {
			e.After = after
		}
		if resp.StatusCode >= 300 && resp.StatusCode < 400 {
			e.Kind, e.Do = llm.ErrConfig, "it redirects elsewhere: set base_url to where it is"
		}
	}
	return m.named(err)
}

// read takes the reply out of an answer.
func (m *model) read(answer []byte) (llm.Reply, error) {
	var a struct {
		Type    string `json:"type"`
		Model   string `json:"model"`
		Stop    string `json:"stop_reason"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Usage struct {
			In     int `json:"input_tokens"`
			Made   int `json:"cache_creation_input_tokens"`
			Cached int `json:"cache_read_input_tokens"`
			Out    int `json:"output_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(answer, &a); err != nil || a.Type != "message" {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrUnavailable, Detail: "it is not a service of this kind: " + llm.Short(string(answer), m.key), Do: "check base_url", Err: err})
	}
	reply := llm.Reply{Model: a.Model, Usage: llm.Usage{In: a.Usage.In + a.Usage.Made + a.Usage.Cached, Out: a.Usage.Out}}
	var text strings.Builder
	tool := false
	for _, c := range a.Content {
		switch c.Type {
		case "text":
			text.WriteString(c.Text)
		case "tool_use", "server_tool_use":
			tool = true
		}
	}
	var e *llm.Error
	switch {
	case tool || a.Stop == "tool_use":
		e = &llm.Error{Kind: llm.ErrTool}
	case a.Stop == "refusal":
		e = &llm.Error{Kind: llm.ErrRefused, Detail: llm.Short(text.String(), m.key)}
	case a.Stop == "max_tokens":
		e = &llm.Error{Kind: llm.ErrTooLarge, Detail: "the answer was cut off at its token limit"}
	case text.Len() > llm.MaxReply:
		e = &llm.Error{Kind: llm.ErrTooLarge, Detail: fmt.Sprintf("the reply has %d bytes; %d are allowed", text.Len(), llm.MaxReply)}
	default:
		reply.Text = text.String()
		return reply, nil
	}
	return reply, m.named(e)
}

// unreachable tells a failure of the connection in words; the caller's own
// cancellation stays what it is.
func (m *model) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return m.named(&llm.Error{Kind: llm.ErrUnavailable, Detail: llm.Short(err.Error(), m.key), Do: "check the network and base_url", Err: err})
}

func (m *model) named(err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		e.Model = m.Name()
	}
	return err
}
