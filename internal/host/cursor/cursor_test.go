package cursor

import (
	"testing"
	"time"

	"stillso/internal/host"
	"stillso/internal/host/hosttest"
)

func TestPayloads(t *testing.T) { hosttest.Payloads(t, Parse, 6) }

func TestLenient(t *testing.T) { hosttest.Lenient(t, Name, Parse) }

func TestContext(t *testing.T) {
	hosttest.Contexts(t, Context, map[string]string{host.SessionStart: `{"additional_context":"`, host.Prompt: `{"additional_context":"`})
}

func TestTranscripts(t *testing.T) { hosttest.Transcripts(t, ReadFile, 1) }

func FuzzParse(f *testing.F) { hosttest.FuzzParse(f, Parse) }

func FuzzTranscript(f *testing.F) {
	hosttest.FuzzTranscript(f, func() host.Format { return Format("s", time.Time{}) })
}

func TestHooks(t *testing.T) {
	hosttest.Hooks(t, Name, Hooks, map[string]string{"sessionStart": host.SessionStart, "beforeSubmitPrompt": host.Prompt, "stop": host.TurnEnd, "preCompact": host.PreCompact, "sessionEnd": host.SessionEnd})
}
