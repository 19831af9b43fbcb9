package main

import (
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stillso/internal/home"
)

// syncBuffer is what the server prints, read while it runs.
type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

type withToken struct{ token string }

func (w withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+w.token)
	return http.DefaultTransport.RoundTrip(r)
}

// startHTTP runs the server in a home of its own.
func startHTTP(t *testing.T) (url, token string) {
	t.Helper()
	dir, out := t.TempDir(), &syncBuffer{}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	a := &app{dir: home.Dir(dir), homeFlag: dir, std: streams{in: strings.NewReader(""), out: io.Discard, err: out, env: func(string) string { return "" }, clock: time.Now}}
	go func() {
		_, err := (&mcpHTTPCmd{Dir: dir}).run(ctx, a)
		done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	for range 200 {
		if m := regexp.MustCompile(`http://\S+/mcp`).FindString(out.String()); m != "" {
			url = m
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	text, err := os.ReadFile(a.tokenFile())
	if err != nil || url == "" {
		t.Fatalf("no server: %v, %q", err, out.String())
	}
	if info, err := os.Stat(a.tokenFile()); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others can read the token: %v, %v", info, err)
	}
	return url, strings.TrimSpace(string(text))
}

// Fault: memory servers on a port of the machine answered whoever asked, among them
// any page in the browser (CORS, DNS rebinding, forms).
func TestHTTPRefuses(t *testing.T) {
	url, token := startHTTP(t)
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/mcp")
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	good := map[string]string{"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
	for _, tt := range []struct {
		name, method, host string
		set                map[string]string
		want               int
	}{
		{"no token", "POST", host, map[string]string{"Authorization": ""}, 401},
		{"wrong token", "POST", host, map[string]string{"Authorization": "Bearer x"}, 401},
		{"token as another scheme", "POST", host, map[string]string{"Authorization": "Basic " + token}, 401},
		{"another name for this machine", "POST", "evil.example:80", nil, 403},
		{"rebound name with our port", "POST", "evil.example" + host[strings.LastIndex(host, ":"):], nil, 403},
		{"page of another site", "POST", host, map[string]string{"Origin": "https://evil.example"}, 403},
		{"page without an origin", "POST", host, map[string]string{"Origin": "null"}, 403},
		{"page that the browser marks", "POST", host, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"form", "POST", host, map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, 415},
		{"text", "POST", host, map[string]string{"Content-Type": "text/plain"}, 415},
		{"read", "GET", host, nil, 405},
		{"preflight", "OPTIONS", host, map[string]string{"Authorization": "", "Origin": "https://evil.example"}, 403},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), tt.method, url, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Host = tt.host
			for k, v := range good {
				r.Header.Set(k, v)
			}
			for k, v := range tt.set {
				r.Header.Set(k, v)
			}
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close() //nolint:errcheck // it was only read
			if res.StatusCode != tt.want || res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("status %d, want %d; headers %v", res.StatusCode, tt.want, res.Header)
			}
		})
	}
}

// The client of the protocol's own library saves and recalls over HTTP.
func TestHTTPServes(t *testing.T) {
	url, token := startHTTP(t)
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken{token}}, DisableStandaloneSSE: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // the test is over
	call := func(tool string, args map[string]any) string {
		res, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
		if err != nil || res.IsError {
			t.Fatalf("%s: %v, %+v", tool, err, res)
		}
		text, _ := res.Content[0].(*sdk.TextContent)
		return text.Text
	}
	call("remember", map[string]any{"content": "The ferry timetable is imported on Sundays at 03:00."})
	if got := call("recall", map[string]any{"prompt": "when is the ferry timetable imported?"}); !strings.Contains(got, "Sundays at 03:00") {
		t.Errorf("recalled %q", got)
	}
}
