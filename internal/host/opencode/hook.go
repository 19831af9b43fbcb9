// Package opencode is OpenCode as a host. It has no hooks that are programs: a
// small plugin of ours, in JavaScript, runs inside it and calls our hook with a
// document of our own. Its sessions stand in a database of its own, which its
// export command writes out as JSON.
package opencode

import (
	_ "embed" // for the plugin
	"strings"

	"stillso/internal/host"
)

// Name is what this host is called on the command line and in receipts.
const Name = "opencode"

// TranscriptPrefix begins what stands in the place of a transcript's path: the
// session whose export is to be read.
const TranscriptPrefix = "opencode:"

// Parse reads what our plugin wrote to a hook's stdin: see host.ParseEvent.
func Parse(event string, stdin []byte) (host.Call, error) {
	call, err := host.ParseEvent(Name, event, stdin, nil)
	call.Machine = call.Prompt != "" && typed(call.Prompt) == ""
	if event == host.TurnEnd && ValidSession(call.Session) {
		call.Transcript = TranscriptPrefix + call.Session
	}
	return call, err
}

// ValidSession reports whether an id can be handed to the export command as an
// argument.
func ValidSession(id string) bool {
	return id != "" && len(id) < 100 && id[0] != '-' && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// Context returns the JSON document that our plugin takes context from, or
// nothing where there is no text, or the event takes none.
func Context(event, text string) []byte { return host.Flat("additionalContext", event, text) }

//go:embed shim.js
var shim string

// File returns the plugin that calls the hook program at an absolute path.
func File(program string) []byte {
	quoted := string(host.AppendText(nil, program))
	return []byte(strings.Replace(shim, `"@PROGRAM@"`, quoted, 1))
}

// typed returns what a human typed of a text with the role user.
func typed(text string) string {
	return strings.TrimSpace(host.Without(text, host.OwnFence, "system-reminder"))
}
