// Package codex is the Codex CLI as a host: the JSON of its hook events, its
// transcripts (rollouts), the places where it keeps settings and instructions,
// and the entries that register our hook.
package codex

import (
	"strings"

	"stillso/internal/host"
)

// Name is what this host is called on the command line and in receipts.
const Name = "codex"

// own has the host's names of the events. Those that take context come first.
var own = [...][2]string{
	{host.SessionStart, "SessionStart"},
	{host.Prompt, "UserPromptSubmit"},
	{host.TurnEnd, "Stop"},
	{host.PreCompact, "PreCompact"},
	{host.SessionEnd, "SessionEnd"},
}

// Parse reads what the host wrote to a hook's stdin: see host.ParseEvent.
func Parse(event string, stdin []byte) (host.Call, error) {
	call, err := host.ParseEvent(Name, event, stdin, own[:])
	call.Machine = call.Prompt != "" && typed(call.Prompt) == ""
	return call, err
}

// Context returns the JSON document that makes the host put text into the
// prompt, or nothing where there is no text, or the event takes none. The host
// drops a document with a field that it does not know (its types deny them), and
// of more than about 2,500 tokens the model sees both ends and a path (measured
// with 0.171.0).
func Context(event, text string) []byte { return host.Nested(own[:2], event, text) }

// The times after which the host kills a hook, in seconds. That of SessionEnd is
// one second if unsaid, and clamped to three with a warning if more (measured
// with 0.171.0).
const (
	hookTimeout = 5
	endTimeout  = 3
)

// Hooks returns the entries that register the hook program at an absolute path.
// The host asks for trust anew whenever a line or a timeout changes: they must
// stay the same from version to version.
func Hooks(program, goos string) []host.Hook {
	var list []host.Hook
	for _, e := range own {
		h := host.Hook{Event: e[1], Command: host.CommandLine(host.ShellOf(goos, host.Cmd), program, Name, e[0]), Timeout: hookTimeout}
		if e[0] == host.SessionEnd {
			h.Timeout = endTimeout
		}
		list = append(list, h)
	}
	return list
}

// notTyped are the beginnings of "user" messages that the host wrote.
var notTyped = [...]string{
	"<environment_context", "<user_instructions", "# AGENTS.md instructions", "<INSTRUCTIONS", "<turn_aborted", "<user_shell_command", "<skill>", "<subagent_notification",
	"<permissions instructions", "<hook_prompt", "--- project-doc ---",
}

// typed returns what a human typed of a text with the role user.
func typed(text string) string {
	text = strings.TrimSpace(host.Without(text, host.OwnFence))
	if host.StartsWithAny(text, notTyped[:]) {
		return ""
	}
	return text
}
