package stillso

import (
	"context"
	"errors"
	"time"
)

// The errors of a store. Callers test for them with errors.Is.
var (
	// ErrConflict: a change rests on a before that is no longer true.
	ErrConflict = errors.New("memory changed meanwhile")
	ErrNotFound = errors.New("not found")
	// ErrDamaged: the store is not what it was when it was last closed: corrupt,
	// emptied or replaced. Never treated as an empty store.
	ErrDamaged = errors.New("store is damaged")
	// ErrNewer: the store was written by a newer version of stillso.
	ErrNewer = errors.New("store has a newer format")
	// ErrBusy: another process held the store for too long.
	ErrBusy = errors.New("store is busy")
	// ErrReadOnly: the store can be read but not written.
	ErrReadOnly = errors.New("store is read-only")
)

// Memories keeps memories and their journal.
type Memories interface {
	// Apply writes changes and their journal in one transaction, in order, and
	// returns them with Seq set. It is the only way in which memory changes.
	// Applied changes edit memories; the other outcomes are only journalled. A
	// stale Before is ErrConflict, and then nothing is written.
	Apply(ctx context.Context, changes ...Change) ([]Change, error)
	// Undo takes an applied change back by a new change of verb undo, and marks
	// it undone. ErrConflict if a memory has changed since.
	Undo(ctx context.Context, changeID string, by Actor, at time.Time) (Change, error)
	// Memory returns one memory in any state, by id.
	Memory(ctx context.Context, id string) (*Memory, error)
	// Memories lists what the filter lets through, newest first.
	Memories(ctx context.Context, f Filter) ([]*Memory, error)
	// Search finds memories by full text, best first: the deep, explicit way.
	Search(ctx context.Context, q TextQuery) ([]Found, error)
	// Journal lists changes, newest first.
	Journal(ctx context.Context, f JournalFilter) ([]Change, error)
}

// Filter selects memories; the zero filter lets everything through.
type Filter struct {
	Namespaces []Namespace
	Types      []Type
	States     []State
	Origins    []Origin
	// IDPrefix selects by the start of the id.
	IDPrefix string
	// File selects memories whose related files or file origin contain it.
	File string
	// Since and Until bound updated_at; the zero time bounds nothing.
	Since, Until time.Time
	// ChangedAfter selects memories whose last change has a greater Seq.
	ChangedAfter int64
	// Limit is the largest number returned; 0 is no limit.
	Limit int
}

// TextQuery is an explicit search. Text is never query syntax.
type TextQuery struct {
	Text string
	Filter
	// Turns also searches the indexed transcripts.
	Turns bool
}

// Found is one result of an explicit search: a memory, or a turn.
type Found struct {
	Memory *Memory `json:"memory,omitempty"`
	Turn   *Turn   `json:"turn,omitempty"`
	// Score is greater for better matches; it compares within one search only.
	Score float64 `json:"score"`
	// Excerpt is the part of the text that matched.
	Excerpt string `json:"excerpt,omitempty"`
}

// JournalFilter selects changes; the zero filter lets everything through.
type JournalFilter struct {
	MemoryID string
	ChangeID string // or the start of one
	Batch    string
	Outcomes []Outcome
	Actors   []ActorKind
	Verbs    []Verb
	Since    time.Time
	Until    time.Time
	AfterSeq int64
	// Oldest lists oldest first.
	Oldest bool
	Limit  int
}

// Sessions keeps what was said.
type Sessions interface {
	// Record stores the session and those of its turns that are new; it returns
	// how many were. Turns are known by id across all sessions.
	Record(ctx context.Context, s Session, turns []Turn) (int, error)
	Session(ctx context.Context, id string) (*Session, error)
	// Sessions lists sessions, newest first, that started after since.
	Sessions(ctx context.Context, since time.Time) ([]Session, error)
	// Turns lists the turns of a session in order.
	Turns(ctx context.Context, session string) ([]Turn, error)
	// Seen remembers where a namespace lives; Places lists what was seen.
	Seen(ctx context.Context, p Place) error
	Places(ctx context.Context) ([]Place, error)
}

// Queue keeps offline work and what recalls and models cost.
type Queue interface {
	// Enqueue adds items; one whose Kind and Key wait already is dropped.
	Enqueue(ctx context.Context, items ...QueueItem) error
	// Waiting lists items whose NotBefore has passed, oldest first.
	Waiting(ctx context.Context, now time.Time, limit int) ([]QueueItem, error)
	// Finish removes an item; Postpone counts a failure and sets when to retry.
	Finish(ctx context.Context, id int64) error
	Postpone(ctx context.Context, id int64, until time.Time, cause string) error
	// AddReceipts stores drained receipts; Receipts lists them, newest first.
	AddReceipts(ctx context.Context, r []Receipt) error
	Receipts(ctx context.Context, since time.Time, limit int) ([]Receipt, error)
	// AddUsage books a model call; Usage lists the calls since a time.
	AddUsage(ctx context.Context, u Usage) error
	Usage(ctx context.Context, since time.Time) ([]Usage, error)
}

// Usage is one line of the ledger: what one model call cost.
type Usage struct {
	At      time.Time `json:"at"`
	Purpose string    `json:"purpose"`
	Model   string    `json:"model"`
	Session string    `json:"session,omitempty"`
	In      int       `json:"tokens_in"`
	Out     int       `json:"tokens_out"`
	Millis  int64     `json:"ms"`
	// CostUSD is what the provider reported, 0 if it reported nothing.
	CostUSD float64 `json:"cost_usd,omitempty"`
	Error   string  `json:"error,omitempty"`
}
