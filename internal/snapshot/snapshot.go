// Package snapshot is the immutable index that recall reads in the prompt path:
// term to postings with ready impacts, and everything that ranking and showing a
// memory needs. It knows nothing of the formula behind the impacts.
//
// A snapshot is a base file and, beside it, a small delta file with what changed
// since. Files are only ever replaced as a whole, so a reader takes no lock. A
// reader maps the files and decodes nothing at opening: each part carries its own
// checksum and is checked when it is touched. Damage is an error that wraps
// stillso.ErrDamaged, never a panic and never a wrong answer.
//
// Writing is in this package too, but nothing of it is linked into a program that
// only reads.
package snapshot

import (
	"math"

	"stillso"
)

// The names of the files in the home directory.
const (
	BaseFile  = "recall.base"
	DeltaFile = "recall.delta"
	LockFile  = "snapshot.lock" // taken by writers only
)

// Posting says how strongly one term speaks for a document. Impacts are in
// sixteenths of a nat. I1 counts in the passages whose bit is set in Mask, I0 in
// all others; I1 is never below I0. A document without passages has Mask 0 and
// only I0 counts.
type Posting struct {
	Term   string
	I0, I1 uint8
	Mask   uint64
}

// Doc is one memory as the index keeps it.
type Doc struct {
	ID        string
	Namespace stillso.Namespace
	Type      stillso.Type
	State     stillso.State
	Origin    stillso.Origin
	// Created and Updated are Unix seconds, UTC; times before 1970 count as 1970.
	Created, Updated int64
	Priority         uint8
	Flags            Flags
	// Numbers is for recall's own use; the index only carries it.
	Numbers uint32
	Name    string
	Content string
	// Label is what must be shown beside the content, for example
	// "unverified: path x is gone".
	Label        string
	RelatedFiles []string
	// LoadedBy lists the hosts that load the very line themselves.
	LoadedBy []string
}

// Flags are facts about a document that ranking asks for.
type Flags uint16

// The flags of a document. Loaded is set by the builder.
const (
	HasAliases Flags = 1 << iota // somebody wrote the words a person would type
	Resident                     // shown at every session start
	Unverified                   // a claim of it fails
	Loaded                       // LoadedBy is not empty
	HasBody                      // a longer text stands behind the content
)

// Ref names a document of an opened Snapshot; it means nothing in another one.
type Ref uint32

const deltaRef Ref = 1 << 31

// Head is the part of a document that filtering and ranking read: a few bytes
// from one compact table.
type Head struct {
	Type             stillso.Type
	State            stillso.State
	Origin           stillso.Origin
	Created, Updated int64 // Unix seconds, UTC
	Priority         uint8
	Flags            Flags
	Numbers          uint32
}

// QueryTerm is a term of a query and its weight, 0 to 60. Weights are rounded to
// 1/1024.
type QueryTerm struct {
	Term   string
	Weight float32
}

// MaxTerms is how many terms a query may have; Search ignores the rest.
const MaxTerms = 32

// Candidate is a document found by Search. L is in nats:
//
//	L = max over passages p of the sum over terms of weight × (I1 if p ∈ Mask, else I0) / 16
type Candidate struct {
	Ref Ref
	L   float64
	// Matched has bit i set if the document has query term i.
	Matched uint32
}

// weightScale is the resolution of weights. Sums are kept in whole numbers, so
// that the order of adding, and so the order of the search, changes nothing:
// 32 terms × 60 × 1024 × 255 stays below 2^32.
const (
	weightScale = 1024
	maxWeight   = 60
	impactScale = 16
)

func quantise(w float32) uint32 {
	if !(w > 0) {
		return 0
	}
	return uint32(math.Round(min(float64(w), maxWeight) * weightScale))
}

func nats(sum uint32) float64 { return float64(sum) / (weightScale * impactScale) }
