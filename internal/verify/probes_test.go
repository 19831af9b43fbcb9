package verify

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"stillso"
)

// project makes a repository with real git, and returns its site.
func project(t *testing.T) Site {
	t.Helper()
	root := filepath.Join(t.TempDir(), "my proj")
	put := func(name, text string) {
		p := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("internal/auth/token.go", "package auth\n\nfunc parseToken() {}\n\nvar limit = 30\n// uses PAYMENT_API_URL\n")
	put("web/src/App.tsx", "export const App = () => null\n")
	put("go.mod", "module x\n\ngo 1.26\n\nrequire (\n\tgithub.com/alecthomas/kong v1.12.1\n\tmodernc.org/sqlite v1.40.0 // indirect\n)\n")
	put("web/package.json", `{"scripts":{"build:prod":"x","test":"y"},"dependencies":{"react":"^18.2.0","@types/node":"~20.1.0","left-pad":"1.3.0"}}`)
	put("requirements.txt", "Django==4.2.1\nruamel_yaml>=0.17,<1 # c\n")
	put("pyproject.toml", "[project]\ndependencies = [\"httpx[http2]==0.27\"]\n[tool.poetry.dependencies]\nrich = {version = \"13.7\"}\n")
	put("Cargo.toml", "[dependencies]\nserde = \"1.0\"\n")
	put("Makefile", "VAR := x\n.PHONY: lint test\nlint test:\n\techo\n")
	put(".env.example", "export DATABASE_URL=x\n# OLD_URL=y\n")
	put(".gitignore", "*.gen.go\n/private/\n")
	put("secret.txt", "s")
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", root, "-c", "user.email=a@example.test", "-c", "user.name=t"}, args...)...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "init")
	git("branch", "feature/login")
	git("tag", "v1.0.0")
	git("update-ref", "refs/remotes/origin/release/2", "HEAD")
	git("pack-refs", "--all")
	git("branch", "loose")
	return Site{Root: root, GitDir: filepath.Join(root, ".git"), Remote: "github.com/owner/repo"}
}

func check(t *testing.T, s Site, env func(string) string, probe string, args ...string) Answer {
	t.Helper()
	c := stillso.Claim{ID: "x", Probe: probe, Args: args}
	if err := Valid(c); err != nil {
		t.Fatalf("%s %q: %v", probe, args, err)
	}
	p, _ := Find(probe)
	l := newLook(s, &toolbox{env: env, sites: []string{s.Root}}, newWeb(public))
	defer l.close()
	return p.run(context.Background(), l, args)
}

// Every probe must tell the three cases apart, and must not say that something fails
// which it cannot see.
func TestLocalProbes(t *testing.T) {
	s := project(t)
	head, err := exec.Command("git", "-C", s.Root, "rev-parse", "HEAD").Output()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"out": "/etc", "out.txt": "/etc/passwd", "in.go": "internal/auth/token.go", "dead.go": "nowhere.go"} {
			if err := os.Symlink(to, filepath.Join(s.Root, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const y, n, u = stillso.Holds, stillso.Fails, stillso.Unknown
	for _, tt := range []struct {
		want  stillso.Verdict
		probe string
		args  []string
	}{
		{y, "path", []string{"internal/auth/token.go"}},
		{y, "path", []string{"internal/auth/"}},
		{y, "path", []string{"src/App.tsx"}}, // written from web/
		{y, "path", []string{"in.go"}},
		{n, "path", []string{"internal/auth/gone.go"}},
		{n, "path", []string{"src/dir/x.go"}},
		{u, "path", []string{"other-repo/dir/x.go"}},
		{y, "path", []string{"my proj/internal/auth/token.go"}},
		{n, "path", []string{"Makefile/x"}},
		{u, "path", []string{"out/passwd"}},
		{u, "path", []string{"out.txt"}},
		{u, "path", []string{"dead.go"}},
		{u, "path", []string{"dist/app.js"}},
		{u, "path", []string{"api/types.gen.go"}},
		{u, "path", []string{"private/x.go"}},
		{u, "path", []string{".env.local"}},
		{y, "file", []string{"token.go"}},
		{n, "file", []string{"slash_models_check.rs"}},
		{n, "file", []string{"TokenStore.kt"}},
		{u, "file", []string{"config.toml"}},
		{u, "file", []string{"llama.cpp"}},
		{y, "text", []string{"internal/auth/token.go", "limit = 30"}},
		{n, "text", []string{"internal/auth/token.go", "limit = 31"}},
		{n, "text", []string{"internal/x.go", "x"}},
		{u, "text", []string{"out.txt", "root"}},
		{y, "symbol", []string{"internal/auth/token.go", "parseToken"}},
		{y, "symbol", []string{"internal/auth/token.go", "limit"}},
		{y, "symbol", []string{"src/App.tsx", "App"}},
		{u, "symbol", []string{"internal/auth/token.go", "PAYMENT_API_URL"}},
		{n, "symbol", []string{"internal/auth/token.go", "parse"}},
		{y, "lines", []string{"internal/auth/token.go", "6"}},
		{n, "lines", []string{"internal/auth/token.go", "7"}},
		{y, "matches", []string{"web/package.json", "1", "3"}},
		{y, "branch", []string{"main"}},
		{y, "branch", []string{"feature/login"}},
		{y, "branch", []string{"loose"}},
		{y, "branch", []string{"release/2"}},
		{y, "branch", []string{"origin/release/2"}},
		{n, "branch", []string{"feature"}},
		{n, "branch", []string{"nope"}},
		{y, "tag", []string{"v1.0.0"}},
		{n, "tag", []string{"v9"}},
		{y, "commit", []string{strings.TrimSpace(string(head))}},
		{y, "commit", []string{string(head[:8])}},
		{u, "commit", []string{"0123abc"}},
		{y, "dependency", []string{"github.com/alecthomas/kong"}},
		{y, "dependency", []string{"kong"}},
		{y, "dependency", []string{"ruamel.yaml"}},
		{y, "dependency", []string{"httpx"}},
		{y, "dependency", []string{"rich"}},
		{y, "dependency", []string{"serde"}},
		{n, "dependency", []string{"vue"}},
		{y, "version", []string{"kong", "v1.12"}},
		{n, "version", []string{"kong", "1.9"}},
		{y, "version", []string{"react", "18"}},
		{y, "version", []string{"react", "18.3.1"}},
		{n, "version", []string{"react", "17.0.2"}},
		{n, "version", []string{"@types/node", "20.2.0"}},
		{y, "version", []string{"django", "4.2"}},
		{u, "version", []string{"ruamel.yaml", "0.18"}},
		{n, "version", []string{"left-pad", "1.3.1"}},
		{y, "version", []string{"go", "1.26"}},
		{y, "target", []string{"lint"}},
		{n, "target", []string{"deploy"}},
		{y, "script", []string{"build:prod"}},
		{n, "script", []string{"deploy"}},
		{y, "dotenv", []string{"DATABASE_URL", ".env.example"}},
		{n, "dotenv", []string{"API_KEY", ".env.example"}},
		{u, "dotenv", []string{"OLD_URL", ".env.example"}},
		{u, "dotenv", []string{"API_KEY", ".env"}},
		{y, "env", []string{"PAYMENT_API_URL"}},
		{u, "env", []string{"NOT_THERE_AT_ALL"}},
		{y, "command", []string{"git"}},
		{u, "command", []string{"no-such-program-here"}},
	} {
		a := check(t, s, os.Getenv, tt.probe, tt.args...)
		if a.verdict != tt.want {
			t.Errorf("%s %q: %s (%s), want %s", tt.probe, tt.args, a.verdict, a.reason, tt.want)
		}
		if p, _ := Find(tt.probe); a.verdict == n && !p.MayFail() {
			t.Errorf("%s fails, which its evidence cannot show", tt.probe)
		}
	}
}

// Without a repository or a folder, nothing can be told.
func TestProbesWithoutProject(t *testing.T) {
	for _, s := range []Site{{}, {Root: filepath.Join(t.TempDir(), "gone")}} {
		for _, p := range Probes() {
			if p.Cost == Network || !p.Project {
				continue
			}
			args := map[string][]string{
				"text": {"a", "b"}, "symbol": {"a", "b"}, "lines": {"a", "1"}, "matches": {"a", "b", "1"}, "commit": {"abcdef0"}, "version": {"a", "1"}, "dotenv": {"A", "a"},
			}[p.Name]
			if args == nil {
				args = []string{"a"}
			}
			if a := check(t, s, os.Getenv, p.Name, args...); a.verdict != stillso.Unknown {
				t.Errorf("%s: %s (%s)", p.Name, a.verdict, a.reason)
			}
		}
	}
}

// A repository must not run anything: neither by a program that it ships, nor by its
// own config.
func TestHostileRepository(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts stand in for programs")
	}
	s := project(t)
	mark := filepath.Join(t.TempDir(), "ran")
	script := []byte("#!/bin/sh\ntouch '" + mark + "'\n")
	bin := filepath.Join(s.Root, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{filepath.Join(s.Root, "git"), filepath.Join(bin, "git"), filepath.Join(s.Root, "evil.sh")} {
		if err := os.WriteFile(p, script, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for key, value := range map[string]string{"core.fsmonitor": filepath.Join(s.Root, "evil.sh"), "core.pager": filepath.Join(s.Root, "evil.sh"), "core.hooksPath": s.Root} {
		if out, err := exec.Command("git", "-C", s.Root, "config", key, value).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	outside := t.TempDir()
	if err := os.Symlink(filepath.Join(bin, "git"), filepath.Join(outside, "git")); err != nil {
		t.Fatal(err)
	}
	t.Chdir(s.Root)
	for _, path := range []string{".", "bin", "", s.Root, bin, outside, ".:" + bin + ":" + os.Getenv("PATH")} {
		env := func(k string) string {
			if k == "PATH" {
				return path
			}
			return os.Getenv(k)
		}
		check(t, s, env, "commit", "abcdef0")
		check(t, s, env, "branch", "main")
		if got := check(t, s, env, "command", "git"); got.verdict == stillso.Holds && !strings.Contains(path, os.Getenv("PATH")) {
			t.Errorf("PATH=%s: the repository's own git is taken for a program", path)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Fatalf("PATH=%s: something of the repository was run", path)
		}
	}
}

// standIns writes programs that record how they are called and answer as the real
// ones do.
func standIns(t *testing.T, scripts map[string]string) (env func(string) string, record string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("shell scripts stand in for programs")
	}
	dir := t.TempDir()
	record = filepath.Join(dir, "calls")
	for name, body := range scripts {
		text := "#!/bin/sh\n{ printf '%s' " + name + "; for a in \"$@\"; do printf '|%s' \"$a\"; done; echo; env | sort | sed 's/^/env /'; pwd; } >> '" + record + "'\n" + body
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return func(k string) string {
		switch k {
		case "PATH":
			return dir + ":/usr/bin:/bin"
		case "GH_TOKEN":
			return "for-gh"
		case "EDITOR", "LD_PRELOAD_NOT", "STILLSO_HOME":
			return "must not be handed on"
		}
		return ""
	}, record
}

func TestTools(t *testing.T) {
	env, record := standIns(t, map[string]string{
		"gh": `case "$1 $3" in
"pr 1") echo '{"state":"MERGED"}';; "pr 2") echo '{"state":"CLOSED"}';; "pr 3") echo '{"state":"OPEN"}';; "pr 4") echo 'not logged in' >&2; exit 4;; "pr 5") echo '<html>';;
"repo "*) echo '{"visibility":"PRIVATE"}';; esac`,
		"doppler": `echo '{"STRIPE_KEY":{},"DB_URL":{}}'`,
		"aws":     `case "$4" in i-01234567) echo '["running"]';; i-0123456f) echo '["terminated"]';; *) echo 'InvalidInstanceID.NotFound' >&2; exit 254;; esac`,
	})
	s := Site{Root: t.TempDir(), Remote: "github.com/owner/repo"}
	const y, n, u = stillso.Holds, stillso.Fails, stillso.Unknown
	for _, tt := range []struct {
		want  stillso.Verdict
		probe string
		args  []string
	}{
		{y, "merged", []string{"this", "1"}},
		{u, "merged", []string{"a/b", "2"}}, // closed is not the end
		{u, "merged", []string{"this", "3"}},
		{u, "merged", []string{"this", "4"}},
		{u, "merged", []string{"this", "5"}},
		{y, "visibility", []string{"this", "private"}},
		{n, "visibility", []string{"a/b", "public"}},
		{y, "secret", []string{"STRIPE_KEY"}},
		{u, "secret", []string{"NOT_THERE"}},
		{y, "instance", []string{"i-01234567"}},
		{u, "instance", []string{"i-0123456f"}},
		{u, "instance", []string{"i-0123456789abcdef0"}},
	} {
		if a := check(t, s, env, tt.probe, tt.args...); a.verdict != tt.want {
			t.Errorf("%s %q: %s (%s), want %s", tt.probe, tt.args, a.verdict, a.reason, tt.want)
		}
	}
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, want := range []string{
		"gh|pr|view|1|--repo=owner/repo|--json=state", "gh|repo|view|a/b|--json=visibility",
		"doppler|secrets|--only-names|--json|--no-check-version|--no-read-env|--scope=" + s.Root,
		"aws|ec2|describe-instances|--instance-ids|i-01234567|--query|Reservations[].Instances[].State.Name|--output|json|--no-cli-pager",
		"env GH_TOKEN=for-gh", "/",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "must not be handed on") {
		t.Error("the whole environment was handed on")
	}
	// A tool that is not installed says nothing.
	nothing := func(string) string { return "" }
	for _, c := range [][]string{{"merged", "this", "1"}, {"visibility", "this", "public"}, {"secret", "A_B"}, {"instance", "i-01234567"}} {
		if a := check(t, s, nothing, c[0], c[1:]...); a.verdict != u {
			t.Errorf("%v: %s", c, a.verdict)
		}
	}
}
