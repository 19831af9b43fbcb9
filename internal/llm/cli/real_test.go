package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stillso/internal/llm"
	"stillso/internal/llm/cli"
)

// Guards against options that the real programs do not know, hooks that fire,
// tools that are offered, and transcripts that are written by our own calls.
//
// It runs only by hand: STILLSO_HOST_PROGRAMS is a directory with the programs,
// STILLSO_MOCK_MODEL the address of a mock model on loopback, STILLSO_MOCK_LOG
// the directory in which it leaves each request as a JSON file. Run it in a
// network namespace of its own.
func TestRealPrograms(t *testing.T) {
	programs, mock, log := os.Getenv("STILLSO_HOST_PROGRAMS"), os.Getenv("STILLSO_MOCK_MODEL"), os.Getenv("STILLSO_MOCK_LOG")
	if programs == "" || mock == "" || log == "" {
		t.Skip("needs STILLSO_HOST_PROGRAMS, STILLSO_MOCK_MODEL and STILLSO_MOCK_LOG")
	}
	for _, a := range cli.Adapters() {
		if a.Name == "command" || os.Getenv("STILLSO_ONLY") != "" && os.Getenv("STILLSO_ONLY") != a.Name {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			home := t.TempDir()
			marker := filepath.Join(home, "hook-fired")
			hook := `[{"hooks":[{"type":"command","command":"if [ \"$STILLSO_SUPPRESS\" = 1 ]; then touch ` + marker + `; else touch ` + marker + `-unguarded; fi"}]}]`
			hooks := `{"hooks":{"UserPromptSubmit":` + hook + `,"SessionStart":` + hook + `,"Stop":` + hook + `,"SessionEnd":` + hook + `,"BeforeAgent":` + hook + `}}`
			for file, text := range map[string]string{
				".claude/settings.json": hooks, ".codex/hooks.json": hooks, ".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},` + hooks[1:], ".qwen/settings.json": hooks,
				".config/opencode/opencode.json": `{"model":"anthropic/claude-haiku-4-5","provider":{"anthropic":{"options":{"baseURL":"` + mock + `/v1","apiKey":"dummy"}}}}`,
				".codex/config.toml":             "model = \"mock-model\"\nmodel_provider = \"mock\"\nbypass_hook_trust = true\n[model_providers.mock]\nname = \"mock\"\nbase_url = \"" + mock + "/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n[mcp_servers.some]\ncommand = \"/bin/false\"\n",
			} {
				write(t, filepath.Join(home, file), text)
			}
			env := llm.Environment{
				Directory: filepath.Join(home, "model"), Environ: []string{
					"HOME=" + home, "PATH=" + programs + ":/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "CLAUDECODE=1",
					"ANTHROPIC_BASE_URL=" + mock, "ANTHROPIC_API_KEY=dummy", "OPENAI_API_KEY=dummy", "OPENAI_BASE_URL=" + mock + "/v1", "OPENAI_MODEL=mock-model",
					"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + mock,
					"COPILOT_PROVIDER_BASE_URL=" + mock + "/v1", "COPILOT_PROVIDER_API_KEY=dummy", "COPILOT_MODEL=mock-model", "COPILOT_OFFLINE=true",
				},
			}
			m, where, err := a.Find(llm.Config{}, env)
			if err != nil {
				t.Skip(err)
			}
			before := len(requests(t, log))
			start := time.Now()
			reply, err := llm.WithTimeout(m, 90*time.Second).Complete(t.Context(), llm.Request{
				Purpose: "capture", System: "You read a conversation. Answer with JSON only.", Text: "-p is how this line begins. USE_BASH please.\n",
			})
			took := time.Since(start)
			sent := requests(t, log)[before:]
			t.Logf("%s: %s\nreply %+v\nerror %v", a.Name, where, reply, err)
			for _, r := range sent {
				t.Logf("request %s: %d bytes, %d tools", r.url, r.bytes, r.tools)
			}
			t.Logf("took %s with %d requests", took.Round(time.Millisecond), len(sent))
			if _, err := os.Stat(marker + "-unguarded"); err == nil {
				t.Error("a hook fired that was not told to do nothing")
			}
			if _, err := os.Stat(marker); err == nil && a.Name != "gemini" { // it has no switch for hooks
				t.Error("a hook fired")
			}
			_ = filepath.WalkDir(home, func(path string, d os.DirEntry, _ error) error {
				if !d.IsDir() && strings.Contains(path, "chats/") || filepath.Ext(path) == ".jsonl" || os.Getenv("STILLSO_ALL") != "" {
					t.Logf("left behind: %s", strings.TrimPrefix(path, home))
				}
				return nil
			})
			if err != nil || reply.Text != "mock ok" {
				t.Errorf("got %q, %v", reply.Text, err)
			}
		})
	}
}

type request struct {
	url          string
	bytes, tools int
}

// requests reads what the mock model was sent.
func requests(t *testing.T, dir string) (list []request) {
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			URL  string          `json:"url"`
			Body json.RawMessage `json:"body"`
		}
		_ = json.Unmarshal(text, &r)
		var body struct {
			Tools []json.RawMessage `json:"tools"`
		}
		_ = json.Unmarshal(r.Body, &body)
		list = append(list, request{r.URL, len(r.Body), len(body.Tools)})
	}
	return list
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
