package codex

import (
	"bytes"
	"encoding/hex"
	"strings"
	"time"

	"stillso"
	"stillso/internal/digest"
	"stillso/internal/host"
)

// Format returns how this host writes its transcripts. Of the two families of
// rows that say the same, response_item is taken.
func Format() host.Format {
	return host.Format{
		Files: "a rollout-….jsonl file from ~/.codex/sessions",
		MayMatter: func(line []byte) bool {
			return bytes.Contains(line, []byte(`"response_item"`)) || bytes.Contains(line, []byte(`"session_meta"`)) || bytes.Contains(line, []byte(`"turn_context"`))
		},
		Row: takeRow, Head: true,
	}
}

// ReadFile reads a transcript from a position on: see host.Format.
func ReadFile(path string, from host.Position, emit func(stillso.Turn) error) (host.Reading, error) {
	return Format().ReadFile(path, from, emit)
}

func takeRow(rd *host.Reader, doc []byte) error {
	var kind string
	var at time.Time
	var payload []byte
	err := host.Fields(doc, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			kind = host.Line(value)
		case "timestamp":
			at, _ = time.Parse(time.RFC3339, host.Line(value)) // an unreadable time is no time
		case "payload":
			payload = value
		}
		return true
	})
	if err != nil {
		return err
	}
	if host.Kind(payload) != '{' {
		return nil
	}
	at = at.UTC()
	switch kind {
	case "session_meta", "turn_context":
		takeFacts(rd, payload, at)
	case "response_item":
		rd.Known()
		rd.Facts("", "", "", "", at)
		return takeItem(rd, payload, at)
	}
	return nil
}

// takeFacts reads what the rows about a session or a turn say.
func takeFacts(rd *host.Reader, payload []byte, at time.Time) {
	var session, dir, branch, version string
	_ = host.Fields(payload, func(key, value []byte) bool { // an odd row says nothing
		switch string(key) {
		case "id":
			session = host.Line(value)
		case "cwd":
			dir = host.Line(value)
		case "cli_version":
			version = host.Line(value)
		case "source": // an object for the threads of sub-agents
			rd.Nobody = rd.Nobody || host.Kind(value) == '{'
		case "thread_source":
			rd.Nobody = rd.Nobody || host.Line(value) == "subagent"
		case "git":
			if host.Kind(value) == '{' {
				_ = host.Fields(value, func(k, v []byte) bool {
					if string(k) == "branch" {
						branch = host.Line(v)
					}
					return true
				})
			}
		}
		return true
	})
	if session != "" || dir != "" {
		rd.Known()
	}
	rd.Facts(session, dir, branch, version, at)
}

// item is one response_item.
type item struct {
	kind, id, role, name string
	content, input       []byte
	output               []byte
	kinds                []byte // what the host says of the parts of the content
}

func takeItem(rd *host.Reader, payload []byte, at time.Time) error {
	var it item
	_ = host.Fields(payload, func(key, value []byte) bool { // the structure was checked with the row
		switch string(key) {
		case "type":
			it.kind = host.Line(value)
		case "id":
			it.id = host.Line(value)
		case "role":
			it.role = host.Line(value)
		case "name":
			it.name = host.Line(value)
		case "content":
			it.content = value
		case "arguments", "input", "action":
			it.input = value
		case "output":
			it.output = value
		case "internal_chat_message_metadata_passthrough":
			it.kinds = value
		}
		return true
	})
	turn := stillso.Turn{Session: rd.Session, At: at, Directory: rd.Here}
	switch {
	case it.kind == "message" && it.role == "assistant":
		turn.Speaker = stillso.Assistant
		turn.Text = strings.TrimSpace(host.Without(texts(it.content, host.MaxAssistant), host.OwnFence))
	case it.kind == "message" && it.role == "user":
		turn.Speaker = stillso.Typed
		if text := texts(it.content, host.MaxText); !rd.Nobody && !machineKinds(it.kinds) {
			turn.Text = typed(text)
		}
		if turn.Text == "" {
			rd.Harness++
		}
	case it.kind == "function_call" || it.kind == "custom_tool_call" || it.kind == "local_shell_call":
		turn.Speaker, turn.Text = stillso.Tool, use(it)
	case it.kind == "function_call_output" || it.kind == "custom_tool_call_output":
		turn.Speaker, turn.Text = stillso.Tool, outcome(it.output)
	default:
		return nil
	}
	if turn.Text == "" {
		return nil
	}
	// Ids that the model's server gave are unique with some providers only, and
	// older versions copy the rows of the thread that was forked: time and content
	// tell which row it is.
	sum := digest.New()
	_, _ = sum.Write([]byte(at.Format(time.RFC3339Nano) + "\x00")) // a hash does not fail
	_, _ = sum.Write(payload)
	if turn.ID = "codex." + hex.EncodeToString(sum.Sum(nil)[:16]); !rd.New(turn.ID) {
		return nil
	}
	return rd.Say("", turn.Speaker == stillso.Assistant, turn)
}

// machineKinds reports whether the host says itself that no part of a message
// was typed. Versions before 0.171 say nothing.
func machineKinds(metadata []byte) bool {
	machine := false
	if host.Kind(metadata) != '{' {
		return false
	}
	_ = host.Fields(metadata, func(key, value []byte) bool {
		if string(key) == "content_item_kinds" && host.Kind(value) == '[' {
			machine = true
			_ = host.Elements(value, func(kind []byte) bool {
				if k := host.Line(kind); k == "user.text" || k == "unknown" || strings.HasPrefix(k, "user.") {
					machine = false
				}
				return machine
			})
		}
		return true
	})
	return machine
}

// texts joins the text parts of a message; images are passed over.
func texts(content []byte, limit int) (text string) {
	if host.Kind(content) == '"' {
		return host.Text(content, limit)
	}
	if host.Kind(content) != '[' {
		return ""
	}
	_ = host.Elements(content, func(part []byte) bool {
		var kind, words string
		if host.Kind(part) == '{' {
			_ = host.Fields(part, func(key, value []byte) bool {
				switch string(key) {
				case "type":
					kind = host.Line(value)
				case "text":
					words = host.Text(value, limit)
				}
				return true
			})
		}
		if kind == "input_text" || kind == "output_text" || kind == "text" {
			text = host.Join(text, words, limit)
		}
		return true
	})
	return text
}

// use says in one line what was called. Arguments are JSON in a string, or plain
// text (a patch).
func use(it item) string {
	input := it.input
	if host.Kind(input) == '"' {
		s := host.Text(input, 64<<10)
		if !strings.HasPrefix(strings.TrimSpace(s), "{") {
			return host.OneLine(it.name + ": " + patched(s))
		}
		input = []byte(strings.TrimSpace(s))
	}
	if it.name == "" {
		it.name = "shell"
	}
	line := host.Use(it.name, input)
	if strings.HasSuffix(line, ":") { // an older shell call: the command is a list of words
		_ = host.Fields(input, func(key, value []byte) bool {
			if string(key) == "command" && host.Kind(value) == '[' {
				var words []string
				_ = host.Elements(value, func(w []byte) bool { words = append(words, host.Text(w, host.MaxToolLine)); return len(words) < 20 })
				line = host.OneLine(it.name + ": " + strings.Join(words, " "))
			}
			return true
		})
	}
	return line
}

// patched names the files of a patch, or gives its first line.
func patched(patch string) string {
	var files []string
	first := ""
	for l := range strings.Lines(patch) {
		if first == "" {
			first = strings.TrimSpace(l)
		}
		for _, mark := range [...]string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if f, ok := strings.CutPrefix(strings.TrimSpace(l), mark); ok {
				files = append(files, f)
			}
		}
	}
	if len(files) > 0 {
		return strings.Join(files, ", ")
	}
	return first
}

// outcome reduces what a tool printed to one line, without the lines that the
// host puts before it. The output is a string, or an object with one in content.
func outcome(output []byte) string {
	failed := false
	if host.Kind(output) == '{' {
		doc := output
		output = nil
		_ = host.Fields(doc, func(key, value []byte) bool {
			switch string(key) {
			case "content", "output":
				output = value
			case "success":
				failed = string(value) == "false"
			}
			return true
		})
	}
	if host.Kind(output) == '[' {
		return host.Output(failed, host.AppendText(nil, texts(output, 64<<10)))
	}
	if len(output) <= 64<<10 {
		text := host.Text(output, 64<<10)
		if inner := host.Member([]byte(strings.TrimSpace(text)), "output"); host.Kind(inner) == '"' { // older versions
			code := host.Member([]byte(strings.TrimSpace(text)), "metadata", "exit_code")
			return host.Output(len(code) > 0 && string(code) != "0", inner)
		}
		if head, rest, ok := strings.Cut(text, "\nOutput:\n"); ok {
			failed = failed || strings.Contains(head, "exited with code ") && !strings.Contains(head, "exited with code 0")
			if strings.TrimSpace(rest) != "" {
				return host.Output(failed, host.AppendText(nil, rest))
			}
		}
	}
	return host.Output(failed, output)
}
