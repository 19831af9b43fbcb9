package claudecode

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"stillso"
	"stillso/internal/digest"
	"stillso/internal/host"
)

// row is one document of a transcript, as far as it matters here. Values are
// slices of the line, as they stand there.
type row struct {
	kind, uuid, session, cwd, branch, version string
	at                                        time.Time
	message                                   []byte
	// known is set if the row has the shape of this host's rows at all.
	known bool
	// harness is set if the host or a sub-agent wrote it, whatever its kind.
	harness bool
	// fromTool is set if its text comes from a tool.
	fromTool bool
}

// mayMatter is the filter on bytes that spares most rows the decoding: it is
// true for every row whose type is user or assistant, and for few others.
func mayMatter(line []byte) bool {
	return bytes.Contains(line, []byte(`"user"`)) || bytes.Contains(line, []byte(`"assistant"`))
}

// parseRow reads one document by shape: fields of a wrong type count as absent.
func parseRow(doc []byte) (row, error) {
	var r row
	err := host.Fields(doc, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			r.kind = host.Line(value)
		case "uuid":
			r.uuid = host.Line(value)
			r.known = r.known || r.uuid != ""
		case "sessionId":
			r.session = host.Line(value)
			r.known = r.known || r.session != ""
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
		case "isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly":
			r.harness = r.harness || host.True(value)
		case "agentId":
			r.harness = r.harness || host.Line(value) != ""
		case "planContent": // a plan of the assistant's, put into the user's mouth
			r.harness = r.harness || len(value) > 2 && host.Kind(value) == '"'
		case "promptSource", "turnOrigin":
			r.harness = r.harness || notHuman(host.Line(value))
		case "toolUseResult", "sourceToolUseID", "sourceToolAssistantUUID":
			r.fromTool = r.fromTool || string(value) != "null"
		}
		return true
	})
	r.at = r.at.UTC()
	return r, err
}

// id returns the identifier of a row: the host's own where it is unique by
// itself, else one that says also what was spoken and when.
func (r *row) id() string {
	if len(r.uuid) >= 32 {
		return r.uuid
	}
	h := digest.New()
	_, _ = fmt.Fprint(h, r.at.UnixNano(), "\x00") // a hash does not fail
	_, _ = h.Write(r.message)
	sum := hex.EncodeToString(h.Sum(nil))
	if r.uuid == "" {
		return r.session + "." + sum[:16]
	}
	return r.uuid + "." + sum[:8]
}

func (r *row) turn(id string, by stillso.Speaker, text string) stillso.Turn {
	return stillso.Turn{ID: id, Session: r.session, Speaker: by, Text: text, At: r.at, Directory: r.cwd}
}

// message is what one row says.
type message struct {
	id, model string
	typed     string
	said      string
	tools     []string // one line each
}

// parseMessage reads the message of a user or assistant row. Thinking, images
// and unknown blocks are passed over.
func parseMessage(value []byte, assistant, fromTool bool) (message, error) {
	var m message
	var content []byte
	if host.Kind(value) != '{' {
		return m, nil
	}
	err := host.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "id":
			m.id = host.Line(value)
		case "model":
			m.model = host.Line(value)
		case "content":
			content = value
		}
		return true
	})
	if err != nil {
		return m, err
	}
	text := func(s string) {
		switch {
		case assistant:
			m.said = host.Join(m.said, strings.TrimSpace(host.Without(s, host.OwnFence)), host.MaxAssistant)
		case fromTool:
			m.tools = append(m.tools, host.OneLine(s))
		default:
			if s = typedText(s); !strings.HasPrefix(s, acceptedPlan) {
				m.typed = host.Join(m.typed, s, host.MaxText)
			}
		}
	}
	switch host.Kind(content) {
	case '"':
		text(host.Text(content, host.MaxText))
	case '[':
		err = host.Elements(content, func(block []byte) bool {
			b, _ := parseBlock(block) // an odd block is passed over
			switch {
			case b.kind == "text":
				text(host.Text(b.text, host.MaxText))
			case b.kind == "tool_use" && assistant:
				m.tools = append(m.tools, host.Use(b.name, b.input))
			case b.kind == "tool_result" && !assistant:
				m.tools = append(m.tools, resultLine(b))
			}
			return true
		})
	}
	return m, err
}

// block is one part of a message's content.
type block struct {
	kind, name           string
	text, input, content []byte
	failed               bool
}

func parseBlock(value []byte) (block, error) {
	var b block
	if host.Kind(value) != '{' {
		return b, nil
	}
	err := host.Fields(value, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			b.kind = host.Line(value)
		case "name":
			b.name = host.Line(value)
		case "text":
			b.text = value
		case "input":
			b.input = value
		case "content":
			b.content = value
		case "is_error":
			b.failed = host.True(value)
		}
		return true
	})
	return b, err
}

// resultLine reduces a tool's output to one line.
func resultLine(b block) string {
	var values [][]byte
	switch host.Kind(b.content) {
	case '"':
		values = append(values, b.content)
	case '[':
		_ = host.Elements(b.content, func(value []byte) bool { // odd output is passed over
			if part, err := parseBlock(value); err == nil && part.kind == "text" {
				values = append(values, part.text)
			}
			return true
		})
	}
	return host.Output(b.failed, values...)
}
