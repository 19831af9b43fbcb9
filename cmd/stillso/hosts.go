package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/host"
	"stillso/internal/host/claudecode"
	"stillso/internal/host/codex"
	"stillso/internal/host/copilot"
	"stillso/internal/host/cursor"
	"stillso/internal/host/gemini"
	"stillso/internal/host/opencode"
	"stillso/internal/host/qwen"
	"stillso/internal/settings"
)

// assistant is what the commands need to know of one host.
type assistant struct {
	name  string // on the command line and in receipts
	title string
	// programs are the names of its command; dir is where it keeps settings.
	programs []string
	dir      string
	// settings is the file that registers the hook.
	settings string
	// hooks are our entries in it; nil if the file is ours as a whole.
	hooks func(program, goos string) []host.Hook
	file  func(program string) []byte
	// instructions lists the instruction files that it loads for a project.
	instructions func(root, dir string) []string
	// read reads a transcript.
	read func(path string, from host.Position, emit func(stillso.Turn) error) (host.Reading, error)
	// blind is set if nothing could be measured with the real program.
	blind bool
}

// assistants lists the hosts that are known, in the order in which people are
// shown them. Without a home directory it is empty but for Claude Code.
func (a *app) assistants() []assistant {
	env := a.std.env
	list := []assistant{{
		name: claudecode.Name, title: "Claude Code", programs: []string{"claude"}, dir: a.claudeDir(), settings: filepath.Join(a.claudeDir(), "settings.json"),
		hooks: claudecode.Hooks, read: claudecode.ReadFile,
	}}
	if p, err := codex.Locate(env); err == nil {
		list = append(list, assistant{
			name: codex.Name, title: "Codex", programs: []string{"codex"}, dir: string(p), settings: p.Settings(),
			hooks: codex.Hooks, instructions: p.Instructions, read: codex.ReadFile,
		})
	}
	if p, err := gemini.Locate(env); err == nil {
		list = append(list, assistant{
			name: gemini.Name, title: "Gemini CLI", programs: []string{"gemini"}, dir: string(p), settings: p.Settings(),
			hooks: gemini.Hooks, instructions: p.Instructions, read: gemini.ReadFile,
		})
	}
	if p, err := copilot.Locate(env); err == nil {
		list = append(list, assistant{
			name: copilot.Name, title: "Copilot CLI", programs: []string{"copilot"}, dir: string(p), settings: p.Settings(),
			file: copilot.File, instructions: p.Instructions, read: copilot.ReadFile,
		})
	}
	if p, err := qwen.Locate(env); err == nil {
		list = append(list, assistant{
			name: qwen.Name, title: "Qwen Code", programs: []string{"qwen"}, dir: string(p), settings: p.Settings(),
			hooks: qwen.Hooks, instructions: p.Instructions, read: qwen.ReadFile,
		})
	}
	if p, err := cursor.Locate(env); err == nil {
		list = append(list, assistant{
			name: cursor.Name, title: "Cursor", programs: []string{"cursor", "cursor-agent"}, dir: string(p), settings: p.Settings(),
			hooks: cursor.Hooks, instructions: p.Instructions, read: cursor.ReadFile, blind: true,
		})
	}
	if p, err := opencode.Locate(env); err == nil {
		list = append(list, assistant{
			name: opencode.Name, title: "OpenCode", programs: []string{"opencode"}, dir: string(p), settings: p.Settings(),
			file: opencode.File, instructions: p.Instructions, read: opencode.ReadFile,
		})
	}
	return list
}

// assistant returns the host of that name.
func (a *app) assistant(name string) (assistant, bool) {
	list := a.assistants()
	if i := slices.IndexFunc(list, func(h assistant) bool { return h.name == name }); i >= 0 {
		return list[i], true
	}
	return assistant{}, false
}

// assistantNames lists the names that a command takes, for its errors.
func (a *app) assistantNames() string {
	var names []string
	for _, h := range a.assistants() {
		names = append(names, h.name)
	}
	return strings.Join(names, ", ")
}

// present reports whether the host is on this machine: its directory, or its
// program on the PATH.
func (h assistant) present(a *app) bool {
	if info, err := os.Stat(h.dir); err == nil && info.IsDir() {
		return true
	}
	return h.program(a) != ""
}

// program returns the path of the host's command, or "".
func (h assistant) program(a *app) string {
	for _, dir := range filepath.SplitList(a.std.env("PATH")) {
		for _, name := range h.programs {
			if runtime.GOOS == "windows" {
				name += ".exe"
			}
			path := filepath.Join(dir, name)
			if info, err := os.Stat(path); err == nil && filepath.IsAbs(dir) && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
				return path
			}
		}
	}
	if runtime.GOOS == "windows" { // npm makes .cmd files there
		for _, name := range h.programs {
			if path, err := exec.LookPath(name); err == nil && filepath.IsAbs(path) {
				return path
			}
		}
	}
	return ""
}

// entries are the hooks of a host as its settings take them.
func (h assistant) entries(program string) []settings.Hook {
	var out []settings.Hook
	for _, x := range h.hooks(program, runtime.GOOS) {
		out = append(out, settings.Hook{Event: x.Event, Matcher: x.Matcher, Command: x.Command, Args: x.Args, Timeout: x.Timeout, Name: x.Name, Flat: x.Flat})
	}
	return out
}

// planInstall works out how the host's settings look with our hook.
func (h assistant) planInstall(a *app, hook string) (*settings.Plan, error) {
	if h.hooks == nil {
		return settings.PlanOwn(h.settings, h.file(hook), host.Program, a.keepFile(h.name))
	}
	return settings.PlanInstall(h.settings, host.Program, h.entries(hook), a.keepFile(h.name))
}

// planRemoval works out how the host's settings look without our hook.
func (h assistant) planRemoval(a *app) (*settings.Plan, error) {
	if h.hooks == nil {
		hook, _ := findHook() // then the record alone tells whether the file is as we left it
		return settings.PlanOwnRemoval(h.settings, h.file(hook), host.Program, a.keepFile(h.name))
	}
	return settings.PlanRemoval(h.settings, host.Program, a.keepFile(h.name))
}
