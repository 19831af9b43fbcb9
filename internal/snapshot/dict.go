package snapshot

import (
	"encoding/binary"
)

// The term dictionary is a hash table of buckets that are read with one call each:
//
//	checksum (4), slots in use (1), whether the next bucket has more of this one's (1), 0 (2),
//	slots: hash (4), documents (3), offset in the lists (5)
//
// A bucket that is full overflows into the next one; there are as many more at the end
// as that takes.
const (
	bucketSize = 512
	bucketHead = 8
	slotSize   = 12
	slotsMax   = (bucketSize - bucketHead) / slotSize
	perBucket  = 30 // slots a bucket gets on average: 1 or 2 in a hundred overflow
	maxFreq    = 1<<24 - 1
	maxOffset  = 1<<40 - 1
)

// slot is a term of the dictionary.
type slot struct {
	hash uint64
	docs uint32
	off  uint64
}

// bucketOf maps a hash to one of n buckets, in the order of the hashes.
func bucketOf(h uint64, n uint32) uint32 { return uint32((h >> 32) * uint64(n) >> 32) }

// writeDict writes the dictionary; slots are in the order of their hashes.
func (b *Builder) writeDict(o *output, slots []slot) {
	b.h.terms = uint32(len(slots))
	b.h.buckets = uint32(len(slots)/perBucket + 1)
	b.h.dict.off = o.at
	le := binary.LittleEndian
	var raw [bucketSize]byte
	for bucket := uint32(0); bucket < b.h.buckets || len(slots) > 0; bucket++ {
		clear(raw[:])
		n := 0
		for len(slots) > 0 && n < slotsMax && bucketOf(slots[0].hash, b.h.buckets) <= bucket {
			s := raw[bucketHead+n*slotSize:]
			le.PutUint32(s, uint32(slots[0].hash))
			le.PutUint64(s[4:], uint64(min(slots[0].docs, maxFreq))|slots[0].off<<24)
			slots = slots[1:]
			n++
		}
		raw[4] = byte(n)
		if len(slots) > 0 && bucketOf(slots[0].hash, b.h.buckets) <= bucket {
			raw[5] = 1
		}
		le.PutUint32(raw[:], seeded(bucket, raw[4:]))
		o.write(raw[:])
	}
	b.h.dict.size = o.at - b.h.dict.off
}

// slotsOf calls yield with every slot that may be the term's, until it returns false.
func (s *segment) slotsOf(h uint64, yield func(docs uint32, off uint64) bool) {
	if s.h.buckets == 0 {
		return
	}
	le := binary.LittleEndian
	for bucket := bucketOf(h, s.h.buckets); ; bucket++ {
		raw, ok := s.read(s.h.dict, uint64(bucket)*bucketSize, bucketSize, s.scratch[:])
		if !ok || le.Uint32(raw) != seeded(bucket, raw[4:]) || raw[4] > slotsMax {
			s.fail("term dictionary")
			return
		}
		more := raw[5] == 1
		for slots := raw[bucketHead:][:int(raw[4])*slotSize]; len(slots) > 0; slots = slots[slotSize:] {
			if le.Uint32(slots) != uint32(h) {
				continue
			}
			v := le.Uint64(slots[4:])
			if !yield(uint32(v&maxFreq), v>>24) {
				return
			}
		}
		if !more {
			return
		}
	}
}

// place is where a term's list is; docs is 0 if there is none.
type place struct {
	hash uint64
	docs uint32
	off  uint64
}

// lookup finds a term by its hash alone: two terms in four thousand million have the
// same. What was looked up is remembered, as a term is first weighed and then searched.
func (s *segment) lookup(term string) place {
	p := place{hash: hash(term)}
	for _, k := range s.known {
		if k.hash == p.hash {
			return k
		}
	}
	s.slotsOf(p.hash, func(docs uint32, off uint64) bool {
		p.docs, p.off = docs, off
		return false
	})
	if len(s.known) < maxKnown {
		s.known = append(s.known, p)
	}
	return p
}

// maxKnown bounds what is remembered: looking it through must stay cheap.
const maxKnown = 256

// find opens the list of a term.
func (s *segment) find(term string) (l list, ok bool) {
	p := s.lookup(term)
	if p.docs == 0 {
		return list{}, false
	}
	if l, ok = s.openList(term, p); ok || s.err != nil {
		return l, ok
	}
	s.slotsOf(hash(term), func(docs uint32, off uint64) bool { // another term with the same hash came first
		l, ok = s.openList(term, place{p.hash, docs, off})
		return !ok
	})
	return l, ok
}
