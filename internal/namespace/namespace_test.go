package namespace

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stillso"
)

// world is a fresh HOME with a folder for code in it, and a registry as the CLI
// would keep it: every place that visit sees is registered.
type world struct {
	t    *testing.T
	dir  string // real path, with a space in it: hooks broke on that
	reg  Registry
	tick int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: the resolver is compared with it")
	}
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "the home")
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	for _, k := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES"} {
		t.Setenv(k, "")
		_ = os.Unsetenv(k)
	}
	w := &world{t: t, dir: home}
	w.mkdir("")
	w.file(".gitconfig", "[user]\n\tname = t\n\temail = t@example.test\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	return w
}

func (w *world) path(rel string) string { return filepath.Join(w.dir, filepath.FromSlash(rel)) }

func (w *world) mkdir(rel string) string {
	w.t.Helper()
	if err := os.MkdirAll(w.path(rel), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return w.path(rel)
}

func (w *world) file(rel, content string) {
	w.t.Helper()
	w.mkdir(filepath.ToSlash(filepath.Dir(filepath.FromSlash(rel))))
	if err := os.WriteFile(w.path(rel), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// git runs git in a folder below the world; a new date each time, so that no two
// commits are equal by chance.
func (w *world) git(rel string, args ...string) {
	w.t.Helper()
	w.tick++
	cmd := exec.Command("git", args...)
	cmd.Dir = w.mkdir(rel)
	date := fmt.Sprintf("2026-03-02T10:%02d:%02dZ", w.tick/60, w.tick%60)
	cmd.Env = append(os.Environ(), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// repo makes a repository with one commit.
func (w *world) repo(rel string) string {
	w.git(rel, "init", "-q")
	w.git(rel, "commit", "-q", "--allow-empty", "-m", "init")
	return rel
}

func (w *world) move(from, to string) {
	w.t.Helper()
	w.mkdir(filepath.ToSlash(filepath.Dir(filepath.FromSlash(to))))
	if err := os.Rename(w.path(from), w.path(to)); err != nil {
		w.t.Fatal(err)
	}
}

// ask resolves without registering, as the hook does.
func (w *world) ask(rel string) stillso.Place {
	w.t.Helper()
	p, err := Resolve(w.path(rel), w.reg)
	if err != nil {
		w.t.Fatalf("%s: %v", rel, err)
	}
	if !p.Namespace.Valid() {
		w.t.Fatalf("%s: namespace %q is not valid", rel, p.Namespace)
	}
	return p
}

// visit resolves and registers, as saving a memory does.
func (w *world) visit(rel string) stillso.Namespace {
	w.t.Helper()
	p := w.ask(rel)
	p.SeenAt = time.Unix(1_800_000_000, 0).UTC()
	w.reg.Add(p)
	if again := w.ask(rel).Namespace; again != p.Namespace {
		w.t.Fatalf("%s: %s became %s once it was registered", rel, p.Namespace, again)
	}
	return p.Namespace
}

func (w *world) same(want stillso.Namespace, dirs ...string) {
	w.t.Helper()
	for _, d := range dirs {
		if got := w.ask(d).Namespace; got != want {
			w.t.Errorf("%s: got %s, want %s\nregistry:\n%s", d, got, want, w.reg.Bytes())
		}
	}
}

func (w *world) differ(not stillso.Namespace, dirs ...string) {
	w.t.Helper()
	for _, d := range dirs {
		if got := w.ask(d).Namespace; got == not {
			w.t.Errorf("%s: got %s, which belongs to another project", d, got)
		}
	}
}

// Fault: one of several code paths takes the folder name of a linked worktree
// for the project.
func TestWorktreesAreOneProject(t *testing.T) {
	w := newWorld(t)
	w.repo("shop")
	w.git("shop", "worktree", "add", "-q", ".worktrees/noble-hare", "-b", "a")
	w.git("shop", "worktree", "add", "-q", "../elsewhere/jolly", "-b", "b")
	w.mkdir("shop/.worktrees/noble-hare/src/pay")
	w.mkdir("shop/src/deep/er")
	ns := w.ask("shop").Namespace
	all := []string{
		"shop", "shop/src", "shop/src/deep/er", "shop/.git", "shop/.git/hooks", "shop/.worktrees", "shop/gone/for/good",
		"shop/.worktrees/noble-hare", "shop/.worktrees/noble-hare/src/pay", "elsewhere/jolly", "shop/.git/worktrees/jolly",
	}
	w.same(ns, all...)
	w.visit("elsewhere/jolly")
	w.same(ns, all...)
	if !strings.HasPrefix(string(ns), "project/shop-") {
		t.Errorf("namespace %s does not name the repository", ns)
	}
	p := w.ask("shop/.worktrees/noble-hare/src/pay")
	if want := w.path("shop/.worktrees/noble-hare"); p.Root != want {
		t.Errorf("root is %s, want the root of the worktree %s", p.Root, want)
	}
	if sub := Sub(p, w.path("shop/.worktrees/noble-hare/src/pay")); sub != "src/pay" {
		t.Errorf("sub-directory is %q, want src/pay", sub)
	}
	if sub := Sub(p, w.path("shop")) + Sub(p, p.Root) + Sub(p, ""); sub != "" {
		t.Errorf("sub-directory is %q outside and at the root, want none", sub)
	}
	if main := Main(p); main != w.path("shop") {
		t.Errorf("main work tree is %s, want %s", main, w.path("shop"))
	}
	w.git("shop", "worktree", "move", ".worktrees/noble-hare", "../moved-tidily")
	w.move("elsewhere/jolly", "elsewhere/moved-by-hand")
	w.same(ns, "moved-tidily", "elsewhere/moved-by-hand")
}

// Fault: the memory of a linked worktree is lost when the main checkout moved
// and nobody ran git worktree repair.
func TestWorktreeOfMovedMain(t *testing.T) {
	w := newWorld(t)
	w.repo("code/main")
	w.git("code/main", "worktree", "add", "-q", "../side", "-b", "b")
	ns := w.visit("code/main")
	w.move("code/main", "code/renamed")
	w.same(ns, "code/renamed", "code/side")
}

// Fault: two repositories with one folder name share memories.
func TestSameFolderNameTwoRepositories(t *testing.T) {
	w := newWorld(t)
	w.repo("alpha/api")
	w.repo("beta/api")
	w.mkdir("gamma/api")
	a := w.visit("alpha/api")
	w.differ(a, "beta/api", "gamma/api")
	b := w.visit("beta/api")
	c := w.visit("gamma/api")
	if a == b || b == c || a == c {
		t.Errorf("not three namespaces: %s %s %s", a, b, c)
	}
	w.same(a, "alpha/api")
}

// Fault: a script that made two repositories within one second gave them equal
// first commits, and so one identity. A copy is in the same position.
func TestEqualFirstCommits(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{"one/api", "two/api"} {
		w.tick = 7
		w.repo(dir)
	}
	if err := os.CopyFS(w.path("copy"), os.DirFS(w.path("one/api"))); err != nil {
		t.Fatal(err)
	}
	a := w.visit("one/api")
	w.differ(a, "two/api", "copy")
	b := w.visit("two/api")
	c := w.visit("copy")
	if b == c {
		t.Errorf("copy and twin share %s", b)
	}
	w.same(a, "one/api")
	if err := os.RemoveAll(w.path("one")); err != nil {
		t.Fatal(err)
	}
	w.same(b, "two/api")
	w.same(c, "copy")
}

// Fault: renaming or moving a checkout orphans all that was learnt there.
func TestRenamedAndMoved(t *testing.T) {
	w := newWorld(t)
	w.repo("code/rug")
	w.git("code/rug", "remote", "add", "origin", "https://example.test/team/rug.git")
	w.repo("code/bare-of-remotes")
	remote, local := w.visit("code/rug"), w.visit("code/bare-of-remotes")
	plain := w.visit("code/" + filepath.Base(w.mkdir("code/plain")))
	w.move("code/rug", "code/alusta")
	w.move("code/bare-of-remotes", "x/y/other")
	w.move("code/plain", "plain")
	w.same(remote, "code/alusta")
	w.same(local, "x/y/other")
	w.differ(plain, "plain")
	orphans := w.reg.Orphans()
	if len(orphans) != 3 || orphans[2].Root != w.path("code/plain") {
		t.Errorf("orphans: %+v, want the three old places, the plain one last", orphans)
	}
	w.visit("code/alusta")
	w.visit("x/y/other")
	w.visit("x/y/other")
	if orphans = w.reg.Orphans(); len(orphans) != 1 || orphans[0].Namespace != plain {
		t.Errorf("orphans: %+v, want the plain directory alone", orphans)
	}
	// A new repository at the old place is not the old project.
	w.repo("code/bare-of-remotes")
	w.differ(local, "code/bare-of-remotes")
	if err := w.reg.SetOverride(w.path("plain"), plain); err != nil {
		t.Fatal(err)
	}
	w.same(plain, "plain", "plain/sub")
	if orphans = w.reg.Orphans(); len(orphans) != 0 {
		t.Errorf("orphans: %+v, want none after the override", orphans)
	}
}

// Fault: a new repository in the folder of a deleted one inherits its memory.
func TestReplacedRepository(t *testing.T) {
	w := newWorld(t)
	w.repo("app")
	old := w.visit("app")
	if err := os.RemoveAll(w.path("app")); err != nil {
		t.Fatal(err)
	}
	w.repo("app")
	w.differ(old, "app")
	fresh := w.visit("app")
	w.same(fresh, "app")
	if orphans := w.reg.Orphans(); len(orphans) != 1 || orphans[0].Namespace != old {
		t.Errorf("orphans: %+v, want the deleted repository", orphans)
	}
}

// Fault: memory is lost when a plain folder becomes a repository, gets its first
// commit, then a remote; or when the remote goes again.
func TestIdentityGrows(t *testing.T) {
	w := newWorld(t)
	w.mkdir("idea")
	ns := w.visit("idea")
	w.git("idea", "init", "-q")
	w.same(ns, "idea")
	w.visit("idea")
	w.git("idea", "commit", "-q", "--allow-empty", "-m", "first")
	w.same(ns, "idea")
	w.visit("idea")
	w.git("idea", "remote", "add", "origin", "git@example.test:me/idea.git")
	w.same(ns, "idea")
	w.visit("idea")
	w.repo("second-clone")
	w.git("second-clone", "remote", "add", "origin", "https://example.test/me/idea")
	w.same(ns, "second-clone")
	w.git("idea", "remote", "remove", "origin")
	w.same(ns, "idea")
	w.visit("idea")
	w.same(ns, "idea", "second-clone")
}

// Fault: a starter template that was cloned and pointed at one's own remote
// shares the template's memory; a change of the host alone loses it.
func TestConflictingRemote(t *testing.T) {
	w := newWorld(t)
	w.repo("app")
	w.git("app", "remote", "add", "origin", "https://example.test/templates/starter.git")
	template := w.visit("app")
	w.git("app", "remote", "set-url", "origin", "https://example.test/me/shop.git")
	w.differ(template, "app")
	own := w.visit("app")
	if orphans := w.reg.Orphans(); len(orphans) != 1 || orphans[0].Namespace != template {
		t.Errorf("orphans: %+v, want what was learnt of the template", orphans)
	}
	w.git("app", "remote", "set-url", "origin", "git@other.test:me/shop.git")
	w.same(own, "app")
	w.git("app", "remote", "set-url", "origin", "https://example.test/templates/starter.git")
	w.same(template, "app")
	w.git("app", "remote", "remove", "origin")
	w.same(own, "app")
}

// Fault: two clones of one remote, in whatever spelling, are two projects.
func TestClonesOfOneRemote(t *testing.T) {
	w := newWorld(t)
	urls := []string{
		"https://github.com/Acme/Shop.git", "https://github.com/acme/shop", "https://GitHub.com/acme/shop/", "git@github.com:acme/shop.git",
		"ssh://git@github.com/acme/shop.git", "ssh://git@github.com:22/acme/shop", "https://me:token@github.com:443/acme/shop.git", "git://github.com/acme/shop.git",
		"github.com:acme/shop", "git@github.com-work:acme/shop.git", "gh:acme/shop", "corp:shop.git", "ssh://git@ssh.github.com:443/acme/shop.git", "git+ssh://git@github.com/acme//shop.git/",
	}
	w.file(".config/git/config", "[url \"git@github.com:\"]\n\tinsteadOf = \"gh:\"\n")
	var want stillso.Namespace
	for i, u := range urls {
		dir := fmt.Sprintf("clone%d", i)
		w.repo(dir)
		w.git(dir, "config", "url.https://github.com/acme/.insteadOf", "corp:")
		w.git(dir, "remote", "add", "origin", u)
		if i == 0 {
			want = w.ask(dir).Namespace
		}
		w.same(want, dir)
	}
	if string(want[:len("project/shop-")]) != "project/shop-" {
		t.Errorf("namespace %s does not name the repository", want)
	}
}

// Fault: the wrong one of several remotes decides.
func TestWhichRemote(t *testing.T) {
	w := newWorld(t)
	w.repo("r")
	w.git("r", "remote", "add", "zeta", "https://example.test/z/z")
	w.git("r", "remote", "add", "alpha", "https://example.test/a/a")
	want := func(remote string) {
		t.Helper()
		if got := w.ask("r").Remote; got != remote {
			t.Errorf("remote is %q, want %q", got, remote)
		}
	}
	want("example.test/z/z")
	w.git("r", "config", "branch.main.remote", "alpha")
	want("example.test/a/a")
	w.git("r", "remote", "add", "origin", "https://example.test/o/o")
	want("example.test/o/o")
}

// Fault: a clone of a checkout or a bare repository on this machine is lost or
// confused with others.
func TestLocalClones(t *testing.T) {
	w := newWorld(t)
	w.repo("src")
	w.git("", "clone", "-q", "src", "copy one")
	w.git("", "clone", "-q", "--bare", "src", "hub.git")
	w.git("", "clone", "-q", "hub.git", "a")
	w.git("", "clone", "-q", "file://"+w.path("hub.git"), "b")
	w.repo("other")
	w.same(w.ask("a").Namespace, "b")
	w.differ(w.ask("a").Namespace, "other")
	w.git("src", "remote", "add", "origin", "https://example.test/t/src.git")
	w.same(w.ask("src").Namespace, "copy one")
	w.git("src", "remote", "set-url", "origin", "../src") // itself
	w.git("hub.git", "remote", "set-url", "origin", w.path("a"))
	w.git("a", "remote", "set-url", "origin", w.path("hub.git")) // a ring
	w.ask("src")
	w.ask("a")
}

// Fault: bare repositories, with and without work trees around them, submodules
// and separate git directories resolve to nothing or to their neighbour.
func TestKindsOfRepository(t *testing.T) {
	w := newWorld(t)
	w.repo("lib")
	w.git("", "clone", "-q", "--bare", "lib", "proj/.bare")
	w.git("proj/.bare", "remote", "remove", "origin")
	w.file("proj/.git", "gitdir: ./.bare\n")
	w.git("proj", "worktree", "add", "-q", "main", "main")
	w.same(w.ask("proj").Namespace, "proj/main", "proj/.bare", "proj/.bare/objects")
	if got := w.ask("proj/main").Namespace; !strings.HasPrefix(string(got), "project/proj-") {
		t.Errorf("namespace %s does not name the project", got)
	}
	w.git("lib", "remote", "add", "origin", "https://example.test/t/lib")
	w.repo("super")
	w.git("super", "submodule", "--quiet", "add", w.path("lib"), "vendor/lib")
	super := w.visit("super")
	w.differ(super, "super/vendor/lib")
	w.same(super, "super/vendor")
	w.same(w.ask("lib").Namespace, "super/vendor/lib")
	w.mkdir("store")
	w.git("", "init", "-q", "--separate-git-dir", w.path("store/sep"), "sep")
	w.same(w.ask("sep").Namespace, "sep/deep")
	w.differ(super, "sep")
	if err := os.Symlink(w.path("super"), w.path("link")); err == nil {
		w.same(super, "link", "link/vendor", "link/../super")
	}
}

// Fault: an unpacked archive claims the memory of a project by a .git file or
// link that points into it; or odd content crashes the resolver.
func TestHostileRepositories(t *testing.T) {
	w := newWorld(t)
	w.repo("victim")
	w.git("victim", "worktree", "add", "-q", "../victim-side", "-b", "s")
	w.repo("super")
	w.git("super", "submodule", "--quiet", "add", w.path("victim"), "sub")
	victim := w.visit("victim")
	sub := w.visit("super/sub")
	for i, content := range []string{
		"gitdir: " + w.path("victim/.git") + "\n", "gitdir: ../victim/.git", "gitdir: " + w.path("victim/.git/worktrees/victim-side") + "\n",
		"gitdir: " + w.path("super/.git/modules/sub"), "gitdir: \x00" + w.path("victim/.git"), "gitdir:", "gitdir: /dev/zero", "gitdir: .", "gitdir: ..",
		"", "\x00\x01\x02", strings.Repeat("gitdir: ", 1<<16), "gitdir: " + strings.Repeat("../", 2000), "gitdir: .git",
	} {
		dir := fmt.Sprintf("evil%d", i)
		w.file(dir+"/.git", content)
		w.differ(victim, dir)
		w.differ(sub, dir)
	}
	w.mkdir("linked")
	if err := os.Symlink(w.path("victim/.git"), w.path("linked/.git")); err == nil {
		w.differ(victim, "linked")
	}
	for _, f := range []string{"config", "HEAD", "logs/HEAD", "commondir"} {
		odd := w.repo("odd " + strings.ReplaceAll(f, "/", "-"))
		w.file(odd+"/.git/"+f, strings.Repeat("[remote \"origin\"]\nurl=\x00\xff\x1b]0;x\a\n", 1<<12))
		w.ask(odd)
	}
}

// Fault: a session in HOME makes all that is said there the memory of a
// "project" that every folder below then shares.
func TestHomeIsNoProject(t *testing.T) {
	w := newWorld(t)
	w.same(stillso.UserNamespace, "", "/")
	if p, err := Resolve(string(filepath.Separator), w.reg); err != nil || p.Namespace != stillso.UserNamespace {
		t.Errorf("the root of the file system is %v, %v; want the user's", p.Namespace, err)
	}
	w.repo("") // dotfiles in git
	w.mkdir("plain/sub")
	w.same(stillso.UserNamespace, "")
	plain := w.visit("plain")
	w.differ(stillso.UserNamespace, "plain")
	w.differ(plain, "plain/sub")
	for _, dir := range []string{"", "a\x00b", strings.Repeat("x/", 5000)} {
		if p, err := Resolve(dir, w.reg); err == nil || p.Namespace != stillso.UserNamespace {
			t.Errorf("directory %.20q: %v, %v; want the user's and an error", dir, p.Namespace, err)
		}
	}
}

// Fault: GIT_DIR, set in the shell that started the assistant, leads the hook
// into another repository.
func TestEnvironmentIsIgnored(t *testing.T) {
	w := newWorld(t)
	w.repo("a")
	w.repo("b")
	a := w.ask("a").Namespace
	t.Setenv("GIT_DIR", w.path("b/.git"))
	t.Setenv("GIT_WORK_TREE", w.path("b"))
	w.same(a, "a")
}

// Fault: a person's decision does not win, or reaches too far.
func TestOverride(t *testing.T) {
	w := newWorld(t)
	w.repo("work/mono")
	w.git("work/mono", "worktree", "add", "-q", "../../tree", "-b", "b")
	w.repo("workshop")
	mono := w.visit("work/mono")
	w.visit("workshop")
	for dir, ns := range map[string]stillso.Namespace{"work/mono/apps/web": "project/web", "work/mono/apps": "team/apps"} {
		if err := w.reg.SetOverride(w.path(dir), ns); err != nil {
			t.Fatal(err)
		}
	}
	w.same(mono, "work/mono", "tree", "work/mono/app")
	w.same("team/apps", "work/mono/apps", "work/mono/apps/website", "work/mono/apps/x/y")
	w.same("project/web", "work/mono/apps/web", "work/mono/apps/web/z")
	if err := w.reg.SetOverride(w.path("work"), "project/all"); err != nil {
		t.Fatal(err)
	}
	w.same("project/all", "work/mono", "work/new", "tree")
	w.same("project/web", "work/mono/apps/web")
	w.differ("project/all", "workshop")
	before := string(w.reg.Bytes())
	w.visit("work/mono") // what an override says is no fact about the remote
	if string(w.reg.Bytes()) != before {
		t.Errorf("a place under an override was registered:\n%s", w.reg.Bytes())
	}
	if err := w.reg.SetOverride(w.path("work"), ""); err != nil {
		t.Fatal(err)
	}
	w.same(mono, "work/mono", "tree")
	if err := w.reg.SetOverride(w.path("work"), "nonsense"); err == nil {
		t.Error("an override to no namespace was accepted")
	}
}

// Fault: the resolver writes into a repository (git does, on status).
func TestNothingIsWritten(t *testing.T) {
	w := newWorld(t)
	w.repo("r")
	w.file("r/src/a.txt", "x")
	before := listing(t, w.path("r"))
	w.visit("r/src")
	if after := listing(t, w.path("r")); after != before {
		t.Errorf("the repository changed:\n%s\nwas\n%s", after, before)
	}
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		fmt.Fprintln(&b, path, info.Mode(), info.Size(), info.ModTime())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func BenchmarkResolve(b *testing.B) {
	dir := b.TempDir()
	b.Setenv("HOME", filepath.Dir(dir))
	for _, args := range [][]string{{"init", "-q"}, {"remote", "add", "origin", "git@example.test:a/150.git"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if err := cmd.Run(); err != nil {
			b.Skip("git is not installed")
		}
	}
	var reg Registry
	for i := range 200 {
		root := fmt.Sprint("/home/someone/code/p", i)
		reg.Add(stillso.Place{Namespace: stillso.Namespace(fmt.Sprint("project/p", i)), Root: root, GitDir: root + "/.git", Remote: fmt.Sprint("example.test/a/", i), Birth: "0123456789abcdef"})
	}
	sub := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(sub, 0o755); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Resolve(sub, reg); err != nil {
			b.Fatal(err)
		}
	}
}
