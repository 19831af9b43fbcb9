package gemini

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stillso"
	"stillso/internal/host"
)

// Format returns how this host writes its transcripts: a log of messages, each
// with an id, and of updates of the list of messages. A message that is updated
// stands there again; what it said before is not handed out twice.
func Format() host.Format {
	return host.Format{
		Files: "a session-….jsonl file from ~/.gemini/tmp/PROJECT/chats",
		MayMatter: func(line []byte) bool {
			return bytes.Contains(line, []byte(`"user"`)) || bytes.Contains(line, []byte(`"gemini"`)) || bytes.Contains(line, []byte(`"sessionId"`))
		},
		Row: takeRow, Head: true,
	}
}

// ReadFile reads a transcript from a position on: see host.Format. Where the
// session ran stands in a file beside the folder of the chats.
func ReadFile(path string, from host.Position, emit func(stillso.Turn) error) (host.Reading, error) {
	dir := ""
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(filepath.Dir(path)), ".project_root")); err == nil && len(text) < host.MaxField { // #nosec G304 -- a file of the host
		if dir = strings.TrimSpace(string(text)); !filepath.IsAbs(dir) {
			dir = ""
		}
	}
	got, err := Format().ReadFile(path, from, func(t stillso.Turn) error {
		t.Directory = dir
		return emit(t)
	})
	if got.Directory == "" {
		got.Directory = dir
	}
	return got, err
}

// row is one document: the header, a message or an update.
type row struct {
	id, kind, session, who string
	at                     time.Time
	content, display       []byte
	calls, set             []byte
}

func parseRow(doc []byte) (row, error) {
	var r row
	err := host.Fields(doc, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			r.id = host.Line(value)
		case "type":
			r.who = host.Line(value)
		case "kind":
			r.kind = host.Line(value)
		case "sessionId":
			r.session = host.Line(value)
		case "timestamp", "startTime":
			r.at, _ = time.Parse(time.RFC3339, host.Line(value)) // an unreadable time is no time
		case "content":
			r.content = value
		case "displayContent":
			r.display = value
		case "toolCalls":
			r.calls = value
		case "$set":
			r.set = value
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
	if r.session != "" { // the header
		rd.Known()
		rd.Facts(r.session, "", "", "", r.at)
		rd.Nobody = rd.Nobody || r.kind == "subagent"
	}
	if host.Kind(r.set) == '{' {
		return takeUpdate(rd, r.set)
	}
	return takeMessage(rd, &r)
}

// takeUpdate reads the list of messages that replaces the one before.
func takeUpdate(rd *host.Reader, set []byte) (failed error) {
	_ = host.Fields(set, func(key, value []byte) bool { // the structure was checked with the row
		if string(key) == "messages" && host.Kind(value) == '[' {
			_ = host.Elements(value, func(message []byte) bool {
				if r, err := parseRow(message); err == nil && host.Kind(message) == '{' {
					failed = takeMessage(rd, &r)
				}
				return failed == nil
			})
		}
		return failed == nil
	})
	return failed
}

func takeMessage(rd *host.Reader, r *row) error {
	if r.id == "" || r.who != "user" && r.who != "gemini" {
		return nil
	}
	rd.Known()
	rd.Facts("", "", "", "", r.at)
	turn := stillso.Turn{ID: r.id, Session: rd.Session, At: r.at, Speaker: stillso.Typed}
	if r.who == "user" {
		content := r.display
		if len(content) == 0 || string(content) == "null" {
			content = r.content
		}
		if !rd.Nobody {
			turn.Text = typed(texts(content, host.MaxText))
		}
		if turn.Text == "" {
			rd.Harness++
			return nil
		}
		if !rd.New(turn.ID) {
			return nil
		}
		return rd.Say("", false, turn)
	}
	turn.Speaker = stillso.Assistant
	turn.Text = strings.TrimSpace(host.Without(texts(r.content, host.MaxAssistant), host.OwnFence))
	var turns []stillso.Turn
	if turn.Text != "" && rd.New(turn.ID) {
		turns = append(turns, turn)
	}
	for i, line := range tools(r.calls) {
		turn.ID, turn.Speaker, turn.Text = fmt.Sprintf("%s/%d", r.id, i+1), stillso.Tool, line
		if line != "" && rd.New(turn.ID) {
			turns = append(turns, turn)
		}
	}
	return rd.Say(r.id, true, turns...)
}

// texts joins the text parts of a content: a string, or a list of parts.
func texts(content []byte, limit int) (text string) {
	switch host.Kind(content) {
	case '"':
		return host.Text(content, limit)
	case '[':
		_ = host.Elements(content, func(part []byte) bool { // the structure was checked with the row
			text = host.Join(text, texts(part, limit), limit)
			return true
		})
	case '{':
		_ = host.Fields(content, func(key, value []byte) bool {
			switch string(key) {
			case "text":
				text = host.Text(value, limit)
			case "thought":
				if host.True(value) {
					text = ""
					return false
				}
			}
			return true
		})
	}
	return text
}

// tools says what was called, and what came of it, in two lines each: the use
// and the outcome stand at the same places however often the message is written.
func tools(calls []byte) (lines []string) {
	if host.Kind(calls) != '[' {
		return nil
	}
	_ = host.Elements(calls, func(call []byte) bool {
		var name, status string
		var args, result []byte
		if host.Kind(call) == '{' {
			_ = host.Fields(call, func(key, value []byte) bool {
				switch string(key) {
				case "name":
					name = host.Line(value)
				case "status":
					status = host.Line(value)
				case "args":
					args = value
				case "result":
					result = value
				}
				return true
			})
		}
		lines = append(lines, host.Use(name, args), outcome(result, status == "error"))
		return true
	})
	return lines
}

// outcome reduces a result to one line: a string, or parts that hold one.
func outcome(result []byte, failed bool) string {
	switch host.Kind(result) {
	case '"':
		return host.Output(failed, result)
	case '[':
		var values [][]byte
		_ = host.Elements(result, func(part []byte) bool {
			for _, path := range [...]string{"output", "error"} {
				if v := host.Member(part, "functionResponse", "response", path); host.Kind(v) == '"' {
					values = append(values, v)
					failed = failed || path == "error"
				}
			}
			return true
		})
		return host.Output(failed, values...)
	}
	return ""
}
