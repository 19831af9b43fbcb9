// Package web is what the adapters over HTTP share: where the settings say a
// service is, one bounded request to it, and its failures in words. What is asked
// and how an answer is read stays with each adapter.
package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"stillso/internal/llm"
)

// Service is an interface that several makers or servers may offer.
type Service struct {
	// Name is the provider's name in the settings.
	Name string
	// Base is used when the settings name no base_url, Path is what is asked below it.
	Base, Path string
	// KeyVariable holds the key for Base; it is not sent to others unasked.
	KeyVariable string
	// Missing says what to do without a key for Base.
	Missing string
}

// Model is one model of a service.
type Model struct {
	// Model is its name for the service, Key the key, which may be empty.
	Model, Key string
	// At is the base address that was chosen.
	At  string
	url string
	by  string
	now func() time.Time
}

// Find reads the settings. The errors are llm.Error.
func (s Service) Find(c llm.Config, env llm.Environment) (*Model, error) {
	if c.Model == "" {
		return nil, &llm.Error{Kind: llm.ErrConfig, Detail: "no model is set", Do: `write model = "…" in [llm]`}
	}
	at, usual := c.BaseURL, ""
	if at == "" {
		at, usual = s.Base, s.KeyVariable
	}
	key, err := llm.Key(c, env, usual)
	if err != nil {
		return nil, err
	}
	if at == s.Base && key == "" {
		return nil, &llm.Error{Kind: llm.ErrConfig, Detail: "there is no key for " + s.Base, Do: s.Missing}
	}
	url, err := llm.Endpoint(at, s.Path, key)
	if err != nil {
		return nil, err
	}
	return &Model{Model: c.Model, Key: key, At: at, url: url, by: s.Name, now: env.Clock.Now}, nil
}

// Name is the model's name in the ledger.
func (m *Model) Name() string { return m.by + "/" + m.Model }

// Fits refuses a request that is larger than any model is given.
func (m *Model) Fits(r llm.Request) error {
	if n := len(r.System) + len(r.Text); n > llm.MaxRequest {
		return m.Named(&llm.Error{Kind: llm.ErrTooLarge, Detail: fmt.Sprintf("the request has %d bytes; %d are allowed", n, llm.MaxRequest)})
	}
	return nil
}

// Post sends body as JSON and returns the answer, at most twice llm.MaxReply. A
// status other than 200 is a *Status. The caller's own cancellation stays what it is.
func (m *Model) Post(ctx context.Context, body any, header map[string]string) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, m.Named(&llm.Error{Kind: llm.ErrConfig, Detail: llm.Short(err.Error()), Err: err})
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url, bytes.NewReader(text))
	if err != nil {
		return nil, m.Named(&llm.Error{Kind: llm.ErrConfig, Detail: llm.Short(err.Error(), m.Key)})
	}
	req.Header.Set("Content-Type", "application/json")
	for k, v := range header {
		req.Header.Set(k, v)
	}
	// A redirect is not followed: it would take the key along.
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return nil, m.unreachable(ctx, err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 2*llm.MaxReply+1))
	if err != nil {
		return nil, m.unreachable(ctx, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, m.status(resp, answer)
	}
	if len(answer) > 2*llm.MaxReply {
		return nil, m.Named(&llm.Error{Kind: llm.ErrTooLarge, Detail: "the answer is larger than 2 MiB"})
	}
	return answer, nil
}

// Status is an answer that is none: what the service said, and the error that a
// person is shown.
type Status struct {
	Code int
	// Said is the service's own message, shortened, without the key.
	Said string
	Err  error
}

// Error is the error that a person is shown.
func (s *Status) Error() string { return s.Err.Error() }

// Unwrap returns it.
func (s *Status) Unwrap() error { return s.Err }

func (m *Model) status(resp *http.Response, answer []byte) error {
	said := llm.Short(Words(answer), m.Key)
	err := llm.Failure(resp.StatusCode, said)
	var e *llm.Error
	if errors.As(err, &e) {
		if after := llm.RetryAfter(resp.Header.Get("Retry-After"), m.now()); after > 0 {
			e.After = after
		}
		if resp.StatusCode >= 300 && resp.StatusCode < 400 {
			e.Kind, e.Do = llm.ErrConfig, "it redirects elsewhere: set base_url to where it is"
		}
	}
	return &Status{Code: resp.StatusCode, Said: said, Err: m.Named(err)}
}

// Strange is the error for an answer of another shape than the service's.
func (m *Model) Strange(answer []byte, err error) error {
	return m.Named(&llm.Error{Kind: llm.ErrUnavailable, Detail: "it is not a service of this kind: " + llm.Short(string(answer), m.Key), Do: "check base_url", Err: err})
}

func (m *Model) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return m.Named(&llm.Error{Kind: llm.ErrUnavailable, Detail: llm.Short(err.Error(), m.Key), Do: "check the network and base_url", Err: err})
}

// Named puts the model's name into an error.
func (m *Model) Named(err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		e.Model = m.Name()
	}
	return err
}

// Words finds the message in an error body, which every service nests its own way;
// failing that it returns the body.
func Words(answer []byte) string {
	var nested struct {
		Error struct {
			Message string `json:"message"`
			Type    string `json:"type"`
		} `json:"error"`
	}
	if json.Unmarshal(answer, &nested) == nil && nested.Error.Message != "" {
		return strings.TrimSpace(nested.Error.Type + " " + nested.Error.Message)
	}
	return string(answer)
}
