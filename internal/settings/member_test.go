package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func server(command string) Entry {
	return Entry{Parent: "mcpServers", Name: "stillso", Own: "stillso", Fields: []Field{
		{Name: "command", Value: quote(command)}, {Name: "args", Value: `["mcp"]`},
	}}
}

// Installers that parse a file and print it again drop comments, order and line
// ends; an entry must go in and out and leave every other byte.
func TestEntry(t *testing.T) {
	for _, text := range []string{
		"{}\n",
		"{\n  // servers\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }, // theirs\n  },\n  \"theme\": \"dark\"\n}\n",
		"{\r\n\t\"a\": 1,\r\n\t\"mcpServers\": {}\r\n}",
		"\ufeff{\"mcpServers\":{\"other\":{\"command\":\"x\"}}}",
		"{\"a\":[1,2]}",
		"{\n    \"mcpServers\": {\n        // none so far\n    }\n}\n",
	} {
		e := server("/opt/stillso")
		with, created, err := SetEntry([]byte(text), e)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		root, err := parse(with)
		if err != nil || !e.ours(with, e.find(root)) {
			t.Errorf("%q became %q: %v", text, with, err)
			continue
		}
		if again, _, err := SetEntry(with, e); err != nil || string(again) != string(with) {
			t.Errorf("a second time %q became %q: %v", with, again, err)
		}
		if created == nil {
			created = []string{}
		}
		back, err := CutEntry(with, e, created)
		if err != nil || strings.Join(strings.Fields(string(back)), "") != strings.Join(strings.Fields(text), "") {
			t.Errorf("%q came back as %q: %v", text, back, err)
		}
		moved, _, err := SetEntry(with, server("/usr/bin/stillso"))
		if err != nil || strings.Contains(string(moved), "/opt") || strings.Count(string(moved), "stillso\":") != 1 {
			t.Errorf("brought up to date: %q, %v", moved, err)
		}
	}
}

// What a person set in our entry is theirs; an entry of that name that runs another
// program is theirs as a whole; and a file that is not understood is left alone.
func TestEntryOfOthers(t *testing.T) {
	text := "{\"mcpServers\": {\"stillso\": {\"command\": \"/old/stillso\", \"args\": [\"mcp\"], \"trust\": true}}}"
	out, _, err := SetEntry([]byte(text), server("/new/stillso"))
	if want := strings.Replace(text, "/old", "/new", 1); err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
	text = "{\"mcpServers\": {\"stillso\": {\"command\": \"/opt/another\"}}}"
	if _, _, err := SetEntry([]byte(text), server("/opt/stillso")); !errors.Is(err, ErrForeign) {
		t.Errorf("another's entry: %v", err)
	}
	if out, err := CutEntry([]byte(text), server("/opt/stillso"), nil); err != nil || string(out) != text {
		t.Errorf("another's entry was cut: %s, %v", out, err)
	}
	for _, text := range []string{"[]", "{", "{\"mcpServers\": []}", "{\"mcpServers\": {}} x", "null", "{'a': 1}"} {
		if out, _, err := SetEntry([]byte(text), server("/opt/stillso")); err == nil {
			t.Errorf("%q became %q", text, out)
		}
	}
}

// The same for TOML, where a table that was appended must not land inside another.
func TestTable(t *testing.T) {
	e := Entry{Parent: "mcp_servers", Name: "stillso", Own: "stillso", Fields: server(`C:\Program Files\stillso.exe`).Fields}
	for _, text := range []string{
		"", "model = \"x\"\n", "model = \"x\"", "# mine\r\n[tui]\r\nb = 1\r\n", "[mcp_servers.other]\ncommand = \"x\"\n\n",
		"[a]\ntext = '''\n[mcp_servers.stillso]\n'''\n",
	} {
		path := filepath.Join(t.TempDir(), "config.toml")
		keep := filepath.Join(t.TempDir(), "install", "mcp-codex")
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		apply := func(p *Plan, err error) bool {
			t.Helper()
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			changed := p.Changed()
			if err := p.Apply(); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			return changed
		}
		if !apply(PlanTable(path, e, keep)) {
			t.Errorf("%q: nothing was put in", text)
		}
		now, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if doc, err := decode(now); err != nil || !e.oursTable(doc) || !strings.HasPrefix(string(now), text) {
			t.Errorf("%q became %q: %v", text, now, err)
		}
		if apply(PlanTable(path, e, keep)) {
			t.Errorf("%q: put in twice", text)
		}
		apply(PlanTableRemoval(path, e, keep))
		now, err = os.ReadFile(path)
		if string(now) != text || (err != nil) != (text == "") {
			t.Errorf("%q came back as %q: %v", text, now, err)
		}
		if apply(PlanTableRemoval(path, e, keep)) {
			t.Errorf("%q: taken out twice", text)
		}
	}
	for _, text := range []string{"a = ", "mcp_servers = { other = { command = \"x\" } }\n", "[mcp_servers.stillso]\ncommand = \"another\"\n", "mcp_servers = 1\n"} {
		if out, err := setTable([]byte(text), e); err == nil {
			t.Errorf("%q became %q", text, out)
		}
	}
}

// Whatever a file holds: an entry that goes in comes out again, and what is not
// understood is refused.
func FuzzEntry(f *testing.F) {
	for _, text := range []string{"", "{}", "// c\n{\"a\":1,}", "{\"mcpServers\":{\"x\":{}}}", "{\"mcpServers\":{\"stillso\":{\"command\":[\"stillso\"],},}}", "\ufeff{\r\n\t\"mcpServers\": {\r\n\t}\r\n}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e := server("/opt/stillso")
		with, created, err := SetEntry(text, e)
		if err != nil {
			return
		}
		root, err := parse(with)
		if err != nil || !e.ours(with, e.find(root)) {
			t.Fatalf("%q became %q: %v", text, with, err)
		}
		before, err := parse(text)
		if err != nil || before != nil && e.find(before) != nil {
			return
		}
		if created == nil {
			created = []string{}
		}
		back, err := CutEntry(with, e, created)
		if err != nil {
			t.Fatalf("%q: %v", with, err)
		}
		if left, err := parse(back); err != nil || e.find(left) != nil {
			t.Fatalf("%q became %q, and then %q: %v", text, with, back, err)
		}
	})
}
