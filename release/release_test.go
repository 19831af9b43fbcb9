package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	testStamp = stamp{version: "1.2.3", commit: "0123456789ab", time: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC)}
	testFiles = []file{{"stillso", 0o755, []byte("program")}, {"man/stillso.1", 0o644, []byte("page")}}
)

// Guards against archives that differ from one run to the next, that lose the
// bit that lets a program run, or that carry the time or user of this machine.
func TestArchives(t *testing.T) {
	for name, pack := range map[string]func(string, []file, time.Time) ([]byte, error){"tar.gz": tarGz, "zip": zipped} {
		one, err := pack("top", testFiles, testStamp.time)
		if err != nil {
			t.Fatal(name, err)
		}
		two, err := pack("top", testFiles, testStamp.time.In(time.FixedZone("elsewhere", 3600)).UTC())
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s: two runs differ (%v)", name, err)
		}
		got := unpack(t, name, one)
		for i, f := range testFiles {
			if g := got[i]; g.name != "top/"+f.name || g.mode != f.mode || !bytes.Equal(g.data, f.data) {
				t.Errorf("%s: packed %+v, found %+v", name, f, g)
			}
		}
	}
}

func unpack(t *testing.T, kind string, data []byte) (files []file) {
	t.Helper()
	at := testStamp.time
	if kind == "zip" {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r)
			if err != nil || !f.Modified.Equal(at) {
				t.Fatal(err, f.Modified)
			}
			files = append(files, file{f.Name, int64(f.Mode().Perm()), text})
		}
		return files
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil || h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(at) {
			t.Fatal(err, h)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{h.Name, h.Mode, text})
	}
}

// Guards against a bill of materials that is no CycloneDX, or that leaves out
// what the binary links. The binary is this test itself.
func TestBill(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	text, err := sbom(testStamp, []file{{"stillso", 0o755, data}})
	if err != nil {
		t.Fatal(err)
	}
	var b bill
	if err := json.Unmarshal(text, &b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Metadata.Component.Version != "1.2.3" || b.Metadata.Time != "2026-01-02T03:04:06Z" || len(b.Serial) != len("urn:uuid:")+36 {
		t.Errorf("the head is wrong: %+v", b)
	}
	last := b.Components[len(b.Components)-1]
	if len(b.Components[0].Hashes) != 1 || !strings.HasPrefix(last.PURL, "pkg:golang/std@1.") || len(b.Dependencies[0].DependsOn) != len(b.Components)-1 {
		t.Errorf("components: %+v", b.Components)
	}
	if _, err := sbom(testStamp, testFiles); err == nil {
		t.Error("a file that is no Go program got a bill of materials")
	}
}

// Guards against a formula with a wrong address or without its checksum.
func TestFormula(t *testing.T) {
	sums := map[string]string{}
	for _, x := range product.targets {
		sums[archiveName(testStamp, x)] = strings.Repeat(string(x.os[0]), 32) + strings.Repeat(string(x.arch[1]), 32)
	}
	got := formula(testStamp, "https://host.example/dl/", sums)
	for _, x := range product.targets {
		want := "url \"https://host.example/dl/v1.2.3/" + archiveName(testStamp, x) + "\"\n      sha256 \"" + sums[archiveName(testStamp, x)] + "\""
		if strings.Contains(got, want) != (x.os != "windows") {
			t.Errorf("%v: %s", x, got)
		}
	}
}

// Guards against a package that puts a program where no shell looks, or a text
// among the programs.
func TestInstalledAs(t *testing.T) {
	for name, want := range map[string]string{
		"stillso": "/usr/bin/stillso", "stillso-hook": "/usr/bin/stillso-hook",
		"LICENSE": "/usr/share/doc/stillso/copyright", "NOTICES": "/usr/share/doc/stillso/NOTICES", "README.md": "/usr/share/doc/stillso/README.md",
		"man/stillso.1": "/usr/share/man/man1/stillso.1", "completions/stillso.bash": "/usr/share/bash-completion/completions/stillso",
		"completions/_stillso": "/usr/share/zsh/vendor-completions/_stillso", "completions/stillso.fish": "/usr/share/fish/vendor_completions.d/stillso.fish",
	} {
		if got := installedAs(name, "deb"); got != want {
			t.Errorf("%s is installed as %s, not %s", name, got, want)
		}
	}
	if got := installedAs("completions/_stillso", "rpm"); got != "/usr/share/zsh/site-functions/_stillso" {
		t.Errorf("rpm: _stillso is installed as %s", got)
	}
}

// Guards against a release into a folder that holds something else.
func TestEmptyTakesOnlyOurs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dist")
	if err := empty(dir); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"SHA256SUMS", "stillso_1_linux_amd64.deb"} {
		if err := write(dir, n, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := empty(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("an earlier release stays: %v %v", left, err)
	}
	if err := write(dir, "letter.txt", nil); err != nil {
		t.Fatal(err)
	}
	if err := empty(dir); err == nil || !strings.Contains(err.Error(), "letter.txt") {
		t.Errorf("a folder with a letter was emptied: %v", err)
	}
}

// Guards against bytes that depend on the folder, the cache or the settings of
// the machine. It compiles everything twice: minutes, so only on request.
func TestBuildsAreReproducible(t *testing.T) {
	if os.Getenv("STILLSO_RELEASE") == "" {
		t.Skip("compiles everything twice; STILLSO_RELEASE=1 runs it")
	}
	t.Chdir("..")
	s, err := readStamp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trees := []string{t.TempDir(), filepath.Join(t.TempDir(), "a longer path")}
	for _, dir := range trees {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := checkout(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "-buildvcs=true -tags=other")
	for _, x := range []target{{"linux", "amd64"}, {"windows", "arm64"}} {
		cache := t.TempDir()
		for _, b := range product.binaries {
			one, err := build(t.Context(), trees[0], s, x, b)
			if err != nil {
				t.Fatal(err)
			}
			two, err := build(t.Context(), trees[1], s, x, b, "GOCACHE="+cache)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(one, two) {
				t.Errorf("%v: %s differs in another folder with an empty cache", x, b)
			}
		}
	}
}
