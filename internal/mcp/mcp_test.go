package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stillso"
)

// connect returns a client of a server over the desk.
func connect(t *testing.T, desk Desk, version string) *sdk.ClientSession {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	server := New(desk, "test", slog.New(slog.NewTextHandler(io.Discard, nil)))
	ss, err := server.Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	cs, err := client.Connect(t.Context(), here, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cs.Close(); err != nil {
			t.Error(err)
		}
		_ = ss.Wait()
	})
	return cs
}

// textOf returns the text of a result.
func textOf(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			b.WriteString(text.Text)
		}
	}
	return b.String()
}

// broken is a desk on which everything goes wrong or is hostile.
func broken() Desk {
	return Desk{
		Recall:   func(context.Context, string) (Recalled, error) { panic("recall broke with SECRET") },
		Remember: func(context.Context, Statement) (Done, error) { return Done{}, errors.New("no room for SECRET") },
		Search: func(context.Context, Query) ([]stillso.Found, error) {
			return []stillso.Found{{Memory: &stillso.Memory{ID: "a", Type: stillso.Fact, Content: "SECRET\x1b[2J 数据库 \"quoted\"\nline"}}, {}}, nil
		},
		Retire:  func(context.Context, string, string) (Done, error) { return Done{Text: "SECRET"}, nil },
		Why:     func(context.Context, string) (string, error) { return "SECRET", nil },
		Profile: func(context.Context) (string, error) { panic("SECRET") },
		Memory: func(context.Context, string) (*stillso.Memory, error) {
			return &stillso.Memory{ID: "a", Content: "SECRET", Tags: []string{"SECRET"}, Priority: 3}, nil
		},
		Clean: func(s string) string { return strings.NewReplacer("SECRET", "[gone]", "\x1b", "?").Replace(s) },
	}
}

// A panic in one request ended the server, and with it the memory of the whole
// session; and what had not been cleaned on its way in went out as it was.
func TestGate(t *testing.T) {
	cs := connect(t, broken(), "")
	for _, c := range []struct {
		tool string
		args map[string]any
		bad  bool
	}{
		{"recall", map[string]any{"prompt": "x"}, true},
		{"remember", map[string]any{"content": "x"}, true},
		{"search", map[string]any{"query": "x"}, false},
		{"retire", map[string]any{"id": "x"}, false},
		{"why", nil, false},
	} {
		r, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Fatalf("%s: %v", c.tool, err)
		}
		if r.IsError != c.bad {
			t.Errorf("%s: error %v, want %v: %s", c.tool, r.IsError, c.bad, textOf(r))
		}
		if all := textOf(r) + asJSON(t, r.StructuredContent); strings.Contains(all, "SECRET") || strings.Contains(all, "\x1b") || textOf(r) == "" {
			t.Errorf("%s: %q", c.tool, all)
		}
	}
	if _, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: ProfileURI}); err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("profile: %v", err)
	}
	r, err := cs.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: memoryURI + "a"})
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Contents[0].Text; strings.Contains(text, "SECRET") || !strings.Contains(text, `"priority":3`) || r.CacheScope != "private" {
		t.Errorf("memory: %s, cache %q", text, r.CacheScope)
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	doc, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(doc)
}

// Some hosts show a model the instructions only, others the descriptions only: in
// both must stand when to ask. And a tool that takes a path can be talked into
// reading a key.
func TestTools(t *testing.T) {
	for _, version := range []string{"", "2026-07-28", "2025-11-25", "2025-06-18"} {
		cs := connect(t, broken(), version)
		if got := cs.InitializeResult(); got == nil || version != "" && got.ProtocolVersion != version || !strings.Contains(got.Instructions, When) {
			t.Errorf("version %q: %+v", version, got)
		}
		list, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		said := false
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			said = said || strings.Contains(tool.Description, When)
			if reads := slices.Contains([]string{"recall", "search", "why"}, tool.Name); tool.Annotations == nil || tool.Annotations.ReadOnlyHint != reads {
				t.Errorf("%s: annotations %+v", tool.Name, tool.Annotations)
			}
			schema := asJSON(t, tool.InputSchema)
			if strings.Contains(schema, "path") || strings.Contains(schema, `"dir`) || !strings.Contains(schema, `"additionalProperties":false`) || tool.OutputSchema == nil {
				t.Errorf("%s: %s", tool.Name, schema)
			}
			if len(tool.Description) > 400 {
				t.Errorf("%s: the description has %d bytes; every session pays for it", tool.Name, len(tool.Description))
			}
		}
		slices.Sort(names)
		if want := []string{"recall", "remember", "retire", "search", "why"}; !slices.Equal(names, want) || !said {
			t.Errorf("version %q: tools %q, said %v", version, names, said)
		}
	}
}

// Arguments of a wrong type, none at all, or too long ended requests of peers with
// an error of the protocol that no model could learn from.
func TestArguments(t *testing.T) {
	cs := connect(t, broken(), "")
	for _, c := range []struct {
		tool string
		args any
	}{
		{"recall", nil},
		{"recall", map[string]any{"prompt": 7}},
		{"recall", map[string]any{"prompt": " \n"}},
		{"recall", map[string]any{"prompt": []string{"a"}}},
		{"recall", map[string]any{"prompt": strings.Repeat("x", maxArgument+1)}},
		{"search", map[string]any{"query": "x", "limit": "many"}},
		{"search", map[string]any{"query": "x", "limit": -1}},
		{"search", map[string]any{"query": "x", "limit": 1e9}},
		{"search", map[string]any{"query": "x", "path": "../../.ssh/id_rsa"}},
		{"retire", map[string]any{"id": nil}},
		{"retire", map[string]any{}},
		{"remember", map[string]any{"content": true}},
		{"why", map[string]any{"prompt": strings.Repeat("x", maxArgument+1)}},
		{"remember", []int{1}},
	} {
		r, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			t.Errorf("%s %.60v: %v", c.tool, c.args, err)
			continue
		}
		if !r.IsError || textOf(r) == "" {
			t.Errorf("%s %.60v: %q", c.tool, c.args, textOf(r))
		}
	}
	if _, err := cs.CallTool(t.Context(), &sdk.CallToolParams{Name: "forget"}); err == nil {
		t.Error("a tool that is not there answered")
	}
}

// One line that was no message ended the session, and with the end of its input a
// server forgot what it had been asked.
func TestStdio(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for name, junk := range map[string]string{
		"text": "garbage", "half": `{"jsonrpc":"2.0",`, "number": "5", "empty object": "{}", "text in JSON": `"x"`, "null": "null",
		"old form": `{"jsonrpc":"1.0","id":1,"method":"ping"}`, "bytes": "\xff\xfe\x00", "long": strings.Repeat("x", maxLine+100), "empty batch": "[]",
		"batch of junk": "[1,2]", "deep": strings.Repeat("[", 100000), "blank": " \r\n\n", "odd id": `{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		"no method": `{"jsonrpc":"2.0","id":9,"method":"no/such"}`, "odd params": `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":[1]}`,
		"odd arguments": `{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"recall","arguments":"x"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			in := hello + junk + "\n" + `{"jsonrpc":"2.0","id":"last","method":"tools/call","params":{"name":"search","arguments":{"query":"x"}}}` // without a line end
			var out bytes.Buffer
			server := New(broken(), "test", slog.New(slog.NewTextHandler(io.Discard, nil)))
			if err := server.Run(t.Context(), Stdio(strings.NewReader(in), &out)); err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("%v", err)
			}
			answers := map[any]bool{}
			for line := range strings.Lines(out.String()) {
				var a struct{ ID any }
				if err := json.Unmarshal([]byte(line), &a); err != nil {
					t.Errorf("%q: %v", line, err)
				}
				answers[a.ID] = true
			}
			if !answers[1.0] || !answers["last"] {
				t.Errorf("answers: %.300s", out.String())
			}
		})
	}
}

// Whatever comes in: what is let through is a message, and each line is one.
func FuzzLines(f *testing.F) {
	for _, text := range []string{"", "{}\n", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r\n5", "[1]\n\n", "\x00\n{\"jsonrpc\":\"2.0\",\"method\":\"x\"}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var answers bytes.Buffer
		out, err := io.ReadAll(&lineReader{in: bufio.NewReaderSize(bytes.NewReader(text), 16), errs: &answers})
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out) {
			if _, problem := fault(line); problem != "" {
				t.Fatalf("%q: %s", line, problem)
			}
		}
		for line := range bytes.Lines(answers.Bytes()) {
			if !json.Valid(line) {
				t.Fatalf("answer %q", line)
			}
		}
	})
}
