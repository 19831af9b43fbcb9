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
//
// How often the store has a term can only lower what it tells, and looking that up
// costs reading the index. So the terms are taken in the order of what they could tell
// at most, and the rest is left alone once none of it can be among the best.
func (f *Formula) Ask(cleaned string, bg Background, st Stats) []Asked {
	type open struct {
		Asked
		share float64 // of the background
		known bool
	}
	type most struct {
		info  float64 // what the term tells if the store does not have it
		place int
	}
	list := terms.Analyze(cleaned)
	other := otherLanguage(list)
	all := make([]open, 0, min(len(list), 128))
	order := make([]most, 0, min(len(list), 128))
	seen := make(map[string]bool, min(len(list), 128))
	for _, t := range list {
		if terms.Stop(t) || smallNumber(t) || seen[t.Text] {
			continue
		}
		seen[t.Text] = true
		o := open{Asked: Asked{Term: t.Text, Kind: t.Kind, Weight: f.weight(t.Kind)}}
		o.share, o.known = f.share(t.Text, bg)
		order = append(order, most{f.info(o.Asked, f.mix(o.share, 0)), len(all)})
		all = append(all, o)
	}
	before := func(a, b most) bool { return a.info > b.info || a.info == b.info && a.place < b.place }
	slices.SortFunc(order, func(a, b most) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
	if p, ok := st.(prefetcher); ok {
		for _, m := range order[:min(len(order), 2*f.MaxTerms)] {
			p.Prefetch(all[m.place].Term)
		}
	}
	best := make([]most, 0, f.MaxTerms+1)
	for _, m := range order {
		if len(best) == f.MaxTerms && !before(m, best[len(best)-1]) {
			break
		}
		o := &all[m.place]
		df := st.Frequency(o.Term)
		m.info = f.info(o.Asked, f.mix(o.share, float64(df)/float64(st.Docs()+1)))
		if df == 0 {
			switch {
			case o.Kind == terms.Pair && !o.known:
				m.info *= f.StrangePair
			case other || terms.ScriptOf(o.Term) == terms.Cyrillic:
				m.info = min(m.info, f.info(o.Asked, f.OtherWord))
			}
		}
		o.Info = m.info
		at := len(best)
		for at > 0 && before(m, best[at-1]) {
			at--
		}
		best = slices.Insert(best, at, m)[:min(len(best)+1, f.MaxTerms)]
	}
	asked := make([]Asked, len(best))
	for i, m := range best {
		asked[i] = all[m.place].Asked
	}
	return asked
}

// prefetcher is an index that may still be on disk.
type prefetcher interface{ Prefetch(term string) }

// info is how much a term of this background probability tells.
func (f *Formula) info(a Asked, pb float64) float64 {
	return a.Weight * math.Log1p(f.Lambda*f.Attainable/pb)
}

// otherLanguage reports whether a prompt is in a language other than English that
// uses the same letters: it has two or more of its common words, or they make a
// fifth of it.
func otherLanguage(list []terms.Term) bool {
	n, words := 0, 0
	for _, t := range list {
		if t.Kind != terms.Word || terms.ScriptOf(t.Text) != terms.Latin {
			continue
		}
		words++
		if terms.Elsewhere(t) {
			n++
		}
	}
	return n >= 2 || n*5 >= words && n > 0
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
	strength = c.L * math.Pow(coverage, f.Coverage) * math.Pow(n/f.CountUnit, f.Count) * math.Exp(-f.Hub*(generality-1))
	if coverage < f.Thin {
		strength *= math.Sqrt(coverage / f.Thin)
	}
	return strength, coverage
}
