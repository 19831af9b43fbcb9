package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gofrs/flock"

	"stillso"
	"stillso/internal/home"
)

// sweepCmd does the offline work that waits.
type sweepCmd struct {
	Wait    bool `help:"If another sweep is running, wait for it and then sweep."`
	Rebuild bool `help:"Build the whole index anew."`
}

// Help shows examples.
func (sweepCmd) Help() string {
	return `A hook starts the sweep by itself, in the background; there is no daemon. It
captures the sessions that wait, keeps memories in step with the files they stand
in, and brings the index up to date. One sweep runs at a time; a killed one is
taken up by the next.

Examples:
  stillso sweep
  stillso sweep --wait --json`
}

// swept is what a sweep did.
type swept struct {
	// Running says that another sweep was at work, so this one did nothing.
	Running  bool     `json:"running,omitempty"`
	Receipts int      `json:"receipts"`
	Sessions int      `json:"sessions"`
	Saved    int      `json:"saved"`
	Review   int      `json:"review"`
	Refused  int      `json:"refused"`
	InStep   int      `json:"file_changes"`
	Tidied   int      `json:"tidied"`
	Expired  int      `json:"expired"`
	Aliases  int      `json:"aliases"`
	Claims   int      `json:"claims"`
	Labels   int      `json:"labels"`
	Promoted int      `json:"promoted"`
	Demoted  int      `json:"demoted"`
	Waiting  int      `json:"waiting"`
	Errors   []string `json:"errors,omitempty"`
	Millis   int64    `json:"ms"`
}

func (c *sweepCmd) run(ctx context.Context, a *app) (summary, error) {
	if !a.exists() && !a.spooled() {
		return nil, &marked{class: errNoStore, text: fmt.Sprintf("nothing to sweep under %s: nothing was saved and no hook has run yet", a.dir)}
	}
	if err := a.create(ctx); err != nil {
		return nil, err
	}
	unlock, err := a.lockSweep(ctx, c.Wait)
	if err != nil {
		return nil, err
	}
	if unlock == nil {
		return &swept{Running: true}, nil
	}
	defer unlock()
	log, err := openSweepLog(a)
	if err != nil {
		return nil, err
	}
	s := &sweeper{app: a, log: log, sum: &swept{}, whole: c.Wait || c.Rebuild}
	begin := a.now()
	log.Info("start", "version", buildVersion().Version)
	err = s.all(ctx, c.Rebuild)
	s.sum.Millis = a.now().Sub(begin).Milliseconds()
	if err == nil && len(s.sum.Errors) > 0 {
		log.Error("failed", "error", s.sum.Errors[0], "errors", len(s.sum.Errors), "ms", s.sum.Millis)
	} else if err != nil {
		log.Error("failed", "error", err.Error(), "ms", s.sum.Millis)
	} else {
		log.Info("done", "receipts", s.sum.Receipts, "sessions", s.sum.Sessions, "saved", s.sum.Saved, "ms", s.sum.Millis)
	}
	return s.sum, errors.Join(err, log.Close())
}

// lockSweep makes this sweep the only one; nil without an error says that
// another one is running.
func (a *app) lockSweep(ctx context.Context, wait bool) (func(), error) {
	if err := plainLock(a.dir.SweepLock()); err != nil {
		return nil, fmt.Errorf("cannot lock the sweep: %w", err)
	}
	l := flock.New(a.dir.SweepLock(), flock.SetPermissions(0o600))
	got, err := l.TryLock()
	if err == nil && !got && wait {
		p := newProgress(a)
		p.show("waiting for the sweep that is running")
		defer p.clear()
		got, err = l.TryLockContext(ctx, 50*time.Millisecond)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot lock the sweep: %w", err)
	}
	if !got {
		return nil, nil
	}
	return func() { l.Unlock() }, nil //nolint:errcheck,gosec // the lock ends with the process
}

// sweeper is one sweep at work. A step that fails is noted and does not keep the
// others from being done.
type sweeper struct {
	app *app
	log *sweepLog
	sum *swept
	// rebuild is set where a hook found the index unusable.
	rebuild bool
	// whole is set where a person asked for everything to be done.
	whole bool
	// saved are the memories that this sweep captured.
	saved []*stillso.Memory
}

// rounds bounds how often a sweep looks again for what came in while it worked.
const rounds = 20

func (s *sweeper) all(ctx context.Context, rebuild bool) error {
	for range rounds {
		for _, step := range []struct {
			name string
			do   func(context.Context) error
		}{
			{"drain", s.drain}, {"capture", s.capture}, {"files", s.files}, {"enrich", s.enrich},
		} {
			if err := step.do(ctx); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				s.failed(step.name, err)
			}
		}
		if !s.app.spooled() || len(s.sum.Errors) > 0 {
			break
		}
	}
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{{"review", s.expire}, {"tidy", s.tidy}} {
		if err := step.do(ctx); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.failed(step.name, err)
		}
	}
	if err := s.upkeep(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.failed("verify", err)
	}
	if err := s.app.index(ctx, rebuild || s.rebuild || s.overdue()); err != nil {
		s.failed("index", err)
	}
	s.tidySpool()
	return ctx.Err()
}

func (s *sweeper) failed(step string, err error) {
	s.log.Error("step failed", "step", step, "error", err.Error())
	s.sum.Errors = append(s.sum.Errors, step+": "+err.Error())
}

// drain takes what hooks have appended into the store. A line that cannot be
// read is logged and skipped: it would never become readable.
func (s *sweeper) drain(ctx context.Context) error {
	st, err := s.app.store(ctx)
	if err != nil {
		return err
	}
	var receipts []stillso.Receipt
	flush := func() error {
		if len(receipts) == 0 {
			return nil
		}
		err := st.AddReceipts(ctx, receipts)
		s.sum.Receipts += len(receipts)
		receipts = receipts[:0]
		return err
	}
	errReceipts := s.app.dir.Drain(home.Receipts, func(line []byte) error {
		var r stillso.Receipt
		if err := json.Unmarshal(line, &r); err != nil {
			s.log.Warn("receipt skipped", "error", err.Error())
			return nil
		}
		if receipts = append(receipts, r); len(receipts) >= 500 {
			return flush()
		}
		return nil
	})
	errQueue := s.app.dir.Drain(home.Queue, func(line []byte) error {
		var q stillso.QueueItem
		if err := json.Unmarshal(line, &q); err != nil {
			s.log.Warn("queue item skipped", "error", err.Error())
			return nil
		}
		return st.Enqueue(ctx, q)
	})
	return errors.Join(errReceipts, flush(), errQueue)
}

func (s *swept) text(p *page) {
	if s.Running {
		p.printf("another sweep is running; it does the work (--wait waits for it)\n")
		return
	}
	p.printf("%s captured, %s saved, %s to review, %s in step with files, %s  %s\n",
		plural(s.Sessions, "session", "sessions"), plural(s.Saved, "memory", "memories"), fmt.Sprint(s.Review),
		plural(s.InStep, "change", "changes"), plural(s.Receipts, "receipt", "receipts"), p.faint(fmt.Sprintf("%d ms", s.Millis)))
	if s.Waiting > 0 {
		p.printf("%s waiting for a later try\n", plural(s.Waiting, "item is", "items are"))
	}
	for _, e := range s.Errors {
		p.printf("%s %s\n", p.red("failed"), e)
	}
}

func (s *swept) exitCode() int {
	if len(s.Errors) > 0 {
		return exitProblems
	}
	return exitOK
}
