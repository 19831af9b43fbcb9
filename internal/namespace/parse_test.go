package namespace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"stillso"
)

// Fault: one remote in two spellings is two projects, or two remotes are one.
func TestNormalRemote(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"https://Example.test/Team/Rug.git", "example.test/Team/Rug"},
		{"https://example.test/Team/Rug/", "example.test/Team/Rug"},
		{"git@example.test:Team/Rug", "example.test/Team/Rug"},
		{"ssh://u:p@example.test:2222/Team/Rug.git/", "example.test/Team/Rug"},
		{"ssh://[2001:db8::1]:22/a/b", "2001:db8::1/a/b"},
		{"git@[2001:db8::1]:a/b.git", "2001:db8::1/a/b"},
		{"[git@example.test:2222]:a/b.git", "example.test/a/b"},
		{"git@ssh.dev.azure.com:v3/org/proj/repo", "dev.azure.com/org/proj/repo"},
		{"https://org@dev.azure.com/org/proj/_git/repo", "dev.azure.com/org/proj/repo"},
		{"codecommit::eu-west-1://repo", "codecommit/eu-west-1/repo"},
		{"https://example.test/a/%62.git?x=1#y", "example.test/a/b"},
		{"https://example.test/a/../../b", "example.test/b"},
		{"https://github.com/A/.github", "github.com/a/.github"},
		{"GITHUB.COM:A/B.GIT", "github.com/a/b.git"},
		{"https://example.test/", ""},
		{"https:///x", ""},
		{"https://example.test/.git", ""},
		{"/srv/git/x.git", ""},
		{"../x", ""},
		{"file:///srv/x", ""},
		{"x", ""},
		{"", ""},
		{"  ", ""},
		{"https://example.test/a\x00b", ""},
		{"https://example.test/a\x1b]0;b", ""},
		{"https://e/" + strings.Repeat("a", 5000), ""},
	} {
		if got := NormalRemote(c.in); got != c.want {
			t.Errorf("NormalRemote(%.60q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// Fault: an entry that git understands is not read, or one that it does not
// understand takes the rest of the file with it.
func TestParseConfig(t *testing.T) {
	text := "\ufeff; comment\n[core]\n\tbare = false\n[remote \"or\\\"igin\"] url = \"a b\" # c\n" +
		"[ReMote.Old]\nURL = x;y\n[broken\nurl = lost\n[remote \"o\"]\r\n\turl = one\\\n two\\t3\\\\\r\n\tflag\n\tbad key = 1\n url=\" #; \"\nunclosed = \"x\n[a]b=c"
	var got []string
	parseConfig([]byte(text), func(section, sub, key, value string) {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s", section, sub, key, value))
	})
	want := []string{
		"core||bare|false", `remote|or"igin|url|a b`, "remote|old|url|x", "remote|o|url|one two\t3\\", "remote|o|flag|true", "remote|o|url| #; ", "a||b|c",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// Fault: a hostile config or registry makes the prompt path panic or loop.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"[remote \"origin\"]\n\turl = git@h:a/b\n[url \"x\"]\ninsteadOf=git@\n[branch \"main\"]\nremote=up\n", "[a \"b\\", "k=\"\\", "[\x00]\n=", "[remote.x]url=::://[@]:%",
		"override\t/a\tuser\nplace\tproject/x\t/a\t/a/.git\th/o/n\tab\t12\n", "place\t\t\t\t", "override\t%zz%2\tproject/%", "::",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := gitConfig{branches: map[string]string{}}
		parseConfig(data, c.take)
		for _, head := range []string{"ref: refs/heads/main", string(data)} {
			if u := c.url(func() string { return head }); !usable(u) {
				t.Fatalf("url %q has a control character", u)
			}
		}
		for _, in := range append([]string{string(data)}, strings.Fields(string(data))...) {
			n := NormalRemote(in)
			if !usable(n) || strings.Contains(n, "/../") || strings.HasSuffix(n, "/") {
				t.Fatalf("NormalRemote(%q) = %q", in, n)
			}
		}
		r := ParseRegistry(data)
		first := Registry{}
		first.write(r.Overrides(), r.Places())
		again := Registry{}
		again.write(first.Overrides(), first.Places())
		if first.text != again.text || len(first.Places()) != len(r.Places()) || len(first.Overrides()) != len(r.Overrides()) {
			t.Fatalf("a registry does not survive being written:\n%q\n%q", first.text, again.text)
		}
		r.lookup(stillso.Place{Remote: "a", Birth: "b", GitDir: "/nowhere/c"}, "/nowhere")
		r.override("/a/b", "/c")
	})
}

// Fault: a file that a person or an older version wrote is refused as a whole.
func TestRegistryIsLenient(t *testing.T) {
	dir := t.TempDir()
	r := ParseRegistry([]byte("\ufeffjunk\r\noverride\t" + dir + "\tproject/mine\r\noverride\tnot/absolute\tuser\noverride\t/x\tbad namespace\nplace\tproject/p\t/a%09b\n" +
		"future\tthing\n\nplace\tproject/q\t/q\t\texample.test/q/q\t\tyesterday\textra\tfields"))
	if o := r.Overrides(); len(o) != 1 || o[0].Dir != dir || o[0].Namespace != "project/mine" {
		t.Errorf("overrides: %+v", o)
	}
	if p := r.Places(); len(p) != 2 || p[0].Root != "/a\tb" || p[1].Remote != "example.test/q/q" {
		t.Errorf("places: %+v", p)
	}
}

// Fault: two writers at once lose each other's place; a lock that a dead
// process left stops all writing.
func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "places.tsv")
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			err := Update(path, func(r *Registry) error {
				r.Add(stillso.Place{Namespace: stillso.Namespace(fmt.Sprint("project/p", i)), Root: fmt.Sprint("/p", i), SeenAt: time.Unix(1, 0)})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		}()
	}
	wg.Wait()
	r, err := ReadRegistry(path)
	if err != nil || len(r.Places()) != 20 {
		t.Fatalf("%d places, %v; want 20", len(r.Places()), err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	old := info.ModTime()
	if err := Update(path, func(r *Registry) error { return r.SetOverride("/nowhere", "") }); err != nil {
		t.Fatal(err)
	}
	if info, _ = os.Stat(path); info.ModTime() != old {
		t.Error("an update that changed nothing was written")
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	if r, err := ReadRegistry(filepath.Join(t.TempDir(), "none")); err != nil || len(r.Places()) != 0 {
		t.Errorf("a registry that does not exist: %v", err)
	}
	if _, err := ReadRegistry(t.TempDir()); err == nil {
		t.Error("a directory was read as a registry")
	}
}

// Fault: a namespace has characters that a command line or a file name cannot
// carry, or is not unique.
func TestSlug(t *testing.T) {
	for in, want := range map[string]string{
		"My App (2)": "my-app-2", "记忆 库": "记忆-库", "---": "dir", "": "dir", "a\x00\xff/b": "a-b", "ÜNÏ.x": "ünï-x", strings.Repeat("long-name-", 9): "long-name-long-name-long-name-long-na",
	} {
		if got := slug(in); got != want {
			t.Errorf("slug(%q) = %q, want %q", in, got, want)
		}
	}
	var r Registry
	r.Add(stillso.Place{Namespace: "project/x-00000000", Root: "/other"})
	if !r.taken("project/x-00000000", stillso.Place{Root: "/this"}) {
		t.Error("a namespace that another place has was given away again")
	}
}
