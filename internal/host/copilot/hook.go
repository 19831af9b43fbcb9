// Package copilot is the GitHub Copilot CLI as a host: the JSON of its hook
// events, its transcripts, the places where it keeps settings and instructions,
// and the file that registers our hook.
package copilot

import (
	"path/filepath"
	"strings"

	"stillso/internal/host"
)

// Name is what this host is called on the command line and in receipts.
const Name = "copilot"

// own has the host's names of the events. Before a tool nothing of ours is
// called: there the host takes a hook that fails for a refusal.
var own = [...][2]string{
	{host.SessionStart, "sessionStart"},
	{host.Prompt, "userPromptSubmitted"},
	{host.TurnEnd, "agentStop"},
	{host.PreCompact, "preCompact"},
	{host.SessionEnd, "sessionEnd"},
}

// alias are the names under which the host reads hooks that were written for
// Claude Code.
var alias = [...][2]string{
	{host.SessionStart, "SessionStart"},
	{host.Prompt, "UserPromptSubmit"},
	{host.TurnEnd, "Stop"},
	{host.PreCompact, "PreCompact"},
	{host.SessionEnd, "SessionEnd"},
}

// Parse reads what the host wrote to a hook's stdin: see host.ParseEvent.
func Parse(event string, stdin []byte) (host.Call, error) {
	call, err := host.ParseEvent(Name, event, stdin, own[:])
	for _, e := range alias {
		if call.Event == e[1] {
			call.Event = e[0]
		}
	}
	call.Machine = call.Prompt != "" && typed(call.Prompt) == ""
	return call, err
}

// Context returns the JSON document that makes the host put text into the
// prompt, or nothing where there is no text, or the event takes none.
func Context(event, text string) []byte { return host.Flat("additionalContext", event, text) }

// Transcript returns where the host keeps the history of a session: most of its
// events do not say.
func Transcript(getenv func(string) string, session string) string {
	p, err := Locate(getenv)
	if err != nil || session == "" || session == "." || session == ".." || strings.ContainsAny(session, `/\:`) {
		return ""
	}
	return filepath.Join(string(p), "session-state", session, "events.jsonl")
}

// File returns the content of the file that registers the hook program at an
// absolute path, in the folder that the host reads all files of. The exec form
// starts no shell.
func File(program string) []byte {
	out := []byte("{\n  \"version\": 1,\n  \"hooks\": {\n")
	for i, e := range own {
		out = append(out, `    "`+e[1]+`": [{ "type": "command", "exec": `...)
		out = host.AppendText(out, program)
		out = append(out, `, "args": ["`+Name+`", "`+e[0]+`"], "timeoutSec": 5 }]`...)
		if i < len(own)-1 {
			out = append(out, ',')
		}
		out = append(out, '\n')
	}
	return append(out, "  }\n}\n"...)
}

// wrappers are the spans that the host, or we, put around what a human typed.
var wrappers = [...]string{host.OwnFence, "system_reminder", "system-reminder", "current_datetime", "system_notification"}

// typed returns what a human typed of a text with the role user.
func typed(text string) string {
	return strings.TrimSpace(host.Without(text, wrappers[:]...))
}
