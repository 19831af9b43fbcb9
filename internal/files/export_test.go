package files

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"stillso"

	"github.com/google/go-cmp/cmp"
)

func read(t *testing.T, text string) Reading {
	t.Helper()
	r, err := ReadExport(strings.NewReader(text), "x.jsonl", options())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One broken line made a peer drop a whole backup.
func TestExportBadLines(t *testing.T) {
	r := read(t, "\ufeff{\"content\":\"one\"}\n\n{\"content\":\"two\",\n[1]\n{\"id\":\"X\"}\n"+
		"{\"content\":\"bad \xff\"}\n{\"id\":\"A\",\"content\":\"three\"}\n{\"id\":\"A\",\"content\":\"again\"}\n"+
		"{\"content\":\"p\",\"priority\":\"high\"}\n{\"content\":\""+strings.Repeat("x", maxLine)+"\"}\n{\"content\":\"last\"}")
	var got, problems []string
	for _, m := range r.Memories {
		got = append(got, m.Content)
	}
	for _, p := range r.Problems {
		problems = append(problems, p.String())
	}
	if d := cmp.Diff([]string{"one", "three", "last"}, got); d != "" {
		t.Error(d)
	}
	for i, want := range []string{
		"line 3: it is cut off", "line 4: it is a JSON array", "line 5: it has no content", "line 6: it is not valid UTF-8",
		"line 8: the id A stands twice", "line 9: field priority", "line 10: it has more than 4 MB",
	} {
		if i >= len(problems) || !strings.Contains(problems[i], want) {
			t.Errorf("problem %d of %q, want %q", i, problems, want)
		}
	}
}

func TestExportBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"": "it is empty", " \n": "", "\x00\x01": "it is no text", "hello\nworld": "none of its 2 lines",
		"{\"a\":1}\n": "none of its 1 lines", "[{\"content\":": "none of its",
	} {
		r, err := ReadExport(strings.NewReader(text), "x", options())
		if want == "" {
			if err != nil || len(r.Memories) > 0 {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	r := read(t, "[\n {\"content\":\"kept\"},\n {\"content\":\"cut of")
	if len(r.Memories) != 1 || len(r.Problems) != 1 || r.Problems[0].Line != 2 && r.Problems[0].Line != 3 {
		t.Errorf("%v %v", r.Memories, r.Problems)
	}
}

func TestForeignFields(t *testing.T) {
	r := read(t, `{"title":"T","content":"c","type":"rule","scope":"user","pinned":true,"created":"2026-01-02","score":1.5,"nested":{"a":[1]},"extra":{"k":"v","n":2}}`)
	m := r.Memories[0]
	want := map[string]string{"score": "1.5", "nested": `{"a":[1]}`, "k": "v", "n": "2"}
	if m.Name != "T" || m.Type != stillso.Constraint || m.Namespace != "user" || !m.Resident || m.CreatedAt.Day() != 2 {
		t.Errorf("%+v", m)
	}
	if d := cmp.Diff(want, m.Extra); d != "" {
		t.Error(d)
	}
}

func full() *stillso.Memory {
	m := &stillso.Memory{
		ID: "F1", Namespace: "project/p1", Type: stillso.Decision, Name: "a <b> & c", Content: "Say \"no\" <tag> & 好.", Body: "b\nb",
		SourceSession: "s", RelatedFiles: []string{"a.go"}, Priority: 4, Tags: []string{"t"}, State: stillso.Superseded, Origin: stillso.FromUser,
		Why: "w", Evidence: []stillso.Evidence{{Session: "s", Turn: "u1", Quote: "q"}}, Aliases: []string{"x, y"},
		Claims:   []stillso.Claim{{ID: "c", Probe: "path", Args: []string{"a"}, Verdict: stillso.Fails, Reason: "gone", CheckedAt: now}},
		Resident: true, SupersededBy: "F2", File: &stillso.FileOrigin{Path: "/p", Line: 3, Hash: "h", LoadedBy: []string{"codex"}},
		Extra: map[string]string{"k": "v"}, CreatedAt: now, UpdatedAt: now.Add(time.Nanosecond),
	}
	return m
}

// What goes out comes back: a peer lost the labels of superseded memories.
func TestExportRoundTrip(t *testing.T) {
	gone := &stillso.Memory{ID: "G", Namespace: "user", Content: "gone", State: stillso.Retired}
	gone.Default(now)
	list := []*stillso.Memory{full(), gone}
	for _, form := range []Form{Lines, Array} {
		for _, all := range []bool{false, true} {
			var b bytes.Buffer
			n, err := WriteExport(&b, list, form, all)
			if err != nil {
				t.Fatal(err)
			}
			r := read(t, b.String())
			want := list[:map[bool]int{false: 1, true: 2}[all]]
			if n != len(want) || len(r.Problems) > 0 {
				t.Errorf("%s %v: %d written, %v", form, all, n, r.Problems)
			}
			if d := cmp.Diff(want, r.Memories); d != "" {
				t.Error(d)
			}
		}
	}
	var b bytes.Buffer
	if _, err := WriteExport(&b, nil, Array, true); err != nil || b.String() != "[]\n" {
		t.Errorf("%v %q", err, b.String())
	}
}

func TestAliases(t *testing.T) {
	a, problems, err := ReadAliases(strings.NewReader("{\"note\":\"N1\",\"aliases\":[\"one\",\"two\"]}\nnope\n{\"note\":\"file\",\"aliases\":[\"one\",\" three \",\"\"]}\n"+
		"{\"note\":\"nobody\",\"aliases\":[\"x\"]}\n{\"aliases\":[\"x\"]}\n"), "a.jsonl")
	if err != nil || len(problems) != 2 || problems[0].Line != 2 || problems[1].Line != 5 {
		t.Fatal(err, problems)
	}
	m := &stillso.Memory{ID: "N1", Aliases: []string{"two"}, File: &stillso.FileOrigin{Path: "/n/file.md"}}
	unknown := a.Apply([]*stillso.Memory{m})
	if d := cmp.Diff([]string{"two", "one", "three"}, m.Aliases); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"nobody"}, unknown); d != "" {
		t.Error(d)
	}
	for text, want := range map[string]string{"": "it is empty", "x\n": "none of its lines"} {
		if _, _, err := ReadAliases(strings.NewReader(text), "a"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzExport(f *testing.F) {
	var b bytes.Buffer
	_, _ = WriteExport(&b, []*stillso.Memory{full()}, Lines, true)
	f.Add(b.String())
	f.Add("[\n{\"content\":\"a\"},{\"content\":\"b\",\"x\":null}]")
	f.Add("{\"body\":\"only. a. body. here.\"}\n{\"content\":1}\n{\"updated_at\":\"2026-01-01\",\"content\":\"x\"}")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ReadExport(strings.NewReader(text), "x", options())
		if err != nil {
			return
		}
		var out bytes.Buffer
		if _, err := WriteExport(&out, r.Memories, Lines, true); err != nil {
			t.Fatal(err)
		}
		back, err := ReadExport(&out, "y", options())
		if len(r.Memories) > 0 && err != nil || len(back.Problems) > 0 {
			t.Fatal(err, back.Problems)
		}
		if d := cmp.Diff(r.Memories, back.Memories); d != "" {
			t.Fatal(d)
		}
		store := map[string]*stillso.Memory{}
		for _, m := range r.Memories {
			if err := m.Validate(); err != nil {
				t.Fatal(err)
			}
			store[m.ID] = m
		}
		if p := Import(store, r, stillso.Actor{}, now); len(p.Changes)+len(p.Kept) > 0 {
			t.Fatalf("the second import changes something: %+v", p)
		}
	})
}

func FuzzAliases(f *testing.F) {
	f.Add("{\"note\":\"N1\",\"aliases\":[\"one\"]}\n\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		a, problems, err := ReadAliases(strings.NewReader(text), "a")
		if err == nil && len(a) == 0 || err != nil && len(a) > 0 {
			t.Fatal(a, problems, err)
		}
		if err != nil {
			return
		}
		m := full()
		a[m.ID] = append(a[m.ID], "p")
		a.Apply([]*stillso.Memory{m})
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
