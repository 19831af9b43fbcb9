package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/home"
)

// why-not must name the condition that really stopped a memory, and its advice
// must work.
func TestWhyNot(t *testing.T) {
	d := newDesk(t)
	kiln := d.remember("The kiln curve lives in firing/curve.toml.")
	gone := d.remember("The glaze recipes are in glaze/book.md.")
	d.must("retire", gone)
	other := filepath.Join(filepath.Dir(d.proj), "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	var foreign remembered
	d.json(&foreign, "remember", "--dir", other, "The wheel needs oil every Monday.")
	for _, tt := range []struct{ name, id, prompt, stopped string }{
		{"retired", gone, "where are the glaze recipes", "it is retired"},
		{"other project", foreign.Memory.ID, "when does the wheel need oil", "it belongs to"},
		{"no topic", kiln, "ok, go on", "no word with a topic"},
		{"no shared word", kiln, "oven temperature schedule", "shares no word"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, errOut, code := d.try("why-not", "--dir", d.proj, tt.id, tt.prompt)
			if code != exitProblems || !strings.Contains(out, tt.stopped) || !strings.Contains(out, "would pass") {
				t.Errorf("exit %d, want %q:\n%s%s", code, tt.stopped, out, errOut)
			}
		})
	}
	if out := d.must("why-not", "--dir", d.proj, kiln, "where does the kiln curve live"); !strings.Contains(out, "it is shown") {
		t.Errorf("a memory that is shown:\n%s", out)
	}
	d.must("edit", kiln, "--alias", "oven temperature schedule") // the advice
	d.must("why-not", "--dir", d.proj, kiln, "oven temperature schedule")
}

// why without a prompt must explain the last prompt that a hook answered, whether
// or not a sweep has taken the receipt since.
func TestWhyLastReceipt(t *testing.T) {
	d := newDesk(t)
	id := d.remember("The kiln curve lives in firing/curve.toml.")
	if _, errOut, code := d.try("why"); code != exitProblems || !strings.Contains(errOut, "no hook has answered") {
		t.Errorf("exit %d, %q", code, errOut)
	}
	dir := home.Dir(d.env["STILLSO_HOME"])
	for _, line := range []string{
		`{"v":1,"at":"2026-11-30T10:00:00Z","host":"claude-code","event":"prompt","session":"s1","namespace":"user","terms":["kiln"],"hits":[{"id":"` + id + `","score":9,"strength":8,"shown":true}],"threshold":3,"us":900,"bytes":300}`,
		`{"v":1,"at":"2026-11-30T10:01:00Z","host":"claude-code","event":"session-start","session":"s1","namespace":"user","us":800}`,
	} {
		if err := dir.Append(home.Receipts, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	for _, when := range []string{"before", "after"} {
		if out := d.must("why"); !strings.Contains(out, id) || !strings.Contains(out, "kiln curve") || !strings.Contains(out, "0.9 ms") {
			t.Errorf("%s the sweep:\n%s", when, out)
		}
		d.must("sweep")
	}
}

// Repeats are the failure that stillso exists to end: they must be counted by week
// and memory, and what was learnt must be named with the way back.
func TestStatsCountRepeats(t *testing.T) {
	monday := time.Date(2026, 11, 23, 9, 0, 0, 0, time.Local)
	m := &stillso.Memory{ID: "m1", Content: "Use pnpm."}
	learnt := m.Clone()
	learnt.Aliases = []string{"which package manager"}
	change := func(name string, at time.Time, after *stillso.Memory, o stillso.Outcome) stillso.Change {
		return stillso.Change{
			ID: "c-" + name, Actor: stillso.Actor{Kind: stillso.Rule, Name: name}, At: at, Outcome: o,
			Edits: []stillso.Edit{{Before: m, After: after}},
		}
	}
	var s counted
	s.repeat(change("repeat-missed", monday, learnt, stillso.Applied))
	s.repeat(change("repeat-ignored", monday.AddDate(0, 0, 6), m, stillso.Refused)) // Sunday of that week
	s.repeat(change("repeat-missed", monday.AddDate(0, 0, 7), m, stillso.Refused))
	s.repeat(change("capture", monday, m, stillso.Applied))
	if len(s.Weeks) != 2 || s.Weeks[0] != (week{"2026-11-23", 1, 1}) || s.Weeks[1] != (week{"2026-11-30", 1, 0}) {
		t.Errorf("weeks %+v", s.Weeks)
	}
	if len(s.Repeats) != 1 || s.Repeats[0].Missed != 2 || s.Repeats[0].Ignored != 1 {
		t.Fatalf("repeats %+v", s.Repeats)
	}
	if r := s.Repeats[0]; len(r.Learnt) != 1 || r.Learnt[0] != "which package manager" || r.Change != "c-repeat-missed" {
		t.Errorf("learnt %+v", r)
	}
	var b strings.Builder
	s.text(&page{w: &b})
	for _, want := range []string{"2026-11-23", "missed 2, ignored 1", "which package manager", "stillso undo c-repeat-missed"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, b.String())
		}
	}
}

// A timer must name the very program and home, whatever characters they have.
func TestTimerFiles(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		tm, err := newTimer(goos, "/home/m", "/home/m/.config", `/opt/my "bin"/100%/stillso`, "/home/m/a & b")
		if err != nil {
			t.Fatal(err)
		}
		all := tm.Kind
		for _, f := range tm.Files {
			all += f.Text
		}
		for _, argv := range tm.Start {
			all += strings.Join(argv, " ")
		}
		want := map[string]string{
			"linux":   `ExecStart="/opt/my \"bin\"/100%%/stillso" --home "/home/m/a & b" sweep`,
			"darwin":  "<string>/home/m/a &amp; b</string>",
			"windows": `--home "/home/m/a & b" sweep`,
		}[goos]
		if !strings.Contains(all, want) {
			t.Errorf("%s: no %q in\n%s", goos, want, all)
		}
	}
	if _, err := newTimer("plan9", "", "", "stillso", "/h"); err == nil {
		t.Error("a timer for a system that has none")
	}
}
