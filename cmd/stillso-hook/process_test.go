//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// built is the hook as a program, made once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stillso-hook")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "stillso-hook"), ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := built(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// world is a home with memories, a project, and the hook as a program of its own.
type world struct {
	t       *testing.T
	hook    string
	home    home.Dir
	project string
}

func newWorld(t *testing.T, memories ...*stillso.Memory) *world {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	w := &world{t: t, hook: filepath.Join(root, "bin", "stillso-hook"), home: home.Dir(filepath.Join(root, "a home")), project: filepath.Join(root, "a project")}
	for _, d := range []string{w.project, filepath.Dir(w.hook)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(filepath.Join(dir, "stillso-hook"), w.hook); err != nil {
		t.Fatal(err)
	}
	if err := w.home.Create(); err != nil {
		t.Fatal(err)
	}
	w.index(memories...)
	return w
}

func (w *world) index(memories ...*stillso.Memory) {
	w.t.Helper()
	l := recall.NewLearner()
	for _, m := range memories {
		l.Memory(m)
	}
	model := l.Model()
	writer, err := snapshot.Lock(w.home.String(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = writer.Unlock() }()
	b, err := writer.NewBase(snapshot.Options{Constants: model.Constants()})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range memories {
		if err := b.Add(model.Index(m)); err != nil {
			w.t.Fatal(err)
		}
	}
	if _, err := b.Commit(); err != nil {
		w.t.Fatal(err)
	}
}

// memory is one that the prompt "topical" needs.
func memory(id, name, content string, aliases ...string) *stillso.Memory {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	return &stillso.Memory{
		ID: id, Namespace: stillso.UserNamespace, Type: stillso.Constraint, Name: name, Content: content, Aliases: aliases,
		CreatedAt: at, UpdatedAt: at, Priority: 4, State: stillso.Active, Origin: stillso.FromUser,
	}
}

func zebra() *stillso.Memory {
	return memory("zebra1", "zebrafish-staging-database", "The zebrafish staging database is restored from the nightly dump only.",
		"restore the zebrafish staging database", "zebrafish staging dump")
}

const topical = "how do I restore the zebrafish staging database?"

// result is what one call did.
type result struct {
	stdout, stderr string
	took           time.Duration
}

// command is a call with this environment.
func (w *world) command(event string, env ...string) *exec.Cmd {
	c := exec.Command(w.hook, "claude-code", event)
	c.Env = append([]string{"STILLSO_HOME=" + w.home.String(), "HOME=" + w.project}, env...)
	c.Dir = w.project
	return c
}

// run checks what holds for every call: it ends in time with 0, says nothing on stderr,
// and prints one JSON document or nothing.
func (w *world) run(name string, c *exec.Cmd) result {
	w.t.Helper()
	var out, errs bytes.Buffer
	if c.Stdout == nil {
		c.Stdout = &out
	}
	c.Stderr = &errs
	start := time.Now()
	err := c.Run()
	r := result{out.String(), errs.String(), time.Since(start)}
	if err != nil || r.stderr != "" {
		w.t.Errorf("%s: %v, stderr %q", name, err, r.stderr)
	}
	// The deadline is 150 ms; the rest is for a busy machine.
	if r.took > time.Second {
		w.t.Errorf("%s took %v", name, r.took)
	}
	var doc map[string]any
	if d := json.NewDecoder(strings.NewReader(r.stdout)); r.stdout != "" && (d.Decode(&doc) != nil || d.More()) {
		w.t.Errorf("%s: stdout is no single JSON document: %q", name, r.stdout)
	}
	return r
}

// send calls the hook with the fields of an event.
func (w *world) send(event string, fields map[string]any) string {
	w.t.Helper()
	all := map[string]any{"session_id": "s1", "cwd": w.project, "transcript_path": "/t/s1.jsonl"}
	for k, v := range fields {
		all[k] = v
	}
	data, err := json.Marshal(all)
	if err != nil {
		w.t.Fatal(err)
	}
	c := w.command(event)
	c.Stdin = bytes.NewReader(data)
	out := w.run(event, c).stdout
	var doc struct {
		Out struct {
			Event   string `json:"hookEventName"`
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if out != "" && json.Unmarshal([]byte(out), &doc) != nil {
		w.t.Errorf("%s: %s", event, out)
	}
	return doc.Out.Context
}

func (w *world) prompt(text string) string {
	w.t.Helper()
	return w.send("prompt", map[string]any{"prompt": text})
}

// A host hands anything to a hook; whatever it is, the prompt goes on.
func TestAnyInput(t *testing.T) {
	w := newWorld(t, zebra())
	event := `{"session_id":"s","cwd":"` + w.project + `","prompt":"` + topical + `"}`
	r := rand.New(rand.NewPCG(1, 1))
	binary := make([]byte, 100_000)
	for i := range binary {
		binary[i] = byte(r.Uint32())
	}
	inputs := map[string]io.Reader{
		"empty":         strings.NewReader(""),
		"no newline":    strings.NewReader(event),
		"not JSON":      strings.NewReader("hello"),
		"cut":           strings.NewReader(event[:len(event)-4]),
		"array":         strings.NewReader("[1,2]"),
		"wrong types":   strings.NewReader(`{"prompt":{"a":1},"cwd":7,"session_id":[]}`),
		"null":          strings.NewReader(`{"prompt":null,"cwd":null}`),
		"binary":        bytes.NewReader(binary),
		"invalid UTF-8": strings.NewReader("{\"prompt\":\"zebrafish \xff\xfe\xed\xa0\x80 staging database\",\"cwd\":\"\xff\"}"),
		"NUL":           strings.NewReader("{\"prompt\":\"a\x00b\"}"),
		"deep":          strings.NewReader(strings.Repeat(`{"prompt":`, 100_000)),
		"60 MB":         io.MultiReader(strings.NewReader(`{"prompt":"`), io.LimitReader(repeat("zebrafish staging "), 60<<20), strings.NewReader(`"}`)),
		"10 MB":         io.MultiReader(strings.NewReader(`{"prompt":"`), io.LimitReader(repeat("zebrafish staging "), 10<<20), strings.NewReader(`"}`)),
		"long cwd":      strings.NewReader(`{"prompt":"` + topical + `","cwd":"/` + strings.Repeat("a/", 100_000) + `"}`),
	}
	for name, in := range inputs {
		c := w.command("prompt")
		c.Stdin = in
		w.run(name, c)
	}
	c := w.command("prompt") // stdin is closed: the program's first file may get its number
	c.Path, c.Args = "/bin/sh", []string{"sh", "-c", `exec "$0" claude-code prompt <&-`, w.hook}
	w.run("stdin closed", c)
}

type repeat string

func (r repeat) Read(p []byte) (int, error) {
	n := 0
	for n+len(r) <= len(p) {
		n += copy(p[n:], r)
	}
	return max(n, 1), nil
}

// Nothing around the hook may make it fail or wait: pipes, directories, environment.
func TestAnySurroundings(t *testing.T) {
	w := newWorld(t, zebra())
	event := `{"session_id":"s","cwd":"` + w.project + `","prompt":"` + topical + `"}`
	shell := func(script string, env ...string) *exec.Cmd {
		c := w.command("prompt", env...)
		c.Path, c.Args = "/bin/sh", []string{"sh", "-c", script, w.hook}
		c.Env = append(c.Env, "PATH=/usr/bin:/bin")
		c.Stdin = strings.NewReader(event)
		return c
	}
	call := `"$0" claude-code prompt`
	gone := filepath.Join(t.TempDir(), "gone")
	cases := map[string]*exec.Cmd{
		"stdout closed":      shell(call + ` >&-`),
		"stderr closed":      shell(call + ` 2>&-`),
		"all closed":         shell(call + ` <&- >&- 2>&-`),
		"full disk":          shell(call + ` >/dev/full`),
		"reader gone":        shell(call + ` | true`),
		"cwd deleted":        shell(`mkdir -p '` + gone + `' && cd '` + gone + `' && rmdir '` + gone + `' && ` + call),
		"no home":            shell(call, "STILLSO_HOME="+gone),
		"home is a file":     shell(call, "STILLSO_HOME="+w.hook),
		"home is relative":   shell(call, "STILLSO_HOME=x"),
		"no HOME at all":     shell(call, "STILLSO_HOME=", "HOME=", "XDG_DATA_HOME="),
		"large environment":  shell(call, "LARGE="+strings.Repeat("x", 100_000)),
		"one processor":      shell(call, "GOMAXPROCS=1"),
		"no arguments":       shell(`"$0"`),
		"too many arguments": shell(`"$0" claude-code prompt x`),
		"unknown host":       shell(`"$0" clippy prompt`),
		"unknown event":      shell(`"$0" claude-code lunch`),
		"suppressed":         shell(call, "STILLSO_SUPPRESS=1"),
	}
	silent := map[string]bool{
		"no home": true, "home is a file": true, "home is relative": true, "no HOME at all": true,
		"no arguments": true, "too many arguments": true, "unknown host": true, "unknown event": true, "suppressed": true,
	}
	for name, c := range cases {
		if r := w.run(name, c); silent[name] && r.stdout != "" {
			t.Errorf("%s: not silent: %s", name, r.stdout)
		}
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the prompt path made a home directory")
	}
}

// A host that never closes the pipe must not make a person wait.
func TestEndlessInput(t *testing.T) {
	w := newWorld(t, zebra())
	c := w.command("prompt")
	pipe, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pipe.Close() }()
	if _, err := io.WriteString(pipe, `{"prompt":"half`); err != nil {
		t.Fatal(err)
	}
	if r := w.run("endless", c); r.stdout != "" || r.took < 100*time.Millisecond {
		t.Errorf("%q after %v", r.stdout, r.took)
	}
	c = w.command("prompt")
	c.Stdin = repeat("x")
	w.run("flood", c)
}

// A home that cannot be read or written costs memory or receipts, never the prompt.
func TestHomeWithoutRights(t *testing.T) {
	w := newWorld(t, zebra())
	defer func() { _ = os.Chmod(w.home.String(), 0o700) }()
	for _, mode := range []os.FileMode{0o500, 0o000, 0o777, 0o400} {
		if err := os.Chmod(w.home.String(), mode); err != nil {
			t.Fatal(err)
		}
		got := w.prompt(topical)
		if mode == 0o777 && got != "" {
			t.Error("spoke from a home that anybody can write to")
		}
	}
}

// A damaged snapshot is silence and an order to build it again, never a wrong block.
func TestDamagedSnapshot(t *testing.T) {
	w := newWorld(t, zebra())
	want := w.prompt(topical)
	if !strings.Contains(want, "nightly dump") {
		t.Fatalf("the undamaged snapshot gives %q", want)
	}
	path := filepath.Join(w.home.String(), snapshot.BaseFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, 2))
	for i := range 40 {
		data := bytes.Clone(good)
		switch i {
		case 0:
			data = nil
		case 1:
			data = data[:len(data)/2]
		default:
			data[r.IntN(len(data))] ^= byte(1 + r.IntN(255))
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_ = w.home.Forget("s1", time.Now())
		if got := w.prompt(topical); got != "" && got != want {
			t.Errorf("damage %d: %q", i, got)
		}
	}
	queue, _ := os.ReadFile(filepath.Join(w.home.Spool(), home.Queue))
	if !bytes.Contains(queue, []byte(`"kind":"rebuild"`)) || bytes.Count(queue, []byte("\n")) != 1 {
		t.Errorf("queue: %q, want one order", queue)
	}
}

// Whatever breaks inside, the host sees an ordinary end.
func TestPanic(t *testing.T) {
	var none *hook
	quietly(func() { panic("at any stage") })
	quietly(func() { none.run() })
}

// A file cut short under a running reader faults where it is touched.
func TestSnapshotCutWhileRead(t *testing.T) {
	w := newWorld(t, zebra())
	snap, err := snapshot.Open(w.home.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = snap.Close() }()
	if err := os.Truncate(filepath.Join(w.home.String(), snapshot.BaseFile), 0); err != nil {
		t.Fatal(err)
	}
	h := hook{
		start: time.Now(), hostName: "claude-code", event: "prompt", write: func([]byte) bool { return true },
		getenv: func(k string) string { return map[string]string{"STILLSO_HOME": w.home.String()}[k] },
		read: func() ([]byte, bool) {
			snap.Find("zebra1") // reads the cut file
			return nil, true
		},
	}
	quietly(h.run)
}
