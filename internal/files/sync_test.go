package files

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stillso"
)

var rule0 = stillso.Actor{Kind: stillso.Rule, Name: "files"}

func instructions(t *testing.T, text string) []*stillso.Memory {
	t.Helper()
	r, err := parseInstructions("/repo/CLAUDE.md", text, options())
	if err != nil {
		t.Fatal(err)
	}
	return r.Memories
}

// carry applies changes as the store would.
func carry(list []*stillso.Memory, changes []stillso.Change) []*stillso.Memory {
	out := slices.Clone(list)
	for _, c := range changes {
		for _, e := range c.Edits {
			out = slices.DeleteFunc(out, func(m *stillso.Memory) bool { return m.ID == e.MemoryID() })
			out = append(out, e.After)
		}
	}
	return out
}

func verbs(changes []stillso.Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, string(c.Verb))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// Re-reading a changed file gave every line a new id: labels, aliases and undo
// history of the old ones were orphaned.
func TestSync(t *testing.T) {
	store := instructions(t, "# R\n- Always use pnpm for installs.\n- Deploy on Tuesday only.\n- Keep functions short.\n")
	store[0].Aliases = []string{"which package manager"}
	later := now.Add(time.Hour)

	fresh := instructions(t, "# R\n- New line on top about Redis.\n- Always use pnpm for installs, never npm.\n- Deploy on Tuesday only.\n")
	changes := Sync(store, fresh, rule0, later)
	if got := verbs(changes); got != "add edit retire" {
		t.Fatalf("changes: %s", got)
	}
	for _, c := range changes {
		if c.Verb == stillso.VerbEdit {
			e := c.Edits[0]
			if e.After.ID != store[0].ID || !strings.Contains(e.After.Content, "never npm") || len(e.After.Aliases) != 1 || !e.After.UpdatedAt.Equal(later) || e.After.CreatedAt != store[0].CreatedAt {
				t.Errorf("edited in place: %+v", e.After)
			}
		}
		if err := c.Edits[0].After.Validate(); err != nil {
			t.Error(err)
		}
	}
	store = carry(store, changes)
	if c := Sync(store, fresh, rule0, later); len(c) != 0 {
		t.Errorf("in step, and yet %s", verbs(c))
	}

	// A line that comes back comes back; one that a human retired does not.
	fresh = instructions(t, "# R\n- Deploy on Tuesday only.\n- Keep functions short.\n")
	changes = Sync(store, fresh, rule0, later)
	if got := verbs(changes); got != "restore retire retire" {
		t.Errorf("changes: %s", got)
	}
	store = carry(store, changes)
	for _, m := range store {
		if strings.HasPrefix(m.Content, "Keep") {
			m.State = stillso.Retired // by a human: without our mark
		}
	}
	if c := Sync(store, fresh, rule0, later); len(c) != 0 {
		t.Errorf("a human's retirement was taken back: %s", verbs(c))
	}
}

func TestSyncLoadedAndMoved(t *testing.T) {
	store := instructions(t, "- a rule about Redis\n")
	fresh := instructions(t, "\n\n- a rule about Redis\n")
	if c := Sync(store, fresh, rule0, now); len(c) != 0 {
		t.Errorf("a line number alone is no change: %s", verbs(c))
	}
	fresh[0].File.LoadedBy = []string{"codex"}
	c := Sync(store, fresh, rule0, now)
	if verbs(c) != "edit" || len(c[0].Edits[0].After.File.LoadedBy) != 1 {
		t.Errorf("loaded by another host: %s", verbs(c))
	}
	store[0].Origin = stillso.FromImport
	if c := Sync(store, nil, rule0, now); len(c) != 0 {
		t.Errorf("what was imported is not retired: %s", verbs(c))
	}
}

func TestSyncLargeRewriteIsQuick(t *testing.T) {
	var a, b strings.Builder
	for i := range 800 {
		fmt.Fprintf(&a, "- Rule %d says that module m%d talks to queue q%d.\n", i, i*7, i*3)
		fmt.Fprintf(&b, "- Eintrag %d: Dienst d%d schreibt nach Tabelle t%d.\n", i, i*5, i*11)
	}
	start := time.Now()
	Sync(instructions(t, a.String()), instructions(t, b.String()), rule0, now)
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

// Importing the same backup twice doubled the store, brought forgotten memories
// back, and overwrote newer ones.
func TestImport(t *testing.T) {
	line := func(id, content, updated string) string {
		if updated != "" {
			updated = `,"updated_at":"` + updated + `"`
		}
		return fmt.Sprintf(`{"id":%q,"content":%q%s}`, id, content, updated)
	}
	base := read(t, line("A", "one", "2026-01-01T00:00:00Z")+"\n"+line("B", "two", "")+"\n"+`{"content":"no id"}`)
	first := Import(nil, base, rule0, now)
	if first.Added != 3 || len(first.Changes) != 3 {
		t.Fatalf("%+v", first)
	}
	store := map[string]*stillso.Memory{}
	for _, c := range first.Changes {
		store[c.Edits[0].After.ID] = c.Edits[0].After
	}
	o := options()
	o.Now = now.Add(48 * time.Hour) // much later: undated lines must still be the same
	again, err := ReadExport(strings.NewReader(line("A", "one", "2026-01-01T00:00:00Z")+"\n"+line("B", "two", "")+"\n"+`{"content":"no id"}`), "x", o)
	if err != nil {
		t.Fatal(err)
	}
	if p := Import(store, again, rule0, o.Now); p.Same != 3 || len(p.Changes)+len(p.Kept) != 0 {
		t.Errorf("second import: %+v", p)
	}
	store["B"].Aliases = []string{"learnt"}
	for _, c := range []struct {
		name, line string
		edited     int
		kept       string
	}{
		{"newer", line("A", "one more", "2026-02-01T00:00:00Z"), 1, ""},
		{"older", line("A", "one less", "2025-02-01T00:00:00Z"), 0, "as new or newer"},
		{"undated", line("B", "changed", ""), 0, "no updated_at"},
		{"same but for what was learnt", line("B", "two", ""), 0, ""},
	} {
		p := Import(store, read(t, c.line), rule0, now)
		if p.Edited != c.edited || c.kept == "" && len(p.Kept) > 0 || c.kept != "" && (len(p.Kept) != 1 || !strings.Contains(p.Kept[0].Reason, c.kept)) {
			t.Errorf("%s: %+v", c.name, p)
		}
		if c.edited == 1 && p.Changes[0].Edits[0].After.UpdatedAt.Month() != 2 {
			t.Errorf("%s: the date of the newer one is kept: %v", c.name, p.Changes[0].Edits[0].After.UpdatedAt)
		}
	}
	store["A"].State = stillso.Retired
	if p := Import(store, read(t, line("A", "back", "2030-01-01T00:00:00Z")), rule0, now); len(p.Changes) != 0 || len(p.Kept) != 1 {
		t.Errorf("retired here: %+v", p)
	}
	store["B"].Namespace = "project/other"
	if p := Import(store, read(t, line("B", "two!", "2030-01-01T00:00:00Z")), rule0, now); len(p.Changes) != 0 || !strings.Contains(p.Kept[0].Reason, "project/other") {
		t.Errorf("foreign namespace: %+v", p)
	}
}

// A note that was edited on disk is read again under its id; one that was edited
// in the store, and not on disk, keeps what was edited.
func TestImportAgain(t *testing.T) {
	note := func(text string) Reading {
		m, err := parseNote("/repo/notes/a.md", text, now, options())
		if err != nil {
			t.Fatal(err)
		}
		return Reading{Memories: []*stillso.Memory{m}}
	}
	p := Import(nil, note("Use tabs.\n"), rule0, now)
	m := p.Changes[0].Edits[0].After
	store := map[string]*stillso.Memory{m.ID: m}
	m.Content = "Use tabs, says the user."
	if p := Import(store, note("Use tabs.\n"), rule0, now); p.Same != 1 {
		t.Errorf("unchanged file: %+v", p)
	}
	p = Import(store, note("Use spaces.\n"), rule0, now)
	if p.Edited != 1 || p.Changes[0].Edits[0].After.Content != "Use spaces." {
		t.Errorf("changed file: %+v", p)
	}
}
