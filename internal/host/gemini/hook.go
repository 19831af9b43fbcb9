// Package gemini is the Gemini CLI as a host: the JSON of its hook events, its
// transcripts, the places where it keeps settings and instructions, and the
// entries that register our hook.
package gemini

import (
	"strings"

	"stillso/internal/host"
)

// Name is what this host is called on the command line and in receipts.
const Name = "gemini"

// own has the host's names of the events. Those that take context come first.
// Its PreCompress comes at every turn, compressed or not (measured with 0.61.0),
// so that it tells nothing.
var own = [...][2]string{
	{host.SessionStart, "SessionStart"},
	{host.Prompt, "BeforeAgent"},
	{host.TurnEnd, "AfterAgent"},
	{host.SessionEnd, "SessionEnd"},
}

// Parse reads what the host wrote to a hook's stdin: see host.ParseEvent. The
// context of the session's start, which the host glues to the first prompt in
// headless mode, is cut off.
func Parse(event string, stdin []byte) (host.Call, error) {
	call, err := host.ParseEvent(Name, event, stdin, own[:])
	if call.Prompt != "" {
		call.Prompt = typed(call.Prompt)
		call.Machine = call.Prompt == ""
	}
	return call, err
}

// Context returns the JSON document that makes the host put text into the
// prompt, or nothing where there is no text, or the event takes none. The host
// fences it in <hook_context>, and escapes < and > in it.
func Context(event, text string) []byte { return host.Nested(own[:2], event, text) }

// hookTimeout is in milliseconds.
const hookTimeout = 5000

// Hooks returns the entries that register the hook program at an absolute path.
// The host runs them in a shell, on Windows PowerShell.
func Hooks(program, goos string) []host.Hook {
	var list []host.Hook
	for _, e := range own {
		list = append(list, host.Hook{
			Event: e[1], Name: "stillso", Command: host.CommandLine(host.ShellOf(goos, host.PowerShell), program, Name, e[0]), Timeout: hookTimeout,
		})
	}
	return list
}

// wrappers are the spans that the host, or we, put around what a human typed.
var wrappers = [...]string{host.OwnFence, "hook_context", "session_context", "system_reminder", "system-reminder"}

// notTyped are the beginnings of "user" texts that the host wrote. The escaped
// fence is ours.
var notTyped = [...]string{
	"[SYSTEM:", "System: Please continue", "Please continue.", "This is the Gemini CLI.", "Here is the user's editor context", "Here is a summary of changes in the user's editor context",
	"&lt;" + host.OwnFence, "<state_snapshot>",
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
