package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"stillso"
)

// State is what is known of claims between two runs: when each was checked, and how
// often in a row it failed. It holds ids and dates, no text; losing it costs one run.
// A confirmation is written here, as a date, and is no change of the memory.
type State struct {
	// Memories maps the id of a memory to its claims, by id.
	Memories map[string]map[string]*Seen `json:"memories"`
}

// Seen is what was last seen of one claim.
type Seen struct {
	Verdict stillso.Verdict `json:"verdict"`
	At      time.Time       `json:"at"`
	// Held is when the claim held last.
	Held time.Time `json:"held,omitzero"`
	// Failed counts the runs in a row in which it failed.
	Failed int `json:"failed,omitempty"`
	// Labelled says that the memory was given the label, and has not held since: where
	// it has none now, a person took it back.
	Labelled bool `json:"labelled,omitempty"`
	// Mark identifies the content of a file that was there.
	Mark string `json:"mark,omitempty"`
}

// maxState bounds the file that is read, in bytes: some 200,000 claims.
const maxState = 64 << 20

// ReadState reads the state. A file that is not there, or cannot be understood, is
// an empty state: everything is due again.
func ReadState(path string) (*State, error) {
	s := &State{Memories: map[string]map[string]*Seen{}}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxState {
		return nil, fmt.Errorf("cannot read when claims were checked: %s is no plain file of ours; move it away, it is made anew", path)
	}
	data, err := os.ReadFile(path) // #nosec G304 -- a file of the home directory
	if err != nil {
		return nil, fmt.Errorf("cannot read when claims were checked: %w", err)
	}
	if json.Unmarshal(data, s) != nil || s.Memories == nil {
		s.Memories = map[string]map[string]*Seen{}
	}
	for id, claims := range s.Memories {
		for c, v := range claims {
			if v == nil {
				delete(claims, c)
			}
		}
		if claims == nil {
			delete(s.Memories, id)
		}
	}
	return s, nil
}

// Bytes returns the content of the file.
func (s *State) Bytes() ([]byte, error) { return json.Marshal(s) }

// Keep forgets the memories that keep says no to: those that were retired or purged.
func (s *State) Keep(keep func(id string) bool) {
	for id := range s.Memories {
		if !keep(id) {
			delete(s.Memories, id)
		}
	}
}

// of returns the entry of a claim, made if there is none.
func (s *State) of(memory, claim string) *Seen {
	if s.Memories[memory] == nil {
		s.Memories[memory] = map[string]*Seen{}
	}
	if s.Memories[memory][claim] == nil {
		s.Memories[memory][claim] = &Seen{}
	}
	return s.Memories[memory][claim]
}

// checked returns when a claim was last checked.
func (s *State) checked(memory, claim string) time.Time {
	if v := s.Memories[memory][claim]; v != nil {
		return v.At
	}
	return time.Time{}
}

// past returns whether a claim ever held, and what identifies the file that it was
// about then.
func (s *State) past(memory, claim string) (mark string, held bool) {
	if v := s.Memories[memory][claim]; v != nil {
		return v.Mark, !v.Held.IsZero()
	}
	return "", false
}

// Due counts the claims of memories that were never checked, and returns the oldest
// check of the others.
func (s *State) Due(memories []*stillso.Memory) (claims, never int, oldest time.Time) {
	for _, m := range memories {
		for _, c := range Claims(m) {
			claims++
			at := s.checked(m.ID, c.ID)
			switch {
			case at.IsZero():
				never++
			case oldest.IsZero() || at.Before(oldest):
				oldest = at
			}
		}
	}
	return claims, never, oldest
}

// Last returns the claims of a memory with what was last seen of each.
func (s *State) Last(m *stillso.Memory) []stillso.Claim {
	claims := Claims(m)
	for i := range claims {
		c := &claims[i]
		if v := s.Memories[m.ID][c.ID]; v != nil && c.Verdict != stillso.Fails && c.Reason != ByPerson {
			c.Verdict, c.Reason, c.CheckedAt = v.Verdict, "", v.At
		}
	}
	return claims
}

// note books what a job found, and reports whether its failure is to be damped: that
// of a probe which asks other machines counts from the second run on.
func (s *State) note(j *job, now time.Time) bool {
	v := s.of(j.memory.ID, j.claim.ID)
	v.At, v.Verdict = now, j.answer.verdict
	switch j.answer.verdict {
	case stillso.Holds:
		v.Held, v.Failed = now, 0
		if j.answer.mark != "" {
			v.Mark = j.answer.mark
		}
	case stillso.Fails:
		v.Failed++
		return j.probe.Cost == Network && v.Failed < 2
	}
	return false
}

// says puts a claim into words.
func says(c stillso.Claim) string {
	p, ok := Find(c.Probe)
	if !ok || len(p.Args) != len(c.Args) {
		return c.Probe
	}
	args := make([]any, len(c.Args))
	for i, a := range c.Args {
		args[i] = a
	}
	return fmt.Sprintf(p.Says, args...)
}

// Says puts a claim into words, for people.
func Says(c stillso.Claim) string { return strings.TrimSpace(says(c)) }
