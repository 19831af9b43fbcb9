package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/renameio/v2/maybe"
)

// The timer is an ordinary job of the system that runs `stillso sweep` once a
// day: for sessions that never said they ended, and for those who use no hook.

// timerFile is one file that a timer consists of.
type timerFile struct {
	Path string `json:"path"`
	Text string `json:"text"`
}

// timer is how this system runs something once a day.
type timer struct {
	Kind  string      `json:"kind"`
	Files []timerFile `json:"files"`
	// Start and Stop are the commands that put it into effect, and end it.
	Start [][]string `json:"start"`
	Stop  [][]string `json:"stop"`
}

// timed is what install timer or uninstall timer did.
type timed struct {
	Timer   *timer   `json:"timer"`
	DryRun  bool     `json:"dry_run,omitempty"`
	Removed bool     `json:"removed,omitempty"`
	Done    []string `json:"done"`
	// Left says what the person has to do by hand.
	Left string `json:"left,omitempty"`
}

const (
	systemdName = "stillso-sweep"
	launchdName = "stillso.sweep"
)

// newTimer describes the timer of this system.
func newTimer(goos, userHome, configHome, program, home string) (*timer, error) {
	switch goos {
	case "linux":
		dir := filepath.Join(configHome, "systemd", "user")
		return &timer{
			Kind: "systemd",
			Files: []timerFile{
				{filepath.Join(dir, systemdName+".service"), "[Unit]\nDescription=stillso: offline work on memories\n\n[Service]\nType=oneshot\n" +
					"ExecStart=" + quoteSystemd(program) + " --home " + quoteSystemd(home) + " sweep\nNice=10\n"},
				{filepath.Join(dir, systemdName+".timer"), "[Unit]\nDescription=stillso: once a day\n\n[Timer]\nOnCalendar=daily\nPersistent=true\nRandomizedDelaySec=1h\n\n" +
					"[Install]\nWantedBy=timers.target\n"},
			},
			Start: [][]string{{"systemctl", "--user", "daemon-reload"}, {"systemctl", "--user", "enable", "--now", systemdName + ".timer"}},
			Stop:  [][]string{{"systemctl", "--user", "disable", "--now", systemdName + ".timer"}},
		}, nil
	case "darwin":
		path := filepath.Join(userHome, "Library", "LaunchAgents", launchdName+".plist")
		return &timer{
			Kind:  "launchd",
			Files: []timerFile{{path, plist(program, home)}},
			Start: [][]string{{"launchctl", "load", "-w", path}},
			Stop:  [][]string{{"launchctl", "unload", "-w", path}},
		}, nil
	case "windows":
		line := `"` + program + `" --home "` + home + `" sweep`
		return &timer{
			Kind:  "scheduled task",
			Start: [][]string{{"schtasks", "/Create", "/F", "/SC", "DAILY", "/ST", "13:00", "/TN", systemdName, "/TR", line}},
			Stop:  [][]string{{"schtasks", "/Delete", "/F", "/TN", systemdName}},
		}, nil
	}
	return nil, usagef("there is no timer for %s here: only systemd, launchd and scheduled tasks are known; let your own cron run `%s sweep`", goos, program)
}

// quoteSystemd quotes a word of ExecStart: % and $ would be expanded.
func quoteSystemd(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "$", "$$").Replace(s) + `"`
}

func plist(program, home string) string {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n  <key>Label</key>\n  <string>" + launchdName + "</string>\n" +
		"  <key>ProgramArguments</key>\n  <array>\n")
	for _, arg := range []string{program, "--home", home, "sweep"} {
		b.WriteString("    <string>")
		xml.EscapeText(&b, []byte(arg)) //nolint:errcheck,gosec // a buffer takes everything
		b.WriteString("</string>\n")
	}
	b.WriteString("  </array>\n  <key>StartCalendarInterval</key>\n  <dict>\n    <key>Hour</key>\n    <integer>13</integer>\n  </dict>\n" +
		"  <key>ProcessType</key>\n  <string>Background</string>\n</dict>\n</plist>\n")
	return b.String()
}

// timer returns the timer of this system for this program and home.
func (a *app) timer() (*timer, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program: %w", err)
	}
	conf := a.std.env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(conf) {
		conf = filepath.Join(a.userHome(), ".config")
	}
	return newTimer(runtime.GOOS, a.userHome(), conf, self, string(a.dir))
}

// installTimer writes the files of the timer and puts it into effect.
func (a *app) installTimer(ctx context.Context, dryRun bool) (summary, error) {
	t, err := a.timer()
	if err != nil {
		return nil, err
	}
	sum := &timed{Timer: t, DryRun: dryRun, Done: []string{}}
	if dryRun {
		return sum, nil
	}
	for _, f := range t.Files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return nil, fmt.Errorf("cannot install the timer: %w", err)
		}
		if err := maybe.WriteFile(f.Path, []byte(f.Text), 0o600); err != nil {
			return nil, fmt.Errorf("cannot install the timer: %w", err)
		}
		sum.Done = append(sum.Done, "wrote "+f.Path)
	}
	sum.command(ctx, t.Start)
	return sum, nil
}

// uninstallTimer ends the timer and removes its files.
func (a *app) uninstallTimer(ctx context.Context, dryRun bool) (summary, error) {
	t, err := a.timer()
	if err != nil {
		return nil, err
	}
	sum := &timed{Timer: t, DryRun: dryRun, Removed: true, Done: []string{}}
	there := len(t.Files) == 0
	for _, f := range t.Files {
		if _, err := os.Stat(f.Path); err == nil {
			there = true
		}
	}
	if dryRun || !there {
		return sum, nil
	}
	sum.command(ctx, t.Stop)
	for _, f := range t.Files {
		if err := os.Remove(f.Path); err == nil {
			sum.Done = append(sum.Done, "removed "+f.Path)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot remove the timer: %w", err)
		}
	}
	return sum, nil
}

// command runs the commands of the system. One that fails is left to the person:
// in a container or over ssh there may be no session to talk to.
func (s *timed) command(ctx context.Context, list [][]string) {
	for _, argv := range list {
		line := strings.Join(argv, " ")
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput() // #nosec G204 -- fixed commands of the system
		cancel()
		if err != nil {
			why := oneLine(string(out))
			if why == "" {
				why = err.Error()
			}
			s.Left = fmt.Sprintf("run `%s` yourself: %s", line, why)
			return
		}
		s.Done = append(s.Done, line)
	}
}

func (s *timed) text(p *page) {
	if s.DryRun {
		if !s.Removed {
			for _, f := range s.Timer.Files {
				p.printf("%s\n%s\n", p.bold(f.Path), f.Text)
			}
		}
		list := s.Timer.Start
		if s.Removed {
			list = s.Timer.Stop
		}
		for _, argv := range list {
			p.printf("%s\n", strings.Join(argv, " "))
		}
		p.printf("%s\n", p.faint("dry run: nothing was changed"))
		return
	}
	for _, d := range s.Done {
		p.printf("%s\n", d)
	}
	if s.Removed && len(s.Done) == 0 {
		p.printf("there is no timer\n")
	}
	if s.Left != "" {
		p.printf("%s %s\n", p.yellow("note:"), s.Left)
	}
}
