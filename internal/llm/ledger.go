package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"stillso"
)

// WithLedger books every call that reached the model, also one that failed, by
// passing it to book; one whose reply holds no JSON, which is what every room asks
// for, is booked as failed, so that usage and doctor can show it. If booking fails the reply is kept and the booking is
// made up for before the next call; no further call is made until it succeeds,
// so that a budget that reads the ledger cannot be overrun unseen.
func WithLedger(m Model, now func() time.Time, book func(context.Context, stillso.Usage) error) Model {
	return &ledger{Model: m, now: now, book: book}
}

type ledger struct {
	Model
	now  func() time.Time
	book func(context.Context, stillso.Usage) error

	mu   sync.Mutex
	owed []stillso.Usage
}

func (l *ledger) Complete(ctx context.Context, r Request) (Reply, error) {
	if err := l.settle(ctx); err != nil {
		return Reply{}, fmt.Errorf("cannot book model calls, so none is made: %w", err)
	}
	start := l.now()
	reply, err := l.Model.Complete(ctx, r)
	if errors.Is(err, ErrNotInstalled) || errors.Is(err, ErrConfig) || errors.Is(err, ErrNotRecorded) {
		return reply, err // nothing was called
	}
	u := stillso.Usage{
		At: start.UTC(), Purpose: r.Purpose, Model: reply.Model, Session: r.Session,
		In: reply.Usage.In, Out: reply.Usage.Out, CostUSD: reply.Usage.CostUSD, Millis: l.now().Sub(start).Milliseconds(),
	}
	if u.Model == "" {
		u.Model = l.Name()
	}
	switch {
	case err != nil:
		u.Error = Short(err.Error())
	default:
		if bad := unusable(reply.Text); bad != nil {
			u.Error = Short(named(bad, l.Name()).Error())
		}
	}
	l.mu.Lock()
	l.owed = append(l.owed, u)
	l.mu.Unlock()
	// A failure here is seen by the next call; the answer in hand is paid for.
	_ = l.settle(context.WithoutCancel(ctx))
	return reply, err
}

// unusable says why no room can use a reply; nil if it holds JSON.
func unusable(text string) error {
	_, err := JSON(text)
	if err != nil {
		if t := trouble(text, false); t != nil {
			return t
		}
	}
	return err
}

// settle books what is owed.
func (l *ledger) settle(ctx context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.owed) > 0 {
		if err := l.book(ctx, l.owed[0]); err != nil {
			return err
		}
		l.owed = l.owed[1:]
	}
	return nil
}

// Limits bound what calls may cost. In each field 0 stands for the default and
// a negative number for no limit.
type Limits struct {
	RunCalls     int `toml:"run_calls"`     // calls in one run, see WithBudget
	SessionCalls int `toml:"session_calls"` // calls about one session, ever
	DayCalls     int `toml:"day_calls"`     // calls since midnight, failed ones too
	DayTokens    int `toml:"day_tokens"`    // tokens in and out since midnight
}

// Budgets holds the limits of each pot; see Pot.
type Budgets map[string]Limits

// Pot names the budget that pays for a purpose: capture and judge share one,
// enrich and tidy have their own, and everything else pays from "other".
func Pot(purpose string) string {
	switch purpose {
	case "capture", "judge":
		return "capture"
	case "enrich", "tidy":
		return purpose
	}
	return "other"
}

// Of returns the limits of a pot, defaults filled in. The defaults let a heavy
// day of some 80 sessions through, and stop a loop within minutes: one peer
// burnt 649 million tokens without a limit.
func (b Budgets) Of(pot string) Limits {
	def := map[string]Limits{
		"capture": {RunCalls: 2, SessionCalls: 60, DayCalls: 300, DayTokens: 5_000_000},
		"enrich":  {RunCalls: -1, SessionCalls: -1, DayCalls: 1000, DayTokens: 2_000_000},
		"tidy":    {RunCalls: 50, SessionCalls: -1, DayCalls: 100, DayTokens: 1_000_000},
		"other":   {RunCalls: 10, SessionCalls: 20, DayCalls: 50, DayTokens: 500_000},
	}[pot]
	own := b[pot]
	for _, f := range []struct{ own, def *int }{
		{&own.RunCalls, &def.RunCalls}, {&own.SessionCalls, &def.SessionCalls}, {&own.DayCalls, &def.DayCalls}, {&own.DayTokens, &def.DayTokens},
	} {
		if *f.own == 0 {
			*f.own = *f.def
		}
	}
	return own
}

// BudgetError says which limit is spent and when it is free again. It wraps
// ErrBudget. Work that needs the model waits until then; nothing is lost.
type BudgetError struct {
	Pot   string
	Limit string // the name of the limit in the settings
	Most  int
	// Until is when to try again; zero if only a new run or session can.
	Until time.Time
}

// Error names the setting that a person can change.
func (e *BudgetError) Error() string {
	s := fmt.Sprintf("model budget is spent: %s of %s is %d", e.Limit, e.Pot, e.Most)
	if !e.Until.IsZero() {
		s += "; it goes on at " + e.Until.Format("2006-01-02 15:04")
	}
	return s + fmt.Sprintf("; to allow more, set %s in [llm.budget.%s]", e.Limit, e.Pot)
}

// Unwrap makes the error an ErrBudget.
func (e *BudgetError) Unwrap() error { return ErrBudget }

// WithBudget makes no call beyond the budgets. The returned model is one run:
// take a new one for each capture run. What was spent before is read from the
// ledger by spent, which lists the calls since a time; if that fails no call is
// made. The day begins at midnight in the zone of now.
func WithBudget(m Model, b Budgets, now func() time.Time, spent func(context.Context, time.Time) ([]stillso.Usage, error)) Model {
	return &budget{Model: m, b: b, now: now, spent: spent, run: map[string]int{}}
}

type budget struct {
	Model
	b     Budgets
	now   func() time.Time
	spent func(context.Context, time.Time) ([]stillso.Usage, error)

	mu  sync.Mutex
	run map[string]int // calls of this run by pot
}

func (g *budget) Complete(ctx context.Context, r Request) (Reply, error) {
	if err := g.take(ctx, r); err != nil {
		return Reply{}, err
	}
	return g.Model.Complete(ctx, r)
}

// take counts the call, or says why it may not be made.
func (g *budget) take(ctx context.Context, r Request) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	pot, now := Pot(r.Purpose), g.now()
	lim := g.b.Of(pot)
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	since := midnight
	if r.Session != "" && lim.SessionCalls > 0 {
		since = now.AddDate(0, 0, -30) // sessions are resumed for weeks, not for ever
	}
	calls, err := g.spent(ctx, since)
	if err != nil {
		return fmt.Errorf("cannot read what models cost today, so no call is made: %w", err)
	}
	var session, day, tokens int
	for _, u := range calls {
		if Pot(u.Purpose) != pot {
			continue
		}
		if u.Session == r.Session && r.Session != "" {
			session++
		}
		if !u.At.Before(midnight) {
			day++
			tokens += u.In + u.Out
		}
	}
	tomorrow := midnight.AddDate(0, 0, 1)
	for _, l := range []struct {
		name       string
		used, most int
		until      time.Time
	}{
		{"run_calls", g.run[pot], lim.RunCalls, time.Time{}},
		{"session_calls", session, lim.SessionCalls, time.Time{}},
		{"day_calls", day, lim.DayCalls, tomorrow},
		{"day_tokens", tokens, lim.DayTokens, tomorrow},
	} {
		if l.most >= 0 && l.used >= l.most {
			return &BudgetError{Pot: pot, Limit: l.name, Most: l.most, Until: l.until}
		}
	}
	g.run[pot]++
	return nil
}

// Guard holds everything that stands between a room and a bare model.
type Guard struct {
	Timeout time.Duration
	Policy  Policy
	Budgets Budgets
	// Book and Spent write and read the ledger.
	Book  func(context.Context, stillso.Usage) error
	Spent func(context.Context, time.Time) ([]stillso.Usage, error)
}

// Wrap puts the guards around m in their one right order: a budget for the
// run, retries inside it, and each try booked and bounded in time. Take a new
// one for each run.
func (g Guard) Wrap(m Model) Model {
	m = WithLedger(WithTimeout(m, g.Timeout), g.Policy.Clock.Now, g.Book)
	return WithBudget(WithRetry(m, g.Policy), g.Budgets, g.Policy.Clock.Now, g.Spent)
}
