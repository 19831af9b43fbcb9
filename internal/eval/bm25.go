package eval

import (
	"cmp"
	"math"
	"slices"

	"stillso/internal/terms"
)

// bm25 ranks long untitled texts: messages, passages, code. For such texts it is
// better than the likelihood ratio of recall, which lives on titles and aliases.
type bm25 struct {
	k1, b  float64
	code   bool // grammar counts: "from string to int"
	lists  map[string][]counted
	length []float64
	total  float64
}

func newBM25(k1, b float64) *bm25 { return &bm25{k1: k1, b: b, lists: map[string][]counted{}} }

// counted is a document and how often it has a term, by the weight of its fields.
type counted struct {
	doc int
	tf  float64
}

// field is a part of a document and the weight of its words.
type field struct {
	text   string
	weight float64
}

// kindWeight is what a term counts by its kind: characters and pairs of a script
// without spaces say the same thing twice.
func kindWeight(k terms.Kind) float64 {
	switch k {
	case terms.Char:
		return .5
	case terms.Pair:
		return 1
	case terms.Whole:
		return .8
	}
	return 1
}

func (x *bm25) add(fields ...field) {
	tf := map[string]float64{}
	n := 0.0
	for _, f := range fields {
		for _, t := range x.analyze(f.text) {
			if !x.skips(t) {
				tf[t.Text] += f.weight
				n += f.weight
			}
		}
	}
	for t, f := range tf {
		x.lists[t] = append(x.lists[t], counted{len(x.length), f})
	}
	x.length = append(x.length, n)
	x.total += n
}

func (x *bm25) analyze(text string) []terms.Term {
	if x.code {
		return terms.Full(text)
	}
	return terms.Analyze(text)
}

// skips leaves out stop words; code is asked for in words of chat as well.
func (x *bm25) skips(t terms.Term) bool {
	return terms.Stop(t) && (!x.code || t.Kind == terms.Char || t.Kind == terms.Pair)
}

// scores returns the score of every document.
func (x *bm25) scores(query string) []float64 {
	out := make([]float64, len(x.length))
	avg := x.total / float64(max(1, len(x.length)))
	seen := map[string]bool{}
	for _, t := range x.analyze(query) {
		list := x.lists[t.Text]
		if x.skips(t) || len(list) == 0 || seen[t.Text] {
			continue
		}
		seen[t.Text] = true
		n, df := float64(len(x.length)), float64(len(list))
		w := kindWeight(t.Kind) * math.Log1p((n-df+.5)/(df+.5)) * (x.k1 + 1)
		for _, c := range list {
			out[c.doc] += w * c.tf / (c.tf + x.k1*(1-x.b+x.b*x.length[c.doc]/avg))
		}
	}
	return out
}

// best returns the k documents with the highest scores above 0, best first.
func best(scores []float64, k int) []int {
	order := make([]int, 0, len(scores))
	for i, s := range scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	return order[:min(k, len(order))]
}
