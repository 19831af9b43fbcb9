package claudecode

import (
	"strings"

	"stillso/internal/host"
)

// machinePrompts are the beginnings of "user" text that the host wrote: notices,
// output of slash commands and of ! commands, summaries.
var machinePrompts = [...]string{
	"<task-notification", "<command-name>", "<command-message>", "<command-args>", "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>",
	"<user-prompt-submit-hook>", "<teammate-message", "<agent-notification", "Caveat:", "[Request interrupted", "Operation stopped by hook",
	"This session is being continued from a previous conversation",
}

// acceptedPlan begins the prompt that the host writes when a person lets it go
// ahead with the assistant's plan: worth a recall, but nobody typed it.
const acceptedPlan = "Implement the following plan:\n"

// wrappers are the spans that the host, or we, put around or between what a
// human typed.
var wrappers = [...]string{
	host.OwnFence, "system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "hook_context", "persisted-output",
}

// Typed reports whether a human typed at least part of the text.
func Typed(text string) bool { return typedText(text) != "" }

// typedText returns what a human typed of a text with the role user: without
// the host's wrappers, and nothing at all of a notice.
func typedText(text string) string {
	text = strings.TrimSpace(host.Without(text, wrappers[:]...))
	if host.StartsWithAny(text, machinePrompts[:]) {
		return ""
	}
	return text
}
