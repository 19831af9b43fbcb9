package llm

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
)

// The kinds of trouble with a model. Test with errors.Is; the error itself is
// an *Error and says what happened, why, and what to do.
var (
	ErrNotInstalled = errors.New("model is not installed")
	ErrNotLoggedIn  = errors.New("model is not logged in")
	// ErrLimited: the provider's own limit is used up for now.
	ErrLimited = errors.New("model is rate limited")
	ErrTimeout = errors.New("model took too long")
	// ErrRefused: the model declined to answer.
	ErrRefused = errors.New("model refused to answer")
	// ErrNotJSON: the reply is not the one JSON document that was asked for.
	ErrNotJSON = errors.New("model did not answer with the JSON that was asked for")
	// ErrTooLarge: the request or the reply exceeds its limit, or was cut off.
	ErrTooLarge = errors.New("too large for the model")
	// ErrTool: the model used or asked for a tool though it was given none.
	ErrTool = errors.New("model used a tool instead of answering")
	// ErrUnavailable: the model cannot be reached or failed inside.
	ErrUnavailable = errors.New("model is unavailable")
	// ErrConfig: the settings do not fit the model.
	ErrConfig = errors.New("model is not configured rightly")
	// ErrBudget: our own budget is spent; see BudgetError.
	ErrBudget = errors.New("model budget is spent")
	// ErrNotRecorded: replay has no reply for the request.
	ErrNotRecorded = errors.New("no recorded reply")
)

// Error is trouble with a model, told to a person.
type Error struct {
	// Kind is one of the errors of this package.
	Kind error
	// Model is the name of the model.
	Model string
	// Detail says why, in the model's own words where it had any: printable, at
	// most 300 characters, without keys.
	Detail string
	// Do says what the person can do about it.
	Do string
	// After is how long to wait before trying again; 0 if nobody said.
	After time.Duration
	// Err is the cause, if there is one.
	Err error
}

// Error has the form "what happened: why; what to do".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Model != "" {
		b.WriteString(e.Model + ": ")
	}
	b.WriteString(e.Kind.Error())
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.After > 0 {
		fmt.Fprintf(&b, "; try again in %s", e.After.Round(time.Second))
	}
	if e.Do != "" {
		b.WriteString("; " + e.Do)
	}
	return b.String()
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// Retryable reports whether the same request may succeed when it is sent again
// in a moment. Everything else waits in the queue, or for a person.
func Retryable(err error) bool {
	return errors.Is(err, ErrLimited) || errors.Is(err, ErrUnavailable)
}

// NeedsPerson reports whether only a person can end the trouble: by installing,
// logging in or changing settings. Retrying is then pointless.
func NeedsPerson(err error) bool {
	return errors.Is(err, ErrNotInstalled) || errors.Is(err, ErrNotLoggedIn) || errors.Is(err, ErrConfig)
}

// After returns how long err asks to wait before the next try, or 0.
func After(err error) time.Duration {
	var e *Error
	if errors.As(err, &e) {
		return e.After
	}
	return 0
}

// named sets the model's name in an *Error that has none.
func named(err error, model string) error {
	var e *Error
	if errors.As(err, &e) && e.Model == "" {
		e.Model = model
	}
	return err
}

// Short makes text of a stranger fit for an error message: one line without
// control characters, at most 300 characters, and without the given secrets.
func Short(text string, secrets ...string) string {
	for _, s := range secrets {
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, "[key]")
		}
	}
	if len(text) > 4<<10 {
		text = text[:4<<10]
	}
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 300 {
		text = string(r[:299]) + "…"
	}
	return text
}
