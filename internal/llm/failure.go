package llm

import (
	"fmt"
	"strings"
)

// Failure is the error that an HTTP status and the message with it stand for;
// a status of 0 is unknown. The wording of a limit, a login or a refusal in the
// message decides where the status leaves it open.
func Failure(status int, message string) error {
	e := &Error{Kind: ErrUnavailable, Detail: Short(message)}
	if status > 0 {
		e.Detail = Short(fmt.Sprintf("status %d: %s", status, message))
	}
	switch {
	case status == 401 || status == 403:
		e.Kind, e.Do = ErrNotLoggedIn, "check the key or the login"
	case status == 402:
		e.Kind, e.Do = ErrLimited, "the account has no credit left"
	case status == 404:
		e.Kind, e.Do = ErrConfig, "check model and base_url in [llm]"
	case status == 408 || status == 504:
		e.Kind = ErrUnavailable
	case status == 413:
		e.Kind = ErrTooLarge
	case status == 429 || status == 529:
		e.Kind, e.After = ErrLimited, waitIn(strings.ToLower(message))
	case status == 0 || status >= 400 && status < 500:
		if t := Trouble(message); t != nil {
			return t
		}
		if status == 0 {
			break
		}
		e.Kind, e.Do = ErrConfig, "check model and base_url in [llm]"
	}
	return e
}
