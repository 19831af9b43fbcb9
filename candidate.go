package stillso

// Candidate is a proposed memory, with what it rests on.
type Candidate struct {
	Memory Memory `json:"memory"`
	// Confirmed is false for a habit that was inferred from several requests.
	Confirmed bool `json:"confirmed"`
	// Finding marks what a session established, not what the user said: it may
	// never be a preference, constraint or decision.
	Finding bool `json:"finding,omitempty"`
	// Score is the judge's mark: 0 before judging, then 1 to 5. From Admit on
	// a candidate is admitted, from Review on it is put to a human, below that
	// it is refused, and kept as refused.
	Score int `json:"score,omitempty"`
	// Reason is the judge's, or the rule's that refused it.
	Reason string `json:"reason,omitempty"`
	// Relation and Of say how it stands to an existing memory.
	Relation Relation `json:"relation,omitempty"`
	Of       string   `json:"of,omitempty"`
}

// The marks from which a candidate is admitted, and from which it goes to review.
const (
	ScoreReview = 3
	ScoreAdmit  = 4
)

// Relation says how a new memory stands to an older one.
type Relation string

// The relations between two memories.
const (
	New         Relation = "new"
	Duplicate   Relation = "duplicate"
	Supplements Relation = "supplements"
	Conflicts   Relation = "conflicts"
	Covers      Relation = "covers"
	Unrelated   Relation = "unrelated"
)
