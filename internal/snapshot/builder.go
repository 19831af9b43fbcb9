package snapshot

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"

	"stillso"
)

// Builder takes documents one by one, in any order, and writes one file. It keeps
// postings in memory, about three bytes each, and the documents' strings beside
// the file on disk. Commit or Discard must be called.
type Builder struct {
	path      string
	h         header
	constants map[string][]byte
	base      *segment // the base of a delta

	side    *os.File
	sideBuf *bufio.Writer
	sideAt  int64

	docs  []docState
	names map[stillso.Namespace]uint32
	list  []stillso.Namespace
	terms map[string]uint32
	posts []termState

	spaces    []space
	residents []uint32
	hidden    []uint32
	err       error
}

// docState is what the builder remembers of a document.
type docState struct {
	entry   [docEntry]byte
	off     int64 // of its strings in the side file
	id      string
	space   uint32
	updated uint32
	arrival uint32
	size    uint32
}

// termState is a term with its postings in order of arrival: gap and whether there
// is a mask (uvarint), I0, then I1 and mask (uvarint) if there is one.
type termState struct {
	term string
	list []byte
	last uint32 // arrival + 1 of the last one
}

func newBuilder(path string, h header, constants map[string][]byte) (*Builder, error) {
	b := &Builder{
		path: path, h: h, constants: constants,
		names: map[stillso.Namespace]uint32{}, terms: map[string]uint32{},
	}
	// What a killed writer left behind is in the way; the lock says nobody uses it.
	for _, old := range []string{b.temp(), b.records()} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
	}
	side, err := os.OpenFile(b.records(), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	b.side, b.sideBuf = side, bufio.NewWriterSize(side, 1<<18)
	return b, nil
}

// Add adds one document with its postings. Of two postings for one term the
// stronger impacts count. The id must not have been added before.
func (b *Builder) Add(d Doc, postings []Posting) error {
	if b.err != nil {
		return b.err
	}
	if d.ID == "" {
		return errors.New("document without an id")
	}
	if uint32(len(b.docs)) >= uint32(deltaRef)-1 {
		return errors.New("too many documents for one snapshot")
	}
	st, err := b.state(&d)
	if err != nil {
		return fmt.Errorf("document %s: %w", d.ID, err)
	}
	for _, p := range postings {
		b.addPosting(p, st.arrival)
	}
	raw := d.appendRecord(nil)
	if uint64(len(raw)) > math.MaxUint32/2 {
		return fmt.Errorf("document %s: text too long", d.ID)
	}
	st.off, st.size = b.sideAt, uint32(len(raw))
	b.sideAt += int64(len(raw))
	b.docs = append(b.docs, st)
	_, b.err = b.sideBuf.Write(raw)
	if b.base != nil {
		b.Hide(d.ID)
	}
	return b.err
}

// Set adds a constant that is known only once the documents are.
func (b *Builder) Set(key string, value []byte) {
	c := maps.Clone(b.constants)
	if c == nil {
		c = map[string][]byte{}
	}
	c[key] = value
	b.constants = c
}

// Hide takes a document out of the base; one the base does not have is no error.
// It has no effect on a base.
func (b *Builder) Hide(id string) {
	if b.base == nil {
		return
	}
	if doc, ok := b.base.byID(id); ok {
		b.hidden = append(b.hidden, doc)
	}
	if b.err == nil {
		b.err = b.base.err
	}
}

func (b *Builder) state(d *Doc) (st docState, err error) {
	t, ok1 := code(typeCodes[:], d.Type)
	s, ok2 := code(stateCodes[:], d.State)
	o, ok3 := code(originCodes[:], d.Origin)
	if !ok1 || !ok2 || !ok3 {
		return st, fmt.Errorf("unknown type %q, state %q or origin %q", d.Type, d.State, d.Origin)
	}
	n, ok := b.names[d.Namespace]
	if !ok {
		n = uint32(len(b.list))
		b.names[d.Namespace] = n
		b.list = append(b.list, d.Namespace)
	}
	if d.Flags &^= Loaded; len(d.LoadedBy) > 0 {
		d.Flags |= Loaded
	}
	le := binary.LittleEndian
	st = docState{id: d.ID, space: n, updated: second(d.Updated), arrival: uint32(len(b.docs))}
	st.entry[6], st.entry[7] = t, s|o<<4
	le.PutUint32(st.entry[8:], second(d.Created))
	le.PutUint32(st.entry[12:], st.updated)
	st.entry[16] = d.Priority
	le.PutUint16(st.entry[18:], uint16(d.Flags))
	le.PutUint32(st.entry[20:], d.Numbers)
	return st, nil
}

// second fits a Unix time into 32 bits: 1970 to 2106.
func second(t int64) uint32 { return uint32(min(max(t, 0), math.MaxUint32)) }

func (b *Builder) addPosting(p Posting, arrival uint32) {
	i0, i1, mask := p.I0, p.I1, p.Mask
	if i1 <= i0 || mask == 0 {
		i1, mask = i0, 0
	}
	if i1 == 0 || p.Term == "" {
		return
	}
	n, ok := b.terms[p.Term]
	if !ok {
		n = uint32(len(b.posts))
		b.terms[p.Term] = n
		b.posts = append(b.posts, termState{term: p.Term})
	}
	t := &b.posts[n]
	gap := uint64(arrival+1-t.last) << 1
	t.last = arrival + 1
	if mask == 0 {
		t.list = append(binary.AppendUvarint(t.list, gap), i0)
		return
	}
	t.list = append(binary.AppendUvarint(t.list, gap|1), i0, i1)
	t.list = binary.AppendUvarint(t.list, mask)
}

// Discard throws the work away; after Commit it does nothing.
func (b *Builder) Discard() {
	if b.side == nil {
		return
	}
	b.side.Close() //nolint:errcheck,gosec // thrown away
	b.side = nil
	b.base.close()         //nolint:errcheck,gosec // read only
	os.Remove(b.records()) //nolint:errcheck,gosec // thrown away; the next writer tries again
	os.Remove(b.temp())    //nolint:errcheck,gosec // as above
}

// Commit writes the file beside the old one, makes it last, and puts it in its
// place. On an error the old file stands.
func (b *Builder) Commit() (Info, error) {
	defer b.Discard()
	if b.side == nil {
		return Info{}, errors.New("snapshot: already finished")
	}
	if b.err == nil {
		b.err = b.sideBuf.Flush()
	}
	if b.err == nil {
		b.err = b.order()
	}
	if b.err != nil {
		return Info{}, b.err
	}
	o, err := newOutput(b.temp())
	if err != nil {
		return Info{}, err
	}
	o.write(make([]byte, headerSize))
	b.h.docs, b.h.hidden = uint32(len(b.docs)), uint32(len(b.hidden))
	b.h.meta.off = o.at
	o.write(b.encodeMeta())
	b.h.meta.size = o.at - b.h.meta.off
	slots := b.writeLists(o)
	b.writeRecords(o, b.side)
	b.writeDict(o, slots)
	b.h.idOrder.off = o.at
	o.write(b.idOrder())
	if b.err != nil {
		o.f.Close() //nolint:errcheck,gosec // thrown away
		return Info{}, b.err
	}
	b.h.idOrder.size = o.at - b.h.idOrder.off
	if err := b.commit(o); err != nil {
		return Info{}, fmt.Errorf("write %s: %w", b.path, err)
	}
	return Info{ID: b.h.id, Seq: b.h.seq, Docs: len(b.docs), Terms: len(slots), Bytes: int64(b.h.size)}, nil
}

// order puts the documents in their final order and finds the ranges of the
// namespaces.
func (b *Builder) order() error {
	slices.SortFunc(b.docs, func(x, y docState) int {
		if x.space != y.space {
			return cmp.Compare(b.list[x.space], b.list[y.space])
		}
		if x.updated != y.updated {
			return cmp.Compare(y.updated, x.updated)
		}
		return cmp.Compare(x.id, y.id)
	})
	for i := range b.docs {
		d := &b.docs[i]
		if i == 0 || d.space != b.docs[i-1].space {
			b.spaces = append(b.spaces, space{name: b.list[d.space], from: uint32(i)})
		}
		b.spaces[len(b.spaces)-1].to = uint32(i + 1)
		if Flags(binary.LittleEndian.Uint16(d.entry[18:]))&Resident != 0 {
			b.residents = append(b.residents, uint32(i))
		}
	}
	slices.Sort(b.hidden)
	b.hidden = slices.Compact(b.hidden)
	return nil
}

// idOrder lists the documents by id.
func (b *Builder) idOrder() []byte {
	order := make([]uint32, len(b.docs))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(x, y uint32) int { return cmp.Compare(b.docs[x].id, b.docs[y].id) })
	out := make([]byte, 0, 4*len(order))
	for i, d := range order {
		if i > 0 && b.docs[d].id == b.docs[order[i-1]].id {
			b.err = fmt.Errorf("document %s was added twice", b.docs[d].id)
		}
		out = binary.LittleEndian.AppendUint32(out, d)
	}
	return out
}

// writeLists writes the postings, in the order of the dictionary.
func (b *Builder) writeLists(o *output) []slot {
	place := make([]uint32, len(b.docs)) // arrival to final number
	for i, d := range b.docs {
		place[d.arrival] = uint32(i)
	}
	type key struct {
		hash uint64
		n    uint32
	}
	keys := make([]key, len(b.posts))
	for i := range b.posts {
		keys[i] = key{hash(b.posts[i].term), uint32(i)}
	}
	slices.SortFunc(keys, func(x, y key) int {
		if x.hash != y.hash {
			return cmp.Compare(x.hash, y.hash)
		}
		return cmp.Compare(b.posts[x.n].term, b.posts[y.n].term)
	})
	b.h.lists.off = o.at
	slots := make([]slot, 0, len(keys))
	var entries []entry
	var raw []byte
	for _, k := range keys {
		t := &b.posts[k.n]
		entries = t.entries(entries[:0], place)
		off := o.at - b.h.lists.off
		raw = appendList(raw[:0], t.term, off, entries)
		o.write(raw)
		slots = append(slots, slot{hash: k.hash, docs: uint32(len(entries)), off: off})
		t.list = nil
	}
	b.h.lists.size = o.at - b.h.lists.off
	return slots
}

// entries unpacks the postings into the final order of documents.
func (t *termState) entries(dst []entry, place []uint32) []entry {
	arrival := uint32(0)
	for list := t.list; len(list) > 0; {
		gap, n := binary.Uvarint(list)
		e := entry{i0: list[n], i1: list[n]}
		list = list[n+1:]
		if gap&1 == 1 {
			e.i1 = list[0]
			mask, n := binary.Uvarint(list[1:])
			e.mask = mask
			list = list[1+n:]
		}
		arrival += uint32(gap >> 1)
		e.doc = place[arrival-1]
		if last := len(dst) - 1; gap>>1 == 0 {
			dst[last].i0 = max(dst[last].i0, e.i0)
			dst[last].i1 = max(dst[last].i1, e.i1)
			dst[last].mask |= e.mask
			continue
		}
		dst = append(dst, e)
	}
	slices.SortFunc(dst, func(x, y entry) int { return cmp.Compare(x.doc, y.doc) })
	return dst
}
