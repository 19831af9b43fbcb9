package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// Bars are what a threshold has to keep, in percent of the prompts.
type Bars struct {
	// Foreign and Nothing may be injected at most; Silent must stay silent at least.
	Foreign, Nothing, Silent float64
}

// DefaultBars are those the shipped thresholds are held to.
func DefaultBars() Bars { return Bars{Foreign: 2, Nothing: 1, Silent: 97} }

// LeftOut is what one store came to with a threshold that never saw it.
type LeftOut struct {
	Name string `json:"name"`
	// Scale is the factor on the shipped thresholds that the other stores, with
	// one half of the persons, ask for: one for each half.
	Scale   [2]float64 `json:"scale"`
	Top2    Share      `json:"top2"`
	Silent  Share      `json:"silent"`
	Foreign Share      `json:"foreign"`
	Nothing Share      `json:"nothing"`
}

// askedPrompt is one prompt with what it would get at any threshold.
type askedPrompt struct {
	kind string // right, silent, foreign, nothing
	half int
	// ratios are strength over threshold of the first two, right whether they answer.
	ratios [2]float64
	right  [2]bool
}

// passes counts what a scale lets through.
func (a *askedPrompt) passes(scale, second float64) bool {
	for i, r := range a.ratios {
		if r >= scale && (i == 0 || a.ratios[0] < scale || r >= second*a.ratios[0]) && (a.kind != "right" || a.right[i]) {
			return true
		}
	}
	return false
}

// LeaveOneOut measures the gate as it would do on a store it has not seen: for
// each store the smallest threshold is taken that keeps the bars on all the
// others, with the prompts of one half of the persons; the store is measured with
// it, and with the prompts of the other half. Every prompt of a store counts twice,
// once for each half.
func LeaveOneOut(ctx context.Context, sets []RecallSet, o RecallOptions, bars Bars) ([]LeftOut, LeftOut, error) {
	rows := make([][]askedPrompt, len(sets))
	for i := range sets {
		if err := ctx.Err(); err != nil {
			return nil, LeftOut{}, err
		}
		var err error
		if rows[i], err = askAll(&sets[i], o); err != nil {
			return nil, LeftOut{}, fmt.Errorf("%s: %w", sets[i].Name, err)
		}
	}
	second := recall.Default().Second
	total := LeftOut{Name: "all"}
	var out []LeftOut
	for i := range sets {
		l := LeftOut{Name: sets[i].Name}
		for half := range 2 {
			var others []askedPrompt
			for j := range rows {
				if j != i {
					others = append(others, only(rows[j], half)...)
				}
			}
			l.Scale[half] = smallestScale(others, second, bars)
			l.measure(only(rows[i], 1-half), l.Scale[half], second)
		}
		for _, p := range [...][2]*Share{{&total.Top2, &l.Top2}, {&total.Silent, &l.Silent}, {&total.Foreign, &l.Foreign}, {&total.Nothing, &l.Nothing}} {
			p[0].Hit += p[1].Hit
			p[0].Of += p[1].Of
		}
		out = append(out, l)
	}
	return out, total, nil
}

// only returns the store's own prompts and the foreign ones of one half.
func only(rows []askedPrompt, half int) []askedPrompt {
	var out []askedPrompt
	for _, a := range rows {
		if a.kind == "right" || a.kind == "silent" || a.half == half {
			out = append(out, a)
		}
	}
	return out
}

func (l *LeftOut) measure(rows []askedPrompt, scale, second float64) {
	for i := range rows {
		a := &rows[i]
		passed := a.passes(scale, second)
		switch a.kind {
		case "right":
			l.Top2.add(passed)
		case "silent":
			l.Silent.add(!passed)
		case "foreign":
			l.Foreign.add(passed)
		case "nothing":
			l.Nothing.add(passed)
		}
	}
}

// smallestScale steps down from the strictest scale while the bars hold.
func smallestScale(rows []askedPrompt, second float64, bars Bars) float64 {
	var steps []float64
	for i := range rows {
		if rows[i].kind != "right" {
			steps = append(steps, rows[i].ratios[0])
		}
	}
	slices.SortFunc(steps, func(a, b float64) int { return cmp.Compare(b, a) })
	best := 1e9
	for _, s := range steps {
		s += 1e-9 // just above a prompt that must stay silent
		var l LeftOut
		l.measure(rows, s, second)
		if l.Foreign.Percent() > bars.Foreign || l.Nothing.Percent() > bars.Nothing || l.Silent.Percent() < bars.Silent {
			return best
		}
		best = s
	}
	return best
}

// askAll asks a set everything once.
func askAll(s *RecallSet, o RecallOptions) ([]askedPrompt, error) {
	var out []askedPrompt
	err := withSnapshot(s.Memories, o, func(snap *snapshot.Snapshot) error {
		add := func(kind, prompt string, half int, right func(string) bool) {
			r := recall.Recall(snap, recall.Query{
				Prompt: prompt, Namespaces: []stillso.Namespace{EvalNamespace, stillso.UserNamespace}, Host: "eval", Now: o.Now, Explain: true,
			})
			a := askedPrompt{kind: kind, half: half}
			for i, h := range r.Weighed[:min(2, len(r.Weighed))] {
				a.ratios[i], a.right[i] = h.Strength/h.Threshold, right != nil && right(h.Doc.ID)
			}
			out = append(out, a)
		}
		for i := range s.Queries {
			q := &s.Queries[i]
			kind := "right"
			if q.silent() {
				kind = "silent"
			}
			add(kind, q.Prompt, 0, q.right)
		}
		for _, p := range o.Foreign {
			switch p.Expect {
			case "may_recall":
				add("foreign", p.Text, personHalf(p.Person), nil)
			case "nothing":
				add("nothing", p.Text, personHalf(p.Person), nil)
			}
		}
		return nil
	})
	return out, err
}

// personHalf puts persons into two halves by their name.
func personHalf(person string) int {
	n := 0
	for _, r := range person {
		n += int(r)
	}
	return n % 2
}
