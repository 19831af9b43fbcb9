package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/store/sqlite"
)

// row is a line of a transcript.
func row(t *testing.T, kind, id, text, dir string) string {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"type": kind, "uuid": id, "sessionId": "s1", "cwd": dir, "timestamp": "2026-11-29T10:00:0" + id[1:] + ".000Z",
		"message": map[string]any{"role": kind, "content": text},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(b) + "\n"
}

// queue appends what a hook would at the end of a turn.
func (d *desk) queue(event, session, transcript string) {
	d.t.Helper()
	dir := home.Dir(d.env["STILLSO_HOME"])
	if err := dir.Create(); err != nil {
		d.t.Fatal(err)
	}
	b, err := json.Marshal(stillso.QueueItem{Kind: "capture", Key: "claude-code " + session, At: d.now(), Payload: map[string]string{
		"host": "claude-code", "event": event, "session": session, "directory": d.proj, "transcript": transcript,
	}})
	if err == nil {
		err = dir.Append(home.Queue, b)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) write(path, text string) {
	d.t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// A session that a hook queued must be captured once; what grows later must be
// caught up without being queued; a second sweep must bring nothing new.
func TestSweepCaptures(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(d.proj, "s1.jsonl")
	d.write(path, row(t, "user", "u1", "From now on always run the linter before you commit", d.proj)+
		row(t, "assistant", "u2", "Understood.", d.proj))
	d.queue("session-end", "s1", path)
	var got swept
	d.json(&got, "sweep")
	if got.Sessions != 1 || got.Saved != 1 || len(got.Errors) > 0 {
		t.Fatalf("first sweep: %+v", got)
	}
	if out := d.must("recall", "--dir", d.proj, "shall I run the linter before the commit?"); !strings.Contains(out, "linter") {
		t.Errorf("not recalled:\n%s", out)
	}
	got = swept{}
	if d.json(&got, "sweep"); got.Sessions+got.Saved != 0 {
		t.Errorf("second sweep: %+v", got)
	}
	d.write(path, row(t, "user", "u3", "Remember: the release branch is called harvest", d.proj))
	got = swept{}
	if d.json(&got, "sweep"); got.Saved != 1 {
		t.Errorf("what grew was not caught up: %+v", got)
	}
	d.queue("turn-end", "s1", path)
	got = swept{}
	if d.json(&got, "sweep"); got.Saved != 0 {
		t.Errorf("captured twice: %+v", got)
	}
}

// Work that cannot succeed must not stay in the queue for ever, and a file that is
// no transcript must not stop the rest.
func TestSweepSurvivesBadSessions(t *testing.T) {
	d := newDesk(t)
	bad, good := filepath.Join(d.proj, "bad.jsonl"), filepath.Join(d.proj, "good.jsonl")
	d.write(bad, "this is a shopping list\n")
	d.write(good, row(t, "user", "u1", "Never touch the generated tables by hand", d.proj))
	d.queue("session-end", "gone", filepath.Join(d.proj, "gone.jsonl"))
	d.queue("session-end", "bad", bad)
	d.queue("session-end", "s1", good)
	dir := home.Dir(d.env["STILLSO_HOME"])
	for name, line := range map[string]string{home.Queue: "not json", home.Receipts: `{"v":`} {
		if err := dir.Append(name, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	var got swept
	d.json(&got, "sweep")
	if got.Saved != 1 || got.Waiting != 0 || len(got.Errors) > 0 {
		t.Errorf("%+v", got)
	}
	if out, errOut, code := d.try("doctor", "--dir", d.proj); code != 0 {
		t.Errorf("doctor: exit %d\n%s%s", code, out, errOut)
	}
}

// Two sweeps at once would do the same work twice; --wait must not be refused.
func TestSweepIsSingle(t *testing.T) {
	d := newDesk(t)
	d.remember("One.")
	a := &app{std: streams{clock: d.now, env: func(k string) string { return d.env[k] }}}
	if err := a.openHome(); err != nil {
		t.Fatal(err)
	}
	unlock, err := a.lockSweep(context.Background(), false)
	if err != nil || unlock == nil {
		t.Fatalf("cannot lock: %v", err)
	}
	var got swept
	d.json(&got, "sweep")
	if !got.Running {
		t.Errorf("a second sweep ran: %+v", got)
	}
	time.AfterFunc(100*time.Millisecond, unlock)
	got = swept{}
	if d.json(&got, "sweep", "--wait"); got.Running {
		t.Errorf("it did not wait: %+v", got)
	}
}

// The index is derived: when it is lost or broken, recall must say so, and a sweep
// must bring it back.
func TestIndexIsBuiltAgain(t *testing.T) {
	d := newDesk(t)
	d.remember("The kiln curve lives in firing/curve.toml.")
	base := filepath.Join(d.env["STILLSO_HOME"], "recall.base")
	ask := []string{"recall", "--dir", d.proj, "where does the kiln curve live"}
	for name, spoil := range map[string]func() error{
		"lost":      func() error { return os.Remove(base) },
		"empty":     func() error { return os.WriteFile(base, nil, 0o600) },
		"truncated": func() error { return os.Truncate(base, 100) },
		"foreign":   func() error { return os.WriteFile(base, []byte(strings.Repeat("x", 5000)), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			if _, errOut, code := d.try(ask...); code == exitOK || code == exitProblems || !strings.Contains(errOut, "stillso sweep --rebuild") {
				t.Errorf("exit %d, %q", code, errOut)
			}
			if out, _, code := d.try("doctor", "--dir", d.proj); code != exitProblems {
				t.Errorf("doctor: exit %d\n%s", code, out)
			}
			d.must("sweep", "--rebuild")
			d.must(ask...)
			d.must("doctor", "--dir", d.proj)
		})
	}
}

// A proposal must change nothing until a human decides, and must be decided once.
func TestReview(t *testing.T) {
	d := newDesk(t)
	d.remember("One.")
	ctx := context.Background()
	st, err := sqlite.Open(ctx, d.env["STILLSO_HOME"], sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	propose := func(id, content string) {
		m := &stillso.Memory{ID: id, Namespace: "user", Content: content, Origin: stillso.FromInferred}
		m.Default(d.now())
		_, err := st.Apply(ctx, stillso.Change{
			ID: "change" + id, Verb: stillso.VerbAdd, Outcome: stillso.Proposed, Actor: stillso.Actor{Kind: stillso.Model, Name: "m"},
			Confidence: 0.5, At: d.now(), Edits: []stillso.Edit{{After: m}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	propose("a1", "The cache is warmed by a cron job.")
	propose("b2", "The moon is made of cheese.")
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if out := d.must("review"); !strings.Contains(out, "changea1") || !strings.Contains(out, "changeb2") {
		t.Errorf("review lists:\n%s", out)
	}
	if _, _, code := d.try("show", "a1"); code != exitUsage {
		t.Errorf("a proposal is a memory already (exit %d)", code)
	}
	d.must("review", "approve", "changea")
	d.must("review", "refuse", "--all")
	var s shown
	d.json(&s, "show", "a1")
	if s.Memory.Origin != stillso.FromProposal || s.Memory.State != stillso.Active {
		t.Errorf("approved as %s, %s", s.Memory.Origin, s.Memory.State)
	}
	if _, _, code := d.try("show", "b2"); code != exitUsage {
		t.Errorf("a refused proposal is a memory (exit %d)", code)
	}
	if out := d.must("review"); !strings.Contains(out, "nothing waits") {
		t.Errorf("still waiting:\n%s", out)
	}
	if _, errOut, code := d.try("review", "approve", "changea1"); code != exitUsage {
		t.Errorf("approved twice: exit %d, %q", code, errOut)
	}
}

// Settings that cannot be read must say the line, and never be taken for defaults.
func TestSettings(t *testing.T) {
	d := newDesk(t)
	if err := os.MkdirAll(d.env["STILLSO_HOME"], 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.env["STILLSO_HOME"], "config.toml")
	for _, tt := range []struct{ text, want string }{
		{"[capture\n", "line"},
		{"[capture]\nturns = \"many\"\n", "line 2"},
		{"[capture]\nturns = 0\n", "at least 1"},
		{"[llm]\nprovider = \"auto\"\nkey_env = \"not a name\"\n", "key_env"},
	} {
		if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errOut, code := d.try("settings"); code != exitUsage || !strings.Contains(errOut, tt.want) || !strings.Contains(errOut, path) {
			t.Errorf("%q: exit %d, %q; want %q", tt.text, code, errOut, tt.want)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	d.must("settings", "--init")
	got, unknown, err := readConfig(path)
	if err != nil || len(unknown) > 0 {
		t.Errorf("the file that --init writes: %v, unknown %v", err, unknown)
	}
	want := defaultConfig()
	if got.Capture != want.Capture {
		t.Errorf("--init writes %+v, the defaults are %+v", got.Capture, want.Capture)
	}
	if _, _, code := d.try("settings", "--init"); code != exitUsage {
		t.Errorf("overwrote the settings: exit %d", code)
	}
}

// A memory that the same sweep captures and supersedes must not make the sweep fail
// when it learns the words of what it captured.
func TestSweepThatSupersedesItsOwnCapture(t *testing.T) {
	d := newDesk(t)
	path := filepath.Join(d.proj, "s1.jsonl")
	for i, text := range []string{
		"Remember: always run gizmo0 before you commit module.", "Remember: always run gizmo1 before you commit module.",
		"Remember: always run gizmo2 before you commit module.",
	} {
		d.write(path, row(t, "user", "u"+string(rune('1'+i)), text, d.proj))
		d.queue("turn-end", "s1", path)
	}
	other := filepath.Join(d.proj, "s2.jsonl")
	d.write(other, strings.ReplaceAll(row(t, "user", "v4", "Remember: always run gizmo7 before you commit module.", d.proj), `"s1"`, `"s2"`))
	d.queue("session-end", "s1", path)
	d.queue("session-end", "s2", other)
	var got swept
	d.json(&got, "sweep")
	if len(got.Errors) > 0 {
		t.Errorf("%+v", got)
	}
	var list listed
	if d.json(&list, "list", "--all", "--dir", d.proj, "--state", "superseded"); len(list.Memories) == 0 {
		t.Error("nothing was superseded: this tests nothing")
	}
}
