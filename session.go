package stillso

import "time"

// Session is one conversation with a host.
type Session struct {
	ID        string    `json:"id"`
	Host      string    `json:"host"`
	Namespace Namespace `json:"namespace"`
	Directory string    `json:"directory"`
	// Transcript is the path of the host's own record of the session.
	Transcript string    `json:"transcript,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	EndedAt    time.Time `json:"ended_at,omitzero"`
	// Offset is how far the transcript has been read, in bytes, and Mark a hash
	// of the bytes just before it: a file that was replaced or cut is read again.
	Offset int64  `json:"offset"`
	Mark   string `json:"mark,omitempty"`
	// Captured counts the turns that capture has seen.
	Captured int `json:"captured"`
}

// Turn is one message of a session. ID is the host's own row id; it is unique
// across sessions, so that forks and resumes do not count twice.
type Turn struct {
	ID      string    `json:"id"`
	Session string    `json:"session"`
	Speaker Speaker   `json:"speaker"`
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
	// Directory is where the turn was spoken; it may differ from the session's.
	Directory string `json:"directory,omitempty"`
}

// Speaker says who spoke a turn. Only Typed text can be evidence of what a
// person wants; everything else is tainted.
type Speaker string

// The speakers of a turn.
const (
	Typed     Speaker = "user"      // typed by a human
	Assistant Speaker = "assistant" // the model's own words
	Tool      Speaker = "tool"      // output of a tool, a file, a web page
	Harness   Speaker = "harness"   // wrappers, summaries, sub-agents, our own block
)

// QueueItem is one piece of offline work that a hook asked for.
type QueueItem struct {
	// ID is set by the store.
	ID int64 `json:"id"`
	// Kind says what is to be done, for example "capture".
	Kind string `json:"kind"`
	// Key makes equal work one item: while it waits it is not queued again.
	Key     string            `json:"key"`
	Payload map[string]string `json:"payload,omitempty"`
	At      time.Time         `json:"at"`
	// Attempts counts the failures so far; NotBefore is when to try again.
	Attempts  int       `json:"attempts"`
	NotBefore time.Time `json:"not_before,omitzero"`
	LastError string    `json:"last_error,omitempty"`
}

// Place is a directory or repository that a namespace was seen in.
type Place struct {
	Namespace Namespace `json:"namespace"`
	// Root is the absolute directory of the work tree, or the plain directory.
	Root string `json:"root"`
	// Remote is the normalised remote, Birth the identity of the first commit
	// seen in the repository; both may be empty.
	Remote string    `json:"remote,omitempty"`
	Birth  string    `json:"birth,omitempty"`
	GitDir string    `json:"git_dir,omitempty"`
	SeenAt time.Time `json:"seen_at"`
}
