package verify

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// References are read by hand: no process, and no setting of the repository that
// could start one.

// branchExists looks among the local branches and those of every remote.
func branchExists(_ context.Context, l *look, args []string) Answer {
	name := args[0]
	if why := l.noRefs(); why != "" {
		return unknown(why)
	}
	if l.ref("refs/heads/" + name) {
		return holds("branch " + name + " exists")
	}
	for _, remote := range l.remotes() {
		if l.ref("refs/remotes/"+remote+"/"+name) || strings.HasPrefix(name, remote+"/") && l.ref("refs/remotes/"+name) {
			return holds("branch " + name + " exists at " + remote)
		}
	}
	return fails("branch " + name + " is gone")
}

// tagExists says nothing where there are no tags at all: they were not fetched.
func tagExists(_ context.Context, l *look, args []string) Answer {
	name := args[0]
	if why := l.noRefs(); why != "" {
		return unknown(why)
	}
	if l.ref("refs/tags/" + name) {
		return holds("tag " + name + " exists")
	}
	if !l.anyTag() {
		return unknown("no tags were fetched")
	}
	return fails("tag " + name + " is gone")
}

// noRefs returns why the references cannot be told, or "".
func (l *look) noRefs() string {
	if l.git == nil {
		return "there is no git repository"
	}
	if info, err := l.git.Stat("refs"); err != nil || !info.IsDir() {
		return "the references cannot be read"
	}
	if _, err := l.git.Stat("reftable"); err == nil {
		return "the references are kept in a form that is not read here"
	}
	return ""
}

// ref reports whether a reference exists. Its name was validated.
func (l *look) ref(name string) bool {
	if info, err := l.git.Stat(filepath.FromSlash(name)); err == nil && info.Mode().IsRegular() {
		return true
	}
	for _, p := range l.packedRefs() {
		if p == name {
			return true
		}
	}
	return false
}

// packedRefs returns the names in packed-refs.
func (l *look) packedRefs() []string {
	l.packOnce.Do(func() {
		info, err := l.git.Stat("packed-refs")
		if err != nil || !info.Mode().IsRegular() || info.Size() > 64<<20 {
			return
		}
		f, err := l.git.ReadFile("packed-refs")
		if err != nil {
			return
		}
		for line := range strings.Lines(string(f)) {
			if hash, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok && len(hash) >= 40 && hash[0] != '#' {
				l.packed = append(l.packed, name)
			}
		}
	})
	return l.packed
}

// remotes returns the names of remotes that have references here.
func (l *look) remotes() []string {
	seen := map[string]bool{}
	var out []string
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	if d, err := l.folder("refs/remotes"); err == nil {
		list, _ := d.ReadDir(1000) // what cannot be read is not there
		for _, e := range list {
			add(e.Name())
		}
		d.Close() //nolint:errcheck,gosec // it was only read
	}
	for _, p := range l.packedRefs() {
		if rest, ok := strings.CutPrefix(p, "refs/remotes/"); ok {
			name, _, _ := strings.Cut(rest, "/")
			add(name)
		}
	}
	return out
}

// folder opens a folder of the git directory; opening anything else might wait for ever.
func (l *look) folder(name string) (*os.File, error) {
	info, err := l.git.Stat(name)
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return l.git.Open(name)
}

func (l *look) anyTag() bool {
	for _, p := range l.packedRefs() {
		if strings.HasPrefix(p, "refs/tags/") {
			return true
		}
	}
	any := false
	//nolint:errcheck,gosec // what cannot be read is not there
	fs.WalkDir(l.git.FS(), "refs/tags", func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			any = true
			return fs.SkipAll
		}
		return nil
	})
	return any
}

// commitExists asks git, for commits lie in packs. That a commit is not here proves
// nothing: it may not have been fetched.
func commitExists(ctx context.Context, l *look, args []string) Sign {
	if l.git == nil {
		return noSign("there is no git repository")
	}
	out := l.tools.run(ctx, gitCommit(l.site, args))
	switch {
	case out.missing:
		return noSign("git is not installed")
	case out.err == nil && out.code == 0:
		return seen("commit " + args[0] + " exists")
	}
	return noSign("commit " + args[0] + " is not here; it may not have been fetched")
}

// gitCommit is the call that asks for a commit. Nothing that a repository's config
// names is run: no hooks, monitors, pagers, or transports.
func gitCommit(site Site, args []string) call {
	return call{tool: "git", argv: []string{
		"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat", "-c", "protocol.allow=never",
		"--git-dir=" + site.GitDir, "cat-file", "-e", "--end-of-options", args[0] + "^{commit}",
	}, env: []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=",
	}}
}
