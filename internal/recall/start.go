package recall

import (
	"cmp"
	"math"
	"slices"
	"time"

	"stillso"
	"stillso/internal/snapshot"
)

// MaxStart is how many memories a session begins with, besides the residents.
const MaxStart = 5

// startWindow is how many of the newest memories of a namespace are looked at.
const startWindow = 2000

// important is the priority from which on a memory is worth the first tokens of a
// session without being resident. One of ordinary priority waits for the prompt that
// needs it: else every session would begin with the same newest lines, also the one
// that says "ok, go on".
const important = 4

// Start returns what a session begins with: the residents, then the most
// important recent memories of the namespaces, most important first. It reads no
// text of those it leaves out.
func Start(snap *snapshot.Snapshot, q Query) []Hit {
	limit := q.Limit
	if limit == 0 {
		limit = MaxStart
	}
	view := snap.In(q.Namespaces...)
	seen := map[snapshot.Ref]bool{}
	var out []Hit
	for _, r := range view.Residents() {
		if head := snap.Head(r); head.State == stillso.Active && accept(snap, r, q.Host) {
			seen[r] = true
			out = append(out, Hit{Doc: snap.Doc(r), Factor: 1, Strength: importance(head, q.Now)})
		}
	}
	slices.SortFunc(out, bySteadiness)
	type weighed struct {
		ref    snapshot.Ref
		weight float64
		at     int64
	}
	var list []weighed
	n := 0
	view.Each(func(r snapshot.Ref) bool {
		head := snap.Head(r)
		if head.Priority >= important && head.State == stillso.Active && !seen[r] {
			list = append(list, weighed{r, importance(head, q.Now), head.Updated})
		}
		n++
		return n < startWindow*len(q.Namespaces)
	})
	slices.SortStableFunc(list, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.at, a.at))
	})
	for _, w := range list {
		if limit == 0 {
			break
		}
		if accept(snap, w.ref, q.Host) {
			out = append(out, Hit{Doc: snap.Doc(w.ref), Factor: 1, Strength: w.weight})
			limit--
		}
	}
	return out
}

// bySteadiness orders residents: what a human stated first, then by priority, then
// the newest. The clock has no part in it, so that a session that is opened again
// gets the same bytes; and should the profile ever exceed its budget before it was
// fitted, it is not a correction that is cut off.
func bySteadiness(a, b Hit) int {
	return cmp.Or(
		cmp.Compare(slices.Index(stillso.Origins(), a.Doc.Origin)/2, slices.Index(stillso.Origins(), b.Doc.Origin)/2),
		cmp.Compare(b.Doc.Priority, a.Doc.Priority),
		cmp.Compare(b.Doc.Updated, a.Doc.Updated),
		cmp.Compare(a.Doc.ID, b.Doc.ID),
	)
}

// importance is the priority, more for standing rules and open todos, and up to
// two for what is new, halved every 30 days.
func importance(h snapshot.Head, now time.Time) float64 {
	w := float64(h.Priority)
	switch {
	case h.Type.Standing():
		w += 1.5
	case h.Type == stillso.Todo:
		w++
	case h.Type == stillso.Event, h.Type == stillso.Reference:
		w--
	}
	if h.Origin == stillso.FromInferred {
		w--
	}
	if h.Flags&snapshot.Unverified != 0 {
		w--
	}
	age := max(0, now.Sub(time.Unix(h.Updated, 0)).Hours()/24)
	return w + 2*math.Exp2(-age/30)
}
