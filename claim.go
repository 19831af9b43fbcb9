package stillso

import "time"

// Claim is the part of a memory that can be checked against the world.
type Claim struct {
	ID string `json:"id"`
	// Probe names the function that checks it.
	Probe string `json:"probe"`
	// Args are the probe's arguments, validated by type before it runs.
	Args    []string `json:"args"`
	Verdict Verdict  `json:"verdict,omitempty"`
	// Reason says in words what the probe saw.
	Reason    string    `json:"reason,omitempty"`
	CheckedAt time.Time `json:"checked_at,omitzero"`
}

// Verdict is what a probe found.
type Verdict string

// The verdicts of a probe. A probe returns only those its evidence allows.
const (
	Holds   Verdict = "holds"
	Fails   Verdict = "fails"
	Unknown Verdict = "unknown"
)

// Unverified returns the reason of the first failing claim of m, or "".
func (m *Memory) Unverified() string {
	for _, c := range m.Claims {
		if c.Verdict == Fails {
			return c.Reason
		}
	}
	return ""
}
