package main

import (
	"context"
	"runtime"
	"runtime/debug"
	"strings"
)

// Set by the build with -ldflags "-X main.version=…"; nothing else changes them.
var version, commit, date string

// versionCmd prints the version.
type versionCmd struct{}

// versions is what version found.
type versions struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"`
	Go      string `json:"go"`
	System  string `json:"system"`
}

func (versionCmd) needsNoHome() {}

func (versionCmd) run(context.Context, *app) (summary, error) { return buildVersion(), nil }

// buildVersion reads what the linker and the go command know of this build.
func buildVersion() *versions {
	v := &versions{Version: version, Commit: commit, Date: date, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && len(s.Value) >= 12 && v.Commit == "":
			v.Commit = s.Value[:12]
		case s.Key == "vcs.time" && v.Date == "":
			v.Date = s.Value
		}
	}
	if v.Version == "" {
		v.Version = strings.TrimPrefix(info.Main.Version, "v") // as releases write it
	}
	if v.Version == "" || v.Version == "(devel)" {
		v.Version = "development"
	}
	return v
}

func (v *versions) text(p *page) {
	p.printf("stillso %s", v.Version)
	if v.Commit != "" {
		p.printf(" (%s)", oneLine(v.Commit+" "+v.Date))
	}
	p.printf(" %s %s\n", v.Go, v.System)
}
