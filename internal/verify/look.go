package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// Site is a directory of this machine in which a project lies.
type Site struct {
	// Root is the absolute directory; nothing outside of it is looked at.
	Root string
	// GitDir is the git directory that all work trees share; it may be empty.
	GitDir string
	// Remote is the normalised remote, such as github.com/owner/name; it may be empty.
	Remote string
}

// look is what the probes of one run share at one site: what was read once is not
// read again for the next claim.
type look struct {
	site  Site
	root  *os.Root // nil where there is no site
	git   *os.Root // nil where there is no git directory
	tools *toolbox
	web   *web

	listOnce sync.Once
	list     listing
	depsOnce sync.Once
	deps     manifests
	packOnce sync.Once
	packed   []string

	marksLock sync.Mutex
	marks     map[string]string
}

func newLook(site Site, t *toolbox, w *web) *look {
	l := &look{site: site, tools: t, web: w}
	if site.Root == "" {
		return l
	}
	if r, err := os.OpenRoot(site.Root); err == nil {
		l.root = r
	}
	if site.GitDir != "" {
		if r, err := os.OpenRoot(site.GitDir); err == nil {
			l.git = r
		}
	}
	return l
}

func (l *look) close() {
	for _, r := range []*os.Root{l.root, l.git} {
		if r != nil {
			r.Close() //nolint:errcheck,gosec // it was only read
		}
	}
}

// The bounds of what is read of a project.
const (
	maxListed = 100_000 // files and folders
	maxRead   = 4 << 20 // bytes of one file
	maxHashed = 1 << 20 // bytes of a file that is known again by its content
)

// listing is what lies in a project, by base name.
type listing struct {
	byBase map[string][]string
	// whole says that nothing was left out.
	whole  bool
	ignore []string
	// modules are the paths of submodules.
	modules []string
	sparse  bool
}

// skipFolder lists folders of other people's code and of products of builds, which no
// memory means by a bare name.
func skipFolder(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules", ".venv", "venv", "__pycache__", ".tox", ".next", ".gradle", ".terraform", ".cache":
		return true
	}
	return false
}

func (l *look) listed(ctx context.Context) *listing {
	l.listOnce.Do(func() {
		l.list = listing{byBase: map[string][]string{}, whole: true}
		n := 0
		//nolint:errcheck,gosec // what cannot be read makes the listing incomplete
		filepath.WalkDir(l.site.Root, func(p string, e fs.DirEntry, err error) error {
			if n++; n > maxListed || ctx.Err() != nil {
				l.list.whole = false
				return filepath.SkipAll
			}
			if err != nil {
				l.list.whole = false
				return nil
			}
			if e.IsDir() && p != l.site.Root && skipFolder(e.Name()) {
				return filepath.SkipDir
			}
			rel, err := filepath.Rel(l.site.Root, p)
			if err == nil && rel != "." {
				l.list.byBase[e.Name()] = append(l.list.byBase[e.Name()], filepath.ToSlash(rel))
			}
			return nil
		})
		l.list.ignore = ignorePatterns(l.read(".gitignore", 1<<16))
		for _, line := range strings.Split(l.read(".gitmodules", 1<<16), "\n") {
			if k, v, ok := strings.Cut(line, "="); ok && strings.TrimSpace(k) == "path" {
				l.list.modules = append(l.list.modules, strings.Trim(strings.TrimSpace(v), "/"))
			}
		}
		if l.git != nil {
			_, err := l.git.Stat("info/sparse-checkout")
			l.list.sparse = err == nil
		}
	})
	return &l.list
}

// ending returns the paths that end in the given one, at a separator.
func (x *listing) ending(p string) []string {
	p = strings.TrimSuffix(p, "/")
	var out []string
	for _, q := range x.byBase[path.Base(p)] {
		if q == p || strings.HasSuffix(q, "/"+p) {
			out = append(out, q)
		}
	}
	return out
}

// ignorePatterns reads the plain patterns of a .gitignore; exceptions are left out,
// for what is ignored wrongly only becomes unknown.
func ignorePatterns(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		out = append(out, strings.Trim(strings.TrimPrefix(line, "**/"), "/"))
	}
	return out
}

// excuse returns why a path may be absent although nothing is wrong, or "".
func (x *listing) excuse(p string) string {
	switch {
	case !x.whole:
		return "the project is too large to be searched whole"
	case x.sparse:
		return "only a part of the repository is checked out"
	}
	p = strings.TrimSuffix(p, "/")
	parts := strings.Split(p, "/")
	for i, part := range parts {
		if product(part) {
			return "builds make it"
		}
		upTo := strings.Join(parts[:i+1], "/")
		if slices.Contains(x.modules, upTo) {
			return "it lies in a submodule"
		}
		for _, pat := range x.ignore {
			if ok, _ := path.Match(pat, part); ok { // a bad pattern matches nothing
				return "git ignores it"
			}
			if ok, _ := path.Match(pat, upTo); ok {
				return "git ignores it"
			}
		}
	}
	return ""
}

// product reports whether a name is one of what builds and tools make.
func product(name string) bool {
	switch name {
	case "output", "outputs", "scratch", "scratchpad", ".lock", "node_modules", "dist", "build", "out", "target", "bin", "obj", "coverage", "tmp", "temp", "logs", ".venv", "venv", "__pycache__", ".next", ".cache", ".git":
		return true
	}
	return strings.HasPrefix(name, ".env") || strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".local")
}

// absent reports whether an error says that there is nothing, as against nothing to
// be seen.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// stat looks at a path inside the project; links that leave it are an error.
func (l *look) stat(p string) (fs.FileInfo, error) {
	if l.root == nil {
		return nil, errors.New("the project's folder cannot be opened")
	}
	return l.root.Stat(filepath.FromSlash(strings.TrimSuffix(p, "/")))
}

// open opens a regular file inside the project.
func (l *look) open(p string) (*os.File, error) {
	info, err := l.stat(p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	return l.root.Open(filepath.FromSlash(p))
}

// readAll returns the text of a file, or why it cannot be had.
func (l *look) readAll(p string, most int64) (string, error) {
	f, err := l.open(p)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = errors.New("it is too large to be read")
	}
	return string(b), err
}

// read returns the text of a file, or "".
func (l *look) read(p string, most int64) string {
	if l.root == nil {
		return ""
	}
	text, err := l.readAll(p, most)
	if err != nil {
		return ""
	}
	return text
}

// markOf identifies a file by its content; "" for folders and large files.
func (l *look) markOf(p string) string {
	text, err := l.readAll(p, maxHashed)
	if err != nil || text == "" {
		return ""
	}
	return markText(text)
}

// marked is markOf, remembered for the run.
func (l *look) marked(p string) string {
	l.marksLock.Lock()
	defer l.marksLock.Unlock()
	if m, ok := l.marks[p]; ok {
		return m
	}
	if l.marks == nil {
		l.marks = map[string]string{}
	}
	l.marks[p] = l.markOf(p)
	return l.marks[p]
}

func markText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
