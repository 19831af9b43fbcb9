package snapshot

import (
	"encoding/binary"
	"math/bits"
)

// A list holds the postings of one term, ordered by document:
//
//	term length (uvarint), term, documents (uvarint), highest I1 (1 byte),
//	size of the blocks (uvarint), directory if there is more than one block,
//	checksum of all this
//	blocks
//
// A directory entry is: last document (4 bytes), end of the block (4), highest I1 (1),
// reserved (1). A block is: first document (4), width of the gaps in bits (1), bytes of
// a mask (1), whether I1 is kept apart (1), gaps packed, I0s, I1s, masks, checksum.
// Short memories have neither masks nor two impacts and so pay for neither.
const (
	dirEntry  = 10
	blockHead = 7
)

// entry is a posting in a list.
type entry struct {
	doc    uint32
	i0, i1 uint8
	mask   uint64
}

// appendList encodes the postings of a term, which are in order of documents.
// at is where the list will stand in its section.
func appendList(dst []byte, term string, at uint64, entries []entry) []byte {
	n := (len(entries) + blockSize - 1) / blockSize
	var dir, blocks []byte
	var highest uint8
	le := binary.LittleEndian
	for b := range n {
		part := entries[b*blockSize : min((b+1)*blockSize, len(entries))]
		var top uint8
		for _, e := range part {
			top = max(top, e.i1)
		}
		highest = max(highest, top)
		blocks = appendBlock(blocks, b, part)
		dir = le.AppendUint32(dir, part[len(part)-1].doc)
		dir = le.AppendUint32(dir, uint32(len(blocks)))
		dir = append(dir, top, 0)
	}
	start := len(dst)
	dst = binary.AppendUvarint(dst, uint64(len(term)))
	dst = append(dst, term...)
	dst = binary.AppendUvarint(dst, uint64(len(entries)))
	dst = append(dst, highest)
	dst = binary.AppendUvarint(dst, uint64(len(blocks)))
	if n > 1 {
		dst = append(dst, dir...)
	}
	dst = le.AppendUint32(dst, seeded(uint32(at), dst[start:]))
	return append(dst, blocks...)
}

func appendBlock(dst []byte, index int, part []entry) []byte {
	le := binary.LittleEndian
	start := len(dst)
	var gaps uint32
	var masks uint64
	apart := byte(0)
	for i, e := range part {
		if i > 0 {
			gaps |= e.doc - part[i-1].doc - 1
		}
		masks |= e.mask
		if e.i0 != e.i1 {
			apart = 1
		}
	}
	width := bits.Len32(gaps)
	maskBytes := (bits.Len64(masks) + 7) / 8
	dst = le.AppendUint32(dst, part[0].doc)
	dst = append(dst, byte(width), byte(maskBytes), apart)
	var word uint64
	var held int
	for i := 1; i < len(part); i++ {
		word |= uint64(part[i].doc-part[i-1].doc-1) << held
		for held += width; held >= 8; held -= 8 {
			dst = append(dst, byte(word))
			word >>= 8
		}
	}
	if held > 0 {
		dst = append(dst, byte(word))
	}
	for _, e := range part {
		dst = append(dst, e.i0)
	}
	if apart == 1 {
		for _, e := range part {
			dst = append(dst, e.i1)
		}
	}
	for _, e := range part {
		for i := range maskBytes {
			dst = append(dst, byte(e.mask>>(8*i)))
		}
	}
	return le.AppendUint32(dst, seeded(uint32(index), dst[start:]))
}

// list is an opened list of a segment.
type list struct {
	seg    *segment
	docs   uint32
	top    uint8 // highest I1
	blocks int
	dir    []byte // nil if there is one block
	body   []byte // the blocks, and tail bytes that follow them
	size   int    // of the blocks
}

// mapFrom is the size from which a list is mapped instead of read.
const mapFrom = 32 << 10

// openList reads the list at a place; ok is false if it is another term's.
func (s *segment) openList(term string, p place) (l list, ok bool) {
	if p.off >= s.h.lists.size {
		s.fail("term dictionary")
		return l, false
	}
	rest := s.h.lists.size - p.off + tail // the next part of the file is longer than tail
	guess := min(64+uint64(len(term))+uint64(p.docs)*3, mapFrom, rest)
	wide := section{s.h.lists.off, s.h.lists.size + tail}
	all, ok := s.read(wide, p.off, guess, nil)
	if !ok {
		s.fail("list")
		return l, false
	}
	l, size, ok := s.parseList(term, p, all)
	if size <= uint64(len(all)) {
		return l, ok
	}
	if size > rest {
		s.fail("list")
		return l, false
	}
	if size <= mapFrom {
		all, ok = s.read(wide, p.off, size, nil)
	} else {
		var data []byte
		var err error
		if data, err = s.file.whole(); err == nil {
			all, ok = data[wide.off+p.off:][:size], true
		}
	}
	if !ok {
		s.fail("list")
		return l, false
	}
	if l, size, ok = s.parseList(term, p, all); size > uint64(len(all)) {
		s.fail("list")
	}
	return l, ok
}

// parseList reads a list from its first bytes. size is how many it needs; if they are
// more than there are, nothing else is returned.
func (s *segment) parseList(term string, p place, all []byte) (l list, size uint64, ok bool) {
	r := reader{b: all}
	n := r.uvarint()
	name := r.take(n)
	docs := r.uvarint()
	top := r.byte()
	body := r.uvarint()
	blocks := (docs + blockSize - 1) / blockSize
	var head uint64
	if r.bad {
		head = uint64(len(all)) + n // not even the head is there
	} else {
		head = uint64(r.at) + 4
		if blocks > 1 {
			head += blocks * dirEntry
		}
	}
	if docs > uint64(s.h.docs) || body > s.h.lists.size || n > s.h.lists.size {
		s.fail("list")
		return l, 0, false
	}
	if size = head + body + tail; size > uint64(len(all)) {
		return l, size, false
	}
	var dir []byte
	if blocks > 1 {
		dir = r.take(blocks * dirEntry)
	}
	if docs == 0 || r.uint32() != seeded(uint32(p.off), all[:head-4]) {
		s.fail("list")
		return l, 0, false
	}
	if string(name) != term {
		return l, 0, false
	}
	return list{
		seg: s, docs: uint32(docs), top: top, blocks: int(blocks), dir: dir, body: all[head:size], size: int(body),
	}, size, true
}

// last is the last document of block i as far as the directory knows.
func (l *list) last(i int) uint32 {
	if l.dir == nil {
		return 1<<32 - 1
	}
	return binary.LittleEndian.Uint32(l.dir[i*dirEntry:])
}

// highest is the highest I1 of block i.
func (l *list) highest(i int) uint8 {
	if l.dir == nil {
		return l.top
	}
	return l.dir[i*dirEntry+8]
}

// seek returns the first block at or after from that may hold a document >= doc.
func (l *list) seek(doc uint32, from int) int {
	if from < l.blocks && l.last(from) >= doc {
		return from
	}
	lo, hi := from, l.blocks
	for step := 1; lo+step < hi; step *= 2 {
		if l.last(lo+step) >= doc {
			hi = lo + step + 1
			break
		}
		lo += step
	}
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); l.last(mid) < doc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// block is one unpacked block.
type block struct {
	index     int // -1 before the first load
	n         int
	docs      []uint32
	i0, i1    []byte
	masks     []byte
	maskBytes int
}

// load unpacks block i of l, unless b holds it already. It reports failure to the
// segment and then leaves b empty.
func (b *block) load(l *list, i int) {
	if b.index == i {
		return
	}
	b.index, b.n = i, 0
	le := binary.LittleEndian
	start, end := 0, l.size
	n := min(int(l.docs)-i*blockSize, blockSize)
	if l.dir != nil {
		end = int(le.Uint32(l.dir[i*dirEntry+4:]))
		if i > 0 {
			start = int(le.Uint32(l.dir[(i-1)*dirEntry+4:]))
		}
	}
	if start > end || end > l.size || end-start < blockHead+4 || n < 1 {
		l.seg.fail("list")
		return
	}
	raw := l.body[start : end-4]
	if le.Uint32(l.body[end-4:]) != seeded(uint32(i), raw) {
		l.seg.fail("list")
		return
	}
	width, maskBytes, apart := int(raw[4]), int(raw[5]), int(raw[6])
	packed := (width*(n-1) + 7) / 8
	if width > 32 || maskBytes > 8 || apart > 1 || len(raw) != blockHead+packed+n*(1+apart+maskBytes) ||
		len(l.body) < end+tail {
		l.seg.fail("list")
		return
	}
	doc := le.Uint32(raw)
	if b.docs == nil {
		b.docs = make([]uint32, min(int(l.docs), blockSize))
	}
	b.docs[0] = doc
	unpack(b.docs[:n], l.body[start+blockHead:], width)
	if b.docs[n-1] >= l.seg.h.docs || b.docs[n-1] < doc {
		l.seg.fail("list")
		return
	}
	rest := raw[blockHead+packed:]
	b.i0 = rest[:n]
	b.i1 = rest[apart*n : apart*n+n]
	b.masks, b.maskBytes = rest[(1+apart)*n:], maskBytes
	b.n = n
}

// unpack adds up the gaps behind docs[0].
func unpack(docs []uint32, packed []byte, width int) {
	doc := docs[0]
	keep := uint64(1)<<width - 1
	bit := 0
	for j := 1; j < len(docs); j++ {
		word := binary.LittleEndian.Uint64(packed[bit>>3:])
		doc += uint32(word>>(bit&7)&keep) + 1
		docs[j] = doc
		bit += width
	}
}

// mask returns the passages of posting j.
func (b *block) mask(j int) uint64 {
	var m uint64
	for i := range b.maskBytes {
		m |= uint64(b.masks[j*b.maskBytes+i]) << (8 * i)
	}
	return m
}

// find returns the place of the first document >= doc.
func (b *block) find(doc uint32) int {
	lo, hi := 0, b.n
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); b.docs[mid] < doc {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// reader takes values off the front of b; bad is set when b ends too early.
type reader struct {
	b   []byte
	at  int
	bad bool
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.b)-r.at) {
		r.bad = true
		return nil
	}
	v := r.b[r.at : r.at+int(n)]
	r.at += int(n)
	return v
}

func (r *reader) uvarint() uint64 {
	if r.bad {
		return 0
	}
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.at += n
	return v
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) string() string { return string(r.take(r.uvarint())) }

func (r *reader) strings() []string {
	n := r.uvarint()
	if n == 0 || r.bad || n > uint64(len(r.b)) {
		return nil
	}
	out := make([]string, 0, min(n, 64))
	for ; n > 0 && !r.bad; n-- {
		out = append(out, r.string())
	}
	return out
}
