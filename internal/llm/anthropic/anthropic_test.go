package anthropic_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"stillso/internal/llm"
	"stillso/internal/llm/anthropic"
)

const key = "sk-ant-hunter2000"

func find(t *testing.T, c llm.Config) (llm.Model, error) {
	t.Helper()
	m, _, err := anthropic.Adapter().Find(c, llm.Environment{
		Environ: []string{"MY_KEY=" + key}, Clock: llm.Clock{Now: func() time.Time { return time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC) }},
	})
	return m, err
}

// Guards against a request that the service does not understand, and costs that
// are not counted.
func TestRequest(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var got map[string]any
		_ = json.NewDecoder(r.Body).Decode(&got)
		text, _ := json.Marshal(got)
		if string(text) != `{"max_tokens":8192,"messages":[{"content":"T","role":"user"}],"model":"m","system":"S"}` || r.URL.Path != "/v1/messages" ||
			r.Header.Get("X-Api-Key") != key || r.Header.Get("Anthropic-Version") == "" {
			t.Errorf("sent %s to %s with %v", text, r.URL.Path, r.Header)
		}
		_, _ = io.WriteString(w, `{"type":"message","model":"m-1","stop_reason":"end_turn","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"{\"a\""},{"type":"text","text":":1}"}],"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":5}}`)
	}))
	defer s.Close()
	m, err := find(t, llm.Config{Model: "m", BaseURL: s.URL, KeyEnv: "MY_KEY"})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := m.Complete(t.Context(), llm.Request{System: "S", Text: "T"})
	if err != nil || reply.Text != `{"a":1}` || reply.Model != "m-1" || reply.Usage != (llm.Usage{In: 60, Out: 5}) {
		t.Errorf("got %+v, %v", reply, err)
	}
}

// Guards against an error being stored as an answer and a key in a message.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		head   string
		want   error
		says   string
	}{
		{"key", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key ` + key + `"}}`, "", llm.ErrNotLoggedIn, "[key]"},
		{"limit", 429, `{"type":"error","error":{"type":"rate_limit_error","message":"slow"}}`, "Sat, 14 Mar 2026 09:00:30 GMT", llm.ErrLimited, "try again in 30s"},
		{"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, "", llm.ErrLimited, "overloaded"},
		{"credit", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`, "", llm.ErrLimited, "credit"},
		{"no such model", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: m"}}`, "", llm.ErrConfig, "check model"},
		{"too large", 413, "", "", llm.ErrTooLarge, ""},
		{"redirect", 307, "", "", llm.ErrConfig, "redirects"},
		{"server", 502, "bad gateway", "", llm.ErrUnavailable, "bad gateway"},
		{"other service", 200, `{"choices":[]}`, "", llm.ErrUnavailable, "base_url"},
		{"refusal", 200, `{"type":"message","stop_reason":"refusal","content":[{"type":"text","text":"no"}]}`, "", llm.ErrRefused, "no"},
		{"cut off", 200, `{"type":"message","stop_reason":"max_tokens","content":[{"type":"text","text":"{"}]}`, "", llm.ErrTooLarge, "cut off"},
		{"tool", 200, `{"type":"message","stop_reason":"tool_use","content":[{"type":"tool_use"}]}`, "", llm.ErrTool, ""},
		{"megabytes", 200, strings.Repeat("x", 5<<20), "", llm.ErrTooLarge, ""},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", c.head)
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}))
		m, err := find(t, llm.Config{Model: "m", BaseURL: s.URL, KeyEnv: "MY_KEY"})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := m.Complete(t.Context(), llm.Request{})
		s.Close()
		if !errors.Is(err, c.want) || reply.Text != "" || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: got %.50q, %v; want %v", c.name, reply.Text, err, c.want)
		}
	}
}

// Guards against a service that hangs or is gone, and against calls without a key.
func TestUnreachable(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	m, err := find(t, llm.Config{Model: "m", BaseURL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := llm.WithTimeout(m, 50*time.Millisecond).Complete(t.Context(), llm.Request{}); !errors.Is(err, llm.ErrTimeout) {
		t.Errorf("hangs: %v", err)
	}
	s.Close()
	if _, err := m.Complete(t.Context(), llm.Request{}); !errors.Is(err, llm.ErrUnavailable) {
		t.Errorf("gone: %v", err)
	}
	for _, c := range []llm.Config{{Model: "m"}, {KeyEnv: "MY_KEY"}, {Model: "m", KeyEnv: "ABSENT"}} {
		if _, err := find(t, c); !errors.Is(err, llm.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
