package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stillso/internal/llm"
	"stillso/internal/llm/openai"
)

const key = "sk-hunter2000"

func environment() llm.Environment {
	return llm.Environment{
		Environ: []string{"MY_KEY=" + key, "OPENAI_API_KEY=sk-other"},
		Clock:   llm.Clock{Now: func() time.Time { return time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC) }},
	}
}

func find(t *testing.T, c llm.Config) llm.Model {
	t.Helper()
	m, where, err := openai.Adapter().Find(c, environment())
	if err != nil || where == "" || strings.Contains(where, key) {
		t.Fatal(where, err)
	}
	return m
}

const good = `{"model":"qwen3:8b","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"{\"a\":1}"}}],"usage":{"prompt_tokens":60,"completion_tokens":5,"cost":0.1}}`

// Guards against a request that a service of this kind does not understand.
func TestRequest(t *testing.T) {
	var got map[string]any
	var head http.Header
	var path string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = nil
		_ = json.NewDecoder(r.Body).Decode(&got)
		head, path = r.Header, r.URL.Path
		_, _ = io.WriteString(w, good)
	}))
	defer s.Close()
	m := find(t, llm.Config{Model: "qwen3:8b", BaseURL: s.URL + "/v1/", KeyEnv: "MY_KEY"})
	reply, err := m.Complete(t.Context(), llm.Request{System: "S", Text: "T", MaxTokens: 99, Schema: json.RawMessage(`{"type":"object"}`)})
	if err != nil || reply.Text != `{"a":1}` || reply.Model != "qwen3:8b" || reply.Usage != (llm.Usage{In: 60, Out: 5, CostUSD: 0.1}) {
		t.Errorf("got %+v, %v", reply, err)
	}
	text, _ := json.Marshal(got)
	want := `{"max_tokens":99,"messages":[{"content":"S","role":"system"},{"content":"T","role":"user"}],"model":"qwen3:8b","response_format":{"json_schema":{"name":"answer","schema":{"type":"object"}},"type":"json_schema"}}`
	if string(text) != want || path != "/v1/chat/completions" || head.Get("Authorization") != "Bearer "+key {
		t.Errorf("sent %s to %s with %v", text, path, head)
	}
	m = find(t, llm.Config{Model: "m", BaseURL: s.URL})
	if _, err := m.Complete(t.Context(), llm.Request{}); err != nil || head.Get("Authorization") != "" {
		t.Errorf("a key that nobody named was sent: %v, %v", head, err)
	}
}

// Guards against a service without response_format, or with the newer name of
// max_tokens, being of no use, and against asking it twice each time.
func TestOptions(t *testing.T) {
	calls := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		body, _ := io.ReadAll(r.Body)
		for _, o := range []string{"response_format", `"max_tokens"`} {
			if strings.Contains(string(body), o) {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"message":"unsupported: response_format; use max_completion_tokens"}}`)
				return
			}
		}
		_, _ = io.WriteString(w, good)
	}))
	defer s.Close()
	m := find(t, llm.Config{Model: "m", BaseURL: s.URL})
	for range 2 {
		if _, err := m.Complete(t.Context(), llm.Request{MaxTokens: 9}); err != nil {
			t.Fatal(err)
		}
	}
	if calls != 4 {
		t.Errorf("%d calls, want 3 and then 1", calls)
	}
}

// Guards against an error being stored as an answer, an endless wait, and a key
// in an error message.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		head   string
		want   error
		says   string
	}{
		{"key", 401, `{"error":{"message":"Incorrect API key provided: ` + key + `"}}`, "", llm.ErrNotLoggedIn, "[key]"},
		{"limit", 429, `{"error":{"message":"slow down"}}`, "20", llm.ErrLimited, "try again in 20s"},
		{"credit", 402, `{"error":{"message":"Insufficient credits"}}`, "", llm.ErrLimited, "credit"},
		{"no such model", 404, `{"error":{"message":"model not found"}}`, "", llm.ErrConfig, "check model"},
		{"context length", 400, `{"error":{"message":"maximum context length is 8192 tokens"}}`, "", llm.ErrTooLarge, "context length"},
		{"server", 500, "<html>oops</html>", "", llm.ErrUnavailable, "status 500"},
		{"redirect", 302, "", "", llm.ErrConfig, "redirects"},
		{"other service", 200, "<html>hotel login</html>", "", llm.ErrUnavailable, "base_url"},
		{"error in a good status", 200, `{"error":{"code":429,"message":"Rate limit exceeded"}}`, "", llm.ErrLimited, "Rate limit"},
		{"no choice", 200, `{"choices":[]}`, "", llm.ErrUnavailable, ""},
		{"cut off", 200, `{"choices":[{"finish_reason":"length","message":{"content":"{\"a"}}]}`, "", llm.ErrTooLarge, "cut off"},
		{"refusal", 200, `{"choices":[{"message":{"refusal":"I can't"}}]}`, "", llm.ErrRefused, "I can't"},
		{"filter", 200, `{"choices":[{"finish_reason":"content_filter","message":{}}]}`, "", llm.ErrRefused, ""},
		{"tool", 200, `{"choices":[{"message":{"tool_calls":[{}]}}]}`, "", llm.ErrTool, ""},
		{"too large", 200, `{"choices":[{"message":{"content":"` + strings.Repeat("x", llm.MaxReply+1) + `"}}]}`, "", llm.ErrTooLarge, ""},
		{"megabytes", 200, strings.Repeat("x", 5<<20), "", llm.ErrTooLarge, "2 MiB"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.head)
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		m := find(t, llm.Config{Model: "m", BaseURL: s.URL, KeyEnv: "MY_KEY"})
		reply, err := m.Complete(t.Context(), llm.Request{})
		s.Close()
		if !errors.Is(err, c.want) || reply.Text != "" || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: got %.50q, %v; want %v", c.name, reply.Text, err, c.want)
		}
	}
}

// Guards against a service that hangs, and one that is not there.
func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	m := find(t, llm.Config{Model: "m", BaseURL: s.URL})
	if _, err := llm.WithTimeout(m, 50*time.Millisecond).Complete(t.Context(), llm.Request{}); !errors.Is(err, llm.ErrTimeout) {
		t.Errorf("hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Complete(ctx, llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	s.Close()
	if _, err := m.Complete(t.Context(), llm.Request{}); !errors.Is(err, llm.ErrUnavailable) || !llm.Retryable(err) {
		t.Errorf("gone: %v", err)
	}
}

// Guards against settings that would give a key or a conversation away.
func TestSettings(t *testing.T) {
	for name, c := range map[string]llm.Config{
		"no model":              {BaseURL: "http://127.0.0.1/v1"},
		"variable is not set":   {Model: "m", KeyEnv: "ABSENT"},
		"key over plain http":   {Model: "m", BaseURL: "http://example.com/v1", KeyEnv: "MY_KEY"},
		"password in the URL":   {Model: "m", BaseURL: "https://u:p@example.com/v1"},
		"not http":              {Model: "m", BaseURL: "file:///etc/passwd"},
		"query":                 {Model: "m", BaseURL: "https://example.com/v1?key=1"},
		"looks like a loopback": {Model: "m", BaseURL: "http://127.0.0.1.example.com/v1", KeyEnv: "MY_KEY"},
	} {
		if _, _, err := openai.Adapter().Find(c, environment()); !errors.Is(err, llm.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
