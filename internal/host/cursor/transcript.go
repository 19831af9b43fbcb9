package cursor

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stillso"
	"stillso/internal/digest"
	"stillso/internal/host"
)

// Format returns how this host writes the transcript of a session. Its rows name
// neither the session nor a time: they get both from the caller. A prompt that
// was typed twice, word for word, counts once.
func Format(session string, at time.Time) host.Format {
	return host.Format{
		Files: "a .jsonl file from ~/.cursor/projects/PROJECT/agent-transcripts",
		MayMatter: func(line []byte) bool {
			return bytes.Contains(line, []byte(`"user"`)) || bytes.Contains(line, []byte(`"assistant"`))
		},
		Row: func(rd *host.Reader, doc []byte) error { return takeRow(rd, doc, session, at) },
	}
}

// ReadFile reads a transcript from a position on: see host.Format. The session is
// the name of the file, the time of its turns that of its last change.
func ReadFile(path string, from host.Position, emit func(stillso.Turn) error) (host.Reading, error) {
	var at time.Time
	if info, err := os.Stat(path); err == nil {
		at = info.ModTime().UTC()
	}
	return Format(strings.TrimSuffix(filepath.Base(path), ".jsonl"), at).ReadFile(path, from, emit)
}

func takeRow(rd *host.Reader, doc []byte, session string, at time.Time) error {
	var role string
	var message []byte
	err := host.Fields(doc, func(key, value []byte) bool {
		switch string(key) {
		case "role":
			role = host.Line(value)
		case "message":
			message = value
		}
		return true
	})
	if err != nil {
		return err
	}
	if role != "user" && role != "assistant" || host.Kind(message) != '{' {
		return nil
	}
	rd.Known()
	rd.Facts(session, "", "", "", at)
	sum := digest.New()
	_, _ = sum.Write([]byte(session + "\x00")) // a hash does not fail
	_, _ = sum.Write(doc)
	id := "cursor." + hex.EncodeToString(sum.Sum(nil)[:16])
	if !rd.New(id) {
		return nil
	}
	text, tools := parts(host.Member(message, "content"), role == "assistant")
	turn := stillso.Turn{ID: id, Session: session, Speaker: stillso.Typed, At: at}
	var turns []stillso.Turn
	if role == "assistant" {
		turn.Speaker, turn.Text = stillso.Assistant, strings.TrimSpace(host.Without(text, host.OwnFence))
	} else if turn.Text = typed(text); turn.Text == "" {
		rd.Harness++
	}
	if turn.Text != "" {
		turns = append(turns, turn)
	}
	for i, line := range tools {
		turn.ID, turn.Speaker, turn.Text = fmt.Sprintf("%s/%d", id, i+1), stillso.Tool, line
		turns = append(turns, turn)
	}
	return rd.Say(id, role == "assistant", turns...)
}

// parts reads the parts of a message: its text, and a line for each tool used.
func parts(content []byte, assistant bool) (text string, tools []string) {
	limit := host.MaxText
	if assistant {
		limit = host.MaxAssistant
	}
	if host.Kind(content) == '"' {
		return host.Text(content, limit), nil
	}
	if host.Kind(content) != '[' {
		return "", nil
	}
	_ = host.Elements(content, func(part []byte) bool { // the structure was checked with the row
		switch kind := host.Line(host.Member(part, "type")); {
		case kind == "text":
			text = host.Join(text, host.Text(host.Member(part, "text"), limit), limit)
		case kind == "tool_use" && assistant:
			tools = append(tools, host.Use(host.Line(host.Member(part, "name")), host.Member(part, "input")))
		}
		return true
	})
	return text, tools
}
