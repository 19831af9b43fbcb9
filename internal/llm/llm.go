// Package llm is the contract with a language model: text in, text out, with
// limits, and errors that a person understands. The packages below it are its
// adapters; none of them is imported here, so that a room which needs a model
// links neither network nor processes.
//
// A model is never trusted. What it answers is bounded, and is an answer only
// if it is the JSON that was asked for (see Ask); everything else is an error,
// stores nothing and is tried again later.
package llm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// Model answers requests. Implementations are safe for use by several
// goroutines, honour cancellation, and return errors that wrap one of the
// errors of this package, or the context's.
type Model interface {
	// Complete answers one request. The reply's text has at most MaxReply bytes.
	Complete(ctx context.Context, r Request) (Reply, error)
	// Name says which model answers, for people and for the ledger.
	Name() string
}

// The limits of a request and a reply, in bytes. A reply to one of our prompts
// has a few kilobytes; a window of a session has at most some 100 KB.
const (
	MaxReply   = 1 << 20
	MaxRequest = 4 << 20
)

// Request is one question to a model.
type Request struct {
	// Purpose says what the answer is for: capture, judge, enrich, tidy. It is
	// booked in the ledger and decides which budget pays.
	Purpose string
	// System holds the instructions, which are ours; Text holds the data, which
	// is not to be trusted.
	System string
	Text   string
	// Schema is the JSON schema of the answer, if there is one. It is a hint:
	// adapters that cannot enforce a schema ignore it.
	Schema json.RawMessage
	// MaxTokens bounds the answer; 0 leaves it to the model.
	MaxTokens int
	// Session is the session that the request is about, for ledger and budget.
	Session string
	// ID is the row of an evaluation set, by which replay finds a recorded
	// reply. It is not sent and is no part of the hash.
	ID string
}

// Hash names a request by what is asked: the same purpose, instructions, text
// and schema have the same hash, 32 hexadecimal digits.
func (r Request) Hash() string {
	h := sha256.New()
	for _, part := range []string{r.Purpose, r.System, r.Text, string(r.Schema)} {
		fmt.Fprintf(h, "%d:%s", len(part), part) //nolint:errcheck // a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Reply is a model's answer.
type Reply struct {
	Text string
	// Model is the model that answered, if the adapter learns it.
	Model string
	Usage Usage
}

// Usage is what a call cost, as reported; fields that were not reported are 0.
type Usage struct {
	In, Out int // tokens; In includes cached ones
	CostUSD float64
}

// Clock is what this package needs of time: the present, and waiting. Sleep
// returns early with the context's error.
type Clock struct {
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error
}

// Sleep waits for d or until ctx ends: the Sleep of a real Clock.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// Ask completes the request and reads the answer into v: one JSON object in
// which the member named key must be present. A reply that is anything else is
// an error. See Decode.
func Ask(ctx context.Context, m Model, r Request, key string, v any) (Reply, error) {
	reply, err := m.Complete(ctx, r)
	if err != nil {
		return reply, err
	}
	if err := Decode(reply.Text, key, v); err != nil {
		return reply, named(err, m.Name())
	}
	return reply, nil
}
