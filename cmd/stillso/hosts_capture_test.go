//go:build hosts && unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// recordedModel answers as a model did, by the purpose of the call.
const recordedModel = `#!/bin/sh
cat >/dev/null
case "$STILLSO_PURPOSE" in
capture) echo '{"candidates":[{"name":"sql-two-spaces","type":"constraint","content":"Indent SQL files with two spaces, never tabs.","why":"the old linter breaks on tabs","namespace":"project","related_files":[],"priority":3,"evidence":[{"turn":1,"quote":"indent our SQL files with two spaces, never tabs"}],"confirmed":true}]}' ;;
judge) echo '{"verdicts":[{"candidate":1,"step":3,"reason":"A standing rule in the developer'"'"'s own words.","score":5,"relation":"new","of":null}]}' ;;
*) echo '{"aliases":[]}' ;;
esac
`

// Fault: each step works alone, but what a person says in one session never
// reaches the next: the session's end starts no sweep, the sweep asks no model,
// or what it saved is not in the index that the next prompt reads.
func TestRealCapture(t *testing.T) {
	if os.Getenv("HOSTBIN") == "" {
		t.Skip("HOSTBIN is not set: see docs/hosts.md")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "stillso/cmd/stillso", "stillso/cmd/stillso-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h := realHosts()[0]
	quiet := h.env
	h.env = func(url string) []string { return append(quiet(url), "STILLSO_LLM=command") }
	l := newLab(t, h, bin)
	model := filepath.Join(bin, "model")
	if err := os.WriteFile(model, []byte(recordedModel), 0o755); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(l.user, ".local", "share", "stillso")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	conf := "[llm]\nprovider = \"command\"\ncommand = [\"" + model + "\"]\n"
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	l.run(2*time.Minute, "stillso", "install", "claude-code", "--yes")

	l.run(3*time.Minute, "claude", h.ask("look at the report query; by the way, in this project we indent our SQL files with two spaces, never tabs, the old linter breaks on tabs")...)
	const want = "Indent SQL files with two spaces, never tabs."
	saved := ""
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) && !strings.Contains(saved, want); time.Sleep(200 * time.Millisecond) {
		saved = l.run(time.Minute, "stillso", "list", "--all")
	}
	if !strings.Contains(saved, want) {
		t.Fatalf("the detached sweep saved nothing: %s", saved)
	}

	l.model.take()
	l.run(3*time.Minute, "claude", h.ask("write a new sql query for the invoices report, tabs or spaces?")...)
	if counts := blocks(l.model.take(), want); len(counts) == 0 || hasOther(counts, 1) {
		t.Errorf("the memory stands in the requests of the next session so often: %v", counts)
	}
}
