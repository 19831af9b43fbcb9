package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stillso/internal/verify"
)

// A memory that cites a file must be labelled where it is recalled when the file is
// gone, stay recalled, lose the label when it is back, and every step must be one
// change that can be taken back.
func TestVerifyLabels(t *testing.T) {
	d := newDesk(t)
	file := filepath.Join(d.proj, "internal", "auth", "token.go")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	d.write(file, "package auth\n")
	id := d.remember("Refresh tokens are rotated in internal/auth/token.go on every use.")
	ask := []string{"recall", "--dir", d.proj, "where are refresh tokens rotated"}
	label := "unverified: path internal/auth/token.go is gone"

	var got verified
	d.json(&got, "verify", "--dir", d.proj)
	if got.Holds != 1 || got.Fails != 0 || got.Batch != "" {
		t.Fatalf("%+v", got)
	}
	if out := d.must("show", id); !strings.Contains(out, "path internal/auth/token.go exists: holds, seen 2026-11-30") {
		t.Errorf("show:\n%s", out)
	}
	if out := d.must("verify", id); !strings.Contains(out, "holds") || !strings.Contains(out, "internal/auth/token.go") {
		t.Errorf("a memory that was asked for shows nothing:\n%s", out)
	}
	var j journalled
	d.json(&j, "journal")
	before := len(j.Changes)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	out, _, code := d.try("verify", "--dir", d.proj)
	if code != exitProblems || !strings.Contains(out, "internal/auth/token.go is gone") || !strings.Contains(out, "undo --batch") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	if out := d.must(ask...); !strings.Contains(out, id) || !strings.Contains(out, label) {
		t.Errorf("not labelled:\n%s", out)
	}
	if out := d.must("doctor", "--dir", d.proj); !strings.Contains(out, "1 memory is unverified") {
		t.Errorf("doctor:\n%s", out)
	}
	if out := d.must("show", id); !strings.Contains(out, "token.go is gone") {
		t.Errorf("show:\n%s", out)
	}
	d.write(file, "package auth\n")
	d.must("verify", "--dir", d.proj)
	if out := d.must(ask...); strings.Contains(out, "unverified") {
		t.Errorf("still labelled:\n%s", out)
	}
	j = journalled{}
	d.json(&j, "journal")
	if n := len(j.Changes) - before; n != 2 {
		t.Errorf("%d changes for one label and its end", n)
	}
}

// A person who knows better has the last word, in either way of saying so.
func TestVerifyTakenBack(t *testing.T) {
	for _, how := range []string{"undo", "confirm"} {
		d := newDesk(t)
		id := d.remember("The kiln is driven by src/kiln_driver.py at night.")
		var got verified
		d.json2(&got, exitProblems, "verify", "--dir", d.proj)
		if len(got.Labelled) != 1 {
			t.Fatalf("%+v", got)
		}
		if how == "undo" {
			d.must("undo", "--batch", got.Batch)
		} else {
			d.must("verify", "--confirm", id)
		}
		got = verified{}
		d.json2(&got, exitProblems, "verify", "--dir", d.proj)
		if len(got.Labelled) != 0 {
			t.Errorf("%s: labelled again", how)
		}
		if out := d.must("recall", "--dir", d.proj, "what drives the kiln at night"); strings.Contains(out, "unverified") {
			t.Errorf("%s:\n%s", how, out)
		}
	}
	d := newDesk(t)
	d.remember("One.")
	if _, errOut, code := d.try("verify", "--confirm"); code != exitUsage || !strings.Contains(errOut, "say which") {
		t.Errorf("exit %d, %q", code, errOut)
	}
}

// A file that moved is proposed once, changes nothing before a human agrees, and is
// not proposed again when refused.
func TestVerifyProposesMoves(t *testing.T) {
	for _, decision := range []string{"approve", "refuse"} {
		d := newDesk(t)
		old, to := filepath.Join(d.proj, "src", "kiln.py"), filepath.Join(d.proj, "pkg", "kiln.py")
		for _, p := range []string{old, to} {
			if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		d.write(old, "x = 1\n")
		id := d.remember("The kiln curve is set in src/kiln.py by hand.")
		d.must("verify", "--dir", d.proj)
		if err := os.Rename(old, to); err != nil {
			t.Fatal(err)
		}
		var got verified
		d.json2(&got, exitProblems, "verify", "--dir", d.proj)
		if len(got.Proposed) != 1 {
			t.Fatalf("%+v", got)
		}
		var s shown
		if d.json(&s, "show", id); !strings.Contains(s.Memory.Content, "src/kiln.py") {
			t.Fatalf("changed before anybody agreed: %s", s.Memory.Content)
		}
		d.must("review", decision, got.Proposed[0])
		s = shown{}
		d.json(&s, "show", id)
		if moved := strings.Contains(s.Memory.Content, "pkg/kiln.py"); moved != (decision == "approve") || moved && s.Memory.Unverified() != "" {
			t.Errorf("%s: %s, %q", decision, s.Memory.Content, s.Memory.Unverified())
		}
		code := exitProblems
		if decision == "approve" {
			code = exitOK
		}
		got = verified{}
		if d.json2(&got, code, "verify", "--dir", d.proj); len(got.Proposed) != 0 {
			t.Errorf("%s: proposed again", decision)
		}
	}
}

// The sweep verifies by itself, not at every turn, and a purged memory leaves nothing
// in the file of dates.
func TestSweepVerifies(t *testing.T) {
	d := newDesk(t)
	id := d.remember("The firing log is kept in logs_of/firing_log.py here: see src/firing.py.")
	var got swept
	d.json(&got, "sweep")
	if got.Claims == 0 || got.Labels != 1 || len(got.Errors) > 0 {
		t.Fatalf("%+v", got)
	}
	got = swept{}
	if d.json(&got, "sweep"); got.Claims != 0 {
		t.Errorf("checked again a moment later: %+v", got)
	}
	path := filepath.Join(d.env["STILLSO_HOME"], "claims.json")
	s, err := verify.ReadState(path)
	if err != nil || s.Memories[id] == nil {
		t.Fatalf("%v, %v", s, err)
	}
	d.must("purge", "--yes", id)
	d.remember("Another one in src/other.py.")
	d.try("verify", "--all", "--dir", d.proj)
	if s, err = verify.ReadState(path); err != nil || s.Memories[id] != nil {
		t.Errorf("the purged memory is still in the file of dates (%v)", err)
	}
	if err := os.WriteFile(path, []byte("not json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errOut, code := d.try("verify", "--dir", d.proj); code != exitProblems || errOut != "" {
		t.Errorf("a damaged file of dates: exit %d, %q", code, errOut)
	}
}

// A claim of an import with hostile arguments is not run, and does not stop the rest.
func TestVerifyHostileImport(t *testing.T) {
	d := newDesk(t)
	line := `{"id":"evil","namespace":"user","type":"fact","content":"Nothing.","claims":[{"id":"a","probe":"commit","args":["--output=/tmp/x"]},{"id":"b","probe":"sh","args":["id"]},{"id":"c","probe":"path","args":["../../etc/passwd"]}]}`
	path := filepath.Join(d.proj, "in.jsonl")
	d.write(path, line+"\n")
	d.must("import", "--dir", d.proj, path)
	var got verified
	d.json(&got, "verify", "evil")
	if len(got.Claims) != 0 {
		t.Errorf("%+v", got.Claims)
	}
}

// json2 is json for a command that ends with another exit code.
func (d *desk) json2(v any, want int, args ...string) {
	d.t.Helper()
	out, errOut, code := d.try(append([]string{"--json"}, args...)...)
	if code != want {
		d.t.Fatalf("stillso %v: exit %d, want %d\n%s%s", args, code, want, out, errOut)
	}
	decode(d.t, out, v)
}
