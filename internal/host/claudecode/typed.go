package claudecode

import "strings"

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

// ownFence is the name of the fence around what we injected: it must never be
// read back as if somebody had said it.
const ownFence = "long_term_memories"

// wrappers are the spans that the host, or we, put around or between what a
// human typed.
var wrappers = [...]string{
	ownFence, "system-reminder", "ide_opened_file", "ide_selection", "ide_diagnostics", "hook_context", "persisted-output",
}

// Typed reports whether a human typed at least part of the text.
func Typed(text string) bool { return typedText(text) != "" }

// typedText returns what a human typed of a text with the role user: without
// the host's wrappers, and nothing at all of a notice.
func typedText(text string) string {
	text = strings.TrimSpace(withoutWrappers(text))
	for _, start := range machinePrompts {
		if strings.HasPrefix(text, start) {
			return ""
		}
	}
	return text
}

// withoutWrappers cuts the wrapped spans out of text. One that does not end is
// cut to the end: in doubt nobody said it.
func withoutWrappers(text string) string {
	if !strings.Contains(text, "<") {
		return text
	}
	for _, name := range wrappers {
		text = withoutSpans(text, name)
	}
	return text
}

func withoutSpans(text, name string) string {
	open, shut := "<"+name, "</"+name+">"
	i := strings.Index(text, open)
	if i < 0 {
		return text
	}
	var kept strings.Builder
	for ; i >= 0; i = strings.Index(text, open) {
		rest := text[i+len(open):]
		if rest != "" && !strings.ContainsRune("> \t\n\r/", rune(rest[0])) { // a longer name
			kept.WriteString(text[:i+len(open)])
			text = rest
			continue
		}
		kept.WriteString(text[:i])
		_, text, _ = strings.Cut(rest, shut)
	}
	kept.WriteString(text)
	return kept.String()
}
