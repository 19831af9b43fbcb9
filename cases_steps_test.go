//go:build unix

package stillso_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stillso"
)

// step performs one step. A step that is not known fails the case.
func (r *caseRun) step(s *stepWords) *outcome {
	r.t.Helper()
	do := map[string]func(*stepWords) *outcome{
		"setup": r.doSetup, "load_notes": r.doLoadNotes, "recall": r.doRecall, "search": r.doSearch, "list": r.doList, "hook": r.doHook,
		"capture": r.doCapture, "save": r.doSave, "edit": r.doEdit, "forget": r.doForget, "undo": r.doUndo,
		"consolidate": r.doConsolidate, "verify": r.doVerify, "mark_verified": r.doMarkVerified, "export": r.doExport, "import": r.doImport,
		"install": r.doInstall, "uninstall": r.doInstall, "doctor": r.doDoctor, "count": r.doCount, "shell": r.doShell,
		"put": r.doPut, "append": r.doPut, "append_text": r.doPut, "read": r.doRead, "snapshot_tree": r.doTree, "parallel": r.doParallel,
		"lock_store": r.doLock, "wait_unlock": r.doUnlock, "corrupt_store": r.doCorrupt, "stat_store": r.doStat, "readonly_store": r.doReadOnly,
		"config": r.doConfig, "env": r.doEnv, "processes": r.doProcesses, "note_file": r.doNoteFile,
	}[s.str("do")]
	if do == nil {
		r.t.Errorf("unknown step %s", s)
		return &outcome{}
	}
	return do(s)
}

// in returns a path of the case's folder, or an absolute one as it is.
func (r *caseRun) in(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.dir, path)
}

// cwd is the directory that a step names, else the project.
func (r *caseRun) cwd(s *stepWords) string {
	if d := s.str("cwd"); d != "" {
		return d
	}
	return filepath.Join(r.root, "proj")
}

func (r *caseRun) doSetup(s *stepWords) *outcome {
	o := r.run(r.root, nil, "sh", r.in(s.str("script")))
	if o.exit != 0 {
		r.t.Errorf("%s: exit %d: %s", s.str("script"), o.exit, o.stderr)
	}
	return o
}

// doLoadNotes imports the notes as they are; their front matter is understood.
// Raw notes go into the store behind the commands' back, as an older version
// without redaction would have left them.
func (r *caseRun) doLoadNotes(s *stepWords) *outcome {
	if s.truth("raw") {
		return r.loadRaw(r.in(s.str("dir")), r.cwd(s), s.str("store"))
	}
	o := r.cli(s.str("store"), "--json", "import", "--dir", r.cwd(s), r.in(s.str("dir")))
	if o.exit != 0 || strings.Contains(o.stdout, `"skipped": [`) {
		r.t.Errorf("import of the notes: exit %d: %s%s", o.exit, o.stdout, o.stderr)
	}
	return o
}

func (r *caseRun) doRecall(s *stepWords) *outcome {
	prompt := s.str("prompt")
	if s.has("prompt_file") {
		text, err := os.ReadFile(r.in(s.str("prompt_file")))
		if err != nil {
			r.t.Error(err)
		}
		prompt = string(text)
	}
	session := s.str("session")
	if session == "" {
		r.sessions++
		session = fmt.Sprintf("recall-%d", r.sessions)
	}
	return r.prompt(s, session, prompt)
}

func (r *caseRun) prompt(s *stepWords, session, prompt string) *outcome {
	transcript := filepath.Join(r.root, "none.jsonl")
	if t := s.str("transcript"); t != "" {
		transcript = r.in(t)
	}
	return r.hook("UserPromptSubmit", r.cwd(s), encode(map[string]any{
		"session_id": session, "transcript_path": transcript, "cwd": r.cwd(s), "hook_event_name": "UserPromptSubmit",
		"permission_mode": "default", "prompt": prompt,
	}))
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return []byte(err.Error())
	}
	return b
}

func (r *caseRun) doSearch(s *stepWords) *outcome {
	args := []string{"--json", "search", "--dir", r.cwd(s)}
	switch p := s.str("project"); p {
	case "", "current":
	case "all", "any", "none":
		args = append(args, "--all-namespaces")
	default:
		args = append(args, "--namespace", p)
	}
	for _, k := range []string{"limit", "k"} {
		if s.has(k) {
			args = append(args, "--limit", s.str(k))
		}
	}
	if s.has("type") {
		args = append(args, "--type", s.str("type"))
	}
	o := r.cli(s.str("store"), append(args, "--", s.str("query"))...)
	var found struct{ Found []stillso.Found }
	o.text = ""
	if o.exit > 1 || json.Unmarshal([]byte(o.stdout), &found) != nil {
		return o
	}
	if o.exit == 1 { // nothing matched is an answer
		o.exit = 0
	}
	for _, f := range found.Found {
		if f.Memory != nil {
			o.ids = append(o.ids, f.Memory.ID)
			o.text += itemText(f.Memory)
		}
	}
	return o
}

// itemText is a memory as a list shows it.
func itemText(m *stillso.Memory) string {
	label := string(m.Type)
	if m.State != stillso.Active {
		label += " · " + string(m.State)
	}
	if u := m.Unverified(); u != "" {
		label += " · unverified: " + u
	}
	return fmt.Sprintf("- [%s · %s] %s %s\n", label, m.ID, m.Content, m.Body)
}

func (r *caseRun) doList(s *stepWords) *outcome {
	args := []string{"--json", "list"}
	if st := s.str("state"); st == "all" {
		args = append(args, "--all")
	} else if st != "" {
		args = append(args, "--state", st)
	}
	switch {
	case s.has("scope"):
		args = append(args, "--namespace", s.str("scope"), "--dir", r.cwd(s))
	case s.str("project") == "current":
		args = append(args, "--dir", r.cwd(s))
	default:
		r.cwd(s)
		args = append(args, "--all-namespaces")
	}
	o := r.cli(s.str("store"), args...)
	for _, m := range memoriesOf(o.stdout) {
		o.ids = append(o.ids, m.ID)
	}
	return o
}

// memoriesOf reads the memories of a list or an export.
func memoriesOf(text string) []*stillso.Memory {
	var doc struct{ Memories []*stillso.Memory }
	if json.Unmarshal([]byte(text), &doc) == nil && doc.Memories != nil {
		return doc.Memories
	}
	var list []*stillso.Memory
	if json.Unmarshal([]byte(text), &list) == nil {
		return list
	}
	for line := range strings.Lines(text) {
		var m stillso.Memory
		if json.Unmarshal([]byte(line), &m) == nil && m.ID != "" {
			list = append(list, &m)
		}
	}
	return list
}

func (r *caseRun) doHook(s *stepWords) *outcome {
	event := s.str("event")
	stdin := []byte(s.m["stdin"])
	s.used["stdin"] = true
	var raw string
	dir := ""
	switch {
	case s.has("stdin_file"):
		b, err := os.ReadFile(r.in(s.str("stdin_file")))
		if err != nil {
			r.t.Error(err)
		}
		stdin = b
	case json.Unmarshal(stdin, &raw) == nil:
		stdin = []byte(raw)
	}
	var in struct {
		Cwd   string `json:"cwd"`
		Event string `json:"hook_event_name"`
	}
	if json.Unmarshal(stdin, &in) == nil {
		dir = in.Cwd
		if event == "" {
			event = in.Event
		}
	}
	return r.hook(event, dir, stdin)
}

func (r *caseRun) doSave(s *stepWords) *outcome {
	if s.has("id") { // only an import gives ids
		line := map[string]any{"id": s.str("id"), "name": s.str("title"), "content": s.str("text"), "scope": s.str("scope")}
		if s.has("type") {
			line["type"] = s.str("type")
		}
		path := filepath.Join(r.model, "save.jsonl")
		if err := os.WriteFile(path, encode(line), 0o600); err != nil {
			r.t.Error(err)
		}
		o := r.cli(s.str("store"), "--json", "import", "--dir", r.cwd(s), path)
		o.saved = s.str("id")
		return o
	}
	args := []string{"--json", "remember", "--dir", r.cwd(s)}
	option := func(key, flag string) {
		if s.has(key) && s.str(key) != "" {
			args = append(args, flag+"="+s.str(key))
		}
	}
	option("title", "--name")
	option("type", "--type")
	option("scope", "--namespace")
	option("priority", "--priority")
	option("why", "--why")
	option("supersedes", "--supersedes")
	for _, f := range s.list("files") {
		args = append(args, "--file="+f)
	}
	if s.truth("pinned") {
		args = append(args, "--resident")
	}
	o := r.cli(s.str("store"), append(args, "--", s.str("text"))...)
	var done struct{ Memory stillso.Memory }
	if json.Unmarshal([]byte(o.stdout), &done) == nil {
		o.saved = done.Memory.ID
		o.ids = []string{o.saved}
	}
	return o
}
