package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// content is a file of a package, as nfpm's configuration has it.
type content struct {
	Source string         `json:"src"`
	Target string         `json:"dst"`
	Info   map[string]any `json:"file_info"`
}

// installedAs says where a file of the archive stands after kind, deb or rpm.
func installedAs(name, kind string) string {
	base := filepath.Base(name)
	switch {
	case strings.HasSuffix(name, ".1"):
		return "/usr/share/man/man1/" + base
	case strings.HasSuffix(name, ".bash"):
		return "/usr/share/bash-completion/completions/stillso"
	case base == "_stillso" && kind == "rpm":
		return "/usr/share/zsh/site-functions/_stillso"
	case base == "_stillso":
		return "/usr/share/zsh/vendor-completions/_stillso"
	case strings.HasSuffix(name, ".fish"):
		return "/usr/share/fish/vendor_completions.d/" + base
	case base == "LICENSE":
		return "/usr/share/doc/stillso/copyright"
	case !strings.Contains(name, ".") && !strings.Contains(name, "/") && name != "NOTICES":
		return "/usr/bin/" + base
	}
	return "/usr/share/doc/stillso/" + base
}

// linuxPackages writes a deb and an rpm of the files into out.
func linuxPackages(ctx context.Context, out string, s stamp, t target, files []file) error {
	dir, err := os.MkdirTemp("", "release-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a folder of temporary files
	for i, f := range files {
		if err := os.WriteFile(source(dir, i), f.data, 0o600); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, "nfpm.yaml") // JSON is YAML
	env := []string{"GOFLAGS=-mod=readonly", "SOURCE_DATE_EPOCH=" + strconv.FormatInt(s.time.Unix(), 10)}
	for _, kind := range []string{"deb", "rpm"} {
		config, err := json.Marshal(packageConfig(s, t, kind, dir, files))
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, config, 0o600); err != nil {
			return err
		}
		target := filepath.Join(out, folder(s, t)+"."+kind)
		if _, err := command(ctx, ".", env, "go", "run", product.nfpm, "package", "--config", path, "--packager", kind, "--target", target); err != nil {
			return err
		}
	}
	return nil
}

func source(dir string, i int) string { return filepath.Join(dir, strconv.Itoa(i)) }

// packageConfig is nfpm's configuration of one package.
func packageConfig(s stamp, t target, kind, dir string, files []file) map[string]any {
	at := s.time.Format(time.RFC3339)
	var contents []content
	for i, f := range files {
		contents = append(contents, content{source(dir, i), installedAs(f.name, kind), map[string]any{"mode": f.mode, "owner": "root", "group": "root", "mtime": at}})
	}
	return map[string]any{
		"name": product.name, "arch": t.arch, "platform": t.os, "version": s.version, "version_schema": "semver", "release": "1",
		"section": "utils", "priority": "optional", "maintainer": product.maintainer, "description": product.description,
		"homepage": product.homepage, "license": product.licence, "disable_globbing": true, "mtime": at, "contents": contents,
		"rpm": map[string]any{"buildhost": "localhost", "summary": product.summary, "group": "Development/Tools"},
	}
}

// formula returns the Homebrew formula. sums are the SHA-256 of the archives by file name.
func formula(s stamp, url string, sums map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "class Stillso < Formula\n  desc %q\n  homepage %q\n  version %q\n  license %q\n", product.summary, product.homepage, s.version, product.licence)
	for _, system := range [][2]string{{"darwin", "on_macos"}, {"linux", "on_linux"}} {
		fmt.Fprintf(&b, "\n  %s do\n", system[1])
		for _, cpu := range [][2]string{{"arm64", "on_arm"}, {"amd64", "on_intel"}} {
			name := archiveName(s, target{system[0], cpu[0]})
			fmt.Fprintf(&b, "    %s do\n      url \"%s/v%s/%s\"\n      sha256 %q\n    end\n", cpu[1], strings.TrimSuffix(url, "/"), s.version, name, sums[name])
		}
		b.WriteString("  end\n")
	}
	b.WriteString(`
  def install
    bin.install "stillso", "stillso-hook"
    man1.install "man/stillso.1", "man/stillso-hook.1"
    bash_completion.install "completions/stillso.bash" => "stillso"
    zsh_completion.install "completions/_stillso"
    fish_completion.install "completions/stillso.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/stillso version")
  end
end
`)
	return b.String()
}
