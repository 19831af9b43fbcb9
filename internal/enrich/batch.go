package enrich

import (
	"context"
	"errors"
	"fmt"
	"time"

	"stillso"
	"stillso/internal/llm"
)

// Batch enriches many memories, one call each. It needs no state of its own:
// each memory says whether it is due, so a batch that was cut off goes on where
// it stopped.
type Batch struct {
	Model llm.Model
	// Context returns what is known around a memory.
	Context func(context.Context, *stillso.Memory) (Context, error)
	// Apply writes one change; stillso.ErrConflict means that the memory has
	// changed meanwhile, and it is left for the next time.
	Apply func(context.Context, stillso.Change) error
	// Progress, if set, is told after each memory.
	Progress func(Summary)
	Now      func() time.Time
	// ID joins the changes, so that the batch can be undone as one.
	ID string
}

// Summary is what a batch has done so far.
type Summary struct {
	Total   int `json:"total"`   // memories that were given
	Due     int `json:"due"`     // of these, those to be enriched
	Done    int `json:"done"`    // enriched
	Aliases int `json:"aliases"` // added in all
	Claims  int `json:"claims,omitempty"`
	Failed  int `json:"failed"` // left for the next time
	// LastError says what happened to the last one that failed.
	LastError string `json:"last_error,omitempty"`
}

// maxInARow is the number of failures in a row after which a model is taken to
// be down.
const maxInARow = 3

// Run enriches those of the memories that are due. A reply that is of no use
// leaves its memory for the next time. The batch stops, with an error that says
// why, when the budget is spent, a person is needed, the model fails three times
// in a row, or a change cannot be written; what was done stays done.
func (b *Batch) Run(ctx context.Context, memories []*stillso.Memory) (Summary, error) {
	s := Summary{Total: len(memories)}
	for _, m := range memories {
		if Due(m) {
			s.Due++
		}
	}
	inARow := 0
	for _, m := range memories {
		if !Due(m) {
			continue
		}
		got, err := b.one(ctx, m)
		if err == nil {
			s.Done++
			s.Aliases += len(got.Aliases)
			s.Claims += len(got.Claims)
			inARow = 0
		} else {
			s.Failed++
			s.LastError = llm.Short(err.Error())
			inARow++
		}
		if b.Progress != nil {
			b.Progress(s)
		}
		switch {
		case err == nil || errors.Is(err, stillso.ErrConflict):
			inARow = 0
		case ctx.Err() != nil:
			return s, ctx.Err()
		case errors.Is(err, llm.ErrNotJSON), errors.Is(err, llm.ErrRefused), errors.Is(err, llm.ErrTool), errors.Is(err, llm.ErrTooLarge),
			errors.Is(err, llm.ErrTimeout), errors.Is(err, llm.ErrUnavailable), errors.Is(err, llm.ErrNotRecorded):
			if inARow < maxInARow {
				continue
			}
			return s, fmt.Errorf("%d failures in a row, %d of %d memories are enriched: %w", inARow, s.Done, s.Due, err)
		default:
			return s, fmt.Errorf("%d of %d memories are enriched: %w", s.Done, s.Due, err)
		}
	}
	return s, nil
}

// one enriches one memory and returns what it got.
func (b *Batch) one(ctx context.Context, m *stillso.Memory) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	c, err := b.Context(ctx, m)
	if err != nil {
		return Answer{}, err
	}
	answer, err := Enrich(ctx, b.Model, m, c)
	if err != nil {
		return Answer{}, err
	}
	change := Change(m, answer, b.Model.Name(), b.Now())
	change.Batch = b.ID
	if err := b.Apply(ctx, change); err != nil {
		return Answer{}, err
	}
	return answer, nil
}
