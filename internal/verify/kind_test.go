package verify

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"stillso"
)

// hostile lists arguments that once made a tool run a command, leave its folder, ask a
// private address, or take a value for an option; all must be refused by type.
func hostile() map[string][]string {
	return map[string][]string{
		"branch": {
			"main; touch x", "$(id)", "`id`", "main && id", "main|id", "--upload-pack=touch x", "../../etc/passwd", "main\nid", "file:///etc/passwd",
			"-", "--", "-oProxyCommand=id", "--output=x", "a..b", "@{-1}", "HEAD", "main^{/x}", ":/fix", "a.lock", "a/b.LOCK", "refs/heads/../../config", "refs/heads/main", "a//b", "a/.git", "/a", "a/", "a.",
			"main\x00", "ma\u202ein", "ma\u200bin", "m\u0430in", "\x1b]8;;x\x07", strings.Repeat("a", 5000), "\xff\xfe", "", "%2e%2e", "main\U000E0041", "a~1", "a?b", "a*", "a[b", "a\\b", "a b", "x/-y", "nul",
		},
		"tag":    {"v1;id", "--contains", "v1\r\n", "v1^{}", "@", "v1@{0}"},
		"commit": {"HEAD", "abc", "--all", "g123456", "abcdef0^{/x}", "ABCDEF0;id", strings.Repeat("a", 41), "abcdef0\n", "0x12345"},
		"path": {
			"/etc/shadow", "~/.ssh", "~root/x", "a/../../x", "..", ".", "../x", "C:\\x", "C:/x", "\\\\host\\x", "//host/x", "*", "a/*.go", "$HOME", "${HOME}/x", "-rf", "a/-rf", "a\x00", "/proc/self/environ",
			strings.Repeat("a/", 3000) + "a", strings.Repeat("a/", 100) + "a", "a//b", "a/./b", "CON", "a/nul.txt", "COM1", "lpt9.log", "x.", "a/x./b", "x ", "a:b", "a.txt:stream", ".GIT/config", "a/.git/config", ".g\u200cit", "git~1/x", ".git", "`id`", "a;b", "a|b", "a&b", "a>b",
			"a\nb", "a\tb", "%2e%2e/x", "a\u202eb", "\xff", "аdmin/x\u0430b.go", "a\u2044b", "\uff0e\uff0e/x", "",
		},
		"file":       {"a/b", "..", "-x", "NUL", "x.", "a\\b", "a:b", "*", ""},
		"text":       {"", "a\nb", "a\x1b[0m", "a\u202eb", strings.Repeat("x", 300), "\xff", "a\u2028b", "a\U000E0041"},
		"symbol":     {"a b", "-x", "a;b", "a\nb", "a..b", ".a", "1a", "a*", "(?i)x", ""},
		"lines":      {"-1", "1e9", "+1", "01", "99999999999", "0x10", " 1", ""},
		"merged":     {"owner/repo;id", "../../x", "owner/..", "-R/evil", "-o/x", "owner/-x", "/../x", "owner/repo/x", "owner/repo?x=1", "https://github.com/o/r", "owner", "/x", "owner/", "owner/.git", "o\nx/r"},
		"number":     {" --web", "--web", "-1", "1099511627776", "0", "01", "1;id", "#1", "1.0", ""},
		"visibility": {"secret", "public\n", "--web", "PUBLIC", ""},
		"env":        {" --plain", "../x", "-h", "a=b", "$(id)", "A\nB", "1A", "A-B", "A B", ""},
		"instance":   {"i-123", "i-0123456g", "--debug", "i-012345678;id", "I-01234567", "i-0123456789abcdef01", "i-01234567\n"},
		"target":     {"-B", "--eval=x", "a;b", "a b", "$(shell id)", "../x", "a//b", "a\n", "-", ""},
		"command":    {"./x", "/bin/sh", "../sh", "-c", "a b", "a;b", "a\\b", ""},
		"dependency": {"-e", "--index-url=x", "../x", "a/../b", "git+ssh://x", "a b", "@x", "a@1", "a\nb", "a//b", "/a", ""},
		"version":    {"-1", "latest;id", "$(id)", "1..2", ">=1", "1 2", "1\n", "", "v"},
		"url": {
			"http://127.0.0.1/", "http://localhost/", "http://localhost./", "http://169.254.169.254/latest", "http://100.100.100.200/", "http://[::1]/", "http://[::ffff:127.0.0.1]/", "http://[64:ff9b::7f00:1]/",
			"http://2130706433/", "http://0x7f000001/", "http://0177.0.0.1/", "http://127.1/", "http://0/", "http://10.0.0.1/", "http://u:p@example.com/", "http://u@example.com/", "http://github.com@127.0.0.1/", "gopher://example.com/",
			"file:///etc/passwd", "ftp://example.com/", "http://metadata.google.internal/", "http://printer.local/", "http://example.com:22/", "http://example.com:6379/", "http://example.com:0/", "http://example.com:/", "http://①②⑦.⓪.⓪.①/",
			"http://exa\u200bmple.com/", "http://example.com/\r\nHost: x", "//evil.com/", "javascript:alert(1)", "http://[fe80::1%25eth0]/", "http://[fd00::1]/", "-http://example.com/", "http://xn--80ak6aa92e.com/", "http://host\\@evil.com/", "http://example.com./",
			"http://[2002:7f00:1::]/", "http://example/", "http://a..com/", "http://-a.com/", "http://a_b.com/", "http://router.lan/", "http://x.home.arpa/", "http:example.com", "http:///x", "http://", "HTTP://127.0.0.1/", "http://8.8.8.8/", "http://1.2.3.4.5/", "http://exämple.com/", "http://example.com/ x", "http://example.com/`id`", "http://example.c0m/", "http://%31%32%37.0.0.1/", strings.Repeat("http://example.com/", 200), "",
		},
	}
}

// kindOf returns the kind that a row of the tables is about.
func kindOf(row string) Kind {
	switch row {
	case "lines":
		return Count
	case "number":
		return Number
	case "visibility":
		return Visibility
	case "version":
		return Version
	case "text":
		return Text
	case "symbol":
		return Symbol
	}
	p, ok := Find(row)
	if !ok {
		panic(row)
	}
	return p.Args[0]
}

func TestHostileArguments(t *testing.T) {
	n := 0
	for row, list := range hostile() {
		k := kindOf(row)
		for _, s := range list {
			n++
			if k.Check(s) == nil {
				t.Errorf("%s accepts %q", k.Name, s)
			}
		}
	}
	if n < 60 {
		t.Errorf("%d hostile arguments", n)
	}
	t.Logf("%d hostile arguments refused", n)
}

// benign lists what people write; a validator that refuses it is of no use.
func benign() map[string][]string {
	return map[string][]string{
		"branch":     {"main", "feature/login-2", "release/1.2", "user/jane.doe/x_y", "fix#12", "dependabot/npm_and_yarn/x-1.2.3"},
		"tag":        {"v1.2.3", "2024-01-01", "v1.0.0-rc.1+b2"},
		"commit":     {"abcdef0", strings.Repeat("0a", 20)},
		"path":       {"internal/auth/token.go", "app/[id]/page.tsx", "docs/", ".github/workflows/ci.yml", "src/(group)/a+b@2x.png", "文档/设计.md", "a b/c.txt", "pkg/nullable.go", "src/console.ts"},
		"file":       {"Makefile", "token_store.go", ".env.example"},
		"text":       {"func main() {", "超时 = 30", "a `b` $c"},
		"symbol":     {"ParseToken", "http.Client", "_x", "$el"},
		"merged":     {"owner/repo", "a-b/c.d_e", "this"},
		"env":        {"DATABASE_URL", "_X", "a1"},
		"instance":   {"i-01234567", "i-0123456789abcdef0"},
		"target":     {"test", "build:prod", "docker/build", "v2.1"},
		"command":    {"gh", "python3.12", "clang++"},
		"dependency": {"react", "@types/node", "github.com/alecthomas/kong", "ruamel.yaml", "gopkg.in/yaml.v3"},
		"version":    {"1.2.3", "v1.9", "18", "2.0.0-rc.1"},
		"url":        {"https://example.com/", "http://docs.example.co.uk:8080/a/b?c=d&e=%20f", "https://go.dev", "https://a-b.io/~x/(y)"},
	}
}

func TestBenignArguments(t *testing.T) {
	n := 0
	defer func() { t.Logf("%d benign arguments accepted", n) }()
	for row, list := range benign() {
		k := kindOf(row)
		for _, s := range list {
			n++
			if err := k.Check(s); err != nil {
				t.Errorf("%s %q: %v", row, s, err)
			}
		}
	}
}

// A claim from an import or a model may have any shape.
func TestHostileClaims(t *testing.T) {
	for _, c := range []stillso.Claim{
		{Probe: "shell", Args: []string{"id"}},
		{Probe: "", Args: nil},
		{Probe: "path"},
		{Probe: "path", Args: []string{"a", "b"}},
		{Probe: "PATH", Args: []string{"a"}},
		{Probe: "path ", Args: []string{"a"}},
		{Probe: "text", Args: []string{"a.go"}},
		{Probe: "path", Args: []string{""}},
	} {
		if Valid(c) == nil {
			t.Errorf("%+v is valid", c)
		}
	}
	for _, text := range []string{`{"probe":"path","args":"a"}`, `{"probe":"path","args":[1]}`, `{"probe":["path"],"args":[]}`, `{"probe":"path","args":{"a":1}}`} {
		var c stillso.Claim
		if err := json.Unmarshal([]byte(text), &c); err == nil && Valid(c) == nil {
			t.Errorf("%s is valid", text)
		}
	}
	m := &stillso.Memory{Type: stillso.Fact, Content: "x"}
	for i := range 50 {
		m.Claims = append(m.Claims, stillso.Claim{ID: fmt.Sprint("c", i/2), Probe: "path", Args: []string{fmt.Sprintf("a/%d.go", i)}})
	}
	got := Claims(m)
	if len(got) != MaxClaims {
		t.Errorf("%d claims of 50", len(got))
	}
	for i, c := range got {
		for _, o := range got[:i] {
			if o.ID == c.ID {
				t.Errorf("two claims are called %s", c.ID)
			}
		}
	}
}

// calls lists what the probes execute for accepted arguments.
func calls(a, b string) map[string]call {
	out := map[string]call{}
	site := Site{Root: "/p", GitDir: "/p/.git"}
	if Commit.Check(a) == nil {
		out["git"] = gitCommit(site, []string{a})
	}
	if Repository.Check(a) == nil && Number.Check(b) == nil && a != thisRepository {
		out["pull"] = ghPull(a, b)
	}
	if Repository.Check(a) == nil && a != thisRepository {
		out["visibility"] = ghVisibility(a)
	}
	if Instance.Check(a) == nil {
		out["aws"] = awsInstance(a)
	}
	return out
}

// FuzzArgv: whatever is accepted, the program gets the same number of arguments, the
// fixed ones stay what they are, and the argument is one of its own that no program
// takes for an option.
func FuzzArgv(f *testing.F) {
	for _, list := range hostile() {
		for _, s := range list {
			f.Add(s, "12")
			f.Add("owner/repo", s)
		}
	}
	for _, list := range benign() {
		for _, s := range list {
			f.Add(s, "7")
		}
	}
	model := calls("abcdef0", "1")
	for k, c := range calls("owner/repo", "1") {
		model[k] = c
	}
	for k, c := range calls("i-01234567", "1") {
		model[k] = c
	}
	if len(model) != 4 {
		f.Fatalf("%d calls", len(model))
	}
	sample := []string{"abcdef0", "owner/repo", "i-01234567", "1"}
	f.Fuzz(func(t *testing.T, a, b string) {
		for name, c := range calls(a, b) {
			want := model[name]
			if c.tool != want.tool || len(c.argv) != len(want.argv) {
				t.Fatalf("%s: %q", name, c.argv)
			}
			for i, arg := range c.argv {
				fixed := true
				for _, s := range sample {
					at := strings.Index(want.argv[i], s)
					if at < 0 || s == "1" && want.argv[i] != "1" {
						continue
					}
					fixed = false
					head, tail := want.argv[i][:at], want.argv[i][at+len(s):]
					if !strings.HasPrefix(arg, head) || !strings.HasSuffix(arg, tail) || head == "" && arg[0] == '-' {
						t.Fatalf("%s: argument %d is %q", name, i, arg)
					}
				}
				if fixed && arg != want.argv[i] {
					t.Fatalf("%s: argument %d is %q, not %q", name, i, arg, want.argv[i])
				}
				if strings.ContainsAny(arg, "\x00\n\r;|&`$<>\\\"' \t") {
					t.Fatalf("%s: argument %d is %q", name, i, arg)
				}
			}
		}
		for _, p := range Probes() {
			for _, k := range p.Args {
				if k.Name != "text" && k.Check(a) == nil && (a[0] == '-' || strings.ContainsAny(a, "\x00\n\r") || strings.Contains(a, "../")) && k.Name != "address" {
					t.Fatalf("%s accepts %q", k.Name, a)
				}
			}
		}
	})
}
