package recall

import (
	"math"
	"math/bits"
	"slices"

	"stillso/internal/snapshot"
	"stillso/internal/terms"
)

// Asked is one term of a cleaned prompt.
type Asked struct {
	Term   string
	Kind   terms.Kind
	Weight float64
	// Info is how much the term tells: the evidence that a memory could have for it.
	Info float64
}

// Ask returns the terms to search for, the most telling first.
func (f *Formula) Ask(cleaned string, bg Background, st Stats) []Asked {
	list := terms.Analyze(cleaned)
	asked := make([]Asked, 0, min(len(list), 256))
	for _, t := range list {
		if terms.Stop(t) || smallNumber(t) || slices.ContainsFunc(asked, func(a Asked) bool { return a.Term == t.Text }) {
			continue
		}
		w := f.weight(t.Kind)
		pb, known := f.probability(t.Text, bg, st)
		info := w * math.Log1p(f.Lambda*f.Attainable/pb)
		if t.Kind == terms.Pair && !known {
			info *= f.StrangePair
		}
		asked = append(asked, Asked{Term: t.Text, Kind: t.Kind, Weight: w, Info: info})
	}
	slices.SortStableFunc(asked, func(a, b Asked) int {
		switch {
		case a.Info > b.Info:
			return -1
		case a.Info < b.Info:
			return 1
		}
		return 0
	})
	return asked[:min(len(asked), f.MaxTerms)]
}

// smallNumber reports whether t is a number of one or two digits: it counts
// something and names nothing.
func smallNumber(t terms.Term) bool {
	if t.Kind != terms.Word || len(t.Text) > 2 {
		return false
	}
	for i := range len(t.Text) {
		if t.Text[i] < '0' || t.Text[i] > '9' {
			return false
		}
	}
	return true
}

func query(asked []Asked) []snapshot.QueryTerm {
	out := make([]snapshot.QueryTerm, len(asked))
	for i, a := range asked {
		out[i] = snapshot.QueryTerm{Term: a.Term, Weight: float32(a.Weight)}
	}
	return out
}

// Strength is what the gate compares: the evidence, times the root of the share of
// the prompt's information that the memory covers, times what the number of
// matched terms and the memory's generality make of it.
func (f *Formula) Strength(asked []Asked, c snapshot.Candidate, generality float64) (strength, coverage float64) {
	var all, matched float64
	for i, a := range asked {
		all += a.Info
		if c.Matched&(1<<i) != 0 {
			matched += a.Info
		}
	}
	if all == 0 {
		return 0, 0
	}
	coverage = matched / all
	n := float64(bits.OnesCount32(c.Matched))
	return c.L * math.Pow(coverage, f.Coverage) * math.Pow(n/f.CountUnit, f.Count) * math.Exp(-f.Hub*(generality-1)), coverage
}
