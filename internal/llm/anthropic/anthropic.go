// Package anthropic reaches models through Anthropic's Messages interface. It
// needs one request of it, and so no vendor's library.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"stillso/internal/llm"
	"stillso/internal/llm/web"
)

const (
	base      = "https://api.anthropic.com"
	version   = "2023-06-01" // of the interface; the service asks for it
	maxTokens = 8192         // the service wants a bound; our longest answers have some 2,000
)

var service = web.Service{
	Name: "anthropic", Base: base, Path: "/v1/messages", KeyVariable: "ANTHROPIC_API_KEY",
	Missing: "set ANTHROPIC_API_KEY, or name another variable in key_env",
}

// Adapter is the provider "anthropic".
func Adapter() llm.Adapter { return llm.Adapter{Name: service.Name, Find: find} }

func find(c llm.Config, env llm.Environment) (llm.Model, string, error) {
	m, err := service.Find(c, env)
	if err != nil {
		return nil, "", err
	}
	return &model{m}, m.Model + " at " + m.At, nil
}

type model struct{ *web.Model }

// Complete asks once.
func (m *model) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if err := m.Fits(r); err != nil {
		return llm.Reply{}, err
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	limit := r.MaxTokens
	if limit == 0 {
		limit = maxTokens
	}
	header := map[string]string{"Anthropic-Version": version}
	if m.Key != "" {
		header["X-Api-Key"] = m.Key
	}
	answer, err := m.Post(ctx, map[string]any{
		"model": m.Model.Model, "max_tokens": limit, "system": r.System, "messages": []message{{"user", r.Text}},
	}, header)
	var status *web.Status
	if errors.As(err, &status) {
		return llm.Reply{}, status.Err
	}
	if err != nil {
		return llm.Reply{}, err
	}
	return m.read(answer)
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
		return llm.Reply{}, m.Strange(answer, err)
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
		e = &llm.Error{Kind: llm.ErrRefused, Detail: llm.Short(text.String(), m.Key)}
	case a.Stop == "max_tokens":
		e = &llm.Error{Kind: llm.ErrTooLarge, Detail: "the answer was cut off at its token limit"}
	case text.Len() > llm.MaxReply:
		e = &llm.Error{Kind: llm.ErrTooLarge, Detail: fmt.Sprintf("the reply has %d bytes; %d are allowed", text.Len(), llm.MaxReply)}
	default:
		reply.Text = text.String()
		return reply, nil
	}
	return reply, m.Named(e)
}
