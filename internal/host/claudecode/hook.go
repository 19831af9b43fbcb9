// Package claudecode is Claude Code as a host: the JSON of its hook events, its
// transcripts, the places where it keeps settings and memory of its own, and
// the entries that register our hook.
package claudecode

import (
	"bytes"

	"stillso/internal/host"
)

// Name is what this host is called on the command line and in receipts.
const Name = "claude-code"

// hookEvents are the host's names of the events.
var hookEvents = [...][2]string{
	{host.SessionStart, "SessionStart"},
	{host.Prompt, "UserPromptSubmit"},
	{host.PreTool, "PreToolUse"},
	{host.TurnEnd, "Stop"},
	{host.PreCompact, "PreCompact"},
	{host.SessionEnd, "SessionEnd"},
}

// Parse reads what the host wrote to a hook's stdin. The event comes from the
// command line; the host's own names are understood too, and if it is empty the
// document's. Unknown fields, missing ones and those of another type count as
// absent. The error is for what is no JSON object; even then the fields that
// stood before the fault are returned.
func Parse(event string, stdin []byte) (host.Call, error) {
	call := host.Call{Host: Name, Event: event}
	stdin = bytes.TrimPrefix(stdin, []byte("\ufeff"))
	err := host.Fields(bytes.TrimRight(stdin, "\x00"), func(key, value []byte) bool {
		switch string(key) {
		case "session_id":
			call.Session = host.Line(value)
		case "transcript_path":
			call.Transcript = host.Line(value)
		case "cwd":
			call.Directory = host.Line(value)
		case "hook_event_name":
			if event == "" {
				call.Event = host.Line(value)
			}
		case "prompt":
			call.Prompt = host.Text(value, host.MaxText)
		case "source", "trigger":
			call.Source = host.Line(value)
		case "reason":
			call.Reason = host.Line(value)
		case "tool_name":
			call.Tool = host.Line(value)
		case "tool_input":
			call.ToolFile = toolFile(value)
		case "last_assistant_message":
			call.LastAssistant = host.Text(value, host.MaxText)
		case "agent_id":
			call.Subagent = host.Line(value) != ""
		}
		return true
	})
	for _, e := range hookEvents {
		if call.Event == e[1] {
			call.Event = e[0]
		}
	}
	call.Machine = call.Prompt != "" && !Typed(call.Prompt) || machineSource(call)
	return call, err
}

// machineSource reports whether the host says itself that no human sent the
// prompt.
func machineSource(call host.Call) bool {
	return call.Event == host.Prompt && notHuman(call.Source)
}

// notHuman knows the host's words for prompts that it sends itself.
func notHuman(source string) bool {
	switch source {
	case "system", "loop_wakeup", "schedule_wakeup", "poll_event":
		return true
	}
	return false
}

// toolFile finds the file in a tool's input: file_path of Read, Edit, Write and
// MultiEdit, notebook_path of NotebookEdit.
func toolFile(input []byte) (file string) {
	if host.Kind(input) != '{' {
		return ""
	}
	_ = host.Fields(input, func(key, value []byte) bool { // a fault in it is the caller's fault too
		if k := string(key); k == "file_path" || k == "notebook_path" {
			file = host.Line(value)
		}
		return file == ""
	})
	return file
}

// Context returns the JSON document that makes the host put text into the
// prompt, or nothing where there is no text, or the event takes none. (A Stop
// hook that prints makes the assistant go on.) Of a text beyond 10,000 UTF-16
// units the model would see a preview and a path (measured with 2.1.332): the
// budget of a block is far below that.
func Context(event, text string) []byte {
	return host.Nested(hookEvents[:3], event, text)
}
