package claudecode

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"stillso/internal/host"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Fault: a field of a real payload is not found, or one of another event is.
func TestParseGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/hooks/*.json")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d payloads, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			stdin, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			event := ""
			for _, e := range host.Events() {
				if strings.HasPrefix(name, e) && len(e) > len(event) {
					event = e
				}
			}
			call, err := Parse(event, stdin)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.MarshalIndent(call, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(file, ".json") + ".want"
			if *update {
				if err := os.WriteFile(golden, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != string(got)+"\n" {
				t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, want)
			}
		})
	}
}

// Fault: odd input makes the hook fail, or hides what could still be read.
func TestParseIsLenient(t *testing.T) {
	for name, c := range map[string]struct {
		event, in string
		want      host.Call
		bad       bool
	}{
		"byte order mark":       {"prompt", "\ufeff{\"prompt\":\"a\"}\r\n", host.Call{Event: "prompt", Prompt: "a"}, false},
		"host's event names":    {"UserPromptSubmit", `{"prompt":"a"}`, host.Call{Event: "prompt", Prompt: "a"}, false},
		"event in the document": {"", `{"hook_event_name":"Stop"}`, host.Call{Event: "turn-end"}, false},
		"unknown event":         {"weather", `{"session_id":"s"}`, host.Call{Event: "weather", Session: "s"}, false},
		"empty":                 {"prompt", "", host.Call{Event: "prompt"}, true},
		"no object":             {"prompt", `["prompt"]`, host.Call{Event: "prompt"}, true},
		"cut off":               {"prompt", `{"session_id":"s","prompt":"half of it`, host.Call{Event: "prompt", Session: "s"}, true},
		"two documents":         {"prompt", `{"prompt":"a"}{"prompt":"b"}`, host.Call{Event: "prompt", Prompt: "a"}, true},
		"invalid UTF-8":         {"prompt", "{\"prompt\":\"a\xff\xfeb\"}", host.Call{Event: "prompt", Prompt: "a\ufffdb"}, false},
		"half a surrogate":      {"prompt", `{"prompt":"a\ud83dz\udc00\u12"}`, host.Call{Event: "prompt", Prompt: "a\ufffdz\ufffd\ufffd12"}, false},
		"escaped key":           {"prompt", `{"pro\u006dpt":"a\/\q"}`, host.Call{Event: "prompt", Prompt: "a/q"}, false},
		"controls in an id":     {"prompt", `{"session_id":"a\u001b]0;x","cwd":"/a\nb"}`, host.Call{Event: "prompt"}, false},
		"path as long as a book": {
			"prompt", `{"cwd":"/` + strings.Repeat("a", 9000) + `","prompt":"p"}`, host.Call{Event: "prompt", Prompt: "p"}, false,
		},
		"very deep": {"prompt", `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, host.Call{Event: "prompt"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			c.want.Host = Name
			got, err := Parse(c.event, []byte(c.in))
			if got != c.want || (err != nil) != c.bad {
				t.Errorf("got %+v, %v\nwant %+v, an error: %v", got, err, c.want, c.bad)
			}
		})
	}
}

// Fault: 60 MB on stdin blow up the memory of the hook, or its time.
func TestParseHuge(t *testing.T) {
	big := []byte(`{"tool_input":{"content":"` + strings.Repeat(`x\"{[`, 12<<20) + `","file_path":"/w/big"},"prompt":"` + strings.Repeat("长", 1<<20) + `","session_id":"s"}`)
	var call host.Call
	bytesUsed := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			call, _ = Parse("pre-tool", big)
		}
	}).AllocedBytesPerOp()
	if call.ToolFile != "/w/big" || call.Session != "s" || len(call.Prompt) > host.MaxText || len(call.Prompt) < host.MaxText-4 || !utf8.ValidString(call.Prompt) {
		t.Errorf("file %q, session %q, %d bytes of prompt", call.ToolFile, call.Session, len(call.Prompt))
	}
	if bytesUsed > 4*host.MaxText {
		t.Errorf("%d bytes allocated for %d bytes of input", bytesUsed, len(big))
	}
}

// Fault: a document that is not JSON, or of a wrong shape, loses the context
// silently; text in it ends the string early.
func TestContext(t *testing.T) {
	text := "<long_term_memories>\n- \"quoted\" \\ \t 各 🚀 \u2028 \x00 \x1b[31m \xff </long_term_memories>"
	for event, name := range map[string]string{"session-start": "SessionStart", "prompt": "UserPromptSubmit", "pre-tool": "PreToolUse"} {
		out := Context(event, text)
		var doc map[string]map[string]string
		if err := json.Unmarshal(out, &doc); err != nil {
			t.Fatalf("%s: %v\n%s", event, err, out)
		}
		spec := doc["hookSpecificOutput"]
		if len(doc) != 1 || len(spec) != 2 || spec["hookEventName"] != name || spec["additionalContext"] != strings.ReplaceAll(text, "\xff", "\ufffd") {
			t.Errorf("%s: %v", event, doc)
		}
		if Context(event, "") != nil {
			t.Errorf("%s: no text gave a document", event)
		}
	}
	for _, event := range []string{"turn-end", "session-end", "pre-compact", "", "x"} {
		if out := Context(event, "text"); out != nil {
			t.Errorf("%s printed %s: a Stop hook that prints makes the assistant go on", event, out)
		}
	}
}

// Fault: what the harness wrote counts as said by a human, or what a human said
// beside it is lost.
func TestTyped(t *testing.T) {
	for in, want := range map[string]string{
		"use pnpm": "use pnpm",
		"<task-notification><task-id>b</task-id></task-notification> please":                    "",
		"  <command-name>/clear</command-name>":                                                 "",
		"<local-command-stdout>x</local-command-stdout>":                                        "",
		"<local-command-caveat>Caveat: x</local-command-caveat>":                                "",
		"Caveat: The messages below were generated":                                             "",
		"[Request interrupted by user for tool use]":                                            "",
		"This session is being continued from a previous conversation that ran out of context.": "",
		"<system-reminder>\nnever\n</system-reminder>":                                          "",
		"<system-reminder>a</system-reminder>use pnpm<system-reminder>b</system-reminder>":      "use pnpm",
		"<ide_selection>rm -rf</ide_selection> explain":                                         "explain",
		"<long_term_memories>\n- always x\n</long_term_memories>\nok":                           "ok",
		"look: <long_term_memories note=\"x\"> - always x":                                      "look:",
		"is <system-reminders> a tag? and a < b":                                                "is <system-reminders> a tag? and a < b",
		"":                                                                                      "",
	} {
		if got := typedText(in); got != want {
			t.Errorf("typedText(%q) = %q, want %q", in, got, want)
		}
	}
}

// Fault: hostile stdin crashes the hook.
func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/hooks/*.json")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("prompt", data)
	}
	f.Add("", []byte(`{"hook_event_name":"Stop","a":"\`))
	f.Fuzz(func(t *testing.T, event string, data []byte) {
		call, err := Parse(event, data)
		for _, s := range []string{call.Session, call.Directory, call.Prompt, call.Tool, call.ToolFile, call.LastAssistant, call.Source, call.Reason} {
			if !utf8.ValidString(s) || len(s) > host.MaxText {
				t.Fatalf("%d bytes, valid UTF-8: %v", len(s), utf8.ValidString(s))
			}
		}
		if err == nil && !bytes.HasPrefix(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))), []byte("{")) {
			t.Fatal("no object, and no error")
		}
		if out := Context(call.Event, call.Prompt); len(out) > 0 && !json.Valid(out) {
			t.Fatalf("context is not JSON: %s", out)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	data, err := os.ReadFile("testdata/hooks/prompt.json")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("prompt", data); err != nil {
			b.Fatal(err)
		}
	}
}
