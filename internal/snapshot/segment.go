package snapshot

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"math/bits"

	"stillso"
)

// segment is one opened file.
type segment struct {
	h       header
	data    []byte
	release func() error
	err     error // the first damage that was met
	checked []uint64
	meta    meta
}

// meta is the small variable part of a file.
type meta struct {
	spaces    []space
	residents []uint32
	hidden    []uint32 // documents of the base, ascending
	constants map[string][]byte
}

// space is a namespace and the range of its documents, [from, to).
type space struct {
	name     stillso.Namespace
	from, to uint32
}

// openSegment maps a file. A missing file is stillso.ErrNotFound.
func openSegment(path string) (*segment, error) {
	data, release, err := mapFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, stillso.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	s, err := parse(data)
	if err != nil {
		release() //nolint:errcheck,gosec // the damage is what matters
		return nil, err
	}
	s.release = release
	return s, nil
}

func parse(data []byte) (*segment, error) {
	h, err := decodeHeader(data)
	if err != nil {
		return nil, err
	}
	s := &segment{h: h, data: data, checked: make([]uint64, (h.docs/docGroup+64)/64)}
	if err := s.readMeta(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *segment) part(p section) []byte { return s.data[p.off : p.off+p.size] }

func (s *segment) fail(what string) {
	if s.err == nil {
		s.err = damaged(what)
	}
}

func (s *segment) readMeta() error {
	b := s.part(s.h.meta)
	if len(b) < 4 || checksum(b[4:]) != binary.LittleEndian.Uint32(b) {
		return damaged("index of namespaces")
	}
	r := reader{b: b, at: 4}
	m := &s.meta
	from := uint32(0)
	for n := r.uvarint(); n > 0 && !r.bad; n-- {
		name := r.string()
		to := from + uint32(r.uvarint())
		if to < from || to > s.h.docs {
			return damaged("index of namespaces")
		}
		m.spaces = append(m.spaces, space{stillso.Namespace(name), from, to})
		from = to
	}
	m.residents = r.ascending(uint64(s.h.docs))
	m.hidden = r.ascending(uint64(s.h.hidden))
	if n := r.uvarint(); n > 0 && !r.bad {
		m.constants = map[string][]byte{}
		for ; n > 0 && !r.bad; n-- {
			k := r.string()
			m.constants[k] = r.take(r.uvarint())
		}
	}
	if r.bad || from != s.h.docs || len(m.hidden) != int(s.h.hidden) {
		return damaged("index of namespaces")
	}
	return nil
}

// ascending reads a list of growing numbers kept as gaps.
func (r *reader) ascending(most uint64) []uint32 {
	n := r.uvarint()
	if n == 0 || r.bad {
		return nil
	}
	if n > most || n > uint64(len(r.b)-r.at) {
		r.bad = true
		return nil
	}
	out := make([]uint32, n)
	var at uint32
	for i := range out {
		at += uint32(r.uvarint())
		out[i] = at
	}
	return out
}

// bucket returns the checked slots of the bucket that h falls into.
func (s *segment) bucket(h uint64) []byte {
	if s.h.buckets == 0 {
		return nil
	}
	b := bucketOf(h, s.h.buckets)
	offsets := s.part(s.h.offsets)
	from := uint64(binary.LittleEndian.Uint32(offsets[b*4:]))
	to := uint64(binary.LittleEndian.Uint32(offsets[b*4+4:]))
	dict := s.part(s.h.dict)
	if from+4 > to || to > uint64(len(dict)) || (to-from-4)%slotSize != 0 {
		s.fail("term dictionary")
		return nil
	}
	raw := dict[from:to]
	if binary.LittleEndian.Uint32(raw) != seeded(b, raw[4:]) {
		s.fail("term dictionary")
		return nil
	}
	return raw[4:]
}

// find opens the list of a term.
func (s *segment) find(term string) (l list, ok bool) {
	h := hash(term)
	for slots := s.bucket(h); len(slots) >= slotSize; slots = slots[slotSize:] {
		if binary.LittleEndian.Uint32(slots) != uint32(h) {
			continue
		}
		if l, ok = s.openList(term, binary.LittleEndian.Uint64(slots[8:])); ok {
			return l, true
		}
	}
	return list{}, false
}

// frequency is in how many documents a term stands.
func (s *segment) frequency(term string) int {
	h := hash(term)
	for slots := s.bucket(h); len(slots) >= slotSize; slots = slots[slotSize:] {
		if binary.LittleEndian.Uint32(slots) == uint32(h) {
			return int(binary.LittleEndian.Uint32(slots[4:]))
		}
	}
	return 0
}

// entryOf returns the checked table entry of a document, or nil.
func (s *segment) entryOf(doc uint32) []byte {
	if doc >= s.h.docs {
		s.fail("document number")
		return nil
	}
	group := doc / docGroup
	table := s.part(s.h.table)
	raw := table[uint64(group)*docStride:][:docStride]
	if s.checked[group/64]>>(group%64)&1 == 0 {
		if binary.LittleEndian.Uint32(raw[docStride-4:]) != seeded(group, raw[:docStride-4]) {
			s.fail("table of documents")
			return nil
		}
		s.checked[group/64] |= 1 << (group % 64)
	}
	return raw[doc%docGroup*docEntry:][:docEntry]
}

func (s *segment) head(doc uint32) (h Head) {
	e := s.entryOf(doc)
	if e == nil {
		return h
	}
	le := binary.LittleEndian
	return Head{
		Type:     decode(typeCodes(), e[6]),
		State:    decode(stateCodes(), e[7]&15),
		Origin:   decode(originCodes(), e[7]>>4),
		Created:  int64(le.Uint32(e[8:])),
		Updated:  int64(le.Uint32(e[12:])),
		Priority: e[16],
		Flags:    Flags(le.Uint16(e[18:])),
		Numbers:  le.Uint32(e[20:]),
	}
}

func (s *segment) updated(doc uint32) uint32 {
	if e := s.entryOf(doc); e != nil {
		return binary.LittleEndian.Uint32(e[12:])
	}
	return 0
}

// record returns the checked strings of a document.
func (s *segment) record(doc uint32) (r reader, ok bool) {
	e := s.entryOf(doc)
	if e == nil {
		return r, false
	}
	off := binary.LittleEndian.Uint64(e) & (1<<48 - 1)
	all := s.part(s.h.records)
	if off > uint64(len(all)) {
		s.fail("record")
		return r, false
	}
	head := reader{b: all[off:]}
	sum := head.uint32()
	raw := head.take(uint64(head.uint32()))
	if head.bad || sum != seeded(doc, raw) {
		s.fail("record")
		return r, false
	}
	return reader{b: raw}, true
}

func (s *segment) id(doc uint32) string {
	if r, ok := s.record(doc); ok {
		return r.string()
	}
	return ""
}

func (s *segment) doc(doc uint32) (d Doc) {
	r, ok := s.record(doc)
	if !ok {
		return d
	}
	h := s.head(doc)
	d = Doc{
		Namespace: s.namespaceOf(doc),
		Type:      h.Type, State: h.State, Origin: h.Origin, Created: h.Created, Updated: h.Updated,
		Priority: h.Priority, Flags: h.Flags, Numbers: h.Numbers,
	}
	d.ID, d.Name, d.Content, d.Label = r.string(), r.string(), r.string(), r.string()
	d.RelatedFiles, d.LoadedBy = r.strings(), r.strings()
	if r.bad {
		s.fail("record")
		return Doc{}
	}
	return d
}

func (d *Doc) appendRecord(dst []byte) []byte {
	for _, t := range []string{d.ID, d.Name, d.Content, d.Label} {
		dst = append(binary.AppendUvarint(dst, uint64(len(t))), t...)
	}
	for _, list := range [][]string{d.RelatedFiles, d.LoadedBy} {
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for _, t := range list {
			dst = append(binary.AppendUvarint(dst, uint64(len(t))), t...)
		}
	}
	return dst
}

func (s *segment) namespaceOf(doc uint32) stillso.Namespace {
	lo, hi := 0, len(s.meta.spaces)
	for lo < hi {
		if mid := (lo + hi) / 2; s.meta.spaces[mid].to <= doc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(s.meta.spaces) {
		return s.meta.spaces[lo].name
	}
	return ""
}

// byID finds a document by its id, by halving the order of ids.
func (s *segment) byID(id string) (doc uint32, ok bool) {
	order := s.part(s.h.idOrder)
	lo, hi := 0, int(s.h.docs)
	for lo < hi && s.err == nil {
		mid := int(uint(lo+hi) >> 1)
		d := binary.LittleEndian.Uint32(order[mid*4:])
		switch got := s.id(d); {
		case got == id:
			return d, true
		case got < id:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return 0, false
}

// hides reports whether a delta takes the place of document doc of its base.
func (s *segment) hides(doc uint32) bool {
	hidden := s.meta.hidden
	if len(hidden) == 0 {
		return false
	}
	lo, n := 0, bits.Len(uint(len(hidden)))
	for step := 1 << n; step > 0; step >>= 1 {
		if lo+step <= len(hidden) && hidden[lo+step-1] < doc {
			lo += step
		}
	}
	return lo < len(hidden) && hidden[lo] == doc
}

func (s *segment) close() error {
	if s == nil || s.release == nil {
		return nil
	}
	release := s.release
	s.release, s.data = nil, nil
	return release()
}
