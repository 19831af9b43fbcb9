package claudecode

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"stillso"
	"stillso/internal/host"
)

// The longest tool line and assistant text of a turn, in bytes.
const (
	maxToolLine  = 300
	maxAssistant = 256 << 10
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
			r.kind = line(value)
		case "uuid":
			r.uuid = line(value)
			r.known = r.known || r.uuid != ""
		case "sessionId":
			r.session = line(value)
			r.known = r.known || r.session != ""
		case "cwd":
			r.cwd = line(value)
		case "gitBranch":
			r.branch = line(value)
		case "version":
			r.version = line(value)
		case "timestamp":
			r.at, _ = time.Parse(time.RFC3339, line(value)) // an unreadable time is no time
		case "message":
			r.message = value
		case "isSidechain", "isMeta", "isCompactSummary", "isApiErrorMessage", "isVisibleInTranscriptOnly":
			r.harness = r.harness || host.True(value)
		case "agentId":
			r.harness = r.harness || line(value) != ""
		case "planContent": // a plan of the assistant's, put into the user's mouth
			r.harness = r.harness || len(value) > 2 && host.Kind(value) == '"'
		case "promptSource", "turnOrigin":
			r.harness = r.harness || notHuman(line(value))
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
	h := sha256.New()
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
			m.id = line(value)
		case "model":
			m.model = line(value)
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
			m.said = joined(m.said, strings.TrimSpace(withoutSpans(s, ownFence)), maxAssistant)
		case fromTool:
			m.tools = append(m.tools, oneLine(s))
		default:
			if s = typedText(s); !strings.HasPrefix(s, acceptedPlan) {
				m.typed = joined(m.typed, s, host.MaxText)
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
				m.tools = append(m.tools, useLine(b))
			case b.kind == "tool_result" && !assistant:
				m.tools = append(m.tools, resultLine(b))
			}
			return true
		})
	}
	return m, err
}

func joined(a, b string, limit int) string {
	switch {
	case b == "":
		return a
	case a == "":
		return b
	case len(a)+len(b) > limit:
		return a
	}
	return a + "\n\n" + b
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
			b.kind = line(value)
		case "name":
			b.name = line(value)
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

// useLine says in one line what the assistant had a tool do.
func useLine(b block) string {
	what, rank := "", 99
	if host.Kind(b.input) == '{' {
		_ = host.Fields(b.input, func(key, value []byte) bool { // an odd input is passed over
			for i, k := range [...]string{"command", "file_path", "notebook_path", "pattern", "url", "query", "description", "path"} {
				if i < rank && string(key) == k && host.Kind(value) == '"' {
					what, rank = host.Text(value, 4*maxToolLine), i
				}
			}
			return true
		})
	}
	return oneLine(strings.TrimSpace(b.name + ": " + what))
}

// resultLine reduces a tool's output to one line: its first and its last, since
// commands say at the end how it went.
func resultLine(b block) string {
	var first, last string
	size := 0
	take := func(value []byte) {
		size += len(value)
		if first == "" {
			first = firstLine(host.Text(value, 4*maxToolLine))
		}
		tail := value
		if len(tail) > 8*maxToolLine { // decode the end only; a cut escape does no harm
			tail = append([]byte{'"'}, tail[len(tail)-8*maxToolLine:]...)
		}
		if l := lastLine(host.Text(tail, 8*maxToolLine)); l != "" {
			last = l
		}
	}
	switch host.Kind(b.content) {
	case '"':
		take(b.content)
	case '[':
		_ = host.Elements(b.content, func(value []byte) bool { // odd output is passed over
			if part, err := parseBlock(value); err == nil && part.kind == "text" {
				take(part.text)
			}
			return true
		})
	}
	text := first
	if last != "" && last != first {
		text = shorten(first, maxToolLine/2-10) + " … " + shorten(last, maxToolLine/2-10)
	}
	if b.failed {
		text = "error: " + text
	}
	return oneLine(text)
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(s)
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return strings.TrimSpace(s[strings.LastIndexByte(s, '\n')+1:])
}

// oneLine folds all white space and control characters, and shortens.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(shorten(s, 4*maxToolLine), func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	return shorten(s, maxToolLine)
}

func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return strings.TrimSpace(s[:limit]) + "…"
}
