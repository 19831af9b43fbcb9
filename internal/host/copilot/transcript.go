package copilot

import (
	"bytes"
	"strings"
	"time"

	"stillso"
	"stillso/internal/host"
)

// Format returns how this host writes its transcripts: a log of events.
func Format() host.Format {
	return host.Format{
		Files: "an events.jsonl file from ~/.copilot/session-state",
		MayMatter: func(line []byte) bool {
			for _, kind := range [...]string{`"user.message"`, `"assistant.message"`, `"tool.execution_complete"`, `"tool.execution_start"`, `"session.start"`, `"session.resume"`} {
				if bytes.Contains(line, []byte(kind)) {
					return true
				}
			}
			return false
		},
		Row: takeRow, Head: true,
	}
}

// ReadFile reads a transcript from a position on: see host.Format.
func ReadFile(path string, from host.Position, emit func(stillso.Turn) error) (host.Reading, error) {
	return Format().ReadFile(path, from, emit)
}

func takeRow(rd *host.Reader, doc []byte) error {
	var kind, id string
	var at time.Time
	var data []byte
	subagent := false
	err := host.Fields(doc, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = host.Line(value)
		case "id":
			id = host.Line(value)
		case "timestamp":
			at, _ = time.Parse(time.RFC3339, host.Line(value)) // an unreadable time is no time
		case "data":
			data = value
		case "agentId":
			subagent = host.Line(value) != ""
		}
		return true
	})
	if err != nil {
		return err
	}
	at = at.UTC()
	if host.Kind(data) != '{' || id == "" || !strings.Contains(kind, ".") {
		return nil
	}
	rd.Known()
	switch kind {
	case "session.start", "session.resume":
		rd.Facts(host.Line(host.Member(data, "sessionId")), host.Line(host.Member(data, "context", "cwd")),
			host.Line(host.Member(data, "context", "branch")), host.Line(host.Member(data, "copilotVersion")), at)
		return nil
	case "user.message", "assistant.message", "tool.execution_start", "tool.execution_complete":
	default:
		return nil
	}
	rd.Facts("", "", "", "", at)
	// Of a sub-agent the events name the tool call that it works for.
	if subagent || host.Line(host.Member(data, "parentToolCallId")) != "" {
		rd.Harness++
		return nil
	}
	turn := stillso.Turn{ID: id, Session: rd.Session, At: at, Directory: rd.Here}
	switch kind {
	case "user.message":
		turn.Speaker = stillso.Typed
		if source := host.Line(host.Member(data, "source")); source == "" || source == "user" {
			turn.Text = typed(host.Text(host.Member(data, "content"), host.MaxText))
		}
		if turn.Text == "" {
			rd.Harness++
		}
	case "assistant.message":
		turn.Speaker = stillso.Assistant
		turn.Text = strings.TrimSpace(host.Without(host.Text(host.Member(data, "content"), host.MaxAssistant), host.OwnFence))
	case "tool.execution_start":
		turn.Speaker = stillso.Tool
		turn.Text = host.Use(host.Line(host.Member(data, "toolName")), host.Member(data, "arguments"))
	case "tool.execution_complete":
		turn.Speaker = stillso.Tool
		turn.Text = outcome(data)
	}
	if turn.Text == "" || !rd.New(id) {
		return nil
	}
	return rd.Say("", turn.Speaker == stillso.Assistant, turn)
}

func outcome(data []byte) string {
	failed := string(host.Member(data, "success")) == "false"
	for _, v := range [...][]byte{host.Member(data, "result", "content"), host.Member(data, "result"), host.Member(data, "error", "message"), host.Member(data, "error")} {
		if host.Kind(v) == '"' {
			return host.Output(failed, v)
		}
	}
	return ""
}
