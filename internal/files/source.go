// Package files reads memories that stand in files: folders of notes that
// assistants keep, files of standing instructions, and our own export. It reads
// paths that it is given and nothing else, knows no store, and says of everything
// it could not read where and why.
package files

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Read reads whatever stands at path, by its name and kind: an export (.jsonl,
// .ndjson, .json), an instruction file, a MEMORY.md with its folder, a note, or a
// directory: one that holds instruction files as a project has them, or else a
// folder of notes.
func Read(path string, o Options) (Reading, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Reading{}, fmt.Errorf("cannot read %s: %w; check the path", path, bare(err))
	}
	if info.IsDir() {
		return readDirectory(path, o)
	}
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".jsonl" || ext == ".ndjson" || ext == ".json":
		return readExportFile(path, o)
	case IsInstructions(path):
		r, err := ReadInstructions(path, o)
		if err == nil && len(r.Memories) == 0 && len(r.Problems) == 0 {
			err = fmt.Errorf("cannot read %s: it holds no statement, only headings; write some", path)
		}
		return r, err
	case filepath.Base(path) == indexFile:
		return ReadFolder(filepath.Dir(path), o)
	case ext == ".md" || ext == ".mdc" || ext == ".markdown" || ext == ".txt":
		m, err := ReadMarkdown(path, o)
		if err != nil {
			return Reading{}, err
		}
		var r Reading
		r.Memories = append(r.Memories, m)
		return r, nil
	}
	// An export may have any ending; its first character tells.
	if r, err := readExportFile(path, o); err == nil {
		return r, nil
	}
	return Reading{}, fmt.Errorf("cannot read %s: neither a note, an instruction file nor an export; name a .md, .json or .jsonl file or a folder", path)
}

func readExportFile(path string, o Options) (Reading, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return Reading{}, fmt.Errorf("cannot read %s: it is not a regular file; name a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Reading{}, fmt.Errorf("cannot read %s: %w; check its permissions", path, bare(err))
	}
	defer f.Close() //nolint:errcheck // it was only read
	return ReadExport(f, path, o)
}

func readDirectory(dir string, o Options) (Reading, error) {
	if _, err := os.Stat(filepath.Join(dir, indexFile)); err == nil {
		return ReadFolder(dir, o)
	}
	found := FindInstructions(dir)
	if len(found) == 0 {
		return ReadFolder(dir, o)
	}
	if o.Root == "" {
		o.Root = dir
	}
	var r Reading
	var last error
	for _, path := range found {
		one, err := ReadInstructions(path, o)
		if err != nil {
			last = err
			r.Problems = append(r.Problems, problem(path, err))
			continue
		}
		r.Add(one)
	}
	if len(r.Memories) == 0 && last != nil {
		return r, last
	}
	return r, nil
}

// FindInstructions lists the instruction files of the project at root.
func FindInstructions(root string) []string {
	var out []string
	for _, pattern := range InstructionFiles() {
		// A root with brackets or stars in its name is no pattern.
		dir, base := filepath.Split(filepath.Join(root, filepath.FromSlash(pattern)))
		entries, err := os.ReadDir(filepath.Clean(dir))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if ok, _ := filepath.Match(base, e.Name()); ok && !e.IsDir() {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
