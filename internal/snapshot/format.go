package snapshot

import (
	"encoding/binary"
	"fmt"

	"stillso"
)

// The file, all numbers little-endian:
//
//	header   headerSize bytes: magic, version, kind, ids, counts, sections, checksum
//	meta     namespaces, residents, hidden documents, constants; checksummed as one
//	lists    one a term: header, block directory, blocks (list.go)
//	records  one a document: checksum, length, strings
//	docs     docEntry bytes a document in groups of docGroup, each group with its checksum
//	dict     the term dictionary: buckets of bucketSize, each with its checksum (dict.go)
//	order    the documents by id, 32 bits each
//
// Documents are ordered by namespace, then newest first, so that a namespace is one
// range of numbers and the postings of other projects are skipped unread.
const (
	magic   = "stillso\n"
	version = 1

	kindBase  = 1
	kindDelta = 2

	headerSize = 256
	docEntry   = 24
	docGroup   = 16
	docStride  = docEntry*docGroup + 4
	blockSize  = 128
	// tail is what must follow a block in the file, as unpacking reads whole words.
	tail = 8
)

// section is a part of the file.
type section struct{ off, size uint64 }

// header is the fixed part at the start of a file.
type header struct {
	kind    uint32
	id      uint64 // names the content of this file
	base    uint64 // delta: the id of the base it belongs to
	seq     int64  // last change of the journal that the file knows
	docs    uint32
	terms   uint32
	buckets uint32
	hidden  uint32
	size    uint64 // of the whole file
	body    uint32 // checksum of all after the header
	lists   section
	table   section
	records section
	dict    section
	meta    section
	idOrder section
}

func (h *header) sections() []*section {
	return []*section{&h.lists, &h.table, &h.records, &h.dict, &h.meta, &h.idOrder}
}

func (h *header) encode() []byte {
	b := make([]byte, 0, headerSize)
	le := binary.LittleEndian
	b = append(b, magic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint32(b, h.kind)
	b = le.AppendUint64(b, h.id)
	b = le.AppendUint64(b, h.base)
	b = le.AppendUint64(b, uint64(h.seq))
	for _, v := range []uint32{h.docs, h.terms, h.buckets, h.hidden} {
		b = le.AppendUint32(b, v)
	}
	b = le.AppendUint64(b, h.size)
	b = le.AppendUint32(b, h.body)
	for _, s := range h.sections() {
		b = le.AppendUint64(b, s.off)
		b = le.AppendUint64(b, s.size)
	}
	b = append(b, make([]byte, headerSize-4-len(b))...)
	return le.AppendUint32(b, checksum(b))
}

// decodeHeader reads the header of a file of this size; data is its beginning.
func decodeHeader(data []byte, size int64) (h header, err error) {
	if len(data) < headerSize || string(data[:8]) != magic {
		return h, damaged("not a snapshot, or cut short")
	}
	le := binary.LittleEndian
	if v := le.Uint32(data[8:]); v > version {
		return h, fmt.Errorf("snapshot of format %d: %w", v, stillso.ErrNewer)
	}
	if le.Uint32(data[headerSize-4:]) != checksum(data[:headerSize-4]) {
		return h, damaged("header")
	}
	h.kind = le.Uint32(data[12:])
	h.id = le.Uint64(data[16:])
	h.base = le.Uint64(data[24:])
	h.seq = int64(le.Uint64(data[32:]))
	h.docs = le.Uint32(data[40:])
	h.terms = le.Uint32(data[44:])
	h.buckets = le.Uint32(data[48:])
	h.hidden = le.Uint32(data[52:])
	h.size = le.Uint64(data[56:])
	h.body = le.Uint32(data[64:])
	at := 68
	for _, s := range h.sections() {
		s.off, s.size = le.Uint64(data[at:]), le.Uint64(data[at+8:])
		at += 16
		if s.off < headerSize || s.off > h.size || s.size > h.size-s.off {
			return h, damaged("header")
		}
	}
	if h.size != uint64(size) {
		return h, damaged("wrong size")
	}
	groups := (uint64(h.docs) + docGroup - 1) / docGroup
	if h.docs >= uint32(deltaRef) || h.table.size != groups*docStride ||
		h.dict.size < uint64(h.buckets)*bucketSize || h.dict.size%bucketSize != 0 || h.idOrder.size != uint64(h.docs)*4 {
		return h, damaged("header")
	}
	return h, nil
}

func damaged(what string) error {
	return fmt.Errorf("snapshot: %s: %w", what, stillso.ErrDamaged)
}

// checksum of a part of the file. CRC-32 would do, but building its tables takes a
// cold process longer than all checking. Each word changes the state in a way that can
// be undone, so a change within eight bytes always changes the state; the 32 bits that
// are kept miss any other change once in four thousand million.
func checksum(b []byte) uint32 { return seeded(0, b) }

// seeded is a checksum that also fails if the part belongs to another place.
func seeded(place uint32, b []byte) uint32 {
	var s sum
	s.state = uint64(place) * 0x9e3779b97f4a7c15
	s.write(b)
	return s.finish()
}

// sum is a checksum in the making. All writes but the last must be of whole words.
type sum struct {
	state uint64
	size  uint64
}

func (s *sum) write(b []byte) {
	const odd = 0xff51afd7ed558ccd
	h := s.state
	s.size += uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * odd
		h ^= h >> 32
	}
	if len(b) > 0 {
		var last [8]byte
		copy(last[:], b)
		h = (h ^ binary.LittleEndian.Uint64(last[:])) * odd
		h ^= h >> 32
	}
	s.state = h
}

func (s *sum) finish() uint32 {
	h := s.state ^ s.size
	h *= 0xc4ceb9fe1a85ec53
	return uint32(h>>32) ^ uint32(h)
}

// hash of a term: FNV-1a, then mixed so that all bits depend on all bytes.
func hash(term string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(term); i++ {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// The codes of types, states and origins in the file. The order is part of the
// format: add at the end only.
var (
	typeCodes = [...]stillso.Type{
		stillso.Preference, stillso.Constraint, stillso.Decision, stillso.Fact,
		stillso.Procedure, stillso.Event, stillso.Reference, stillso.Todo,
	}
	stateCodes  = [...]stillso.State{stillso.Draft, stillso.Active, stillso.Superseded, stillso.Retired}
	originCodes = [...]stillso.Origin{
		stillso.FromUser, stillso.FromProposal, stillso.FromInferred, stillso.FromFile, stillso.FromImport,
	}
)

func code[S comparable](list []S, v S) (uint8, bool) {
	for i, c := range list {
		if c == v {
			return uint8(i), true
		}
	}
	return 0, false
}

func decode[S any](list []S, c uint8) (v S) {
	if int(c) < len(list) {
		return list[c]
	}
	return v
}
