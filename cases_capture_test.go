//go:build unix

package stillso_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stillso"
)

// doCapture puts the transcript where the host has it, fires the event, and runs
// the offline work to its end with a model that is a stub.
func (r *caseRun) doCapture(s *stepWords) *outcome {
	store := s.str("store")
	if s.truth("fresh_store") {
		if err := os.RemoveAll(r.storeHome(store)); err != nil {
			r.t.Error(err)
		}
	}
	transcript, session := r.placeTranscript(s)
	r.configureModel(s, store, transcript)
	if s.truth("fresh_offsets") {
		r.update(`UPDATE sessions SET payload = json_set(payload, '$.offset', 0, '$.mark', '', '$.captured', 0)`)
	}
	if s.truth("retry_now") {
		r.update(`UPDATE queue SET not_before = NULL`)
	}
	before := r.allMemories(store)
	event := s.str("event")
	if event == "" {
		event = "SessionEnd"
	}
	// The hook would start a sweep of its own, whose end and memory nobody could
	// measure; a mark that one was just started keeps it from that.
	mark := filepath.Join(r.storeHome(store), "spool", "sweep.started")
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		r.t.Error(err)
	}
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		r.t.Error(err)
	}
	hook := r.hook(event, r.cwd(s), encode(map[string]any{
		"session_id": session, "transcript_path": transcript, "cwd": r.cwd(s), "hook_event_name": event, "reason": "other",
	}))
	o := r.cli(store, "--json", "sweep", "--wait")
	if hook.exit != 0 {
		o.exit = hook.exit
		o.stderr += hook.stderr
	}
	r.readRecord(o)
	for _, m := range r.allMemories(store) {
		old := slices.IndexFunc(before, func(b *stillso.Memory) bool { return b.ID == m.ID })
		if old < 0 || !before[old].Equal(m) {
			o.ids = append(o.ids, m.ID)
			o.stored += string(encode(m)) + "\n"
		}
	}
	o.text = o.stored
	if os.Getenv("STILLSO_CASES_TRACE") != "" {
		r.t.Logf("sweep: %s%s\njournal:\n%s", o.stdout, o.stderr, r.cli(store, "journal", "--outcome", "refused,proposed").stdout)
		for i, q := range o.requests {
			r.t.Logf("request %d:\n%s", i+1, short(dataOf(q)))
		}
	}
	return o
}

func (r *caseRun) allMemories(store string) []*stillso.Memory {
	return memoriesOf(r.cli(store, "--json", "list", "--all").stdout)
}

// update changes the store's bookkeeping, for steps that pretend something about
// it: that nothing was read yet, that the waiting time is over.
func (r *caseRun) update(query string) {
	if _, err := os.Stat(filepath.Join(r.storeHome(""), "store.db")); err != nil {
		return
	}
	db, err := r.database()
	if err == nil {
		_, err = db.Exec(query)
		err = errorsJoin(err, db.Close())
	}
	if err != nil {
		r.t.Error(err)
	}
}

func errorsJoin(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// placeTranscript returns where the transcript is and which session it is of.
func (r *caseRun) placeTranscript(s *stepWords) (path, session string) {
	from := r.in(s.str("transcript"))
	session = sessionOf(from)
	if session == "" {
		session = strings.TrimSuffix(filepath.Base(from), ".jsonl")
	}
	path = s.str("path")
	if path == "" {
		if filepath.IsAbs(s.str("transcript")) {
			return from, session
		}
		slug := strings.NewReplacer("/", "-", " ", "-", ".", "-").Replace(r.cwd(s))
		path = filepath.Join(r.home(), ".claude", "projects", slug, session+".jsonl")
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		r.t.Error(err)
	}
	return path, session
}

func sessionOf(path string) string {
	for _, row := range transcriptRows(path) {
		if row.Session != "" {
			return row.Session
		}
	}
	return ""
}

// configureModel writes the settings: the stub, or the case's own command, is
// the model, and every turn is captured at once.
func (r *caseRun) configureModel(s *stepWords, store, transcript string) {
	command := []string{os.Args[0], "as:model", r.model}
	job := modelJob{Rows: map[string]string{}, Env: map[string]string{}}
	if script := s.str("model_cmd"); script != "" {
		command = []string{os.Args[0], "as:model-command", r.model}
		job.Script = r.in(script)
		for _, k := range []string{"CASE_TMP", "CASE", "ROOT", "PRODUCT_HOOK", "STUB_REPLY", "HOME", "STILLSO_HOME", "PATH", "TMPDIR"} {
			job.Env[k] = r.env[k]
		}
	}
	if file := s.str("stub"); file != "" {
		text, err := os.ReadFile(r.in(file))
		if err == nil {
			err = json.Unmarshal(text, &job.Stub)
		}
		if err != nil {
			r.t.Errorf("%s: %v", file, err)
		}
	}
	for i := range job.Stub {
		if job.Stub[i].RawReply != "" {
			job.Stub[i].RawReply = r.in(job.Stub[i].RawReply)
		}
	}
	if raw := s.str("raw_reply"); raw != "" {
		job.RawReply = r.in(raw)
	}
	for _, row := range transcriptRows(transcript) {
		if len(row.text()) < 1<<20 {
			job.Rows[row.UUID] = row.text()
		}
	}
	r.writeJob(job)
	r.env["STILLSO_LLM"] = "command"
	r.writeConfig(store, map[string]map[string]string{
		"llm":     {"provider": `"command"`, "command": string(encode(command)), "timeout": `"20s"`, "tries": "1"},
		"capture": {"turns": "1"},
	})
}

func (r *caseRun) writeJob(job modelJob) {
	if err := os.RemoveAll(filepath.Join(r.model, "requests")); err != nil {
		r.t.Error(err)
	}
	if err := os.MkdirAll(filepath.Join(r.model, "requests"), 0o700); err != nil {
		r.t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(r.model, "job.json"), encode(job), 0o600); err != nil {
		r.t.Error(err)
	}
}

// writeConfig adds tables to config.toml and keeps what earlier steps set.
func (r *caseRun) writeConfig(store string, tables map[string]map[string]string) {
	path := filepath.Join(r.model, "config-"+store+".json")
	all := map[string]map[string]string{}
	if old, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(old, &all); err != nil {
			r.t.Error(err)
		}
	}
	for t, keys := range tables {
		if all[t] == nil {
			all[t] = map[string]string{}
		}
		for k, v := range keys {
			all[t][k] = v
		}
	}
	var b strings.Builder
	for t, keys := range all {
		fmt.Fprintf(&b, "[%s]\n", t)
		for k, v := range keys {
			fmt.Fprintf(&b, "%s = %s\n", k, v)
		}
	}
	home := r.storeHome(store)
	err := os.MkdirAll(home, 0o700)
	if err == nil {
		err = os.WriteFile(filepath.Join(home, "config.toml"), []byte(b.String()), 0o600)
	}
	if err == nil {
		err = os.WriteFile(path, encode(all), 0o600)
	}
	if err != nil {
		r.t.Error(err)
	}
}

// doConfig sets settings by the names of the cases.
func (r *caseRun) doConfig(s *stepWords) *outcome {
	tables := map[string]map[string]string{}
	for key, raw := range s.object("set") {
		name, ok := settingNames()[key]
		if !ok {
			if table, k, dotted := strings.Cut(key, "."); dotted {
				name = [2]string{table, k}
			} else {
				r.t.Errorf("no setting is called %q", key)
				continue
			}
		}
		if tables[name[0]] == nil {
			tables[name[0]] = map[string]string{}
		}
		tables[name[0]][name[1]] = string(raw) // a JSON number, text or truth value is one of TOML
	}
	r.writeConfig("", tables)
	return &outcome{}
}

// readRecord reads what the model was asked.
func (r *caseRun) readRecord(o *outcome) {
	files, _ := filepath.Glob(filepath.Join(r.model, "requests", "*.txt"))
	slices.Sort(files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			r.t.Error(err)
		}
		o.requests = append(o.requests, string(text))
		for _, turn := range windowTurns(string(text)) {
			if turn.typed {
				o.userInput += turn.text + "\n"
			}
		}
	}
}

// doConsolidate runs the tidy pass with the verdicts of a file as the model's
// answers.
func (r *caseRun) doConsolidate(s *stepWords) *outcome {
	job := modelJob{}
	if f := s.str("verdicts"); f != "" {
		text, err := os.ReadFile(r.in(f))
		if err != nil {
			r.t.Error(err)
		}
		job.Verdicts = text
	}
	r.writeJob(job)
	r.env["STILLSO_LLM"] = "command"
	r.writeConfig(s.str("store"), map[string]map[string]string{
		"llm": {"provider": `"command"`, "command": string(encode([]string{os.Args[0], "as:model", r.model})), "tries": "1"},
	})
	o := r.cli(s.str("store"), "--json", "tidy")
	r.readRecord(o)
	return o
}

// writeScripts makes the programs that scripts of a case call.
func (r *caseRun) writeScripts() {
	hook := `#!/bin/sh
case "$1" in
  SessionStart) e=session-start;; UserPromptSubmit) e=prompt;; Stop|SubagentStop) e=turn-end;; SessionEnd) e=session-end;;
  PreCompact) e=pre-compact;; PreToolUse) e=pre-tool;; *) e=$1;;
esac
exec "` + filepath.Join(r.bin, "stillso-hook") + `" claude-code "$e"
`
	reply := "#!/bin/sh\nexec \"" + os.Args[0] + "\" as:reply \"" + r.model + "\"\n"
	for name, text := range map[string]string{"hook": hook, "reply": reply} {
		if err := os.WriteFile(filepath.Join(r.model, name), []byte(text), 0o700); err != nil {
			r.t.Fatal(err)
		}
	}
}

// transcriptRow is what the stub needs to know of a row.
type transcriptRow struct {
	UUID    string `json:"uuid"`
	Session string `json:"sessionId"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// text is all text of the row, that of tools included.
func (t transcriptRow) text() string {
	var s string
	if json.Unmarshal(t.Message.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(t.Message.Content, &parts) != nil {
		return ""
	}
	for _, p := range parts {
		s += p.Text
		var c string
		if json.Unmarshal(p.Content, &c) == nil {
			s += c
		}
	}
	return s
}

func transcriptRows(path string) []transcriptRow {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var rows []transcriptRow
	for line := range strings.Lines(string(text)) {
		var row transcriptRow
		if json.Unmarshal([]byte(line), &row) == nil && row.UUID != "" {
			rows = append(rows, row)
		}
	}
	return rows
}

// standIn is what this binary does in place of other programs.
func standIn(args []string) int {
	var err error
	switch args[0] {
	case "as:model", "as:reply":
		err = answer(args[1], args[0] == "as:model")
	case "as:model-command":
		err = runModelCommand(args[1])
	case "as:locker":
		ms, _ := strconv.Atoi(args[2])
		err = holdLock(args[1], time.Duration(ms)*time.Millisecond)
	case "as:plain-user":
		err = asPlainUser(args[1:])
	default:
		err = fmt.Errorf("unknown part %q", args[0])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
