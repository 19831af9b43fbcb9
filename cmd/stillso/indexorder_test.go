package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/files"
)

// Guards against a proposal that moves a rule out, lets what is superseded keep its
// place, shuffles lines of which nothing is known, asks for more than there is room
// for, or is another one the next time.
func TestPropose(t *testing.T) {
	const path = "/m/memory/MEMORY.md"
	at := func(day int) time.Time { return time.Date(2026, 11, day, 0, 0, 0, 0, time.UTC) }
	made := func(id, note string, kind stillso.Type, state stillso.State, day int) *stillso.Memory {
		return &stillso.Memory{ID: id, Type: kind, State: state, UpdatedAt: at(day), File: &stillso.FileOrigin{Path: filepath.Join(filepath.Dir(path), note)}}
	}
	k := known{
		recalled: map[string]int{"often": 9, "once": 1, "gone": 5},
		memories: []*stillso.Memory{
			made("gone", "gone.md", stillso.Fact, stillso.Superseded, 20), made("old", "old.md", stillso.Fact, stillso.Active, 1),
			made("new", "new.md", stillso.Fact, stillso.Active, 9), made("often", "often.md", stillso.Fact, stillso.Active, 2),
			made("once", "once.md", stillso.Fact, stillso.Active, 3), made("pref", "pref.md", stillso.Preference, stillso.Active, 1),
		},
	}
	text := "# Index\n- [G](gone.md) — g\n- [O](old.md) — o\n- [N](new.md) — n\n- Clay is grey.\n- [P](pref.md) — p\n" + // the host loads so far
		"- Water is wet.\n- [F](often.md) — f\n- Never fire wet clay.\n- [1](once.md) — 1\n"
	lines := func(list []indexLine) (out []int) {
		for _, l := range list {
			out = append(out, l.Line)
		}
		return out
	}
	for range 3 {
		o, err := propose(path, text, 6, 1000, k)
		if err != nil {
			t.Fatal(err)
		}
		if got := lines(o.Beyond); !reflect.DeepEqual(got, []int{7, 8, 9, 10}) {
			t.Errorf("not loaded: %v", got)
		}
		if got := lines(o.Up); !reflect.DeepEqual(got, []int{9, 8, 10}) {
			t.Errorf("up: %+v", o.Up)
		}
		if got := lines(o.Down); !reflect.DeepEqual(got, []int{4, 3, 2}) {
			t.Errorf("down: %+v", o.Down)
		}
	}
	o, err := propose(path, text, 6, 1000, known{})
	if err != nil || len(o.Beyond) != 4 || !reflect.DeepEqual(lines(o.Up), []int{9}) || len(o.Down) != 1 {
		t.Errorf("without a store only the rule moves: %+v, %v", o, err)
	}
	same := strings.Repeat("- Clay is grey.\n", 9)
	if o, err := propose(path, same, 4, 1000, known{}); err != nil || len(o.Up)+len(o.Down) != 0 || len(o.Beyond) != 5 {
		t.Errorf("nothing known, yet moved: %+v, %v", o, err)
	}
	wide := "- Clay is grey.\n- Water is wet.\n- Never " + strings.Repeat("ever ", 99) + "fire wet clay.\n"
	if o, err := propose(path, wide, 2, 100, known{}); err != nil || len(o.Up)+len(o.Down) != 0 || len(o.Beyond) != 1 {
		t.Errorf("500 characters in the room of 100: %+v, %v", o, err)
	}
	tall := "- Clay.\n- Water.\n- Never fire wet clay.\n  It bursts.\n  It always does.\n"
	if o, err := propose(path, tall, 2, 1000, known{}); err != nil || len(o.Up)+len(o.Down) != 0 {
		t.Errorf("three lines in the room of two: %+v, %v", o, err)
	}
}

// Doctor must name the lines that the host does not load, say what to move, know a
// note by its file, and write nothing.
func TestDoctorIndex(t *testing.T) {
	d := newDesk(t)
	memory := filepath.Join(d.env["HOME"], ".claude", "projects", "-p", "memory")
	if err := os.MkdirAll(memory, 0o700); err != nil {
		t.Fatal(err)
	}
	var index strings.Builder
	index.WriteString("- [Kiln](kiln.md) — the curve\n")
	for i := range 199 {
		fmt.Fprintf(&index, "- Shelf %d holds tiles.\n", i)
	}
	index.WriteString("- Cones are in the shed.\n- Never open the kiln above 200 degrees.\n")
	d.write(filepath.Join(memory, "MEMORY.md"), index.String())
	d.write(filepath.Join(memory, "kiln.md"), "The kiln curve lives in a drawer.\n")
	if n := files.LoadedIndex(index.String()); n != 200 {
		t.Fatalf("%d lines", n)
	}
	before := tree(t, d.env["HOME"])
	out, _, _ := d.try("doctor", "--dir", d.proj)
	for _, want := range []string{
		"loads 200 of 202 lines", "line 201: Cones are in the shed.", "move up", "line 202: Never open the kiln above 200 degrees.  (a standing rule)", "move to the end", "line 200: Shelf 198",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing:\n%s", want, out)
		}
	}
	var h health
	js, _, _ := d.try("--json", "doctor", "--dir", d.proj)
	decode(t, js, &h)
	n := 0
	for _, f := range h.Findings {
		if f.Index != nil {
			n++
			if len(f.Index.Beyond) != 2 || len(f.Index.Up) != 1 || len(f.Index.Down) == 0 {
				t.Errorf("%+v", f.Index)
			}
		}
	}
	if n != 1 {
		t.Errorf("%d findings with an order", n)
	}
	if after := tree(t, d.env["HOME"]); !reflect.DeepEqual(before, after) {
		t.Error("doctor wrote something")
	}
	d.must("import", "--dir", d.proj, memory)
	var found []*stillso.Memory
	var l struct {
		Memories []*stillso.Memory `json:"memories"`
	}
	d.json(&l, "list", "--all")
	for _, m := range l.Memories {
		if m.File != nil && filepath.Base(m.File.Path) == "kiln.md" {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d memories of the note", len(found))
	}
	d.must("retire", found[0].ID)
	if out, _, _ := d.try("doctor", "--dir", d.proj); !strings.Contains(out, "line 1: [Kiln](kiln.md) — the curve  (already superseded or retired)") {
		t.Errorf("the retired note keeps its place:\n%s", out)
	}
}
