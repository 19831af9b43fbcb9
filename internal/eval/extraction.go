package eval

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"stillso"
	"stillso/internal/capture"
	"stillso/internal/judge"
	"stillso/internal/llm"
)

// Excerpt is one labelled excerpt of a session.
type Excerpt struct {
	ID    string `json:"id"`
	Turns []struct {
		Role string `json:"role"`
		Text string `json:"text"`
	} `json:"turns"`
	// Remember says whether something in it is worth keeping, Memory what.
	Remember bool   `json:"remember"`
	Memory   string `json:"memory"`
	Type     string `json:"type"`
	Scope    string `json:"scope"`
	Why      string `json:"why"`
	// Borderline rows are left out of the figures.
	Borderline bool `json:"borderline"`
}

// CaptureFigures are what a measurement of capture came to. A row counts as captured
// if at least one candidate of it is admitted; findings do not count.
type CaptureFigures struct {
	Mode       string          `json:"mode"`
	Rows       int             `json:"rows"`
	Borderline int             `json:"borderline"`
	Right      int             `json:"right"`
	False      int             `json:"false"`
	Missed     int             `json:"missed"`
	Precision  float64         `json:"precision"`
	Recall     float64         `json:"recall"`
	ToReview   int             `json:"to_review"`
	Namespaces int             `json:"namespace_right"`
	Details    []ExcerptResult `json:"details"`
}

// ExcerptResult is what capture made of one row.
type ExcerptResult struct {
	ID         string   `json:"id"`
	Remember   bool     `json:"remember"`
	Borderline bool     `json:"borderline,omitempty"`
	Admitted   []string `json:"admitted,omitempty"`
	Review     []string `json:"review,omitempty"`
	// Refused holds the reasons of refusals.
	Refused []string `json:"refused,omitempty"`
	// Said is what the user typed, Want the memory that the label asks for.
	Said string `json:"said,omitempty"`
	Want string `json:"want,omitempty"`
}

// Wrong reports whether the row was missed or captured falsely.
func (h ExcerptResult) Wrong() bool { return h.Remember != (len(h.Admitted) > 0) }

// ReadExcerpts reads labelled excerpts, one JSON object a line.
func ReadExcerpts(r io.Reader) ([]Excerpt, error) {
	var out []Excerpt
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	for n := 1; sc.Scan(); n++ {
		if strings.TrimSpace(sc.Text()) == "" {
			continue
		}
		var row Excerpt
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("cannot read line %d of the excerpts: %w", n, err)
		}
		out = append(out, row)
	}
	if err := sc.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the excerpts: %w", err)
	}
	return out, nil
}

// MeasureCapture measures capture on labelled excerpts: without a model if
// replies is empty, or else with the recorded replies in that folder
// (capture.jsonl and judge.jsonl, by row id). Each row is a session of its own
// with an empty store.
func MeasureCapture(ctx context.Context, gold, replies string, now time.Time) (*CaptureFigures, error) {
	f, err := os.Open(gold)
	if err != nil {
		return nil, fmt.Errorf("cannot measure extraction: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	rows, err := ReadExcerpts(f)
	if err != nil {
		return nil, err
	}
	sum := &CaptureFigures{Mode: "rules", Rows: len(rows)}
	var recorded *recording
	if replies != "" {
		sum.Mode = "replies"
		if recorded, err = readRecording(replies); err != nil {
			return nil, err
		}
	}
	for _, row := range rows {
		h, err := measureRow(ctx, row, recorded, now)
		if err != nil {
			return nil, fmt.Errorf("cannot measure row %s: %w", row.ID, err)
		}
		sum.count(h)
	}
	sum.Precision = ratio(sum.Right, sum.Right+sum.False)
	sum.Recall = ratio(sum.Right, sum.Right+sum.Missed)
	return sum, nil
}

func (e *CaptureFigures) count(h ExcerptResult) {
	e.Details = append(e.Details, h)
	if h.Borderline {
		e.Borderline++
		return
	}
	got := len(h.Admitted) > 0
	switch {
	case got && h.Remember:
		e.Right++
	case got:
		e.False++
	case h.Remember:
		e.Missed++
	}
	if !got && len(h.Review) > 0 {
		e.ToReview++
	}
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

func measureRow(ctx context.Context, row Excerpt, rec *recording, now time.Time) (ExcerptResult, error) {
	h := ExcerptResult{ID: row.ID, Remember: row.Remember, Borderline: row.Borderline, Want: row.Memory}
	job := capture.Job{Session: stillso.Session{ID: row.ID}, Project: "project/eval", Now: now}
	for i, t := range row.Turns {
		who := stillso.Assistant
		switch t.Role {
		case "user":
			who = stillso.Typed
			h.Said += t.Text + "\n"
		case "tool":
			who = stillso.Tool
		}
		job.Turns = append(job.Turns, stillso.Turn{ID: fmt.Sprintf("%s-%d", row.ID, i+1), Session: row.ID, Speaker: who, Text: t.Text, At: now})
	}
	if rec != nil {
		r := rowModel{rec: rec, id: row.ID}
		job.Model, job.Judge = r, r.judge
	}
	for captured, more := 0, true; more; {
		job.Session.Captured = captured
		out, err := capture.Run(ctx, job)
		if err != nil {
			return h, err
		}
		h.take(out.Changes)
		captured, more = out.Captured, out.More
	}
	return h, nil
}

func (h *ExcerptResult) take(changes []stillso.Change) {
	for _, c := range changes {
		for _, e := range c.Edits {
			if e.Before != nil || e.After == nil || e.After.Origin == stillso.FromInferred {
				continue
			}
			switch c.Outcome {
			case stillso.Applied:
				h.Admitted = append(h.Admitted, e.After.Content)
			case stillso.Proposed:
				h.Review = append(h.Review, e.After.Content+" ("+c.Reason+")")
			case stillso.Refused:
				h.Refused = append(h.Refused, e.After.Content+" ("+c.Reason+")")
			}
		}
	}
}

// recording holds recorded replies: of the capture prompt by row, of the judge by
// row and place of the candidate in the capture reply.
type recording struct {
	capture map[string]json.RawMessage
	judge   map[string]json.RawMessage
}

func readRecording(dir string) (*recording, error) {
	r := &recording{capture: map[string]json.RawMessage{}, judge: map[string]json.RawMessage{}}
	for name, into := range map[string]map[string]json.RawMessage{"capture.jsonl": r.capture, "judge.jsonl": r.judge} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("cannot read the recorded replies: %w", err)
		}
		n := 0
		for line := range strings.Lines(string(data)) {
			n++
			var row struct {
				ID        string          `json:"id"`
				Candidate *int            `json:"candidate"`
				Reply     json.RawMessage `json:"reply"`
			}
			if strings.TrimSpace(line) == "" {
				continue
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				return nil, fmt.Errorf("cannot read line %d of %s: %w", n, name, err)
			}
			key := row.ID
			if row.Candidate != nil {
				key = fmt.Sprintf("%s/%d", row.ID, *row.Candidate)
			}
			into[key] = row.Reply
		}
	}
	return r, nil
}

// rowModel replays the replies recorded for one row.
type rowModel struct {
	rec *recording
	id  string
}

// Name says whose replies are replayed.
func (m rowModel) Name() string { return "replay" }

// Complete returns the reply recorded for the row, whatever is asked.
func (m rowModel) Complete(_ context.Context, r llm.Request) (llm.Reply, error) {
	raw, ok := m.rec.capture[m.id]
	if !ok {
		return llm.Reply{}, fmt.Errorf("no reply to the %s prompt is recorded for row %s", r.Purpose, m.id)
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = string(raw)
	}
	return llm.Reply{Text: text}, nil
}

// judge scores candidates by the recorded verdicts, which name a candidate by its
// place in the capture reply.
func (m rowModel) judge(_ context.Context, q capture.Question) error {
	var doc struct {
		Candidates []struct {
			Content string `json:"content"`
		} `json:"candidates"`
	}
	if err := json.Unmarshal(m.rec.capture[m.id], &doc); err != nil {
		return fmt.Errorf("cannot read the recorded candidates of row %s: %w", m.id, err)
	}
	for _, c := range q.Candidates {
		for i, d := range doc.Candidates {
			raw, ok := m.rec.judge[fmt.Sprintf("%s/%d", m.id, i)]
			if !ok || strings.Join(strings.Fields(d.Content), " ") != c.Memory.Content {
				continue
			}
			v, err := judge.ParseVerdict(raw)
			if err != nil {
				return err
			}
			v.Put(c, nil)
		}
	}
	return nil
}
