//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/inject"
)

// lines reads a spool file as JSON lines.
func lines[T any](w *world, name string) (list []T) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.home.Spool(), name))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			w.t.Fatalf("%s: %v in %q", name, err, line)
		}
		list = append(list, v)
	}
	return list
}

// The right memory is shown once a session, until the model has forgotten it.
func TestPromptOnce(t *testing.T) {
	w := newWorld(t, zebra())
	first := w.prompt(topical)
	if !strings.HasPrefix(first, inject.Open) || !strings.Contains(first, "zebra1] The zebrafish staging database is restored") {
		t.Fatalf("first prompt: %q", first)
	}
	if again := w.prompt(topical); again != "" {
		t.Errorf("shown twice: %q", again)
	}
	if other := w.send("prompt", map[string]any{"prompt": topical, "session_id": "s2"}); other != first {
		t.Errorf("another session got %q", other)
	}
	w.send("session-start", map[string]any{"source": "resume"})
	if again := w.prompt(topical); again != "" {
		t.Errorf("shown again after a resume: %q", again)
	}
	_ = w.home.Forget("s1", time.Now())
	w.send("session-start", map[string]any{"source": "compact", "session_id": "s2"})
	if again := w.prompt(topical); again != first {
		t.Errorf("after forgetting: %q", again)
	}
}

// Compaction takes what was injected out of the model's sight.
func TestCompaction(t *testing.T) {
	w := newWorld(t, zebra())
	for _, source := range []string{"compact", "clear"} {
		shown := w.prompt(topical)
		began := w.send("session-start", map[string]any{"source": source})
		after := w.prompt(topical)
		if !strings.Contains(began+after, "zebra1") || strings.Contains(began, "zebra1") && after != "" {
			t.Errorf("%s: before %q, start %q, after %q", source, shown, began, after)
		}
		_ = w.home.Forget("s1", time.Now())
	}
}

// The prompt before sharpens what this one touches, and brings no topic of its own.
func TestPreviousPrompt(t *testing.T) {
	w := newWorld(t, zebra())
	w.prompt("where is the zebrafish thing?")
	s, err := w.home.Session("s1", time.Now())
	if err != nil || !slices.Contains(s.Terms, "zebrafish") {
		t.Errorf("remembered terms: %v %v", s, err)
	}
	if got := w.prompt("ok, go on"); got != "" {
		t.Errorf("the last topic came back: %q", got)
	}
	if again, _ := w.home.Session("s1", time.Now()); !slices.Equal(again.Terms, s.Terms) {
		t.Errorf("a prompt without a topic took the topic away: %v", again.Terms)
	}
}

// A memory about a file is told before the file is read or changed, once.
func TestFile(t *testing.T) {
	m := zebra()
	m.RelatedFiles = []string{"db/restore.sh"}
	w := newWorld(t, m)
	call := func(tool, file string) string {
		return w.send("pre-tool", map[string]any{"tool_name": tool, "tool_input": map[string]any{"file_path": filepath.Join(w.project, file)}})
	}
	if got := call("Bash", "db/restore.sh"); got != "" {
		t.Errorf("another tool: %q", got)
	}
	if got := call("Read", "db/other.sh"); got != "" {
		t.Errorf("another file: %q", got)
	}
	if got := call("Edit", "db/restore.sh"); !strings.Contains(got, "nightly dump") {
		t.Errorf("the file: %q", got)
	}
	if got := call("Write", "db/restore.sh"); got != "" {
		t.Errorf("told twice: %q", got)
	}
	if got := w.prompt(topical); got != "" {
		t.Errorf("told again for the prompt: %q", got)
	}
	if n := len(lines[stillso.Receipt](w, home.Receipts)); n != 2 {
		t.Errorf("%d receipts, want those of the file and of the prompt", n)
	}
}

// Nobody typed these, or nobody asked anything: zero bytes.
func TestSilence(t *testing.T) {
	w := newWorld(t, zebra())
	cases := map[string]map[string]any{
		"chit-chat":    {"prompt": "ok, go on"},
		"Chinese":      {"prompt": "继续"},
		"empty":        {"prompt": ""},
		"punctuation":  {"prompt": "?!…"},
		"sub-agent":    {"prompt": topical, "agent_id": "a1", "agent_type": "x"},
		"notification": {"prompt": "<task-notification>" + topical + "</task-notification>"},
		"system":       {"prompt": topical, "source": "system"},
		"off topic":    {"prompt": "write a haiku about the autumn moon over the lake"},
	}
	for name, fields := range cases {
		if got := w.send("prompt", fields); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A memory of one project must never be seen in another.
func TestNamespaces(t *testing.T) {
	m := zebra()
	m.Namespace = "project/other"
	w := newWorld(t, m)
	if got := w.prompt(topical); got != "" {
		t.Errorf("another project's memory: %q", got)
	}
}

// A receipt holds terms of the index and figures; a prompt can hold a secret.
func TestReceipt(t *testing.T) {
	w := newWorld(t, zebra())
	text := w.prompt(topical + " my password is hunter2swordfish")
	w.prompt("ok, go on")
	got := lines[stillso.Receipt](w, home.Receipts)
	if len(got) != 2 {
		t.Fatalf("%d receipts", len(got))
	}
	hit, silent := got[0], got[1]
	if hit.V != 1 || hit.Host != "claude-code" || hit.Event != "prompt" || hit.Session != "s1" || len(hit.Hits) == 0 ||
		!hit.Hits[0].Shown || hit.Bytes != len(text) || hit.Micros <= 0 || hit.Silence != "" || !hit.Namespace.Valid() {
		t.Errorf("hit: %+v", hit)
	}
	if silent.Silence == "" || len(silent.Hits) != 0 {
		t.Errorf("silence: %+v", silent)
	}
	raw, _ := os.ReadFile(filepath.Join(w.home.Spool(), home.Receipts))
	for _, word := range []string{"hunter2", "password", "go on"} {
		if strings.Contains(string(raw), word) {
			t.Errorf("the receipt tells %q of the prompt: %s", word, raw)
		}
	}
}

// sweeper puts a program named stillso beside the hook that notes how it was called.
func (w *world) sweeper() (calls func() []string) {
	w.t.Helper()
	log := filepath.Join(w.t.TempDir(), "calls")
	script := "#!/bin/sh\necho \"$@ in $PWD\" >> '" + log + "'\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(w.hook), "stillso"), []byte(script), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return func() []string {
		time.Sleep(200 * time.Millisecond)
		data, _ := os.ReadFile(log)
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
}

// The end of a turn is noted at once and read offline; a program after every turn would
// be too many.
func TestTurnEnd(t *testing.T) {
	w := newWorld(t)
	calls := w.sweeper()
	for range 3 {
		w.send("turn-end", map[string]any{"last_assistant_message": "done"})
	}
	w.send("turn-end", map[string]any{"agent_id": "a1"})
	items := lines[stillso.QueueItem](w, home.Queue)
	if len(items) != 3 || items[0].Kind != "capture" || items[0].Payload["transcript"] != "/t/s1.jsonl" ||
		items[0].Payload["directory"] != w.project || items[0].Payload["session"] != "s1" || items[0].At.IsZero() {
		t.Errorf("queue: %+v", items)
	}
	want := "--home " + w.home.String() + " sweep in " + w.home.String()
	if got := calls(); len(got) != 1 || got[0] != want {
		t.Errorf("sweeps: %q, want one %q", got, want)
	}
	// Without a person the end of the session follows at once. It must be read now, and
	// not be taken for the turn that waits.
	w.send("session-end", map[string]any{"reason": "other"})
	if got := calls(); len(got) != 2 {
		t.Errorf("sweeps after the end of the session: %q", got)
	}
	items = lines[stillso.QueueItem](w, home.Queue)
	if len(items) != 4 || items[3].Key == items[2].Key || items[3].Payload["event"] != "session-end" {
		t.Errorf("queue: %+v", items)
	}
}

// What a session that never ended left behind is read when the next one starts.
func TestCatchUp(t *testing.T) {
	w := newWorld(t)
	calls := w.sweeper()
	w.send("session-start", map[string]any{"source": "startup"})
	if got := calls(); got[0] != "" {
		t.Errorf("a sweep without anything to do: %q", got)
	}
	if err := w.home.Append(home.Queue, []byte(`{"kind":"capture","key":"x"}`)); err != nil {
		t.Fatal(err)
	}
	w.send("session-start", map[string]any{"source": "startup"})
	if got := calls(); len(got) != 1 || got[0] == "" {
		t.Errorf("sweeps: %q", got)
	}
}

// The sweep may only come from beside the hook or an absolute entry of PATH: a
// repository can hold a program named stillso.
func TestProgram(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "stillso"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for path, want := range map[string]string{".": "", "": "", "x:.:" + dir: filepath.Join(dir, "stillso")} {
		h := hook{getenv: func(string) string { return path }}
		if got := h.program(); got != want {
			t.Errorf("PATH=%s: %q, want %q", path, got, want)
		}
	}
}

// Hosts before Claude Code 2.1.139 ignore args and call the program bare; others may
// name only themselves. The document says which event it is.
func TestCalledBare(t *testing.T) {
	w := newWorld(t, zebra())
	for i, args := range [][]string{{}, {"claude-code"}} {
		for event, want := range map[string]bool{"UserPromptSubmit": true, "Stop": false, "Weather": false, "": false} {
			c := w.command("")
			c.Args = append([]string{w.hook}, args...)
			c.Stdin = strings.NewReader(`{"session_id":"bare` + string(rune('0'+i)) + `","cwd":"` + w.project + `","hook_event_name":"` + event + `","prompt":"` + topical + `"}`)
			if out := w.run(event, c).stdout; strings.Contains(out, "zebra1") != want || (out != "") != want {
				t.Errorf("%v %q printed %q", args, event, out)
			}
		}
	}
}
