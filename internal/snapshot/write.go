package snapshot

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Info describes a file of the snapshot.
type Info struct {
	ID    uint64
	Seq   int64 // last change of the journal that it knows
	Docs  int
	Terms int
	Bytes int64
}

// Writer holds the writers' lock of a directory. Read the store while holding it:
// else an older view of the store may replace a newer one.
type Writer struct {
	dir    string
	unlock func() error
}

// Lock waits at most wait until no other process writes; then it is stillso.ErrBusy.
func Lock(dir string, wait time.Duration) (*Writer, error) {
	unlock, err := lock(filepath.Join(dir, LockFile), wait)
	if err != nil {
		return nil, fmt.Errorf("lock of the recall index: %w", err)
	}
	return &Writer{dir: dir, unlock: unlock}, nil
}

// Unlock lets the next writer in.
func (w *Writer) Unlock() error { return w.unlock() }

// Base describes the base that stands, Delta the delta that is in use with it;
// stillso.ErrNotFound if there is none, stillso.ErrDamaged if it is broken.
func (w *Writer) Base() (Info, error) { return w.info(BaseFile) }

// Delta describes the delta.
func (w *Writer) Delta() (Info, error) { return w.info(DeltaFile) }

func (w *Writer) info(name string) (Info, error) {
	s, err := openSegment(filepath.Join(w.dir, name))
	if err != nil {
		return Info{}, err
	}
	i := Info{ID: s.h.id, Seq: s.h.seq, Docs: int(s.h.docs), Terms: int(s.h.terms), Bytes: int64(s.h.size)}
	if name == DeltaFile {
		i.ID = s.h.base
	}
	return i, s.close()
}

// Options say what a file is built from.
type Options struct {
	// Seq is the last change of the journal that the documents rest on.
	Seq int64
	// Constants are kept for whoever reads the file.
	Constants map[string][]byte
}

// NewBase starts a base of the whole store.
func (w *Writer) NewBase(o Options) (*Builder, error) {
	return newBuilder(filepath.Join(w.dir, BaseFile), header{kind: kindBase, seq: o.Seq}, o.Constants)
}

// NewDelta starts a delta to the base that stands: of all that changed after the
// base's Seq. What is added hides the document of the same id in the base; what
// only disappeared is named by Hide.
func (w *Writer) NewDelta(o Options) (*Builder, error) {
	base, err := openSegment(filepath.Join(w.dir, BaseFile))
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(filepath.Join(w.dir, DeltaFile), header{kind: kindDelta, base: base.h.id, seq: o.Seq}, o.Constants)
	if err != nil {
		base.close() //nolint:errcheck,gosec // the first error is what matters
		return nil, err
	}
	b.base = base
	return b, nil
}

// output writes a file front to back and sums it up. The file begins with a header
// that is filled in at the end, and is not summed.
type output struct {
	f    *os.File
	w    *bufio.Writer
	at   uint64
	sum  sum
	held []byte // less than a word that waits for the sum
	err  error
}

func newOutput(path string) (*output, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &output{f: f, w: bufio.NewWriterSize(f, 1<<18)}, nil
}

func (o *output) write(b []byte) {
	if o.err != nil {
		return
	}
	if o.at >= headerSize {
		o.held = append(o.held, b...)
		whole := len(o.held) &^ 7
		o.sum.write(o.held[:whole])
		o.held = append(o.held[:0], o.held[whole:]...)
	}
	_, o.err = o.w.Write(b)
	o.at += uint64(len(b))
}

// commit writes the header in front, makes the file last and puts it in place.
func (b *Builder) commit(o *output) (err error) {
	o.sum.write(o.held)
	b.h.size, b.h.body = o.at, o.sum.finish()
	b.h.id = uint64(b.h.body)<<32 ^ uint64(b.h.docs)<<16 ^ o.at ^ uint64(b.h.seq)*0x9e3779b97f4a7c15
	if o.err == nil {
		o.err = o.w.Flush()
	}
	if o.err == nil {
		_, o.err = o.f.WriteAt(b.h.encode(), 0)
	}
	if o.err == nil {
		o.err = o.f.Sync()
	}
	if err := errors.Join(o.err, o.f.Close()); err != nil {
		return err
	}
	if err := replace(b.temp(), b.path); err != nil {
		return err
	}
	dir := filepath.Dir(b.path)
	if b.h.kind == kindBase {
		// The old delta belongs to the old base: readers leave it out already.
		if err := os.Remove(filepath.Join(dir, DeltaFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return syncDir(dir)
}

// syncDir makes a rename last. Systems that cannot sync a directory do it alone.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	d.Sync() //nolint:errcheck,gosec // not all systems can
	return d.Close()
}

// replace renames with a few tries: on Windows a reader that is just looking at
// the old file can hold it up for milliseconds.
func replace(from, to string) error {
	var err error
	for range 20 {
		if err = os.Rename(from, to); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return err
}

func (b *Builder) temp() string    { return b.path + ".new" }
func (b *Builder) records() string { return b.path + ".records" }

// writeRecords copies the strings from the side file in the order of the
// documents, and writes the table of documents.
func (b *Builder) writeRecords(o *output, side *os.File) {
	le := binary.LittleEndian
	table := make([]byte, 0, len(b.docs)*docEntry+4*len(b.docs)/docGroup+docStride)
	b.h.records.off = o.at
	var raw []byte
	for i, d := range b.docs {
		raw = append(raw[:0], make([]byte, 8+int(d.size))...)
		if _, err := side.ReadAt(raw[8:], d.off); err != nil && !errors.Is(err, io.EOF) {
			o.err = errors.Join(o.err, err)
			return
		}
		le.PutUint32(raw, seeded(uint32(i), raw[8:]))
		le.PutUint32(raw[4:], d.size)
		e := d.entry
		le.PutUint64(e[:], le.Uint64(e[:])|(o.at-b.h.records.off))
		table = append(table, e[:]...)
		if i%docGroup == docGroup-1 {
			table = le.AppendUint32(table, seeded(uint32(i/docGroup), table[len(table)-docEntry*docGroup:]))
		}
		o.write(raw)
	}
	if rest := len(b.docs) % docGroup; rest > 0 {
		table = append(table, make([]byte, (docGroup-rest)*docEntry)...)
		table = le.AppendUint32(table, seeded(uint32(len(b.docs)/docGroup), table[len(table)-docEntry*docGroup:]))
	}
	b.h.records.size = o.at - b.h.records.off
	b.h.table.off = o.at
	o.write(table)
	b.h.table.size = o.at - b.h.table.off
}

// encodeMeta writes the small variable part.
func (b *Builder) encodeMeta() []byte {
	out := []byte{0, 0, 0, 0}
	out = binary.AppendUvarint(out, uint64(len(b.spaces)))
	for _, s := range b.spaces {
		out = binary.AppendUvarint(out, uint64(len(s.name)))
		out = append(out, s.name...)
		out = binary.AppendUvarint(out, uint64(s.to-s.from))
	}
	out = appendAscending(out, b.residents)
	out = appendAscending(out, b.hidden)
	out = binary.AppendUvarint(out, uint64(len(b.constants)))
	for _, k := range slices.Sorted(maps.Keys(b.constants)) {
		v := b.constants[k]
		out = binary.AppendUvarint(out, uint64(len(k)))
		out = append(out, k...)
		out = binary.AppendUvarint(out, uint64(len(v)))
		out = append(out, v...)
	}
	binary.LittleEndian.PutUint32(out, checksum(out[4:]))
	return out
}

func appendAscending(dst []byte, list []uint32) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(list)))
	var last uint32
	for _, v := range list {
		dst = binary.AppendUvarint(dst, uint64(v-last))
		last = v
	}
	return dst
}
