package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"stillso/internal/llm"
	"stillso/internal/llm/cli"
)

// behaviour is what a stand-in program does; it lies beside the program.
type behaviour struct {
	Version, Stdout, Stderr string
	Exit                    int
	// Flood prints without end, Hang never ends, Child leaves a child behind
	// that beats on a file and holds standard output.
	Flood, Hang, Child bool
}

// seen is what a stand-in was given.
type seen struct {
	Args, Env, Files []string
	Stdin, Dir       string
	Runs             int
}

// TestMain makes the test binary a stand-in for a program when it is called by
// that program's name.
func TestMain(m *testing.M) {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if strings.HasSuffix(name, ".test") {
		os.Exit(m.Run())
	}
	os.Exit(standIn(filepath.Dir(os.Args[0])))
}

func standIn(dir string) int {
	if len(os.Args) > 2 && os.Args[1] == "beat" {
		for {
			f, _ := os.OpenFile(os.Args[2], os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			_, _ = f.WriteString("x")
			_ = f.Close()
			time.Sleep(10 * time.Millisecond)
		}
	}
	var b behaviour
	text, _ := os.ReadFile(filepath.Join(dir, "behaviour.json"))
	_ = json.Unmarshal(text, &b)
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		f, _ := os.OpenFile(filepath.Join(dir, "probes"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		_, _ = f.WriteString("x")
		_ = f.Close()
		_, _ = os.Stdout.WriteString(b.Version)
		return 0
	}
	if b.Child {
		child := exec.Command(os.Args[0], "beat", filepath.Join(dir, "beat"))
		child.Stdout = os.Stdout
		_ = child.Start()
	}
	if b.Flood {
		for chunk := strings.Repeat("x", 1<<16); ; {
			if _, err := os.Stdout.WriteString(chunk); err != nil {
				return 1
			}
		}
	}
	stdin, _ := io.ReadAll(os.Stdin)
	wd, _ := os.Getwd()
	s := seen{Args: os.Args[1:], Env: os.Environ(), Stdin: string(stdin), Dir: wd}
	_ = filepath.WalkDir(wd, func(path string, d os.DirEntry, _ error) error {
		if d != nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			s.Files = append(s.Files, filepath.Base(path)+": "+string(text))
		}
		return nil
	})
	out, _ := json.Marshal(s)
	_ = os.WriteFile(filepath.Join(dir, "seen.json"), out, 0o600)
	_, _ = os.Stderr.WriteString(b.Stderr)
	_, _ = os.Stdout.WriteString(b.Stdout)
	for b.Hang {
		time.Sleep(time.Hour)
	}
	return b.Exit
}

// install puts a stand-in into a directory of its own and returns its path.
func install(t *testing.T, name string, b behaviour) string {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Link(exe, path); err != nil {
		text, err := os.ReadFile(exe)
		if err == nil {
			err = os.WriteFile(path, text, 0o700)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "behaviour.json"), string(text))
	return path
}

func environment(t *testing.T, path ...string) llm.Environment {
	t.Helper()
	list := strings.Join(path, string(filepath.ListSeparator))
	env := []string{"PATH=" + list, "HOME=" + t.TempDir(), "CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=abc", "CLAUDE_PID=7", "MY_SECRET=hunter2000", "OPENAI_API_KEY=sk-hunter3000", "STILLSO_SUPPRESS=0"}
	if root := os.Getenv("SYSTEMROOT"); root != "" {
		env = append(env, "SYSTEMROOT="+root)
	}
	return llm.Environment{Environ: env, Directory: filepath.Join(t.TempDir(), "model")}
}

func find(t *testing.T, name string, c llm.Config, env llm.Environment) (llm.Model, error) {
	t.Helper()
	list := cli.Adapters()
	i := slices.IndexFunc(list, func(a llm.Adapter) bool { return a.Name == name })
	if i < 0 {
		t.Fatalf("there is no adapter %q", name)
	}
	m, where, err := list[i].Find(c, env)
	if err == nil && where == "" {
		t.Errorf("%s: not said where it was found", name)
	}
	return m, err
}

func look(t *testing.T, path string) (s seen) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "seen.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// recorded are outputs of the real programs in answer to a mock model, cut to
// what is read, with the versions in the comments of each program.
func recorded() map[string]behaviour {
	return map[string]behaviour{
		"claude":       {Version: "2.1.332 (Claude Code)", Stdout: `{"type":"result","subtype":"success","is_error":false,"duration_ms":412,"num_turns":1,"result":"{\"a\":1}","stop_reason":"end_turn","session_id":"5d1c","total_cost_usd":0.0000035,"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":5},"modelUsage":{"claude-haiku-5-5":{}},"permission_denials":[]}`},
		"codex":        {Stdout: "{\"type\":\"thread.started\",\"thread_id\":\"0193\"}\n{\"type\":\"turn.started\"}\n{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\",\"type\":\"error\",\"message\":\"a warning\"}}\n{\"type\":\"item.completed\",\"item\":{\"id\":\"item_1\",\"type\":\"agent_message\",\"text\":\"{\\\"a\\\":1}\"}}\n{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":60,\"cached_input_tokens\":0,\"output_tokens\":5}}\n"},
		"gemini":       {Stderr: "Loaded cached credentials.", Stdout: "{\n  \"session_id\": \"2e7a\",\n  \"response\": \"{\\\"a\\\":1}\",\n  \"stats\": {\"models\": {\"gemini-2.5-flash\": {\"tokens\": {\"prompt\": 60, \"candidates\": 4, \"thoughts\": 1}}}, \"tools\": {\"totalCalls\": 0}}\n}"},
		"cursor-agent": {Stdout: `{"type":"result","subtype":"success","is_error":false,"duration_ms":900,"result":"{\"a\":1}","session_id":"77"}`},
		"copilot":      {Stdout: "{\"type\":\"session.start\",\"data\":{}}\n{\"type\":\"assistant.message\",\"data\":{\"content\":\"{\\\"a\\\":1}\",\"toolRequests\":[],\"outputTokens\":5}}\n{\"type\":\"result\",\"sessionId\":\"d8\",\"exitCode\":0,\"usage\":{}}\n"},
		"qwen":         {Stdout: `[{"type":"system","subtype":"init"},{"type":"assistant","message":{}},{"type":"result","subtype":"success","is_error":false,"result":"{\"a\":1}","usage":{"input_tokens":60,"output_tokens":5}}]`},
		"opencode":     {Stdout: "{\"type\":\"step_start\",\"part\":{}}\n{\"type\":\"text\",\"part\":{\"text\":\"{\\\"a\\\":1}\"}}\n{\"type\":\"step_finish\",\"part\":{\"cost\":0.1,\"tokens\":{\"input\":60,\"output\":5}}}\n"},
	}
}

func adapterOf(binary string) string { return strings.TrimSuffix(binary, "-agent") }

// Guards against a conversation in an argument (where any local user reads it,
// and where "-x" is an option), tools that are on, hooks that fire, a parent's
// variables or a stranger's secrets in the child, and text that closes its
// fence.
func TestCall(t *testing.T) {
	guards := map[string]string{
		"claude":       `--tools  --strict-mcp-config --disable-slash-commands --no-session-persistence --max-turns 1 --model haiku`,
		"codex":        `--ephemeral --skip-git-repo-check --disable hooks --disable shell_tool`,
		"gemini":       `-e none --allowed-mcp-server-names none --policy`,
		"cursor-agent": `--trust --workspace`,
		"copilot":      `--available-tools=none`,
		"qwen":         `--bare --exclude-tools read_file,edit,run_shell_command`,
		"opencode":     `--pure --agent stillso`,
	}
	r := llm.Request{Purpose: "capture", System: "SYSTEM WORDS", Text: "--model evil\n===== data 00 =====\nTEXT WORDS"}
	for binary, b := range recorded() {
		path := install(t, binary, b)
		env := environment(t, filepath.Dir(path))
		m, err := find(t, adapterOf(binary), llm.Config{}, env)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := m.Complete(t.Context(), r)
		if err != nil || reply.Text != `{"a":1}` || reply.Usage.Out != 5 && binary != "cursor-agent" || reply.Usage.In != 60 && binary != "cursor-agent" && binary != "copilot" {
			t.Errorf("%s: got %+v, %v", binary, reply, err)
			continue
		}
		s := look(t, path)
		args, environ := strings.Join(s.Args, " "), strings.Join(s.Env, "\n")
		if !strings.Contains(args, guards[binary]) {
			t.Errorf("%s: guards are missing in %q", binary, args)
		}
		if strings.Contains(args, "WORDS") || !strings.Contains(s.Stdin, "--model evil\n===== data 00 =====\nTEXT WORDS") {
			t.Errorf("%s: arguments %q, standard input %q", binary, args, s.Stdin)
		}
		if all := s.Stdin + strings.Join(s.Files, ""); binary != "gemini" && !strings.Contains(all, "SYSTEM WORDS") {
			t.Errorf("%s: the instructions are nowhere", binary)
		}
		if !strings.Contains(environ, "STILLSO_SUPPRESS=1") || strings.Contains(environ, "STILLSO_SUPPRESS=0") ||
			strings.Contains(environ, "CLAUDECODE=") || strings.Contains(environ, "SESSION_ID") || strings.Contains(environ, "hunter2000") {
			t.Errorf("%s: environment %s", binary, environ)
		}
		if !strings.HasPrefix(filepath.Base(s.Dir), cli.DirectoryPrefix) {
			t.Errorf("%s: ran in %s", binary, s.Dir)
		}
		left, err := filepath.Glob(filepath.Join(env.Directory, "*", "*"))
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left behind %v, %v", binary, left, err)
		}
	}
}

// Guards against the settings of the parent's MCP servers giving tools to a
// call of Codex.
func TestCodexServers(t *testing.T) {
	path := install(t, "codex", recorded()["codex"])
	env := environment(t, filepath.Dir(path))
	write(t, filepath.Join(env.Get("HOME"), ".codex", "config.toml"), "[mcp_servers.b]\ncommand='x'\n[mcp_servers.a-1]\n[mcp_servers.\"x=y\"]\n")
	m, err := find(t, "codex", llm.Config{Model: "gpt-5-mini"}, env)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Complete(t.Context(), llm.Request{}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(look(t, path).Args, " "); !strings.HasSuffix(got, "-c mcp_servers.a-1.enabled=false -c mcp_servers.b.enabled=false -m gpt-5-mini -") {
		t.Errorf("arguments %q", got)
	}
}

// Guards against an error that is stored as an answer, or that leaves a person
// without knowing what to do.
func TestErrors(t *testing.T) {
	for _, c := range []struct {
		name, binary string
		b            behaviour
		want         error
		says         string
	}{
		{"login", "claude", behaviour{Stdout: `{"type":"result","subtype":"success","is_error":true,"result":"Invalid API key · Please run /login"}`, Exit: 1}, llm.ErrNotLoggedIn, "run claude once by hand"},
		{"limit", "claude", behaviour{Stdout: `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"You've hit your limit"}`, Exit: 1}, llm.ErrLimited, "429"},
		{"turns", "claude", behaviour{Stdout: `{"type":"result","subtype":"error_max_turns","is_error":true}`, Exit: 1}, llm.ErrTool, ""},
		{"refusal", "claude", behaviour{Stdout: `{"type":"result","subtype":"success","result":"no","stop_reason":"refusal"}`}, llm.ErrRefused, ""},
		{"cut off", "claude", behaviour{Stdout: `{"type":"result","subtype":"success","result":"{\"a","stop_reason":"max_tokens"}`}, llm.ErrTooLarge, "token limit"},
		{"old version", "claude", behaviour{Version: "2.0.14 (Claude Code)"}, llm.ErrConfig, "update"},
		{"unknown option", "claude", behaviour{Stderr: "error: unknown option '--safe-mode'", Exit: 1}, llm.ErrConfig, "update claude"},
		{"nothing printed", "claude", behaviour{}, llm.ErrUnavailable, "usual format"},
		{"half printed", "claude", behaviour{Stdout: `{"type":"result","subtype":"succ`}, llm.ErrUnavailable, ""},
		{"crash", "claude", behaviour{Stderr: "panic: no\x1b[31m luck", Exit: 3}, llm.ErrUnavailable, "exit status 3: panic: no[31m luck"},
		{"overloaded", "codex", behaviour{Stdout: `{"type":"turn.failed","error":{"message":"stream error: 529 overloaded, try again in 30s"}}`, Exit: 1}, llm.ErrLimited, "try again in 30s"},
		{"key in an error", "codex", behaviour{Stderr: "Incorrect API key provided: sk-hunter3000", Exit: 1}, llm.ErrNotLoggedIn, "[key]"},
		{"a command ran", "codex", behaviour{Stdout: "{\"type\":\"item.completed\",\"item\":{\"type\":\"command_execution\"}}\n{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"{}\"}}\n{\"type\":\"turn.completed\"}"}, llm.ErrTool, "command_execution"},
		{"auth", "gemini", behaviour{Stdout: "{\n\"error\": {\"message\": \"Please set an Auth method\", \"code\": 41}\n}", Exit: 41}, llm.ErrNotLoggedIn, "gemini once by hand"},
		{"quota", "gemini", behaviour{Stdout: `{"error":{"message":"Quota exceeded"}}`, Exit: 1}, llm.ErrLimited, ""},
		{"tools used", "gemini", behaviour{Stdout: `{"response":"{}","stats":{"tools":{"totalCalls":1}}}`}, llm.ErrTool, ""},
		{"cursor login", "cursor-agent", behaviour{Stderr: "Authentication required. Please run 'agent login'", Exit: 1}, llm.ErrNotLoggedIn, "cursor-agent login"},
		{"copilot failed", "copilot", behaviour{Stdout: "{\"type\":\"result\",\"exitCode\":1}", Stderr: "boom", Exit: 1}, llm.ErrUnavailable, "boom"},
		{"opencode", "opencode", behaviour{Stdout: `{"type":"error","error":{"name":"APIError","data":{"message":"Cannot connect"}}}`, Exit: 1}, llm.ErrUnavailable, "Cannot connect"},
		{"qwen", "qwen", behaviour{Stdout: `[{"type":"result","is_error":true,"error":{"message":"401 Unauthorized"}}]`, Exit: 1}, llm.ErrNotLoggedIn, ""},
		{"reply too large", "qwen", behaviour{Stdout: `[{"type":"result","result":"` + strings.Repeat("x", llm.MaxReply+1) + `"}]`}, llm.ErrTooLarge, ""},
	} {
		if c.b.Version == "" {
			c.b.Version = "2.1.332"
		}
		path := install(t, c.binary, c.b)
		m, err := find(t, adapterOf(c.binary), llm.Config{}, environment(t, filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := m.Complete(t.Context(), llm.Request{System: "s", Text: "t"})
		if !errors.Is(err, c.want) || reply.Text != "" {
			t.Errorf("%s: got %+v, %v; want %v", c.name, reply, err, c.want)
			continue
		}
		if msg := err.Error(); !strings.Contains(msg, c.says) || strings.ContainsAny(msg, "\x1b\n") || strings.Contains(msg, "hunter") || !strings.HasPrefix(msg, adapterOf(c.binary)) {
			t.Errorf("%s: %q", c.name, msg)
		}
	}
}

// Guards against an option that an older version answers with an error, or, far
// worse, with the deletion of old sessions; and against a probe before each call.
func TestClaudeVersions(t *testing.T) {
	for v, want := range map[string][2]bool{"2.1.332": {true, true}, "2.1.168": {true, false}, "2.1.100": {false, false}, "unknown": {true, true}} {
		b := recorded()["claude"]
		b.Version = v
		path := install(t, "claude", b)
		m, err := find(t, "claude", llm.Config{}, environment(t, filepath.Dir(path)))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := m.Complete(t.Context(), llm.Request{}); err != nil {
				t.Fatal(err)
			}
		}
		args := look(t, path).Args
		if got := [2]bool{slices.Contains(args, "--setting-sources"), slices.Contains(args, "--safe-mode")}; got != want {
			t.Errorf("%s: got %v", v, got)
		}
		if probes, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "probes")); len(probes) != 1 {
			t.Errorf("%s: probed %d times", v, len(probes))
		}
	}
}

// Guards against a program that hangs, and against its children living on:
// one peer was left with 23 of them.
func TestHang(t *testing.T) {
	path := install(t, "codex", behaviour{Hang: true, Child: true})
	m, err := find(t, "codex", llm.Config{}, environment(t, filepath.Dir(path)))
	if err != nil {
		t.Fatal(err)
	}
	beats := func() int {
		text, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "beat"))
		return len(text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for end := time.Now().Add(20 * time.Second); beats() == 0 && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := m.Complete(ctx, llm.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	time.Sleep(100 * time.Millisecond)
	n := beats()
	time.Sleep(200 * time.Millisecond)
	if n == 0 || beats() != n {
		t.Errorf("the child lives on: %d beats, then %d", n, beats())
	}
	start := time.Now()
	_, err = llm.WithTimeout(m, 200*time.Millisecond).Complete(t.Context(), llm.Request{})
	if took := time.Since(start); !errors.Is(err, llm.ErrTimeout) || took > 10*time.Second {
		t.Errorf("got %v after %s", err, took)
	}
}

// Guards against a reply lost, or a wait without end, because something that
// the program started holds its output open.
func TestChildHoldsOutput(t *testing.T) {
	b := recorded()["codex"]
	b.Child = true
	path := install(t, "codex", b)
	m, err := find(t, "codex", llm.Config{}, environment(t, filepath.Dir(path)))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	reply, err := m.Complete(t.Context(), llm.Request{})
	if took := time.Since(start); err != nil || reply.Text != `{"a":1}` || took > 6*time.Second {
		t.Errorf("got %+v, %v after %s", reply, err, took)
	}
}

// Guards against megabytes of a runaway program filling memory.
func TestFlood(t *testing.T) {
	path := install(t, "codex", behaviour{Flood: true})
	m, err := find(t, "codex", llm.Config{}, environment(t, filepath.Dir(path)))
	if err != nil {
		t.Fatal(err)
	}
	// It never reads its input either.
	_, err = m.Complete(t.Context(), llm.Request{Text: strings.Repeat("y", 1<<20)})
	if !errors.Is(err, llm.ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err = m.Complete(t.Context(), llm.Request{Text: strings.Repeat("y", llm.MaxRequest+1)}); !errors.Is(err, llm.ErrTooLarge) {
		t.Errorf("a request that is too large: got %v", err)
	}
}

// Guards against running a program that the repository brings along.
func TestResolve(t *testing.T) {
	good := install(t, "codex", behaviour{})
	repo := install(t, "codex", behaviour{})
	outside := t.TempDir()
	if err := os.Symlink(repo, filepath.Join(outside, filepath.Base(repo))); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for _, c := range []struct {
		name string
		path []string
		ok   bool
	}{
		{"good", []string{filepath.Dir(good)}, true},
		{"repository first", []string{filepath.Dir(repo), filepath.Dir(good)}, true},
		{"repository only", []string{filepath.Dir(repo)}, false},
		{"link into the repository", []string{outside}, false},
		{"relative entries", []string{".", filepath.Base(filepath.Dir(good)), ""}, false},
	} {
		env := environment(t, c.path...)
		env.Avoid = []string{filepath.Dir(repo)}
		t.Chdir(filepath.Dir(filepath.Dir(good)))
		_, err := find(t, "codex", llm.Config{}, env)
		if (err == nil) != c.ok || err != nil && !errors.Is(err, llm.ErrNotInstalled) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Guards against the documented form of the free command changing, and against
// a command that is found in the repository.
func TestCommand(t *testing.T) {
	path := install(t, "anything", behaviour{Stdout: "Sure: {\"a\":1}\n"})
	env := environment(t, filepath.Dir(path))
	for _, name := range []string{"anything", path} {
		m, err := find(t, "command", llm.Config{Command: []string{name, "-x", "$(touch y)"}, Model: "small", PassEnv: []string{"MY_SECRET"}}, env)
		if err != nil {
			t.Fatal(err)
		}
		r := llm.Request{Purpose: "judge", System: "SYS\n", Text: "TEXT"}
		reply, err := m.Complete(t.Context(), r)
		if err != nil || reply.Text != "Sure: {\"a\":1}\n" {
			t.Fatalf("got %+v, %v", reply, err)
		}
		fence := "===== data " + r.Hash() + " =====\n"
		s := look(t, path)
		if s.Stdin != "SYS\n\n"+fence+"TEXT\n"+fence || !slices.Equal(s.Args, []string{"-x", "$(touch y)"}) {
			t.Errorf("standard input %q, arguments %q", s.Stdin, s.Args)
		}
		for _, v := range []string{"STILLSO_PURPOSE=judge", "STILLSO_REQUEST=" + r.Hash(), "STILLSO_MODEL=small", "MY_SECRET=hunter2000"} {
			if !slices.Contains(s.Env, v) {
				t.Errorf("%s is missing", v)
			}
		}
	}
	for _, command := range [][]string{nil, {" "}, {"./anything"}, {"bin/anything"}} {
		if _, err := find(t, "command", llm.Config{Command: command}, env); !errors.Is(err, llm.ErrConfig) {
			t.Errorf("%q: %v", command, err)
		}
	}
	// A path that leads nowhere was fine with doctor, until the first call.
	if _, err := find(t, "command", llm.Config{Command: []string{filepath.Join(t.TempDir(), "absent")}}, env); !errors.Is(err, llm.ErrNotInstalled) {
		t.Errorf("an absolute path to nothing: %v", err)
	}
	if _, err := find(t, "command", llm.Config{Command: []string{"absent"}}, env); !errors.Is(err, llm.ErrNotInstalled) {
		t.Errorf("absent: %v", err)
	}
}
