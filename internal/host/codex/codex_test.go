package codex

import (
	"testing"

	"stillso/internal/host"
	"stillso/internal/host/hosttest"
)

func TestPayloads(t *testing.T) { hosttest.Payloads(t, Parse, 8) }

func TestLenient(t *testing.T) { hosttest.Lenient(t, Name, Parse) }

func TestContext(t *testing.T) {
	hosttest.Contexts(t, Context, map[string]string{host.SessionStart: `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"`, host.Prompt: `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"`})
}

func TestTranscripts(t *testing.T) { hosttest.Transcripts(t, ReadFile, 3) }

func FuzzParse(f *testing.F) { hosttest.FuzzParse(f, Parse) }

func FuzzTranscript(f *testing.F) { hosttest.FuzzTranscript(f, Format) }

func TestHooks(t *testing.T) {
	hosttest.Hooks(t, Name, Hooks, map[string]string{"SessionStart": host.SessionStart, "UserPromptSubmit": host.Prompt, "Stop": host.TurnEnd, "PreCompact": host.PreCompact, "SessionEnd": host.SessionEnd})
}
