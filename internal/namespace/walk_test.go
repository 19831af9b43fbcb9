package namespace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"stillso"
)

// Fault: some order of renaming, moving, adding work trees, commits and remotes
// that nobody thought of loses the memory of a repository, or mixes two.
func TestRandomLives(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t)
			rnd := rand.New(rand.NewPCG(seed, 7)) // #nosec G404 -- a test
			a := life{w: w, dir: w.repo("one/api")}
			b := life{w: w, dir: w.repo("two/api")}
			a.ns, b.ns = w.visit(a.dir), w.visit(b.dir)
			if a.ns == b.ns {
				t.Fatalf("both are %s", a.ns)
			}
			for step := range 8 {
				l := &a
				if rnd.IntN(2) == 1 {
					l = &b
				}
				did := l.live(rnd, step)
				for _, x := range []life{a, b} {
					w.same(x.ns, append([]string{x.dir, x.dir + "/.git"}, x.trees...)...)
				}
				if t.Failed() {
					t.Fatalf("after %s in %s", did, l.dir)
				}
				if rnd.IntN(3) == 0 { // memories are not saved after every change
					w.visit(l.dir)
				}
			}
		})
	}
}

// life is a repository as time goes by.
type life struct {
	w      *world
	dir    string
	trees  []string
	ns     stillso.Namespace
	remote bool
	// forgot is set once git has expired its log: then only a remote survives a move.
	forgot bool
}

func (l *life) live(rnd *rand.Rand, step int) string {
	w := l.w
	own := filepath.Base(filepath.Dir(l.dir)) + fmt.Sprint(step)
	switch k := rnd.IntN(6); {
	case k == 0 && (!l.forgot || l.remote) && len(l.trees) == 0:
		to := fmt.Sprintf("moved/%s/%d/api", own, step)
		w.move(l.dir, to)
		l.dir = to
		return "a move"
	case k == 1:
		tree := fmt.Sprintf("trees/%s/wt%d", own, step)
		w.git(l.dir, "worktree", "add", "-q", w.path(tree), "-b", fmt.Sprint("b", step))
		w.mkdir(tree + "/deep")
		l.trees = append(l.trees, tree, tree+"/deep")
		return "a work tree"
	case k == 2 && !l.remote:
		w.visit(l.dir)
		w.git(l.dir, "remote", "add", "origin", "https://example.test/"+own+"/api.git")
		l.remote = true
		w.visit(l.dir)
		return "a remote"
	case k == 3:
		w.git(l.dir, "commit", "-q", "--allow-empty", "-m", fmt.Sprint(step))
		return "a commit"
	case k == 4:
		w.visit(l.dir)
		w.git(l.dir, "reflog", "expire", "--expire=now", "--all")
		l.forgot = true
		w.visit(l.dir)
		return "an expired log"
	default:
		link := fmt.Sprintf("link%s%d", own, step)
		if err := os.Symlink(w.path(l.dir), w.path(link)); err == nil {
			w.same(l.ns, link)
			_ = os.Remove(w.path(link))
		}
		return "a link"
	}
}
