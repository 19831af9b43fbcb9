package tidy

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/guard"
)

// The bounds that keep the number of pairs a small multiple of the number of
// memories.
const (
	partners = 6    // pairs of one memory
	maxBody  = 4000 // bytes of a body that are looked at
	maxList  = 200  // memories with a term, from which on it says nothing about a pair
	minList  = 40   // in a small store every term is rare
)

// pair is two memories that may have to do with each other; b is the older.
type pair struct {
	a, b  *profile
	score float64
}

// Pair names a pair as it stands now, for Job.Judged: when one of them changes it
// is another.
func Pair(a, b *stillso.Memory) string {
	if a.ID > b.ID {
		a, b = b, a
	}
	return hash(a.ID, a.Content, b.ID, b.Content)
}

// pairs blocks the memories by shared rare terms and files, strongest pairs first.
// Never are all pairs looked at.
func (p *pass) pairs() []pair {
	lists := map[string][]int32{}
	terms := make([][]string, len(p.live))
	for i, x := range p.live {
		if !x.alive() {
			continue
		}
		for t := range x.topics {
			terms[i] = append(terms[i], t)
		}
		for v := range x.values {
			terms[i] = append(terms[i], "#"+v)
		}
		for _, f := range x.m.RelatedFiles {
			terms[i] = append(terms[i], "/"+f)
		}
		if x.m.Body != "" { // long notes meet in what stands far down, or name each other
			body, _ := telling(clip(x.m.Body, maxBody))
			for _, t := range body {
				if !x.topics[t] && !guard.Technology(t) {
					terms[i] = append(terms[i], t)
				}
			}
		}
		slices.Sort(terms[i])
		for _, t := range terms[i] {
			lists[t] = append(lists[t], int32(i)) // #nosec G115 -- there are never so many memories
		}
	}
	most := min(max(minList, len(p.live)/20), maxList)
	shared := make([]int, len(p.live))
	score := make([]float64, len(p.live))
	var out []pair
	var touched []int32
	for i, x := range p.live {
		for _, t := range terms[i] {
			list := lists[t]
			if len(list) < 2 || len(list) > most {
				continue
			}
			w := math.Log(1 + float64(len(p.live))/float64(len(list)))
			for _, j := range list {
				if int(j) >= i {
					break // each pair once, from its newer memory
				}
				if shared[j] == 0 {
					touched = append(touched, j)
				}
				shared[j]++
				score[j] += w
			}
		}
		out = append(out, p.best(x, touched, shared, score)...)
		for _, j := range touched {
			shared[j], score[j] = 0, 0
		}
		touched = touched[:0]
	}
	slices.SortStableFunc(out, func(a, b pair) int { return cmp.Compare(b.score, a.score) })
	return out
}

// best are the strongest partners of x among those that share terms with it.
func (p *pass) best(x *profile, touched []int32, shared []int, score []float64) []pair {
	var out []pair
	for _, j := range touched {
		y := p.live[j]
		if shared[j] < 2 || !together(x.m.Namespace, y.m.Namespace) || x.m.Origin == stillso.FromFile && y.m.Origin == stillso.FromFile {
			continue
		}
		small := min(len(x.topics), len(y.topics))
		strength := score[j] / math.Sqrt(float64(max(small, 1)))
		if links(x.m, y.m) || links(y.m, x.m) {
			strength += linked
		}
		out = append(out, pair{x, y, strength})
	}
	slices.SortStableFunc(out, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.b.m.ID, b.b.m.ID))
	})
	return out[:min(partners, len(out))]
}

// linked is what a link between two notes adds: more than any shared words.
const linked = 100

// links reports whether a names b in the way in which notes link each other.
func links(a, b *stillso.Memory) bool {
	return len(b.Name) >= 4 && (strings.Contains(a.Body, "[["+b.Name+"]]") || strings.Contains(a.Content, "[["+b.Name+"]]"))
}

// together reports whether memories of both namespaces can meet in one prompt.
func together(a, b stillso.Namespace) bool {
	return a == b || a == stillso.UserNamespace || b == stillso.UserNamespace
}
