package snapshot

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Search returns the k best documents by (L, newest, id) among those that accept
// lets through; a nil accept lets all through. It is exact: it returns what
// scoring every document would return. accept is asked about few documents only, in
// no certain order.
func (s *Snapshot) Search(query []QueryTerm, k int, accept func(Ref) bool) []Candidate {
	return s.All().Search(query, k, accept)
}

// Search does the same within the view.
func (v View) Search(query []QueryTerm, k int, accept func(Ref) bool) []Candidate {
	if k <= 0 || len(query) == 0 {
		return nil
	}
	query = query[:min(len(query), MaxTerms)]
	if accept == nil {
		return v.search(query, k, nil).sorted()
	}
	// Asking about a document costs reading it, and until the best are known many are
	// among them for a while. So the best are looked for first, a few more than asked
	// for, and asked about afterwards; only if too many are refused, it is done again
	// the other way round.
	const spare = 4
	found := v.search(query, k+spare, nil).sorted()
	for _, c := range found {
		seg, doc := v.snap.at(c.Ref)
		seg.soon(seg.h.table, uint64(doc/docGroup)*docStride, docStride)
	}
	all := len(found) < k+spare
	kept := found[:0]
	for _, c := range found {
		if len(kept) == k {
			return kept
		}
		if seg, doc := v.snap.at(c.Ref); seg.file.cold {
			if e := seg.entryOf(doc); e != nil {
				seg.soon(seg.h.records, binary.LittleEndian.Uint64(e)&maxRecord, 512)
			}
		}
		if accept(c.Ref) {
			kept = append(kept, c)
		}
	}
	if all || len(kept) == k {
		return kept
	}
	return v.search(query, k, accept).sorted()
}

func (v View) search(query []QueryTerm, k int, accept func(Ref) bool) *heap {
	best := &heap{k: k, snap: v.snap, list: make([]found, 0, min(k, 64))}
	for _, seg := range []*segment{v.snap.delta, v.snap.base} {
		var ranges []span
		for _, r := range v.ranges {
			if r.seg == seg {
				ranges = append(ranges, r)
			}
		}
		if len(ranges) > 0 {
			sc := scan{view: v, seg: seg, best: best, accept: accept}
			sc.lists = openLists(seg, query)
			sc.run(ranges)
		}
	}
	if v.snap.Err() != nil {
		best.list = nil
	}
	return best
}

// Score returns one document's L and matched terms for a query; L is 0 if none match.
// The lists stay open for the next document of the same file and query.
func (s *Snapshot) Score(r Ref, query []QueryTerm) Candidate {
	seg, doc := s.at(r)
	query = query[:min(len(query), MaxTerms)]
	i := slices.IndexFunc(s.scored, func(x scored) bool { return x.seg == seg && slices.Equal(x.query, query) })
	if i < 0 {
		const most = 4 // two queries, two files
		if len(s.scored) == most {
			s.scored = s.scored[:0]
		}
		i = len(s.scored)
		s.scored = append(s.scored, scored{seg, slices.Clone(query), openLists(seg, query)})
	}
	sum, matched := exact(s.scored[i].lists, doc)
	return Candidate{Ref: r, L: nats(sum), Matched: matched}
}

// scored is what Score keeps open.
type scored struct {
	seg   *segment
	query []QueryTerm
	lists []*queryList
}

// windowSize is how many documents are added up at once: small enough that the sums
// stay in the nearest cache.
const windowSize = 2048

// scan is one search of one segment. It goes through the documents window by window,
// only where a list has something (MaxScore): once k documents are found, a document
// that holds only terms with long lists and low impacts cannot be among them, so those
// weak lists do not lead anywhere; they are read only for documents that the other lists
// found. A window is skipped if the highest impacts of the blocks in it do not reach the
// k-th best.
type scan struct {
	view   View
	seg    *segment
	best   *heap
	accept func(Ref) bool
	lists  []*queryList // the weak ones first
	next   []uint32     // of each list
	// weak is how many lists are weak, weakSum what they can add at most, strong how
	// many postings the others have, weighed the floor at which that was decided.
	weak    int
	weakSum uint32
	strong  uint32
	weighed uint32

	// The sums of a document count only if it is touched.
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
	bound  uint32 // weight × highest I1
	// The cursor: the next posting is at place in block or, if that is not unpacked yet,
	// the first one in it that is not below least.
	block  int
	place  int
	least  uint32
	window block  // for adding up
	probe  *block // for looking one document up
}

// openLists opens the lists of those query terms that the segment knows.
func openLists(seg *segment, query []QueryTerm) []*queryList {
	if seg.file.cold {
		for _, q := range query {
			if p := seg.lookup(q.Term); p.docs > 0 {
				seg.soon(seg.h.lists, p.off, 64+uint64(len(q.Term))+uint64(p.docs)*3)
			}
		}
	}
	// One piece of memory for all: every fresh page costs as much as a thousand postings.
	store := make([]queryList, 0, len(query))
	lists := make([]*queryList, 0, len(query))
	room := 0
	for i, q := range query {
		w := quantise(q.Weight)
		if w == 0 {
			continue
		}
		l, ok := seg.find(q.Term)
		if !ok {
			continue
		}
		store = append(store, queryList{list: l, bit: 1 << i, weight: w, bound: uint32(l.top) * w})
		lists = append(lists, &store[len(store)-1])
		room += min(int(l.docs), blockSize)
	}
	docs := make([]uint32, room)
	for _, l := range lists {
		n := min(int(l.docs), blockSize)
		l.window.index = -1
		l.window.docs, docs = docs[:n:n], docs[n:]
		if l.probe = &l.window; l.blocks > 1 {
			l.probe = &block{index: -1}
		}
	}
	return lists
}

func (s *scan) run(ranges []span) {
	s.next = make([]uint32, len(s.lists))
	for _, l := range s.lists {
		s.strong += l.docs
	}
	for _, r := range ranges {
		for i, l := range s.lists {
			l.advance(r.from)
			s.next[i] = l.next()
		}
		for s.seg.err == nil {
			s.weaken()
			from := r.to
			for _, n := range s.next[s.weak:] {
				from = min(from, n)
			}
			if from >= r.to {
				break
			}
			to := min(from-from%windowSize+windowSize, r.to)
			if s.reach(to) >= s.best.floor() {
				s.add(from-from%windowSize, to)
			}
			for i, n := range s.next {
				if n < to && i >= s.weak {
					s.lists[i].advance(to)
					s.next[i] = s.lists[i].next()
				}
			}
		}
	}
}

// weaken puts lists among the weak ones: those that are much longer than all strong
// ones together, as long as the weak ones together stay below the floor. Looking a
// document up in a list takes about as long as adding five postings; so a shorter list is
// better read through.
func (s *scan) weaken() {
	floor := s.best.floor()
	if floor == s.weighed {
		return
	}
	s.weighed = floor
	for i := s.weak; i < len(s.lists); i++ {
		l := s.lists[i]
		if s.weakSum+l.bound >= floor || l.docs < 4*(s.strong-l.docs) {
			continue
		}
		s.weakSum += l.bound
		s.strong -= l.docs
		s.lists[i], s.lists[s.weak] = s.lists[s.weak], l
		s.next[i], s.next[s.weak] = s.next[s.weak], s.next[i]
		s.weak++
		i = s.weak - 1
	}
}

// next is a document before which the list has nothing more; the real one if its block
// is unpacked.
func (l *queryList) next() uint32 {
	switch {
	case l.block >= l.blocks:
		return 1<<32 - 1
	case l.window.index == l.block && l.place < l.window.n:
		return l.window.docs[l.place]
	case l.block == 0:
		return l.least
	}
	return max(l.least, l.last(l.block-1)+1)
}

// advance moves the cursor to the first posting at or after doc, without unpacking.
func (l *queryList) advance(doc uint32) {
	if l.next() >= doc {
		return
	}
	if b := l.seek(doc, l.block); b != l.block {
		l.block, l.place = b, 0
	}
	l.least = doc
	if l.window.index == l.block && l.block < l.blocks {
		l.skip()
	}
}

// skip moves the cursor within its unpacked block to least.
func (l *queryList) skip() {
	for l.place < l.window.n && l.window.docs[l.place] < l.least {
		l.place++
	}
	if l.place >= l.window.n {
		l.block, l.place = l.block+1, 0
	}
}

// reach is what a document before to can reach at most, by the highest impacts of the
// blocks that lie there.
func (s *scan) reach(to uint32) uint32 {
	sum := s.weakSum
	for i, l := range s.lists {
		if i < s.weak || s.next[i] >= to {
			continue
		}
		var top uint8
		for b := l.block; b < l.blocks; b++ {
			top = max(top, l.highest(b))
			if l.last(b) >= to-1 {
				break
			}
		}
		sum += uint32(top) * l.weight
	}
	return sum
}

// add offers every document from base on and before to that can still be among the best.
func (s *scan) add(base, to uint32) {
	for i, l := range s.lists {
		if i >= s.weak && s.next[i] < to {
			s.addList(l, base, to)
		}
	}
	for word, set := range s.touched {
		s.touched[word] = 0
		for ; set != 0; set &= set - 1 {
			slot := word<<6 + bits.TrailingZeros64(set)
			if s.upper[slot]+s.weakSum >= s.best.floor() {
				s.offer(base+uint32(slot), slot)
			}
		}
	}
}

// addList adds the postings before to, from the cursor on, and moves it behind them.
func (s *scan) addList(l *queryList, base, to uint32) {
	b := &l.window
	for l.block < l.blocks {
		if b.index != l.block {
			if b.load(&l.list, l.block); b.n > 0 && b.docs[0] < l.least {
				l.place = b.find(l.least)
			}
		}
		j := l.place
		for ; j < b.n && b.docs[j] < to; j++ {
			slot := (b.docs[j] - base) % windowSize
			if bit := uint64(1) << (slot & 63); s.touched[slot>>6]&bit == 0 {
				// Written without being read: fresh memory is given once, not twice.
				s.touched[slot>>6] |= bit
				s.upper[slot] = uint32(b.i1[j]) * l.weight
				s.lower[slot] = uint32(b.i0[j]) * l.weight
				s.matched[slot] = l.bit
				continue
			}
			s.upper[slot] += uint32(b.i1[j]) * l.weight
			s.lower[slot] += uint32(b.i0[j]) * l.weight
			s.matched[slot] |= l.bit
		}
		if l.place = j; j < b.n {
			return
		}
		l.block, l.place = l.block+1, 0
	}
}

// offer completes the sums of a document with the weak terms, and gives up as soon as it cannot reach the floor.
func (s *scan) offer(doc uint32, slot int) {
	upper, lower, matched, rest := s.upper[slot], s.lower[slot], s.matched[slot], s.weakSum
	for i := s.weak - 1; i >= 0; i-- {
		l := s.lists[i]
		rest -= l.bound
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
		upper, matched = exact(s.lists, doc)
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
func exact(lists []*queryList, doc uint32) (sum, matched uint32) {
	var passages uint64
	var at [MaxTerms]int
	for i := range lists {
		l := lists[i]
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
		for i := range lists {
			l := lists[i]
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
