// Package capture reads what was said in a session and proposes memories, and
// holds the rules that dispose of what was proposed. A proposal comes from a
// model, or without one from conservative cues in what the user typed. The rules
// are the same for both: evidence must stand word for word in a turn that a human
// typed, what tools, files and assistants said proves nothing, and nothing is
// stored that a person took back. Every refusal is journalled with its reason.
//
// The package does no I/O of its own. Run is the whole path of one capture.
package capture

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/llm"
	"stillso/internal/redact"
)

// Job is one capture run: the turns of a session, and what the rules need to
// know of the world.
type Job struct {
	Session stillso.Session
	// Turns are all turns of the session in order. Session.Captured of them were
	// captured before; they are context only.
	Turns []stillso.Turn
	// Project is the namespace of memories that belong to the project; Root is
	// the directory to which related files are made relative.
	Project stillso.Namespace
	Root    string
	// Model proposes; nil lets the cues do it.
	Model llm.Model
	// Judge scores what the model proposed: it sets Score, Reason, Relation and
	// Of of the candidates in place. nil, without a model, scores by cue.
	Judge func(ctx context.Context, q Question) error
	// Near returns the k memories of the project and the user that are nearest
	// to a text, in any state, best first. Usually Search of the store.
	Near func(text string, k int) []*stillso.Memory
	// Refused are earlier changes of verb add that were refused or undone, or that
	// wait for review: what they hold is not proposed again.
	Refused []stillso.Change
	// Receipts are those of this session, to tell repeats that were injected
	// from repeats that were missed.
	Receipts []stillso.Receipt
	// Findings lets the model also propose what a session established.
	Findings bool
	// Limit bounds the text of a window in bytes; 0 is DefaultLimit.
	Limit int
	// Now is the time of the run; relative dates rest on the turns' times, and on
	// Now where a turn has none. Location is the user's; nil is UTC.
	Now      time.Time
	Location *time.Location
	// Batch joins the changes of this run.
	Batch string
	// NewID makes the ids of changes and memories; nil is stillso.NewID.
	NewID func() string
}

// Question is what a judge is asked: the conversation as the proposer saw it,
// the candidates, and for each the existing memories that are nearest.
type Question struct {
	Session    string
	Window     string
	Candidates []*stillso.Candidate
	Near       [][]*stillso.Memory
}

// Outcome is what a run came to.
type Outcome struct {
	// Changes are to be applied together, in order.
	Changes []stillso.Change `json:"changes"`
	// Repeats are statements that an existing memory says already.
	Repeats []Repeat `json:"repeats,omitempty"`
	// Captured is how many turns of the session have now been captured.
	Captured int `json:"captured"`
	// More is true if turns remain for another run.
	More bool `json:"more,omitempty"`
	// Candidates counts what was proposed.
	Candidates int `json:"candidates"`
	// Calls are the model's replies, for figures.
	Calls int `json:"calls,omitempty"`
}

// Run proposes, judges and disposes. With a model it reads one window and makes
// at most two calls; call it again while More is true. An error leaves nothing
// half done: the same turns are captured when it is called again.
func Run(ctx context.Context, job Job) (Outcome, error) {
	job.prepare()
	if job.Model == nil {
		cands := Rules(job.Turns, job.Session.Captured)
		d := newDisposer(&job, job.Session.Captured)
		d.all(cands)
		return Outcome{Changes: d.changes, Repeats: d.repeats, Captured: len(job.Turns), Candidates: len(cands)}, nil
	}
	windows := Windows(&job)
	if len(windows) == 0 {
		return Outcome{Captured: len(job.Turns)}, nil
	}
	w := windows[0]
	out := Outcome{Captured: w.end, More: len(windows) > 1, Calls: 1}
	cands, updates, err := propose(ctx, job.Model, w)
	if err != nil {
		return Outcome{Captured: job.Session.Captured}, fmt.Errorf("cannot capture session %s: %w", job.Session.ID, err)
	}
	out.Candidates = len(cands)
	d := newDisposer(&job, w.first)
	kept := d.screen(cands)
	q := Question{Session: job.Session.ID, Window: w.Text}
	for i := range kept {
		if !kept[i].Finding {
			q.Candidates = append(q.Candidates, &kept[i])
			q.Near = append(q.Near, nearest(d.notes[i].near, 3))
		}
	}
	if len(q.Candidates) > 0 && job.Judge != nil {
		out.Calls++
		if err := job.Judge(ctx, q); err != nil {
			return Outcome{Captured: job.Session.Captured}, fmt.Errorf("cannot judge what session %s brought: %w", job.Session.ID, err)
		}
	}
	d.settle(kept)
	w.updates = updates
	d.told(w)
	out.Changes, out.Repeats = d.changes, d.repeats
	return out, nil
}

// prepare fills what the caller left open and takes the secrets out of the turns.
func (j *Job) prepare() {
	if j.NewID == nil {
		j.NewID = stillso.NewID
	}
	if j.Location == nil {
		j.Location = time.UTC
	}
	if j.Limit <= 0 {
		j.Limit = DefaultLimit
	}
	if j.Near == nil {
		j.Near = func(string, int) []*stillso.Memory { return nil }
	}
	if j.Project == "" {
		j.Project = j.Session.Namespace
	}
	if j.Project == "" {
		j.Project = stillso.UserNamespace
	}
	j.Session.Captured = min(max(j.Session.Captured, 0), len(j.Turns))
	j.Turns = slices.Clone(j.Turns)
	for i := range j.Turns {
		// What is neither typed nor shown is compared with only, and never copied:
		// quotes and contents are redacted on their own.
		if first := j.Session.Captured; j.Turns[i].Speaker == stillso.Typed || i >= first-lead && !skippable(j.Turns, i, first) {
			j.Turns[i].Text, _ = redact.Text(j.Turns[i].Text)
		}
	}
}

// near returns the nearest memories in one of the states.
func (j *Job) near(text string, k int, states ...stillso.State) []*stillso.Memory {
	var out []*stillso.Memory
	for _, m := range j.Near(text, 4*k+4) {
		if m != nil && slices.Contains(states, m.State) && len(out) < k {
			out = append(out, m)
		}
	}
	return out
}

// nearest returns the first k active memories of a list.
func nearest(list []*stillso.Memory, k int) []*stillso.Memory {
	var out []*stillso.Memory
	for _, m := range list {
		if m.State == stillso.Active && len(out) < k {
			out = append(out, m)
		}
	}
	return out
}

// Explicit makes the candidate of something that the user saves by a command:
// it has the highest score and the user's own words as evidence.
func Explicit(text string) stillso.Candidate {
	text, _ = redact.Text(strings.TrimSpace(text))
	m := stillso.Memory{Content: text, Origin: stillso.FromUser, State: stillso.Active, Priority: 3, Evidence: []stillso.Evidence{{Quote: text}}}
	m.Type, m.Namespace = typeOf(text), namespaceOf(text, "")
	m.Name = Name(text)
	return stillso.Candidate{Memory: m, Confirmed: true, Score: 5, Relation: stillso.New, Reason: "saved by command"}
}
