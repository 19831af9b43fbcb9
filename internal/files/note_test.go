package files

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stillso"

	"github.com/google/go-cmp/cmp"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func options() Options {
	return Options{Namespace: "project/p1", Root: "/repo", Now: now}
}

// A description that YAML calls wrong was lost together with its note.
func TestFrontMatter(t *testing.T) {
	for _, c := range []struct {
		name, matter string
		want         map[string]string
	}{
		{"both spellings", "type: rule\nmetadata:\n  node_type: memory\n  type: feedback", map[string]string{
			"type": "rule", "metadata": "", "metadata.node_type": "memory", "metadata.type": "feedback",
		}},
		{"quoted with escapes", `a: "say \"no\": \\ now \u00e9 \n next"`, map[string]string{"a": "say \"no\": \\ now é \n next"}},
		{"single quotes", "a: 'it''s so' # why", map[string]string{"a": "it's so"}},
		{"quoted over lines", "a: \"one\n  two\n\n  three\"\nb: x", map[string]string{"a": "one two  three", "b": "x"}},
		{"colon and apostrophe unquoted", "a: MERGED: it's PR #305 (see x: y)", map[string]string{"a": "MERGED: it's PR #305 (see x: y)"}},
		{"comment", "# head\na: v # note\nb: v#1", map[string]string{"a": "v", "b": "v#1"}},
		{"literal", "a: |\n  one\n    two\n\n  three\nb: x", map[string]string{"a": "one\n  two\n\nthree", "b": "x"}},
		{"folded", "a: >-\n  one\n  two\n\n  three\nb: x", map[string]string{"a": "one two\nthree", "b": "x"}},
		{"plain over lines", "a: one\n  two: still a\nb: x", map[string]string{"a": "one two: still a", "b": "x"}},
		{"plain without indent", "a: one\nand two\nb: x", map[string]string{"a": "one and two", "b": "x"}},
		{"lists", "a: [x, \"y, z\"]\nb:\n  - p\n  - 'q'\nc: [open", map[string]string{"a": "x, y, z", "b": "p, q", "c": "[open"}},
		{"a quote that is text", "a: \"soon\" is no date\nb: x", map[string]string{"a": "\"soon\" is no date", "b": "x"}},
		{"other scripts", "标题: 部署\nключ: да", map[string]string{"标题": "部署", "ключ": "да"}},
		{"a link", "a: http://x.test/?q=1: 2", map[string]string{"a": "http://x.test/?q=1: 2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields, body, err := splitFrontMatter("---\n" + c.matter + "\n---\nbody\n")
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, f := range fields {
				got[f.key] = f.text()
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if body != "body\n" {
				t.Errorf("body = %q", body)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       stillso.Memory // only the fields that are set are compared
	}{
		{
			"short text is content",
			"---\nid: N1\ntitle: \"Billing reviews\"\ntype: rule\nscope: project\ncreated: 2026-02-10T09:00:00Z\n---\nRun it in the main session.\n",
			stillso.Memory{
				ID: "N1", Name: "Billing reviews", Type: stillso.Constraint, Namespace: "project/p1", Content: "Run it in the main session.",
				CreatedAt: time.Date(2026, 2, 10, 9, 0, 0, 0, time.UTC), State: stillso.Active, Origin: stillso.FromImport,
			},
		},
		{
			"user scope, pinned, superseded, unknown keys",
			"---\nid: N2\ntype: decision\nscope: user\npinned: true\nsuperseded_by: N3\nteam-lead: nobody\n---\nUse tabs.\n",
			stillso.Memory{
				ID: "N2", Type: stillso.Decision, Namespace: "user", Resident: true, SupersededBy: "N3", State: stillso.Superseded,
				Content: "Use tabs.", Extra: map[string]string{"team-lead": "nobody"},
			},
		},
		{
			"auto-memory, new spelling",
			"---\nname: git-push-hang\ndescription: \"Push hangs: use SSH.\"\nmetadata: \n  node_type: memory\n  type: feedback\n  originSessionId: S9\n  modified: 2026-02-01T10:00:00.5Z\n---\n\nLong text. See [[other-note]].\n\nMore.\n",
			stillso.Memory{
				Name: "git-push-hang", Type: stillso.Preference, Content: "Push hangs: use SSH.", Body: "Long text. See [[other-note]].\n\nMore.",
				SourceSession: "S9", UpdatedAt: time.Date(2026, 2, 1, 10, 0, 0, 5e8, time.UTC), Extra: map[string]string{"metadata.node_type": "memory"},
			},
		},
		{
			"auto-memory, old spelling",
			"---\nname: Deploy\ndescription: How to deploy\ntype: reference\n---\n# Deploy\n\nCall make deploy.\n",
			stillso.Memory{Name: "Deploy", Type: stillso.Reference, Content: "How to deploy", Body: "# Deploy\n\nCall make deploy."},
		},
		{
			"first three sentences of a long text",
			"# Title\n\nOne is 3.11 now. Two, e.g. this one. Three? Four!\n\nSecond paragraph.\n",
			stillso.Memory{Name: "note", Content: "One is 3.11 now. Two, e.g. this one. Three?", Body: "# Title\n\nOne is 3.11 now. Two, e.g. this one. Three? Four!\n\nSecond paragraph."},
		},
		{
			"words that are none of ours are kept",
			"---\ncreated: last week\ntype: insight\nstatus: done\npriority: high\nscope: backend\n---\nText.\n",
			stillso.Memory{
				Type: stillso.Fact, State: stillso.Active, Priority: 3, Namespace: "project/p1", Content: "Text.",
				Extra: map[string]string{"created": "last week", "type": "insight", "status": "done", "priority": "high", "scope": "backend"},
			},
		},
		{"chinese sentences", "一。二！三？四。", stillso.Memory{Content: "一。二！三？", Body: "一。二！三？四。"}},
		{"only code", "```\nmake golden\n```\n", stillso.Memory{Content: "make golden", Body: "```\nmake golden\n```"}},
		{"a rule inside the body is no front matter", "Text.\n\n---\nid: X\n---\n", stillso.Memory{Name: "note", Content: "Text.", Body: "Text.\n\n---\nid: X\n---"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseNote("/repo/note.md", c.text, now, options())
			if err != nil {
				t.Fatal(err)
			}
			set := cmp.FilterPath(func(p cmp.Path) bool {
				v, _ := p.Last().Values()
				return len(p) == 2 && v.IsZero()
			}, cmp.Ignore())
			if d := cmp.Diff(c.want, *got, set); d != "" {
				t.Error(d)
			}
			if c.want.Body == "" && got.Body != "" {
				t.Errorf("body = %q, want none", got.Body)
			}
		})
	}
}

// A file that is no note must say so: a peer read a binary as an empty note.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, want string }{
		"empty.md":   {"", "it is empty"},
		"blank.md":   {" \n\n\t\n", "it is empty"},
		"binary.md":  {"abc\x00def", "it is binary (zero byte at 3)"},
		"latin1.md":  {"caf\xe9", "not valid UTF-8 (byte 3)"},
		"utf16.md":   {"\xff\xfea\x00", "it is UTF-16; save it as UTF-8"},
		"open.md":    {"---\nid: X\nno end", "line 1: the front matter is not closed"},
		"odd.md":     {"---\n}{ nonsense\n---\nx", "line 2: \"}{ nonsense\" is no entry"},
		"nothing.md": {"---\nid: X\n---\n", "the note says nothing"},
		"huge.md":    {strings.Repeat("x", MaxFile+1), "more than 4 MB"},
		"body.md":    {strings.Repeat("word. ", 60_000), "the body has"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ReadMarkdown(path, options())
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want %q and the path", name, err, c.want)
		}
	}
	for _, path := range []string{filepath.Join(dir, "missing.md"), dir} {
		if _, err := ReadMarkdown(path, options()); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// A body that starts with three dashes was exported with two front matters.
func TestMarkdownRoundTrip(t *testing.T) {
	for _, m := range []*stillso.Memory{
		{Content: "Use tabs."},
		{Content: "One. Two. Three. Four.", Name: "a: b # c"},
		{Content: "Say \"no\".", Body: "---\nid: FAKE\n---\ntext\n\n---"},
		{Content: "带空格的 中文。", Aliases: []string{"one, two", "three"}, Tags: []string{"a b"}},
		{Content: "x", Why: "line\nbreak\tand tab", Extra: map[string]string{"team-lead": "n: o", "metadata.kind": "z"}},
		{Content: "x", Resident: true, State: stillso.Superseded, SupersededBy: "N2", Priority: 5, Origin: stillso.FromUser, Type: stillso.Todo},
	} {
		m.ID, m.Namespace = "N1", "project/p1"
		if m.Name == "" {
			m.Name = "n"
		}
		m.Default(now)
		var b bytes.Buffer
		if err := WriteMarkdown(&b, m); err != nil {
			t.Fatal(err)
		}
		got, err := parseNote("/x/n.md", b.String(), now, options())
		if err != nil {
			t.Fatalf("%v\n%s", err, &b)
		}
		got.File = nil
		if d := cmp.Diff(m, got); d != "" {
			t.Errorf("%s\n%s", d, &b)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("---\nid: N1\ntitle: \"A b\"\nmetadata:\n  type: rule\n---\nText. More.\n")
	f.Add("---\na: |\n  x\nb: >\n y\nc: [p, 'q\n---\n")
	f.Add("- item\n\n```go\nx\n```\n# h")
	f.Add("---\nd: \"open\n\\\n---\nx")
	f.Fuzz(func(t *testing.T, text string) {
		text, err := clean([]byte(text))
		if err != nil {
			return
		}
		m, err := parseNote("/repo/n.md", text, now, options())
		if err != nil {
			return
		}
		again, err := parseNote("/repo/n.md", text, now, options())
		if err != nil || !again.Equal(m) {
			t.Fatalf("read twice, two memories: %v", err)
		}
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteMarkdown(&b, m); err != nil {
			t.Fatal(err)
		}
		back, err := parseNote("/repo/n.md", b.String(), now, options())
		if err != nil {
			t.Fatalf("%v\n%s", err, &b)
		}
		if back.ID != m.ID || oneLine(back.Content) != oneLine(m.Content) || oneLine(back.Body) != oneLine(m.Body) {
			t.Fatalf("changed by a round trip: %q %q\n%q %q\n%s", m.Content, m.Body, back.Content, back.Body, &b)
		}
	})
}

func TestSentences(t *testing.T) {
	for text, want := range map[string][]string{
		"we use pnpm. never npm.":          {"we use pnpm.", "never npm."},
		"Use e.g. make lint. Then push.":   {"Use e.g. make lint.", "Then push."},
		"Go 1.26, see a.b.c and x.go now.": {"Go 1.26, see a.b.c and x.go now."},
		"No. 5 is alive! No. Yes? ok":      {"No. 5 is alive!", "No. Yes?", "ok"},
		"一。二！":                             {"一。", "二！"},
		"":                                 nil,
	} {
		if d := cmp.Diff(want, sentences(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
}
