package llm

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Config is the [llm] table of the settings file. The zero value means: use
// what is installed, with the default limits.
type Config struct {
	// Adapter is auto, none, or the name of an adapter.
	Adapter string `toml:"provider"`
	// Model is passed on to the adapter; empty is the adapter's default.
	Model string `toml:"model"`
	// Command is a program with its arguments, for the adapter "command".
	Command []string `toml:"command"`
	// BaseURL is where an HTTP adapter finds its service.
	BaseURL string `toml:"base_url"`
	// KeyEnv names the environment variable that holds the key. The key itself
	// never stands in a file of ours.
	KeyEnv string `toml:"key_env"`
	// PassEnv names further environment variables that a program is given.
	PassEnv []string `toml:"pass_env"`
	// Timeout bounds one call; 0 is 3 minutes.
	Timeout time.Duration `toml:"timeout"`
	// Tries is how often a call is tried at once; 0 is 2.
	Tries int `toml:"tries"`
	// Budgets are the limits by pot: capture, enrich, tidy, other.
	Budgets Budgets `toml:"budget"`
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,80}$`)

// Validate reports settings that cannot work, wrapping ErrConfig, and never
// repeats the value of key_env: people paste the key itself there.
func (c Config) Validate() error {
	bad := func(detail, do string) error { return &Error{Kind: ErrConfig, Detail: detail, Do: do} }
	likeKey := strings.HasPrefix(c.KeyEnv, "sk") || strings.HasPrefix(c.KeyEnv, "AIza") || len(c.KeyEnv) > 60
	switch {
	case c.KeyEnv != "" && (!envName.MatchString(c.KeyEnv) || likeKey):
		return bad("key_env does not name an environment variable", `write key_env = "MY_KEY" and export MY_KEY; never write the key itself into the settings`)
	case slices.ContainsFunc(c.PassEnv, func(s string) bool { return !envName.MatchString(s) }):
		return bad("pass_env holds something that is not a variable's name", `write pass_env = ["NAME"]`)
	case c.Timeout < 0 || c.Timeout > time.Hour:
		return bad(fmt.Sprintf("timeout %s is not between 1s and 1h", c.Timeout), `write timeout = "3m"`)
	case c.Tries < 0 || c.Tries > 10:
		return bad(fmt.Sprintf("tries %d is not between 1 and 10", c.Tries), "write tries = 2")
	case len(c.Command) > 0 && c.Adapter != "command":
		return bad(`command is set but provider is not "command"`, `write provider = "command"`)
	}
	for pot := range c.Budgets {
		if !slices.Contains([]string{"capture", "enrich", "tidy", "other"}, pot) {
			return bad(fmt.Sprintf("there is no budget %q", pot), "use capture, enrich, tidy or other")
		}
	}
	return nil
}

// Guard returns the guards that the settings ask for.
func (c Config) Guard(clock Clock, jitter func() float64) Guard {
	g := Guard{Timeout: c.Timeout, Budgets: c.Budgets, Policy: Policy{Tries: c.Tries, First: 2 * time.Second, Most: time.Minute, Jitter: jitter, Clock: clock}}
	if g.Timeout == 0 {
		g.Timeout = 3 * time.Minute
	}
	if g.Policy.Tries == 0 {
		g.Policy.Tries = 2
	}
	return g
}

// Environment is what an adapter may know of the world around it.
type Environment struct {
	// Environ is the process environment, "NAME=value" each.
	Environ []string
	// Directory is a private directory, made if it is missing, in which calls
	// get an empty working directory each. It must not lie in a repository.
	Directory string
	// Avoid lists directories whose programs are never run: the repository that
	// is worked on could bring a program of the right name.
	Avoid []string
	Clock Clock
}

// Get returns the value of an environment variable, the last one if it stands
// there twice.
func (e Environment) Get(name string) string {
	for _, kv := range slices.Backward(e.Environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// Adapter is a way to reach models.
type Adapter struct {
	// Name is what the settings call it.
	Name string
	// Auto is true if it may be chosen without being named in the settings: it
	// costs nothing beyond the user's subscription and its tools can be
	// switched off.
	Auto bool
	// Find returns the model, and in words where it was found. It calls no model
	// and is quick. The error wraps ErrNotInstalled or ErrConfig.
	Find func(Config, Environment) (Model, string, error)
}

// Choice says which model was chosen, and why, for people.
type Choice struct {
	Adapter string `json:"adapter"`
	Model   string `json:"model,omitempty"`
	// Why explains the choice in a sentence.
	Why string `json:"why"`
	// Seen lists what each adapter said.
	Seen []Seen `json:"seen,omitempty"`
}

// Seen is what one adapter found.
type Seen struct {
	Adapter string `json:"adapter"`
	Found   bool   `json:"found"`
	Detail  string `json:"detail"`
}

// Choose returns the model that the settings name, or with "auto" the first of
// the adapters that is installed. The model is nil, without an error, if models
// are switched off or auto finds none: everything works without a model.
func Choose(c Config, env Environment, adapters ...Adapter) (Model, Choice, error) {
	name := c.Adapter
	if name == "" {
		name = "auto"
	}
	choice := Choice{Adapter: name}
	if err := c.Validate(); err != nil {
		choice.Why = err.Error()
		return nil, choice, err
	}
	switch name {
	case "none":
		choice.Why = `models are switched off by provider = "none"; rules do what they can`
		return nil, choice, nil
	case "auto":
		m := choice.first(c, env, adapters)
		return m, choice, nil
	}
	i := slices.IndexFunc(adapters, func(a Adapter) bool { return a.Name == name })
	if i < 0 {
		names := []string{"auto", "none"}
		for _, a := range adapters {
			names = append(names, a.Name)
		}
		err := &Error{Kind: ErrConfig, Detail: fmt.Sprintf("there is no provider %q", Short(name)), Do: "use one of " + strings.Join(names, ", ")}
		choice.Why = err.Error()
		return nil, choice, err
	}
	m, where, err := adapters[i].Find(c, env)
	if err != nil {
		choice.Why = err.Error()
		return nil, choice, named(err, name)
	}
	choice.Model, choice.Why = m.Name(), fmt.Sprintf("provider = %q in the settings: %s", name, where)
	return m, choice, nil
}

// first tries the adapters that may be chosen unasked, in order.
func (ch *Choice) first(c Config, env Environment, adapters []Adapter) Model {
	var chosen Model
	for _, a := range adapters {
		if !a.Auto {
			continue
		}
		m, where, err := a.Find(c, env)
		switch {
		case err != nil:
			ch.Seen = append(ch.Seen, Seen{Adapter: a.Name, Detail: err.Error()})
			continue
		case chosen == nil:
			chosen = m
			ch.Adapter, ch.Model = a.Name, m.Name()
			ch.Why = "the first of the installed ones: " + where
		}
		ch.Seen = append(ch.Seen, Seen{Adapter: a.Name, Found: true, Detail: where})
	}
	if chosen == nil {
		ch.Why = "no model is installed; rules do what they can. Install one of " + ch.names() + ", or set provider in [llm]"
	}
	return chosen
}

// names lists the adapters that were looked for.
func (ch *Choice) names() string {
	list := make([]string, len(ch.Seen))
	for i, s := range ch.Seen {
		list[i] = s.Adapter
	}
	return strings.Join(list, ", ")
}

// Survey asks every adapter whether its model is there, for a person who wonders
// what could be chosen. Settings of one adapter mean nothing to another, so each
// is asked without any.
func Survey(env Environment, adapters ...Adapter) []Seen {
	var list []Seen
	for _, a := range adapters {
		_, where, err := a.Find(Config{}, env)
		if err != nil {
			where = err.Error()
		}
		list = append(list, Seen{Adapter: a.Name, Found: err == nil, Detail: where})
	}
	return list
}

// Off is the model that is used when there is none: every call is
// ErrNotInstalled. It spares callers a nil check.
func Off(why string) Model { return off(why) }

type off string

func (off) Name() string { return "none" }

func (o off) Complete(context.Context, Request) (Reply, error) {
	return Reply{}, &Error{Kind: ErrNotInstalled, Detail: string(o), Do: "set provider in [llm]"}
}
