package stillso

import "time"

// Change is one act on memory: the only way in which memory changes, journalled
// and undoable. The review queue is the changes with outcome proposed, the
// audit all of them.
type Change struct {
	// Seq is the place in the journal, from 1 without gaps; the store sets it.
	Seq     int64   `json:"seq"`
	ID      string  `json:"id"`
	Verb    Verb    `json:"verb"`
	Outcome Outcome `json:"outcome"`
	Actor   Actor   `json:"actor"`
	// Confidence is 0 to 1; 1 for a human.
	Confidence float64    `json:"confidence"`
	Reason     string     `json:"reason,omitempty"`
	Evidence   []Evidence `json:"evidence,omitempty"`
	Edits      []Edit     `json:"edits"`
	At         time.Time  `json:"at"`
	// Batch joins the changes of one run, so that they can be undone together.
	Batch string `json:"batch,omitempty"`
	// Undoes is the id of the change that this one takes back.
	Undoes string `json:"undoes,omitempty"`
	// Resolves is the id of the proposed change that this one settles.
	Resolves string `json:"resolves,omitempty"`
}

// Edit is before and after of one memory. Before is nil for a new memory. A
// stale before is ErrConflict.
type Edit struct {
	Before *Memory `json:"before,omitempty"`
	After  *Memory `json:"after,omitempty"`
}

// MemoryID returns the id of the memory that the edit concerns.
func (e Edit) MemoryID() string {
	if e.After != nil {
		return e.After.ID
	}
	if e.Before != nil {
		return e.Before.ID
	}
	return ""
}

// Verb says what a change does.
type Verb string

// The verbs of a change.
const (
	VerbAdd       Verb = "add"
	VerbEdit      Verb = "edit"
	VerbSupersede Verb = "supersede"
	VerbRetire    Verb = "retire"
	VerbRestore   Verb = "restore"
	VerbPromote   Verb = "promote"
	VerbDemote    Verb = "demote"
	VerbMerge     Verb = "merge"
	VerbPurge     Verb = "purge"
	VerbUndo      Verb = "undo"
)

// Outcome says what became of a change. Only applied changes touch memory.
type Outcome string

// The outcomes of a change.
const (
	Proposed Outcome = "proposed" // waits for review
	Applied  Outcome = "applied"
	Refused  Outcome = "refused" // kept, so that it is not proposed again
	Undone   Outcome = "undone"  // was applied, then taken back
)

// Actor is who made a change.
type Actor struct {
	Kind ActorKind `json:"kind"`
	// Name is the rule, the model, or the command a human used.
	Name string `json:"name,omitempty"`
}

// ActorKind tells humans, rules and models apart.
type ActorKind string

// The kinds of actor.
const (
	Human ActorKind = "human"
	Rule  ActorKind = "rule"
	Model ActorKind = "model"
)
