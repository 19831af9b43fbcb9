package claudecode

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// Fault: an event is not registered, under a name that the host does not know,
// or with a command line that a shell takes apart.
func TestHooks(t *testing.T) {
	want := map[string]string{"SessionStart": "session-start", "UserPromptSubmit": "prompt", "PreToolUse": "pre-tool", "Stop": "turn-end", "PreCompact": "pre-compact", "SessionEnd": "session-end"}
	for _, c := range []struct {
		program, goos string
		exec          bool
	}{
		{"/opt/stillso-hook", "linux", true},
		{"/home/ünï/bin/stillso-hook", "darwin", true},
		{"/opt/my tools/it's/stillso-hook", "linux", false},
		{`C:\Program Files\stillso\stillso-hook.exe`, "windows", true},
	} {
		hooks := Hooks(c.program, c.goos)
		if len(hooks) != len(want) {
			t.Errorf("%d hooks, want %d", len(hooks), len(want))
		}
		for _, h := range hooks {
			if (h.Matcher != "") != (h.Event == "PreToolUse") || h.Timeout != 5 {
				t.Errorf("%+v", h)
			}
			got := append([]string{h.Command}, h.Args...)
			if !c.exec && runtime.GOOS != "windows" {
				out, err := exec.Command("sh", "-c", "printf '%s\n' "+h.Command).Output() // what the shell makes of it
				if err != nil {
					t.Fatal(err)
				}
				got = strings.Split(strings.TrimSpace(string(out)), "\n")
			}
			if strings.Join(got, "|") != c.program+"|claude-code|"+want[h.Event] {
				t.Errorf("%s runs %q", h.Event, got)
			}
		}
	}
}
