// Package host is the contract with an assistant that calls us: what it tells a
// hook, in words that are the same for every host, and how its JSON is read by
// shape without trusting it. One sub-package a host fills it in.
package host

// Call is one event of a host, as a hook received it. Fields that the host did
// not send are empty. All of it is untrusted text of bounded size.
type Call struct {
	Host  string
	Event string
	// Session is the host's own id of the conversation.
	Session string
	// Directory is where the session runs now.
	Directory string
	// Transcript is the path of the host's record of the session.
	Transcript string
	// Prompt is what was sent to the model, at most MaxText bytes of it.
	Prompt string
	// Machine is set if no human typed the prompt: a notice of the host's own.
	Machine bool
	// Source says what started the session (startup, resume, clear, compact,
	// fork) or the compaction (manual, auto).
	Source string
	// Tool and ToolFile are the tool about to run, and the file it names.
	Tool     string
	ToolFile string
	// Reason says why the session ended.
	Reason string
	// LastAssistant is the assistant's last message of the turn that ended.
	LastAssistant string
	// Subagent is set if the event came from inside a sub-agent: nobody typed
	// there, and nothing is injected.
	Subagent bool
}

// The events of a host, by the names that its hooks are registered with.
const (
	SessionStart = "session-start"
	Prompt       = "prompt"
	TurnEnd      = "turn-end"
	SessionEnd   = "session-end"
	PreCompact   = "pre-compact"
	PreTool      = "pre-tool"
)

// Events lists the events in the order in which a session meets them.
func Events() []string {
	return []string{SessionStart, Prompt, PreTool, TurnEnd, PreCompact, SessionEnd}
}

// The largest parts of a call that are kept, in bytes. A prompt can hold a long
// paste; an id or a path of this size is a mistake.
const (
	MaxText  = 1 << 20
	MaxField = 4 << 10
)

// SuppressVariable makes every hook do nothing if it is set to anything but 0. The
// sweep sets it for the model commands it runs, since those are assistants that
// load the same hooks. Its name holds none of the words that hosts strip from
// an environment (KEY, TOKEN, SECRET, AUTH, CERT, PRIVATE).
const SuppressVariable = "STILLSO_SUPPRESS"

// Suppressed reports whether the environment forbids hooks to act.
func Suppressed(getenv func(string) string) bool {
	v := getenv(SuppressVariable)
	return v != "" && v != "0"
}

// Hook is one entry in a host's settings that has a program called at an event.
type Hook struct {
	Event   string // the host's own name of it
	Matcher string // "" for every occasion
	Command string
	Args    []string // nil if the command is a line for a shell
	Timeout int      // in the host's unit
	// Name is what the host shows of it, where it has names.
	Name string
	// Flat is set where a host lists commands for an event without grouping them
	// by matcher.
	Flat bool
}
