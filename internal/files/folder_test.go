package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Index lines were imported as memories beside the notes they point to: every
// hit came twice.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"MEMORY.md": "# Memory\n\n- [Deploy](deploy.md) — Tuesdays only, before four\n- [Tabs](tabs.md) — use tabs\n" +
			"- [[quay]]: where images go\n- [Gone](gone.md) — the proxy is 10.0.0.1\n- Always run make lint.\n",
		"deploy.md": "---\nname: deploy-window\ndescription: Deploys have a window.\ntype: project\n---\nTuesday to Thursday.\n",
		"tabs.md":   "Use tabs.\n",
		"quay.md":   "---\nname: quay\n---\nThe registry is quay.example.test.\n",
		"bad.md":    "---\nnever closed",
		"x.txt":     "not a note",
	})
	r, err := ReadFolder(dir, options())
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, m := range r.Memories {
		got[m.Name] = m.Content + " | " + strings.Join(m.Aliases, ";")
		if err := m.Validate(); err != nil {
			t.Error(err)
		}
	}
	want := map[string]string{
		"deploy-window": "Deploys have a window. | Tuesdays only, before four",
		"tabs":          "Use tabs. | ",
		"quay":          "The registry is quay.example.test. | where images go",
		"Gone":          "the proxy is 10.0.0.1 | ",
		"Memory":        "Always run make lint. | ",
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s: %q, want %q", name, got[name], w)
		}
	}
	if len(r.Memories) != len(want) || len(r.Problems) != 1 || !strings.HasSuffix(r.Problems[0].Path, "bad.md") {
		t.Errorf("%d memories, problems %v", len(r.Memories), r.Problems)
	}
	again, err := Read(filepath.Join(dir, "MEMORY.md"), options())
	if err != nil || len(again.Memories) != len(r.Memories) {
		t.Errorf("naming the index reads its folder: %v, %d", err, len(again.Memories))
	}
}

func TestFolderDoubleIDs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "---\nid: X\n---\nOne.\n", "b.md": "---\nid: X\n---\nTwo.\n"})
	r, err := ReadFolder(dir, options())
	if err != nil || len(r.Memories) != 1 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Cause, "a.md") {
		t.Errorf("%v %v %v", err, r.Memories, r.Problems)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"repo/AGENTS.md":                       "- one rule here\n",
		"repo/README.md":                       "No memory.\n",
		"repo/.cursor/rules/go.mdc":            "---\ndescription: Go files\nglobs: *.go\n---\nWrap errors.\n",
		"repo/.github/copilot-instructions.md": "Say less.\n",
		"notes/a.md":                           "A note.\n",
		"empty/x.txt":                          "",
		"lines.out":                            "{\"content\":\"from a line\"}\n",
		"odd.bin":                              "\x7fELF",
		"heads.d/CLAUDE.md":                    "# only\n## headings\n",
		"blank/AGENTS.md":                      "",
	})
	for path, want := range map[string]any{
		"repo": 3, "notes": 1, "notes/a.md": 1, "lines.out": 1, "repo/README.md": 1,
		"empty": "holds no notes", "odd.bin": "neither a note", "missing": "check the path",
		"heads.d/CLAUDE.md": "only headings", "blank": "it is empty",
	} {
		r, err := Read(filepath.Join(dir, path), options())
		switch w := want.(type) {
		case int:
			if err != nil || len(r.Memories) != w {
				t.Errorf("%s: %v, %d memories, want %d", path, err, len(r.Memories), w)
			}
		case string:
			if err == nil || !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %v, want %q", path, err, w)
			}
		}
	}
}
