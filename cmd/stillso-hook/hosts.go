package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"stillso/internal/home"
	"stillso/internal/host"
	"stillso/internal/host/claudecode"
	"stillso/internal/host/codex"
	"stillso/internal/host/copilot"
	"stillso/internal/host/cursor"
	"stillso/internal/host/gemini"
	"stillso/internal/host/opencode"
	"stillso/internal/host/qwen"
)

// called reads the arguments: a host and an event, or less. The event is "" if the
// document has to say it.
func called(args []string) (hostName, event string, ok bool) {
	switch len(args) {
	case 0:
		return claudecode.Name, "", true
	case 1:
		return args[0], "", true
	case 2:
		return args[0], args[1], args[1] != ""
	}
	return "", "", false
}

// adapter is what the hook needs of a host's package.
type adapter struct {
	parse   func(event string, stdin []byte) (host.Call, error)
	context func(event, text string) []byte
	// transcript finds the history of a session where the host does not name it.
	transcript func(getenv func(string) string, call host.Call) string
	// forgets is set for hosts that say when they compact, but not when they have.
	forgets bool
}

// vscode is the agent of VS Code, which has no settings of its own for hooks: it reads
// those of Claude Code.
const vscode = "vscode"

func adapterOf(name string) (adapter, bool) {
	switch name {
	case claudecode.Name:
		return adapter{parse: claudecode.Parse, context: claudecode.Context}, true
	case codex.Name:
		return adapter{parse: codex.Parse, context: codex.Context}, true
	case gemini.Name:
		return adapter{parse: gemini.Parse, context: gemini.Context}, true
	case qwen.Name:
		return adapter{parse: qwen.Parse, context: qwen.Context, forgets: true}, true
	case copilot.Name:
		return adapter{parse: copilot.Parse, context: copilot.Context, forgets: true, transcript: func(getenv func(string) string, c host.Call) string {
			return copilot.Transcript(getenv, c.Session)
		}}, true
	case cursor.Name:
		return adapter{parse: cursor.Parse, context: cursor.Context, forgets: true, transcript: func(getenv func(string) string, c host.Call) string {
			p, err := cursor.Locate(getenv)
			if err != nil {
				return ""
			}
			return p.Transcript(c.Directory, c.Session)
		}}, true
	case opencode.Name:
		return adapter{parse: opencode.Parse, context: opencode.Context}, true
	case vscode:
		return adapter{parse: copilot.Parse, forgets: true, context: func(event, text string) []byte {
			if event == host.Prompt { // it takes no context there: what is not seen must not count as shown
				return nil
			}
			return claudecode.Context(event, text)
		}}, true
	}
	return adapter{}, false
}

// recognise finds out which host is really calling: several read the settings of
// Claude Code too, and call what is registered there. It returns false if that host
// has a registration of its own, which is called as well.
func (h *hook) recognise(data []byte) bool {
	if h.hostName != claudecode.Name || strings.Contains(filepath.ToSlash(h.call.Transcript), "/.claude/") {
		return true
	}
	real := host.Detect(h.getenv, h.call.Session)
	if real == "" && h.call.Session == "" { // no name that Claude Code uses
		real = vscode
	}
	if real == "" || real == h.hostName {
		return true
	}
	a, ok := adapterOf(real)
	if !ok {
		return true // started from a shell of a host that has no hooks like these
	}
	if _, err := os.Lstat(filepath.Join(h.dir.String(), "install", real+".json")); err == nil {
		return false
	}
	call, err := a.parse(h.event, data)
	if err != nil || call.Session == "" {
		return real == vscode
	}
	h.hostName, h.adapter, h.call = real, a, call
	return true
}

// claimTime is how long a second call for the same prompt is taken for another
// registration of ours, and not for a person who says it again.
const claimTime = 10 * time.Second

// claim remembers what is about to be shown, and reports whether this process is the
// first to answer this event: a hook can be registered twice, in two settings files or
// by a plugin, and is then called twice at the same time. Each appends its mark to the
// session's file; the first mark wins.
func (h *hook) claim(a home.Session) bool {
	sum := uint64(14695981039346656037)
	for _, s := range [...]string{h.event, h.call.Prompt, h.call.Source, h.call.Tool, h.call.ToolFile} {
		for i := range len(s) {
			sum = (sum ^ uint64(s[i])) * 1099511628211
		}
		sum = (sum ^ 0xff) * 1099511628211
	}
	event := "?" + strconv.FormatUint(sum, 36) + "."
	mine := event + strconv.FormatInt(h.start.UnixMilli(), 36) + "." + strconv.Itoa(os.Getpid())
	a.Shown = append([]string{mine}, a.Shown...)
	if h.dir.Remember(h.call.Session, a, h.start) != nil {
		return true
	}
	known, _ := h.dir.Last(h.call.Session, h.start) // at worst it is shown again
	for _, m := range known.Shown {
		rest, ok := strings.CutPrefix(m, event)
		if !ok {
			continue
		}
		at, _, _ := strings.Cut(rest, ".")
		ms, err := strconv.ParseInt(at, 36, 64)
		if age := h.start.Sub(time.UnixMilli(ms)); err == nil && age < claimTime && age > -claimTime {
			return m == mine
		}
	}
	return true
}

// compacting forgets what was shown in hosts that do not say when the compaction is
// done.
func (h *hook) compacting() {
	if h.event == host.PreCompact && h.adapter.forgets {
		h.dir.Forget(h.call.Session, h.start) //nolint:errcheck,gosec // then it is not injected again: no harm
	}
}

// findTranscript completes a call with the place of the history.
func (h *hook) findTranscript() {
	if h.call.Transcript == "" && h.adapter.transcript != nil {
		h.call.Transcript = h.adapter.transcript(h.getenv, h.call)
	}
}
