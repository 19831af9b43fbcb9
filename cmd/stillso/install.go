package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"stillso/internal/home"
	"stillso/internal/host/claudecode"
	"stillso/internal/host/codex"
	"stillso/internal/settings"
)

// installCmd registers the hook with assistants.
type installCmd struct {
	Host   []string `arg:"" optional:"" help:"The assistants, or timer for a sweep once a day; else those that are here."`
	All    bool     `help:"All assistants that are here."`
	Yes    bool     `short:"y" help:"Do not ask."`
	Trust  bool     `help:"Tell Codex to trust the hook: it runs none that nobody trusted."`
	DryRun bool     `help:"Show what would be changed; change nothing."`
}

// Help shows examples.
func (installCmd) Help() string {
	return `Knows claude-code, codex, gemini, copilot, qwen, cursor and opencode. Shows what it
would change and asks, where there is a terminal to ask at. Settings are edited as text:
comments, order and the hooks of others stay as they are, and a backup is kept in the
home of the memories. Doing it again brings the entries up to date. stillso uninstall
gives the files back as they were.

It asks once whether claims may be checked by asking other machines, and writes the
answer to config.toml (verify.network); with --yes they may not.

Codex runs no hook that nobody trusted. Trust it there with /hooks, or say --trust here.

Examples:
  stillso install --dry-run
  stillso install
  stillso install claude-code codex --trust
  stillso install timer`
}

// uninstallCmd takes the hook out again.
type uninstallCmd struct {
	Host   []string `arg:"" optional:"" help:"The assistants, or timer; else all that have the hook."`
	All    bool     `help:"All assistants that have the hook."`
	DryRun bool     `help:"Show what would be changed; change nothing."`
}

// Help shows examples.
func (uninstallCmd) Help() string {
	return `Takes our hooks out and leaves all else. The memories stay; delete the home
directory to remove them (stillso doctor names it).

Examples:
  stillso uninstall
  stillso uninstall claude-code`
}

// installed is what install or uninstall did to one host.
type installed struct {
	Host     string `json:"host"`
	Settings string `json:"settings"`
	Hook     string `json:"hook,omitempty"`
	Changed  bool   `json:"changed"`
	DryRun   bool   `json:"dry_run,omitempty"`
	Removed  bool   `json:"removed,omitempty"`
	Trusted  bool   `json:"trusted,omitempty"`
	Diff     string `json:"diff,omitempty"`
	Remark   string `json:"note,omitempty"`

	plans []*settings.Plan
	shown bool // the diff was shown before the question
}

// installs is what install or uninstall did to several.
type installs struct {
	Hosts []*installed `json:"hosts"`
}

func (s *installs) text(p *page) {
	for i, x := range s.Hosts {
		if i > 0 && x.DryRun {
			p.printf("\n")
		}
		x.lines(p)
	}
	closing(p, s.Hosts...)
}

// closing says what to do next.
func closing(p *page, list ...*installed) {
	if slices.ContainsFunc(list, func(x *installed) bool { return x.Changed && !x.DryRun && !x.Removed }) {
		p.printf("%s\n", p.faint("start a new session of the assistant; stillso doctor checks it, stillso uninstall takes it out again"))
	}
}

// summaryOf prints one host as itself, as it always was, and several as a list.
func summaryOf(list []*installed) summary {
	if len(list) == 1 {
		return list[0]
	}
	return &installs{list}
}

func (c *installCmd) run(ctx context.Context, a *app) (summary, error) {
	if slices.Equal(c.Host, []string{"timer"}) {
		return a.installTimer(ctx, c.DryRun)
	}
	hook, err := findHook()
	if err != nil {
		return nil, usagef("nothing was installed: %w", err)
	}
	hosts, err := a.pick(c.Host, func(h assistant) bool { return h.present(a) }, "install")
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		h, _ := a.assistant(claudecode.Name) // always known
		hosts = []assistant{h}
	}
	var list []*installed
	for _, h := range hosts {
		plan, err := h.planInstall(a, hook)
		if err != nil {
			return nil, settingsError("nothing was installed", err)
		}
		list = append(list, &installed{
			Host: h.name, Settings: h.settings, Hook: hook, Changed: plan.Changed(), DryRun: c.DryRun, Diff: plan.Diff(), Remark: a.installNote(h, c.Trust),
			plans: []*settings.Plan{plan},
		})
	}
	if c.DryRun {
		return summaryOf(list), nil
	}
	if err := c.ask(a, list); err != nil {
		return nil, err
	}
	if err := a.dir.Create(); err != nil {
		return nil, fmt.Errorf("nothing was installed: cannot make %s: %w", a.dir, err)
	}
	if err := os.MkdirAll(filepath.Dir(a.keepFile("x")), 0o700); err != nil {
		return nil, fmt.Errorf("nothing was installed: cannot keep a backup: %w", err)
	}
	for i, x := range list {
		if err := x.plans[0].Apply(); err != nil {
			return nil, fmt.Errorf("%s: %s not installed: %w", done(list[:i]), x.Host, err)
		}
	}
	for i, h := range hosts {
		if h.name != codex.Name || !c.Trust && !a.yes("Codex runs no hook that nobody trusted. Trust this one now?", c.Yes) {
			continue
		}
		if err := a.trustCodex(ctx, h); err != nil {
			list[i].Remark = fmt.Sprintf("Codex does not trust the hook yet: %v; open Codex and approve it with /hooks", err)
			continue
		}
		list[i].Trusted, list[i].Remark = true, ""
	}
	if err := a.askNetwork(c.Yes); err != nil {
		return nil, fmt.Errorf("%s, but %w", done(list), err)
	}
	return summaryOf(list), nil
}

// done says what was installed before something failed.
func done(list []*installed) string {
	if len(list) == 0 {
		return "nothing was installed"
	}
	var names []string
	for _, x := range list {
		names = append(names, x.Host)
	}
	return "installed for " + strings.Join(names, ", ")
}

// pick returns the hosts that were named, or those that found reports.
func (a *app) pick(names []string, found func(assistant) bool, verb string) ([]assistant, error) {
	var list []assistant
	for _, name := range names {
		h, ok := a.assistant(name)
		if !ok {
			return nil, usagef("cannot %s: unknown host %q; use one of %s, or timer alone", verb, name, a.assistantNames())
		}
		if !slices.ContainsFunc(list, func(x assistant) bool { return x.name == name }) {
			list = append(list, h)
		}
	}
	if len(names) > 0 {
		return list, nil
	}
	for _, h := range a.assistants() {
		if found(h) {
			list = append(list, h)
		}
	}
	return list, nil
}

// installNote says what a person must know of a host before it works.
func (a *app) installNote(h assistant, trust bool) string {
	var notes []string
	if def, err := home.Locate(a.std.env); err != nil || def != a.dir {
		notes = append(notes, fmt.Sprintf("the hook finds the memories by STILLSO_HOME; set it to %s where the assistant runs", a.dir))
	}
	if h.name == codex.Name && inlineHooks(codex.Places(h.dir).Config()) {
		notes = append(notes, "config.toml has hooks of its own: Codex uses both, and warns that there are two places")
	}
	if h.name == codex.Name && !trust {
		notes = append(notes, "Codex runs no hook that nobody trusted: approve it there with /hooks, or say --trust")
	}
	if h.blind {
		notes = append(notes, h.title+" could not be tested here; stillso doctor shows whether it calls the hook")
	}
	return strings.Join(notes, "; ")
}

// inlineHooks reports whether a config.toml registers hooks itself.
func inlineHooks(path string) bool {
	var conf struct {
		Hooks map[string]any `toml:"hooks"`
	}
	if _, err := toml.DecodeFile(path, &conf); err != nil {
		return false
	}
	delete(conf.Hooks, "state") // what is trusted
	return len(conf.Hooks) > 0
}

// ask shows the plan and asks. Where nobody can answer, naming the assistants was
// the answer.
func (c *installCmd) ask(a *app, list []*installed) error {
	if c.Yes || !slices.ContainsFunc(list, func(x *installed) bool { return x.Changed }) {
		return nil
	}
	if !a.interactive() {
		if len(c.Host) > 0 || c.All {
			return nil
		}
		return usagef("nothing was installed: there is no terminal to ask at; name the assistants, or add --yes")
	}
	p := newPage(a.std.out, a.std.env)
	for _, x := range list {
		x.diffText(p)
		x.shown = true
	}
	if p.err != nil {
		return p.err
	}
	if !a.yes("Change these files?", false) {
		return usagef("nothing was installed: you said no")
	}
	return nil
}

// interactive reports whether a person can be asked.
func (a *app) interactive() bool {
	in, ok := a.std.in.(*os.File)
	return ok && isTerminal(in) && !a.json
}

// yes asks a question that only an explicit yes answers with true. never is set
// if nothing is to be asked: then it is no.
func (a *app) yes(question string, never bool) bool {
	if never || !a.interactive() {
		return false
	}
	yes, _ := a.answer(question) // no answer is no
	return yes
}

// answer asks a person and reports whether there was an answer, and a yes.
func (a *app) answer(question string) (yes, answered bool) {
	if _, err := fmt.Fprintf(a.std.err, "%s [y/N] ", question); err != nil {
		return false, false
	}
	line, err := bufio.NewReaderSize(a.std.in, 16).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, true
	}
	return false, err == nil
}

func (c *uninstallCmd) run(ctx context.Context, a *app) (summary, error) {
	if slices.Equal(c.Host, []string{"timer"}) {
		return a.uninstallTimer(ctx, c.DryRun)
	}
	hosts, err := a.pick(c.Host, func(h assistant) bool { return settings.Exists(a.keepFile(h.name)) || a.registered(h) > 0 }, "uninstall")
	if err != nil {
		return nil, err
	}
	if len(hosts) == 0 {
		h, _ := a.assistant(claudecode.Name) // always known
		hosts = []assistant{h}
	}
	var list []*installed
	for _, h := range hosts {
		x := &installed{Host: h.name, Settings: h.settings, DryRun: c.DryRun, Removed: true}
		if h.name == codex.Name {
			trust, err := a.planDistrust(h)
			if err != nil {
				x.Remark = fmt.Sprintf("what Codex trusts stays in its config.toml: %v", err)
			} else {
				x.plans = append(x.plans, trust)
			}
		}
		plan, err := h.planRemoval(a)
		if err != nil {
			return nil, settingsError("nothing was changed", err)
		}
		for _, p := range append(x.plans, plan) {
			x.Changed = x.Changed || p.Changed()
			x.Diff += p.Diff()
		}
		x.plans = append(x.plans, plan)
		list = append(list, x)
	}
	if c.DryRun {
		return summaryOf(list), nil
	}
	for _, x := range list {
		for _, p := range x.plans {
			if err := p.Apply(); err != nil {
				return nil, fmt.Errorf("%s was not uninstalled: %w", x.Host, err)
			}
		}
	}
	return summaryOf(list), nil
}

// keepFile is the beginning of the names of the files in which an install is
// written down.
func (a *app) keepFile(hostName string) string {
	return filepath.Join(string(a.dir), "install", hostName)
}

// settingsError says why a settings file is left alone.
func settingsError(what string, err error) error {
	var syntax *settings.SyntaxError
	if errors.As(err, &syntax) || errors.Is(err, settings.ErrForeign) {
		return usagef("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

func (s *installed) diffText(p *page) {
	if s.Diff == "" || s.shown {
		return
	}
	for line := range strings.SplitSeq(strings.TrimRight(s.Diff, "\n"), "\n") {
		switch {
		case strings.HasPrefix(line, "+"):
			p.printf("%s\n", p.green(line))
		case strings.HasPrefix(line, "-"):
			p.printf("%s\n", p.red(line))
		default:
			p.printf("%s\n", line)
		}
	}
}

func (s *installed) text(p *page) {
	s.lines(p)
	closing(p, s)
}

func (s *installed) lines(p *page) {
	if s.DryRun {
		s.diffText(p)
	}
	switch {
	case !s.Changed && s.Removed:
		p.printf("nothing to remove: %s has no hook of ours\n", s.Settings)
	case !s.Changed:
		p.printf("installed already: %s is as it should be\n", s.Settings)
	case s.DryRun:
		p.printf("%s\n", p.faint("dry run: "+s.Settings+" was not changed"))
	case s.Removed:
		p.printf("removed from %s; the memories stay\n", s.Settings)
	default:
		p.printf("installed in %s\n", s.Settings)
	}
	if s.Trusted {
		p.printf("trusted by Codex\n")
	}
	if s.Remark != "" {
		p.printf("%s %s\n", p.yellow("note:"), s.Remark)
	}
}
