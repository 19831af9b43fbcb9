//go:build hosts && unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/host"
	"stillso/internal/host/claudecode"
	"stillso/internal/settings"
)

// These tests run the real assistants, against a model that is a fixture. They
// are not part of make test: make hosts runs them. HOSTBIN names the folder with
// their programs; the packages are in docs/hosts.md. One that is not there is
// skipped, and all of them without HOSTBIN.

// realHost is how one assistant is run without a person and without its own
// model.
type realHost struct {
	name, program string
	// files are its settings before, by path below the home directory.
	files map[string]string
	env   func(url string) []string
	ask   func(prompt string) []string
	// again goes on with the last session.
	again func(prompt string) []string
	// read is the tool that reads a file, with its arguments; FILE is the path.
	read [2]string
	// start is false if its session-start event does not come in this mode;
	// end if its session-end does not.
	start, end bool
	trust      []string
	// warm is set if the host writes its settings anew when it first sees them.
	warm bool
}

func realHosts() []realHost {
	return []realHost{
		{
			name: "claude-code", program: "claude", read: [2]string{"Read", `{"file_path":"FILE"}`}, start: true, end: true,
			files: map[string]string{".claude/settings.json": "{\n    \"cleanupPeriodDays\": 99,\n\n    \"hooks\": { \"Stop\": [ { \"hooks\": [ { \"type\": \"command\", \"command\": \"true\" } ] } ] }\n}"},
			env: func(url string) []string {
				return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=dummy", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1"}
			},
			ask:   func(p string) []string { return []string{"-p", p} },
			again: func(p string) []string { return []string{"-c", "-p", p} },
		},
		{
			name: "codex", program: "codex", read: [2]string{"exec_command", `{"cmd":"cat 'FILE'"}`}, start: true, end: true, trust: []string{"--trust"},
			files: map[string]string{".codex/config.toml": "# mine\nmodel = \"mock-model\"   # keep\nmodel_provider = \"mock\"\n\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"MODELURL/v1\"\nwire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\n"},
			env:   func(string) []string { return []string{"MOCK_KEY=dummy"} },
			ask:   func(p string) []string { return []string{"exec", "--skip-git-repo-check", p} },
			again: func(p string) []string { return []string{"exec", "resume", "--last", "--skip-git-repo-check", p} },
		},
		{
			name: "gemini", program: "gemini", read: [2]string{"read_file", `{"file_path":"FILE"}`}, start: true, end: true,
			files: map[string]string{".gemini/settings.json": "{\n\t// mine\n\t\"security\": { \"auth\": { \"selectedType\": \"gemini-api-key\" } },\n\t\"privacy\": { \"usageStatisticsEnabled\": false } // keep\n}\n"},
			env: func(url string) []string {
				return []string{"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_CLI_TRUST_WORKSPACE=true"}
			},
			ask:   func(p string) []string { return []string{"-m", "gemini-2.5-flash", "-p", p} },
			again: func(p string) []string { return []string{"-m", "gemini-2.5-flash", "--resume", "latest", "-p", p} },
		},
		{
			name: "qwen", program: "qwen", read: [2]string{"read_file", `{"file_path":"FILE"}`}, warm: true,
			files: map[string]string{".qwen/settings.json": "{\n  // mine\n  \"privacy\": { \"usageStatisticsEnabled\": false },\n  \"memory\": { \"enableManagedAutoMemory\": false }\n}\n"},
			env: func(url string) []string {
				return []string{"OPENAI_API_KEY=dummy", "OPENAI_BASE_URL=" + url + "/v1", "OPENAI_MODEL=mock-model"}
			},
			ask:   func(p string) []string { return []string{"--auth-type", "openai", "-p", p} },
			again: func(p string) []string { return []string{"--auth-type", "openai", "--continue", "-p", p} },
		},
		{
			name: "copilot", program: "copilot", read: [2]string{"view", `{"path":"FILE"}`}, start: true, end: true,
			files: map[string]string{".copilot/hooks/mine.json": "{\"version\":1,\"hooks\":{\"agentStop\":[{\"type\":\"command\",\"bash\":\"true\"}]}}\n"},
			env: func(url string) []string {
				return []string{"COPILOT_PROVIDER_BASE_URL=" + url + "/v1", "COPILOT_PROVIDER_API_KEY=dummy", "COPILOT_MODEL=mock-model", "COPILOT_OFFLINE=true"}
			},
			ask:   func(p string) []string { return []string{"--allow-all-tools", "-p", p} },
			again: func(p string) []string { return []string{"--allow-all-tools", "--continue", "-p", p} },
		},
		{
			name: "opencode", program: "opencode", read: [2]string{"read", `{"filePath":"FILE"}`}, start: true,
			files: map[string]string{".config/opencode/opencode.json": `{"$schema":"https://opencode.ai/config.json","autoupdate":false,"share":"disabled","model":"mock/mock-model","small_model":"mock/mock-model","provider":{"mock":{"npm":"@ai-sdk/openai-compatible","name":"mock","options":{"baseURL":"MODELURL/v1","apiKey":"dummy"},"models":{"mock-model":{"name":"mock-model","limit":{"context":100000,"output":4000}}}}}}`},
			env: func(string) []string {
				return []string{"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1"}
			},
			ask:   func(p string) []string { return []string{"run", p} },
			again: func(p string) []string { return []string{"run", "--continue", p} },
		},
	}
}

// lab is one assistant with a home of its own and memories.
type lab struct {
	t                  *testing.T
	host               realHost
	model              *modelServer
	dir, user, project string
	bin, store         string
	version            string
	transcripts        map[string]bool
	// path is searched for programs first.
	path string
	// asked counts how often zebraPrompt was typed.
	asked int
}

func newLab(t *testing.T, h realHost, bin string) *lab {
	path := filepath.Join(os.Getenv("HOSTBIN"), h.program)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not in HOSTBIN", h.program)
	}
	dir := t.TempDir()
	if keep := os.Getenv("HOSTKEEP"); keep != "" { // to look at afterwards
		dir = filepath.Join(keep, h.name)
	}
	l := &lab{t: t, host: h, model: newModelServer(t), dir: dir, user: filepath.Join(dir, "a home"), project: filepath.Join(dir, "a project"), bin: bin, transcripts: map[string]bool{}, asked: 2}
	l.store = filepath.Join(l.user, ".local", "share", "stillso")
	for _, d := range []string{l.user, l.project} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range h.files {
		h.files[name] = strings.ReplaceAll(text, "MODELURL", l.model.URL)
		file := filepath.Join(l.user, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(h.files[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l.version = regexp.MustCompile(`\d+\.\d+\.\d+`).FindString(l.run(30*time.Second, h.program, "--version"))
	return l
}

// run runs a program in the project with nothing but this home, and returns what
// it printed.
func (l *lab) run(limit time.Duration, program string, args ...string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), limit)
	defer cancel()
	path := l.path + os.Getenv("HOSTBIN") + ":/usr/local/bin:/usr/bin:/bin"
	file := filepath.Join(os.Getenv("HOSTBIN"), program)
	if program == "stillso" {
		file = filepath.Join(l.bin, program)
	}
	cmd := exec.CommandContext(ctx, file, args...)
	cmd.Dir, cmd.WaitDelay = l.project, 2*time.Second
	cmd.Env = append([]string{"HOME=" + l.user, "PATH=" + path, "LANG=C.UTF-8", "TERM=dumb", "NO_COLOR=1", "STILLSO_LLM=none"}, l.host.env(l.model.URL)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		l.t.Fatalf("%s %q: %v\n%s\n%s", program, args, err, out.String(), errs.String())
	}
	return out.String()
}

// blocks counts how often text stands in each request that has it.
func blocks(list []modelRequest, text string) (counts []int) {
	for _, r := range list {
		if n := strings.Count(r.body, text); n > 0 {
			counts = append(counts, n)
		}
	}
	return counts
}

const (
	standingText = "Never push to the pelican branch without a signed tag."
	zebraText    = "The zebrafish staging database is restored from the nightly dump only."
	fileText     = "Margins are seven millimetres, the printer cuts the rest."
	zebraPrompt  = "how do I restore the zebrafish staging database?"
)

// Fault: with the real program, what was recalled does not reach the model, or
// twice; chit-chat is answered with memories; a session is never captured; or an
// uninstall does not give the settings back.
func TestRealHosts(t *testing.T) {
	if os.Getenv("HOSTBIN") == "" {
		t.Skip("HOSTBIN is not set: see docs/hosts.md")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "stillso/cmd/stillso", "stillso/cmd/stillso-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var table []string
	for _, h := range realHosts() {
		// Without a network OpenCode waits over a minute, at every start, for the
		// library of its plugins: it is run only by name.
		if h.name == "opencode" && !strings.HasSuffix(flag.Lookup("test.run").Value.String(), "/opencode") {
			continue
		}
		t.Run(h.name, func(t *testing.T) {
			l := newLab(t, h, bin)
			result := l.all()
			table = append(table, fmt.Sprintf("| %s %s | %s |", h.name, l.version, strings.Join(result, " | ")))
		})
	}
	t.Logf("\n| host | session start | prompt | resumed | chit-chat | turn end | session end | captured | uninstall |\n%s", strings.Join(table, "\n"))
}

// Fault: a plugin does not work, says nothing where the hook is missing, or gives
// the model a memory twice where the settings register it too.
func TestRealPlugins(t *testing.T) {
	if os.Getenv("HOSTBIN") == "" {
		t.Skip("HOSTBIN is not set: see docs/hosts.md")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "stillso/cmd/stillso", "stillso/cmd/stillso-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plugin, err := filepath.Abs(filepath.Join("..", "..", "plugins"))
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t, realHosts()[0], bin)
	l.run(time.Minute, "stillso", "remember", "--namespace", "user", "--type", "reference", "--priority", "1", "--alias", "restore the zebrafish staging database", zebraText)
	ask := func(what string, want int) string {
		t.Helper()
		l.model.take()
		out := l.run(3*time.Minute, "claude", "--plugin-dir", filepath.Join(plugin, "claude-code"), "--output-format", "stream-json", "--verbose", "--include-hook-events", "-p", zebraPrompt)
		if counts := blocks(l.model.take(), zebraText); len(counts) == 0 && want > 0 || len(counts) > 0 && hasOther(counts, want) {
			t.Errorf("%s: the memory stands in the requests so often: %v", what, counts)
		}
		return out
	}
	if out := ask("without the hook", 0); !strings.Contains(out, "not on the PATH") {
		t.Errorf("nobody is told that the hook is missing: %s", out)
	}
	l.path = bin + ":"
	ask("plugin alone", 1)
	l.run(time.Minute, "stillso", "install", "claude-code")
	ask("plugin and settings", 1)
}

// Fault: Copilot, which reads the settings of Claude Code in a repository too,
// gets the shape of Claude Code, or the memory twice.
func TestRealSharedSettings(t *testing.T) {
	if os.Getenv("HOSTBIN") == "" {
		t.Skip("HOSTBIN is not set: see docs/hosts.md")
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin, "stillso/cmd/stillso", "stillso/cmd/stillso-hook").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hosts := realHosts()
	l := newLab(t, hosts[slices.IndexFunc(hosts, func(h realHost) bool { return h.name == "copilot" })], bin)
	text, _, err := settings.Install(nil, host.Program, assistant{name: claudecode.Name, hooks: claudecode.Hooks}.entries(filepath.Join(bin, hookName())))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{".git", ".claude"} {
		if err := os.MkdirAll(filepath.Join(l.project, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(l.project, ".claude", "settings.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	l.run(time.Minute, "stillso", "remember", "--namespace", "user", "--type", "reference", "--priority", "1", "--alias", "restore the zebrafish staging database", zebraText)
	for _, own := range []bool{false, true} {
		if own {
			l.run(time.Minute, "stillso", "install", "copilot")
		}
		l.model.take()
		l.run(3*time.Minute, "copilot", append([]string{"--trust-folder"}, l.host.ask(zebraPrompt)...)...)
		counts := blocks(l.model.take(), zebraText)
		t.Logf("registered by itself, too: %v; the memory stands in the requests so often: %v", own, counts)
		if len(counts) == 0 || hasOther(counts, 1) {
			t.Errorf("registered by itself, too: %v; the memory stands in the requests so often: %v", own, counts)
		}
	}
}

func (l *lab) all() []string {
	t, h := l.t, l.host
	yes := func(ok bool, format string, a ...any) string {
		if !ok {
			t.Errorf(format, a...)
			return "FAILED"
		}
		return "yes"
	}
	l.run(time.Minute, "stillso", "remember", "--namespace", "user", "--type", "reference", "--priority", "1", "--alias", "restore the zebrafish staging database", zebraText)
	l.run(time.Minute, "stillso", "remember", "--type", "reference", "--priority", "1", "--file", "leaflet.txt", fileText)
	if h.warm {
		l.run(3*time.Minute, h.program, h.ask("hello")...)
	}
	before := l.tree()
	out := l.run(2*time.Minute, "stillso", append([]string{"install", h.name}, h.trust...)...)
	if !strings.Contains(out, "installed in") {
		t.Fatalf("install: %s", out)
	}
	// Without stillso beside it the hook starts no sweep: what it queued can be seen.
	away := filepath.Join(l.bin, "stillso.away")
	hide := func() { l.move(filepath.Join(l.bin, "stillso"), away) }
	show := func() { l.move(away, filepath.Join(l.bin, "stillso")) }
	hide()
	defer show()

	l.model.take()
	l.run(3*time.Minute, h.program, h.ask(zebraPrompt)...)
	asked := l.model.take()
	counts := blocks(asked, zebraText)
	prompt := yes(len(counts) > 0 && !hasOther(counts, 1), "the memory stands in the requests so often: %v of %d requests", counts, len(asked))

	l.run(3*time.Minute, h.program, h.again(zebraPrompt)...)
	counts = blocks(l.model.take(), zebraText)
	again := yes(!hasOther(counts, 1), "resumed, the memory stands in the requests so often: %v", counts)
	if h.name == "claude-code" {
		l.compacted()
	}
	l.useTool()
	l.run(3*time.Minute, h.program, h.ask("ok, go on")...)
	counts = blocks(l.model.take(), "long_term_memories")
	silent := yes(len(counts) == 0, "chit-chat was answered with a memory: %v", counts)

	events := l.queued()
	turn := yes(events["turn-end"] >= 2, "turn ends queued: %v", events)
	end := "no such event in this mode"
	if old := h.name == "codex" && l.version < "0.171.0"; h.end && !old || events["session-end"] > 0 {
		end = yes(events["session-end"] >= 2, "session ends queued: %v", events)
	}
	show()
	started := "no such event in this mode"
	l.run(time.Minute, "stillso", "remember", "--namespace", "user", "--type", "constraint", "--resident", standingText)
	hide()
	l.model.take()
	l.run(3*time.Minute, h.program, h.ask("hello there")...)
	counts = blocks(l.model.take(), standingText)
	if h.start {
		started = yes(len(counts) > 0 && !hasOther(counts, 1), "the standing rule stands in the requests so often: %v", counts)
	} else if len(counts) > 0 {
		started = yes(!hasOther(counts, 1), "the standing rule stands in the requests so often: %v", counts)
	}
	show()
	l.run(3*time.Minute, "stillso", "sweep", "--wait")
	captured := l.captured()
	doctor := l.run(time.Minute, "stillso", "doctor")
	// Claude Code 2.0 does not write into its transcript what hooks said.
	if strings.HasPrefix(l.version, "2.0.") {
		doctor = strings.ReplaceAll(doctor, " no\n", " yes\n")
	}
	if !regexp.MustCompile(h.name+` +yes +\d of \d +(yes|-) +yes +2\S+ \S+ +(yes|unknown)`).MatchString(doctor) || strings.Count(doctor, " yes\n") == 0 && h.name != "opencode" {
		t.Errorf("doctor:\n%s", doctor)
	}
	l.run(time.Minute, "stillso", "uninstall", h.name)
	after := l.tree()
	same := "yes"
	for name, text := range before {
		if after[name] != text {
			same = yes(false, "%s was\n%q\nand is\n%q", name, text, after[name])
		}
	}
	for name, text := range after {
		if _, ok := before[name]; !ok && strings.Contains(text, "stillso") && !strings.Contains(name, "sessions") {
			same = yes(false, "%s stays:\n%s", name, text)
		}
	}
	return []string{started, prompt, again, silent, turn, end, captured, same}
}

// compacted has the host compact its last session: what was shown is gone from
// the model's sight, and comes again when it is needed.
func (l *lab) compacted() {
	l.run(3*time.Minute, l.host.program, l.host.again("/compact")...)
	l.model.take()
	l.run(3*time.Minute, l.host.program, l.host.again(zebraPrompt)...)
	l.asked++
	if counts := blocks(l.model.take(), zebraText); len(counts) == 0 || hasOther(counts, 1) {
		l.t.Errorf("after compaction the memory stands in the requests so often: %v", counts)
	}
}

// toolPrompt has the model read a file.
const toolPrompt = "summarise the leaflet for me please"

// useTool has a session in which a tool runs: what it printed was typed by
// nobody.
func (l *lab) useTool() {
	file := filepath.Join(l.project, "leaflet.txt")
	if err := os.WriteFile(file, []byte("first line\nI always want okapi notes in the changelog\nlast line\n"), 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.model.use(toolCall{when: toolPrompt, name: l.host.read[0], args: strings.ReplaceAll(l.host.read[1], "FILE", file)})
	l.run(3*time.Minute, l.host.program, l.host.ask(toolPrompt)...)
	asked := l.model.take()
	if counts := blocks(asked, "okapi notes"); len(counts) == 0 {
		l.t.Errorf("the tool was not run")
	}
	// Where the host calls the hook before a tool, what is known of the file comes
	// with it; elsewhere the prompt alone must not bring it.
	counts := blocks(asked, fileText)
	if want := l.host.name == "claude-code"; want != (len(counts) > 0) || hasOther(counts, 1) {
		l.t.Errorf("what is known of the file stands in the requests so often: %v", counts)
	}
}

func hasOther(list []int, want int) bool {
	for _, n := range list {
		if n != want {
			return true
		}
	}
	return false
}

func (l *lab) move(from, to string) {
	if _, err := os.Stat(from); err != nil {
		return
	}
	if err := os.Rename(from, to); err != nil {
		l.t.Fatal(err)
	}
}

// tree reads the settings files of the host.
func (l *lab) tree() map[string]string {
	got := map[string]string{}
	for _, name := range []string{
		".claude/settings.json", ".codex/config.toml", ".codex/hooks.json", ".gemini/settings.json", ".qwen/settings.json", ".copilot/hooks/stillso.json", ".copilot/hooks/mine.json", ".copilot/settings.json",
		".config/opencode/opencode.json", ".config/opencode/plugins/stillso.js",
	} {
		if text, err := os.ReadFile(filepath.Join(l.user, name)); err == nil {
			got[name] = string(text)
		}
	}
	return got
}

// queued counts the captures that the hook asked for, by event.
func (l *lab) queued() map[string]int {
	events := map[string]int{}
	text, _ := os.ReadFile(filepath.Join(l.store, "spool", home.Queue))
	for line := range strings.Lines(string(text)) {
		var q stillso.QueueItem
		if err := json.Unmarshal([]byte(line), &q); err != nil {
			l.t.Fatal(err)
		}
		if q.Kind == "capture" && q.Payload["host"] == l.host.name {
			if _, err := os.Stat(q.Payload["transcript"]); err != nil && l.host.name != "opencode" {
				l.t.Errorf("transcript: %v", err)
			}
			l.transcripts[q.Payload["transcript"]] = true
			events[q.Payload["event"]]++
		}
	}
	return events
}

// captured checks that the sweep read the sessions: what was typed is found as
// typed, what the model said as said, and our own block nowhere.
func (l *lab) captured() string {
	out := l.run(time.Minute, "stillso", "--json", "search", "--turns", "--all-namespaces", "zebrafish staging database")
	var typed, other int
	for _, turn := range regexp.MustCompile(`(?s)"turn": \{.*?\}`).FindAllString(out, -1) {
		// OpenCode puts its arguments into quotes.
		if text := strings.ReplaceAll(turn, `\"`, ""); strings.Contains(text, `"text": "`+zebraPrompt+`"`) && strings.Contains(turn, `"speaker": "user"`) {
			typed++
		} else {
			other++
		}
	}
	l.spoken()
	if typed != l.asked || other != 0 {
		l.t.Errorf("%d turns typed, %d others: %s", typed, other, out)
		return "FAILED"
	}
	return "yes"
}

// spoken reads the transcripts as the sweep does: the tool that ran is there, as
// a tool, and what it printed was typed by nobody.
func (l *lab) spoken() {
	l.t.Setenv("HOME", l.user)
	env := map[string]string{"HOME": l.user, "PATH": os.Getenv("HOSTBIN")}
	a := &app{std: streams{env: func(key string) string { return env[key] }}, dir: home.Dir(l.store)}
	used, printed := 0, 0
	for path := range l.transcripts {
		got, err := a.readTranscript(l.t.Context(), task{host: l.host.name, transcript: path}, host.Position{}, func(turn stillso.Turn) error {
			if turn.Speaker == stillso.Tool && strings.Contains(turn.Text, "leaflet.txt") {
				used++
			}
			if turn.Speaker == stillso.Tool && strings.Contains(turn.Text, "first line") {
				printed++
			}
			if turn.Speaker != stillso.Tool && strings.Contains(turn.Text, "okapi") || strings.Contains(turn.Text, "long_term_memories") {
				l.t.Errorf("what nobody said: %+v", turn)
			}
			return nil
		})
		if err != nil || got.Broken > 0 || got.Session == "" || got.StartedAt.IsZero() {
			l.t.Errorf("%s: %+v, %v", path, got, err)
		}
	}
	if l.host.name == "opencode" { // it prints the path of the file around it
		printed = used - 1
		used = 1
	}
	if used != 1 || printed != 1 {
		l.t.Errorf("%d uses of the tool, %d outcomes", used, printed)
	}
}
