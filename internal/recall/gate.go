package recall

import (
	"fmt"
	"math"
	"strings"

	"stillso"
	"stillso/internal/snapshot"
)

// maxHints is how many names a hint has at most.
const maxHints = 2

// decide lets through what is strong enough. What was shown before in the session
// keeps its place: the next one does not become a first hit by it.
func (r *run) decide() {
	o, f := &r.out, &r.model.Formula
	limit := r.q.Limit
	if limit == 0 {
		limit = MaxHits
	}
	passed := 0
	for i := range o.Weighed {
		h := &o.Weighed[i]
		switch {
		case h.Strength < h.Threshold:
			h.Why = fmt.Sprintf("too weak: strength %.1f, needed %.1f", h.Strength, h.Threshold)
			continue
		case i > 0 && h.Strength < f.Second*o.Weighed[0].Strength, passed >= 2 && h.Strength < f.Further*o.Weighed[0].Strength:
			h.Why = "much weaker than the first"
			continue
		case passed >= limit:
			h.Why = fmt.Sprintf("more than %d", limit)
			continue
		case r.q.Skip != nil && r.q.Skip(h.Doc.ID):
			h.Why = "already shown in this session"
		default:
			o.Hits = append(o.Hits, *h)
		}
		passed++
	}
	if passed == 0 && r.q.Hints {
		r.hint()
	}
}

// hint names memories that are nearly strong enough, where the name is telling:
// only one that has words of its own can be judged by the model that reads it.
func (r *run) hint() {
	o, f := &r.out, &r.model.Formula
	for i := range o.Weighed[:min(len(o.Weighed), maxHints)] {
		h := &o.Weighed[i]
		share := f.Hint
		if h.Doc.Flags&snapshot.HasAliases != 0 {
			share = f.HintAliased
		}
		if h.Strength < share*h.Threshold || !telling(h.Doc.Name) || r.q.Skip != nil && r.q.Skip(h.Doc.ID) {
			continue
		}
		h.Why = "hinted at: " + h.Why
		o.Hints = append(o.Hints, *h)
	}
}

// telling reports whether a name has at least two words.
func telling(name string) bool {
	return len(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' })) >= 2 || countWords(name) >= 4
}

// receipt writes down what was weighed, and why nothing is shown if so.
func (r *run) receipt() {
	o, rc := &r.out, &r.out.Receipt
	rc.Terms = make([]string, 0, len(o.Asked))
	for _, a := range o.Asked {
		if r.snap.Frequency(a.Term) > 0 {
			rc.Terms = append(rc.Terms, a.Term)
		}
	}
	rc.Hits = make([]stillso.ReceiptHit, 0, min(len(o.Weighed), receiptHits))
	for _, h := range o.Weighed[:min(len(o.Weighed), receiptHits)] {
		rc.Hits = append(rc.Hits, stillso.ReceiptHit{
			ID: h.Doc.ID, Score: round(h.score()), Strength: round(h.Strength), Shown: h.Why == "", Why: h.Why,
		})
	}
	if len(o.Weighed) > 0 {
		rc.Threshold = round(o.Weighed[0].Threshold)
	}
	switch {
	case len(o.Hits) > 0:
	case len(o.Weighed) == 0 && len(o.Asked) == 0:
		rc.Silence = "the prompt has no word with a topic"
	case len(o.Weighed) == 0:
		rc.Silence = "no memory shares a word with the prompt"
	default:
		h := &o.Weighed[0]
		rc.Silence = fmt.Sprintf("the best memory is %s; it covers %.0f %% of what the prompt says", h.Why, 100*h.Coverage)
	}
}

func round(x float64) float64 { return math.Round(x*100) / 100 }

// triggered puts memories first that define the prompt as a signal of their own:
// "通过" = merge and push. Such a prompt says nothing else.
func (r *run) triggered(found []snapshot.Candidate) {
	n := r.view.Len()
	var first []Hit
	for _, c := range found {
		head := r.snap.Head(c.Ref)
		h := Hit{Doc: r.snap.Doc(c.Ref), Coverage: 1, Factor: factor(head, r.q.Now), Matched: []string{"the whole prompt"}}
		h.Threshold = r.model.Formula.Threshold(n, wordingOf(head.Flags&snapshot.HasAliases != 0, head.Flags&snapshot.HasBody != 0))
		h.Evidence = max(c.L, h.Threshold)
		h.Strength = h.Evidence
		first = append(first, h)
	}
	for _, h := range r.out.Weighed {
		known := false
		for _, t := range first {
			known = known || t.Doc.ID == h.Doc.ID
		}
		if !known {
			first = append(first, h)
		}
	}
	r.out.Weighed = first
}
