package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/host"
	"stillso/internal/host/claudecode"
	"stillso/internal/settings"
)

// installCmd registers the hook with an assistant.
type installCmd struct {
	Host   string `arg:"" optional:"" help:"The assistant." default:"claude-code"`
	DryRun bool   `help:"Show the change of the settings file; change nothing."`
	Shell  bool   `help:"Register a line for a shell, for Claude Code before 2.1.139; else by the version that last ran."`
}

// Help shows examples.
func (installCmd) Help() string {
	return `Edits the settings file of the assistant as text: comments, order and the hooks of
others stay as they are, and a backup is kept in the home of the memories. Doing it
again brings the entries up to date. stillso uninstall gives the file back as it was.

Examples:
  stillso install --dry-run
  stillso install claude-code`
}

// uninstallCmd takes the hook out again.
type uninstallCmd struct {
	Host   string `arg:"" optional:"" help:"The assistant." default:"claude-code"`
	DryRun bool   `help:"Show the change of the settings file; change nothing."`
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
	Note     string `json:"note,omitempty"`
}

// ownProgram is by what our entries are known, wherever they lie.
const ownProgram = "stillso-hook"

func (c *installCmd) run(_ context.Context, a *app) (summary, error) {
	if c.Host != claudecode.Name {
		return nil, usagef("cannot install: unknown host %q; use %s", c.Host, claudecode.Name)
	}
	hook, err := findHook()
	if err != nil {
		return nil, usagef("nothing was installed: %w", err)
	}
	path := filepath.Join(a.claudeDir(), "settings.json")
	shell := c.Shell || olderThan(lastVersion(a.claudeDir()), "2.1.139")
	plan, err := settings.PlanInstall(path, ownProgram, claudeHooks(hook, shell), a.keepFile(c.Host))
	if err != nil {
		return nil, settingsError("nothing was installed", err)
	}
	sum := &installed{Host: c.Host, Settings: path, Hook: hook, Changed: plan.Changed(), DryRun: c.DryRun, Diff: plan.Diff()}
	if def, err := home.Locate(a.std.env); err != nil || def != a.dir {
		sum.Note = fmt.Sprintf("the hook finds the memories by STILLSO_HOME; set it to %s where the assistant runs", a.dir)
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

func (c *uninstallCmd) run(_ context.Context, a *app) (summary, error) {
	if c.Host != claudecode.Name {
		return nil, usagef("cannot uninstall: unknown host %q; use %s", c.Host, claudecode.Name)
	}
	path := filepath.Join(a.claudeDir(), "settings.json")
	plan, err := settings.PlanRemoval(path, ownProgram, a.keepFile(c.Host))
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

// claudeHooks returns the entries for Claude Code. Prompt and tool calls wait for
// the hook, so their time-outs are short; a session's end is killed after 1.5 s
// unless the entry asks for more.
func claudeHooks(hook string, shell bool) []settings.Hook {
	var out []settings.Hook
	for _, e := range []struct {
		event, ours, matcher string
	}{
		{"SessionStart", host.SessionStart, ""},
		{"UserPromptSubmit", host.Prompt, ""},
		{"PreToolUse", host.PreTool, "Read|Edit|MultiEdit|Write|NotebookEdit"},
		{"Stop", host.TurnEnd, ""},
		{"PreCompact", host.PreCompact, ""},
		{"SessionEnd", host.SessionEnd, ""},
	} {
		h := settings.Hook{Event: e.event, Matcher: e.matcher, Command: hook, Args: []string{claudecode.Name, e.ours}, Timeout: 5}
		if shell {
			h.Command, h.Args = strings.Join([]string{quoteShell(hook), claudecode.Name, e.ours}, " "), nil
		}
		out = append(out, h)
	}
	return out
}

// quoteShell quotes a path for a POSIX shell.
func quoteShell(s string) string {
	if !strings.ContainsAny(s, " \t'\"$`\\&|;()<>*?[]#~!{}") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// lastVersion returns the version of Claude Code that wrote the newest history,
// "" if there is none.
func lastVersion(claude string) string {
	m := look(claude)
	if len(m.transcripts) == 0 {
		return ""
	}
	enough := errors.New("enough")
	version := ""
	for _, tr := range m.transcripts[:min(3, len(m.transcripts))] {
		n := 0
		got, err := claudecode.ReadFile(tr.path, claudecode.Position{}, func(stillso.Turn) error {
			if n++; n > 20 {
				return enough // the first rows name it
			}
			return nil
		})
		if version = got.Version; version != "" || err == nil {
			break
		}
	}
	return version
}

// olderThan compares two dotted versions; an unknown one is not older.
func olderThan(v, than string) bool {
	if v == "" {
		return false
	}
	a, b := strings.Split(v, "."), strings.Split(than, ".")
	for i := range b {
		if i >= len(a) {
			return true
		}
		x, errX := strconv.Atoi(a[i])
		y, errY := strconv.Atoi(b[i])
		if errX != nil || errY != nil {
			return false
		}
		if c := cmp.Compare(x, y); c != 0 {
			return c < 0
		}
	}
	return false
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
	if s.Note != "" {
		p.printf("%s %s\n", p.yellow("note:"), s.Note)
	}
}
