package claudecode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"stillso"
)

// rowOf writes a row as the host does; extra fields win.
func rowOf(t testing.TB, kind, uuid string, content any, extra ...any) string {
	t.Helper()
	msg := map[string]any{"role": kind, "content": content}
	if kind == "assistant" {
		msg["id"] = "msg_" + uuid
	}
	row := map[string]any{
		"parentUuid": nil, "isSidechain": false, "type": kind, "uuid": uuid, "sessionId": "S1", "cwd": "/w/app", "gitBranch": "main", "version": "2.1.332",
		"timestamp": "2026-03-02T10:00:00.000Z", "message": msg,
	}
	for i := 0; i < len(extra); i += 2 {
		if k := extra[i].(string); k == "id" {
			msg["id"] = extra[i+1]
		} else {
			row[k] = extra[i+1]
		}
	}
	data, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return string(data) + "\n"
}

func blocks(b ...map[string]any) []map[string]any { return b }

func textBlock(s string) map[string]any { return map[string]any{"type": "text", "text": s} }

func result(content any) map[string]any {
	return map[string]any{"type": "tool_result", "tool_use_id": "t", "content": content}
}

func use(name string, input map[string]any) map[string]any {
	return map[string]any{"type": "tool_use", "id": "t", "name": name, "input": input}
}

// turnsOf reads a transcript and writes its turns as "speaker: text".
func turnsOf(t testing.TB, transcript string) ([]string, Reading) {
	t.Helper()
	var got []string
	reading, err := Read(strings.NewReader(transcript), func(turn stillso.Turn) error {
		got = append(got, string(turn.Speaker)+": "+turn.Text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, reading
}

// Fault: what a tool, a sub-agent or the harness wrote counts as typed by a
// human; or what a human typed is not found.
func TestWhoSpoke(t *testing.T) {
	r := func(kind, uuid string, content any, extra ...any) string {
		return rowOf(t, kind, uuid, content, extra...)
	}
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"typed text":   {r("user", "u", "use pnpm"), []string{"user: use pnpm"}},
		"typed blocks": {r("user", "u", blocks(textBlock("look at"), map[string]any{"type": "image"}, textBlock("this"))), []string{"user: look at\n\nthis"}},
		"meta":         {r("user", "u", "x", "isMeta", true), nil},
		"summary":      {r("user", "u", "x", "isCompactSummary", true), nil},
		"side chain":   {r("user", "u", "x", "isSidechain", true) + r("assistant", "a", "x", "isSidechain", true), nil},
		"agent":        {r("user", "u", "x", "agentId", "a1"), nil},
		"plan":         {r("user", "u", "Implement the following plan", "planContent", "# Plan"), nil},
		"older plan":   {r("user", "u", "Implement the following plan:\n\n# Plan: x"), nil},
		"stopped":      {r("user", "u", "Operation stopped by hook: another session is active"), nil},
		"no plan":      {r("user", "u", "hello", "planContent", nil, "agentId", ""), []string{"user: hello"}},
		"wake-up":      {r("user", "u", "x", "promptSource", "schedule_wakeup"), nil},
		"api error":    {r("assistant", "a", blocks(textBlock("overloaded")), "isApiErrorMessage", true), nil},
		"notice":       {r("user", "u", "<task-notification>x</task-notification>"), nil},
		"interrupted":  {r("user", "u", blocks(textBlock("[Request interrupted by user for tool use]"))), nil},
		"ide":          {r("user", "u", blocks(textBlock("<ide_opened_file>a</ide_opened_file>"), textBlock("why"))), []string{"user: why"}},
		"our block":    {r("user", "u", "<long_term_memories>\n- x\n</long_term_memories>\nok") + r("assistant", "a", "You told me: <long_term_memories>- x"), []string{"user: ok", "assistant: You told me:"}},
		"attachment":   {`{"type":"attachment","uuid":"x","attachment":{"type":"hook_additional_context","content":["\"user\""]}}` + "\n" + r("user", "u", "hi"), []string{"user: hi"}},
		"progress":     {`{"type":"progress","uuid":"x","data":{"message":{"type":"user","message":{"role":"user","content":"inner"}}}}` + "\n" + r("user", "u", "hi"), []string{"user: hi"}},
		"skill text":   {r("user", "u", blocks(textBlock("Base directory\nof it")), "sourceToolUseID", "t"), []string{"tool: Base directory of it"}},
		"tool result":  {r("user", "u", blocks(result("one\ntwo\n\nthree  \n")), "toolUseResult", map[string]any{"stdout": "x"}), []string{"tool: one … three"}},
		"result block": {r("user", "u", blocks(result(blocks(textBlock("a\nb"), map[string]any{"type": "image"})), result("c"))), []string{"tool: a … b", "tool: c"}},
		"failed":       {r("user", "u", blocks(map[string]any{"type": "tool_result", "content": "no such file", "is_error": true})), []string{"tool: error: no such file"}},
		"empty result": {r("user", "u", blocks(result("")), "toolUseResult", ""), nil},
		"tool use":     {r("assistant", "a", blocks(use("Bash", map[string]any{"description": "d", "command": "go test\n./..."}), use("Task", map[string]any{"prompt": "secret", "description": "review"}))), []string{"tool: Bash: go test ./...", "tool: Task: review"}},
		"thinking":     {r("assistant", "a", blocks(map[string]any{"type": "thinking", "thinking": "hm"})), nil},
		"odd types":    {r("user", "u", 7) + r("user", "v", nil) + r("user", "w", blocks(map[string]any{"type": 1, "text": "x"})) + r("user", "z", map[string]any{"text": "x"}), nil},
		"spaces":       {`{"type" : "user", "uuid": "u", "message": {"role": "user", "content": "spaced"}}`, []string{"user: spaced"}},
		"line ends":    {"\ufeff" + strings.ReplaceAll(r("user", "u", "a")+"\n"+r("user", "v", "b"), "\n", "\r\n"), []string{"user: a", "user: b"}},
		"NULs":         {"\x00\x00" + strings.TrimSpace(r("user", "u", "a")) + "\x00\n" + r("user", "v", "b"), []string{"user: a", "user: b"}},
		"two sessions": {
			r("assistant", "a1", blocks(textBlock("x1")), "id", "m") + r("assistant", "b1", blocks(textBlock("y1")), "id", "n", "sessionId", "S2") + r("assistant", "a2", blocks(textBlock("x2")), "id", "m"),
			[]string{"assistant: x1", "assistant: y1", "assistant: x2"},
		},
		"glued rows": {strings.TrimSpace(r("user", "u", "a")) + r("user", "v", "b"), []string{"user: a", "user: b"}},
		"repeated":   {r("user", "u", "a") + r("assistant", "a", "b") + r("user", "u", "a") + r("assistant", "a", "b"), []string{"user: a", "assistant: b"}},
		"one message": {
			r("assistant", "a1", blocks(textBlock("First.")), "id", "m") + r("assistant", "a2", blocks(use("Read", map[string]any{"file_path": "/x"})), "id", "m") + r("assistant", "a3", blocks(textBlock("Second.")), "id", "m") +
				r("assistant", "a4", blocks(textBlock("Other.")), "id", "n"),
			[]string{"assistant: First.\n\nSecond.", "tool: Read: /x", "assistant: Other."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, reading := turnsOf(t, c.in)
			if strings.Join(got, "|") != strings.Join(c.want, "|") {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if reading.Broken+reading.TooLong > 0 || reading.Turns != len(got) {
				t.Errorf("%+v", reading)
			}
		})
	}
}

// Fault: a fork is read as new turns, or hand-made short ids of two sessions
// count as one turn.
func TestTurnIDs(t *testing.T) {
	long := "8f1c9c0e-8d0f-4b52-9a53-0123456789ab"
	ids := func(in string) (list []string) {
		_, err := Read(strings.NewReader(in), func(turn stillso.Turn) error { list = append(list, turn.ID); return nil })
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	first := ids(rowOf(t, "user", long, "a") + rowOf(t, "user", "u1", "a") + rowOf(t, "user", "", "a") +
		rowOf(t, "assistant", "a1", blocks(textBlock("x"), use("B", nil), use("C", nil))))
	if len(first) != 6 || first[0] != long {
		t.Fatalf("ids: %q", first)
	}
	seen := map[string]bool{}
	for _, id := range first {
		if seen[id] || strings.ContainsAny(id, " \n") {
			t.Errorf("id %q is no id, or is there twice", id)
		}
		seen[id] = true
	}
	fork := ids(rowOf(t, "user", long, "a", "sessionId", "S2") + rowOf(t, "user", "u1", "a", "sessionId", "S2"))
	if fork[0] != first[0] || fork[1] != first[1] {
		t.Errorf("a fork has ids of its own: %q, was %q", fork, first[:2])
	}
	if other := ids(rowOf(t, "user", "u1", "another", "sessionId", "S2")); other[0] == first[1] {
		t.Errorf("two rows that happen to be called u1 have one id")
	}
}

// Fault: facts of the session are taken from the wrong row.
func TestReadingFacts(t *testing.T) {
	_, got := turnsOf(t, rowOf(t, "user", "u1", "a", "timestamp", "2026-03-02T12:00:00.5+02:00")+
		rowOf(t, "assistant", "a1", "b", "timestamp", "2026-03-02T10:05:00Z", "cwd", "/w/app/web", "gitBranch", "fix")+
		"not json\n"+rowOf(t, "user", "u2", "<system-reminder>x</system-reminder>", "timestamp", "nonsense")+`{"type":"user","uuid":`)
	at := time.Date(2026, 3, 2, 10, 0, 0, 5e8, time.UTC)
	if got.Session != "S1" || got.Directory != "/w/app" || got.Branch != "main" || got.Version != "2.1.332" || !got.StartedAt.Equal(at) || !got.EndedAt.Equal(at.Add(5*time.Minute-5e8)) {
		t.Errorf("facts: %+v", got)
	}
	if got.Broken != 1 || got.Harness != 1 || got.Turns != 2 || got.Rows != 3 {
		t.Errorf("counts: %+v", got)
	}
}

// Fault: the end of a live file is read twice, never, or cut in half; a file
// that was replaced is read on from the middle of another one.
func TestReadOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	var from Position
	step := func(content string, want ...string) Reading {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var got []string
		reading, err := ReadFile(path, from, func(turn stillso.Turn) error { got = append(got, turn.Text); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("got %q, want %q", got, want)
		}
		from = reading.Next
		return reading
	}
	one, two, three := rowOf(t, "user", "u1", "one"), rowOf(t, "user", "u2", "two"), rowOf(t, "user", "u3", "three")
	step(one+two[:40], "one")
	step(one+two[:len(two)-1], "two") // complete, though its line has no end yet
	step(one + two)
	step(one + two + `{"type":"progress","data":{}`) // its end is still to come
	step(one+two+"\n\n"+three, "three")
	if r := step(one + two + "\n\n" + three); r.Restarted || r.Rows != 0 {
		t.Errorf("nothing new: %+v", r)
	}
	if r := step(one, "one"); !r.Restarted { // it shrank
		t.Errorf("a file that shrank: %+v", r)
	}
	if r := step(strings.Replace(one, "one", "eno", 1)+two, "eno", "two"); !r.Restarted { // it was replaced
		t.Errorf("a file that was replaced: %+v", r)
	}
	from = Position{Offset: -5, Mark: "x"}
	step(one, "one")
	stop := errors.New("stop")
	from = Position{}
	reading, err := ReadFile(path, from, func(stillso.Turn) error { return stop })
	if !errors.Is(err, stop) || reading.Next != from {
		t.Errorf("after a failure: %v, next %+v; want the old position", err, reading.Next)
	}
}

// Fault: a giant line takes the memory of the machine, or hides the rows behind
// it, or what a human typed beside a large picture.
func TestGiantLines(t *testing.T) {
	const mega = 1 << 20
	path := filepath.Join(t.TempDir(), "big.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	// giant writes a row in which a text stands for itself many times.
	giant := func(row, unit string, times int) {
		before, after, _ := strings.Cut(row, "GIANT")
		_, err := f.WriteString(before)
		for chunk := strings.Repeat(unit, 1024); times > 0 && err == nil; times -= 1024 {
			_, err = f.WriteString(chunk)
		}
		if err == nil {
			_, err = f.WriteString(after)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	picture := map[string]any{"type": "image", "source": map[string]any{"data": "GIANT"}}
	giant(rowOf(t, "user", "u1", "before"), "", 0)
	giant(rowOf(t, "user", "u2", blocks(result("GIANT"))), "zzzzzzzz", 8*mega)
	giant(rowOf(t, "user", "u3", blocks(textBlock("see"), picture, textBlock("this \"quoted\" \\ picture"))), "iVBO", 5*mega)
	giant(rowOf(t, "user", "u4", blocks(result(`GIANT"}{`))), `\\\\\"`, mega)
	giant(rowOf(t, "user", "u5", blocks(textBlock("GIANT"))), "长", mega)
	giant(rowOf(t, "user", "u6", []string{"GIANT"}), `","0123456789abcdef`, mega) // small strings, but many
	giant(rowOf(t, "user", "u7", "after"), "", 0)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var got []string
	var peak uint64
	reading, err := ReadFile(path, Position{}, func(turn stillso.Turn) error {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
		got = append(got, fmt.Sprintf("%.50s %d", turn.Text, len(turn.Text)))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if reading.TooLong != 1 || reading.Broken != 0 || len(got) != 6 || got[0] != "before 6" || got[2] != "see\n\nthis \"quoted\" \\ picture 28" || got[5] != "after 5" {
		t.Errorf("%+v\n%q", reading, got)
	}
	if !strings.HasPrefix(got[4], "长") {
		t.Errorf("a typed text over the limit is gone: %q", got[4])
	}
	if peak > 48<<20 {
		t.Errorf("%d MiB of heap while reading", peak>>20)
	}
	t.Logf("heap while reading: %d MiB", peak>>20)
}

// Fault: a file of another program gives a session without turns, or a crash,
// where a clear word is due.
func TestUnsupported(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"specstory": {"<!-- Generated by SpecStory, Markdown v2.0.0 -->\n\n_**User**_\n", "SpecStory"},
		"aider":     {"\n# aider chat started at 2025-10-20 21:49:17\n\n> Aider\n", "aider"},
		"gemini":    {"{\n \"sessionId\": \"x\",\n \"messages\": [\n", "Gemini"},
		"codex":     {`{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x"}}` + "\n", "Codex"},
		"binary":    {"\x00\x01\xff\xfe", "shape"},
	} {
		_, err := Read(strings.NewReader(c.in), func(stillso.Turn) error { t.Error("a turn was read"); return nil })
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want a word about %s", name, err, c.want)
		}
	}
	for name, in := range map[string]string{"empty": "", "blank": "\n\n", "only a title": `{"type":"summary","summary":"x","leafUuid":"y"}` + "\n", "half a row": `{"type":"user","uuid":"u`} {
		if got, reading := turnsOf(t, in); len(got) > 0 || reading.Broken > 0 {
			t.Errorf("%s: %q %+v", name, got, reading)
		}
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := ReadFile(path, Position{}, nil); err == nil {
			t.Errorf("%s was read", path)
		}
	}
}

// Fault: a history that real programs wrote cannot be read.
func TestRealTranscripts(t *testing.T) {
	shared := os.Getenv("STILLSO_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "..", "shared")
	}
	files, _ := filepath.Glob(filepath.Join(shared, "real", "transcripts", "*", "*"))
	if len(files) == 0 {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no histories in %s: CI must have them", shared)
		}
		t.Skipf("no histories in %s: set STILLSO_SHARED to measure on real ones", shared)
	}
	var total Reading
	speakers := map[stillso.Speaker]int{}
	for _, file := range files {
		ids := map[string]bool{}
		reading, err := ReadFile(file, Position{}, func(turn stillso.Turn) error {
			if turn.Text == "" || turn.At.IsZero() || ids[turn.ID] || turn.Session == "" || turn.Directory == "" {
				t.Errorf("%s: odd turn %+v", file, turn)
			}
			ids[turn.ID] = true
			speakers[turn.Speaker]++
			return nil
		})
		if strings.Contains(file, ".claude-jsonl.") != (err == nil) || err != nil && !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", file, err)
		}
		if err == nil {
			total.Rows += reading.Rows
			total.Broken += reading.Broken
		}
		total.Harness += reading.Harness
		total.Repeated += reading.Repeated
		total.Bytes += reading.Bytes
	}
	t.Logf("%d files, %d rows, %d broken, %d of the harness, %d repeated, turns %v", len(files), total.Rows, total.Broken, total.Harness, total.Repeated, speakers)
}

// Fault: hostile or damaged rows crash the reader, or make it hand out what it
// must not.
func FuzzRead(f *testing.F) {
	f.Add([]byte(rowOf(f, "user", "u1", "a") + rowOf(f, "assistant", "a1", blocks(textBlock("b"), use("Bash", map[string]any{"command": "ls"}))) + rowOf(f, "user", "u2", blocks(result("c\nd")))))
	f.Add([]byte(`{"type":"user","uuid":"u","message":{"content":"<long_term_memories>"}}{"type":"assistant"`))
	f.Add([]byte("{\"type\":\"user\"}\r\n\x00{}\n[]\n\"\\\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ids := map[string]bool{}
		whole, err := Read(bytes.NewReader(data), func(turn stillso.Turn) error {
			if turn.Text == "" || ids[turn.ID] || strings.Contains(turn.Text, "<long_term_memories>") && turn.Speaker != stillso.Tool {
				t.Fatalf("odd turn %+v", turn)
			}
			ids[turn.ID] = true
			return nil
		})
		if err != nil && !errors.Is(err, ErrUnsupported) {
			t.Fatal(err)
		}
		if whole.Next.Offset > int64(len(data)) {
			t.Fatalf("read %d of %d bytes", whole.Next.Offset, len(data))
		}
	})
}

func BenchmarkRead(b *testing.B) {
	var buf bytes.Buffer
	for i := 0; buf.Len() < 8<<20; i++ {
		id := fmt.Sprintf("%032d", i)
		buf.WriteString(rowOf(b, "user", "u"+id, "please look into the \"failing\" tests"))
		buf.WriteString(rowOf(b, "assistant", "a"+id, blocks(textBlock(strings.Repeat("lorem ipsum\n\"dolor\" ", 60)))))
		buf.WriteString(rowOf(b, "assistant", "b"+id, blocks(use("Bash", map[string]any{"command": "go test ./..."}))))
		buf.WriteString(rowOf(b, "user", "r"+id, blocks(result(strings.Repeat("ok  \tpkg\t0.1s\n", 200))), "toolUseResult", map[string]any{"stdout": strings.Repeat("ok  \tpkg\t0.1s\n", 200)}))
		buf.WriteString(`{"type":"progress","uuid":"p` + id + `","data":{"output":"` + strings.Repeat(`line\n`, 200) + `"}}` + "\n")
	}
	b.SetBytes(int64(buf.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(bytes.NewReader(buf.Bytes()), func(stillso.Turn) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
}
