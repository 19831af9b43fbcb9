package main

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/BurntSushi/toml"

	"stillso/internal/home"
	"stillso/internal/inject"
	"stillso/internal/llm"
)

// config is config.toml in the home directory. Every key is optional; the zero
// value of what is not written is replaced by the default below.
type config struct {
	Recall  recallConfig  `toml:"recall"`
	Capture captureConfig `toml:"capture"`
	Model   llm.Config    `toml:"llm"`
	Verify  verifyConfig  `toml:"verify"`
	Profile profileConfig `toml:"profile"`
}

// verifyConfig says how claims are checked.
type verifyConfig struct {
	// Network: also run the probes that ask other machines.
	Network bool `toml:"network"`
	// ModelClaims: enriching also asks the model what can be checked.
	ModelClaims bool `toml:"model_claims"`
}

// profileConfig bounds the text that a session begins with.
type profileConfig struct {
	MaxTokens int `toml:"max_tokens"`
	MaxBytes  int `toml:"max_bytes"`
}

// The least that the text of a session may be bounded to: its frame and one line.
const (
	minProfileTokens = 150
	minProfileBytes  = 600
)

// recallConfig says what the hook may show.
type recallConfig struct {
	// Hints: where nothing is sure enough to be injected, name what may be related.
	Hints bool `toml:"hints"`
}

// captureConfig says what the sweep takes from sessions.
type captureConfig struct {
	// Sessions: read the sessions of the assistants at all.
	Sessions bool `toml:"sessions"`
	// Findings: also keep what a session established, unconfirmed.
	Findings bool `toml:"findings"`
	// Turns: capture a running session each time so many prompts are new.
	Turns int `toml:"turns"`
}

func defaultConfig() config {
	return config{
		Capture: captureConfig{Sessions: true, Findings: true, Turns: 10},
		Verify:  verifyConfig{ModelClaims: true},
		Profile: profileConfig{MaxTokens: inject.SessionTokens, MaxBytes: inject.SessionBytes},
	}
}

// configHelp documents every key; it is what a new config.toml starts with.
const configHelp = `# Settings of stillso. Every key is optional; these are the defaults.

[recall]
hints = false       # name memories that may be related where none is sure enough

[capture]
sessions = true     # read the sessions of the assistants that are installed
findings = true     # also keep what a session established, as unconfirmed
turns = 10          # capture a running session after so many new prompts

[llm]
provider = "auto"   # auto (what is installed), none (rules only), or one by name
model = ""          # passed on to the provider
timeout = "3m"      # of one call

[verify]
network = false     # also run the probes that ask other machines: addresses, gh, doppler, aws
model_claims = true # enrich also asks the model what in a memory can be checked

[profile]
max_tokens = 1300   # what a session begins with, estimated
max_bytes = 5200    # the same in bytes; both hold
`

// maxConfig is the largest config.toml that is read, in bytes.
const maxConfig = 1 << 20

// readConfig reads the settings. A file that is not there is the defaults.
// Keys that stillso does not know are returned, to warn about.
func readConfig(path string) (config, []string, error) {
	c := defaultConfig()
	data, err := home.ReadFile(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil, nil
	}
	if err != nil {
		return c, nil, fmt.Errorf("cannot read the settings: %w; correct %s, or move it away for the defaults", err, path)
	}
	meta, err := toml.Decode(string(data), &c)
	if err != nil {
		return defaultConfig(), nil, configError(path, err)
	}
	var unknown []string
	for _, k := range meta.Undecoded() {
		unknown = append(unknown, k.String())
	}
	if c.Capture.Turns < 1 {
		return defaultConfig(), unknown, usagef("cannot use %s: capture.turns is %d; it must be at least 1", path, c.Capture.Turns)
	}
	if c.Profile.MaxTokens < minProfileTokens || c.Profile.MaxBytes < minProfileBytes {
		return defaultConfig(), unknown, usagef("cannot use %s: profile.max_tokens is %d and profile.max_bytes %d; they must be at least %d and %d",
			path, c.Profile.MaxTokens, c.Profile.MaxBytes, minProfileTokens, minProfileBytes)
	}
	if err := c.Model.Validate(); err != nil {
		return defaultConfig(), unknown, usagef("cannot use %s: %w", path, err)
	}
	return c, unknown, nil
}

// configError says where in the settings what is wrong.
func configError(path string, err error) error {
	var perr toml.ParseError
	if errors.As(err, &perr) {
		return usagef("cannot read %s, line %d: %s; correct it, or move the file away for the defaults",
			path, perr.Position.Line, strings.TrimSuffix(perr.Message, "."))
	}
	text := strings.TrimPrefix(err.Error(), "toml: ")
	if m := wrongType.FindStringSubmatch(text); m != nil {
		text = fmt.Sprintf("line %s: %s is a %s; it must be a %s", m[1], m[2], m[3], m[4])
	}
	return usagef("cannot read %s, %s; correct it, or move the file away for the defaults", path, text)
}

// wrongType is how the reader of TOML says that a value has another type.
var wrongType = regexp.MustCompile(`^line (\d+) \(last key "([^"]+)"\): incompatible types: TOML value has type (\w+); destination has type (\w+)$`)

// config returns the settings, read once, and warns of keys that it does not know.
func (a *app) config() (config, error) {
	if a.settings != nil {
		return *a.settings, nil
	}
	path := a.dir.Config()
	c, unknown, err := readConfig(path)
	if err != nil {
		return c, err
	}
	if len(unknown) > 0 {
		a.warn("%s: unknown %s ignored; `stillso settings --help` lists the keys", path, strings.Join(unknown, ", "))
	}
	a.settings = &c
	return c, nil
}
