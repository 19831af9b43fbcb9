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
	h    header
	file *file
	err  error // the first damage that was met
	meta meta

	known   []place // terms that were looked up
	groups  []group // groups of the table of documents that were read
	arena   []byte  // room for what is read and kept
	scratch [bucketSize]byte
}

// group is a part of the table of documents.
type group struct {
	number uint32
	raw    []byte
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
	f, err := openFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, stillso.ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	s, err := parse(f)
	if err != nil {
		f.close() //nolint:errcheck,gosec // the damage is what matters
		return nil, err
	}
	return s, nil
}

// firstRead is how much is read at opening: the header, and the meta part of most files.
const firstRead = 4096

func parse(f *file) (*segment, error) {
	s := &segment{file: f}
	first := s.room(int(min(f.size, firstRead)))
	if f.memory != nil || !f.readNow(first) {
		if err := f.readAt(first, 0); err != nil {
			return nil, damaged("cannot be read")
		}
	}
	var err error
	if s.h, err = decodeHeader(first, f.size); err != nil {
		return nil, err
	}
	raw := first[min(int(s.h.meta.off), len(first)):]
	if uint64(len(raw)) < s.h.meta.size {
		var ok bool
		if raw, ok = s.read(s.h.meta, 0, s.h.meta.size, nil); !ok {
			return nil, damaged("cannot be read")
		}
	}
	return s, s.readMeta(raw[:s.h.meta.size])
}

// read returns n bytes at off of a part of the file; ok is false if they are not
// there. They are read into buf if it is large enough, else into room of their own.
func (s *segment) read(p section, off, n uint64, buf []byte) (b []byte, ok bool) {
	if off > p.size || n > p.size-off {
		return nil, false
	}
	at := p.off + off
	if m := s.file.memory; m != nil {
		return m[at : at+n], true
	}
	if uint64(len(buf)) < n {
		buf = s.room(int(n))
	}
	if err := s.file.readAt(buf[:n], int64(at)); err != nil {
		if s.err == nil {
			s.err = damaged("cannot be read")
		}
		return nil, false
	}
	return buf[:n], true
}

// soon says that n bytes at off of a part of the file will be read.
func (s *segment) soon(p section, off, n uint64) {
	if s.file.cold && off < p.size {
		s.file.soon(p.off+off, min(n, p.size-off))
	}
}

// room returns n bytes; small pieces share one allocation.
func (s *segment) room(n int) []byte {
	const chunk = 32 << 10
	if n > chunk/4 {
		return make([]byte, n)
	}
	if len(s.arena) < n {
		s.arena = make([]byte, chunk)
	}
	b := s.arena[:n:n]
	s.arena = s.arena[n:]
	return b
}

func (s *segment) fail(what string) {
	if s.err == nil {
		s.err = damaged(what)
	}
}

func (s *segment) readMeta(b []byte) error {
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

// frequency is in how many documents a term stands.
func (s *segment) frequency(term string) int { return int(s.lookup(term).docs) }

// entryOf returns the checked table entry of a document, or nil.
func (s *segment) entryOf(doc uint32) []byte {
	if doc >= s.h.docs {
		s.fail("document number")
		return nil
	}
	raw := s.group(doc / docGroup)
	if raw == nil {
		return nil
	}
	return raw[doc%docGroup*docEntry:][:docEntry]
}

// maxGroups is how many groups are kept: as many as the candidates of a recall need.
const maxGroups = 64

// group returns a checked group of the table of documents, or nil.
func (s *segment) group(number uint32) []byte {
	for _, g := range s.groups {
		if g.number == number {
			return g.raw
		}
	}
	raw, ok := s.read(s.h.table, uint64(number)*docStride, docStride, nil)
	if !ok || binary.LittleEndian.Uint32(raw[docStride-4:]) != seeded(number, raw[:docStride-4]) {
		s.fail("table of documents")
		return nil
	}
	if len(s.groups) >= maxGroups {
		s.groups = s.groups[:0]
	}
	s.groups = append(s.groups, group{number, raw})
	return raw
}

func (s *segment) head(doc uint32) (h Head) {
	e := s.entryOf(doc)
	if e == nil {
		return h
	}
	le := binary.LittleEndian
	return Head{
		Type:     decode(typeCodes[:], e[6]),
		State:    decode(stateCodes[:], e[7]&15),
		Origin:   decode(originCodes[:], e[7]>>4),
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
	off := binary.LittleEndian.Uint64(e) & maxRecord
	// Most records are short: one reading gets the head and all of it.
	guess := min(uint64(512), s.h.records.size-min(off, s.h.records.size))
	raw, ok := s.read(s.h.records, off, guess, nil)
	if !ok || guess < recordHead {
		s.fail("record")
		return r, false
	}
	sum, size := binary.LittleEndian.Uint32(raw), uint64(binary.LittleEndian.Uint32(raw[4:]))
	if raw = raw[recordHead:]; size <= uint64(len(raw)) {
		raw = raw[:size]
	} else if raw, ok = s.read(s.h.records, off+recordHead, size, nil); !ok {
		s.fail("record")
		return r, false
	}
	if sum != seeded(doc, raw) {
		s.fail("record")
		return r, false
	}
	return reader{b: raw}, true
}

const (
	recordHead = 8         // checksum and length
	maxRecord  = 1<<48 - 1 // of the place of a record, in a table entry
)

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
	if i := s.spaceOf(doc); i < len(s.meta.spaces) {
		return s.meta.spaces[i].name
	}
	return ""
}

// spaceOf returns the place of a document's namespace among the spaces.
func (s *segment) spaceOf(doc uint32) int {
	lo, hi := 0, len(s.meta.spaces)
	for lo < hi {
		if mid := (lo + hi) / 2; s.meta.spaces[mid].to <= doc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// byID finds a document by its id, by halving the order of ids.
func (s *segment) byID(id string) (doc uint32, ok bool) {
	lo, hi := 0, int(s.h.docs)
	for lo < hi && s.err == nil {
		mid := int(uint(lo+hi) >> 1)
		raw, ok := s.read(s.h.idOrder, uint64(mid)*4, 4, nil)
		if !ok {
			s.fail("order of ids")
			return 0, false
		}
		d := binary.LittleEndian.Uint32(raw)
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
	if s == nil || s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.close()
}
