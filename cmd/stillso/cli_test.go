package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// desk is a person at a terminal with a home and a project of their own.
type desk struct {
	t    *testing.T
	env  map[string]string
	proj string
	in   string
	mu   sync.Mutex
	time time.Time
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	root := t.TempDir()
	d := &desk{t: t, proj: filepath.Join(root, "my proj"), time: time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	d.env = map[string]string{"HOME": filepath.Join(root, "home"), "STILLSO_HOME": filepath.Join(root, "store"), "STILLSO_LLM": "none"}
	for _, dir := range []string{d.proj, d.env["HOME"]} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// now is a clock that moves on by a second each time it is read.
func (d *desk) now() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.time = d.time.Add(time.Second)
	return d.time
}

// try runs a command and returns what it printed and its exit code.
func (d *desk) try(args ...string) (out, errOut string, code int) {
	d.t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, streams{
		in: strings.NewReader(d.in), out: &o, err: &e, clock: d.now,
		env: func(k string) string { return d.env[k] },
	})
	return o.String(), e.String(), code
}

// must runs a command that has to succeed.
func (d *desk) must(args ...string) string {
	d.t.Helper()
	out, errOut, code := d.try(args...)
	if code != 0 {
		d.t.Fatalf("stillso %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errOut)
	}
	return out
}

// remember saves a memory in the project and returns its id.
func (d *desk) remember(text string, more ...string) string {
	d.t.Helper()
	var r remembered
	d.json(&r, append([]string{"remember", "--dir", d.proj, text}, more...)...)
	return r.Memory.ID
}

// json runs a command with --json and decodes what it printed.
func (d *desk) json(v any, args ...string) {
	d.t.Helper()
	out := d.must(append([]string{"--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		d.t.Fatalf("stillso %v printed no JSON: %v\n%s", args, err, out)
	}
}

// What was saved a moment ago must be recalled by the very next prompt; what was
// retired must not be, and must come back whole.
func TestSavedIsRecalledAtOnce(t *testing.T) {
	d := newDesk(t)
	id := d.remember("Refund amounts are negative integers in cents.")
	prompt := []string{"recall", "--dir", d.proj, "are refund amounts negative or positive"}
	if out := d.must(prompt...); !strings.Contains(out, id) {
		t.Errorf("not recalled:\n%s", out)
	}
	d.must("retire", id)
	if out, _, code := d.try(prompt...); code != exitProblems || strings.Contains(out, id) {
		t.Errorf("a retired memory is recalled (exit %d):\n%s", code, out)
	}
	d.must("undo", "--last")
	if out := d.must(prompt...); !strings.Contains(out, id) {
		t.Errorf("not recalled after undo:\n%s", out)
	}
	d.must("retire", id)
	d.must("restore", id)
	if out := d.must(prompt...); !strings.Contains(out, id) {
		t.Errorf("not recalled after restore:\n%s", out)
	}
}

// Another project's memories must not leak; the user's own are everywhere.
func TestNamespaces(t *testing.T) {
	d := newDesk(t)
	other := filepath.Join(filepath.Dir(d.proj), "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	here := d.remember("The parser keeps comments in a side table.")
	mine := d.remember("Answer in British English.", "--namespace", "user")
	if out := d.must("list", "--dir", other); strings.Contains(out, here) || !strings.Contains(out, mine) {
		t.Errorf("list in another project:\n%s", out)
	}
	if out, _, _ := d.try("recall", "--dir", other, "where does the parser keep comments"); strings.Contains(out, here) {
		t.Errorf("recalled in another project:\n%s", out)
	}
	if _, errOut, code := d.try("list", "--namespace", "projekt"); code != exitUsage || !strings.Contains(errOut, "unknown namespace") {
		t.Errorf("exit %d, %q", code, errOut)
	}
}

// A secret must not reach the disk in any field of a memory.
func TestSecretsNeverReachTheDisk(t *testing.T) {
	d := newDesk(t)
	secret := "ghp_" + strings.Repeat("a1B2c3D4", 5)[:36]
	out := d.must("remember", "--dir", d.proj, "--why", "because "+secret, "--alias", "token "+secret, "--tag", secret, "The deploy token is "+secret)
	if strings.Contains(out, secret) || !strings.Contains(out, "taken out") {
		t.Errorf("the person was not told:\n%s", out)
	}
	id := regexp.MustCompile(`saved (\S+)`).FindStringSubmatch(out)[1]
	d.must("edit", id, "--content", "Rotated to "+secret+" in May")
	d.must("retire", id, "--reason", "it was "+secret)
	file := filepath.Join(d.proj, "other.jsonl")
	d.write(file, strings.ReplaceAll(`{"content":"The other robot signs in","source_session":"S","name":"robot S","extra":{"S":"S"},"x-S":"S",`+
		`"evidence":[{"session":"S","turn":"S","quote":"it is S"}],"claims":[{"id":"c1","probe":"path-exists","args":["S"],"reason":"S"}]}`, "S", secret)+"\n")
	d.must("import", "--namespace", "user", file)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(d.env["STILLSO_HOME"], func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s holds the secret", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The same words twice are one memory; a successor marks the old one.
func TestRememberTwiceAndSupersede(t *testing.T) {
	d := newDesk(t)
	id := d.remember("Use pnpm, not npm.")
	var again remembered
	d.json(&again, "remember", "--dir", d.proj, "use  pnpm, NOT npm")
	if again.Saved || again.Memory.ID != id {
		t.Errorf("saved a double: %+v", again)
	}
	next := d.remember("Use bun instead of pnpm.", "--supersedes", id[:6])
	var s shown
	d.json(&s, "show", id)
	if s.Memory.State != "superseded" || s.Memory.SupersededBy != next {
		t.Errorf("the old one is %s, superseded by %q", s.Memory.State, s.Memory.SupersededBy)
	}
	d.must("undo", "--last")
	s = shown{}
	d.json(&s, "show", id)
	if s.Memory.State != "active" || s.Memory.SupersededBy != "" {
		t.Errorf("after undo it is %s, superseded by %q", s.Memory.State, s.Memory.SupersededBy)
	}
	if _, _, code := d.try("show", next); code != exitUsage {
		t.Errorf("the successor is still there (exit %d)", code)
	}
}

// Wrong input must say so, exit with the promised code, and change nothing.
func TestBadInput(t *testing.T) {
	d := newDesk(t)
	if _, errOut, code := d.try("list"); code != exitNoStore || !strings.Contains(errOut, "nothing was saved yet") {
		t.Errorf("without a store: exit %d, %q", code, errOut)
	}
	if _, err := os.Stat(d.env["STILLSO_HOME"]); err == nil {
		t.Error("a reading command made the home")
	}
	id := d.remember("One.")
	d.remember("Two.")
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"nonsense"}, exitUsage, "unexpected argument nonsense"},
		{[]string{"list", "--bogus"}, exitUsage, "unknown flag --bogus"},
		{[]string{"list", "--state", "gone"}, exitUsage, `unknown state "gone"`},
		{[]string{"list", "--type", "gone"}, exitUsage, `unknown type "gone"`},
		{[]string{"show", "zzzz"}, exitUsage, "no id starts so"},
		{[]string{"show", ""}, exitUsage, "no id starts so"},
		{[]string{"remember", "  "}, exitUsage, "the content is empty"},
		{[]string{"remember", strings.Repeat("x", 9000)}, exitUsage, "8192 are allowed"},
		{[]string{"remember", "?! 👀 ---"}, exitUsage, "has no word"},
		{[]string{"export", d.proj}, exitUsage, "it is a directory"},
		{[]string{"remember", "-p", "9", "x"}, exitUsage, "priority 9"},
		{[]string{"edit", id, "--replace", "nowhere", "x"}, exitUsage, "0 times"},
		{[]string{"edit", id, "--replace", "One"}, exitUsage, "two words"},
		{[]string{"undo"}, exitUsage, "say which change"},
		{[]string{"undo", "nochange"}, exitUsage, "no such change"},
		{[]string{"purge", id}, exitUsage, "add --yes"},
		{[]string{"import"}, exitUsage, "no path was given"},
		{[]string{"import", filepath.Join(d.proj, "missing.md")}, exitUsage, "nothing was imported"},
		{[]string{"journal", "--since", "yesterday"}, exitUsage, "cannot read the time"},
		{[]string{"search", "zebra"}, exitProblems, ""},
	} {
		out, errOut, code := d.try(tt.args...)
		if code != tt.code || !strings.Contains(errOut, tt.want) {
			t.Errorf("stillso %v: exit %d, want %d; %q, want %q", tt.args, code, tt.code, errOut+out, tt.want)
		}
		if errOut != "" && (!strings.HasPrefix(errOut, "stillso: ") || strings.Count(errOut, "\n") != 1) {
			t.Errorf("stillso %v: error in the wrong form: %q", tt.args, errOut)
		}
	}
	if out := d.must("list", "--dir", d.proj, "--count"); out != "2\n" {
		t.Errorf("count = %q, want 2", out)
	}
}

// Forty saves from eight writers at once: none is lost, none fails.
func TestWritersAtOnce(t *testing.T) {
	d := newDesk(t)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 5 {
				word := string(rune('a'+w)) + string(rune('a'+i))
				if _, errOut, code := d.try("remember", "--dir", d.proj, "Shard "+word+" holds value v"+word); code != 0 {
					t.Errorf("exit %d: %s", code, errOut)
				}
			}
		})
	}
	wg.Wait()
	if out := d.must("list", "--dir", d.proj, "--count"); out != "40\n" {
		t.Errorf("count = %q, want 40", out)
	}
	if out, errOut, code := d.try("doctor", "--dir", d.proj); code != 0 {
		t.Errorf("doctor: exit %d\n%s%s", code, out, errOut)
	}
}

// An import twice changes nothing the second time, and undo takes it all back.
func TestImportTwiceThenUndo(t *testing.T) {
	d := newDesk(t)
	var one, two imported
	d.json(&one, "import", "--dir", d.proj, "sample/memory", "sample/project/CLAUDE.md")
	d.json(&two, "import", "--dir", d.proj, "sample/memory", "sample/project/CLAUDE.md")
	if one.Files[0].New != 12 || one.Files[1].New == 0 {
		t.Errorf("first import: %+v", one.Files)
	}
	for i, f := range two.Files {
		if f.New+f.Changed+f.Skipped != 0 || f.Unchanged != one.Files[i].New {
			t.Errorf("second import: %+v", f)
		}
	}
	d.must("undo", "--batch", one.Batch)
	if out := d.must("list", "--all", "--count"); out != "0\n" {
		t.Errorf("after undo there are %s", out)
	}
}

// An export read into an empty store gives the same memories, retired ones left out.
func TestExportImport(t *testing.T) {
	d := newDesk(t)
	d.remember("Golden files come from make golden.", "--tag", "tests", "--alias", "regenerate fixtures")
	gone := d.remember("The old queue is called zeta.")
	d.must("retire", gone)
	file := filepath.Join(d.proj, "out.jsonl")
	d.must("export", file)
	var before, after listed
	d.json(&before, "list", "--all", "--state", "active")
	d.env["STILLSO_HOME"] += "2"
	d.must("import", "--dir", d.proj, file)
	d.must("import", "--dir", d.proj, file)
	d.json(&after, "list", "--all", "--state", "active")
	if len(before.Memories) != 1 || len(after.Memories) != 1 || !before.Memories[0].Equal(after.Memories[0]) {
		t.Errorf("before %+v\nafter %+v", before.Memories, after.Memories)
	}
}
