package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stillso/internal/home"
	"stillso/internal/host/claudecode"
	"stillso/internal/host/codex"
	"stillso/internal/host/copilot"
	"stillso/internal/host/cursor"
	"stillso/internal/host/gemini"
	"stillso/internal/host/opencode"
	"stillso/internal/host/qwen"
	"stillso/internal/settings"
)

// mcpInstallCmd registers the server with assistants.
type mcpInstallCmd struct {
	Host   []string `arg:"" optional:"" help:"The assistants; else those that are here."`
	Yes    bool     `short:"y" help:"Do not ask."`
	DryRun bool     `help:"Show what would be changed; change nothing."`
}

// Help shows examples.
func (mcpInstallCmd) Help() string {
	return `Knows claude-code, codex, gemini, qwen, copilot, cursor, opencode, windsurf, crush and
vscode. Settings are edited as text, as stillso install does it. Claude Code and VS Code
write their file all the time: for them the command that does it is printed, to be run
by you. Doing it again brings the entry up to date.

Examples:
  stillso mcp install --dry-run
  stillso mcp install gemini cursor`
}

type mcpUninstallCmd struct {
	Host   []string `arg:"" optional:"" help:"The assistants; else all that have the server."`
	DryRun bool     `help:"Show what would be changed; change nothing."`
}

// mcpHost is an assistant that can use the server.
type mcpHost struct {
	name, dir string
	// file registers servers; "" if only the host's own command should write it.
	file string
	// parent is the name of the object or table with the servers.
	parent string
	toml   bool
	fields func(argv []string) []settings.Field
	// add and remove are the host's own commands, for a shell.
	add, remove func(argv []string) string
	// blind is set if nothing could be measured with the real program.
	blind bool
}

// mcpHosts lists the assistants, in the order in which people are shown them.
func (a *app) mcpHosts() []mcpHost {
	user := a.userHome()
	config := filepath.Join(user, ".config")
	if dir := a.std.env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		config = dir
	}
	list := []mcpHost{
		{
			name:   claudecode.Name,
			add:    func(argv []string) string { return "claude mcp add -s user stillso -- " + shellLine(argv) },
			remove: func([]string) string { return "claude mcp remove -s user stillso" },
		},
		{name: codex.Name, file: "config.toml", parent: "mcp_servers", toml: true, fields: plainFields},
		{name: gemini.Name, file: "settings.json", parent: "mcpServers", fields: plainFields},
		{name: qwen.Name, file: "settings.json", parent: "mcpServers", fields: plainFields},
		{name: copilot.Name, file: "mcp-config.json", parent: "mcpServers", fields: func(argv []string) []settings.Field {
			return append(typed("local", plainFields(argv)), settings.Field{Name: "tools", Value: `["*"]`})
		}},
		{name: cursor.Name, file: "mcp.json", parent: "mcpServers", fields: plainFields, blind: true},
		{name: opencode.Name, file: "opencode.json", parent: "mcp", fields: func(argv []string) []settings.Field {
			return typed("local", []settings.Field{{Name: "command", Value: jsonList(argv)}, {Name: "enabled", Value: "true"}})
		}, blind: true},
		{name: "windsurf", dir: filepath.Join(user, ".codeium", "windsurf"), file: "mcp_config.json", parent: "mcpServers", fields: plainFields, blind: true},
		{name: "crush", dir: filepath.Join(config, "crush"), file: "crush.json", parent: "mcp", fields: func(argv []string) []settings.Field {
			return typed("stdio", plainFields(argv))
		}, blind: true},
		{
			name: "vscode", dir: filepath.Join(user, ".vscode"),
			add: func(argv []string) string {
				return "code --add-mcp " + quotedWord(jsonText(map[string]any{"name": "stillso", "command": argv[0], "args": argv[1:]}))
			},
			remove: func([]string) string { return "MCP: List Servers, in its command palette" },
		},
	}
	for i := range list {
		h := &list[i]
		if known, ok := a.assistant(h.name); ok {
			h.dir = known.dir
		}
		if h.name == opencode.Name {
			if _, err := os.Stat(filepath.Join(h.dir, "opencode.jsonc")); err == nil {
				h.file = "opencode.jsonc"
			}
		}
		if h.file != "" {
			h.file = filepath.Join(h.dir, h.file)
		}
	}
	return list
}

func plainFields(argv []string) []settings.Field {
	return []settings.Field{{Name: "command", Value: jsonText(argv[0])}, {Name: "args", Value: jsonList(argv[1:])}}
}

func typed(kind string, fields []settings.Field) []settings.Field {
	return append([]settings.Field{{Name: "type", Value: jsonText(kind)}}, fields...)
}

// jsonText returns texts, and lists and maps of them, as JSON on one line.
func jsonText(v any) string {
	b, err := marshalSafe(v, "")
	if err != nil {
		return "null"
	}
	return strings.TrimSpace(string(b))
}

// jsonList writes texts as people do, with a space behind each comma.
func jsonList(texts []string) string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = jsonText(t)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// shellLine writes a command for a shell of Unix.
func shellLine(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		words[i] = quotedWord(w)
	}
	return strings.Join(words, " ")
}

func quotedWord(w string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:=+@", r)
	}
	if w != "" && !strings.ContainsFunc(w, func(r rune) bool { return !plain(r) }) {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// mcpCommand is how an assistant starts the server: this very program, and the home
// of the memories if it is not where the program would look for it by itself.
func (a *app) mcpCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("nothing was installed: cannot tell where stillso is: %w", err)
	}
	argv := []string{self}
	byItself, err := home.Locate(func(name string) string {
		if name == "STILLSO_HOME" {
			return ""
		}
		return a.std.env(name)
	})
	if err != nil || byItself != a.dir {
		argv = append(argv, "--home", a.directory(string(a.dir)))
	}
	return append(argv, "mcp"), nil
}

func (h mcpHost) entry(argv []string) settings.Entry {
	return settings.Entry{Parent: h.parent, Name: "stillso", Fields: h.fields(argv), Own: "stillso"}
}

func (h mcpHost) planInstall(a *app, argv []string) (*settings.Plan, error) {
	if h.toml {
		return settings.PlanTable(h.file, h.entry(argv), a.keepFile("mcp-"+h.name))
	}
	return settings.PlanEntry(h.file, h.entry(argv), a.keepFile("mcp-"+h.name))
}

func (h mcpHost) planRemoval(a *app, argv []string) (*settings.Plan, error) {
	if h.toml {
		return settings.PlanTableRemoval(h.file, h.entry(argv), a.keepFile("mcp-"+h.name))
	}
	return settings.PlanEntryRemoval(h.file, h.entry(argv), a.keepFile("mcp-"+h.name))
}

// pickMCP returns the hosts that were named, or those that found reports.
func (a *app) pickMCP(names []string, found func(mcpHost) bool) ([]mcpHost, error) {
	all := a.mcpHosts()
	var picked []mcpHost
	for _, name := range names {
		i := slices.IndexFunc(all, func(h mcpHost) bool { return h.name == name })
		if i < 0 {
			var known []string
			for _, h := range all {
				known = append(known, h.name)
			}
			return nil, usagef("unknown host %q: use one of %s", name, strings.Join(known, ", "))
		}
		if !slices.ContainsFunc(picked, func(h mcpHost) bool { return h.name == name }) {
			picked = append(picked, all[i])
		}
	}
	if len(names) == 0 {
		for _, h := range all {
			if found(h) {
				picked = append(picked, h)
			}
		}
	}
	return picked, nil
}

func (h mcpHost) present(a *app) bool {
	if known, ok := a.assistant(h.name); ok {
		return known.present(a)
	}
	info, err := os.Stat(h.dir)
	return err == nil && info.IsDir()
}

// mcpInstalled is what became of one host.
type mcpInstalled struct {
	*installed
	// Command is what a person has to run; then nothing was changed.
	Command string `json:"command,omitempty"`
}

type mcpInstalls struct {
	Hosts []mcpInstalled `json:"hosts"`
}

func (c *mcpInstallCmd) run(_ context.Context, a *app) (summary, error) {
	argv, err := a.mcpCommand()
	if err != nil {
		return nil, err
	}
	hosts, err := a.pickMCP(c.Host, func(h mcpHost) bool { return h.present(a) })
	if err != nil {
		return nil, err
	}
	sum, files := &mcpInstalls{Hosts: []mcpInstalled{}}, []*installed{}
	for _, h := range hosts {
		x := mcpInstalled{installed: &installed{Host: h.name, Settings: h.file, DryRun: c.DryRun}}
		if h.blind {
			x.Remark = h.name + " could not be tested here; look there whether it lists the tools"
		}
		sum.Hosts = append(sum.Hosts, x)
		if h.file == "" {
			sum.Hosts[len(sum.Hosts)-1].Command = h.add(argv)
			continue
		}
		plan, err := h.planInstall(a, argv)
		if err != nil {
			return nil, settingsError("nothing was installed", err)
		}
		x.Changed, x.Diff, x.plans = plan.Changed(), plan.Diff(), []*settings.Plan{plan}
		files = append(files, x.installed)
	}
	if c.DryRun || len(files) == 0 {
		return sum, nil
	}
	if err := (&installCmd{Host: c.Host, Yes: c.Yes}).ask(a, files); err != nil {
		return nil, err
	}
	if err := a.dir.Create(); err != nil {
		return nil, fmt.Errorf("nothing was installed: cannot make %s: %w", a.dir, err)
	}
	for i, x := range files {
		if err := x.plans[0].Apply(); err != nil {
			return nil, fmt.Errorf("%s: %s not installed: %w", done(files[:i]), x.Host, err)
		}
	}
	return sum, nil
}

func (c *mcpUninstallCmd) run(_ context.Context, a *app) (summary, error) {
	argv, err := a.mcpCommand()
	if err != nil {
		return nil, err
	}
	hosts, err := a.pickMCP(c.Host, func(h mcpHost) bool {
		if h.file == "" {
			return false
		}
		plan, err := h.planRemoval(a, argv)
		return err != nil || plan.Changed()
	})
	if err != nil {
		return nil, err
	}
	sum := &mcpInstalls{Hosts: []mcpInstalled{}}
	for _, h := range hosts {
		x := mcpInstalled{installed: &installed{Host: h.name, Settings: h.file, DryRun: c.DryRun, Removed: true}}
		if h.file == "" {
			x.Command = h.remove(argv)
		} else {
			plan, err := h.planRemoval(a, argv)
			if err != nil {
				return nil, settingsError("nothing was changed", err)
			}
			x.Changed, x.Diff, x.plans = plan.Changed(), plan.Diff(), []*settings.Plan{plan}
		}
		sum.Hosts = append(sum.Hosts, x)
	}
	for _, x := range sum.Hosts {
		if c.DryRun || len(x.plans) == 0 {
			continue
		}
		if err := x.plans[0].Apply(); err != nil {
			return nil, fmt.Errorf("%s was not uninstalled: %w", x.Host, err)
		}
	}
	return sum, nil
}

func (s *mcpInstalls) text(p *page) {
	if len(s.Hosts) == 0 {
		p.printf("no assistant that is known is here, or has the server: name one, as stillso mcp install --help shows\n")
	}
	for _, x := range s.Hosts {
		if x.DryRun {
			x.diffText(p)
		}
		switch {
		case x.Command != "":
			p.printf("%s keeps its servers itself; run: %s\n", x.Host, p.bold(x.Command))
		case !x.Changed && x.Removed:
			p.printf("nothing to remove: %s has no server of ours\n", x.Settings)
		case !x.Changed:
			p.printf("installed already: %s is as it should be\n", x.Settings)
		case x.DryRun:
			p.printf("%s\n", p.faint("dry run: "+x.Settings+" was not changed"))
		case x.Removed:
			p.printf("removed from %s; the memories stay\n", x.Settings)
		default:
			p.printf("installed in %s\n", x.Settings)
		}
		if x.Remark != "" {
			p.printf("%s %s\n", p.yellow("note:"), x.Remark)
		}
	}
}
