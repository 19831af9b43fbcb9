package verify

import (
	"slices"
	"strings"
	"testing"

	"stillso"
)

func claimsOf(m *stillso.Memory) []string {
	var out []string
	for _, c := range Claims(m) {
		out = append(out, c.Probe+" "+strings.Join(c.Args, " "))
	}
	return out
}

// A checker that missed bare file names called stale memories fresh; one that took
// every word with a slash for a path called true ones false.
func TestClaims(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"Tokens are kept by src/auth/token_store.go in a ring buffer.", []string{"path src/auth/token_store.go"}},
		{"The model list is tested in slash_models_check.rs before release.", []string{"file slash_models_check.rs"}},
		{"The status page is at http://127.0.0.1:9/ and lists fill.", nil},
		{"The board is at https://board.example.com/x?y=1, see there.", []string{"url https://board.example.com/x?y=1"}},
		{"See `internal/auth/token.go:42` and (docs/setup.md).", []string{"path internal/auth/token.go", "path docs/setup.md"}},
		{"Sessions live in `internal/auth/`, not in the handler.", []string{"path internal/auth/"}},
		{"数据库配置在config/db.yaml里，不要改。", []string{"path config/db.yaml"}},
		{"入口是`main.go`。", []string{"file main.go"}},
		{"Use read/write locks and/or CI/CD; application/json; Node.js and Next.js.", nil},
		{"Import github.com/x/y/z.go? The client/server split stays.", nil},
		{"We deleted src/old.go last week.", nil},
		{"Old sessions are removed by src/session/cleanup.go every night.", []string{"path src/session/cleanup.go"}},
		{"The client is generated from api/shop.proto and created in src/make.ts.", []string{"path api/shop.proto", "path src/make.ts"}},
		{"src/old.go was removed, src/new.go does it.", []string{"path src/new.go"}},
		{"Remove the file `src/old.go` when you touch it.", nil},
		{"The branch `fix/x-1` has been deleted.", nil},
		{"会话由src/session/cleanup.go删除。", []string{"path src/session/cleanup.go"}},
		{"src/old.go已被删除。新建src/a.go即可。", nil},
		{"The tokens used to be in src/a.go; now they are in src/b.go.", []string{"path src/b.go"}},
		{"Create docs/plan.md when you start.", nil},
		{"Write e.g. src/thing.go first.", nil},
		{"In the backend repo, services/api.go holds the routes.", nil},
		{"Put it in path/to/file.go or foo/bar.go.", nil},
		{"Never touch db/schema.sql by hand.", []string{"path db/schema.sql"}},
		{"Releases are cut from the branch `release/24.1`.", []string{"branch release/24.1"}},
		{"The default is the `develop` branch.", []string{"branch develop"}},
		{"Push nothing to the main branch.", []string{"branch main"}},
		{"New branches start with `feature/`.", nil},
		{"The last good build is tagged v1.4.2.", []string{"tag v1.4.2"}},
		{"It works since commit 3fa9c1d.", []string{"commit 3fa9c1d"}},
		{"PR #42 was merged into it.", []string{"merged this 42"}},
		{"Wait until PR #42 is merged.", nil},
		{"The fix (https://github.com/o/r/pull/7) is merged.", []string{"url https://github.com/o/r/pull/7", "merged o/r 7"}},
		{"The repository is private.", []string{"visibility this private"}},
		{"Run `make lint` before a commit.", []string{"target lint"}},
		{"Click `make new document` in the menu.", nil},
		{"Log in as root@203.0.113.7; redis-server@6380 listens; ndim==1 there.", nil},
		{"See [setup](docs/setup.md) and the `*.dc.html` files, __init__.py and 600000.SH with Newtonsoft.Json.", []string{"path docs/setup.md", "file __init__.py"}},
		{"Scan it with tesseract.js by calling `tools/list`; index.js starts it.", []string{"file index.js"}},
		{"The branch `config.backend` is never taken.", nil},
		{"Edit app/stock/[code]/page.tsx for it.", []string{"path app/stock/[code]/page.tsx"}},
		{"Make sure that it builds; make it fast.", nil},
		{"Use npm run build:prod for releases.", []string{"script build:prod"}},
		{"We are on react@18.2.0 and django==4.2.", []string{"version react 18.2.0", "version django 4.2"}},
		{"Kong is github.com/alecthomas/kong v1.12.1 here.", []string{"version github.com/alecthomas/kong v1.12.1"}},
		{"Mail to jane@example.com.", nil},
		{"Set the environment variable PAYMENT_API_URL.", []string{"env PAYMENT_API_URL"}},
		{"DATABASE_URL stands in .env.local.", []string{"dotenv DATABASE_URL .env.local"}},
		{"STRIPE_KEY_LIVE is in Doppler.", []string{"secret STRIPE_KEY_LIVE"}},
		{"The runner is i-0123456789abcdef0.", []string{"instance i-0123456789abcdef0"}},
		{"Types `aBc`, `dEf` are in api/x.ts, defined there.", []string{"path api/x.ts"}},
		{"The function `parseToken` in internal/auth/token.go checks it.", []string{"path internal/auth/token.go", "symbol internal/auth/token.go parseToken"}},
		{"Answer in British English, in at most three sentences.", nil},
	} {
		got := claimsOf(&stillso.Memory{Type: stillso.Fact, Content: tt.text})
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s\n got %q\nwant %q", tt.text, got, tt.want)
		}
	}
}

// What was and what is to be done claims nothing about what is.
func TestClaimsByType(t *testing.T) {
	for _, kind := range []stillso.Type{stillso.Event, stillso.Todo} {
		if got := claimsOf(&stillso.Memory{Type: kind, Content: "See src/auth/token.go.", RelatedFiles: []string{"a/b.go"}}); len(got) > 0 {
			t.Errorf("%s claims %q", kind, got)
		}
	}
	got := claimsOf(&stillso.Memory{
		Type: stillso.Fact, Content: "See src/auth/token.go.", RelatedFiles: []string{"src/auth/token.go", "/abs/x.go", "../out.go", "web/a.ts"},
		Body: "See src/auth/token.go.\n```\ncat src/other.go\n```\nand pkg/one.go",
	})
	want := []string{"path src/auth/token.go", "path web/a.ts", "path pkg/one.go"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A claim of a person stays; a verdict stays with the claim, and goes with the words.
func TestClaimsKeepVerdicts(t *testing.T) {
	m := &stillso.Memory{Type: stillso.Fact, Content: "See src/a.go and src/b.go."}
	m.Claims = Claims(m)
	m.Claims[0].Verdict, m.Claims[0].Reason = stillso.Fails, "path src/a.go is gone"
	m.Claims = append(m.Claims, stillso.Claim{ID: "mine", Probe: "branch", Args: []string{"main"}})
	if got := Claims(m); len(got) != 3 || got[0].ID != "mine" || got[1].Verdict != stillso.Fails {
		t.Errorf("%+v", got)
	}
	m.Content = "See src/b.go."
	if got := Claims(m); len(got) != 2 || slices.ContainsFunc(got, func(c stillso.Claim) bool { return c.Verdict == stillso.Fails }) {
		t.Errorf("%+v", got)
	}
}

func FuzzClaims(f *testing.F) {
	for _, s := range []string{"See src/a.go, `make x`, http://x.io/, 数据在a/b.py里。", "branch `x`", "\xff`", "a.b.c/d.go:1", "```\nx"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m := &stillso.Memory{Type: stillso.Fact, Content: s, Body: s + "\n" + s, RelatedFiles: []string{s}}
		got := Claims(m)
		if len(got) > MaxClaims {
			t.Fatalf("%d claims", len(got))
		}
		for _, c := range got {
			if err := Valid(c); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
		}
		m.Claims = got
		if again := Claims(m); len(again) != len(got) {
			t.Fatalf("%d claims, then %d", len(got), len(again))
		}
	})
}
