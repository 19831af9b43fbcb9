package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"stillso"
	"stillso/internal/llm"
)

// script answers with one function after the other, the last one for ever.
type script struct {
	calls int
	steps []func(context.Context) (llm.Reply, error)
}

func (s *script) Name() string { return "script" }

func (s *script) Complete(ctx context.Context, _ llm.Request) (llm.Reply, error) {
	f := s.steps[min(s.calls, len(s.steps)-1)]
	s.calls++
	return f(ctx)
}

func fails(err error) func(context.Context) (llm.Reply, error) {
	return func(context.Context) (llm.Reply, error) { return llm.Reply{}, err }
}

func answers(text string) func(context.Context) (llm.Reply, error) {
	return func(context.Context) (llm.Reply, error) {
		return llm.Reply{Text: text, Usage: llm.Usage{In: 100, Out: 10}}, nil
	}
}

// clock is a clock that moves only when somebody sleeps.
type clock struct {
	at    time.Time
	slept []time.Duration
}

func (c *clock) real() llm.Clock {
	return llm.Clock{Now: func() time.Time { return c.at }, Sleep: func(ctx context.Context, d time.Duration) error {
		c.slept = append(c.slept, d)
		c.at = c.at.Add(d)
		return ctx.Err()
	}}
}

func newClock() *clock { return &clock{at: time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)} }

// Guards against hammering a service that asked for peace, and against giving
// up where a second try a moment later would do.
func TestRetry(t *testing.T) {
	limited := func(after time.Duration) error { return &llm.Error{Kind: llm.ErrLimited, After: after} }
	down := &llm.Error{Kind: llm.ErrUnavailable}
	for _, c := range []struct {
		name  string
		steps []func(context.Context) (llm.Reply, error)
		calls int
		slept string
		ok    bool
	}{
		{"at once", []func(context.Context) (llm.Reply, error){answers("x")}, 1, "[]", true},
		{"second try", []func(context.Context) (llm.Reply, error){fails(down), answers("x")}, 2, "[1.5s]", true},
		{"doubles, then gives up", []func(context.Context) (llm.Reply, error){fails(down)}, 4, "[1.5s 3s 6s]", false},
		{"waits as long as asked", []func(context.Context) (llm.Reply, error){fails(limited(20 * time.Second)), answers("x")}, 2, "[21s]", true},
		{"asked for too long", []func(context.Context) (llm.Reply, error){fails(limited(time.Hour))}, 1, "[]", false},
		{"only a person can help", []func(context.Context) (llm.Reply, error){fails(&llm.Error{Kind: llm.ErrNotLoggedIn})}, 1, "[]", false},
		{"refused", []func(context.Context) (llm.Reply, error){fails(&llm.Error{Kind: llm.ErrRefused})}, 1, "[]", false},
	} {
		cl, s := newClock(), &script{steps: c.steps}
		m := llm.WithRetry(s, llm.Policy{Tries: 4, First: 2 * time.Second, Most: 30 * time.Second, Jitter: func() float64 { return 0.5 }, Clock: cl.real()})
		_, err := m.Complete(t.Context(), llm.Request{})
		if got := fmt.Sprint(cl.slept); s.calls != c.calls || got != c.slept || (err == nil) != c.ok {
			t.Errorf("%s: %d calls, slept %s, %v", c.name, s.calls, got, err)
		}
	}
}

// Guards against a retry loop that outlives its caller.
func TestRetryEndsWithCaller(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &script{steps: []func(context.Context) (llm.Reply, error){func(context.Context) (llm.Reply, error) {
		cancel()
		return llm.Reply{}, &llm.Error{Kind: llm.ErrUnavailable}
	}}}
	m := llm.WithRetry(s, llm.Policy{Tries: 9, First: time.Hour, Most: time.Hour, Jitter: func() float64 { return 0 }, Clock: llm.Clock{Now: time.Now, Sleep: llm.Sleep}})
	if _, err := m.Complete(ctx, llm.Request{}); err == nil || s.calls != 1 {
		t.Errorf("%d calls, %v", s.calls, err)
	}
}

// Guards against a model that hangs holding up the sweep, and against telling a
// person who pressed ctrl-c that the model was slow.
func TestTimeout(t *testing.T) {
	hangs := &script{steps: []func(context.Context) (llm.Reply, error){func(ctx context.Context) (llm.Reply, error) {
		<-ctx.Done()
		return llm.Reply{}, ctx.Err()
	}}}
	_, err := llm.WithTimeout(hangs, 10*time.Millisecond).Complete(t.Context(), llm.Request{})
	if !errors.Is(err, llm.ErrTimeout) || !strings.Contains(err.Error(), "raise timeout") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = llm.WithTimeout(hangs, time.Minute).Complete(ctx, llm.Request{}); !errors.Is(err, context.Canceled) || errors.Is(err, llm.ErrTimeout) {
		t.Errorf("cancelled: got %v", err)
	}
}

// book is a ledger in memory that can fail.
type book struct {
	rows []stillso.Usage
	err  error
}

func (b *book) add(ctx context.Context, u stillso.Usage) error {
	if b.err == nil && ctx.Err() == nil {
		b.rows = append(b.rows, u)
	}
	return errors.Join(b.err, ctx.Err())
}

func (b *book) since(_ context.Context, t time.Time) (rows []stillso.Usage, err error) {
	for _, u := range b.rows {
		if !u.At.Before(t) {
			rows = append(rows, u)
		}
	}
	return rows, b.err
}

// Guards against calls that cost money and stand nowhere.
func TestLedger(t *testing.T) {
	cl, b := newClock(), &book{}
	s := &script{steps: []func(context.Context) (llm.Reply, error){answers("x"), fails(&llm.Error{Kind: llm.ErrLimited}), fails(&llm.Error{Kind: llm.ErrNotInstalled}), answers("y")}}
	m := llm.WithLedger(s, cl.real().Now, b.add)
	for range 3 {
		_, _ = m.Complete(t.Context(), llm.Request{Purpose: "capture", Session: "s"})
	}
	if len(b.rows) != 2 || b.rows[0].In != 100 || b.rows[0].Session != "s" || b.rows[0].Model != "script" || b.rows[1].Error == "" {
		t.Fatalf("booked %+v", b.rows)
	}
	b.err = errors.New("disk is full")
	if r, err := m.Complete(t.Context(), llm.Request{}); err != nil || r.Text != "y" {
		t.Errorf("a reply that was paid for is lost: %v", err)
	}
	if _, err := m.Complete(t.Context(), llm.Request{}); err == nil || s.calls != 4 {
		t.Errorf("called again though the call before is not booked: %v, %d calls", err, s.calls)
	}
	b.err = nil
	if _, err := m.Complete(t.Context(), llm.Request{}); err != nil || len(b.rows) != 4 {
		t.Errorf("not made up for: %v, %d rows", err, len(b.rows))
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.steps = []func(context.Context) (llm.Reply, error){func(context.Context) (llm.Reply, error) {
		cancel()
		return llm.Reply{}, context.Canceled
	}}
	if _, err := m.Complete(ctx, llm.Request{}); !errors.Is(err, context.Canceled) || len(b.rows) != 5 {
		t.Errorf("a call that was cancelled is not booked: %v, %d rows", err, len(b.rows))
	}
	// Guards against a model that only chats, whose calls usage and doctor took for good.
	b.rows, s.calls, s.steps = nil, 0, []func(context.Context) (llm.Reply, error){answers("Sure! Here you go"), answers(`{"aliases":[]}`)}
	for range 2 {
		if _, err := m.Complete(t.Context(), llm.Request{}); err != nil {
			t.Error(err)
		}
	}
	if len(b.rows) != 2 || !strings.Contains(b.rows[0].Error, "Sure!") || b.rows[1].Error != "" {
		t.Errorf("booked %+v", b.rows)
	}
}

// Guards against the burnt-tokens disaster: whatever loops, the calls of a run,
// a session and a day are bounded, failures count, and the day begins anew.
func TestBudget(t *testing.T) {
	cl, b := newClock(), &book{}
	budgets := llm.Budgets{"capture": {RunCalls: 2, SessionCalls: 3, DayCalls: 5, DayTokens: 560}, "enrich": {DayCalls: -1, RunCalls: -1, DayTokens: -1}}
	guard := llm.Guard{Timeout: time.Minute, Budgets: budgets, Book: b.add, Spent: b.since, Policy: llm.Policy{Tries: 1, Clock: cl.real()}}
	down := &llm.Error{Kind: llm.ErrUnavailable}
	s := &script{steps: []func(context.Context) (llm.Reply, error){answers("x"), answers("x"), answers("x"), answers("x"), fails(down), answers("x")}}
	ask := func(m llm.Model, purpose, session string) string {
		_, err := m.Complete(t.Context(), llm.Request{Purpose: purpose, Session: session})
		var be *llm.BudgetError
		if errors.As(err, &be) {
			if !errors.Is(err, llm.ErrBudget) {
				t.Errorf("%v is not ErrBudget", err)
			}
			return be.Limit
		}
		return ""
	}
	run := guard.Wrap(s)
	for i, want := range []string{"", "", "run_calls"} {
		if got := ask(run, []string{"capture", "judge", "judge"}[i], "a"); got != want {
			t.Errorf("call %d of a run: %q, want %q", i, got, want)
		}
	}
	ask(guard.Wrap(s), "judge", "a")
	if got := ask(guard.Wrap(s), "capture", "a"); got != "session_calls" {
		t.Errorf("fourth call about a session: %q", got)
	}
	ask(guard.Wrap(s), "capture", "b")
	ask(guard.Wrap(s), "capture", "c") // fails, and counts
	if got := ask(guard.Wrap(s), "capture", "d"); got != "day_calls" {
		t.Errorf("sixth call of the day: %q", got)
	}
	if got := ask(guard.Wrap(s), "enrich", ""); got != "" {
		t.Errorf("capture's budget stops enrich: %q", got)
	}
	cl.at = cl.at.AddDate(0, 0, 1)
	ask(guard.Wrap(s), "enrich", "") // is paid from elsewhere
	for _, want := range []string{"", "", "", "", "", "day_calls"} {
		if got := ask(guard.Wrap(s), "capture", ""); got != want {
			t.Errorf("next day: %q, want %q", got, want)
		}
	}
	budgets["capture"] = llm.Limits{DayTokens: 550, DayCalls: -1}
	if got := ask(guard.Wrap(s), "capture", ""); got != "day_tokens" {
		t.Errorf("550 tokens spent: %q", got)
	}
	b.err = errors.New("store is busy")
	calls := s.calls
	if ask(guard.Wrap(s), "capture", ""); s.calls != calls {
		t.Error("called though the ledger cannot be read")
	}
}

// Guards against settings that a person writes not meaning what docs/capture.md
// says, and against a key in the settings being repeated in an error.
func TestConfig(t *testing.T) {
	var doc struct {
		LLM llm.Config `toml:"llm"`
	}
	_, err := toml.Decode(`
[llm]
provider = "openai"
model = "qwen3:8b"
base_url = "http://127.0.0.1:11434/v1"
key_env = "MY_KEY"
timeout = "90s"
[llm.budget.capture]
day_calls = 40
session_calls = -1
`, &doc)
	if err != nil {
		t.Fatal(err)
	}
	c := doc.LLM
	if err := c.Validate(); err != nil || c.Timeout != 90*time.Second || c.KeyEnv != "MY_KEY" {
		t.Errorf("%+v, %v", c, err)
	}
	if got := c.Budgets.Of("capture"); got.DayCalls != 40 || got.SessionCalls != -1 || got.RunCalls != 2 {
		t.Errorf("limits %+v", got)
	}
	for _, bad := range []llm.Config{
		{KeyEnv: "sk-ant-verysecret"},
		{KeyEnv: "sk_live_verysecret"},
		{PassEnv: []string{"A=b"}},
		{Timeout: -1},
		{Tries: 11},
		{Command: []string{"x"}},
		{Budgets: llm.Budgets{"captur": {}}},
	} {
		if err := bad.Validate(); !errors.Is(err, llm.ErrConfig) || strings.Contains(err.Error(), "verysecret") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// Guards against money being spent unasked, and a typo silently meaning "none".
func TestChoose(t *testing.T) {
	absent := func(llm.Config, llm.Environment) (llm.Model, string, error) {
		return nil, "", &llm.Error{Kind: llm.ErrNotInstalled, Detail: "not on PATH"}
	}
	present := func(llm.Config, llm.Environment) (llm.Model, string, error) { return &script{}, "/usr/bin/x", nil }
	adapters := []llm.Adapter{{Name: "a", Auto: true, Find: absent}, {Name: "paid", Find: present}, {Name: "b", Auto: true, Find: present}, {Name: "c", Auto: true, Find: present}}
	for _, c := range []struct {
		set, chosen string
		some        bool
		err         error
		adapters    []llm.Adapter
	}{
		{"", "b", true, nil, adapters},
		{"auto", "b", true, nil, adapters},
		{"auto", "auto", false, nil, adapters[:2]},
		{"none", "none", false, nil, adapters},
		{"paid", "paid", true, nil, adapters},
		{"a", "a", false, llm.ErrNotInstalled, adapters},
		{"claud", "claud", false, llm.ErrConfig, adapters},
	} {
		m, choice, err := llm.Choose(llm.Config{Adapter: c.set}, llm.Environment{}, c.adapters...)
		if (m != nil) != c.some || choice.Adapter != c.chosen || choice.Why == "" || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
			t.Errorf("%q: %v, %+v, %v", c.set, m, choice, err)
		}
		// "one of the programs below" was said where none stood below.
		if c.chosen == "auto" && !strings.Contains(choice.Why, "Install one of a, or") {
			t.Errorf("it does not name what could be installed: %s", choice.Why)
		}
	}
}

// Guards against doctor showing a person less than there is, and against a nil
// model where models are switched off.
func TestSurveyAndOff(t *testing.T) {
	list := llm.Survey(llm.Environment{}, llm.Adapter{Name: "a", Find: func(llm.Config, llm.Environment) (llm.Model, string, error) {
		return nil, "", &llm.Error{Kind: llm.ErrNotInstalled}
	}}, llm.Adapter{Name: "b", Find: func(llm.Config, llm.Environment) (llm.Model, string, error) { return &script{}, "here", nil }})
	if len(list) != 2 || list[0].Found || list[0].Detail == "" || !list[1].Found || list[1].Detail != "here" {
		t.Errorf("got %+v", list)
	}
	_, err := llm.Off("switched off").Complete(t.Context(), llm.Request{})
	if !errors.Is(err, llm.ErrNotInstalled) || !llm.NeedsPerson(err) || !strings.Contains(err.Error(), "switched off") {
		t.Errorf("got %v", err)
	}
}

// Guards against a long wait read from a message being lost or endless.
func TestWaits(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"rate limit exceeded, try again in 20s": 20 * time.Second, "weekly usage limit: try again in 3 hours": 3 * time.Hour,
		"rate limit; retry after 90": 90 * time.Second, "rate limit. resets in 999999d": 7 * 24 * time.Hour, "rate limit": 0,
	} {
		if got := llm.After(llm.Trouble(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"30": 30 * time.Second, "0.5": time.Second / 2, "Sat, 14 Mar 2026 09:01:00 GMT": time.Minute, "Sat, 14 Mar 2026 08:00:00 GMT": 0,
		"": 0, "-1": 0, "1e300": 7 * 24 * time.Hour, "NaN": 0, "soon": 0,
	} {
		if got := llm.RetryAfter(text, now); got != want {
			t.Errorf("Retry-After %q: %s, want %s", text, got, want)
		}
	}
}

// Guards against a stranger's text carrying keys or terminal escapes into logs.
func TestShort(t *testing.T) {
	got := llm.Short("bad\x1b[31m key\n  hunter2000\u202e "+strings.Repeat("x", 500), "hunter2000")
	if strings.ContainsAny(got, "\x1b\n\u202e") || strings.Contains(got, "hunter") || len([]rune(got)) != 300 {
		t.Errorf("got %q", got)
	}
}
