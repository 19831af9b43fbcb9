package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"stillso"
	"stillso/internal/host"
	"stillso/internal/llm"
)

// The kinds of work that hooks queue.
const (
	kindCapture = "capture"
	kindRebuild = "rebuild"
)

// The waits before a failed item is tried again, doubled each time.
const (
	firstRetry = time.Minute
	lastRetry  = 24 * time.Hour
	maxTries   = 12
)

// catchUpAge is how far back a session that never said it ended is looked at.
const catchUpAge = 30 * 24 * time.Hour

// idle is how long a transcript must be silent to count as ended.
const idle = 15 * time.Minute

// recent bounds the sessions whose turns are looked through for what a busy model
// left uncaptured; older ones were caught up when they fell silent.
const recent = 48 * time.Hour

// capture captures the sessions that wait, then those that went on since.
func (s *sweeper) capture(ctx context.Context) error {
	conf, err := s.app.config()
	if err != nil {
		return err
	}
	done := map[string]bool{}
	for {
		items, err := s.app.opened.Waiting(ctx, s.app.now(), 50)
		if err != nil {
			return err
		}
		if len(items) == 0 {
			break
		}
		for _, q := range items {
			if err := s.item(ctx, q, conf.Capture.Sessions, done); err != nil {
				return err
			}
		}
	}
	if !conf.Capture.Sessions {
		return nil
	}
	return s.catchUp(ctx, done)
}

// item does one piece of queued work. Its failure is booked with the item; the
// error is that of the store.
func (s *sweeper) item(ctx context.Context, q stillso.QueueItem, captureOn bool, done map[string]bool) error {
	var err error
	switch {
	case q.Kind == kindRebuild:
		s.rebuild = true
	case q.Kind != kindCapture:
		s.log.Warn("queue item of an unknown kind dropped", "kind", q.Kind)
	case captureOn:
		t := task{
			host: q.Payload["host"], transcript: q.Payload["transcript"], session: q.Payload["session"], dir: q.Payload["directory"],
			hurry: q.Payload["event"] != "turn-end", tried: q.Attempts,
		}
		done[t.session] = true
		err = s.one(ctx, t)
	}
	if ctx.Err() != nil {
		return ctx.Err() // it waits for the next sweep
	}
	if err == nil || hopeless(err) {
		if err != nil {
			s.log.Error("session dropped", "session", q.Payload["session"], "error", err.Error())
		}
		return s.app.opened.Finish(ctx, q.ID)
	}
	s.sum.Waiting++
	s.failed("capture", sessionError(task{session: q.Payload["session"]}, err))
	until := s.app.now().Add(min(firstRetry<<min(q.Attempts, maxTries), lastRetry))
	var spent *llm.BudgetError
	switch {
	case errors.As(err, &spent): // it waits until there is budget again, however often
		if spent.Until.After(until) {
			until = spent.Until
		}
	case q.Attempts+1 >= maxTries:
		return s.app.opened.Finish(ctx, q.ID)
	}
	return s.app.opened.Postpone(ctx, q.ID, until, err.Error())
}

// hopeless reports whether trying again cannot help: the file is gone or is none
// of ours.
func hopeless(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, host.ErrUnsupported) || errors.Is(err, errOwnCall)
}

// one captures one session.
func (s *sweeper) one(ctx context.Context, t task) error {
	if _, ok := s.app.assistant(t.host); !ok {
		s.log.Warn("session of an unknown host dropped", "host", t.host)
		return nil
	}
	got, err := s.app.capture(ctx, t)
	if got != nil && (got.Turns > 0 || got.Candidates > 0) {
		s.sum.Sessions++
		s.sum.Saved += len(got.Saved)
		s.sum.Review += got.Review
		s.sum.Refused += got.Refused
		s.saved = append(s.saved, got.Saved...)
		s.log.Info("captured", "session", got.Session, "turns", got.Turns, "saved", len(got.Saved), "review", got.Review, "refused", got.Refused, "remark", got.Remark)
	}
	return err
}

// catchUp captures sessions whose transcript grew since it was read, and which
// nobody queued: a terminal that was closed, a machine that went down.
func (s *sweeper) catchUp(ctx context.Context, done map[string]bool) error {
	list, err := s.app.opened.Sessions(ctx, s.app.now().Add(-catchUpAge))
	if err != nil {
		return err
	}
	for _, x := range list {
		if done[x.ID] || x.Transcript == "" {
			continue
		}
		info, err := os.Stat(x.Transcript)
		if err != nil {
			continue
		}
		age := s.app.now().Sub(info.ModTime())
		if info.Size() == x.Offset && (age > recent || !s.uncaptured(ctx, x)) {
			continue
		}
		quiet := age > idle
		t := task{host: x.Host, transcript: x.Transcript, session: x.ID, dir: x.Directory, hurry: quiet}
		if err := s.one(ctx, t); err != nil && !hopeless(err) {
			s.failed("capture", sessionError(t, err))
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// uncaptured reports whether turns of a session wait to be captured.
func (s *sweeper) uncaptured(ctx context.Context, x stillso.Session) bool {
	turns, err := s.app.opened.Turns(ctx, x.ID)
	return err == nil && newPrompts(turns, x.Captured) > 0
}

// restAfter is how long after a capture the model is left alone.
const restAfter = 10 * time.Minute

// busy reports whether a session has just been captured with a model: its end costs
// the capture and the judge and nothing more. Sweeps that follow one another at once,
// as two events start them, are one end.
func (s *sweeper) busy(ctx context.Context) bool {
	if s.sum.Sessions > 0 {
		return true
	}
	calls, err := s.app.opened.Usage(ctx, s.app.now().Add(-restAfter))
	return err != nil || slices.ContainsFunc(calls, func(u stillso.Usage) bool { return u.Purpose == "capture" || u.Purpose == "judge" })
}

// enrichPerSweep bounds the calls of one sweep; the budget of the day bounds them
// all.
const enrichPerSweep = 30

// enrich gives new memories the words that a person would type.
func (s *sweeper) enrich(ctx context.Context) error {
	model, _, _, err := s.app.choose()
	if err != nil {
		return err
	}
	list := s.saved
	if model != nil && s.busy(ctx) {
		return nil
	}
	if model != nil {
		if list, err = s.app.opened.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active}, Limit: 2000}); err != nil {
			return err
		}
	}
	s.saved = nil
	if len(list) == 0 {
		return nil
	}
	got, err := s.app.enrich(ctx, list, enrichPerSweep, nil)
	if got != nil && (got.Done > 0 || got.Stopped != "") {
		s.sum.Aliases += got.Aliases
		s.log.Info("enriched", "memories", got.Done, "aliases", got.Aliases, "stopped", got.Stopped)
	}
	return err
}
