// Package cursor is Cursor as a host: the JSON of its hook events, its
// transcripts, the places where it keeps settings and instructions, and the
// entries that register our hook. The program is closed; nothing here was
// measured, all of it comes from its documentation and from what others found.
package cursor

import (
	"strings"

	"stillso/internal/host"
)

// Name is what this host is called on the command line and in receipts.
const Name = "cursor"

// own has the host's names of the events.
var own = [...][2]string{
	{host.SessionStart, "sessionStart"},
	{host.Prompt, "beforeSubmitPrompt"},
	{host.TurnEnd, "stop"},
	{host.PreCompact, "preCompact"},
	{host.SessionEnd, "sessionEnd"},
}

// Parse reads what the host wrote to a hook's stdin: see host.ParseEvent. The
// directory is the first of the workspace, where the host does not say another.
func Parse(event string, stdin []byte) (host.Call, error) {
	call, err := host.ParseEvent(Name, event, stdin, own[:])
	call.Machine = call.Prompt != "" && typed(call.Prompt) == ""
	return call, err
}

// Context returns the JSON document that makes the host put text into the
// prompt, or nothing where there is no text, or the event takes none.
// additional_context is documented for the start of a session; at a prompt
// clients from 3.9 on take it, older ones ignore it.
func Context(event, text string) []byte { return host.Flat("additional_context", event, text) }

// hookTimeout is in seconds; sources disagree about the unit, and 5 ms would be
// too little, but a hook that is killed does no harm.
const hookTimeout = 5

// Hooks returns the entries that register the hook program at an absolute path.
// On Windows the host runs them in PowerShell.
func Hooks(program, goos string) []host.Hook {
	var list []host.Hook
	for _, e := range own {
		list = append(list, host.Hook{
			Event: e[1], Command: host.CommandLine(host.ShellOf(goos, host.PowerShell), program, Name, e[0]), Timeout: hookTimeout, Flat: true,
		})
	}
	return list
}

// wrappers are the spans that the host, or we, put around or between what a
// human typed.
var wrappers = [...]string{
	host.OwnFence, "system_reminder", "system-reminder", "timestamp", "attached_files", "open_and_recently_viewed_files", "user_info", "cursor_rules_context", "rules", "additional_context",
	"git_status", "project_layout", "agent_transcripts", "image_files",
}

// typed returns what a human typed of a text with the role user: what stands in
// <user_query>, where the host marks it.
func typed(text string) string {
	const open, shut = "<user_query>", "</user_query>"
	if _, rest, ok := strings.Cut(text, open); ok {
		query, _, _ := strings.Cut(rest, shut)
		text = query
	}
	return strings.TrimSpace(host.Without(text, wrappers[:]...))
}
