package recall

import (
	"math"
	"time"

	"stillso"
	"stillso/internal/snapshot"
)

// supersededFactor puts what was superseded far below its successor; it is shown,
// labelled, only where nothing newer says the like.
const supersededFactor = .5

// The factors are gentle: they order what is about equally relevant, and cannot
// lift an irrelevant memory over a relevant one. The gate does not know them: an
// old answer to the question is an answer.
func factor(h snapshot.Head, now time.Time) float64 {
	f := 1 + .03*(float64(h.Priority)-3)
	if h.Priority == 0 {
		f = 1
	}
	if h.Type.Standing() {
		f *= standingFactor
	}
	if h.Origin == stillso.FromInferred {
		f *= .9
	}
	if h.State == stillso.Superseded {
		f *= supersededFactor
	}
	if half := halfLife(h.Type, h.Origin); half > 0 && !now.IsZero() {
		if age := now.Sub(time.Unix(h.Updated, 0)).Hours() / 24; age > 0 {
			f *= 1 - maxDecay*(1-math.Exp2(-age/half))
		}
	}
	return f
}

// standingFactor puts a rule before a mere mention of its words: missing a rule
// costs more than missing a fact.
const standingFactor = 1.05

// maxDecay is what the oldest memory loses.
const maxDecay = .15

// halfLife is after how many days a memory has lost half of what age can take; 0
// is never. What the user stated as a rule does not age.
func halfLife(t stillso.Type, o stillso.Origin) float64 {
	if o == stillso.FromInferred {
		return 30
	}
	switch t {
	case stillso.Preference, stillso.Constraint, stillso.Decision:
		return 0
	case stillso.Todo:
		return 30
	case stillso.Event:
		return 90
	case stillso.Procedure, stillso.Reference:
		return 300
	}
	return 150
}
