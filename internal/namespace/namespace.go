// Package namespace tells whose project a directory belongs to: one resolver for
// every path of the product. It reads .git by hand, starts no process, writes
// nothing into a repository, and is quick enough for the prompt path. GIT_DIR
// and its kin are ignored: a hook must not be led elsewhere by its environment.
//
// What is read is untrusted: sizes are bounded, control characters refused, and
// a .git file that points into somebody else's repository is not believed.
// Nothing can be done about a hostile checkout whose config names the remote of
// another project: clones of one remote share one namespace by design.
package namespace

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"stillso"
	"stillso/internal/digest"
)

// maxPath bounds a directory handed in, in bytes; it is PATH_MAX on Linux.
const maxPath = 4096

// Resolve returns the place that dir lies in: its namespace, and what the
// namespace was derived from. SeenAt is left to the caller. The order is
//
//  1. a person's override for dir or a directory above it,
//  2. what the registry knows by remote, git directory, first commit or root,
//  3. a new identity: from the remote, else the first commit, else the path.
//
// The home directory itself and the root of a file system are no project: their
// namespace is the user's. So is that of a dir which cannot be used, which is
// an error too. A directory that does not exist (any more) belongs where its
// nearest parent lies.
func Resolve(dir string, reg Registry) (stillso.Place, error) {
	nobody := stillso.Place{Namespace: stillso.UserNamespace}
	real, err := realDirectory(dir)
	if err != nil {
		return nobody, err
	}
	repo, inside := find(real, 0)
	if inside && (isHome(repo.root) || isTop(repo.root)) {
		// A home kept in git (dotfiles) is not the project of all that lies below.
		inside = false
	}
	if !inside {
		repo = repository{root: real, main: real}
	}
	p := stillso.Place{Root: repo.root, Remote: repo.remote, Birth: repo.birth, GitDir: repo.common}
	if ns, ok := reg.override(real, repo.main); ok {
		p.Namespace = ns
		return p, nil
	}
	if !inside && (isHome(real) || isTop(real)) {
		nobody.Root = real
		return nobody, nil
	}
	if ns, ok := reg.lookup(p, repo.main); ok {
		p.Namespace = ns
	} else {
		p.Namespace = newNamespace(p, repo, reg)
	}
	if repo.dead {
		p.GitDir = ""
	}
	return p, nil
}

// Main returns the root of the main work tree of a place: what its linked work
// trees share, and where some hosts keep what they know of a project.
func Main(p stillso.Place) string { return mainOf(p.GitDir, p.Root) }

// Sub returns the part of dir below the root of its place, with forward slashes:
// the sub-directory of a monorepo. It is "" at the root and outside it.
func Sub(p stillso.Place, dir string) string {
	real, err := realDirectory(dir)
	if err != nil || p.Root == "" {
		return ""
	}
	rel, err := filepath.Rel(p.Root, real)
	if err != nil || rel == "." || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// realDirectory makes dir absolute and resolves its symbolic links. The part of
// it that does not exist is kept as it is.
func realDirectory(dir string) (string, error) {
	if dir == "" {
		return "", errors.New("no directory was given: pass the one the session runs in")
	}
	if len(dir) > maxPath || strings.ContainsRune(dir, 0) {
		return "", fmt.Errorf("directory of %d bytes cannot be used: it is too long or has a NUL in it", len(dir))
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("directory %q cannot be made absolute: %w", dir, err)
	}
	rest := ""
	for at := abs; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest), nil
		}
		if filepath.Dir(at) == at {
			return abs, nil
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

func isTop(dir string) bool { return filepath.Dir(dir) == dir }

func isHome(dir string) bool {
	home, err := os.UserHomeDir()
	if err != nil || home == "" {
		return false
	}
	if samePath(dir, filepath.Clean(home)) {
		return true
	}
	real, err := filepath.EvalSymlinks(home)
	return err == nil && samePath(dir, real)
}

// newNamespace derives a namespace from what identifies the place best. The
// hash is lengthened if another place already has the short one.
func newNamespace(p stillso.Place, r repository, reg Registry) stillso.Namespace {
	var identity, name string
	switch {
	case p.Remote != "":
		identity, name = "remote\x00"+p.Remote, p.Remote[strings.LastIndexByte(p.Remote, '/')+1:]
	case p.Birth != "" && !reg.copied(p):
		identity, name = "birth\x00"+p.Birth, repositoryName(r)
	case p.Birth != "":
		identity, name = "copy\x00"+p.Birth+"\x00"+p.GitDir, repositoryName(r)
	case r.common != "" && !r.dead:
		identity, name = "gitdir\x00"+pathKey(r.common), repositoryName(r)
	default:
		identity, name = "path\x00"+pathKey(r.root), filepath.Base(r.root)
	}
	sum := digest.Sum256([]byte(identity))
	hash := hex.EncodeToString(sum[:])
	short := stillso.Namespace("project/" + slug(name) + "-" + hash[:8])
	if reg.taken(short, p) {
		return short + stillso.Namespace(hash[8:16])
	}
	return short
}

// repositoryName is what people call the repository: the folder of its main
// work tree, or of a bare repository without the .git.
func repositoryName(r repository) string {
	return strings.TrimSuffix(filepath.Base(mainOf(r.common, r.common)), ".git")
}

// slug makes name readable inside a namespace: letters and digits of any
// script in lower case, the rest single hyphens, at most 40 bytes.
func slug(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case b.Len() > 40-4:
			return strings.TrimRight(b.String(), "-")
		case r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	if s := strings.TrimRight(b.String(), "-"); s != "" {
		return s
	}
	return "dir"
}
