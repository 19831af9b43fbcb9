// Package qwen is Qwen Code as a host: the JSON of its hook events, its
// transcripts, the places where it keeps settings and instructions, and the
// entries that register our hook.
package qwen

import (
	"strings"

	"stillso/internal/host"
)

// Name is what this host is called on the command line and in receipts.
const Name = "qwen"

// own has the host's names of the events. Those that take context come first.
var own = [...][2]string{
	{host.SessionStart, "SessionStart"},
	{host.Prompt, "UserPromptSubmit"},
	{host.TurnEnd, "Stop"},
	{host.PreCompact, "PreCompact"},
	{host.SessionEnd, "SessionEnd"},
}

// Parse reads what the host wrote to a hook's stdin: see host.ParseEvent. The
// event of a prompt also comes for results of tools and for what a hook makes
// the assistant go on with (official documentation): those nobody typed.
func Parse(event string, stdin []byte) (host.Call, error) {
	call, err := host.ParseEvent(Name, event, stdin, own[:])
	if call.Prompt != "" {
		call.Prompt = typed(call.Prompt)
		call.Machine = call.Prompt == ""
	}
	return call, err
}

// Context returns the JSON document that makes the host put text into the
// prompt, or nothing where there is no text, or the event takes none.
func Context(event, text string) []byte { return host.Nested(own[:2], event, text) }

// hookTimeout is in milliseconds.
const hookTimeout = 5000

// Hooks returns the entries that register the hook program at an absolute path.
// The host runs them in a shell, on Windows cmd.
func Hooks(program, goos string) []host.Hook {
	var list []host.Hook
	for _, e := range own {
		list = append(list, host.Hook{
			Event: e[1], Name: "stillso", Command: host.CommandLine(host.ShellOf(goos, host.Cmd), program, Name, e[0]), Timeout: hookTimeout,
		})
	}
	return list
}

// wrappers are the spans that the host, or we, put around what a human typed.
var wrappers = [...]string{
	host.OwnFence, "hook_context", "session_context", "system-reminder", "qwen:user-prompt-submit-context", "qwen:session-start-context", "task-notification",
}

// notTyped are the beginnings of "user" texts that the host wrote.
var notTyped = [...]string{
	"[SYSTEM:", "System: Please continue", "This is the Qwen Code.", "Here is the user's editor context", "Here is a summary of changes in the user's editor context",
	"<state_snapshot>", "Stop hook feedback", `{"functionResponse"`, `[{"functionResponse"`,
}

// fileMark begins what the host adds for files that a prompt names with @.
const fileMark = "--- Content from referenced files ---"

// typed returns what a human typed of a text with the role user.
func typed(text string) string {
	text = strings.TrimSpace(host.Without(text, wrappers[:]...))
	text, _, _ = strings.Cut(text, fileMark)
	if text = strings.TrimSpace(text); host.StartsWithAny(text, notTyped[:]) {
		return ""
	}
	return text
}
