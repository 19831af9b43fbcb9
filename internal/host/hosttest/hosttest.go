// Package hosttest is what the package of every host must do, as exported tests.
package hosttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/host"
)

// Parse is a host's reader of events.
type Parse func(event string, stdin []byte) (host.Call, error)

// golden compares with the file beside, or writes it where it is not there yet;
// then the test fails once.
func golden(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file) // #nosec G304 -- a file of the test
	if errors.Is(err, os.ErrNotExist) {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil { // #nosec G306 -- a file of the test
			t.Fatal(err)
		}
		t.Errorf("%s was not there: written; read it, and run the test again", file)
		return
	}
	if err != nil || string(want) != got {
		t.Errorf("%s: %v\ngot\n%s\nwant\n%s", file, err, got, want)
	}
}

// Payloads reads every testdata/hooks/EVENT[-…].json, and compares the call with
// the .want beside it. Fault: a field of a real payload is not found, or the
// event is not recognised without the command line.
func Payloads(t *testing.T, parse Parse, least int) {
	t.Helper()
	files, err := filepath.Glob("testdata/hooks/*.json")
	if err != nil || len(files) < least {
		t.Fatalf("%d payloads, want at least %d: %v", len(files), least, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		stdin, err := os.ReadFile(file) // #nosec G304 -- a file of the test
		if err != nil {
			t.Fatal(err)
		}
		event := ""
		for _, e := range host.Events() {
			if strings.HasPrefix(name, e) && len(e) > len(event) {
				event = e
			}
		}
		call, err := parse(event, stdin)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := json.MarshalIndent(call, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, strings.TrimSuffix(file, ".json")+".want", string(got)+"\n")
		if bytes.Contains(stdin, []byte(`ookEventName"`)) || bytes.Contains(stdin, []byte(`hook_event_name"`)) {
			if bare, err := parse("", stdin); err != nil || bare != call {
				t.Errorf("%s without the event: %+v, %v", name, bare, err)
			}
		}
	}
}

// Lenient feeds a parser what no host should send. Fault: it crashes, or fails
// where something could still be read.
func Lenient(t *testing.T, name string, parse Parse) {
	t.Helper()
	for in, bad := range map[string]bool{
		"": true, "null": true, "[]": true, "{": true, `{"prompt":"half`: true, `{"a":1}{"b":2}`: true,
		"{}": false, "\ufeff{\"prompt\":\"a\"}\r\n": false, `{"prompt":7,"cwd":{},"session_id":[],"sessionId":null,"workspace_roots":"x"}`: false,
		`{"prompt":"` + strings.Repeat("a", 2<<20) + `"}`: false, `{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`: true,
	} {
		call, err := parse(host.Prompt, []byte(in))
		if (err != nil) != bad || call.Host != name || call.Event != host.Prompt || len(call.Prompt) > host.MaxText {
			t.Errorf("%.40q: %v, host %q, event %q, %d bytes of prompt", in, err, call.Host, call.Event, len(call.Prompt))
		}
	}
}

// FuzzParse guards against input that crashes a parser, or that it hands on
// without bounds.
func FuzzParse(f *testing.F, parse Parse) {
	f.Helper()
	files, _ := filepath.Glob("testdata/hooks/*.json") // none is no harm
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil { // #nosec G304 -- a file of the test
			f.Add("", data)
			f.Add(host.Prompt, data)
		}
	}
	f.Fuzz(func(t *testing.T, event string, data []byte) {
		call, err := parse(event, data)
		for _, s := range []string{call.Session, call.Transcript, call.Directory, call.Source, call.Tool, call.ToolFile, call.Reason} {
			if len(s) > host.MaxField+100 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
				t.Fatalf("%q", s)
			}
		}
		if len(call.Prompt) > host.MaxText || err == nil && call.Prompt == "" && call.Machine && !bytes.Contains(data, []byte("rompt")) {
			t.Fatalf("%+v", call)
		}
	})
}

// Contexts checks what a host gets: own has the start of the document for each
// event that takes context. Fault: an event that takes none is answered (a turn
// that ends would go on), or the text does not come back out of the JSON.
func Contexts(t *testing.T, context func(event, text string) []byte, own map[string]string) {
	t.Helper()
	const text = "<long_term_memories>\n- \"a\\b\" \u2028 長い \x7f\n</long_term_memories>"
	for _, event := range append(host.Events(), "weather", "") {
		out := context(event, text)
		start, takes := own[event]
		if !takes {
			if len(out) > 0 {
				t.Errorf("%s takes no context, and gets %s", event, out)
			}
			continue
		}
		if len(context(event, "")) > 0 || !strings.HasPrefix(string(out), start) {
			t.Errorf("%s: %s", event, out)
		}
		var doc any
		if err := json.Unmarshal(out, &doc); err != nil || !strings.Contains(deepest(doc), "長い") || deepest(doc) != text {
			t.Errorf("%s: %v, %q", event, err, deepest(doc))
		}
	}
}

// deepest returns the longest string in a document.
func deepest(v any) (best string) {
	switch v := v.(type) {
	case string:
		return v
	case map[string]any:
		for _, x := range v {
			if s := deepest(x); len(s) > len(best) {
				best = s
			}
		}
	}
	return best
}

// Read is a host's reader of transcripts.
type Read func(path string, from host.Position, emit func(stillso.Turn) error) (host.Reading, error)

// Transcripts reads every testdata/transcripts/*.jsonl and compares its turns
// with the .want beside it. Then it reads the file in two halves, cut at every
// line, which must give the same. Fault: what a tool, a sub-agent or the harness
// wrote counts as typed; what a human typed is not found; a turn is lost or
// doubled between two readings.
func Transcripts(t *testing.T, read Read, least int) {
	t.Helper()
	files, err := filepath.Glob("testdata/transcripts/*.json*")
	if err != nil || len(files) < least {
		t.Fatalf("%d transcripts, want at least %d: %v", len(files), least, err)
	}
	for _, file := range files {
		turns, got, err := all(read, file, host.Position{})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		ids := map[string]bool{}
		var b strings.Builder
		fmt.Fprintf(&b, "session %s in %q on %q, version %s, %s to %s; of the harness %d, repeated %d, broken %d\n",
			got.Session, got.Directory, got.Branch, got.Version, at(got.StartedAt), at(got.EndedAt), got.Harness, got.Repeated, got.Broken)
		for _, turn := range turns {
			if turn.ID == "" || ids[turn.ID] {
				t.Errorf("%s: id %q is not unique", file, turn.ID)
			}
			ids[turn.ID] = true
			fmt.Fprintf(&b, "%s %s %s: %q\n", at(turn.At), turn.Directory, turn.Speaker, turn.Text)
		}
		golden(t, strings.TrimSuffix(strings.TrimSuffix(file, "l"), ".json")+".want", b.String())
		if strings.HasSuffix(file, ".jsonl") {
			halves(t, read, file, turns)
		}
	}
}

func at(x time.Time) string {
	if x.IsZero() || x.Year() > 2026 || x.Year() == 2026 && x.Month() > 6 { // the time of the file
		return "-"
	}
	return x.Format(time.RFC3339)
}

func all(read Read, file string, from host.Position) (turns []stillso.Turn, got host.Reading, err error) {
	got, err = read(file, from, func(turn stillso.Turn) error {
		turns = append(turns, turn)
		return nil
	})
	return turns, got, err
}

// halves reads a file while it grows line by line.
func halves(t *testing.T, read Read, file string, want []stillso.Turn) {
	t.Helper()
	data, err := os.ReadFile(file) // #nosec G304 -- a file of the test
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(file))
	var position host.Position
	have := map[string]string{}
	for cut := range len(data) {
		if data[cut] != '\n' && cut%97 != 0 {
			continue
		}
		if err := os.WriteFile(path, data[:cut+1], 0o600); err != nil { // #nosec G703 -- a file of the test
			t.Fatal(err)
		}
		turns, got, err := all(read, path, position)
		if err != nil && !errors.Is(err, host.ErrUnsupported) {
			t.Fatalf("%s cut at %d: %v", file, cut, err)
		}
		position = got.Next
		for _, turn := range turns {
			have[turn.ID] += turn.Text + "\x00"
		}
	}
	for _, turn := range want {
		// Said again in a later reading it is the same turn: the store knows its id.
		if turn.Speaker == stillso.Typed && (have[turn.ID] == "" || strings.ReplaceAll(have[turn.ID], turn.Text+"\x00", "") != "") {
			t.Errorf("%s read as it grows: %q is there as %q", file, turn.Text, have[turn.ID])
		}
	}
}

// FuzzTranscript guards against damaged or hostile rows that crash a reader, or
// make it hand out what it must not.
func FuzzTranscript(f *testing.F, format func() host.Format) {
	f.Helper()
	files, _ := filepath.Glob("testdata/transcripts/*.jsonl") // none is no harm
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil { // #nosec G304 -- a file of the test
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ids := map[string]bool{}
		got, err := format().Read(bytes.NewReader(data), func(turn stillso.Turn) error {
			if turn.Text == "" || ids[turn.ID] || strings.Contains(turn.Text, "<long_term_memories>") && turn.Speaker != stillso.Tool {
				t.Fatalf("odd turn %+v", turn)
			}
			ids[turn.ID] = true
			return nil
		})
		if err != nil && !errors.Is(err, host.ErrUnsupported) || got.Next.Offset > int64(len(data)) {
			t.Fatalf("%v, read %d of %d", err, got.Next.Offset, len(data))
		}
	})
}

// Hooks checks the entries of a host: every event once, and the program that the
// line runs. Fault: an event is not registered, or under a name that the host
// does not know, or a path is taken apart by the shell.
func Hooks(t *testing.T, name string, hooks func(program, goos string) []host.Hook, want map[string]string) {
	t.Helper()
	for _, c := range [...]struct{ program, goos, start string }{
		{"/opt/stillso-hook", "linux", "/opt/stillso-hook " + name + " "},
		{"/opt/my tools/it's/stillso-hook", "darwin", `'/opt/my tools/it'\''s/stillso-hook' ` + name + " "},
		{`C:\bin\stillso-hook.exe`, "windows", "C:/bin/stillso-hook.exe " + name + " "},
	} {
		list := hooks(c.program, c.goos)
		if len(list) != len(want) {
			t.Errorf("%d hooks, want %d", len(list), len(want))
		}
		for _, h := range list {
			if h.Command != c.start+want[h.Event] || want[h.Event] == "" || h.Timeout == 0 || h.Matcher != "" {
				t.Errorf("%+v", h)
			}
		}
	}
}
