package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"stillso/internal/host"
	"stillso/internal/host/codex"
	"stillso/internal/settings"
)

// hostHealth is one row of doctor's table of hosts.
type hostHealth struct {
	Host string `json:"host"`
	// Present: the host is on this machine. Registered: how many of Of hooks are
	// in its settings. Trusted: yes, no, modified, unknown; "-" where the host asks
	// for none. Current: the registered program is there, and of this build.
	Present    bool   `json:"present"`
	Registered int    `json:"registered"`
	Of         int    `json:"of"`
	Trusted    string `json:"trusted"`
	Current    bool   `json:"current"`
	// Seen is when the hook last left a receipt for this host.
	Seen *time.Time `json:"seen,omitempty"`
	// Arrived: what was last injected stands in the host's own transcript: yes, no,
	// unknown; "-" if nothing was.
	Arrived  string `json:"arrived"`
	Settings string `json:"settings"`
}

// hooks checks for every host that is here whether the hook is registered, is
// trusted, and is the one that belongs to this stillso.
func (d *checkup) hooks(ctx context.Context) {
	seen, shown := d.receipts(ctx)
	any := false
	for _, h := range d.app.assistants() {
		row := hostHealth{Host: h.name, Present: h.present(d.app), Settings: h.settings, Trusted: "-"}
		if at, ok := seen[h.name]; ok {
			row.Seen = &at
		}
		row.Arrived = "-"
		if r, ok := shown[h.name]; ok && row.Present {
			row.Arrived = d.arrived(ctx, h, r)
		}
		if d.host(ctx, h, &row); row.Present || row.Registered > 0 {
			any = true
			d.health.Hosts = append(d.health.Hosts, row)
		}
	}
	if !any {
		d.health.add("hooks", note, "stillso install", "no assistant that stillso knows was found here")
	}
	d.cutOff(ctx)
}

// host fills the row of one host, and adds what is to be said of it.
func (d *checkup) host(ctx context.Context, h assistant, row *hostHealth) {
	do := "stillso install " + h.name
	text, err := os.ReadFile(h.settings) // #nosec G304 -- the settings of the assistant
	if errors.Is(err, fs.ErrNotExist) {
		if row.Present {
			d.health.add(h.name, note, do, "the hook is not registered: there is no %s", h.settings)
		}
		return
	}
	if err != nil {
		d.health.add(h.name, problem, "", "its settings cannot be read: %v", err)
		return
	}
	if h.hooks == nil {
		d.ownFile(h, text, row)
		return
	}
	list, err := settings.Registered(text, host.Program)
	if err != nil {
		d.health.add(h.name, problem, "correct "+h.settings, "its settings cannot be read: %v", err)
		return
	}
	want := h.entries("/" + hookName())
	row.Registered, row.Of = len(list), len(want)
	if len(list) == 0 {
		if plugin := pluginOf(text); plugin != "" {
			row.Registered, row.Current = len(want), true
			d.health.add(h.name, fine, "", "registered by the plugin %s", plugin)
			return
		}
		d.health.add(h.name, note, do, "the hook is not registered in %s", h.settings)
		return
	}
	if off := switchedOff(h, text); off != "" {
		d.health.add(h.name, problem, "switch them on again", "no hook runs: %s", off)
		return
	}
	have := map[string]int{}
	for _, x := range list {
		have[x.Event]++
	}
	var missing []string
	for _, w := range want {
		if have[w.Event] == 0 {
			missing = append(missing, w.Event)
		}
		if have[w.Event] > 1 {
			d.health.add(h.name, problem, do, "%s is registered %d times in %s", w.Event, have[w.Event], h.settings)
		}
	}
	if len(missing) > 0 {
		d.health.add(h.name, problem, do, "not registered: %s", strings.Join(missing, ", "))
		return
	}
	if why := hookTrouble(list[0].Command); why != "" {
		d.health.add(h.name, problem, do, "%s", why)
		return
	}
	row.Current = true
	if h.name == codex.Name && !d.codexTrust(ctx, h, row) {
		return
	}
	d.health.add(h.name, fine, "", "%s registered in %s", plural(len(list), "hook", "hooks"), h.settings)
}

// pluginOf returns the plugin of ours that the settings of Claude Code switch on,
// or "".
func pluginOf(text []byte) (found string) {
	plugins, ok := settings.Value(text, "enabledPlugins")
	if !ok || host.Kind(plugins) != '{' {
		return ""
	}
	_ = host.Fields(plugins, func(key, value []byte) bool { // with comments in it, the first ones count
		if name := string(key); strings.HasPrefix(name, "stillso@") && host.True(value) {
			found = name
		}
		return found == ""
	})
	return found
}

// ownFile checks a registration that is a file of ours as a whole.
func (d *checkup) ownFile(h assistant, text []byte, row *hostHealth) {
	do := "stillso install " + h.name
	row.Of = 1
	if !strings.Contains(string(text), host.Program) {
		d.health.add(h.name, problem, "move it away, then "+do, "%s is not ours", h.settings)
		return
	}
	row.Registered = 1
	hook, err := findHook()
	if err != nil || string(text) != string(h.file(hook)) {
		d.health.add(h.name, problem, do, "%s is of another version, or calls another program", h.settings)
		return
	}
	row.Current = true
	d.health.add(h.name, fine, "", "registered in %s", h.settings)
}

// switchedOff says which setting keeps all hooks of a host from running, or "".
func switchedOff(h assistant, text []byte) string {
	for _, off := range [...]struct {
		value string
		path  []string
	}{{"true", []string{"disableAllHooks"}}, {"false", []string{"hooksConfig", "enabled"}}} {
		if v, found := settings.Value(text, off.path...); found && string(v) == off.value {
			return fmt.Sprintf("%s is %s in %s", strings.Join(off.path, "."), off.value, h.settings)
		}
	}
	if h.name == codex.Name {
		var conf struct {
			Features map[string]any `toml:"features"`
		}
		path := codex.Places(h.dir).Config()
		if _, err := toml.DecodeFile(path, &conf); err == nil && conf.Features["hooks"] == false {
			return "features.hooks is false in " + path
		}
	}
	return ""
}

// codexTrust asks Codex whether it trusts the hook: one that it does not trust
// it passes over without a word. It returns false if it said something.
func (d *checkup) codexTrust(ctx context.Context, h assistant, row *hostHealth) bool {
	const do = "approve it in Codex with /hooks, or stillso install codex --trust"
	row.Trusted = "unknown"
	c, err := d.app.codexServer(ctx, h)
	if err != nil {
		d.health.add(h.name, note, do, "cannot tell whether Codex trusts the hook: %v", err)
		return false
	}
	defer c.close()
	list, err := c.hooks(h.settings)
	if err != nil {
		d.health.add(h.name, note, do, "cannot tell whether Codex trusts the hook: %v", err)
		return false
	}
	row.Trusted = "yes"
	for _, x := range list {
		if !x.Enabled {
			d.health.add(h.name, problem, "switch it on with /hooks", "a hook is switched off in Codex")
			row.Trusted = "off"
			return false
		}
		if x.Trust != "trusted" {
			row.Trusted = "no"
			if x.Trust == "modified" {
				row.Trusted = "modified"
			}
		}
	}
	if len(list) == 0 {
		row.Trusted = "no"
	}
	if row.Trusted != "yes" {
		d.health.add(h.name, problem, do, "Codex does not trust the hook, and so never calls it")
		return false
	}
	return true
}

// registered counts our hooks in the settings of a host.
func (a *app) registered(h assistant) int {
	text, err := os.ReadFile(h.settings) // #nosec G304 -- the settings of the assistant
	if err != nil {
		return 0
	}
	if h.hooks == nil {
		return strings.Count(string(text), host.Program)
	}
	list, _ := settings.Registered(text, host.Program) // what cannot be read has none
	return len(list)
}

// hostTable shows the hosts, one a row.
func (h *health) hostTable(p *page) {
	if len(h.Hosts) == 0 {
		return
	}
	yes := func(b bool) string {
		if b {
			return "yes"
		}
		return "no"
	}
	var rows [][]string
	for _, x := range h.Hosts {
		registered, seen := fmt.Sprintf("%d of %d", x.Registered, x.Of), "never"
		if x.Registered == 0 {
			registered = "no"
		}
		if x.Seen != nil {
			seen = x.Seen.Local().Format("2006-01-02 15:04")
		}
		current := yes(x.Current)
		if x.Registered == 0 {
			current = "-"
		}
		rows = append(rows, []string{x.Host, yes(x.Present), registered, x.Trusted, current, seen, x.Arrived})
	}
	p.printf("\n")
	p.table(slices.Clone([]string{"host", "here", "registered", "trusted", "current", "last receipt", "arrived"}), rows)
}

// hookTrouble says what is wrong with the program that is registered, or "".
func hookTrouble(command string) string {
	program := command
	if _, err := os.Stat(program); err != nil { // #nosec G703 -- the program that the settings name; a line for a shell
		program = strings.Trim(strings.Fields(command + " ")[0], "'\"")
		if at := strings.Index(command, host.Program); at >= 0 {
			program = strings.Trim(strings.TrimPrefix(command[:at], "& ")+hookName(), "'\" ")
		}
	}
	info, err := os.Stat(program) // #nosec G703 -- the program that the settings name
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
