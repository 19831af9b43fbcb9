package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// settingsCmd shows the settings there are.
type settingsCmd struct {
	Init bool `help:"Write a config.toml with every key and its default."`
}

// Help shows examples.
func (settingsCmd) Help() string {
	return `Settings stand in config.toml in the home directory; none is needed.

` + indented(configHelp)
}

// indented puts text into the form that the help prints line by line, unwrapped.
func indented(text string) string {
	return "  " + strings.TrimRight(strings.ReplaceAll(text, "\n", "\n  "), " \n")
}

// settingsShown is what settings found.
type settingsShown struct {
	File    string   `json:"file"`
	Exists  bool     `json:"exists"`
	Config  config   `json:"settings"`
	Unknown []string `json:"unknown,omitempty"`
	wrote   bool
}

func (c *settingsCmd) run(_ context.Context, a *app) (summary, error) {
	path := a.dir.Config()
	s := &settingsShown{File: path}
	if c.Init {
		if err := a.dir.Create(); err != nil {
			return nil, fmt.Errorf("cannot make %s: %w", a.dir, err)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // #nosec G304 -- the settings file below the home
		if errors.Is(err, fs.ErrExist) {
			return nil, usagef("nothing was written: %s is there already; change it with an editor", path)
		}
		if err != nil {
			return nil, fmt.Errorf("cannot write the settings: %w", err)
		}
		_, err = f.WriteString(configHelp)
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("cannot write the settings: %w", err)
		}
		s.wrote = true
	}
	var err error
	if s.Config, s.Unknown, err = readConfig(path); err != nil {
		return nil, err
	}
	_, err = os.Stat(path)
	s.Exists = err == nil
	return s, nil
}

func (s *settingsShown) text(p *page) {
	if s.wrote {
		p.printf("wrote %s\n", s.File)
		return
	}
	state := "is not there: these are the defaults"
	if s.Exists {
		state = "is in use"
	}
	p.printf("%s %s\n\n", p.bold(s.File), state)
	c := s.Config
	p.table([]string{"setting", "value"}, [][]string{
		{"recall.hints", fmt.Sprint(c.Recall.Hints)},
		{"capture.sessions", fmt.Sprint(c.Capture.Sessions)},
		{"capture.findings", fmt.Sprint(c.Capture.Findings)},
		{"capture.turns", fmt.Sprint(c.Capture.Turns)},
		{"llm.provider", cmp.Or(c.Model.Adapter, "auto")},
		{"llm.model", cmp.Or(c.Model.Model, "the provider's own choice")},
		{"llm.timeout", cmp.Or(c.Model.Timeout, 3*time.Minute).String()},
		{"verify.network", fmt.Sprint(c.Verify.Network)},
		{"verify.model_claims", fmt.Sprint(c.Verify.ModelClaims)},
		{"profile.max_tokens", fmt.Sprint(c.Profile.MaxTokens)},
		{"profile.max_bytes", fmt.Sprint(c.Profile.MaxBytes)},
	})
	if len(s.Unknown) > 0 {
		p.printf("%s\n", p.yellow("unknown keys, ignored: "+strings.Join(s.Unknown, ", ")))
	}
	p.printf("\n%s\n", p.faint("stillso settings --help explains every key; stillso settings --init writes the file"))
}
