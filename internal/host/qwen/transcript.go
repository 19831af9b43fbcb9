package qwen

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"stillso"
	"stillso/internal/host"
)

// Format returns how this host writes its transcripts.
func Format() host.Format {
	return host.Format{
		Files: "a .jsonl file from ~/.qwen/projects/PROJECT/chats",
		MayMatter: func(line []byte) bool {
			return bytes.Contains(line, []byte(`"message"`))
		},
		Row: takeRow,
	}
}

// ReadFile reads a transcript from a position on: see host.Format.
func ReadFile(path string, from host.Position, emit func(stillso.Turn) error) (host.Reading, error) {
	return Format().ReadFile(path, from, emit)
}

// row is one document of a transcript.
type row struct {
	id, kind, session, cwd, branch, version string
	at                                      time.Time
	message, payload                        []byte
	harness                                 bool
}

func parseRow(doc []byte) (row, error) {
	var r row
	err := host.Fields(doc, func(key, value []byte) bool {
		switch string(key) {
		case "uuid":
			r.id = host.Line(value)
		case "type":
			r.kind = host.Line(value)
		case "sessionId":
			r.session = host.Line(value)
		case "cwd":
			r.cwd = host.Line(value)
		case "gitBranch":
			r.branch = host.Line(value)
		case "version":
			r.version = host.Line(value)
		case "timestamp":
			r.at, _ = time.Parse(time.RFC3339, host.Line(value)) // an unreadable time is no time
		case "message":
			r.message = value
		case "systemPayload":
			r.payload = value
		case "isSidechain", "isMeta":
			r.harness = r.harness || host.True(value)
		case "agentId", "agentName", "subagentName":
			r.harness = r.harness || host.Line(value) != ""
		}
		return true
	})
	r.at = r.at.UTC()
	return r, err
}

func takeRow(rd *host.Reader, doc []byte) error {
	r, err := parseRow(doc)
	if err != nil {
		return err
	}
	if r.id != "" && r.session != "" {
		rd.Known()
	}
	switch r.kind {
	case "user", "assistant", "tool_result":
	default:
		return nil
	}
	if r.harness || r.id == "" {
		rd.Harness++
		return nil
	}
	rd.Facts(r.session, r.cwd, r.branch, r.version, r.at)
	if !rd.New(r.id) {
		return nil
	}
	turns := turnsOf(&r)
	if len(turns) == 0 && r.kind == "user" {
		rd.Harness++
	}
	return rd.Say(r.id, r.kind == "assistant", turns...)
}

// turnsOf reads the parts of a message. Of a user's only the first text was
// typed: behind it stands what hooks and files of @ added.
func turnsOf(r *row) (turns []stillso.Turn) {
	add := func(speaker stillso.Speaker, text string) {
		if text == "" {
			return
		}
		t := stillso.Turn{ID: r.id, Session: r.session, Speaker: speaker, Text: text, At: r.at, Directory: r.cwd}
		if len(turns) > 0 {
			t.ID = fmt.Sprintf("%s/%d", r.id, len(turns))
		}
		turns = append(turns, t)
	}
	parts := host.Member(r.message, "parts")
	if host.Kind(parts) != '[' {
		return nil
	}
	text, seen := "", false
	var lines []string
	_ = host.Elements(parts, func(part []byte) bool { // the structure was checked with the row
		if call := host.Member(part, "functionCall"); call != nil {
			lines = append(lines, host.Use(host.Line(host.Member(call, "name")), host.Member(call, "args")))
		}
		if response := host.Member(part, "functionResponse", "response"); response != nil {
			lines = append(lines, outcome(response))
		}
		words := host.Member(part, "text")
		if words == nil || host.True(host.Member(part, "thought")) {
			return true
		}
		if r.kind == "assistant" {
			text = host.Join(text, host.Text(words, host.MaxAssistant), host.MaxAssistant)
		} else if !seen {
			text, seen = host.Text(words, host.MaxText), true
		}
		return true
	})
	switch r.kind {
	case "assistant":
		add(stillso.Assistant, strings.TrimSpace(host.Without(text, host.OwnFence)))
	case "user":
		if shown := host.Member(r.payload, "displayText"); host.Kind(shown) == '"' {
			text = host.Text(shown, host.MaxText)
		}
		add(stillso.Typed, typed(text))
	}
	for _, l := range lines {
		add(stillso.Tool, l)
	}
	return turns
}

func outcome(response []byte) string {
	if v := host.Member(response, "error"); host.Kind(v) == '"' {
		return host.Output(true, v)
	}
	if v := host.Member(response, "output"); host.Kind(v) == '"' {
		return host.Output(false, v)
	}
	return ""
}
