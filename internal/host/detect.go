package host

// Program is the base name of our hook: by it our entries are recognised in a
// settings file, wherever the program lies.
const Program = "stillso-hook"

// Detect returns the host whose hook process has this environment, or "". Many
// hosts set the variables of Claude Code as aliases, so that its own come last.
// session is the id that the document names: a host that was started from a
// shell of another one inherits its variables, and only the session's id tells
// whose they are.
func Detect(getenv func(string) string, session string) string {
	if session != "" {
		for _, h := range [...][2]string{{"CLAUDE_CODE_SESSION_ID", "claude-code"}, {"GEMINI_SESSION_ID", "gemini"}} {
			if getenv(h[0]) == session {
				return h[1]
			}
		}
	}
	for _, h := range [...][2]string{
		{"QWEN_PROJECT_DIR", "qwen"},
		{"GEMINI_SESSION_ID", "gemini"},
		{"COPILOT_CLI", "copilot"},
		{"CURSOR_VERSION", "cursor"},
		{"CRUSH", "crush"},
		{"CLAUDECODE", "claude-code"},
	} {
		if getenv(h[0]) != "" {
			return h[1]
		}
	}
	return ""
}
