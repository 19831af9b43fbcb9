//go:build unix

package stillso_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stillso"
)

// idsOf returns the ids that a step names, directly, by an earlier save, or by words
// that the memory contains.
func (r *caseRun) idsOf(s *stepWords) []string {
	switch {
	case s.has("id"):
		return []string{s.str("id")}
	case s.has("saved"):
		if o := r.results[s.str("saved")]; o != nil {
			return []string{o.saved}
		}
		r.t.Errorf("no step %q", s.str("saved"))
		return nil
	case s.has("match"):
		var ids []string
		o := r.cli(s.str("store"), "--json", "list", "--all-namespaces", "--state", "active,draft,superseded")
		for _, m := range memoriesOf(o.stdout) {
			if strings.Contains(strings.ToLower(m.Name+"\n"+m.Content+"\n"+m.Body), strings.ToLower(s.str("match"))) {
				ids = append(ids, m.ID)
			}
		}
		if len(ids) == 0 {
			r.t.Logf("no memory matches %q", s.str("match"))
		}
		return ids
	}
	return nil
}

func (r *caseRun) doEdit(s *stepWords) *outcome {
	ids := r.idsOf(s)
	if len(ids) != 1 {
		return &outcome{exit: 2, stderr: fmt.Sprintf("%d memories to edit", len(ids))}
	}
	args := []string{"--json", "edit", ids[0]}
	if pair := s.list("replace"); len(pair) == 2 {
		args = append(args, "--replace", pair[0], pair[1])
	}
	for key, flag := range map[string]string{"text": "--content=", "title": "--name=", "type": "--type=", "priority": "--priority="} {
		if s.has(key) {
			args = append(args, flag+s.str(key))
		}
	}
	if s.has("pinned") {
		args = append(args, map[bool]string{true: "--resident", false: "--no-resident"}[s.truth("pinned")])
	}
	return r.cli(s.str("store"), args...)
}

func (r *caseRun) doForget(s *stepWords) *outcome {
	ids := r.idsOf(s)
	if len(ids) == 0 {
		return &outcome{exit: 2, stderr: "nothing to forget"}
	}
	args := []string{"--json", "retire"}
	if s.truth("purge") {
		args = []string{"--json", "purge", "--yes"}
	}
	return r.cli(s.str("store"), append(args, ids...)...)
}

// doUndo takes back the last change, or the whole last run.
func (r *caseRun) doUndo(s *stepWords) *outcome {
	if s.has("change") {
		return r.cli(s.str("store"), "--json", "undo", s.str("change"))
	}
	if s.str("last") != "run" {
		return r.cli(s.str("store"), "--json", "undo", "--last")
	}
	var doc struct{ Changes []stillso.Change }
	o := r.cli(s.str("store"), "--json", "journal", "--outcome", "applied", "--limit", "50")
	if err := json.Unmarshal([]byte(o.stdout), &doc); err != nil {
		return o
	}
	for _, c := range doc.Changes {
		if c.Batch != "" {
			return r.cli(s.str("store"), "--json", "undo", "--batch", c.Batch)
		}
	}
	return r.cli(s.str("store"), "--json", "undo", "--last")
}

func (r *caseRun) doVerify(s *stepWords) *outcome {
	return r.cli(s.str("store"), "--json", "verify", "--dir", r.cwd(s))
}

func (r *caseRun) doMarkVerified(s *stepWords) *outcome {
	return r.cli(s.str("store"), append([]string{"--json", "verify", "--confirm"}, r.idsOf(s)...)...)
}

func (r *caseRun) doExport(s *stepWords) *outcome {
	file := s.str("file")
	if file == "" {
		file = filepath.Join(r.tmp, "export-"+s.str("as")+".jsonl")
	}
	args := []string{"export", file}
	if s.truth("all") {
		args = append(args, "--all")
	}
	o := r.cli(s.str("store"), args...)
	text, err := os.ReadFile(file)
	if err != nil && o.exit == 0 {
		r.t.Error(err)
	}
	o.text, o.path = string(text), file
	for _, m := range memoriesOf(o.text) {
		o.ids = append(o.ids, m.ID)
	}
	return o
}

func (r *caseRun) doImport(s *stepWords) *outcome {
	args := []string{"--json", "import"}
	if s.has("cwd") {
		args = append(args, "--dir", r.cwd(s))
	}
	return r.cli(s.str("store"), append(args, r.in(s.str("file")))...)
}

func (r *caseRun) doInstall(s *stepWords) *outcome { return r.cli("", s.str("do"), "claude-code") }

func (r *caseRun) doDoctor(s *stepWords) *outcome {
	return r.runWith(map[string]string{"STILLSO_HOME": r.storeHome(s.str("store"))}, r.cwd(s), nil, filepath.Join(r.bin, "stillso"), "doctor")
}

func (r *caseRun) doCount(s *stepWords) *outcome {
	o := r.cli(s.str("store"), "--json", "list", "--count", "--all-namespaces")
	var doc struct{ Count *int }
	if err := json.Unmarshal([]byte(o.stdout), &doc); err == nil {
		o.number = doc.Count
	}
	if o.exit == 10 { // no store: nothing was ever saved
		zero := 0
		o.number = &zero
	}
	return o
}

func (r *caseRun) doShell(s *stepWords) *outcome {
	o := r.run(r.root, nil, "sh", "-c", s.str("cmd"))
	if n, err := strconv.Atoi(strings.TrimSpace(o.stdout)); err == nil {
		o.number = &n
	}
	return o
}
