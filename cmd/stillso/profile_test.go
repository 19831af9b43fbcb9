package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stillso"
	"stillso/internal/inject"
	"stillso/internal/snapshot"
)

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("no JSON: %v\n%s", err, text)
	}
}

// budget sets the bounds of the profile so that it holds n lines like the given one,
// three of them with a label.
func (d *desk) budget(n int, like string) {
	d.t.Helper()
	frame, _ := inject.SessionFrame()
	line, _ := inject.Cost(inject.Item{ID: "abcdefghijkl", Type: stillso.Constraint, Date: "2026-11-30", Content: like})
	if err := os.MkdirAll(d.env["STILLSO_HOME"], 0o700); err != nil {
		d.t.Fatal(err)
	}
	text := fmt.Sprintf("[profile]\nmax_bytes = %d\n", frame+n*line+80)
	if err := os.WriteFile(filepath.Join(d.env["STILLSO_HOME"], "config.toml"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// A full profile must not refuse the newest line, which is usually a correction.
// Twelve new lines into one of fourteen that holds six: four are demoted, all are
// still found, every line of the user is kept, each demotion stands in the journal.
func TestTwelveIntoFourteen(t *testing.T) {
	d := newDesk(t)
	text := func(i int) string {
		return fmt.Sprintf("Module m%02d always calls helper h%02d before it returns.", i, i)
	}
	d.budget(14, text(0))
	origin := map[string]string{}
	put := func(from, to int, origins ...string) {
		var lines []string
		for i := from; i < to; i++ {
			id := fmt.Sprintf("line%08d", i)
			origin[id] = origins[i%len(origins)]
			lines = append(lines, fmt.Sprintf(`{"id":%q,"namespace":"user","type":"constraint","content":%q,"origin":%q,"resident":true}`, id, text(i), origin[id]))
		}
		path := filepath.Join(d.proj, "in.jsonl")
		os.Remove(path) //nolint:errcheck // there may be none
		d.write(path, strings.Join(lines, "\n")+"\n")
		d.must("import", "--dir", d.proj, path)
	}
	put(0, 6, "user", "inferred")
	put(6, 18, "user", "confirmed", "inferred")
	var s profileShown
	d.json(&s, "profile", "--dir", d.proj)
	if len(s.Lines) != 14 || !s.Used.In(s.Budget) {
		t.Fatalf("%d lines, %+v of %+v", len(s.Lines), s.Used, s.Budget)
	}
	var j journalled
	d.json(&j, "journal", "--limit", "100")
	demoted := 0
	for _, c := range j.Changes {
		if c.Verb != stillso.VerbDemote {
			continue
		}
		demoted++
		m := c.Edits[0].After
		if origin[m.ID] != "inferred" || m.State != stillso.Active || c.Actor.Name != "profile" || c.Reason == "" {
			t.Errorf("demoted %s, which is %s: %+v", m.ID, origin[m.ID], c)
		}
		var found searched
		if d.json(&found, "search", "--dir", d.proj, m.Content); len(found.Found) == 0 {
			t.Errorf("%s is not found any more", m.ID)
		}
	}
	if demoted != 4 {
		t.Errorf("%d demoted", demoted)
	}
	// What the person says next takes the place of the weakest, in one batch.
	var r remembered
	d.json(&r, "remember", "--dir", d.proj, "--namespace", "user", "--type", "constraint", "--resident", "Module m99 never calls helper h99 before it returns.")
	if !r.Saved || len(r.Demoted) != 1 {
		t.Fatalf("%+v", r)
	}
	d.must("undo", "--last")
	s = profileShown{}
	if d.json(&s, "profile", "--dir", d.proj); len(s.Lines) != 14 {
		t.Errorf("%d lines after the undo", len(s.Lines))
	}
}

// A correction of a line that is always there must be there as well, whoever made it
// and whatever they thought of saying.
func TestCorrectionInheritsItsPlace(t *testing.T) {
	d := newDesk(t)
	old := d.remember("Module m07 always calls helper h07.", "--namespace", "user", "--type", "constraint", "--resident")
	id := d.remember("Module m07 never calls helper h07.", "--namespace", "user", "--type", "constraint", "--supersedes", old)
	var s profileShown
	if d.json(&s, "profile", "--dir", d.proj); len(s.Lines) != 1 || s.Lines[0].Memory.ID != id {
		t.Errorf("%+v", s.Lines)
	}
	d.must("undo", "--last")
	s = profileShown{}
	if d.json(&s, "profile", "--dir", d.proj); len(s.Lines) != 1 || s.Lines[0].Memory.ID != old {
		t.Errorf("after the undo: %+v", s.Lines)
	}
}

// Promote and demote are a person's word: journalled, kept by the rule, undoable.
func TestProfileCommands(t *testing.T) {
	d := newDesk(t)
	id := d.remember("Commit messages are written in Danish.", "--namespace", "user", "--type", "preference", "--priority", "5")
	d.must("sweep")
	var s profileShown
	if d.json(&s, "profile", "--dir", d.proj); len(s.Lines) != 1 {
		t.Fatalf("an important rule of the user was not promoted: %+v", s)
	}
	if out := d.must("profile", "show", "--text", "--dir", d.proj); !strings.Contains(out, inject.Open) || !strings.Contains(out, "Danish") {
		t.Errorf("text:\n%s", out)
	}
	d.must("profile", "demote", id)
	if err := os.Remove(filepath.Join(d.env["STILLSO_HOME"], "claims.json")); err != nil {
		t.Fatal(err)
	}
	d.must("sweep")
	s = profileShown{}
	if d.json(&s, "profile", "--dir", d.proj); len(s.Lines) != 0 {
		t.Error("what a person demoted was promoted again by rule")
	}
	out := d.must("profile", "promote", id)
	if !strings.Contains(out, "promoted "+id) || !strings.Contains(out, "stillso undo") {
		t.Errorf("%s", out)
	}
	if out := d.must("profile", "budget"); !strings.Contains(out, "at most 5200 bytes and 1300 tokens") {
		t.Errorf("%s", out)
	}
	if out := d.must("profile", "promote", id); !strings.Contains(out, "so already") {
		t.Errorf("%s", out)
	}
	d.must("retire", id)
	if _, errOut, code := d.try("profile", "promote", d.remember("Two."), id); code != exitOK && !strings.Contains(errOut, "restore") {
		t.Errorf("exit %d, %q", code, errOut)
	}
}

// The hook must learn a new budget with the next sweep, also when nothing else changed.
func TestBudgetReachesTheHook(t *testing.T) {
	d := newDesk(t)
	d.remember("One.")
	read := func() string {
		snap, err := snapshot.Open(d.env["STILLSO_HOME"])
		if err != nil {
			t.Fatal(err)
		}
		defer snap.Close() //nolint:errcheck // it was only read
		return string(snap.Constant("profile.max_bytes"))
	}
	if got := read(); got != "5200" {
		t.Errorf("default %q", got)
	}
	d.write(filepath.Join(d.env["STILLSO_HOME"], "config.toml"), "[profile]\nmax_bytes = 1500\n")
	d.must("sweep")
	if got := read(); got != "1500" {
		t.Errorf("after the sweep %q", got)
	}
	d.write(filepath.Join(d.env["STILLSO_HOME"], "config.toml"), "max_tokens = 20\n")
	if _, errOut, code := d.try("settings"); code != exitUsage || !strings.Contains(errOut, "profile.max_tokens") {
		t.Errorf("exit %d, %q", code, errOut)
	}
}
