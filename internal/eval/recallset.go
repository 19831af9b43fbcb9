package eval

import (
	"errors"
	"os"
	"time"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// BuildSnapshot writes the memories as a snapshot into dir, as the sweep does.
func BuildSnapshot(dir string, memories []*stillso.Memory, o RecallOptions) error {
	l := recall.NewLearner()
	for _, s := range o.Forget {
		l.Forget(s)
	}
	for _, m := range memories {
		l.Memory(m)
	}
	for _, p := range o.Typed {
		l.Prompt("project/elsewhere", p.Text)
	}
	model := l.Model()
	w, err := snapshot.Lock(dir, time.Second)
	if err != nil {
		return err
	}
	defer w.Unlock() //nolint:errcheck // the file is written by then
	b, err := w.NewBase(snapshot.Options{Constants: model.Constants()})
	if err != nil {
		return err
	}
	for _, m := range memories {
		if err := b.Add(model.Index(m)); err != nil {
			b.Discard()
			return err
		}
	}
	for k, v := range model.Calibrated() {
		b.Set(k, v)
	}
	_, err = b.Commit()
	return err
}

// withSnapshot calls do with a snapshot of the memories.
func withSnapshot(memories []*stillso.Memory, o RecallOptions, do func(*snapshot.Snapshot) error) (err error) {
	dir, err := os.MkdirTemp(o.Temp, "stillso-eval-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := BuildSnapshot(dir, memories, o); err != nil {
		return err
	}
	snap, err := snapshot.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, snap.Err(), snap.Close()) }()
	return do(snap)
}

func recallSet(s *RecallSet, o RecallOptions) (*RecallFigures, []RecallAnswer, error) {
	f := &RecallFigures{Name: s.Name, Memories: len(s.Memories)}
	var answers []RecallAnswer
	err := withSnapshot(s.Memories, o, func(snap *snapshot.Snapshot) error {
		ask := func(prompt, previous string) recall.Outcome {
			q := recall.Query{
				Prompt: prompt, PreviousTurn: previous, Namespaces: []stillso.Namespace{EvalNamespace, stillso.UserNamespace},
				Host: "eval", Now: o.Now, Hints: true, Explain: true,
			}
			if o.Clock == nil {
				return recall.Recall(snap, q)
			}
			begin := o.Clock()
			out := recall.Recall(snap, q)
			f.micros = append(f.micros, o.Clock().Sub(begin).Microseconds())
			return out
		}
		for i := range s.Queries {
			q := &s.Queries[i]
			out := ask(q.Prompt, q.Previous)
			f.count(q, &out)
			a := RecallAnswer{ID: q.ID, Notes: []string{}}
			for _, h := range out.Hits {
				a.Notes = append(a.Notes, h.Doc.ID)
			}
			answers = append(answers, a)
		}
		for _, p := range o.Foreign {
			switch out := ask(p.Text, ""); p.Expect {
			case "may_recall":
				f.Foreign.add(len(out.Hits) > 0)
			case "nothing":
				f.Nothing.add(len(out.Hits) > 0)
			}
		}
		return nil
	})
	return f, answers, err
}

// count adds the answer to one labelled prompt.
func (f *RecallFigures) count(q *RecallQuery, o *recall.Outcome) {
	if q.silent() {
		f.Silent.add(len(o.Hits) == 0)
		f.HintedNothing.add(len(o.Hints) > 0)
		return
	}
	shown := rank(q, o.Hits)
	f.Top1.add(shown <= 1)
	f.Top2.add(shown <= 2)
	f.Top5.add(shown <= 5)
	f.Misled.add(len(o.Hits) > 0 && shown > 5)
	for _, h := range o.Hits {
		f.Injected.add(q.right(h.Doc.ID))
	}
	f.Hinted.add(shown <= 2 || rank(q, o.Hints) <= 2)
	found := rank(q, o.Weighed)
	f.Found1.add(found <= 1)
	f.Found2.add(found <= 2)
	f.Found5.add(found <= 5)
	if found < none {
		f.ranks += 1 / float64(found)
	}
}

const none = 1 << 20

// rank is the place of the first right memory, from 1; none if there is none.
func rank(q *RecallQuery, hits []recall.Hit) int {
	for i, h := range hits {
		if q.right(h.Doc.ID) {
			return i + 1
		}
	}
	return none
}
