package replay_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"stillso/internal/llm"
	"stillso/internal/llm/replay"
)

type fixed struct{ err error }

func (fixed) Name() string { return "fixed" }

func (f fixed) Complete(_ context.Context, r llm.Request) (llm.Reply, error) {
	return llm.Reply{Text: "```json\n{\"said\":\"" + r.Text + "\"}\n```", Usage: llm.Usage{In: 7}}, f.err
}

// Guards against a recording that does not give back what was recorded, byte by
// byte, and against an error of the model being recorded as its reply.
func TestRecordAndReplay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	ask := llm.Request{Purpose: "capture", System: "s", Text: "t"}
	row := llm.Request{Purpose: "judge", Text: "u", ID: "row 1"}
	m := replay.Record(fixed{}, file)
	for _, r := range []llm.Request{ask, row, ask} {
		if _, err := m.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := replay.Record(fixed{errors.New("down")}, file).Complete(t.Context(), llm.Request{Text: "x"}); err == nil {
		t.Error("the error of the model is gone")
	}
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info, err)
	}
	r, err := replay.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := r.Complete(t.Context(), ask)
	if err != nil || reply.Text != "```json\n{\"said\":\"t\"}\n```" || reply.Usage.In != 7 || reply.Model != "fixed" {
		t.Errorf("got %+v, %v", reply, err)
	}
	row.Text = "the prompt has changed"
	if reply, err := r.Complete(t.Context(), row); err != nil || !strings.Contains(reply.Text, `"u"`) {
		t.Errorf("by row: got %+v, %v", reply, err)
	}
}

// Guards against a missing reply being taken for "nothing", and against a miss
// that does not say what is missing.
func TestMiss(t *testing.T) {
	file := filepath.Join(t.TempDir(), "capture.jsonl")
	if err := os.WriteFile(file, []byte(`{"id":"a","reply":{"candidates":[]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := replay.Open(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []llm.Request{{Purpose: "capture"}, {Purpose: "capture", ID: "b"}, {Purpose: "judge", ID: "a"}} {
		_, err := r.Complete(t.Context(), q)
		if !errors.Is(err, llm.ErrNotRecorded) || !strings.Contains(err.Error(), q.Hash()) || !strings.Contains(err.Error(), q.ID) {
			t.Errorf("%+v: %v", q, err)
		}
	}
	if _, err := r.Complete(t.Context(), llm.Request{Purpose: "capture", ID: "a"}); err != nil {
		t.Error(err)
	}
}

// Guards against a damaged recording being read as a shorter one.
func TestBrokenRecording(t *testing.T) {
	for _, text := range []string{"{\"id\":\"a\",\"reply\":{}}\n{\"id\":", `{"id":"a"}`, `{"reply":{}}`, `{"id":"a","reply":null}`, "[]"} {
		file := filepath.Join(t.TempDir(), "x.jsonl")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := replay.Open(file); err == nil || !strings.Contains(err.Error(), "line") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := replay.Open("absent"); err == nil {
		t.Error("a recording that is not there was opened")
	}
	if _, _, err := replay.Adapter().Find(llm.Config{BaseURL: "absent"}, llm.Environment{}); !errors.Is(err, llm.ErrConfig) {
		t.Errorf("adapter: %v", err)
	}
}

// Guards against the recorded replies of the evaluation sets not being readable.
func TestEvaluationReplies(t *testing.T) {
	dir := os.Getenv("STILLSO_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "real", "replies")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the evaluation sets are missing:", err)
		}
		t.Skip("needs the evaluation sets in STILLSO_SHARED or ../shared")
	}
	r, err := replay.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Candidates []struct{ Name string } `json:"candidates"`
	}
	if _, err := llm.Ask(t.Context(), r, llm.Request{Purpose: "capture", ID: "xp19"}, "candidates", &c); err != nil || len(c.Candidates) != 1 {
		t.Errorf("capture: %+v, %v", c, err)
	}
	var v struct {
		Verdicts []struct{ Candidate, Score int } `json:"verdicts"`
	}
	if _, err := llm.Ask(t.Context(), r, llm.Request{Purpose: "judge", ID: "xp05"}, "verdicts", &v); err != nil || len(v.Verdicts) < 2 || v.Verdicts[0].Score == 0 {
		t.Errorf("judge: %+v, %v", v, err)
	}
	if _, ok := r.Candidate("judge", "xp05", v.Verdicts[1].Candidate); !ok {
		t.Error("a single candidate is not found")
	}
}
