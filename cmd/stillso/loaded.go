package main

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stillso/internal/files"
	"stillso/internal/host/claudecode"
)

// loadedLines says which lines of a file hosts put in front of the model by
// themselves, so that they are not injected there a second time: the whole of the
// project's and the person's instruction files, and of a MEMORY.md what is within
// the limit of Claude Code. Notes are read by the model when it wants, and an
// instruction file deeper in the project only when a file beside it is read.
// Measured with Claude Code 2.1.332; for the others see docs/hosts.md.
func (a *app) loadedLines(path, text string) []files.Loaded {
	if filepath.Base(path) == "MEMORY.md" {
		if filepath.Base(filepath.Dir(path)) != "memory" || !inside(a.claudeDir(), path) {
			return nil // a copy, or a folder of another tool
		}
		return []files.Loaded{{Host: claudecode.Name, First: 1, Last: files.LoadedIndex(text)}}
	}
	var list []files.Loaded
	if a.claudeLoads(path, text) {
		list = append(list, files.Loaded{Host: claudecode.Name, First: 1, Last: math.MaxInt})
	}
	pl, err := a.place(filepath.Dir(path))
	if err != nil {
		return list
	}
	for _, h := range a.assistants() {
		if h.instructions == nil {
			continue
		}
		if slices.ContainsFunc(h.instructions(pl.Root, pl.Root), func(f string) bool { return f == path || filepath.Base(f) == filepath.Base(path) && sameFile(f, path) }) {
			list = append(list, files.Loaded{Host: h.name, First: 1, Last: math.MaxInt})
		}
	}
	return list
}

// claudeLoads reports whether Claude Code loads an instruction file at the start
// of a session in its project.
func (a *app) claudeLoads(path, text string) bool {
	dir, base := filepath.Dir(path), filepath.Base(path)
	if filepath.Base(dir) == "rules" && filepath.Base(filepath.Dir(dir)) == ".claude" || dir == filepath.Join(a.claudeDir(), "rules") {
		return strings.HasSuffix(base, ".md") && !hasPaths(text) && (dir == filepath.Join(a.claudeDir(), "rules") || a.isRoot(filepath.Dir(filepath.Dir(dir))))
	}
	if path == filepath.Join(a.claudeDir(), "CLAUDE.md") {
		return true
	}
	root := dir
	if filepath.Base(dir) == ".claude" {
		root = filepath.Dir(dir)
	}
	switch base {
	case "CLAUDE.md", "CLAUDE.local.md":
		return a.isRoot(root)
	case "AGENTS.md": // only where there is no CLAUDE.md
		_, err := os.Stat(filepath.Join(dir, "CLAUDE.md"))
		_, err2 := os.Stat(filepath.Join(dir, ".claude", "CLAUDE.md"))
		return err != nil && err2 != nil && a.isRoot(dir)
	}
	return false
}

// isRoot reports whether dir is the root of its project.
func (a *app) isRoot(dir string) bool {
	pl, err := a.place(dir)
	if err != nil {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && (pl.Root == real || pl.Root == dir)
}

// hasPaths reports whether a rule names the files that it is for: then it is not
// loaded at the start.
func hasPaths(text string) bool {
	head, ok := strings.CutPrefix(strings.TrimPrefix(text, "\ufeff"), "---\n")
	if !ok {
		return false
	}
	head, _, _ = strings.Cut(head, "\n---")
	return slices.ContainsFunc(strings.Split(head, "\n"), func(l string) bool {
		return strings.HasPrefix(l, "paths:") || strings.HasPrefix(l, "globs:")
	})
}
