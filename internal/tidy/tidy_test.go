package tidy

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/llm"
)

var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// note makes a memory of the project, n days before now.
func note(id string, typ stillso.Type, origin stillso.Origin, daysAgo int, content string) *stillso.Memory {
	m := &stillso.Memory{ID: id, Content: content, Type: typ, Origin: origin, Namespace: "project/p"}
	m.Default(now.AddDate(0, 0, -daysAgo))
	return m
}

func fact(id string, daysAgo int, content string) *stillso.Memory {
	return note(id, stillso.Fact, stillso.FromUser, daysAgo, content)
}

func run(t *testing.T, job Job, memories ...*stillso.Memory) *Result {
	t.Helper()
	n := 0
	job.Memories, job.Now, job.Batch = memories, now, "b"
	job.NewID = func() string { n++; return fmt.Sprintf("c%d", n) }
	res, err := Run(context.Background(), &job)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]*stillso.Memory{}
	for _, m := range memories {
		state[m.ID] = m
	}
	for _, c := range res.Changes { // each must rest on what was before it
		for _, e := range c.Edits {
			if e.Before != nil && !e.Before.Equal(state[e.Before.ID]) {
				t.Errorf("%s of %s rests on what is no longer so", c.Verb, e.Before.ID)
			}
			if err := e.After.Validate(); err != nil {
				t.Error(err)
			}
			if c.Outcome == stillso.Applied {
				state[e.After.ID] = e.After
			}
		}
	}
	return res
}

// brief says in a line what a run did.
func brief(res *Result) string {
	var out []string
	for _, c := range res.Changes {
		for _, e := range c.Edits {
			if e.Before != nil && !e.Before.Equal(e.After) && e.After.State != e.Before.State {
				out = append(out, fmt.Sprintf("%s %s %s", c.Outcome, c.Verb, e.Before.ID))
			} else if c.Verb == stillso.VerbEdit {
				out = append(out, fmt.Sprintf("%s edit %s: %s", c.Outcome, e.After.ID, e.After.Content))
			}
		}
	}
	return strings.Join(out, ", ")
}

// Two notes that say the same took two places in every answer; joining them lost
// what only one of them knew.
func TestDuplicates(t *testing.T) {
	a := note("inferred", stillso.Fact, stillso.FromInferred, 90, "The staging database listens on port 5433.")
	a.Aliases, a.Evidence = []string{"db port"}, []stillso.Evidence{{Quote: "listens on 5433", Turn: "t1"}}
	b := note("said", stillso.Fact, stillso.FromUser, 20, "the staging database  listens on port `5433`")
	b.Aliases = []string{"postgres port"}
	c := fact("later", 10, "The staging database listens on port 5433.")
	other := fact("other", 10, "The staging database listens on port 5433.")
	other.Namespace = "project/q"
	res := run(t, Job{}, a, b, c, other)
	if got := brief(res); got != "applied merge later, applied merge inferred" && got != "applied merge inferred, applied merge later" {
		t.Fatalf("did %s", got)
	}
	last := res.Changes[len(res.Changes)-1].Edits[0].After
	if last.ID != "said" || len(last.Aliases) != 2 || len(last.Evidence) != 1 {
		t.Errorf("the survivor is %s with aliases %v and evidence %v", last.ID, last.Aliases, last.Evidence)
	}
	m := note("rule", stillso.Constraint, stillso.FromUser, 5, "The staging database listens on port 5433.")
	if got := brief(run(t, Job{}, c, m)); got != "proposed merge rule" {
		t.Errorf("of another type: %s", got)
	}
}

// What is over stayed for ever, or a rule that the user stated decayed.
func TestAge(t *testing.T) {
	dead := note("dead", stillso.Fact, stillso.FromUser, 200, "The parser stands in src/old/parse.go.")
	dead.Claims = []stillso.Claim{{Probe: "path", Args: []string{"src/old/parse.go"}, Verdict: stillso.Fails, Reason: "path src/old/parse.go is gone"}}
	guess := dead.Clone()
	guess.ID, guess.Content, guess.Origin, guess.UpdatedAt = "guess", "The lexer was at src/old/lex.go.", stillso.FromInferred, now.AddDate(0, 0, -50)
	job := Job{FailingSince: func(*stillso.Memory) time.Time { return now.AddDate(0, 0, -40) }, Used: map[string]time.Time{"used": now.AddDate(0, 0, -3)}}
	for want, m := range map[string]*stillso.Memory{
		"applied retire over":      note("over", stillso.Todo, stillso.FromUser, 100, "Renew the certificate by 2026-04-01."),
		"applied retire chinese":   note("chinese", stillso.Todo, stillso.FromUser, 100, "2026-04-01 之前更新证书。"),
		"":                         note("open", stillso.Todo, stillso.FromUser, 100, "Renew the certificate by 2026-09-01."),
		"proposed retire asking":   note("asking", stillso.Todo, stillso.FromUser, 300, "Split the parser some day."),
		"applied retire unused":    note("unused", stillso.Fact, stillso.FromInferred, 120, "The flake comes from the clock."),
		"proposed retire habit":    note("habit", stillso.Preference, stillso.FromInferred, 300, "They like short commit messages."),
		"proposed retire happened": note("happened", stillso.Event, stillso.FromImport, 800, "The mail server moved."),
		"proposed retire dead":     dead,
		"applied retire guess":     guess,
	} {
		if got := brief(run(t, job, m)); got != want {
			t.Errorf("%s: %q, want %q", m.ID, got, want)
		}
	}
	for _, m := range []*stillso.Memory{
		note("rule", stillso.Constraint, stillso.FromUser, 3000, "Never push to main."), note("pref", stillso.Preference, stillso.FromProposal, 3000, "Answer briefly."),
		note("fact", stillso.Fact, stillso.FromUser, 3000, "The office is in Bonn."), note("said", stillso.Event, stillso.FromUser, 3000, "The mail server moved."),
		note("used", stillso.Fact, stillso.FromInferred, 120, "The flake comes from the clock."), note("young", stillso.Fact, stillso.FromInferred, 60, "The flake comes from the disk."),
		note("date", stillso.Todo, stillso.FromUser, 100, "Look at what was logged on 2026-02-01."),
	} {
		if got := brief(run(t, job, m)); got != "" {
			t.Errorf("%s: %s", m.ID, got)
		}
	}
}

// A changed value left both in recall; or a statement that only looks like it was
// taken for replaced, and knowledge was lost.
func TestReplace(t *testing.T) {
	for _, c := range []struct{ name, old, newer, want string }{
		{"number", "The staging database listens on port 5432.", "The staging database now listens on port 5433.", "applied supersede old"},
		{"number, not said to be new", "The staging database listens on port 5432.", "The staging database listens on port 5433.", "proposed supersede old"},
		{"name", "Release notes of the gateway are kept in Notion.", "Release notes of the gateway are now kept in Confluence.", "applied supersede old"},
		{"name, not said to be new", "Release notes of the gateway are kept in Notion.", "Release notes of the gateway are kept in Confluence.", ""},
		{"instead", "Install frontend dependencies with npm.", "Install frontend dependencies with pnpm instead of npm.", "applied supersede old"},
		{"chinese", "部署固定在每周二上午进行。", "部署改为每周四上午进行。", "proposed supersede old"},
		{"another subject", "The staging database listens on port 5432.", "The metrics database now listens on port 9090.", ""},
		{"another person", "Frank works from the Harbor office.", "Grace now also works from the Harbor office.", ""},
		{"a condition", "The test timeout in CI is 60 seconds.", "The test timeout on laptops is now 10 seconds.", ""},
		{"another attribute", "The staging database listens on port 5432.", "The staging database now holds 12 tables.", ""},
		{"chinese number", "网关的会话令牌有效期是 24 小时。", "网关的会话令牌有效期改为 12 小时。", "applied supersede old"},
		{"chinese name", "前端依赖用 npm 安装。", "前端依赖改用 pnpm 安装，不再用 npm。", "applied supersede old"},
		{"chinese, another subject", "网关的会话令牌有效期是 24 小时。", "账单的缓存有效期改为 12 小时。", ""},
		{"what has the value", "The tariff gateway stores sessions in Redis.", "The tariff gateway now stores carts in Redis.", "proposed supersede old"},
		{"a value in the middle", "Deploys of the shop happen on Tuesdays at noon.", "Deploys of the shop now happen on Thursdays at noon.", "proposed supersede old"},
		{"a part", "Tina's desk is Room 4B and her project alias is comet-blue.", "Tina's desk has moved to Room 7C.", "applied edit old: Tina's project alias is comet-blue."},
		{"one of six", "Open: exporter time zone, exporter memory, login loop, flaky e2e, stale cache, missing index.", "The exporter time zone is now fixed.", ""},
	} {
		if got := brief(run(t, Job{}, fact("old", 20, c.old), fact("new", 10, c.newer))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	old := fact("old", 20, "The staging database listens on port 5432.")
	lie := note("lie", stillso.Fact, stillso.FromImport, 10, "The staging database now listens on port 9999.")
	if got := brief(run(t, Job{}, old, lie)); got != "applied supersede lie" {
		t.Errorf("a lie: %s", got)
	}
	before := note("before", stillso.Fact, stillso.FromImport, 30, "The staging database listens on port 9999.")
	if got := brief(run(t, Job{}, before, old)); got != "applied supersede before" {
		t.Errorf("an import that the user contradicts later: %s", got)
	}
	news := note("news", stillso.Fact, stillso.FromInferred, 10, "The staging database now listens on port 9999.")
	if got := brief(run(t, Job{}, old, news)); got != "proposed supersede news" {
		t.Errorf("an inferred change: %s", got)
	}
	checked := note("checked", stillso.Fact, stillso.FromImport, 20, "The staging database listens on port 5432.")
	checked.Claims = []stillso.Claim{{Probe: "text", Args: []string{"a"}, Verdict: stillso.Holds}}
	if got := brief(run(t, Job{}, checked, lie)); got != "applied supersede lie" {
		t.Errorf("a lie beside what was verified: %s", got)
	}
	filed := note("filed", stillso.Fact, stillso.FromFile, 30, "The staging database listens on port 7777.")
	filed.File = &stillso.FileOrigin{Path: "/p/CLAUDE.md", Line: 3}
	if got := brief(run(t, Job{}, old, filed)); got != "proposed supersede old" {
		t.Errorf("a file: %s", got)
	}
	if got := brief(run(t, Job{}, old, note("event", stillso.Event, stillso.FromUser, 10, "The staging database now listens on port 5433."))); got != "proposed supersede old" {
		t.Errorf("another type: %s", got)
	}
}

// model answers with a fixed list of verdicts, whatever it is asked.
type model struct {
	verdicts any
	merges   any
	asked    []llm.Request
}

func (m *model) Name() string { return "test" }
func (m *model) Complete(_ context.Context, r llm.Request) (llm.Reply, error) {
	m.asked = append(m.asked, r)
	b, err := json.Marshal(map[string]any{"verdicts": m.verdicts, "merges": m.merges})
	return llm.Reply{Text: string(b)}, err
}

func verdictOf(relation string, confidence float64, more map[string]any) *model {
	v := map[string]any{"a": "new", "b": "old", "relation": relation, "confidence": confidence}
	for k, x := range more {
		v[k] = x
	}
	return &model{verdicts: []any{v}}
}

// The four retirements that a model got wrong elsewhere, and the guards that keep
// them from happening: each goes to a person with both texts.
func TestKnownWrongRetirements(t *testing.T) {
	user := stillso.FromUser
	for _, c := range []struct {
		name       string
		old, newer *stillso.Memory
		stop       string
	}{
		{
			"a reference retires a standing rule",
			note("old", stillso.Constraint, user, 90, "Hotfixes of the billing service always pass the staging deploy first."),
			note("new", stillso.Reference, user, 5, "How hotfixes of the billing service pass the staging deploy stands in docs/hotfix.md."), "does not supersede",
		},
		{
			"a release note of another product retires a fact, for both name one technology",
			fact("old", 90, "The order queue keeps its jobs in Redis 6."),
			fact("new", 5, "Acme Mailer 4 no longer keeps campaigns in Redis 6."), "topics",
		},
		{
			"a list of pointers retires what it points to",
			note("old", stillso.Reference, user, 90, "Rollback of the billing deploy: docs/rollback.md, step by step."),
			note("new", stillso.Reference, user, 5, "Billing deploy: docs/release.md, docs/hotfix.md, docs/rollback.md step by step, docs/oncall.md."), "list of pointers",
		},
		{
			"one resolved item retires a list of six",
			fact("old", 90, "Open in the exporter: time zone, memory, login loop, flaky e2e, stale cache, missing index."),
			fact("new", 5, "Exporter: the time zone is fixed, so nothing is open in the exporter."), "lists 6 items",
		},
	} {
		for _, relation := range []string{"covers", "conflicts", "supersedes"} {
			m := verdictOf(relation, 0.97, map[string]any{"shared_topics": []string{"exporter", "deploy", "queue"}, "coverage": "full", "reason": "newer"})
			res := run(t, Job{Model: m}, c.old, c.newer)
			if got := brief(res); len(m.asked) > 0 && got != "proposed supersede old" || strings.Contains(got, "applied") {
				t.Errorf("%s, %s: %s", c.name, relation, got)
				continue
			}
			if len(m.asked) == 0 {
				continue // blocking kept the pair from the model, so nothing can go wrong
			}
			ch := res.Changes[0]
			if !strings.Contains(ch.Reason, c.stop) && relation != "supersedes" && !strings.Contains(ch.Reason, "does not supersede") {
				t.Errorf("%s, %s: stopped for %q, want %q", c.name, relation, ch.Reason, c.stop)
			}
			if len(ch.Edits) != 2 || ch.Edits[1].After.Content != c.newer.Content {
				t.Errorf("%s: the proposal does not show both texts", c.name)
			}
		}
	}
}

// A verdict was acted on though the model was unsure, named memories that it had
// not been shown, or put old and new the wrong way round.
func TestVerdicts(t *testing.T) {
	old, newer := fact("old", 20, "Session tokens of the gateway live 24 hours."), fact("new", 10, "The gateway lets session tokens live 12 hours.")
	full := map[string]any{"shared": []string{"gateway", "session tokens"}, "coverage": "full"}
	plus := func(k string, v any) map[string]any {
		return map[string]any{"shared": full["shared"], "coverage": "full", k: v}
	}
	for name, c := range map[string]struct {
		m    *model
		want string
	}{
		"sure":             {verdictOf("conflicts", 0.9, full), "applied supersede old"},
		"other words":      {verdictOf("contradicts", 0.9, map[string]any{"shared_topics": []string{"gateway", "session"}, "coverage": 1}), "applied supersede old"},
		"one id twice":     {verdictOf("conflicts", 0.9, plus("a", "old")), "proposed supersede old"},
		"unsure":           {verdictOf("conflicts", 0.7, full), "proposed supersede old"},
		"very unsure":      {verdictOf("conflicts", 0.3, full), ""},
		"partial":          {verdictOf("conflicts", 0.9, plus("coverage", "partial")), "proposed supersede old"},
		"one shared topic": {verdictOf("conflicts", 0.9, plus("shared", []string{"gateway", "Postgres"})), "proposed supersede old"},
		"supplements":      {verdictOf("supplements", 0.9, full), ""},
		"unrelated":        {verdictOf("unrelated", 1, full), ""},
		"duplicate":        {verdictOf("duplicate", 0.99, full), "proposed merge new"},
		"not shown":        {verdictOf("conflicts", 0.9, plus("b", "elsewhere")), ""},
		"no number":        {verdictOf("conflicts", 0.9, plus("confidence", "high")), ""},
		"unknown relation": {verdictOf("replaces?", 0.9, full), "proposed supersede old"},
	} {
		far := fact("elsewhere", 30, "Lunch is at noon.")
		res := run(t, Job{Model: c.m}, old, newer, far)
		if got := brief(res); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	older := verdictOf("covers", 0.9, full)
	older.verdicts.([]any)[0].(map[string]any)["a"], older.verdicts.([]any)[0].(map[string]any)["b"] = "old", "new"
	if got := brief(run(t, Job{Model: older}, old, newer)); strings.Contains(got, "applied") {
		t.Errorf("an older one took the place of a newer one: %s", got)
	}
}

// What a person refused or took back was found again the next day.
func TestPastIsNotFoundAgain(t *testing.T) {
	a, b := fact("old", 20, "The staging database listens on port 5432."), fact("new", 10, "The staging database now listens on port 5433.")
	first := run(t, Job{}, a, b)
	if len(first.Changes) != 1 {
		t.Fatal(brief(first))
	}
	past := first.Changes
	past[0].Outcome = stillso.Undone
	if got := brief(run(t, Job{Past: past}, a, b)); got != "" {
		t.Errorf("after an undo: %s", got)
	}
	changed := b.Clone()
	changed.Content = "The staging database now listens on port 5434."
	if got := brief(run(t, Job{Past: past}, a, changed)); got != "" {
		t.Logf("another value later: %s", got)
	}
	m := verdictOf("unrelated", 1, nil)
	near := fact("new", 10, "The gateway lets session tokens live 12 hours.")
	res := run(t, Job{Model: m}, fact("old", 20, "Session tokens of the gateway live 24 hours."), near)
	judged := map[string]bool{}
	for _, k := range res.Judged {
		judged[k] = true
	}
	again := verdictOf("unrelated", 1, nil)
	run(t, Job{Model: again, Judged: judged}, fact("old", 20, "Session tokens of the gateway live 24 hours."), near)
	if len(m.asked) != 1 || len(again.asked) != 0 {
		t.Errorf("asked %d times, then %d", len(m.asked), len(again.asked))
	}
}

// Merging many small updates dropped facts without a word, elsewhere 745 of 931.
func TestCompressIsAProposal(t *testing.T) {
	var list []*stillso.Memory
	var ids []string
	for i, s := range []string{"is built with Bazel 7", "ships on Thursdays", "logs to Loki", "needs 4 GB of memory"} {
		list = append(list, fact(fmt.Sprintf("m%d", i), 40-i, "The invoice exporter service "+s+"."))
		ids = append(ids, list[i].ID)
	}
	m := &model{verdicts: []any{}, merges: []any{map[string]any{"ids": ids, "content": "The invoice exporter service is built with Bazel, ships on Thursdays and logs to Loki."}}}
	res := run(t, Job{Model: m}, list...)
	if len(res.Changes) != 1 || res.Changes[0].Outcome != stillso.Proposed || len(res.Changes[0].Edits) != 5 {
		t.Fatalf("%+v", res.Changes)
	}
	if !strings.Contains(res.Changes[0].Reason, "leaves out 4, 7") {
		t.Errorf("reason %q", res.Changes[0].Reason)
	}
}

// A rule that stands in a file and in a memory will one day be two rules.
func TestTwice(t *testing.T) {
	f := note("filed", stillso.Constraint, stillso.FromFile, 30, "Never push to main.")
	m := note("said", stillso.Constraint, stillso.FromUser, 20, "Never push to `main`")
	u := note("user", stillso.Preference, stillso.FromUser, 20, "never push to main.")
	u.Namespace = stillso.UserNamespace
	q := note("q", stillso.Constraint, stillso.FromUser, 20, "Never push to main.")
	q.Namespace = "project/q"
	got := Twice([]*stillso.Memory{f, m, u, q, note("x", stillso.Fact, stillso.FromFile, 2, "Once.")})
	if len(got) != 1 || len(got[0]) != 3 {
		t.Errorf("%v", got)
	}
}

// Ten thousand memories must be tidied while a person waits.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	var list []*stillso.Memory
	words := strings.Fields("gateway billing exporter invoice login session cache queue worker mailer search index report upload avatar webhook ledger refund coupon basket stock courier tariff meter tenant quota audit backup replica shard")
	for i := range 10_000 {
		a, b, c := words[i%len(words)], words[(i/7)%len(words)], words[(i/31)%len(words)]
		list = append(list, fact(fmt.Sprintf("m%05d", i), i%700, fmt.Sprintf("The %s %s of the %s in zone%d listens on port %d.", a, b, c, i%500, 3000+i)))
	}
	begin := time.Now()
	res := run(t, Job{}, list...)
	took := time.Since(begin)
	t.Logf("%d pairs, %d changes in %v", res.Pairs, len(res.Changes), took)
	if res.Pairs > 7*len(list) {
		t.Errorf("%d pairs of %d memories", res.Pairs, len(list))
	}
	if took > 5*time.Second {
		t.Errorf("took %v", took)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"verdicts":[{"a":"x","b":"y","relation":"conflicts","confidence":0.9,"coverage":"full"}],"merges":[{"ids":["a"],"content":"b"}]}`)
	f.Add(`{"verdicts":[{"a":"x","b":"y","relation":"superseded_by","confidence":"90%","shared":null}]}`)
	f.Add(`{"verdicts":[{"a":1,"b":{},"relation":[],"confidence":1e99}]}`)
	f.Fuzz(func(t *testing.T, reply string) {
		verdicts, _, _ := Parse(reply)
		for _, v := range verdicts {
			if v.A == "" || v.B == "" || v.A == v.B || !(v.Confidence >= 0 && v.Confidence <= 1) {
				t.Errorf("%+v", v)
			}
		}
	})
}

func FuzzClauses(f *testing.F) {
	f.Add("Tina's desk is Room 4B and her project alias is comet-blue.")
	f.Add("Dorian stores archives in C-18 and labels exports with frostline.")
	f.Add("A and b")
	f.Fuzz(func(t *testing.T, s string) {
		for _, c := range clauses(s) {
			if len(c) > len(s)*2+4 {
				t.Errorf("%q became %q", s, c)
			}
		}
	})
}

// An import of old notes buried the review under hundreds of questions.
func TestProposalsAreBounded(t *testing.T) {
	var list []*stillso.Memory
	for i := range 60 {
		list = append(list, note(fmt.Sprintf("t%d", i), stillso.Todo, stillso.FromImport, 400, fmt.Sprintf("Look at the old matter no. %d some day.", i)))
	}
	first := run(t, Job{}, list...)
	if len(first.Changes) != maxProposals {
		t.Errorf("%d proposals", len(first.Changes))
	}
	if second := run(t, Job{Past: first.Changes}, list...); len(second.Changes) != 0 {
		t.Errorf("%d more while %d wait", len(second.Changes), maxProposals)
	}
	past := first.Changes
	for i := range past {
		past[i].Outcome = stillso.Refused
	}
	if third := run(t, Job{Past: past}, list...); len(third.Changes) != 60-maxProposals {
		t.Errorf("%d after the first were decided", len(third.Changes))
	}
}
