// Package openai reaches models through the chat completions interface that
// OpenAI made and Ollama, vLLM, LM Studio, llama.cpp and OpenRouter share. It
// needs one request of it, and so no vendor's library.
package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"stillso/internal/llm"
	"stillso/internal/llm/web"
)

// base is used when the settings name no base_url.
const base = "https://api.openai.com/v1"

var service = web.Service{
	Name: "openai", Base: base, Path: "/chat/completions", KeyVariable: "OPENAI_API_KEY",
	Missing: "set OPENAI_API_KEY, or name another variable in key_env, or set base_url",
}

// Adapter is the provider "openai".
func Adapter() llm.Adapter { return llm.Adapter{Name: service.Name, Find: find} }

func find(c llm.Config, env llm.Environment) (llm.Model, string, error) {
	m, err := service.Find(c, env)
	if err != nil {
		return nil, "", err
	}
	return &model{Model: m}, m.Model + " at " + m.At, nil
}

type model struct {
	*web.Model
	// plain is set when the service does not know response_format, newer when
	// it wants the newer name of max_tokens.
	plain, newer atomic.Bool
}

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
	if err := m.Fits(r); err != nil {
		return llm.Reply{}, err
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
			return reply, m.Named(unknown.err)
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
	b := body{Model: m.Model.Model, Messages: []message{{"system", r.System}, {"user", r.Text}}}
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
	header := map[string]string{}
	if m.Key != "" {
		header["Authorization"] = "Bearer " + m.Key
	}
	answer, err := m.Post(ctx, b, header)
	var status *web.Status
	if errors.As(err, &status) {
		return llm.Reply{}, failed(status, b)
	}
	if err != nil {
		return llm.Reply{}, err
	}
	return m.read(answer)
}

// failed tells whether it was an option that we can do without.
func failed(s *web.Status, b body) error {
	if s.Code == 400 || s.Code == 422 || s.Code == 500 {
		switch {
		case b.MaxTokens > 0 && strings.Contains(s.Said, "max_completion_tokens"):
			return &optionError{"max_tokens", s.Err}
		case b.Format != nil && (strings.Contains(s.Said, "response_format") || strings.Contains(s.Said, "json_schema") || strings.Contains(s.Said, "json_object") || strings.Contains(s.Said, "grammar")):
			return &optionError{"response_format", s.Err}
		}
	}
	return s.Err
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
		return llm.Reply{}, m.Strange(answer, err)
	}
	if len(a.Choices) == 0 {
		return llm.Reply{}, m.Named(llm.Failure(0, llm.Short(web.Words(answer), m.Key)))
	}
	c := a.Choices[0]
	reply := llm.Reply{Text: c.Message.Content, Model: a.Model, Usage: llm.Usage{In: a.Usage.In, Out: a.Usage.Out, CostUSD: a.Usage.Cost}}
	var e *llm.Error
	switch {
	case len(c.Message.ToolCalls) > 0:
		e = &llm.Error{Kind: llm.ErrTool}
	case c.Message.Refusal != "" || c.Finish == "content_filter":
		e = &llm.Error{Kind: llm.ErrRefused, Detail: llm.Short(c.Message.Refusal, m.Key)}
	case c.Finish == "length":
		e = &llm.Error{Kind: llm.ErrTooLarge, Detail: "the answer was cut off at its token limit"}
	case len(reply.Text) > llm.MaxReply:
		e = &llm.Error{Kind: llm.ErrTooLarge, Detail: fmt.Sprintf("the reply has %d bytes; %d are allowed", len(reply.Text), llm.MaxReply)}
	default:
		return reply, nil
	}
	reply.Text = ""
	return reply, m.Named(e)
}
