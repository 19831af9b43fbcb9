package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"stillso/internal/home"
	"stillso/internal/host/claudecode"
	"stillso/internal/settings"
)

// installCmd registers the hook with an assistant.
type installCmd struct {
	Host   string `arg:"" optional:"" help:"The assistant, or timer for a sweep once a day." default:"claude-code"`
	DryRun bool   `help:"Show what would be changed; change nothing."`
}

// Help shows examples.
func (installCmd) Help() string {
	return `Edits the settings file of the assistant as text: comments, order and the hooks of
others stay as they are, and a backup is kept in the home of the memories. Doing it
again brings the entries up to date. stillso uninstall gives the file back as it was.

Examples:
  stillso install --dry-run
  stillso install claude-code
  stillso install timer`
}

// uninstallCmd takes the hook out again.
type uninstallCmd struct {
	Host   string `arg:"" optional:"" help:"The assistant, or timer." default:"claude-code"`
	DryRun bool   `help:"Show what would be changed; change nothing."`
}

// Help shows examples.
func (uninstallCmd) Help() string {
	return `Takes our hooks out and leaves all else. The memories stay; delete the home
directory to remove them (stillso doctor names it).

Examples:
  stillso uninstall claude-code`
}

// installed is what install or uninstall did.
type installed struct {
	Host     string `json:"host"`
	Settings string `json:"settings"`
	Hook     string `json:"hook,omitempty"`
	Changed  bool   `json:"changed"`
	DryRun   bool   `json:"dry_run,omitempty"`
	Removed  bool   `json:"removed,omitempty"`
	Diff     string `json:"diff,omitempty"`
	Remark   string `json:"note,omitempty"`
}

func (c *installCmd) run(ctx context.Context, a *app) (summary, error) {
	if c.Host == "timer" {
		return a.installTimer(ctx, c.DryRun)
	}
	if c.Host != claudecode.Name {
		return nil, usagef("cannot install: unknown host %q; use %s or timer", c.Host, claudecode.Name)
	}
	hook, err := findHook()
	if err != nil {
		return nil, usagef("nothing was installed: %w", err)
	}
	path := filepath.Join(a.claudeDir(), "settings.json")
	plan, err := settings.PlanInstall(path, claudecode.Program, claudeHooks(hook), a.keepFile(c.Host))
	if err != nil {
		return nil, settingsError("nothing was installed", err)
	}
	sum := &installed{Host: c.Host, Settings: path, Hook: hook, Changed: plan.Changed(), DryRun: c.DryRun, Diff: plan.Diff()}
	if def, err := home.Locate(a.std.env); err != nil || def != a.dir {
		sum.Remark = fmt.Sprintf("the hook finds the memories by STILLSO_HOME; set it to %s where the assistant runs", a.dir)
	}
	if c.DryRun {
		return sum, nil
	}
	if err := a.dir.Create(); err != nil {
		return nil, fmt.Errorf("nothing was installed: cannot make %s: %w", a.dir, err)
	}
	if err := os.MkdirAll(filepath.Dir(a.keepFile(c.Host)), 0o700); err != nil {
		return nil, fmt.Errorf("nothing was installed: cannot keep a backup: %w", err)
	}
	if err := plan.Apply(); err != nil {
		return nil, fmt.Errorf("nothing was installed: %w", err)
	}
	return sum, nil
}

func (c *uninstallCmd) run(ctx context.Context, a *app) (summary, error) {
	if c.Host == "timer" {
		return a.uninstallTimer(ctx, c.DryRun)
	}
	if c.Host != claudecode.Name {
		return nil, usagef("cannot uninstall: unknown host %q; use %s or timer", c.Host, claudecode.Name)
	}
	path := filepath.Join(a.claudeDir(), "settings.json")
	plan, err := settings.PlanRemoval(path, claudecode.Program, a.keepFile(c.Host))
	if err != nil {
		return nil, settingsError("nothing was changed", err)
	}
	sum := &installed{Host: c.Host, Settings: path, Changed: plan.Changed(), DryRun: c.DryRun, Removed: true, Diff: plan.Diff()}
	if c.DryRun {
		return sum, nil
	}
	if err := plan.Apply(); err != nil {
		return nil, fmt.Errorf("nothing was changed: %w", err)
	}
	return sum, nil
}

// keepFile is the beginning of the names of the files in which an install is
// written down.
func (a *app) keepFile(hostName string) string {
	return filepath.Join(string(a.dir), "install", hostName)
}

// settingsError says why a settings file is left alone.
func settingsError(what string, err error) error {
	var syntax *settings.SyntaxError
	if errors.As(err, &syntax) {
		return usagef("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}

// claudeHooks returns the entries for Claude Code.
func claudeHooks(program string) []settings.Hook {
	var out []settings.Hook
	for _, h := range claudecode.Hooks(program, runtime.GOOS) {
		out = append(out, settings.Hook{Event: h.Event, Matcher: h.Matcher, Command: h.Command, Args: h.Args, Timeout: h.Timeout})
	}
	return out
}

func (s *installed) text(p *page) {
	for line := range strings.SplitSeq(strings.TrimRight(s.Diff, "\n"), "\n") {
		switch {
		case s.Diff == "" || !s.DryRun:
		case strings.HasPrefix(line, "+"):
			p.printf("%s\n", p.green(line))
		case strings.HasPrefix(line, "-"):
			p.printf("%s\n", p.red(line))
		default:
			p.printf("%s\n", line)
		}
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
		p.printf("%s\n", p.faint("start a new session of the assistant; stillso doctor checks it, stillso uninstall takes it out again"))
	}
	if s.Remark != "" {
		p.printf("%s %s\n", p.yellow("note:"), s.Remark)
	}
}
