package host

import (
	"bytes"
	"strings"
)

// ParseEvent reads what a host wrote to a hook's stdin, for the hosts whose
// documents use these names; no name means two things. own has the events with
// the host's names of them. The event comes from the command line; the host's
// names are understood too, and if it is empty the document's. Unknown fields,
// missing ones and those of another type count as absent. The error is for what
// is no JSON object; even then the fields before the fault are returned.
func ParseEvent(name, event string, stdin []byte, own [][2]string) (Call, error) {
	call := Call{Host: name, Event: event}
	stdin = bytes.TrimPrefix(stdin, []byte("\ufeff"))
	err := Fields(bytes.TrimRight(stdin, "\x00"), func(key, value []byte) bool {
		switch string(key) {
		case "session_id", "sessionId", "conversation_id":
			if s := Line(value); s != "" {
				call.Session = s
			}
		case "transcript_path", "transcriptPath":
			call.Transcript = Line(value)
		case "cwd":
			call.Directory = Line(value)
		case "workspace_roots":
			if call.Directory == "" && Kind(value) == '[' {
				_ = Elements(value, func(root []byte) bool { call.Directory = Line(root); return false }) // the first counts
			}
		case "hook_event_name", "hookEventName":
			if event == "" {
				call.Event = Line(value)
			}
		case "prompt":
			call.Prompt = Text(value, MaxText)
		case "source", "trigger":
			call.Source = Line(value)
		case "reason":
			call.Reason = Line(value)
		case "tool_name", "toolName":
			call.Tool = Line(value)
		case "last_assistant_message", "prompt_response":
			call.LastAssistant = Text(value, MaxText)
		case "agent_id", "agentId":
			call.Subagent = Line(value) != ""
		}
		return true
	})
	for _, e := range own {
		if call.Event == e[1] {
			call.Event = e[0]
		}
	}
	return call, err
}

// Nested returns the document {"hookSpecificOutput": …} that Claude Code, Codex,
// Gemini and Qwen take context from, or nothing for an event that none of own
// is. It has no field but those two, since Codex drops a document with one that
// it does not know.
func Nested(own [][2]string, event, text string) []byte {
	if text == "" {
		return nil
	}
	for _, e := range own {
		if e[0] == event {
			out := make([]byte, 0, len(text)+len(text)/16+128)
			out = append(out, `{"hookSpecificOutput":{"hookEventName":"`...)
			out = append(out, e[1]...)
			out = append(out, `","additionalContext":`...)
			return append(AppendText(out, text), "}}"...)
		}
	}
	return nil
}

// Flat returns the document {key: text} for the events that take context.
func Flat(key, event, text string) []byte {
	if text == "" || event != SessionStart && event != Prompt {
		return nil
	}
	out := make([]byte, 0, len(text)+len(text)/16+64)
	out = append(out, '{')
	out = append(AppendText(out, key), ':')
	return append(AppendText(out, text), '}')
}

// Shell says which one runs a line of a host's settings.
type Shell int

// The shells.
const (
	Posix Shell = iota
	Cmd
	PowerShell
)

// CommandLine returns the line for a shell that runs a program with plain words
// as arguments. A path that the shell would take apart is quoted, and on Windows
// has forward slashes, which every shell there leaves alone.
func CommandLine(shell Shell, program string, words ...string) string {
	if shell != Posix {
		program = strings.ReplaceAll(program, `\`, "/")
	}
	if !shellSafe(program) {
		switch shell {
		case Posix:
			program = "'" + strings.ReplaceAll(program, "'", `'\''`) + "'"
		case Cmd:
			program = `"` + program + `"`
		case PowerShell:
			program = "& '" + strings.ReplaceAll(program, "'", "''") + "'"
		}
	}
	return strings.Join(append([]string{program}, words...), " ")
}

// ShellOf returns the shell that hosts use on a system; windows is what this one
// uses there.
func ShellOf(goos string, windows Shell) Shell {
	if goos == "windows" {
		return windows
	}
	return Posix
}

// shellSafe reports whether a shell takes the path for one word as it stands.
func shellSafe(path string) bool {
	return !strings.ContainsFunc(path, func(r rune) bool {
		return r < 0x80 && !strings.ContainsRune("/._-+,:@%=", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}
