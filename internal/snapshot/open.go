package snapshot

import (
	"errors"
	"path/filepath"

	"stillso"
)

// Snapshot is an opened base with its delta. It is not safe for use by several
// goroutines at once.
type Snapshot struct {
	base, delta *segment // either may be nil, not both
	// deltaErr says why a delta that exists is not used; the base alone still answers.
	deltaErr error
	scored   []scored
}

// Open opens the snapshot in directory dir. No snapshot is stillso.ErrNotFound,
// a broken base stillso.ErrDamaged, a newer format stillso.ErrNewer.
//
// The writer replaces base and delta one after the other. A delta that belongs to
// another base is therefore read once more together with the base, and then left
// out: Delta tells.
func Open(dir string) (*Snapshot, error) {
	var s *Snapshot
	for range 2 {
		base, err := openSegment(filepath.Join(dir, BaseFile))
		if err != nil {
			return nil, err
		}
		if base.h.kind != kindBase {
			base.close() //nolint:errcheck,gosec // the damage is what matters
			return nil, damaged("base is not a base")
		}
		delta, err := openSegment(filepath.Join(dir, DeltaFile))
		s = &Snapshot{base: base}
		switch {
		case errors.Is(err, stillso.ErrNotFound):
			return s, nil
		case err != nil:
			s.deltaErr = err
			return s, nil
		case delta.h.kind == kindDelta && delta.h.base == base.h.id:
			s.delta = delta
			return s, nil
		}
		delta.close() //nolint:errcheck,gosec // not used
		s.deltaErr = damaged("delta belongs to another base")
		if s.base.h.seq >= delta.h.seq {
			s.deltaErr = nil // left over from before the base was written
			return s, nil
		}
		base.close() //nolint:errcheck,gosec // opened again below
	}
	base, err := openSegment(filepath.Join(dir, BaseFile))
	if err != nil {
		return nil, err
	}
	s.base = base
	return s, nil
}

// Close releases the files. What was returned as strings stays valid.
func (s *Snapshot) Close() error {
	return errors.Join(s.base.close(), s.delta.close())
}

// Err returns the first damage met so far. After an error nothing that was
// returned is to be relied on: be silent, and have the snapshot built again.
func (s *Snapshot) Err() error {
	if s.base.err != nil || s.delta == nil {
		return s.base.err
	}
	return s.delta.err
}

// Delta returns nil if the delta is in use or there is none, else the reason why
// what was saved last may not be found.
func (s *Snapshot) Delta() error { return s.deltaErr }

// Seq is the last change of the journal that the snapshot knows.
func (s *Snapshot) Seq() int64 {
	if s.delta != nil {
		return s.delta.h.seq
	}
	return s.base.h.seq
}

// Constant returns a value that the builder was given, or nil. A delta's goes first.
func (s *Snapshot) Constant(key string) []byte {
	if s.delta != nil {
		if v, ok := s.delta.meta.constants[key]; ok {
			return v
		}
	}
	return s.base.meta.constants[key]
}

// Frequency is in how many documents of all namespaces a term stands. It may be
// too high by what the delta hides.
func (s *Snapshot) Frequency(term string) int {
	n := s.base.frequency(term)
	if s.delta != nil {
		n += s.delta.frequency(term)
	}
	return n
}

// Prefetch says that a term will be looked up. It does nothing if the index is in
// memory; else the disk can read the places of all terms at once.
func (s *Snapshot) Prefetch(term string) {
	for _, seg := range []*segment{s.base, s.delta} {
		if seg != nil && seg.file.cold && seg.h.buckets > 0 {
			seg.soon(seg.h.dict, uint64(bucketOf(hash(term), seg.h.buckets))*bucketSize, bucketSize)
		}
	}
}

// Head returns what ranking needs of a document.
func (s *Snapshot) Head(r Ref) Head {
	seg, doc := s.at(r)
	return seg.head(doc)
}

// Doc returns the whole document.
func (s *Snapshot) Doc(r Ref) Doc {
	seg, doc := s.at(r)
	return seg.doc(doc)
}

// Namespace returns whom a document is for.
func (s *Snapshot) Namespace(r Ref) stillso.Namespace {
	seg, doc := s.at(r)
	return seg.namespaceOf(doc)
}

// Find returns the document with this id.
func (s *Snapshot) Find(id string) (Ref, bool) {
	if s.delta != nil {
		if doc, ok := s.delta.byID(id); ok {
			return Ref(doc) | deltaRef, true
		}
	}
	if doc, ok := s.base.byID(id); ok && !s.hidden(doc) {
		return Ref(doc), true
	}
	return 0, false
}

func (s *Snapshot) hidden(doc uint32) bool { return s.delta != nil && s.delta.hides(doc) }

func (s *Snapshot) at(r Ref) (*segment, uint32) {
	if r&deltaRef != 0 && s.delta != nil {
		return s.delta, uint32(r &^ deltaRef)
	}
	return s.base, uint32(r)
}

// Verify reads the whole snapshot and checks every checksum, a delta that is not
// in use included.
func (s *Snapshot) Verify() error {
	if err := s.base.verify(); err != nil {
		return err
	}
	if s.delta != nil {
		if err := s.delta.verify(); err != nil {
			return err
		}
	}
	return s.deltaErr
}

func (s *segment) verify() error {
	data, err := s.file.whole()
	if err != nil {
		return err
	}
	if checksum(data[headerSize:]) != s.h.body {
		return damaged("checksum of the file")
	}
	terms := uint32(0)
	for at := s.h.dict.off; at < s.h.dict.off+s.h.dict.size; at += bucketSize {
		terms += uint32(data[at+4])
	}
	if terms != s.h.terms {
		return damaged("term dictionary")
	}
	for doc := uint32(0); doc < s.h.docs && s.err == nil; doc++ {
		s.doc(doc)
	}
	return s.err
}

// View is the part of a snapshot that belongs to some namespaces.
type View struct {
	snap   *Snapshot
	ranges []span // of the base, then of the delta
}

// span is a range of documents of one segment, [from, to).
type span struct {
	seg      *segment
	from, to uint32
}

// In returns the part of the snapshot that belongs to the named namespaces.
func (s *Snapshot) In(namespaces ...stillso.Namespace) View {
	v := View{snap: s}
	for _, seg := range []*segment{s.base, s.delta} {
		if seg == nil {
			continue
		}
		for _, sp := range seg.meta.spaces {
			for _, n := range namespaces {
				if n == sp.name && sp.from < sp.to {
					v.ranges = append(v.ranges, span{seg, sp.from, sp.to})
					break
				}
			}
		}
	}
	return v
}

// All returns the whole snapshot.
func (s *Snapshot) All() View {
	v := View{snap: s}
	for _, seg := range []*segment{s.base, s.delta} {
		if seg != nil && seg.h.docs > 0 {
			v.ranges = append(v.ranges, span{seg, 0, seg.h.docs})
		}
	}
	return v
}

// Len is how many documents the view has.
func (v View) Len() int {
	n := 0
	for _, r := range v.ranges {
		n += int(r.to - r.from)
		if r.seg == v.snap.base && v.snap.delta != nil {
			for _, h := range v.snap.delta.meta.hidden {
				if h >= r.from && h < r.to {
					n--
				}
			}
		}
	}
	return n
}

// Each calls yield with the documents of the view, newest first within each
// namespace of each file, until yield returns false.
func (v View) Each(yield func(Ref) bool) {
	for _, r := range v.ranges {
		for doc := r.from; doc < r.to; doc++ {
			if ref, ok := v.ref(r.seg, doc); ok && !yield(ref) {
				return
			}
		}
	}
}

// Residents returns the documents of the view that carry Resident.
func (v View) Residents() []Ref {
	var out []Ref
	for _, r := range v.ranges {
		for _, doc := range r.seg.meta.residents {
			if doc < r.from || doc >= r.to {
				continue
			}
			if ref, ok := v.ref(r.seg, doc); ok {
				out = append(out, ref)
			}
		}
	}
	return out
}

// ref names a document of seg; ok is false if the delta hides it.
func (v View) ref(seg *segment, doc uint32) (r Ref, ok bool) {
	if seg == v.snap.delta {
		return Ref(doc) | deltaRef, true
	}
	return Ref(doc), !v.snap.hidden(doc)
}
