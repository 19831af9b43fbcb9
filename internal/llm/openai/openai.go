// Package openai reaches models through the chat completions interface that
// OpenAI made and Ollama, vLLM, LM Studio, llama.cpp and OpenRouter share. It
// needs one request of it, and so no vendor's library.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"stillso/internal/llm"
)

// base is used when the settings name no base_url.
const base = "https://api.openai.com/v1"

// Adapter is the provider "openai".
func Adapter() llm.Adapter { return llm.Adapter{Name: "openai", Find: find} }

func find(c llm.Config, env llm.Environment) (llm.Model, string, error) {
	if c.Model == "" {
		return nil, "", &llm.Error{Kind: llm.ErrConfig, Detail: "no model is set", Do: `write model = "…" in [llm]`}
	}
	at := c.BaseURL
	usual := "" // a key for OpenAI is not sent to others unasked
	if at == "" {
		at, usual = base, "OPENAI_API_KEY"
	}
	key, err := llm.Key(c, env, usual)
	if err != nil {
		return nil, "", err
	}
	if at == base && key == "" {
		return nil, "", &llm.Error{Kind: llm.ErrConfig, Detail: "there is no key for " + base, Do: "set OPENAI_API_KEY, or name another variable in key_env, or set base_url"}
	}
	url, err := llm.Endpoint(at, "/chat/completions", key)
	if err != nil {
		return nil, "", err
	}
	m := &model{name: c.Model, url: url, key: key, now: env.Clock.Now}
	return m, m.name + " at " + at, nil
}

type model struct {
	name, url, key string
	now            func() time.Time
	// plain is set when the service does not know response_format, newer when
	// it wants the newer name of max_tokens.
	plain, newer atomic.Bool
}

// Name is the model's name in the settings.
func (m *model) Name() string { return "openai/" + m.name }

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type format struct {
	Type   string  `json:"type"`
	Schema *schema `json:"json_schema,omitempty"`
}

type schema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
}

type body struct {
	Model     string    `json:"model"`
	Messages  []message `json:"messages"`
	Format    *format   `json:"response_format,omitempty"`
	MaxTokens int       `json:"max_tokens,omitempty"`
	MaxNewer  int       `json:"max_completion_tokens,omitempty"`
}

// Complete asks once; a second time if the service does not know an option.
func (m *model) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if n := len(r.System) + len(r.Text); n > llm.MaxRequest {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrTooLarge, Detail: fmt.Sprintf("the request has %d bytes; %d are allowed", n, llm.MaxRequest)})
	}
	for {
		plain, newer := m.plain.Load(), m.newer.Load()
		reply, err := m.once(ctx, r, plain, newer)
		var unknown *optionError
		if !errors.As(err, &unknown) {
			return reply, err
		}
		switch {
		case unknown.option == "max_tokens" && !newer:
			m.newer.Store(true)
		case unknown.option == "response_format" && !plain:
			m.plain.Store(true)
		default:
			return reply, m.named(unknown.err)
		}
	}
}

// optionError: the service does not know an option that we can do without.
type optionError struct {
	option string
	err    error
}

func (e *optionError) Error() string { return e.err.Error() }

func (m *model) once(ctx context.Context, r llm.Request, plain, newer bool) (llm.Reply, error) {
	b := body{Model: m.name, Messages: []message{{"system", r.System}, {"user", r.Text}}}
	switch {
	case plain:
	case len(r.Schema) > 0:
		b.Format = &format{Type: "json_schema", Schema: &schema{"answer", r.Schema}}
	default:
		b.Format = &format{Type: "json_object"}
	}
	if newer {
		b.MaxNewer = r.MaxTokens
	} else {
		b.MaxTokens = r.MaxTokens
	}
	text, err := json.Marshal(b)
	if err != nil {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrConfig, Detail: llm.Short(err.Error()), Err: err})
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(text))
	if err != nil {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrConfig, Detail: llm.Short(err.Error(), m.key)})
	}
	req.Header.Set("Content-Type", "application/json")
	if m.key != "" {
		req.Header.Set("Authorization", "Bearer "+m.key)
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
		return llm.Reply{}, m.failed(resp, answer, b)
	}
	if len(answer) > 2*llm.MaxReply {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrTooLarge, Detail: "the answer is larger than 2 MiB"})
	}
	return m.read(answer)
}

// failed tells a status other than 200 in words.
func (m *model) failed(resp *http.Response, answer []byte, b body) error {
	said := llm.Short(words(answer), m.key)
	err := llm.Failure(resp.StatusCode, said)
	var e *llm.Error
	if errors.As(err, &e) {
		if after := llm.RetryAfter(resp.Header.Get("Retry-After"), m.now()); after > 0 {
			e.After = after
		}
		if resp.StatusCode >= 300 && resp.StatusCode < 400 {
			e.Kind, e.Do = llm.ErrConfig, "it redirects elsewhere: set base_url to where it is"
		}
	}
	if resp.StatusCode == 400 || resp.StatusCode == 422 || resp.StatusCode == 500 {
		switch {
		case b.MaxTokens > 0 && strings.Contains(said, "max_completion_tokens"):
			return &optionError{"max_tokens", err}
		case b.Format != nil && (strings.Contains(said, "response_format") || strings.Contains(said, "json_schema") || strings.Contains(said, "json_object") || strings.Contains(said, "grammar")):
			return &optionError{"response_format", err}
		}
	}
	return m.named(err)
}

// words finds the message in an error body, which every service nests its own
// way; failing that it returns the body.
func words(answer []byte) string {
	var nested struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &nested) == nil && nested.Error.Message != "" {
		return strings.TrimSpace(nested.Error.Type + " " + nested.Error.Message)
	}
	return string(answer)
}

// read takes the reply out of an answer.
func (m *model) read(answer []byte) (llm.Reply, error) {
	var a struct {
		Model   string `json:"model"`
		Choices []struct {
			Finish  string `json:"finish_reason"`
			Message struct {
				Content   string            `json:"content"`
				Refusal   string            `json:"refusal"`
				ToolCalls []json.RawMessage `json:"tool_calls"`
			} `json:"message"`
		} `json:"choices"`
		Usage struct {
			In   int     `json:"prompt_tokens"`
			Out  int     `json:"completion_tokens"`
			Cost float64 `json:"cost"`
		} `json:"usage"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return llm.Reply{}, m.named(&llm.Error{Kind: llm.ErrUnavailable, Detail: "it is not a service of this kind: " + llm.Short(string(answer), m.key), Do: "check base_url", Err: err})
	}
	if len(a.Choices) == 0 {
		return llm.Reply{}, m.named(llm.Failure(0, llm.Short(words(answer), m.key)))
	}
	c := a.Choices[0]
	reply := llm.Reply{Text: c.Message.Content, Model: a.Model, Usage: llm.Usage{In: a.Usage.In, Out: a.Usage.Out, CostUSD: a.Usage.Cost}}
	var e *llm.Error
	switch {
	case len(c.Message.ToolCalls) > 0:
		e = &llm.Error{Kind: llm.ErrTool}
	case c.Message.Refusal != "" || c.Finish == "content_filter":
		e = &llm.Error{Kind: llm.ErrRefused, Detail: llm.Short(c.Message.Refusal, m.key)}
	case c.Finish == "length":
		e = &llm.Error{Kind: llm.ErrTooLarge, Detail: "the answer was cut off at its token limit"}
	case len(reply.Text) > llm.MaxReply:
		e = &llm.Error{Kind: llm.ErrTooLarge, Detail: fmt.Sprintf("the reply has %d bytes; %d are allowed", len(reply.Text), llm.MaxReply)}
	default:
		return reply, nil
	}
	reply.Text = ""
	return reply, m.named(e)
}

// unreachable tells a failure of the connection in words; the caller's own
// cancellation stays what it is.
func (m *model) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return m.named(&llm.Error{Kind: llm.ErrUnavailable, Detail: llm.Short(err.Error(), m.key), Do: "check that the service runs and base_url is right", Err: err})
}

func (m *model) named(err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		e.Model = m.Name()
	}
	return err
}
