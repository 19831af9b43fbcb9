//go:build unix

package stillso_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// caseRun is one case: its own root, home, store and scratch folder.
type caseRun struct {
	// last is set for the attempt whose limits of time and memory count.
	last   bool
	t      testing.TB
	source string // the folder of the case
	bin    string // where the binaries are
	root   string // {ROOT}; the path holds a space
	dir    string // {CASE}: a copy of the case with placeholders replaced
	tmp    string // {CASE_TMP}
	model  string // what the model stub reads and records
	env    map[string]string

	results     map[string]*outcome
	sessions    int
	unsupported string
	readOnly    bool
	lock        *exec.Cmd
}

// outcome is what a step gave.
type outcome struct {
	exit           int
	exits          []int // of the processes of a parallel step
	stdout, stderr string
	text           string // what the step is about: injected text, file, output
	ids            []string
	ms             int64
	rss            float64 // MB
	number         *int
	saved          string // id that a save made
	requests       []string
	userInput      string
	stored         string
	tree           map[string]string
	path           string
}

func newCaseRun(t testing.TB, source, bin string) *caseRun {
	base := t.TempDir()
	r := &caseRun{
		t: t, source: source, bin: bin, root: filepath.Join(base, "ro ot"), dir: filepath.Join(base, "case"),
		tmp: filepath.Join(base, "case tmp"), model: filepath.Join(base, "model"), results: map[string]*outcome{},
	}
	for _, d := range []string{r.home(), r.tmp, r.model, filepath.Join(r.root, "tmp")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	r.env = map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": r.home(), "TMPDIR": filepath.Join(r.root, "tmp"), "LANG": "C.UTF-8", "TZ": "UTC",
		"ROOT": r.root, "CASE": r.dir, "CASE_TMP": r.tmp, "STILLSO_HOME": r.storeHome(""),
		"STILLSO_LLM":  "none", // no case calls out; a capture sets its stub
		"PRODUCT_HOOK": filepath.Join(r.model, "hook"), "STUB_REPLY": filepath.Join(r.model, "reply"),
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
	}
	r.copyCase()
	r.writeScripts()
	t.Cleanup(r.close)
	return r
}

func (r *caseRun) home() string { return filepath.Join(r.root, "home") }

// storeHome is STILLSO_HOME of the case's store, or of a second one by name.
func (r *caseRun) storeHome(store string) string {
	if store == "" || store == "A" {
		return filepath.Join(r.home(), ".local", "share", "stillso")
	}
	return filepath.Join(r.home(), "store "+store)
}

func (r *caseRun) settings() string { return filepath.Join(r.home(), ".claude", "settings.json") }

func (r *caseRun) close() {
	if r.lock != nil {
		_ = r.lock.Process.Kill()
		_ = r.lock.Wait()
	}
	r.setReadOnly(false)
	r.waitChildren(5 * time.Second) // a detached sweep would write while the folder is removed
	for _, pid := range r.children() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// copyCase copies the case and replaces the placeholders in every file.
func (r *caseRun) copyCase() {
	replace := r.placeholders()
	err := filepath.WalkDir(r.source, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(r.source, path)
		if err != nil {
			return err
		}
		to := filepath.Join(r.dir, rel)
		if d.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(replace.Replace(string(text))), info.Mode().Perm()|0o600)
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *caseRun) placeholders() *strings.Replacer {
	pairs := []string{
		"{ROOT}", r.root, "{CASE}", r.dir, "{CASE_TMP}", r.tmp, "{SETTINGS}", r.settings(),
		"{OPEN_TAG}", openTag, "{CLOSE_TAG}", closeTag,
	}
	text, err := os.ReadFile(filepath.Join(r.source, "secrets.json"))
	if err == nil {
		var secrets map[string]any
		if err := json.Unmarshal(text, &secrets); err != nil {
			r.t.Fatalf("secrets.json: %v", err)
		}
		for name, parts := range secrets {
			if list, ok := parts.([]any); ok {
				whole := ""
				for _, p := range list {
					whole += fmt.Sprint(p)
				}
				pairs = append(pairs, "{SECRET:"+name+"}", whole)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

const (
	openTag  = "<long_term_memories>"
	closeTag = "</long_term_memories>"
)

// prepare makes {ROOT}/proj unless a setup script of the case makes it.
func (r *caseRun) prepare(c caseFile) {
	proj := filepath.Join(r.root, "proj")
	for _, s := range c.Steps {
		if words(s).str("do") == "setup" {
			return
		}
	}
	if err := os.MkdirAll(proj, 0o700); err != nil {
		r.t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.email", "a@example.test"},
		{"config", "user.name", "t"},
		{"commit", "-q", "--allow-empty", "-m", "init"},
	} {
		if o := r.run(proj, nil, "git", args...); o.exit != 0 {
			r.t.Fatalf("git %v: %s", args, o.stderr)
		}
	}
}

// environ is the environment of every program of the case.
func (r *caseRun) environ(more map[string]string) []string {
	env := maps.Clone(r.env)
	maps.Copy(env, more)
	var out []string
	for k, v := range env {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return out
}

// run runs a program to its end. It is ended after two minutes.
func (r *caseRun) run(dir string, stdin []byte, name string, args ...string) *outcome {
	return r.runWith(nil, dir, stdin, name, args...)
}

func (r *caseRun) runWith(env map[string]string, dir string, stdin []byte, name string, args ...string) *outcome {
	if r.readOnly && os.Getuid() == 0 { // root writes where it may not
		name, args = os.Args[0], append([]string{"as:plain-user", name}, args...)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, r.environ(env), bytes.NewReader(stdin)
	if dir == "" {
		cmd.Dir = r.root
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &stdout, &stderr, 2*time.Second
	start := time.Now()
	o := &outcome{exit: -1}
	if err := cmd.Start(); err != nil {
		o.stderr = err.Error()
		return o
	}
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	peak := watchPeak(cmd.Process.Pid)
	err := cmd.Wait()
	timer.Stop()
	o.ms = time.Since(start).Milliseconds()
	o.stdout, o.stderr, o.text = stdout.String(), stderr.String(), stdout.String()
	if cmd.ProcessState != nil {
		o.exit, o.rss = cmd.ProcessState.ExitCode(), maxRSS(cmd.ProcessState)
	}
	if mb := peak(); mb > 0 {
		o.rss = mb
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		o.stderr += err.Error()
	}
	return o
}

// watchPeak reads a process's own peak of memory while it runs, where the system tells
// it; the result, in MB, is 0 elsewhere. What wait reports starts with the peak of the
// process that made it, which is this test, and that one holds whole transcripts.
func watchPeak(pid int) func() float64 {
	stop, done := make(chan struct{}), make(chan float64, 1)
	own, _ := os.ReadFile("/proc/self/status")
	mine, _, _ := strings.Cut(string(own), "\n") // until it runs its program the child is this test
	go func() {
		kb := 0.0
		for {
			text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if name, _, _ := strings.Cut(string(text), "\n"); name == mine {
				text = nil
			}
			if _, rest, ok := strings.Cut(string(text), "VmHWM:"); err == nil && ok {
				var now float64
				if _, err := fmt.Sscan(rest, &now); err == nil {
					kb = max(kb, now)
				}
			}
			select {
			case <-stop:
				done <- kb / 1024
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	return func() float64 { close(stop); return <-done }
}

func maxRSSOf(state *os.ProcessState) int64 {
	if u, ok := state.SysUsage().(*syscall.Rusage); ok {
		return int64(u.Maxrss)
	}
	return 0
}

// cli runs the command line on a store ("" is the case's own).
func (r *caseRun) cli(store string, args ...string) *outcome {
	o := r.runWith(map[string]string{"STILLSO_HOME": r.storeHome(store)}, r.root, nil, filepath.Join(r.bin, "stillso"), args...)
	if o.text == "" {
		o.text = o.stderr
	}
	return o
}

// hook runs the hook command for an event as the host names it.
func (r *caseRun) hook(event, dir string, stdin []byte) *outcome {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = r.root
	}
	o := r.run(dir, stdin, filepath.Join(r.bin, "stillso-hook"), "claude-code", eventName(event))
	o.text = contextOf(o.stdout)
	o.ids = blockIDs(o.text)
	return o
}

// eventName maps the host's name of an event to the hook's.
func eventName(event string) string {
	if name, ok := map[string]string{
		"SessionStart": "session-start", "UserPromptSubmit": "prompt", "Stop": "turn-end", "SubagentStop": "turn-end",
		"SessionEnd": "session-end", "PreCompact": "pre-compact", "PreToolUse": "pre-tool",
	}[event]; ok {
		return name
	}
	return event
}

// contextOf returns the text that a hook's output adds to the model's context.
func contextOf(stdout string) string {
	var doc struct {
		Output struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if json.Unmarshal([]byte(stdout), &doc) == nil {
		return doc.Output.Context
	}
	return strings.TrimSpace(stdout) // plain text is context as well
}

const itemLine = `(?m)^- \[([^\]\n]*)\] (.*)$`

// blockIDs returns the ids of the memories in a block, in order.
func blockIDs(block string) []string {
	var ids []string
	for _, m := range regexp.MustCompile(itemLine).FindAllStringSubmatch(block, -1) {
		parts := strings.Split(m[1], " · ")
		ids = append(ids, strings.TrimSpace(parts[len(parts)-1]))
	}
	return ids
}

// blockItem returns the line of a memory in a block.
func blockItem(block, id string) string {
	for _, m := range regexp.MustCompile(itemLine).FindAllStringSubmatch(block, -1) {
		if m[1] == id || strings.HasSuffix(m[1], " · "+id) {
			return m[0]
		}
	}
	return ""
}

// children lists the processes of this case that still run, by the store in
// their environment; our own helpers are not among them.
func (r *caseRun) children() []int {
	var out []int
	entries, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, e := range entries {
		env, err := os.ReadFile(e)
		if err != nil || !bytes.Contains(env, []byte("HOME="+r.home()+"\x00")) {
			continue
		}
		var pid int
		if _, err := fmt.Sscanf(e, "/proc/%d/environ", &pid); err != nil || r.lock != nil && pid == r.lock.Process.Pid {
			continue
		}
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if i := bytes.LastIndexByte(state, ')'); i >= 0 && bytes.HasPrefix(state[i:], []byte(") Z")) {
			continue
		}
		out = append(out, pid)
	}
	return out
}

func (r *caseRun) waitChildren(most time.Duration) {
	for end := time.Now().Add(most); time.Now().Before(end) && len(r.children()) > 0; {
		time.Sleep(50 * time.Millisecond)
	}
}
