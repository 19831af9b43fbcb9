package gemini

import (
	"testing"

	"stillso/internal/host"
	"stillso/internal/host/hosttest"
)

func TestPayloads(t *testing.T) { hosttest.Payloads(t, Parse, 7) }

func TestLenient(t *testing.T) { hosttest.Lenient(t, Name, Parse) }

func TestContext(t *testing.T) {
	hosttest.Contexts(t, Context, map[string]string{host.SessionStart: `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"`, host.Prompt: `{"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"`})
}

func TestTranscripts(t *testing.T) { hosttest.Transcripts(t, ReadFile, 2) }

func FuzzParse(f *testing.F) { hosttest.FuzzParse(f, Parse) }

func FuzzTranscript(f *testing.F) { hosttest.FuzzTranscript(f, Format) }

func TestHooks(t *testing.T) {
	hosttest.Hooks(t, Name, Hooks, map[string]string{"SessionStart": host.SessionStart, "BeforeAgent": host.Prompt, "AfterAgent": host.TurnEnd, "SessionEnd": host.SessionEnd})
}
