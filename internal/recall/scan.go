package recall

import (
	"cmp"
	"slices"

	"stillso"
	"stillso/internal/snapshot"
)

// Scan is the slow, plain form of the index: all postings in memory, every
// memory scored by definition. It is what the snapshot is checked against, and
// what formulas are tried on.
type Scan struct {
	memories []*stillso.Memory
	postings map[string][]scanPosting
}

type scanPosting struct {
	doc    int
	i0, i1 float64
	mask   uint64
}

// frequencies are Stats counted over memories.
type frequencies struct {
	docs int
	df   map[string]int
}

func (s *frequencies) Docs() int                 { return s.docs }
func (s *frequencies) Frequency(term string) int { return s.df[term] }

// Count returns the frequencies of memories.
func Count(memories []*stillso.Memory) Stats {
	s := &frequencies{docs: len(memories), df: map[string]int{}}
	for _, m := range memories {
		for _, t := range Terms(m) {
			s.df[t]++
		}
	}
	return s
}

// NewScan indexes memories.
func NewScan(f *Formula, memories []*stillso.Memory, bg Background, st Stats) *Scan {
	s := &Scan{memories: memories, postings: map[string][]scanPosting{}}
	for i, m := range memories {
		for _, p := range f.Postings(m, bg, st) {
			s.postings[p.Term] = append(s.postings[p.Term], scanPosting{i, float64(p.I0) / 16, float64(p.I1) / 16, p.Mask})
		}
	}
	return s
}

// Search scores every memory that has one of the terms.
func (s *Scan) Search(q []snapshot.QueryTerm, k int) []snapshot.Candidate {
	type hit struct {
		bit  uint32
		w    float64
		post scanPosting
	}
	docs := map[int][]hit{}
	for i, t := range q {
		for _, p := range s.postings[t.Term] {
			docs[p.doc] = append(docs[p.doc], hit{1 << i, float64(t.Weight), p})
		}
	}
	out := make([]snapshot.Candidate, 0, len(docs))
	for d, hits := range docs {
		c := snapshot.Candidate{Ref: snapshot.Ref(d)}
		var passages uint64
		for _, h := range hits {
			c.L += h.w * h.post.i0
			c.Matched |= h.bit
			passages |= h.post.mask
		}
		plain := c.L
		for ; passages != 0; passages &= passages - 1 {
			one := plain
			for _, h := range hits {
				if h.post.mask&(passages&-passages) != 0 {
					one += h.w * (h.post.i1 - h.post.i0)
				}
			}
			c.L = max(c.L, one)
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b snapshot.Candidate) int {
		if a.L != b.L {
			return cmp.Compare(b.L, a.L)
		}
		return cmp.Compare(a.Ref, b.Ref)
	})
	return out[:min(k, len(out))]
}
