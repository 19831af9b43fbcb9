package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// archiveName is the file name of the archive of one target.
func archiveName(s stamp, t target) string {
	ext := ".tar.gz"
	if t.os == "windows" {
		ext = ".zip"
	}
	return folder(s, t) + ext
}

func folder(s stamp, t target) string {
	return fmt.Sprintf("%s_%s_%s_%s", product.name, s.version, t.os, t.arch)
}

// release fills out.
func release(ctx context.Context, out, url string) error {
	s, err := readStamp(ctx)
	if err != nil {
		return err
	}
	src, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(src) //nolint:errcheck // a folder of temporary files
	if err := checkout(ctx, src); err != nil {
		return err
	}
	if err := empty(out); err != nil {
		return err
	}
	texts, err := generatedTexts(ctx, src, s)
	if err != nil {
		return err
	}
	for _, t := range product.targets {
		if err := releaseTarget(ctx, out, src, s, t, texts); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
		fmt.Println(folder(s, t))
	}
	sums, names, err := checksums(out)
	if err != nil {
		return err
	}
	brew := formula(s, url, sums)
	if err := write(out, "stillso.rb", []byte(brew)); err != nil {
		return err
	}
	digest := sha256.Sum256([]byte(brew))
	sums["stillso.rb"] = hex.EncodeToString(digest[:])
	var lines strings.Builder
	for _, n := range append(names, "stillso.rb") {
		fmt.Fprintf(&lines, "%s  %s\n", sums[n], n)
	}
	return write(out, "SHA256SUMS", []byte(lines.String()))
}

// empty makes dir and takes out what an earlier release left there, nothing else.
func empty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { // #nosec G301 -- made to be passed on
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() != "SHA256SUMS" && e.Name() != "stillso.rb" && !strings.HasPrefix(e.Name(), product.name+"_") {
			return fmt.Errorf("%s holds %s, which no release made: name an empty folder with -out", dir, e.Name())
		}
	}
	for _, e := range entries {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// generatedTexts are the files of an archive besides the programs: those that
// stand in the tree, and those that stillso prints itself.
func generatedTexts(ctx context.Context, src string, s stamp) ([]file, error) {
	here := target{runtime.GOOS, runtime.GOARCH}
	program, err := build(ctx, src, s, here, product.name)
	if err != nil {
		return nil, err
	}
	exe := filepath.Join(src, here.exe("stillso-here"))
	if err := os.WriteFile(exe, program, 0o700); err != nil { // #nosec G306 -- a program
		return nil, err
	}
	var files []file
	for _, name := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(filepath.Join(src, name)) // #nosec G304 -- of the commit
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, 0o644, text})
	}
	for _, g := range [][]string{
		{"man/stillso.1", "man"},
		{"completions/stillso.bash", "completion", "bash"},
		{"completions/_stillso", "completion", "zsh"},
		{"completions/stillso.fish", "completion", "fish"},
	} {
		text, err := command(ctx, src, nil, exe, g[1:]...)
		if err != nil {
			return nil, err
		}
		files = append(files, file{g[0], 0o644, text})
	}
	return append(files, file{"man/stillso-hook.1", 0o644, []byte(".so man1/stillso.1\n")}), nil
}

// releaseTarget writes what belongs to one system: archive, bill of materials
// and, for Linux, the packages.
func releaseTarget(ctx context.Context, out, src string, s stamp, t target, texts []file) error {
	var programs []file
	for _, b := range product.binaries {
		data, err := build(ctx, src, s, t, b)
		if err != nil {
			return err
		}
		programs = append(programs, file{t.exe(b), 0o755, data})
	}
	modules, _, err := linked(programs)
	if err != nil {
		return err
	}
	licences, err := notices(ctx, src, modules)
	if err != nil {
		return err
	}
	files := append(append(programs[:len(programs):len(programs)], texts...), file{"NOTICES", 0o644, licences})
	parts, err := sbom(s, programs)
	if err != nil {
		return err
	}
	if err := write(out, folder(s, t)+".cdx.json", parts); err != nil {
		return err
	}
	pack := tarGz
	if t.os == "windows" {
		pack = zipped
	}
	archive, err := pack(folder(s, t), files, s.time)
	if err != nil {
		return err
	}
	if err := write(out, archiveName(s, t), archive); err != nil || t.os != "linux" {
		return err
	}
	return linuxPackages(ctx, out, s, t, files)
}

// checksums returns the SHA-256 of every file in dir, and the names sorted.
func checksums(dir string) (map[string]string, []string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	sums, names := map[string]string{}, []string(nil)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name())) // #nosec G304 -- just written
		if err != nil {
			return nil, nil, err
		}
		sum := sha256.Sum256(data)
		sums[e.Name()] = hex.EncodeToString(sum[:])
		names = append(names, e.Name())
	}
	return sums, names, nil
}

func write(dir, name string, data []byte) error {
	return os.WriteFile(filepath.Join(dir, name), data, 0o644) // #nosec G306 -- made to be passed on
}
