package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// never are packages that could make the hook wait for something, or run something.
// What is not linked in cannot run.
var never = []string{
	"net", "os/exec", "os/signal", "os/user", "database/sql", "regexp", "plugin", "log", "testing", "html/template",
	"text/template", "encoding/gob", "encoding/xml", "compress/gzip", "archive/zip", "go/ast",
}

// beside are the only packages from outside the standard library and this module.
var beside = []string{"golang.org/x/text/transform", "golang.org/x/text/unicode/norm"}

// rooms are those of the prompt path.
var rooms = []string{
	"stillso", "stillso/cmd/stillso-hook", "stillso/internal/background", "stillso/internal/digest", "stillso/internal/home", "stillso/internal/host",
	"stillso/internal/host/claudecode", "stillso/internal/host/codex", "stillso/internal/host/copilot", "stillso/internal/host/cursor",
	"stillso/internal/host/gemini", "stillso/internal/host/opencode", "stillso/internal/host/qwen", "stillso/internal/inject", "stillso/internal/namespace", "stillso/internal/recall",
	"stillso/internal/snapshot", "stillso/internal/terms",
}

// The law of the prompt path: no model, no network, no database, no other process, on
// any system. The list is read fresh for each.
func TestImports(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		c := exec.Command("go", "list", "-deps", "-f", "{{.ImportPath}} {{.Standard}}", ".")
		c.Env = append(c.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		found := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(found) < 20 {
			t.Fatalf("%s: only %d packages: the list was not read", system, len(found))
		}
		for _, line := range found {
			path, standard, _ := strings.Cut(line, " ")
			switch {
			case slices.Contains(never, path) || strings.HasPrefix(path, "net/"):
				t.Errorf("%s: the hook links %s", system, path)
			case standard == "true" || slices.Contains(beside, path) || slices.Contains(rooms, path):
			default:
				t.Errorf("%s: the hook links %s, which is not on the list", system, path)
			}
		}
	}
}
