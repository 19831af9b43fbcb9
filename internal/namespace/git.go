package namespace

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"stillso/internal/digest"
)

// The most that is read of a file of a repository, in bytes. Git's own files
// are far smaller; a larger one is read in part.
const (
	maxPointer = 8 << 10 // .git files, commondir, gitdir, HEAD
	maxConfig  = 1 << 20
	maxLogLine = 8 << 10
	maxClimb   = 128 // directories
	maxHops    = 3   // remotes that are directories of this machine
)

// repository is what the files of a checkout say about it.
type repository struct {
	root   string // of this work tree; the git directory if it is bare
	main   string // root of the main work tree, the same for all linked ones
	common string // the git directory that linked work trees share
	remote string // normalised
	birth  string
	// dead is set if the git directory is gone: only its path is known.
	dead bool
}

// find returns the repository that the real path dir lies in. hops counts the
// local remotes that led here.
func find(dir string, hops int) (repository, bool) {
	for i := 0; i < maxClimb; i++ {
		if r, ok := at(dir); ok {
			if !r.dead {
				r.read(hops)
			}
			return r, true
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return repository{}, false
}

// at reports whether dir is the root of a work tree or a git directory.
func at(dir string) (repository, bool) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Lstat(dotGit)
	if err != nil {
		return gitDirectory(dir)
	}
	link := info.Mode()&fs.ModeSymlink != 0
	if link {
		if info, err = os.Stat(dotGit); err != nil {
			return repository{}, false
		}
	}
	switch {
	case info.IsDir():
		common := dotGit
		if link {
			if common, err = filepath.EvalSymlinks(dotGit); err != nil || stolen(common, dir) {
				return repository{}, false
			}
		}
		if !isGitDir(common) {
			return repository{}, false
		}
		return repository{root: dir, main: dir, common: common}, true
	case info.Mode().IsRegular():
		return pointed(dir, dotGit)
	}
	return repository{}, false
}

// gitDirectory recognises a bare repository, and a directory inside .git.
func gitDirectory(dir string) (repository, bool) {
	if !isFile(filepath.Join(dir, "HEAD")) {
		return repository{}, false
	}
	if !isGitDir(dir) {
		return repository{}, false
	}
	main := mainOf(dir, dir)
	return repository{root: main, main: main, common: dir}, true
}

// mainOf returns the main work tree of a git directory: the folder around one
// with a hidden name (.git, or the .bare of those who keep work trees side by
// side), else the given root.
func mainOf(common, root string) string {
	if common != "" && strings.HasPrefix(filepath.Base(common), ".") {
		return filepath.Dir(common)
	}
	return root
}

func isGitDir(dir string) bool {
	return isFile(filepath.Join(dir, "HEAD")) && isDir(filepath.Join(dir, "objects")) && isDir(filepath.Join(dir, "refs"))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// pointed follows a .git file: a linked work tree, a submodule, or a separate
// git directory. What points into a repository that belongs to another work
// tree is not believed, so that an unpacked archive cannot claim a project.
func pointed(root, dotGit string) (repository, bool) {
	target, ok := strings.CutPrefix(pointer(dotGit), "gitdir:")
	if target = strings.TrimSpace(target); !ok || target == "" {
		return repository{}, false
	}
	target = absolute(root, target)
	private, err := filepath.EvalSymlinks(target)
	if err != nil {
		common := target
		if i := strings.LastIndex(filepath.ToSlash(target), "/worktrees/"); i > 0 {
			common = target[:i]
		}
		return repository{root: root, main: root, common: common, dead: true}, true
	}
	rel := pointer(filepath.Join(private, "commondir"))
	if rel == "" { // a submodule or a separate git directory
		if !isGitDir(private) || stolen(private, root) {
			return repository{}, false
		}
		return repository{root: root, main: root, common: private}, true
	}
	common, err := filepath.EvalSymlinks(absolute(private, rel))
	if err != nil || !isGitDir(common) || !linked(private, dotGit) {
		return repository{}, false
	}
	return repository{root: root, main: mainOf(common, common), common: common}, true
}

// linked reports whether the work tree that owns dotGit is the one that private
// names. A name that leads nowhere is that of a work tree which was moved.
func linked(private, dotGit string) bool {
	back := pointer(filepath.Join(private, "gitdir"))
	if back == "" {
		return false
	}
	back = absolute(private, back)
	if samePath(back, dotGit) {
		return true
	}
	other, err := os.Stat(back)
	if err != nil {
		return true
	}
	own, err := os.Stat(dotGit)
	return err == nil && os.SameFile(own, other)
}

// stolen reports whether the git directory belongs to a work tree other than
// root: to the one around it, or to the one that its config names.
func stolen(gitDir, root string) bool {
	owner := ""
	if filepath.Base(gitDir) == ".git" {
		owner = filepath.Dir(gitDir)
	}
	parseConfig(readSome(filepath.Join(gitDir, "config"), maxConfig), func(section, sub, key, value string) {
		if section == "core" && sub == "" && key == "worktree" && usable(value) {
			owner = absolute(gitDir, value)
		}
	})
	if owner == "" || samePath(owner, root) {
		return false
	}
	a, errA := os.Stat(owner)
	b, errB := os.Stat(root)
	return errA == nil && errB == nil && !os.SameFile(a, b)
}

// read fills in the remote and the birth mark.
func (r *repository) read(hops int) {
	r.birth = birth(r.common)
	url := readConfig(r.common).url(func() string { return pointer(filepath.Join(r.common, "HEAD")) })
	if url == "" {
		return
	}
	dir, local := localRemote(url)
	if !local {
		r.remote = NormalRemote(url)
		return
	}
	dir = absolute(r.main, dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	// A clone of a checkout on this machine is the same project as that one.
	if hops < maxHops && !samePath(dir, r.main) && !samePath(dir, r.common) {
		if origin, ok := at(dir); ok && !origin.dead {
			origin.read(hops + 1)
			if origin.remote != "" {
				r.remote = origin.remote
				return
			}
			dir = origin.common
		}
	}
	r.remote = "local/" + strings.Trim(cleanPath(filepath.ToSlash(dir)), "/")
}

// birth is a hash of the first line that git ever logged in the repository: it
// stays the same over renames and moves, and differs between two clones. A log
// whose beginning git has expired (gc.reflogExpire, 90 days) gives none.
func birth(common string) string {
	data := readSome(filepath.Join(common, "logs", "HEAD"), maxLogLine)
	line, _, found := bytes.Cut(data, []byte("\n"))
	line = bytes.TrimRight(line, "\r")
	old, rest, ok := bytes.Cut(line, []byte(" "))
	if !found || !ok || len(old) < 40 || len(bytes.Trim(old, "0")) > 0 || len(rest) == 0 {
		return ""
	}
	sum := digest.Sum256(line)
	return hex.EncodeToString(sum[:8])
}

// pointer reads a file that holds one line.
func pointer(path string) string {
	line := strings.TrimRight(string(readSome(path, maxPointer)), "\r\n")
	if !usable(line) {
		return ""
	}
	return line
}

// usable refuses what no path and no address has: NUL and other controls.
func usable(s string) bool {
	return len(s) <= maxPath && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

func absolute(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}
