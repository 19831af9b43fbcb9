package claudecode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tree writes files below a directory; it returns the path of one of them.
func tree(t *testing.T, dir string, files map[string]string) func(string) string {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
}

// Fault: the folder of a project is looked for under another name than the host
// gave it.
func TestSlug(t *testing.T) {
	for dir, want := range map[string]string{
		"/tmp/p/two.x_y/Ünï":     "-tmp-p-two-x-y--n-",
		`C:\Users\dev`:           "C--Users-dev",
		"/w/🚀":                   "-w---", // two UTF-16 units
		strings.Repeat("/a", 99): strings.Repeat("-a", 99),
	} {
		if got, cut := Slug(dir); got != want || cut {
			t.Errorf("Slug(%q) = %q, %v; want %q", dir, got, cut, want)
		}
	}
	if got, cut := Slug(strings.Repeat("/a", 150)); len(got) != 200 || !cut {
		t.Errorf("a long path: %d, %v", len(got), cut)
	}
}

// Fault: histories of sub-agents count as sessions, the newest is not first, or
// the notes are looked for where the host does not write them.
func TestPlaces(t *testing.T) {
	home := t.TempDir()
	at := tree(t, home, map[string]string{
		".claude/projects/-w-app/old.jsonl":                               "{}",
		".claude/projects/-w-app/new.jsonl":                               "{}",
		".claude/projects/-w-app/agent-1.jsonl":                           "{}",
		".claude/projects/-w-app/new/subagents/a.jsonl":                   "{}",
		".claude/projects/-w-app/memory/MEMORY.md":                        "- x",
		".claude/projects/-w-empty/memory/readme.txt":                     "",
		".claude/projects/-w-other/mid.jsonl":                             "{}",
		".claude/projects/-w-other/dir.jsonl/x":                           "",
		".claude/projects/" + strings.Repeat("-a", 100) + "-1x2y/z.jsonl": "{}",
	})
	now := time.Now()
	for name, age := range map[string]int{"-w-app/old": 3, "-w-other/mid": 2, "-w-app/new": 1, strings.Repeat("-a", 100) + "-1x2y/z": 9} {
		if err := os.Chtimes(at(".claude/projects/"+name+".jsonl"), now, now.Add(-time.Duration(age)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"HOME": home}
	getenv := func(k string) string { return env[k] }
	p, err := Locate(getenv)
	if err != nil || string(p) != at(".claude") || p.Settings() != at(".claude/settings.json") {
		t.Fatalf("%s, %v", p, err)
	}
	names := func(list []Transcript) (s string) {
		for _, tr := range list {
			s += tr.Session + " "
		}
		return s
	}
	if got := names(p.Transcripts()); got != "new mid old z " {
		t.Errorf("histories: %q", got)
	}
	if got := names(p.TranscriptsOf("/w/app")) + names(p.TranscriptsOf("/none")) + names(p.TranscriptsOf(strings.Repeat("/a", 150))); got != "new old z " {
		t.Errorf("histories of directories: %q", got)
	}
	if got := p.NotesFolders(); len(got) != 1 || got[0] != at(".claude/projects/-w-app/memory") {
		t.Errorf("folders of notes: %q", got)
	}
	notes := func(want string, wantOn bool) {
		t.Helper()
		if folder, on, err := p.Notes(getenv, "/w/app"); err != nil || folder != want || on != wantOn {
			t.Errorf("notes in %q, %v, %v; want %q, %v", folder, on, err, want, wantOn)
		}
	}
	notes(at(".claude/projects/-w-app/memory"), true)
	tree(t, home, map[string]string{".claude/settings.json": `{"autoMemoryEnabled": false, "autoMemoryDirectory": "` + filepath.ToSlash(home) + `/n/"}`})
	notes(at("n"), false)
	env["CLAUDE_COWORK_MEMORY_PATH_OVERRIDE"] = at("o")
	notes(at("o"), false)
	env["CLAUDE_CONFIG_DIR"] = at("c") + "/"
	if p, err = Locate(getenv); err != nil || string(p) != at("c") {
		t.Errorf("%s, %v", p, err)
	}
	if len(p.Transcripts())+len(p.NotesFolders()) > 0 {
		t.Error("found what is not there")
	}
	if _, err := Locate(func(string) string { return "" }); err == nil {
		t.Error("located without a home")
	}
}

// Fault: a file that the host loads is injected a second time; one that it does
// not load is never injected.
func TestInstructions(t *testing.T) {
	home := t.TempDir()
	at := tree(t, home, map[string]string{
		".claude/CLAUDE.md":                    "be kind @~/shared.md",
		".claude/rules/go.md":                  "x",
		".claude/rules/web.md":                 "---\ndescription: d\npaths:\n  - \"web/**\"\n---\nx",
		"shared.md":                            "x",
		"w/AGENTS.md":                          "outer",
		"w/app/CLAUDE.md":                      "see @docs/rules.md, and @README. not @missing.md\n`@docs/code.md`\n```\n@docs/fenced.md\n```\nmail a@docs/mail.md @../secret.md @~/shared.md @docs/with\\ space.md",
		"w/app/AGENTS.md":                      "not loaded",
		"w/app/CLAUDE.local.md":                "mine",
		"w/app/.claude/rules/deep/a.md":        "x",
		"w/app/.claude/rules/b.txt":            "x",
		"w/app/docs/rules.md":                  "@one.md",
		"w/app/docs/one.md":                    "@two.md @rules.md",
		"w/app/docs/two.md":                    "@three.md",
		"w/app/docs/three.md":                  "@four.md",
		"w/app/docs/four.md":                   "@five.md",
		"w/app/docs/five.md":                   "too far",
		"w/app/docs/with space.md":             "x",
		"w/app/docs/code.md":                   "x",
		"w/app/docs/fenced.md":                 "x",
		"w/app/docs/mail.md":                   "x",
		"w/app/README":                         "x",
		"w/secret.md":                          "x",
		"w/app/sub/.claude/CLAUDE.md":          "inner",
		"w/app/sub/deeper/CLAUDE.md":           "later",
		"w/plain/AGENTS.md":                    "x\ny\nz",
		"w/plain/notes.md":                     "x",
		".claude/projects/-w/memory/MEMORY.md": strings.Repeat("- line\n", 250),
		"copy/memory/MEMORY.md":                "- line\n",
	})
	p := Places(at(".claude"))
	var got []string
	for _, in := range p.Instructions(at("w/app/sub")) {
		rel, err := filepath.Rel(home, in.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	want := []string{
		".claude/CLAUDE.md", "shared.md", ".claude/rules/go.md", "w/AGENTS.md", "w/app/CLAUDE.md", "w/app/docs/rules.md", "w/app/docs/one.md", "w/app/docs/two.md", "w/app/docs/three.md", "w/app/docs/four.md",
		"w/app/README", "w/app/docs/with space.md", "w/app/.claude/rules/deep/a.md", "w/app/CLAUDE.local.md", "w/app/sub/.claude/CLAUDE.md",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("loaded\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for name, want := range map[string]int{
		"w/app/CLAUDE.md": 6, "w/app/AGENTS.md": 0, "w/plain/AGENTS.md": 3, "w/plain/notes.md": 0, "w/app/docs/one.md": 1, "w/app/docs/code.md": 0, "w/app/.claude/rules/deep/a.md": 1, "w/app/sub/.claude/CLAUDE.md": 1,
		".claude/rules/go.md": 1, ".claude/rules/web.md": 0, ".claude/CLAUDE.md": 1, ".claude/projects/-w/memory/MEMORY.md": 200, "copy/memory/MEMORY.md": 0,
	} {
		text, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := p.LoadedLines(at(name), string(text)); got != want {
			t.Errorf("%s: %d lines loaded, want %d", name, got, want)
		}
	}
}

// Fault: the limits are counted in bytes: a Chinese index counts as cut off that
// is loaded whole.
func TestLoadedIndex(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"empty":           {"", 0},
		"no final end":    {"a\nb", 2},
		"250 lines":       {strings.Repeat("a\n", 250), 200},
		"200 lines":       {strings.Repeat("a\n", 200), 200},
		"25,000 units":    {strings.Repeat(strings.Repeat("a", 249)+"\n", 100), 100},
		"one unit more":   {strings.Repeat(strings.Repeat("a", 249)+"\n", 99) + strings.Repeat("b", 251), 99},
		"Chinese":         {strings.Repeat(strings.Repeat("长", 100)+"\n", 199), 199},
		"outside the BMP": {strings.Repeat(strings.Repeat("🚀", 100)+"\n", 199), 124},
	} {
		if got := LoadedIndex(c.text); got != c.want {
			t.Errorf("%s: %d lines, want %d", name, got, c.want)
		}
	}
}
