package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

const own = "stillso-hook"

func wanted(binary string) []Hook {
	var list []Hook
	for _, e := range []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PreCompact"} {
		list = append(list, Hook{Event: e, Command: binary, Args: []string{"claude-code", strings.ToLower(e)}, Timeout: 5})
	}
	return append(list, Hook{Event: "PreToolUse", Matcher: "Read|Edit", Command: binary, Args: []string{"claude-code", "pre-tool"}, Timeout: 5})
}

const caseFile = `{
    "model": "opus",
    "env": { "EDITOR": "vi", "FOO": "1" },
    "permissions": { "allow": ["Bash(git status)"], "deny": ["Bash(rm -rf *)"] },
    "hooks": {
        "SessionStart": [
            { "matcher": "compact", "hooks": [ { "type": "command", "command": "echo other-start" } ] },
            { "matcher": "*", "hooks": [ { "type": "command", "command": "echo two", "timeout": 3 } ] }
        ],
        "PreToolUse": [ { "matcher": "Edit", "hooks": [ { "type": "command", "command": "echo guard-edit" } ] } ],
        "Stop": [ { "hooks": [ { "type": "command", "command": "echo bye" } ] } ]
    },
    "x-unknown": { "keep": [1, 2.50, "ünï"] }
}
`

// kin are settings files of every make.
var kin = map[string]string{
	"other tools":          caseFile,
	"windows lines":        strings.ReplaceAll(caseFile, "\n", "\r\n"),
	"byte order mark":      "\ufeff" + caseFile,
	"no final newline":     strings.TrimSpace(caseFile),
	"tabs":                 "{\n\t\"model\": \"opus\"\n}\n",
	"empty object":         "{}",
	"empty on two lines":   "{}\n",
	"one line":             `{"model": "opus", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo"}]}]}}`,
	"minified":             `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"echo"}]}]}}`,
	"empty hooks":          "{\n  \"hooks\": {}\n}\n",
	"empty list":           "{\n  \"hooks\": {\"Stop\": []}\n}\n",
	"trailing commas":      "{\n  \"a\": [1, 2,],\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [{\"command\": \"x\"},],},\n    ],\n  },\n}\n",
	"comments":             "// mine\n{\n  // model\n  \"model\": \"opus\", // the best\n  /* block */ \"hooks\": {\n    \"Stop\": [\n      // first\n      {\"hooks\": [{\"command\": \"x\"}]} // tail, with { and \"\n      // last\n    ] /* after */\n    // end\n  } // really\n}\n// bye",
	"comment inside empty": "{\n  \"hooks\": {\n    // nothing yet\n  }\n}\n",
	"names twice":          "{\n  \"hooks\": {\"Stop\": []},\n  \"hooks\": {\"Stop\": [{\"hooks\": []}]}\n}\n",
	"odd groups":           "{\"hooks\": {\"Stop\": [1, null, [], {\"hooks\": 3}, {\"hooks\": [7, {\"command\": 9}]}]}}",
	"braces in strings":    "{\n  \"}]\\\"\": \"// no comment /*\",\n  \"b\": \"\\u007b\"\n}\n",
}

// Fault: an installer damages a settings file, registers itself twice, or leaves
// something behind.
func TestInstallAndRemove(t *testing.T) {
	for name, text := range kin {
		t.Run(name, func(t *testing.T) {
			before := []byte(text)
			once, created, err := Install(before, own, wanted("/opt/stillso-hook"))
			if err != nil {
				t.Fatal(err)
			}
			check(t, before, once, "/opt/stillso-hook")
			twice, more, err := Install(once, own, wanted("/opt/stillso-hook"))
			if err != nil || string(twice) != string(once) || len(more) > 0 {
				t.Errorf("a second install changed the file, %v, %v:\n%s", more, err, twice)
			}
			moved, more, err := Install(once, own, wanted("/new place/bin/stillso-hook"))
			if err != nil || len(more) > 0 || bytes.Count(moved, []byte("\n")) != bytes.Count(once, []byte("\n")) {
				t.Errorf("a moved program, %v, %v:\n%s", more, err, moved)
			}
			check(t, before, moved, "/new place/bin/stillso-hook")
			after, err := Remove(moved, own, append([]string{}, created...))
			if err != nil || string(after) != text {
				t.Errorf("removed, %v\n%q\nwas\n%q\ninstalled\n%s", err, after, text, once)
			}
		})
	}
}

// check verifies that text is what before was, and our hooks once each.
func check(t *testing.T, before, text []byte, binary string) {
	t.Helper()
	registered, err := Registered(text, own)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	want := map[string]bool{}
	for _, h := range wanted(binary) {
		want[fmt.Sprint(h)] = true
	}
	for _, h := range registered {
		if !want[fmt.Sprint(h)] {
			t.Errorf("registered %+v", h)
		}
		delete(want, fmt.Sprint(h))
	}
	if len(want) > 0 {
		t.Errorf("not registered: %v\n%s", want, text)
	}
	if bytes.Contains(before, []byte("\r\n")) && bytes.Count(text, []byte("\n")) != bytes.Count(text, []byte("\r\n")) {
		t.Errorf("line ends are mixed: %q", text)
	}
	// All that was there still is, in its order: the text only gained.
	rest := text
	for i, c := range bytes.TrimSpace(before) {
		at := bytes.IndexByte(rest, c)
		if at < 0 {
			t.Errorf("lost or moved from byte %d on: %.60q in\n%s", i, before[i:], text)
			break
		}
		rest = rest[at+1:]
	}
}

// Fault: a handler of ours in a form of another time is registered a second
// time, or one of another tool is taken for ours.
func TestProgram(t *testing.T) {
	for command, want := range map[string]string{
		"/opt/stillso-hook":                               own,
		"/opt/my tools/stillso-hook":                      own,
		"'/opt/my tools/stillso-hook' claude-code prompt": own,
		`"C:\Program Files\stillso\stillso-hook.exe" x`:   own,
		`& "C:\Program Files\stillso\stillso-hook.exe" x`: own,
		`C:\stillso\stillso-hook.EXE`:                     own,
		"stillso-hook claude-code stop":                   own,
		`/opt/my\ tools/stillso-hook claude-code`:         own,
		"STILLSO_HOME=/x A=\"1\" /opt/stillso-hook a":     own,
		"echo stillso-hook":                               "echo",
		"cat /var/log/stillso-hook":                       "cat",
		"/opt/stillso-hook-wrapper x":                     "stillso-hook-wrapper",
		"not-stillso-hook":                                "not-stillso-hook",
		"sh -c 'stillso-hook'":                            "sh",
		"":                                                "", "~": "~", "/": "", "'": "", "a=b": "a=b", "\\": "",
	} {
		if got := Program(command); got != want {
			t.Errorf("Program(%q) = %q, want %q", command, got, want)
		}
	}
}

// Fault: entries of ours that a person or an older version wrote are doubled, or
// cut together with those of others.
func TestOlderEntries(t *testing.T) {
	text := `{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          { "type": "command", "command": "echo first" },
          { "type": "command", "command": "'/old path/stillso-hook' claude-code turn-end", "timeout": 60 },
          { "type": "command", "command": "echo last" }
        ]
      },
      { "hooks": [ { "type": "command", "command": "stillso-hook" } ] }
    ],
    "Notification": [ { "hooks": [ { "type": "command", "command": "stillso-hook x" } ] } ],
    "SessionEnd": [ { "hooks": [ { "type": "command", "command": "/old/stillso-hook", "timeout": 1, "args": ["a"] } ] } ]
  }
}`
	out, created, err := Install([]byte(text), own, wanted("/b/stillso-hook"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, []byte(`{}`), out, "/b/stillso-hook")
	for _, keep := range []string{"echo first", "echo last"} {
		if strings.Count(string(out), keep) != 1 {
			t.Errorf("%q is not there once:\n%s", keep, out)
		}
	}
	after, err := Remove(out, own, created)
	if err != nil || strings.Contains(string(after), own) || !json.Valid(after) {
		t.Errorf("%v\n%s", err, after)
	}
	nobodyKnows, err := Remove(out, own, nil)
	if err != nil || strings.Contains(string(nobodyKnows), "Notification\": []") && strings.Contains(string(nobodyKnows), "SessionEnd\": []") {
		t.Errorf("%v\n%s", err, nobodyKnows)
	}
}

// Fault: a file that is not understood is rewritten, or refused without a word
// where it is wrong.
func TestRefusals(t *testing.T) {
	for text, want := range map[string]string{
		"{\n  \"a\": 1\n  \"b\": 2\n}":      "settings:3:3: a comma or '}' is missing before this",
		"{\"a\": tru}":                      `settings:1:7: "tru" is no JSON value`,
		"{\"ü\": 'x'}":                      `settings:1:7:`,
		"{":                                 "settings:1:1: the '{' that opens here is never closed",
		"{\"a\": [1, 2}":                    "settings:1:12:",
		"{\"a\" 1}":                         `settings:1:6: a colon is missing after "a"`,
		"{a: 1}":                            "settings:1:2: a name in double quotes should stand here",
		"{\"a\": \"x\n\"}":                  "settings:1:7: this string does not end on its line",
		"{\"a\": \"\\q\"}":                  "settings:1:7: this string is not JSON",
		"{} {}":                             "settings:1:4: more text follows",
		"[]":                                "settings:1:1: settings should be an object",
		"/* {}":                             "settings:1:1: a comment does not end",
		"{\"hooks\": []}":                   "settings:1:11: \"hooks\" should be an object",
		"\ufeff{\"hooks\": {\"Stop\": {}}}": "settings:1:20: hooks for \"Stop\" should be a list",
		strings.Repeat("[", 1000):           "nested too deeply",
		"{\"a\":}":                          "settings:1:6: a value should stand here",
		"{,}":                               "settings:1:2:",
		"\x00\x01binary":                    "settings:1:1:",
		"{\"a\": \"" + string([]byte{0x01}): "settings:1:7: this string never ends",
	} {
		out, _, err := Install([]byte(text), own, wanted("/b/stillso-hook"))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || out != nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// jsonc draws settings files: hooks of other tools among values of all kinds,
// with comments, trailing commas and white space wherever they may stand.
func jsonc(t *rapid.T) string {
	nl := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "newline")
	space := rapid.SampledFrom([]string{"", "", " ", nl + "  ", nl + "\t", " // c { \" ," + nl, " /* } */ ", nl + nl})
	ws := func() string { return space.Draw(t, "space") }
	var value func(depth int) string
	list := func(open, shut string, items []string) string {
		var b strings.Builder
		b.WriteString(open)
		for i, it := range items {
			b.WriteString(ws() + it + ws())
			if i < len(items)-1 || rapid.IntRange(0, 3).Draw(t, "trailing") == 0 {
				b.WriteByte(',')
			}
		}
		// White space in an empty container is not kept when only our entries
		// are cut out; the backup keeps it.
		if len(items) > 0 {
			b.WriteString(ws())
		}
		return b.String() + shut
	}
	many := func(depth int, draw func() string) []string {
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			items = append(items, draw())
		}
		return items
	}
	value = func(depth int) string {
		switch k := rapid.IntRange(0, 9).Draw(t, "kind"); {
		case k < 4 || depth > 3:
			return rapid.SampledFrom([]string{"1", "-2.50", "true", "null", `"x"`, `"a\"b // {"`, `"ü各\u00fc"`, `"echo hi"`}).Draw(t, "scalar")
		case k < 7:
			return list("[", "]", many(depth, func() string { return value(depth + 1) }))
		default:
			return list("{", "}", many(depth, func() string {
				return rapid.SampledFrom([]string{`"a"`, `"command"`, `"hooks"`, `"k\u0061"`}).Draw(t, "key") + ws() + ":" + ws() + value(depth+1)
			}))
		}
	}
	group := func() string {
		return `{"hooks":` + ws() + list("[", "]", many(0, func() string { return `{"type": "command", "command": "echo"}` })) + `}`
	}
	events := map[string]bool{}
	var members []string
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		members = append(members, fmt.Sprintf("%q:%s%s", fmt.Sprint("m", len(members)), ws(), value(0)))
	}
	if rapid.Bool().Draw(t, "hooks") {
		hooks := list("{", "}", many(0, func() string {
			e := rapid.SampledFrom([]string{"Stop", "PreToolUse", "Other", "SessionEnd"}).Draw(t, "event")
			for events[e] {
				e += "x"
			}
			events[e] = true
			return fmt.Sprintf("%q:%s%s", e, ws(), list("[", "]", many(0, group)))
		}))
		at := rapid.IntRange(0, len(members)).Draw(t, "at")
		members = append(members[:at:at], append([]string{`"hooks":` + ws() + hooks}, members[at:]...)...)
	}
	return rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark") + ws() + list("{", "}", members) + ws()
}

// Fault: on some layout of a file nobody thought of, an install damages what is
// there, or a removal does not give it back.
func TestInstallThenRemoveIsNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := jsonc(t)
		out, created, err := Install([]byte(text), own, wanted("/b/stillso-hook"))
		if err != nil {
			t.Fatalf("%v\n%q", err, text)
		}
		registered, err := Registered(out, own)
		if err != nil || len(registered) != len(wanted("")) {
			t.Fatalf("%d registered, %v\n%q\n%q", len(registered), err, text, out)
		}
		again, _, err := Install(out, own, wanted("/b/stillso-hook"))
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("not idempotent, %v\n%q\n%q", err, out, again)
		}
		back, err := Remove(out, own, append([]string{}, created...))
		if err != nil || string(back) != text {
			t.Fatalf("%v\n%q\nbecame\n%q\nby\n%s", err, text, back, out)
		}
	})
}

// Fault: hostile settings crash the installer.
func FuzzParse(f *testing.F) {
	for _, text := range kin {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		root, err := parse(data)
		if json.Valid(data) && err != nil && len(data) < 200 {
			t.Fatalf("valid JSON was refused: %v", err)
		}
		if root != nil && err == nil && !bytes.Contains(data, []byte("/")) && !bytes.Contains(data, []byte(",")) && !json.Valid(bytes.TrimPrefix(data, []byte("\ufeff"))) {
			t.Fatalf("accepted %q", data)
		}
		out, created, err := Install(data, own, wanted("/b/stillso-hook"))
		if err != nil || bytes.Contains(data, []byte(own)) {
			return
		}
		if back, err := Remove(out, own, append([]string{}, created...)); err != nil || bytes.Contains(back, []byte(own)) {
			t.Fatalf("%v: %q", err, back)
		}
		Program(string(data))
	})
}

// files is a HOME with a settings file, and where installs are written down.
type filesHere struct {
	t          *testing.T
	path, keep string
}

func here(t *testing.T) filesHere {
	dir := t.TempDir()
	return filesHere{t, filepath.Join(dir, "a home", ".claude", "settings.json"), filepath.Join(dir, "keep", "install", "claude-code")}
}

func (f filesHere) put(text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path, []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

func (f filesHere) get() string {
	f.t.Helper()
	data, err := os.ReadFile(f.path)
	if err != nil {
		f.t.Fatal(err)
	}
	return string(data)
}

func (f filesHere) install(binary string) *Plan {
	f.t.Helper()
	p, err := PlanInstall(f.path, own, wanted(binary), f.keep)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func (f filesHere) uninstall() *Plan {
	f.t.Helper()
	p, err := PlanRemoval(f.path, own, f.keep)
	if err == nil {
		err = p.Apply()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	for _, ext := range []string{".json", ".backup"} {
		if _, err := os.Stat(f.keep + ext); err == nil {
			f.t.Errorf("%s stays behind", f.keep+ext)
		}
	}
	return p
}

// Fault: after uninstall the file is not what it was, byte for byte.
func TestFileIsGivenBack(t *testing.T) {
	odd := map[string]string{"empty file": "", "white space": " \n\t", "only a comment": "// nothing yet", "odd white space": "{ \n\n \"hooks\" : { } , \"b\":[ ] }\n\n\n"}
	for name, text := range kin {
		odd[name] = text
	}
	for name, text := range odd {
		f := here(t)
		f.put(text)
		if err := os.Chmod(f.path, 0o640); err != nil {
			t.Fatal(err)
		}
		if !f.install("/b/stillso-hook").Changed() || f.install("/b/stillso-hook").Changed() {
			t.Errorf("%s: installing twice is not once", name)
		}
		if p := f.install("/c/stillso-hook"); p.Diff() == "" {
			t.Errorf("%s: a new path shows no difference", name)
		}
		if backup, err := os.ReadFile(f.keep + ".backup"); err != nil || string(backup) != text {
			t.Errorf("%s: the backup is %q, %v", name, backup, err)
		}
		f.uninstall()
		if got := f.get(); got != text {
			t.Errorf("%s: %q, was %q", name, got, text)
		}
		info, err := os.Stat(f.path)
		if err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o640 {
			t.Errorf("%s: mode %v, %v", name, info.Mode(), err)
		}
		if f.uninstall().Changed() {
			t.Errorf("%s: a second uninstall changes something", name)
		}
	}
}

// Fault: a file that did not exist stays behind, or one that a person went on to
// use is deleted with what they wrote.
func TestFileThatWasNotThere(t *testing.T) {
	f := here(t)
	f.install("/b/stillso-hook")
	if !json.Valid([]byte(f.get())) {
		t.Errorf("made %s", f.get())
	}
	f.uninstall()
	if _, err := os.Stat(filepath.Dir(f.path)); !os.IsNotExist(err) {
		t.Errorf("the folder stays behind: %v", err)
	}
	f.install("/b/stillso-hook")
	f.put(strings.Replace(f.get(), "{", "{\n  \"model\": \"opus\",", 1))
	f.install("/c/stillso-hook")
	f.uninstall()
	if got := f.get(); strings.Contains(got, "hook") || !strings.Contains(got, `"model": "opus"`) || !json.Valid([]byte(got)) {
		t.Errorf("after use by a person: %s", got)
	}
	if f.uninstall().Changed() {
		t.Error("nothing of ours is there, and yet something changes")
	}
}

// Fault: what a person changed after the install is undone by the uninstall.
func TestTouchedFile(t *testing.T) {
	f := here(t)
	f.put(caseFile)
	f.install("/b/stillso-hook")
	f.put(strings.Replace(f.get(), `"opus"`, `"sonnet"`, 1))
	f.install("/c/stillso-hook") // an upgrade in between
	f.put(strings.Replace(f.get(), `"vi"`, `"emacs"`, 1))
	f.uninstall()
	want := strings.Replace(strings.Replace(caseFile, `"opus"`, `"sonnet"`, 1), `"vi"`, `"emacs"`, 1)
	if got := f.get(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	f.put(caseFile)
	f.install("/b/stillso-hook")
	if err := os.RemoveAll(filepath.Dir(f.keep)); err != nil { // our home is gone
		t.Fatal(err)
	}
	f.uninstall()
	if got := f.get(); got != caseFile {
		t.Errorf("without a record: got\n%s\nwant\n%s", got, caseFile)
	}
}

// Fault: a link to a dotfiles repository is replaced by a file.
func TestLinkedSettings(t *testing.T) {
	f := here(t)
	f.put(caseFile)
	target := filepath.Join(t.TempDir(), "dotfiles.json")
	if err := os.Rename(f.path, target); err != nil {
		t.Fatal(err)
	}
	rel, err := filepath.Rel(filepath.Dir(f.path), target)
	if err == nil {
		err = os.Symlink(rel, f.path)
	}
	if err != nil {
		t.Skipf("no links here: %v", err)
	}
	f.install("/b/stillso-hook")
	info, err := os.Lstat(f.path)
	if err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(f.get(), own) {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	f.uninstall()
	if data, err := os.ReadFile(target); err != nil || string(data) != caseFile {
		t.Errorf("%v\n%s", err, data)
	}
}

// Fault: a plan overwrites what another program wrote while a person was asked;
// a broken file is touched; nothing to say is said.
func TestPlanIsCareful(t *testing.T) {
	f := here(t)
	f.put(caseFile)
	p, err := PlanInstall(f.path, own, wanted("/b/stillso-hook"), f.keep)
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Diff(); strings.Count(d, "\n-") != 3 || !strings.Contains(d, "\n+        \"UserPromptSubmit\"") || !strings.HasPrefix(d, "--- "+f.path) {
		t.Errorf("difference:\n%s", d)
	}
	f.put("{}")
	if err := p.Apply(); err == nil || f.get() != "{}" {
		t.Errorf("applied to another text: %v, %s", err, f.get())
	}
	f.put("{\n  \"a\": 1,,\n}")
	_, err = PlanInstall(f.path, own, wanted("/b/stillso-hook"), f.keep)
	var syntax *SyntaxError
	if !errors.As(err, &syntax) || syntax.Line != 2 || syntax.Column != 10 || !strings.HasPrefix(err.Error(), f.path+":2:10: ") {
		t.Errorf("broken file: %v", err)
	}
	if _, err := PlanInstall(filepath.Dir(f.path), own, nil, f.keep); err == nil {
		t.Error("a directory was taken for settings")
	}
	if value, ok := Value([]byte(caseFile), "env", "FOO"); !ok || string(value) != `"1"` {
		t.Errorf("lookup: %s, %v", value, ok)
	}
	if _, ok := Value([]byte(caseFile), "env", "BAR"); ok {
		t.Error("found what is not there")
	}
}

// Fault: a file that was broken by hand after the install was said to hold no hook
// of ours, and the hook went on.
func TestRemoveFromBroken(t *testing.T) {
	text := []byte(`{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/bin/stillso-hook"}]}]}},,{{`)
	if _, err := Remove(text, "stillso-hook", nil); err == nil {
		t.Error("a broken file with our hook in it was called clean")
	}
	if out, err := Remove([]byte(`{"a": 1,,`), "stillso-hook", nil); err != nil || string(out) != `{"a": 1,,` {
		t.Errorf("a broken file without our hook is left alone: %q, %v", out, err)
	}
}
