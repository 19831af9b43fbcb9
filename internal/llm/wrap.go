package llm

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// WithTimeout bounds every call by d. A call that took longer is ErrTimeout; a
// call that the caller cancelled stays the caller's error.
func WithTimeout(m Model, d time.Duration) Model { return &timed{m, d} }

type timed struct {
	Model
	d time.Duration
}

func (t *timed) Complete(ctx context.Context, r Request) (Reply, error) {
	inner, cancel := context.WithTimeout(ctx, t.d)
	defer cancel()
	reply, err := t.Model.Complete(inner, r)
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return reply, ctx.Err()
	case inner.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return reply, &Error{
			Kind: ErrTimeout, Model: t.Name(), Detail: fmt.Sprintf("no answer within %s, the call was ended", t.d),
			Do: "raise timeout in [llm], or choose a faster model", Err: err,
		}
	}
	return reply, err
}

// Policy says how a call is tried again at once. What still fails then waits
// in the queue.
type Policy struct {
	// Tries is the greatest number of calls, the first included.
	Tries int
	// First is the wait before the second try; it doubles up to Most. A model
	// that asks for a longer wait than Most is not tried again at once.
	First, Most time.Duration
	// Jitter returns a number from 0 up to 1; so many callers do not come back
	// in the same moment.
	Jitter func() float64
	Clock  Clock
}

// WithRetry repeats calls that fail in a way that may pass in a moment.
func WithRetry(m Model, p Policy) Model { return &retried{m, p} }

type retried struct {
	Model
	p Policy
}

func (t *retried) Complete(ctx context.Context, r Request) (Reply, error) {
	wait := t.p.First
	for try := 1; ; try++ {
		reply, err := t.Model.Complete(ctx, r)
		if err == nil || ctx.Err() != nil || try >= t.p.Tries || !Retryable(err) {
			return reply, err
		}
		pause := wait/2 + time.Duration(t.p.Jitter()*float64(wait/2))
		if asked := After(err); asked > 0 {
			if asked > t.p.Most {
				return reply, err
			}
			pause = asked + time.Duration(t.p.Jitter()*float64(t.p.First))
		}
		if t.p.Clock.Sleep(ctx, pause) != nil {
			return reply, err
		}
		wait = min(2*wait, t.p.Most)
	}
}
