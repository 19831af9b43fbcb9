package recall

import (
	"strings"
	"testing"
)

// What a machine wrote into a prompt is no topic; what the person wrote beside it is.
func TestClean(t *testing.T) {
	for _, c := range []struct{ prompt, want string }{
		{"plain words", "plain words"},
		{"before ```go\nfunc main() {}\n``` after", "before after"},
		{"never closed ``` rest", "never closed"},
		{"<system-reminder>secret topic</system-reminder> the question", "the question"},
		{"<ide_opened_file>a.go</ide_opened_file> why <b>bold</b>?", "why bold ?"},
		{"a < b and c > d", "a < b and c > d"},
		{"look [Image #1] here [Pasted text #2 +30 lines]", "look here"},
		{"/compact keep the plan", "keep the plan"},
		{"/home/user/x/y.go", ""},
		{"see https://github.com/owner/some-repo/issues/12?tab=comments#x please", "see owner some-repo issues please"},
		{"since 2026-11-30T10:00:00Z it fails", "since it fails"},
		{"in ~/x and /Users/someone/work/app/main.go it fails", "in ~/x and work/app/main.go it fails"},
		{"read @docs/plan.md and go on", "read and go on"},
		{"see /tmp/shot-2026-03-01.png now", "see now"},
		{"KEY=https://x.y/z\nuse this key", "use this key"},
		{"it fails:\nError: cannot bind port\nat x.y (a.js:1:2)\nError: again", "it fails: Error: cannot bind port"},
		{"10:00:01 INFO start\n10:00:02 WARN slow\nwhy is it slow?", "why is it slow?"},
		{"/plugin\n ⎿  enabled", ""},
		{"ERROR when i log in, any idea?", "ERROR when i log in, any idea?"},
		{"ERROR: bind failed", ""},
		{"> quoted reply\nno, the other one", "no, the other one"},
		{"{\"a\":1,\"b\":[2,3],\"c\":{}}\nparse this", "parse this"},
		{"±32767、0~65535 这个我怎么让用户去设置", "±32767、0~65535 这个我怎么让用户去设置"},
		{"mail me@example.org @someone", "mail me@example.org @someone"},
	} {
		if got := strings.Join(strings.Fields(Clean(c.prompt)), " "); got != c.want {
			t.Errorf("%q\n got %q\nwant %q", c.prompt, got, c.want)
		}
	}
}

// A paste of any length costs little, and its ends are read.
func TestCleanLong(t *testing.T) {
	p := "why does the deploy fail?\n" + strings.Repeat("some words of a long paste\n", 40000) + "look at the pipeline"
	got := Clean(p)
	if len(got) > 3*maxClean || !strings.Contains(got, "deploy") || !strings.Contains(got, "pipeline") {
		t.Errorf("%d bytes: %q", len(got), got[:100])
	}
}

// A paste wakes memories by chance; a list of orders, or a prompt in another
// language, must not be taken for one.
func TestPasted(t *testing.T) {
	for p, want := range map[string]bool{
		"This site cannot be reached\nrefused to connect.\nTry:\nChecking the proxy": true,
		"a\nb\nc": false,
		"Traceback\nline one\nline two\nValueError: bad\nwhy?":                       false,
		"here is the log\nline one\nline two\nline three\nplease look":               false,
		"Rename the flag\nMove the file\nDelete the old one\nSame for the docs":      false,
		"cambia el nombre\npara que sea claro\ny luego sube\nlos archivos del sitio": false,
		"构建失败\n第一行\n第二行\n第三行":                                                        false,
		"": false,
	} {
		if got := pasted(p); got != want {
			t.Errorf("%q: got %v", p, got)
		}
	}
}
