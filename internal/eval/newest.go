package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// NewestFigures say how often a new statement outranks the one that it updates.
type NewestFigures struct {
	Questions int `json:"questions"`
	// New counts the questions for which the updated statement comes first, Tidied
	// those of them whose old statement was superseded.
	New    int `json:"new_first"`
	Tidied int `json:"tidied"`
	// Left out are questions whose two statements are one message.
	LeftOut int             `json:"left_out"`
	Details []NewestOutcome `json:"details"`
}

// NewestOutcome is one question.
type NewestOutcome struct {
	Question string `json:"question"`
	NewFirst bool   `json:"new_first"`
	Tidied   bool   `json:"tidied"`
	Old      string `json:"old"`
	New      string `json:"new"`
}

// Newest loads, for each knowledge-update question of BEAM (arXiv 2510.27246), the
// statement with the original value and the one with the updated value as memories,
// tidies them without a model, and asks the question. The statements are those that
// the set's authors reduced the conversation to, without their labels; with raw,
// the whole messages are loaded, questions and all.
func Newest(ctx context.Context, dir string, raw bool, now time.Time) (*NewestFigures, error) {
	list, err := filepath.Glob(filepath.Join(dir, "*.messages.jsonl"))
	if err != nil || len(list) == 0 {
		return nil, fmt.Errorf("no *.messages.jsonl in %s", dir)
	}
	f := &NewestFigures{}
	for _, file := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.conversation(ctx, file, raw, now); err != nil {
			return nil, err
		}
	}
	return f, nil
}

type newestQuestion struct {
	Question string          `json:"question"`
	Sources  json.RawMessage `json:"source_chat_ids"`
	Said     []string        `json:"conversation_references"`
	old, new int
	ids      [2]string // of the old and the new memory
}

func (f *NewestFigures) conversation(ctx context.Context, file string, raw bool, now time.Time) error {
	messages, err := readLines[benchMessage](file)
	if err != nil {
		return err
	}
	doc, err := readJSON[struct {
		Kinds struct {
			Updates []newestQuestion `json:"knowledge_update"`
		} `json:"probing_questions"`
	}](strings.TrimSuffix(file, ".messages.jsonl") + ".questions.json")
	if err != nil {
		return err
	}
	w := &world{}
	questions := doc.Kinds.Updates
	for i := range questions {
		q := &questions[i]
		var s struct {
			Old []int `json:"original_info"`
			New []int `json:"updated_info"`
		}
		if json.Unmarshal(q.Sources, &s) != nil || len(s.Old) == 0 || len(s.New) == 0 || len(q.Said) < 2 {
			return fmt.Errorf("%s: a question without both statements", file)
		}
		q.old, q.new = s.Old[0], s.New[0]
	}
	// Told in their order, an hour apart.
	for i, m := range messages {
		w.now = now.Add(-time.Duration(len(messages)-i) * time.Hour)
		for k := range questions {
			q := &questions[k]
			told := [2]string{unlabelled(q.Said[0]), unlabelled(q.Said[len(q.Said)-1])}
			if raw {
				told = [2]string{statement(m.Content), statement(m.Content)}
			}
			if m.ID == q.old {
				q.ids[0] = w.add(told[0], stillso.FromUser, stillso.Fact).ID
			}
			if m.ID == q.new {
				w.now = w.now.Add(time.Minute)
				q.ids[1] = w.add(told[1], stillso.FromUser, stillso.Fact).ID
			}
		}
	}
	w.now = now
	if err := w.tidy(ctx); err != nil {
		return err
	}
	return withSnapshot(w.all, RecallOptions{Now: now}, func(snap *snapshot.Snapshot) error {
		for _, q := range questions {
			f.ask(snap, w, q, q.ids[0], q.ids[1], now)
		}
		return nil
	})
}

func (f *NewestFigures) ask(snap *snapshot.Snapshot, w *world, q newestQuestion, old, updated string, now time.Time) {
	if old == updated {
		f.LeftOut++
		return
	}
	o := recall.Recall(snap, recall.Query{Prompt: q.Question, Namespaces: []stillso.Namespace{EvalNamespace}, Host: "eval", Now: now, Explain: true})
	at := func(id string) int {
		return slices.IndexFunc(o.Weighed, func(h recall.Hit) bool { return h.Doc.ID == id })
	}
	out := NewestOutcome{Question: q.Question}
	out.NewFirst = at(updated) >= 0 && (at(old) < 0 || at(updated) < at(old))
	for _, m := range w.all {
		switch m.ID {
		case old:
			out.Old, out.Tidied = m.Content, m.State == stillso.Superseded
		case updated:
			out.New = m.Content
		}
	}
	f.Questions++
	if out.NewFirst {
		f.New++
	}
	if out.Tidied {
		f.Tidied++
	}
	f.Details = append(f.Details, out)
}

// unlabelled is a statement without the topic and kind that the set puts before it.
func unlabelled(s string) string {
	s = strings.TrimPrefix(s, "Information Update:")
	if head, rest, ok := strings.Cut(s, "Labels:"); ok && len(head) < 60 {
		if _, rest, ok = strings.Cut(rest, ":"); ok {
			s = rest
		}
	}
	return strings.TrimSpace(s)
}

// statement is what a message states: its prose, cut like a memory.
func statement(content string) string {
	content, _, _ = strings.Cut(content, "->->")
	content, _, _ = strings.Cut(content, "```")
	content = strings.Join(strings.Fields(content), " ")
	if r := []rune(content); len(r) > 600 {
		content = string(r[:600])
	}
	return content
}
