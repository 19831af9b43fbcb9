package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stillso/internal/files"
	"stillso/internal/host/claudecode"
	"stillso/internal/settings"
)

// hooks checks that the hook is registered, and is the one that belongs to this
// stillso.
func (d *checkup) hooks(context.Context) {
	path := filepath.Join(d.app.claudeDir(), "settings.json")
	const do = "stillso install claude-code"
	text, err := os.ReadFile(path) // #nosec G304 -- the settings of the assistant
	if errors.Is(err, fs.ErrNotExist) {
		d.health.add("claude-code", note, do, "the hook is not registered: there is no %s", path)
		d.cutOff()
		return
	}
	if err != nil {
		d.health.add("claude-code", problem, "", "its settings cannot be read: %v", err)
		return
	}
	list, err := settings.Registered(text, claudecode.Program)
	if err != nil {
		d.health.add("claude-code", problem, "correct "+path, "its settings cannot be read: %v", err)
		return
	}
	d.cutOff()
	if len(list) == 0 {
		d.health.add("claude-code", note, do, "the hook is not registered in %s", path)
		return
	}
	if off, found := settings.Value(text, "disableAllHooks"); found && string(off) == "true" {
		d.health.add("claude-code", problem, "set it to false in "+path, "disableAllHooks is on: no hook runs")
		return
	}
	have, want := map[string]int{}, claudeHooks("/"+hookName())
	for _, h := range list {
		have[h.Event]++
	}
	var missing []string
	for _, w := range want {
		if have[w.Event] == 0 {
			missing = append(missing, w.Event)
		}
		if have[w.Event] > 1 {
			d.health.add("claude-code", problem, do, "%s is registered %d times in %s", w.Event, have[w.Event], path)
		}
	}
	if len(missing) > 0 {
		d.health.add("claude-code", problem, do, "not registered: %s", strings.Join(missing, ", "))
		return
	}
	if why := hookTrouble(list[0].Command); why != "" {
		d.health.add("claude-code", problem, do, "%s", why)
		return
	}
	d.health.add("claude-code", fine, "", "%s registered in %s", plural(len(list), "hook", "hooks"), path)
}

// hookTrouble says what is wrong with the program that is registered, or "".
func hookTrouble(command string) string {
	program := command
	if _, err := os.Stat(program); err != nil { // #nosec G703 -- only looked at; else it is a line for a shell
		program = strings.Trim(strings.Fields(command + " ")[0], "'\"")
		if at := strings.Index(command, claudecode.Program); at >= 0 {
			program = strings.Trim(command[:at]+hookName(), "'\" ")
		}
	}
	info, err := os.Stat(program) // #nosec G703 -- only looked at
	if err != nil {
		return fmt.Sprintf("the registered program is gone: %s", program)
	}
	if info.IsDir() || filepath.Ext(program) != ".exe" && info.Mode()&0o111 == 0 {
		return fmt.Sprintf("the registered program cannot be run: %s", program)
	}
	mine, theirs := buildVersion().Commit, commitOf(program)
	if mine != "" && theirs != "" && mine != theirs {
		return fmt.Sprintf("the registered program is of another build: %s is %s, this is %s", program, theirs, mine)
	}
	return ""
}

// commitOf returns the commit that a Go program was built from, "" if unknown.
func commitOf(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return s.Value[:12]
		}
	}
	return ""
}

// cutOff tells of MEMORY.md files of which the host loads only the beginning.
func (d *checkup) cutOff() {
	for _, folder := range look(d.app.claudeDir()).folders {
		path := filepath.Join(folder, "MEMORY.md")
		text, err := os.ReadFile(path) // #nosec G304 -- the host's own index
		if err != nil {
			continue
		}
		lines := strings.Count(strings.TrimRight(string(text), "\n")+"\n", "\n")
		if loaded := files.LoadedIndex(string(text)); loaded < lines {
			d.health.add("MEMORY.md", note, "stillso import "+folder+" makes them findable",
				"Claude Code loads %d of %d lines of %s", loaded, lines, path)
		}
	}
}
