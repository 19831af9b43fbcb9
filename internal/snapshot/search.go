package snapshot

import (
	"math/bits"
	"slices"
)

// Search returns the k best documents by (L, newest, id) among those that accept
// lets through; a nil accept lets all through. It is exact: it returns what
// scoring every document would return. accept is asked only about documents that
// would otherwise be in the result.
func (s *Snapshot) Search(query []QueryTerm, k int, accept func(Ref) bool) []Candidate {
	return s.All().Search(query, k, accept)
}

// Search does the same within the view.
func (v View) Search(query []QueryTerm, k int, accept func(Ref) bool) []Candidate {
	if k <= 0 || len(query) == 0 {
		return nil
	}
	query = query[:min(len(query), MaxTerms)]
	best := &heap{k: k, snap: v.snap}
	for _, seg := range []*segment{v.snap.delta, v.snap.base} {
		var ranges []span
		for _, r := range v.ranges {
			if r.seg == seg {
				ranges = append(ranges, r)
			}
		}
		if len(ranges) > 0 {
			sc := scan{view: v, seg: seg, best: best, accept: accept}
			sc.open(query)
			sc.run(ranges)
		}
	}
	if v.snap.Err() != nil {
		return nil
	}
	return best.sorted()
}

// Score returns one document's L and matched terms for a query; L is 0 if none match.
func (s *Snapshot) Score(r Ref, query []QueryTerm) Candidate {
	seg, doc := s.at(r)
	sc := scan{view: s.All(), seg: seg}
	sc.open(query[:min(len(query), MaxTerms)])
	sum, matched := sc.exact(doc)
	return Candidate{Ref: r, L: nats(sum), Matched: matched}
}

// windowSize is how many documents are added up at once: small enough that the
// sums stay in the nearest cache, and that windows without a rare term are skipped.
const windowSize = 1024

// scan is one search of one segment. Windows of documents are visited by falling
// upper bound, until none can reach the k-th best. In a window the terms are split
// (MaxScore): documents that hold only weak terms cannot reach it either, so the
// lists of the weak terms are read only for documents found by the strong ones.
type scan struct {
	view   View
	seg    *segment
	best   *heap
	accept func(Ref) bool
	lists  []*queryList

	upper   [windowSize]uint32 // sum of weight × I1 over the strong terms
	lower   [windowSize]uint32 // sum of weight × I0
	matched [windowSize]uint32
	touched [windowSize / 64]uint64
}

// queryList is a query term that the segment knows.
type queryList struct {
	list
	bit    uint32
	weight uint32
	window block // for adding up
	probe  block // for looking one document up
	bound  uint32
}

func (s *scan) open(query []QueryTerm) {
	s.lists = make([]*queryList, 0, len(query))
	for i, q := range query {
		w := quantise(q.Weight)
		if w == 0 {
			continue
		}
		if l, ok := s.seg.find(q.Term); ok {
			ql := &queryList{list: l, bit: 1 << i, weight: w}
			ql.window.index, ql.probe.index = -1, -1
			s.lists = append(s.lists, ql)
		}
	}
}

// window is a range of documents and what its best document can reach at most.
type window struct{ from, to, bound uint32 }

func (s *scan) run(ranges []span) {
	if len(s.lists) == 0 {
		return
	}
	windows := s.windows(ranges)
	slices.SortFunc(windows, func(a, b window) int {
		if a.bound != b.bound {
			if a.bound > b.bound {
				return -1
			}
			return 1
		}
		return int(a.from) - int(b.from)
	})
	for _, w := range windows {
		if w.bound < s.best.floor() || s.seg.err != nil {
			return
		}
		s.add(w)
	}
}

// windows cuts the ranges and bounds each window by the highest impacts of the
// blocks that reach into it. Windows without any term are left out.
func (s *scan) windows(ranges []span) []window {
	var out []window
	for _, r := range ranges {
		first := len(out)
		for from := r.from; from < r.to; {
			to := min(from-from%windowSize+windowSize, r.to)
			out = append(out, window{from: from, to: to})
			from = to
		}
		for i := range s.lists {
			s.bound(s.lists[i], out[first:])
		}
	}
	return slices.DeleteFunc(out, func(w window) bool { return w.bound == 0 })
}

// bound adds the highest contribution of one list to each window.
func (s *scan) bound(l *queryList, windows []window) {
	b := l.seek(windows[0].from, 0)
	for i := range windows {
		w := &windows[i]
		for b < l.blocks && l.last(b) < w.from {
			b++
		}
		var top uint8
		for j := b; j < l.blocks; j++ {
			if j > b && l.last(j-1) >= w.to-1 {
				break
			}
			top = max(top, l.highest(j))
		}
		w.bound += uint32(top) * l.weight
	}
}

// add offers every document of a window that can still be among the best.
func (s *scan) add(w window) {
	floor := s.best.floor()
	weak := s.split(w, floor)
	for i := weak; i < len(s.lists); i++ {
		if s.lists[i].bound > 0 {
			s.addList(s.lists[i], w)
		}
	}
	var rest uint32
	for i := range weak {
		rest += s.lists[i].bound
	}
	for word, set := range s.touched {
		s.touched[word] = 0
		for ; set != 0; set &= set - 1 {
			slot := word<<6 + bits.TrailingZeros64(set)
			if s.upper[slot]+rest >= s.best.floor() {
				s.offer(w.from+uint32(slot), slot, weak, rest)
			}
			s.upper[slot], s.lower[slot], s.matched[slot] = 0, 0, 0
		}
	}
}

// split orders the lists by what they can add in this window, weakest first, and
// returns how many of them together stay below the floor.
func (s *scan) split(w window, floor uint32) int {
	one := []window{w}
	for i := range s.lists {
		one[0].bound = 0
		s.bound(s.lists[i], one)
		s.lists[i].bound = one[0].bound
	}
	// Insertion sort: the order hardly changes from one window to the next.
	for i := 1; i < len(s.lists); i++ {
		for j := i; j > 0 && s.lists[j].bound < s.lists[j-1].bound; j-- {
			s.lists[j], s.lists[j-1] = s.lists[j-1], s.lists[j]
		}
	}
	var sum uint32
	for i := range s.lists {
		if sum += s.lists[i].bound; sum >= floor {
			return i
		}
	}
	return len(s.lists)
}

func (s *scan) addList(l *queryList, w window) {
	b := &l.window
	for i := l.seek(w.from, 0); i < l.blocks; i++ {
		b.load(&l.list, i)
		j := 0
		if b.n > 0 && b.docs[0] < w.from {
			j = b.find(w.from)
		}
		for ; j < b.n && b.docs[j] < w.to; j++ {
			slot := (b.docs[j] - w.from) % windowSize
			s.upper[slot] += uint32(b.i1[j]) * l.weight
			s.lower[slot] += uint32(b.i0[j]) * l.weight
			s.matched[slot] |= l.bit
			s.touched[slot>>6] |= 1 << (slot & 63)
		}
		if j < b.n || b.n == 0 {
			return
		}
	}
}

// offer completes the sums of a document, strongest of the weak terms first, and
// gives up as soon as it cannot reach the floor.
func (s *scan) offer(doc uint32, slot, weak int, rest uint32) {
	upper, lower, matched := s.upper[slot], s.lower[slot], s.matched[slot]
	for i := weak - 1; i >= 0; i-- {
		l := s.lists[i]
		rest -= l.bound
		if l.bound == 0 {
			break
		}
		if j := l.locate(doc); j >= 0 {
			upper += uint32(l.probe.i1[j]) * l.weight
			lower += uint32(l.probe.i0[j]) * l.weight
			matched |= l.bit
		}
		if upper+rest < s.best.floor() {
			return
		}
	}
	if upper != lower {
		upper, matched = s.exact(doc)
	}
	if upper == 0 {
		return
	}
	ref, ok := s.view.ref(s.seg, doc)
	if !ok || !s.best.wants(ref, upper) || s.accept != nil && !s.accept(ref) {
		return
	}
	s.best.push(found{ref, upper, matched})
}

// exact is L of one document by definition, passage by passage.
func (s *scan) exact(doc uint32) (sum, matched uint32) {
	var passages uint64
	var at [MaxTerms]int
	for i := range s.lists {
		l := s.lists[i]
		at[i] = l.locate(doc)
		if at[i] < 0 {
			continue
		}
		sum += uint32(l.probe.i0[at[i]]) * l.weight
		passages |= l.probe.mask(at[i])
		matched |= l.bit
	}
	plain := sum
	for ; passages != 0; passages &= passages - 1 {
		one := plain
		bit := passages & -passages
		for i := range s.lists {
			l := s.lists[i]
			if at[i] >= 0 && l.probe.mask(at[i])&bit != 0 {
				one += uint32(l.probe.i1[at[i]]-l.probe.i0[at[i]]) * l.weight
			}
		}
		sum = max(sum, one)
	}
	return sum, matched
}

// locate returns the place of a document in the probe block, or -1.
func (l *queryList) locate(doc uint32) int {
	i := l.seek(doc, 0)
	if i >= l.blocks {
		return -1
	}
	l.probe.load(&l.list, i)
	if j := l.probe.find(doc); j < l.probe.n && l.probe.docs[j] == doc {
		return j
	}
	return -1
}

// found is a document with its sum, in units of 1/(weightScale × impactScale) nat.
type found struct {
	ref     Ref
	sum     uint32
	matched uint32
}

// heap keeps the k best, worst on top.
type heap struct {
	k    int
	snap *Snapshot
	list []found
}

// floor is the sum that a document must reach to be among the k best.
func (h *heap) floor() uint32 {
	if len(h.list) < h.k {
		return 1
	}
	return h.list[0].sum
}

func (h *heap) wants(r Ref, sum uint32) bool {
	return len(h.list) < h.k || h.better(found{ref: r, sum: sum}, h.list[0])
}

// better is the order of the result. Newest first among equals, then by id, so
// that it does not depend on which file a document stands in.
func (h *heap) better(a, b found) bool {
	if a.sum != b.sum {
		return a.sum > b.sum
	}
	sa, da := h.snap.at(a.ref)
	sb, db := h.snap.at(b.ref)
	if ua, ub := sa.updated(da), sb.updated(db); ua != ub {
		return ua > ub
	}
	return sa.id(da) < sb.id(db)
}

func (h *heap) push(f found) {
	if len(h.list) < h.k {
		h.list = append(h.list, f)
		for i := len(h.list) - 1; i > 0; {
			up := (i - 1) / 2
			if !h.better(h.list[up], h.list[i]) {
				return
			}
			h.list[up], h.list[i] = h.list[i], h.list[up]
			i = up
		}
		return
	}
	h.list[0] = f
	for i := 0; ; {
		worst := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h.list); c++ {
			if h.better(h.list[worst], h.list[c]) {
				worst = c
			}
		}
		if worst == i {
			return
		}
		h.list[i], h.list[worst] = h.list[worst], h.list[i]
		i = worst
	}
}

func (h *heap) sorted() []Candidate {
	slices.SortFunc(h.list, func(a, b found) int {
		if h.better(a, b) {
			return -1
		}
		return 1
	})
	out := make([]Candidate, len(h.list))
	for i, f := range h.list {
		out[i] = Candidate{Ref: f.ref, L: nats(f.sum), Matched: f.matched}
	}
	return out
}
