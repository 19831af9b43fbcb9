package snapshot

import "slices"

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
	if sa == sb && sa.spaceOf(da) == sb.spaceOf(db) {
		return da < db // documents of a namespace are in this order
	}
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
