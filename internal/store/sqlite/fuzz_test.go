package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"stillso"
)

// A line of a segment that panics, or that is taken though it was altered.
func FuzzParseLine(f *testing.F) {
	text, err := os.ReadFile(filepath.Join(version1, journalDir, "00000001.jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	for _, l := range bytes.SplitAfter(text, []byte("\n")) {
		f.Add(l)
	}
	f.Add([]byte(`{"seq":1,"prev":"","hash":"zz","core":{},"parts":null}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := parseLine(text)
		if err != nil {
			return
		}
		back, err := e.appendLine(nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseLine(back)
		if err != nil || again.hash != e.hash || again.core.Seq != e.core.Seq {
			t.Fatalf("%q\nbecame %q: %v", text, back, err)
		}
		if _, err := e.change(stillso.Applied); err != nil {
			return // a body that is not an edit: its hash only says that it is what was written
		}
	})
}

// A head file that panics.
func FuzzHead(f *testing.F) {
	f.Add([]byte(`{"v":1,"instance":"ab","seq":7,"hash":"00","segment":1,"size":5120}`))
	f.Add([]byte(`{"v":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), headFile)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := readHead(path)
		if h != nil && (err != nil || h.segment < 1) {
			t.Fatalf("%q became %+v, %v", text, h, err)
		}
	})
}

// Text that reaches the query language of the index.
func FuzzSearch(f *testing.F) {
	dir := filepath.Join(f.TempDir(), "home")
	fill(f, dir, 20)
	s := openTest(f, dir)
	for _, q := range []string{`statement "number`, "NEAR(a b)", "content:x", "a* ^b", "数据库 AND", "a'b\x00c", "\xff\xfe", "-x", "{a b}:c"} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, q string) {
		list, err := s.Search(t.Context(), stillso.TextQuery{Text: q, Turns: true})
		if err != nil {
			t.Fatalf("Search(%q): %v", q, err)
		}
		for _, r := range list {
			if len(r.Excerpt) > 2*maxExcerpt {
				t.Errorf("Search(%q): an excerpt of %d bytes", q, len(r.Excerpt))
			}
		}
	})
}
