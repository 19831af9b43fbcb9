package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"stillso"
	"stillso/internal/eval"
)

// A memory that carries terminal escapes must not move the cursor, change the
// title, or reorder the text of the person who lists it.
func TestTextIsCleaned(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"plain", "use pnpm", "use pnpm"},
		{"chinese", "统一使用 pnpm", "统一使用 pnpm"},
		{"escape", "a\x1b[2Jb", "a\uFFFD[2Jb"},
		{"title", "\x1b]0;owned\a", "\uFFFD]0;owned\uFFFD"},
		{"c1 csi", "a\u009b31mb", "a\uFFFD31mb"},
		{"carriage return", "safe\rrm -rf", "saferm -rf"},
		{"override", "a\u202eb", "a\uFFFDb"},
		{"isolate", "a\u2066b", "a\uFFFDb"},
		{"tag characters", "a\U000e0041b", "a\uFFFDb"},
		{"invalid bytes", "a\xffb", "a\uFFFDb"},
		{"newline stays", "a\nb\tc", "a\nb\tc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := cleanText(tt.in); got != tt.want {
				t.Errorf("cleanText(%q) = %q, want %q", tt.in, got, tt.want)
			}
			var b strings.Builder
			p := &page{w: &b}
			p.printf("%s|%s|%v\n", tt.in, p.bold(tt.in), errors.New(tt.in))
			p.table([]string{"id", "content"}, [][]string{{"x", tt.in}})
			if strings.ContainsFunc(b.String(), unsafeRune) {
				t.Errorf("the page holds an unsafe character: %q", b.String())
			}
		})
	}
}

// JSON output must hold the very value, and still be safe to look at.
func TestJSONIsSafeAndTrue(t *testing.T) {
	in := "a\x1b[2J\u009b\x7f\u202e\U000e0041<b>&é文"
	b, err := marshalSafe(map[string]string{"v": in}, "")
	if err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(string(b), unsafeRune) {
		t.Errorf("unsafe character in %q", b)
	}
	if !strings.Contains(string(b), "<b>&é文") {
		t.Errorf("readable characters were escaped: %s", b)
	}
	var back map[string]string
	if err := json.Unmarshal(b, &back); err != nil || back["v"] != in {
		t.Errorf("read back %q, %v; want %q", back["v"], err, in)
	}
}

// What an older version stored with a secret must not be printed, in either form,
// and nothing else may change.
func TestSecretsAreNotPrinted(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	var b strings.Builder
	p := &page{w: &b}
	p.printf("%s|%s\n", "token "+secret, p.bold(secret))
	p.table([]string{"content"}, [][]string{{"the token is " + secret}})
	if strings.Contains(b.String(), secret) {
		t.Errorf("printed: %s", b.String())
	}
	in := map[string]any{"a": "x \"quoted\" \\ é", "n": 1.5, "list": []any{"token\n" + secret, nil, true}, "m": map[string]any{"k:": "v: y"}}
	b.Reset()
	if err := writeJSON(&b, in); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	if strings.Contains(b.String(), secret) || !strings.Contains(b.String(), "redacted") {
		t.Errorf("printed: %s", b.String())
	}
	in["list"], got["list"] = nil, nil
	if diff := cmp.Diff(in, got); diff != "" {
		t.Errorf("changed:\n%s", diff)
	}
}

// Columns must line up beside Chinese, and a long cell must not break the row.
func TestTableColumns(t *testing.T) {
	var b strings.Builder
	p := &page{w: &b, width: 40}
	p.table([]string{"id", "type", "content"}, [][]string{
		{"a1", "约束", "short\nwith a second line"},
		{"b22", "fact", strings.Repeat("很长的内容", 20)},
	})
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d lines, want 3:\n%s", len(lines), b.String())
	}
	for _, l := range lines {
		if w := columns(l); w > 40 {
			t.Errorf("%d columns, want at most 40: %q", w, l)
		}
	}
	at := func(line, word string) int { return columns(line[:strings.Index(line, word)]) }
	if a, b := at(lines[0], "content"), at(lines[1], "short"); a != b {
		t.Errorf("the last column starts at %d and %d:\n%s\n%s", a, b, lines[0], lines[1])
	}
	if !strings.HasSuffix(lines[2], "…") {
		t.Errorf("a cut cell has no ellipsis: %q", lines[2])
	}
}

// Wrapping must keep every word, also of text without spaces.
func TestWrapKeepsText(t *testing.T) {
	for _, in := range []string{"", "one", "one two three four five six", strings.Repeat("迁移", 30), "a " + strings.Repeat("x", 70) + " b", "p1\n\np2"} {
		for _, n := range []int{0, 1, 10, 33} {
			lines := wrap(in, n)
			got := strings.Join(strings.Fields(strings.Join(lines, "")), "")
			if want := strings.Join(strings.Fields(in), ""); got != want {
				t.Errorf("wrap(%q, %d) = %q", in, n, lines)
			}
			for _, l := range lines {
				if n > 1 && columns(l) > n {
					t.Errorf("wrap(%q, %d): line of %d columns: %q", in, n, columns(l), l)
				}
			}
		}
	}
}

// A hit must show the why behind the first sentence, and never cut a sentence.
func TestShownText(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, tt := range []struct{ name, content, body, want string }{
		{"no body", "Use pnpm.", "", "Use pnpm."},
		{"the why follows", "Locks are advisory", "Locks are advisory. Redis expired twice.\n\nSee ops.", "Locks are advisory. Redis expired twice. See ops."},
		{"three sentences", "A", "A. B. C. D.", "A. B. C."},
		{"chinese", "只加列，不改列", "只加列，不改列。旧版本还在线。先停对账。再删。", "只加列，不改列。旧版本还在线。先停对账。"},
		{"another text", "A summary", "## Heading\nText.", "A summary"},
		{"no end in reach", "Alpha", "Alpha " + long + ".", "Alpha"},
		{"port", "Port 5433", "Port 5433 in v1.2.3 only. Yes.", "Port 5433 in v1.2.3 only. Yes."},
	} {
		if got := shownText(&stillso.Memory{Content: tt.content, Body: tt.body}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Scripts rest on the exit codes of the help text.
func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("disk full"), 1},
		{usagef("bad"), 2},
		{fmt.Errorf("x: %w", stillso.ErrInvalid), 2},
		{fmt.Errorf("x: %w", stillso.ErrNotFound), 2},
		{&marked{class: errNoStore, text: "none"}, 10},
		{fmt.Errorf("x: %w", stillso.ErrBusy), 11},
		{fmt.Errorf("x: %w", stillso.ErrDamaged), 12},
		{fmt.Errorf("x: %w", stillso.ErrNewer), 13},
	} {
		if got := exitCode(tt.err); got != tt.want {
			t.Errorf("exitCode(%v) = %d, want %d", tt.err, got, tt.want)
		}
		if tt.err != nil && !strings.Contains(exitCodes, fmt.Sprintf("\n  %-4d", tt.want)) {
			t.Errorf("exit code %d is not in the help text", tt.want)
		}
	}
}

// Times as people type them; a wrong one must not be read as "no bound".
func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for in, want := range map[string]time.Time{
		"":                     {},
		"2026-11-30":           time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC),
		"2026-11-30T10:00:00Z": time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC),
		"7d":                   now.AddDate(0, 0, -7),
		"90m":                  now.Add(-90 * time.Minute),
	} {
		if got, err := parseWhen(in, now); err != nil || !got.Equal(want) {
			t.Errorf("parseWhen(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"yesterday", "7", "-7d", "d", "2026-13-01", "9999999d"} {
		if got, err := parseWhen(in, now); err == nil {
			t.Errorf("parseWhen(%q) = %v, want an error", in, got)
		}
	}
}

func FuzzCleanText(f *testing.F) {
	f.Add("a\x1b[0m\u009b\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := cleanText(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, unsafeRune) {
			t.Errorf("cleanText(%q) = %q", s, got)
		}
		if again := cleanText(got); again != got {
			t.Errorf("cleaning twice changes %q to %q", got, again)
		}
	})
}

// Fault: the table of a public set multiplied shares by a hundred twice and
// printed 8852 where it meant 88.5 %.
func TestBenchText(t *testing.T) {
	var b strings.Builder
	run := &benched{Runs: []eval.BenchFigures{{Name: "set", Documents: 2, Questions: 1, Metrics: map[string]float64{"R@2": 88.52}}}}
	run.text(&page{w: &b})
	if !strings.Contains(b.String(), "R@2 88.5\n") {
		t.Errorf("got %q", b.String())
	}
}
