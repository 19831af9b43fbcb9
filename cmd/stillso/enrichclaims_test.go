package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"stillso"
	"stillso/internal/enrich"
	"stillso/internal/verify"
)

// The model is told which probes there are in a text of its own: it must be the
// list of those that there are, with their arguments.
func TestClaimsPromptListsProbes(t *testing.T) {
	q := enrich.Request(&stillso.Memory{Type: stillso.Fact, Content: "x"}, enrich.Context{Claims: &enrich.Claiming{}})
	lines := strings.Split(q.System, "\n")
	listed := 0
	for _, p := range verify.Probes() {
		var kinds []string
		for _, k := range p.Args {
			kinds = append(kinds, k.Name)
		}
		want := p.Name + ": " + strings.Join(kinds, ", ")
		for _, l := range lines {
			if l == want {
				listed++
			}
		}
		if !strings.Contains(q.System, "\n"+want+"\n") {
			t.Errorf("the prompt does not list %q", want)
		}
	}
	begin := strings.Index(q.System, "\npath: ")
	block, _, _ := strings.Cut(q.System[begin+1:], "\n\n")
	if n := len(strings.Split(block, "\n")); n != listed {
		t.Errorf("the prompt lists %d probes, there are %d", n, listed)
	}
}

// What a model claims must pass the types of the probes before it is stored, wait
// for the check like any claim, label where it fails, leave with the undo of the
// enriching, and not be asked for where the settings say no.
func TestEnrichClaims(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the model is a shell script")
	}
	for _, on := range []bool{true, false} {
		d := newDesk(t)
		model := filepath.Join(d.proj, "model")
		answer := `{"aliases":["oven profile"],"claims":[{"probe":"symbol","args":["kiln.py","ramp_up"]},{"probe":"sh","args":["kiln.py"]},` +
			`{"probe":"path","args":["../../etc/passwd"]},{"probe":"commit","args":["--output=x"]},{"probe":"url","args":["http://169.254.169.254/latest"]}]}`
		if err := os.WriteFile(model, []byte("#!/bin/sh\ncat > /dev/null\ncat <<'END'\n"+answer+"\nEND\n"), 0o700); err != nil { // #nosec G306 -- it is run
			t.Fatal(err)
		}
		d.write(filepath.Join(d.proj, "kiln.py"), "def cool_down():\n    pass\n")
		id := d.remember("The kiln heats by ramp_up of kiln.py; never read ../../etc/passwd, --output=x or http://169.254.169.254/latest.")
		d.write(filepath.Join(d.env["STILLSO_HOME"], "config.toml"),
			"[llm]\nprovider = \"command\"\ncommand = ["+strconv.Quote(model)+"]\n[verify]\nmodel_claims = "+strconv.FormatBool(on)+"\n")
		delete(d.env, "STILLSO_LLM")

		var e enriched
		d.json(&e, "enrich", id)
		var s shown
		d.json(&s, "show", id)
		byModel := func() (n int, last stillso.Claim) {
			for _, c := range s.Memory.Claims {
				if strings.HasPrefix(c.ID, "model-") {
					n, last = n+1, c
				}
			}
			return n, last
		}
		n, c := byModel()
		if !on {
			if n != 0 || e.Claims != 0 || e.Aliases != 1 {
				t.Errorf("switched off: %+v, %+v", e, s.Memory.Claims)
			}
			continue
		}
		if n != 1 || e.Claims != 1 || c.Probe != "symbol" || c.Verdict != "" {
			t.Fatalf("%+v, %+v", e, s.Memory.Claims)
		}
		var v verified
		d.json2(&v, exitProblems, "verify", id)
		if len(v.Labelled) != 1 || v.Fails == 0 {
			t.Errorf("not checked: %+v", v)
		}
		d.must("undo", "--batch", v.Batch)
		d.must("undo", "--batch", e.Batch)
		s = shown{}
		d.json(&s, "show", id)
		if n, _ := byModel(); n != 0 || len(s.Memory.Aliases) != 0 {
			t.Errorf("after the undo: %+v", s.Memory)
		}
	}
}
