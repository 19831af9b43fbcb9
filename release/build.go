package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// stamp is what a build says of itself; all of it comes from git.
type stamp struct {
	version string // 1.2.3, or 0.0.0-dev.20060102.g<commit> where no tag v* stands at the commit
	commit  string // 12 digits
	time    time.Time
}

// readStamp asks git for the commit that is checked out.
func readStamp(ctx context.Context) (stamp, error) {
	out, err := command(ctx, ".", nil, "git", "log", "-1", "--abbrev=12", "--format=%h %cI")
	if err != nil {
		return stamp{}, err
	}
	commit, date, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	at, err := time.Parse(time.RFC3339, date)
	if err != nil {
		return stamp{}, fmt.Errorf("the date of the commit: %w", err)
	}
	s := stamp{commit: commit, time: at.UTC(), version: "0.0.0-dev." + at.UTC().Format("20060102") + ".g" + commit}
	tags, err := command(ctx, ".", nil, "git", "tag", "--points-at", "HEAD", "--list", "v*", "--sort=-version:refname")
	if tag, _, _ := strings.Cut(string(tags), "\n"); tag != "" {
		s.version = strings.TrimPrefix(tag, "v")
	}
	return s, err
}

// checkout writes the files of the commit to dir, so that nothing that is not
// committed gets into a release.
func checkout(ctx context.Context, dir string) error {
	out, err := command(ctx, ".", nil, "git", "archive", "--format=tar", "HEAD")
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing was written through it that is not closed
	for r := tar.NewReader(bytes.NewReader(out)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := filepath.FromSlash(strings.TrimSuffix(h.Name, "/"))
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(name, 0o755)
		case tar.TypeReg:
			var data []byte
			if data, err = io.ReadAll(r); err == nil {
				err = root.WriteFile(name, data, 0o644)
			}
		}
		if err != nil {
			return err
		}
	}
}

// goEnv is what must be the same in every build, whatever the machine prefers. An
// empty GOFLAGS would let the settings file of the go command speak.
func goEnv(t target) []string {
	return []string{
		"GOOS=" + t.os, "GOARCH=" + t.arch, "CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOEXPERIMENT=", "GOWORK=off", "GOFIPS140=off",
	}
}

// build builds one binary of the tree in src and returns its bytes.
func build(ctx context.Context, src string, s stamp, t target, binary string, env ...string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of temporary files
	exe := filepath.Join(dir, t.exe(binary))
	flags := fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.commit=%s -X main.date=%s", s.version, s.commit, s.time.Format(time.RFC3339))
	_, err = command(ctx, src, append(goEnv(t), env...), "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", flags, "-o", exe, "./cmd/"+binary)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(exe) // #nosec G304 -- just built
}

// command runs a program in dir and returns what it printed.
func command(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...) // #nosec G204 -- fixed programs of the build
	c.Dir = dir
	c.Env = append(os.Environ(), env...)
	var problem bytes.Buffer
	c.Stderr = &problem
	out, err := c.Output()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, problem.Bytes())
	}
	return out, nil
}
