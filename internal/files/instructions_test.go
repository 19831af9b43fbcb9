package files

import (
	"strings"
	"testing"

	"stillso"

	"github.com/google/go-cmp/cmp"
)

const sampleInstructions = `# Project

Intro paragraph that
goes over two lines.

## Rules
Never do these:
- push to main
  - not even hotfixes
- [ ] write the docs
* use ` + "`make lint`" + ` before a commit

    indented continuation

1. first step
2. second step:
   ` + "```sh\n   make build\n\n   make test\n   ```" + `

### Build
Run this:

` + "```sh\nmake all\n# not a heading\n```" + `

<!-- a comment
over lines -->
@docs/other.md

Setext
------
| name | b |
|---|---|
| 1 | 2 |
`

// A nested item torn from its parent, and code cut at a blank line, say
// something else than the file does.
func TestSplit(t *testing.T) {
	type short struct {
		Line, Last         int
		Heads, Intro, Text string
	}
	var got []short
	for _, it := range split(sampleInstructions, 1) {
		got = append(got, short{it.first, it.last, strings.Join(it.headings, "/"), it.intro, it.text})
	}
	want := []short{
		{3, 4, "Project", "", "Intro paragraph that\ngoes over two lines."},
		{8, 9, "Project/Rules", "Never do these:", "push to main\n- not even hotfixes"},
		{10, 10, "Project/Rules", "Never do these:", "write the docs"},
		{11, 13, "Project/Rules", "Never do these:", "use `make lint` before a commit\n\n  indented continuation"},
		{15, 15, "Project/Rules", "Never do these:", "first step"},
		{16, 21, "Project/Rules", "Never do these:", "second step:\n```sh\nmake build\n\nmake test\n```"},
		{24, 29, "Project/Rules/Build", "", "Run this:\n\n```sh\nmake all\n# not a heading\n```"},
		{37, 39, "Project/Setext", "", "| name | b |\n|---|---|\n| 1 | 2 |"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestInstructions(t *testing.T) {
	o := options()
	o.Loaded = func(path, text string) []Loaded { return []Loaded{{Host: "claude-code", First: 1, Last: 9}} }
	r, err := parseInstructions("/repo/CLAUDE.md", sampleInstructions, o)
	if err != nil || len(r.Problems) > 0 || len(r.Memories) != 8 {
		t.Fatal(err, r.Problems, len(r.Memories))
	}
	push := r.Memories[1]
	if push.Content != "Never do these: push to main" || push.Name != "Rules" || push.Type != stillso.Constraint ||
		push.Body != "push to main\n- not even hotfixes" || push.Origin != stillso.FromFile || push.Extra["section"] != "Project / Rules" {
		t.Errorf("%+v", push)
	}
	if r.Memories[2].Type != stillso.Todo {
		t.Errorf("a task is a todo: %s", r.Memories[2].Type)
	}
	for i, want := range []bool{true, true, false} {
		if got := len(r.Memories[i].File.LoadedBy) > 0; got != want {
			t.Errorf("item %d loaded: %v, want %v", i, got, want)
		}
	}
	// The same words keep their id wherever they stand, in every checkout.
	o.Root = "/moved"
	moved, err := parseInstructions("/moved/CLAUDE.md", "# New\n\ntop\n\n"+sampleInstructions, o)
	if err != nil {
		t.Fatal(err)
	}
	if moved.Memories[2].ID != push.ID {
		t.Errorf("id changed from %s to %s", push.ID, moved.Memories[2].ID)
	}
	twice, _ := parseInstructions("/repo/A.md", "- same words\n- same words\n", o)
	if len(twice.Memories) != 2 || twice.Memories[0].ID == twice.Memories[1].ID {
		t.Error("equal lines of one file must have ids of their own")
	}
}

func TestIsInstructions(t *testing.T) {
	for path, want := range map[string]bool{
		"/r/CLAUDE.md": true, "AGENTS.md": true, "/r/.cursor/rules/go.mdc": true, "/r/rules/go.mdc": false,
		"/r/.github/copilot-instructions.md": true, "/r/README.md": false, "/r/CLAUDE.md.bak": false,
	} {
		if got := IsInstructions(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// The limit is 25,000 UTF-16 units: 25,000 Chinese characters are 75,000 bytes
// and still loaded.
func TestLoadedIndex(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"short":     {"a\nb\n", 2},
		"201 lines": {strings.Repeat("x\n", 201), 200},
		"ascii":     {strings.Repeat(strings.Repeat("x", 249)+"\n", 120), 100},
		"chinese":   {strings.Repeat(strings.Repeat("好", 249)+"\n", 120), 100},
		"emoji":     {strings.Repeat(strings.Repeat("🙂", 124)+"x\n", 120), 100},
		"no end":    {"a\nb", 2},
		"empty":     {"", 0},
	} {
		if got := LoadedIndex(c.text); got != c.want {
			t.Errorf("%s: %d lines, want %d", name, got, c.want)
		}
	}
}

func FuzzInstructions(f *testing.F) {
	f.Add(sampleInstructions)
	f.Add("---\nglobs: *.go\n---\n- a list\n\n  with text\n```\nopen")
	f.Add("1)\n- \n\t- deep\n=====\nx\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		text, err := clean([]byte(text))
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		last := 0
		for _, it := range split(text, 1) {
			if it.first <= last || it.last < it.first || it.last > lines {
				t.Fatalf("item %d-%d after line %d of %d", it.first, it.last, last, lines)
			}
			last = it.last
		}
		r, err := parseInstructions("/repo/CLAUDE.md", text, options())
		if err != nil {
			return
		}
		ids := map[string]bool{}
		for _, m := range r.Memories {
			if err := m.Validate(); err != nil || ids[m.ID] {
				t.Fatalf("%v, id %s twice: %v", err, m.ID, ids[m.ID])
			}
			ids[m.ID] = true
		}
		if c := Sync(r.Memories, r.Memories, stillso.Actor{}, now); len(c) > 0 {
			t.Fatalf("an unchanged file makes %d changes", len(c))
		}
	})
}
