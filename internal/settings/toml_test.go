package settings

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func mine(name string) bool { return strings.HasPrefix(name, "/h/.codex/hooks.json:") }

// stateTables is what Codex 0.171.0 appends when two hooks are trusted.
const stateTables = "\n[hooks.state]\n\n[hooks.state.\"/h/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:aa\"\n\n[hooks.state.\"/h/.codex/hooks.json:session_end:0:0\"]\ntrusted_hash = \"sha256:bb\"\n"

// Fault: taking trust away again changes what a person wrote, or what another
// hook was trusted with.
func TestCutTables(t *testing.T) {
	const person = "# mine\nmodel = \"x\"   # keep\n\n[mcp_servers.a]\nargs = [\n  \"[hooks.state]\",\n]\n"
	const other = "[hooks.state.\"/h/other.json:stop:0:0\"]\ntrusted_hash = \"sha256:cc\"\n"
	for name, c := range map[string]struct{ in, want string }{
		"appended":       {person + stateTables, person},
		"nothing else":   {strings.TrimPrefix(stateTables, "\n"), ""},
		"table behind":   {person + stateTables + "\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n", person + "\n[projects.\"/w\"]\ntrust_level = \"trusted\"\n"},
		"comment behind": {person + stateTables + "# about projects\n[projects]\n", person + "\n# about projects\n[projects]\n"},
		"other's trust":  {person + stateTables + "\n" + other, person + "\n[hooks.state]\n\n" + other},
		"CRLF":           {strings.ReplaceAll(person+stateTables, "\n", "\r\n"), strings.ReplaceAll(person, "\n", "\r\n")},
		"byte mark":      {"\ufeff" + person + stateTables, "\ufeff" + person},
		"own [hooks]":    {person + "\n[hooks]\n" + stateTables, person + "\n[hooks]\n"},
		"none of ours":   {person + "\n" + other, person + "\n" + other},
		"multi-line": {
			"a = \"\"\"\n[hooks.state.\"/h/.codex/hooks.json:x:0:0\"]\n\\\"\"\"\n\"\"\"\nb = '''\n[x]'''\n" + stateTables,
			"a = \"\"\"\n[hooks.state.\"/h/.codex/hooks.json:x:0:0\"]\n\\\"\"\"\n\"\"\"\nb = '''\n[x]'''\n",
		},
		"empty": {"", ""},
	} {
		got, err := CutTables([]byte(c.in), []string{"hooks", "state"}, mine)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", name, err, got, c.want)
		}
	}
	for name, in := range map[string]string{
		"no TOML":     "model = \n[",
		"other form":  "[hooks]\nstate = { \"/h/.codex/hooks.json:stop:0:0\" = { trusted_hash = \"sha256:aa\" } }\n",
		"dotted form": "hooks.state.\"/h/.codex/hooks.json:stop:0:0\".trusted_hash = \"sha256:aa\"\n",
	} {
		if out, err := CutTables([]byte(in), []string{"hooks", "state"}, mine); err == nil {
			t.Errorf("%s became %q", name, out)
		}
	}
}

// Fault: settings that another program changed on our behalf are not given back
// byte for byte, or lose what was written since.
func TestRecordedChange(t *testing.T) {
	dir := t.TempDir()
	path, keep := filepath.Join(dir, "config.toml"), filepath.Join(dir, "install", "codex-trust")
	const person = "model = \"x\" # keep\n"
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for since, want := range map[string]string{"": person, "\n[tui]\nx = 1\n": person + "\n[tui]\nx = 1\n"} {
		write(person)
		if err := Record(path, keep, func() ([]string, error) {
			write(person + stateTables)
			return []string{"/h/.codex/hooks.json:stop:0:0"}, nil
		}); err != nil {
			t.Fatal(err)
		}
		if since != "" {
			write(person + stateTables + since)
		}
		plan, err := PlanTables(path, keep, []string{"hooks", "state"}, []string{"/h/.codex/hooks.json:session_end:0:0"})
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Apply(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != want {
			t.Errorf("after %q: %q", since, got)
		}
		if Exists(keep) {
			t.Error("the record stays behind")
		}
	}
}

// Fault: a file of somebody else is overwritten or removed; or ours stays.
func TestOwnFile(t *testing.T) {
	dir := t.TempDir()
	path, keep := filepath.Join(dir, "hooks", "stillso.json"), filepath.Join(dir, "home", "install", "copilot")
	install := func(content string) error {
		plan, err := PlanOwn(path, []byte(content), "stillso-hook", keep)
		if err != nil {
			return err
		}
		return plan.Apply()
	}
	uninstall := func() error {
		plan, err := PlanOwnRemoval(path, []byte("now stillso-hook"), "stillso-hook", keep)
		if err != nil {
			return err
		}
		return plan.Apply()
	}
	for _, content := range []string{"then stillso-hook", "now stillso-hook", "now stillso-hook"} {
		if err := install(content); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != content {
			t.Fatalf("%q", got)
		}
	}
	if err := uninstall(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Dir(path)); !os.IsNotExist(err) {
		t.Errorf("the folder stays: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := install("now stillso-hook"); !errors.Is(err, ErrForeign) {
		t.Errorf("overwritten: %v", err)
	}
	if err := uninstall(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("changed stillso-hook"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := uninstall(); !errors.Is(err, ErrForeign) {
		t.Errorf("a changed file: %v", err)
	}
}

// Fault: the flat form of Cursor is not written, brought up to date or cut out as
// the nested one is.
func TestFlat(t *testing.T) {
	hooks := func(path string) []Hook {
		return []Hook{{Event: "stop", Command: path + "/stillso-hook cursor turn-end", Timeout: 5, Flat: true}, {Event: "beforeSubmitPrompt", Command: path + "/stillso-hook cursor prompt", Timeout: 5, Flat: true}}
	}
	for _, in := range []string{
		"", "{\n  \"version\": 1,\n  \"hooks\": {\n    // theirs\n    \"stop\": [\n      { \"command\": \"./a.sh\", \"loop_limit\": 1 },\n    ],\n  },\n}\n",
		`{"version":1,"hooks":{"stop":[]}}`, "{\r\n\t\"version\": 1,\r\n\t\"hooks\": {\"stop\": [{\"command\": \"x\"}]}\r\n}",
	} {
		out, created, err := Install([]byte(in), "stillso-hook", hooks("/old"))
		if err != nil {
			t.Fatal(err)
		}
		newer, _, err := Install(out, "stillso-hook", hooks("/new"))
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Install(newer, "stillso-hook", hooks("/new"))
		if err != nil || string(again) != string(newer) || strings.Contains(string(newer), "/old") {
			t.Errorf("%q: not idempotent, or not up to date: %v\n%s\n%s", in, err, newer, again)
		}
		if list, err := Registered(newer, "stillso-hook"); err != nil || len(list) != 2 || !list[0].Flat {
			t.Errorf("%q: %v, %v", in, list, err)
		}
		if in == "" && !strings.Contains(string(newer), `"version": 1`) {
			t.Errorf("no version:\n%s", newer)
		}
		if back, err := Remove(newer, "stillso-hook", append([]string{}, created...)); err != nil || in != "" && string(back) != in || in == "" && !isEmpty(back) {
			t.Errorf("%v: got %q\nwant %q", err, back, in)
		}
	}
}

// Fault: odd TOML is changed in what it says, or crashes the cutter.
func FuzzCutTables(f *testing.F) {
	for _, s := range []string{"a = 1\n" + stateTables, "a = [\n[1],\n]\n", "a = \"\"\"\n[hooks]\n\"\"\"\n", "[[a]]\n[a.\"b\\\"]\"]\n", "[hooks]\nstate = {}\n", "#[x\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out, err := CutTables([]byte(in), []string{"hooks", "state"}, mine)
		if err != nil {
			return
		}
		doc, err := decode(out)
		if err != nil || holds(doc, []string{"hooks", "state"}, mine) {
			t.Fatalf("%q became %q: %v", in, out, err)
		}
		if again, err := CutTables(out, []string{"hooks", "state"}, mine); err != nil || string(again) != string(out) {
			t.Fatalf("%q: cut again it is %q: %v", out, again, err)
		}
	})
}
