package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stillso/internal/host/claudecode"
)

// tree lists every file below dir with its content.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// On a machine with nothing, try must still show the whole loop, and leave nothing.
func TestTrySample(t *testing.T) {
	d := newDesk(t)
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	t.Setenv("PATH", "") // no hook: the scripts run the real one
	var got tried
	d.json(&got, "try", d.proj)
	if !got.Sample || got.Sessions != 2 || got.Notes != 12 || len(got.Files) != 1 {
		t.Errorf("sample %v, %d sessions, %d notes, %d files", got.Sample, got.Sessions, got.Notes, len(got.Files))
	}
	if len(got.Answers) < 5 {
		t.Fatalf("%d answers: %+v", len(got.Answers), got.Answers)
	}
	for i, a := range got.Answers {
		last := i == len(got.Answers)-1
		if last != (a.Block == "") || last != (a.Prompt == chitchat) {
			t.Errorf("answer %d to %q: block %q", i, a.Prompt, a.Block)
		}
	}
	if left := tree(t, temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(d.env["STILLSO_HOME"]); err == nil {
		t.Error("try made a home")
	}
	out := d.must("try", d.proj)
	for _, want := range []string{"What is here", "What it would remember", "<long_term_memories>", "silence:", "stillso install"} {
		if !strings.Contains(out, want) {
			t.Errorf("the text lacks %q:\n%s", want, out)
		}
	}
}

// On a real machine try reads histories, notes and instructions, changes none of
// them, and says which lines of an index the host cuts off.
func TestTryReadsThisMachine(t *testing.T) {
	d := newDesk(t)
	project := filepath.Join(d.env["HOME"], ".claude", "projects", "-p")
	memory := filepath.Join(project, "memory")
	if err := os.MkdirAll(memory, 0o700); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var index strings.Builder
	for range 230 {
		index.WriteString("- [Kiln](kiln.md) — the kiln\n")
	}
	write(filepath.Join(memory, "MEMORY.md"), index.String())
	write(filepath.Join(memory, "kiln.md"), "---\nname: kiln-curve\ndescription: The kiln curve lives in firing/curve.toml\nmetadata:\n  type: reference\n---\nThe kiln curve lives in firing/curve.toml.\n")
	row := `{"type":"user","message":{"role":"user","content":"where does the kiln curve live"},"uuid":"u1","sessionId":"s1","cwd":"` +
		filepath.ToSlash(d.proj) + `","timestamp":"2026-11-29T10:00:00.000Z","version":"2.1.332"}` + "\n"
	write(filepath.Join(project, "s1.jsonl"), row+"broken\n")
	write(filepath.Join(project, "empty.jsonl"), "")
	write(filepath.Join(project, "binary.jsonl"), "\x00\x01\x02")
	t.Setenv("PATH", "")
	before := tree(t, d.env["HOME"])
	var got tried
	d.json(&got, "try", d.proj)
	if got.Sample || got.Prompts != 1 || got.Notes != 1 {
		t.Errorf("sample %v, %d prompts, %d notes", got.Sample, got.Prompts, got.Notes)
	}
	if len(got.Index) != 1 || got.Index[0].Lines != 230 || got.Index[0].Loaded != 200 {
		t.Errorf("index %+v", got.Index)
	}
	if len(got.Answers) != 2 || !strings.Contains(got.Answers[0].Block, "firing/curve.toml") {
		t.Errorf("answers %+v", got.Answers)
	}
	after := tree(t, d.env["HOME"])
	for path, text := range before {
		if after[path] != text {
			t.Errorf("%s was changed", path)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}

// What the host loads itself must be known exactly: a line too many is a memory
// that nobody ever sees again, a line too few is said twice.
func TestLoadedLines(t *testing.T) {
	d := newDesk(t)
	a := &app{std: streams{env: func(k string) string { return d.env[k] }}}
	if err := a.openHome(); err != nil {
		t.Fatal(err)
	}
	claude := filepath.Join(d.env["HOME"], ".claude")
	mk := func(path string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("- x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(d.proj, ".git", dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.proj, ".git", "HEAD"), []byte("ref: refs/heads/main\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	agents := mk(filepath.Join(d.proj, "AGENTS.md"))
	hosts := func(path string) (list []string) {
		for _, l := range a.loadedLines(path, "- x\n") {
			list = append(list, l.Host)
		}
		return list
	}
	if got := strings.Join(hosts(agents), " "); got != "claude-code codex copilot qwen cursor opencode" {
		t.Errorf("AGENTS.md alone is loaded by %s", got)
	}
	if got := strings.Join(hosts(mk(filepath.Join(d.proj, "GEMINI.md"))), " "); got != "gemini" {
		t.Errorf("GEMINI.md is loaded by %s", got)
	}
	if got := hosts(mk(filepath.Join(d.proj, "web", "AGENTS.md"))); len(got) != 0 {
		t.Errorf("an AGENTS.md deeper down is loaded by %s", got)
	}
	for _, tt := range []struct {
		path, text string
		last       int // 0: not loaded
	}{
		{mk(filepath.Join(d.proj, "CLAUDE.md")), "- x\n", 1 << 40},
		{agents, "- x\n", 0}, // there is a CLAUDE.md now
		{mk(filepath.Join(d.proj, "web", "CLAUDE.md")), "- x\n", 0},
		{mk(filepath.Join(d.proj, ".claude", "rules", "go.md")), "- x\n", 1 << 40},
		{mk(filepath.Join(d.proj, ".claude", "rules", "web.md")), "---\npaths: web/**\n---\n- x\n", 0},
		{mk(filepath.Join(claude, "CLAUDE.md")), "- x\n", 1 << 40},
		{mk(filepath.Join(claude, "projects", "-p", "memory", "MEMORY.md")), strings.Repeat("- x\n", 300), 200},
		{mk(filepath.Join(d.proj, "docs", "MEMORY.md")), strings.Repeat("- x\n", 300), 0},
		{mk(filepath.Join(d.proj, "GEMINI.md")), "- x\n", 0},
	} {
		got := a.loadedLines(tt.path, tt.text)
		last := 0
		if len(got) > 0 && got[0].Host == claudecode.Name && got[0].First == 1 {
			last = min(got[0].Last, 1<<40)
		}
		if last != tt.last {
			t.Errorf("%s: loaded to %d, want %d", tt.path, last, tt.last)
		}
	}
}

// A project's own files may claim what is not so any more; the try must show it.
func TestTryVerifies(t *testing.T) {
	d := newDesk(t)
	d.write(filepath.Join(d.proj, "Makefile"), "lint:\n\techo\n")
	d.write(filepath.Join(d.proj, "AGENTS.md"), "# Rules\n\n- Run `make lint` before you commit.\n- Tokens are checked in internal/auth/token.go, and nowhere else.\n")
	out := d.must("try", d.proj)
	if !strings.Contains(out, "2 claims checked on this machine: 1 hold, 1 fail") || !strings.Contains(out, "unverified: path internal/auth/token.go is gone") {
		t.Errorf("%s", out)
	}
}
