package main

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// sampleFiles is a small invented project: its instructions, the notes that an
// assistant wrote, and two sessions in English and Chinese.
//
//go:embed sample
var sampleFiles embed.FS

// sampleDir is where the sessions of the sample say that they ran.
const sampleDir = "/home/mara/harbour"

// unpackSample writes the sample below temp as if it were this machine's: a
// project, and what Claude Code keeps of it.
func unpackSample(temp string) (dir string, m machine, err error) {
	dir = filepath.Join(temp, "harbour")
	claude := filepath.Join(temp, "claude")
	project := filepath.Join(claude, "projects", "-home-mara-harbour")
	to := map[string]string{"project": dir, "memory": filepath.Join(project, "memory"), "history": project}
	err = fs.WalkDir(sampleFiles, "sample", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := sampleFiles.ReadFile(path)
		if err != nil {
			return err
		}
		data = bytes.ReplaceAll(data, []byte(sampleDir), []byte(filepath.ToSlash(dir)))
		kind := filepath.Base(filepath.Dir(filepath.FromSlash(path)))
		target := filepath.Join(to[kind], filepath.Base(filepath.FromSlash(path)))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
	if err != nil {
		return "", machine{}, fmt.Errorf("cannot unpack the sample: %w; check TMPDIR and the free space", err)
	}
	return dir, look(claude), nil
}
