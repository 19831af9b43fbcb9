package recall_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

var today = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const project stillso.Namespace = "project/shop"

// open builds a real snapshot of the memories and opens it.
func open(t testing.TB, memories ...*stillso.Memory) *snapshot.Snapshot {
	t.Helper()
	dir := t.TempDir()
	l := recall.NewLearner()
	for _, m := range memories {
		if m.Namespace == "" {
			m.Namespace = project
		}
		m.Default(today.AddDate(0, 0, -10))
		l.Memory(m)
	}
	model := l.Model()
	w, err := snapshot.Lock(dir, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	b, err := w.NewBase(snapshot.Options{Constants: model.Constants()})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range memories {
		if err := b.Add(model.Index(m)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(); err != nil {
		t.Fatal(err)
	}
	s, err := snapshot.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func ids(hits []recall.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.Doc.ID)
	}
	return strings.Join(out, " ")
}

// shop is a small store in several languages.
func shop() []*stillso.Memory {
	return []*stillso.Memory{
		{ID: "deploy", Type: stillso.Constraint, Name: "deploy-window", Content: "Deploys to production happen Tuesday to Thursday before 16:00; the freeze label blocks the pipeline."},
		{ID: "invoice", Type: stillso.Fact, Name: "invoice-rounding", Content: "Invoice totals are rounded half-even per line, never on the sum.", Aliases: []string{"the total on the bill is off by a cent"}},
		{ID: "postgres", Type: stillso.Fact, Name: "staging-database", Content: "Staging runs Postgres 15 behind pgbouncer on port 6432; prepared statements fail there."},
		{ID: "zh", Type: stillso.Preference, Name: "提交信息", Content: "提交信息用英文写，第一行不超过五十个字符，不加表情符号。"},
		{ID: "ko", Type: stillso.Procedure, Name: "배포-절차", Content: "배포 전에 마이그레이션을 먼저 돌리고 캐시를 비운다."},
		{ID: "ja", Type: stillso.Fact, Name: "画像サーバー", Content: "画像サーバーのキャッシュは十分で切れる。更新後は手動で消す。"},
		{ID: "signal", Type: stillso.Constraint, Name: "merge-word", Content: `"通过" means: merge the branch and push it.`},
		{ID: "file", Type: stillso.Fact, Name: "session-token-expiry", Content: "Session tokens expire after 20 minutes.", RelatedFiles: []string{"internal/auth/token.go"}},
	}
}

func ask(s *snapshot.Snapshot, prompt string) recall.Outcome {
	return recall.Recall(s, recall.Query{Prompt: prompt, Namespaces: []stillso.Namespace{project, stillso.UserNamespace}, Now: today, Explain: true})
}

// The right memory in front of a prompt in the user's own words, in any language.
func TestRecallFinds(t *testing.T) {
	s := open(t, shop()...)
	for prompt, want := range map[string]string{
		"can i deploy to production on friday or is the pipeline blocked?": "deploy",
		"the total on this bill is off by one cent again":                  "invoice",
		"pgbouncer on staging says prepared statement does not exist":      "postgres",
		"帮我写一下这次的提交信息":                                                     "zh",
		"배포하려는데 마이그레이션은 언제 돌려?":                                            "ko",
		"画像サーバーの更新が反映されない":                                                 "ja",
		"通过":    "signal",
		"「通过」！": "signal",
		"```\nlots of code\n```\nwhy are invoice totals rounded per line? [Image #1]":       "invoice",
		"<ide_opened_file>src/x.ts</ide_opened_file> how long until session tokens expire?": "file",
	} {
		if o := ask(s, prompt); len(o.Hits) == 0 || o.Hits[0].Doc.ID != want {
			t.Errorf("%q: got [%s], want %s first; %s %v", prompt, ids(o.Hits), want, o.Receipt.Silence, o.Receipt.Hits)
		} else if o.Receipt.Silence != "" || !o.Receipt.Hits[0].Shown {
			t.Errorf("%q: the receipt does not say so: %+v", prompt, o.Receipt)
		}
	}
}

// Tags and the reason are part of what a memory can be found by.
func TestRecallFields(t *testing.T) {
	m := append(shop(), &stillso.Memory{ID: "tagged", Type: stillso.Decision, Content: "We keep the old client for now.", Tags: []string{"graphql", "apollo"}, Why: "The subscription transport is not stable yet."})
	s := open(t, m...)
	for _, p := range []string{"shall we replace the graphql apollo client?", "is the old client kept because of the subscription transport?"} {
		if o := ask(s, p); !strings.HasPrefix(ids(o.Hits), "tagged") {
			t.Errorf("%q: got [%s] %s", p, ids(o.Hits), o.Receipt.Silence)
		}
	}
}

// Off-topic is worse than nothing: chat, signs and strange topics stay silent, and
// the receipt says why.
func TestRecallSilence(t *testing.T) {
	s := open(t, shop()...)
	for _, prompt := range []string{
		"", "ok, go on", "继续", "好的，谢谢", "다시 해줘", "続けて", "?", "👍", "\x00\xff\xfe", "\"' OR 1=1 --", "[Image #1]", "1",
		"what's a good pizza place around here?", "write me a haiku about autumn", "今天天气怎么样", "점심 뭐 먹지", "rename that variable to total",
		strings.Repeat("lorem ipsum dolor ", 5000), "\u202eevil", "\U0001f468\u200d", "a\x00b", "/clear", "通过了吗这个测试",
	} {
		if o := ask(s, prompt); len(o.Hits) > 0 || len(o.Hints) > 0 {
			t.Errorf("%q: got [%s] strength %.1f", prompt[:min(len(prompt), 60)], ids(o.Hits), o.Hits[0].Strength)
		} else if o.Receipt.Silence == "" {
			t.Errorf("%q: no reason for silence", prompt)
		}
	}
}

// A memory of another project must never be shown, however well it fits.
func TestRecallNamespaces(t *testing.T) {
	m := shop()
	m[0].Namespace = "project/other"
	m[1].Namespace = stillso.UserNamespace
	s := open(t, m...)
	if o := ask(s, "can i deploy to production on friday or is the pipeline blocked?"); len(o.Hits) > 0 {
		t.Errorf("got [%s]", ids(o.Hits))
	}
	if o := ask(s, "why are invoice totals rounded per line?"); ids(o.Hits) != "invoice" {
		t.Errorf("the user's own memory: got [%s]", ids(o.Hits))
	}
}

// What is superseded stands below its successor; what is retired or a draft is
// not shown; what the host loads itself is not shown twice.
func TestRecallStates(t *testing.T) {
	s := open(t,
		&stillso.Memory{ID: "old", Content: "The staging database listens on port 5432.", State: stillso.Superseded, SupersededBy: "new", UpdatedAt: today},
		&stillso.Memory{ID: "new", Content: "The staging database listens on port 6432."},
		&stillso.Memory{ID: "draft", Content: "The staging database listens on port 7432.", State: stillso.Draft},
		&stillso.Memory{ID: "gone", Content: "The staging database listens on port 8432.", State: stillso.Retired},
		&stillso.Memory{ID: "loaded", Content: "The staging database listens on port 9432.", File: &stillso.FileOrigin{Path: "CLAUDE.md", LoadedBy: []string{"claude-code"}}, Origin: stillso.FromFile},
	)
	q := recall.Query{Prompt: "on which port does the staging database listen?", Namespaces: []stillso.Namespace{project}, Now: today, Host: "claude-code"}
	o := recall.Recall(s, q)
	if len(o.Hits) == 0 || o.Hits[0].Doc.ID != "new" {
		t.Fatalf("got [%s]", ids(o.Hits))
	}
	for _, h := range o.Hits {
		if h.Doc.ID == "draft" || h.Doc.ID == "gone" || h.Doc.ID == "loaded" {
			t.Errorf("%s is shown", h.Doc.ID)
		}
		if h.Doc.ID == "old" && h.Doc.Label != "superseded by new" {
			t.Errorf("label %q", h.Doc.Label)
		}
	}
	q.Host = "codex"
	if o := recall.Recall(s, q); !strings.Contains(ids(o.Hits), "loaded") {
		t.Errorf("another host does not load it: got [%s]", ids(o.Hits))
	}
}

// Once a session: a memory that was shown is not shown again, and the next best
// does not come up instead.
func TestRecallOnce(t *testing.T) {
	s := open(t, shop()...)
	q := recall.Query{Prompt: "why are invoice totals rounded per line?", Namespaces: []stillso.Namespace{project}, Now: today, Skip: func(id string) bool { return id == "invoice" }}
	if o := recall.Recall(s, q); len(o.Hits) > 0 || !strings.Contains(o.Receipt.Silence, "already shown") {
		t.Errorf("got [%s], silence %q", ids(o.Hits), o.Receipt.Silence)
	}
}

// The turn before sharpens what the prompt touches, and brings nothing itself.
func TestRecallPreviousTurn(t *testing.T) {
	s := open(t, shop()...)
	ask := func(prompt, before string) recall.Outcome {
		return recall.Recall(s, recall.Query{Prompt: prompt, PreviousTurn: before, Namespaces: []stillso.Namespace{project}, Now: today, Explain: true})
	}
	const before = "pgbouncer on staging says prepared statement does not exist"
	if o := ask("ok, go on", before); len(o.Hits) > 0 {
		t.Errorf("context invented a topic: [%s]", ids(o.Hits))
	}
	alone, with := ask("and what about port 6432?", ""), ask("and what about port 6432?", before)
	if len(alone.Weighed) == 0 || len(with.Weighed) == 0 || with.Weighed[0].Strength <= alone.Weighed[0].Strength {
		t.Errorf("context does not sharpen: %v, %v", alone.Receipt.Hits, with.Receipt.Hits)
	}
}

// A hint is for what nearly passes, and never for a prompt without a topic.
func TestRecallHints(t *testing.T) {
	list := shop()
	for _, m := range list { // a longer text asks for more strength, so more of it is between hit and silence
		m.Body = "More of it stands in the handbook."
	}
	s := open(t, list...)
	hinted := 0
	for _, p := range []string{
		"is rounding per line ok?", "what happens with the freeze label?", "캐시 비워도 돼?", "about the pipeline", "tokens?", "port 6432?",
		"the label in the grafana dashboard is cut off", "rename the column total in the migration", "which port does vite use", "sum the line items of the basket",
		"the session dropped while the freeze was on", "prepared a statement for the press", "flush the queue before the migration", "16:00 works for me on tuesday",
	} {
		o := recall.Recall(s, recall.Query{Prompt: p, Namespaces: []stillso.Namespace{project}, Now: today, Hints: true})
		if len(o.Hits) > 0 && len(o.Hints) > 0 {
			t.Errorf("%q: a hit and a hint", p)
		}
		hinted += len(o.Hints)
	}
	if hinted == 0 {
		t.Error("nothing was hinted at")
	}
	if o := recall.Recall(s, recall.Query{Prompt: "ok, go on", Namespaces: []stillso.Namespace{project}, Now: today, Hints: true}); len(o.Hints) > 0 {
		t.Errorf("a hint without a topic: [%s]", ids(o.Hints))
	}
}

// Editing a file recalls what is recorded for it, by whichever path it is named.
func TestForFile(t *testing.T) {
	m := append(shop(),
		&stillso.Memory{ID: "mention", Content: "Clients declared in deploy/keycloak/realm-export.json reach a fresh stack only."},
		&stillso.Memory{ID: "bare", Content: "reconcile.sh must run after every change of a realm."},
		&stillso.Memory{ID: "common", Content: "Look at README.md and package.json first."})
	s := open(t, m...)
	for path, want := range map[string]string{
		"/home/u/shop/internal/auth/token.go":  "file",
		"internal/auth/token.go":               "file",
		`C:\work\shop\internal\auth\token.go`:  "file",
		"/other/place/token.go":                "",
		"/x/deploy/keycloak/realm-export.json": "mention",
		"/x/deploy/keycloak/reconcile.sh":      "bare",
		"/x/package.json":                      "",
		"/x/README.md":                         "",
		"":                                     "",
		"/":                                    "",
		strings.Repeat("a/", 5000) + "\x00.go": "",
	} {
		o := recall.ForFile(s, recall.FileQuery{Path: path, Namespaces: []stillso.Namespace{project}, Now: today})
		if ids(o.Hits) != want {
			t.Errorf("%s: got [%s], want [%s]", path[:min(len(path), 60)], ids(o.Hits), want)
		}
		if (o.Receipt.Silence == "") != (want != "") {
			t.Errorf("%s: silence %q", path[:min(len(path), 60)], o.Receipt.Silence)
		}
	}
	o := recall.ForFile(s, recall.FileQuery{Path: "internal/auth/token.go", Namespaces: []stillso.Namespace{project}, Now: today, Skip: func(string) bool { return true }})
	if len(o.Hits) > 0 {
		t.Errorf("shown twice: [%s]", ids(o.Hits))
	}
}

// A session begins with the residents and what matters, not with everything.
func TestStart(t *testing.T) {
	old := today.AddDate(-1, 0, 0)
	m := []*stillso.Memory{
		{ID: "resident", Content: "Answer in English.", Type: stillso.Preference, Resident: true, Namespace: stillso.UserNamespace},
		{ID: "rule", Content: "Never push to main.", Type: stillso.Constraint, Priority: 5, CreatedAt: old, UpdatedAt: old},
		{ID: "event", Content: "The build broke.", Type: stillso.Event, CreatedAt: old, UpdatedAt: old},
		{ID: "fact", Content: "The API is versioned.", Type: stillso.Fact, CreatedAt: old, UpdatedAt: old},
		{ID: "fresh", Content: "The cache was moved to Redis.", Type: stillso.Fact, Priority: 4, CreatedAt: today, UpdatedAt: today},
		{ID: "ordinary", Content: "Use pnpm, never npm.", Type: stillso.Constraint, Priority: 3, CreatedAt: today, UpdatedAt: today},
		{ID: "elsewhere", Content: "Use tabs.", Type: stillso.Constraint, Priority: 5, Namespace: "project/other"},
	}
	for i := range 30 {
		m = append(m, &stillso.Memory{ID: fmt.Sprint("minor", i), Content: "A minor thing.", Type: stillso.Fact, Priority: 2, CreatedAt: old, UpdatedAt: old})
	}
	s := open(t, m...)
	got := ids(recall.Start(s, recall.Query{Namespaces: []stillso.Namespace{stillso.UserNamespace, project}, Now: today}))
	if got != "resident rule fresh" {
		t.Errorf("got %s", got)
	}
}

// Newest first among equals, whatever the order of adding.
func TestRecallTies(t *testing.T) {
	var m []*stillso.Memory
	for i := range 6 {
		at := today.AddDate(0, 0, -i-1)
		m = append(m, &stillso.Memory{ID: fmt.Sprint("t", i), Type: stillso.Constraint, Content: "The staging database listens on port 6432.", CreatedAt: at, UpdatedAt: at})
	}
	slices.Reverse(m)
	o := ask(open(t, m...), "which port has the staging database?")
	if got := ids(o.Hits); got != "t0 t1 t2 t3 t4" {
		t.Errorf("got %s", got)
	}
}

// Any text is a valid prompt: no panic, no hit without a reason, the same answer
// as the slow scan that scores every memory.
func FuzzRecall(f *testing.F) {
	for _, p := range []string{"deploy on friday?", "通过", "배포 절차", "画像サーバー", "\x00\xff", "```", "<a><b", "https://x.y/z?a=b", "[Image", "@a/b.md", "2026-11-30T10:00:00Z", "Error: x\nError: y", strings.Repeat("invoice ", 3000), "KEY=value\n$ ls\nat x (y)"} {
		f.Add(p, "before")
	}
	memories := shop()
	s := open(f, memories...)
	fm := recall.Default()
	stats := recall.Count(memories)
	model := recall.ModelOf(s)
	scan := recall.NewScan(&fm, memories, model.Language, stats)
	f.Fuzz(func(t *testing.T, prompt, before string) {
		o := recall.Recall(s, recall.Query{Prompt: prompt, PreviousTurn: before, Namespaces: []stillso.Namespace{project}, Now: today, Hints: true, Explain: true})
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		for _, h := range o.Hits {
			if len(h.Matched) == 0 || h.Strength < h.Threshold {
				t.Fatalf("%q: %s without a reason: %+v", prompt, h.Doc.ID, h)
			}
		}
		if len(o.Hits) == 0 && o.Receipt.Silence == "" {
			t.Fatalf("%q: silent without a reason", prompt)
		}
		asked := fm.Ask(recall.Clean(prompt), model.Language, stats)
		q := make([]snapshot.QueryTerm, len(asked))
		for i, a := range asked {
			q[i] = snapshot.QueryTerm{Term: a.Term, Weight: float32(a.Weight)}
		}
		slow := scan.Search(q, 16)
		fast := s.In(project).Search(q, 16, nil)
		if len(slow) != len(fast) {
			t.Fatalf("%q: the scan finds %d, the snapshot %d", prompt, len(slow), len(fast))
		}
		for i := range slow {
			if d := slow[i].L - fast[i].L; d > .02 || d < -.02 {
				t.Fatalf("%q: place %d: scan %.3f, snapshot %.3f", prompt, i, slow[i].L, fast[i].L)
			}
		}
	})
}

func BenchmarkRecall(b *testing.B) {
	s := open(b, shop()...)
	for name, p := range map[string]string{
		"english80": strings.Repeat("can you look why the deploy of our shop fails when invoice totals are rounded twice on staging today ", 4),
		"chinese":   strings.Repeat("为什么部署脚本在导入数据库之后失败，需要重新配置服务器的缓存和图片目录？", 8),
		"paste":     strings.Repeat("2026-11-30 10:00:00 INFO something happened in the service of the shop\n", 1500) + "why?",
		"chat":      "ok, go on",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				ask(s, p)
			}
		})
	}
}
