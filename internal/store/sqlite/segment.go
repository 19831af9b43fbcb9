package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"stillso"
)

// maxSegment is the size in bytes at which a segment is closed. Small enough to
// be rewritten by a purge in a moment, large enough that there are few.
const maxSegment = 8 << 20

// segmentHeader is the first line of every segment.
type segmentHeader struct {
	Format   string `json:"format"`
	V        int    `json:"v"`
	Instance string `json:"instance"`
	Segment  int    `json:"segment"`
}

const segmentFormat = "stillso-journal"

// errOtherStore: a segment that was put here by hand. It is never written over.
var errOtherStore = fmt.Errorf("%w: a journal segment is of another store; run stillso repair", stillso.ErrDamaged)

var segmentName = regexp.MustCompile(`^[0-9]{8}\.jsonl$`)

func segmentPath(dir string, n int) string { return filepath.Join(dir, fmt.Sprintf("%08d.jsonl", n)) }

// segments lists the numbers of the segments in the folder, in order.
func segments(dir string) ([]int, error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var ns []int
	for _, f := range files {
		if !segmentName.MatchString(f.Name()) {
			continue
		}
		if !f.Type().IsRegular() {
			return nil, fmt.Errorf("journal segment %s is a %s: remove it, then run stillso repair", f.Name(), kindOf(f.Type()))
		}
		n, _ := strconv.Atoi(f.Name()[:8]) // eight digits
		ns = append(ns, n)
	}
	slices.Sort(ns)
	return ns, err
}

// readSegment calls f for every whole line from offset on, with the offset
// after it. A last line without newline was cut and is not reported. The header
// is checked and left out.
func readSegment(path string, instance string, offset int64, f func(text []byte, end int64) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // read only
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	r := bufio.NewReaderSize(file, 1<<16)
	for {
		text, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		first := offset == 0
		offset += int64(len(text))
		if first {
			var h segmentHeader
			if json.Unmarshal(text, &h) != nil || h.Format != segmentFormat {
				return damaged("%s does not begin like a journal segment", filepath.Base(path))
			}
			if h.V > 1 {
				return stillso.ErrNewer
			}
			if instance != "" && h.Instance != instance {
				return fmt.Errorf("%w: %s", errOtherStore, filepath.Base(path))
			}
			continue
		}
		if err := f(text, offset); err != nil {
			return err
		}
	}
}

// catchUp brings the segments and store.head to where the database is. The
// caller holds the lock file. It heals what a writer that died has left: a
// missing line, a line cut short, an old head, lost segments.
func (s *Store) catchUp(ctx context.Context) error {
	if err := s.same(); err != nil {
		return err
	}
	h, err := readHead(s.path(headFile))
	if err != nil {
		return err
	}
	end, whole, err := s.findEnd(h)
	if err != nil {
		return err
	}
	return s.view(ctx, func(tx *txn) error {
		for _, known := range []*head{h, end} {
			if known == nil {
				continue
			}
			if err := s.agree(ctx, tx, known); err != nil {
				return err
			}
		}
		if !whole {
			return s.rewriteSegments(ctx, tx)
		}
		last := *end
		if err := s.extend(ctx, tx, s.path(journalDir), &last); err != nil {
			return fmt.Errorf("write the journal segment: %w", err)
		}
		if h != nil && *h == last {
			return nil
		}
		return s.writeHead(&last)
	})
}

// findEnd returns where the segments end, reading only what was written after h.
// If they are missing, cut or not readable, whole is false, and they are to be
// written anew from the database; end is then the last change that can still be
// read in them, so that a database that is behind it is found out.
func (s *Store) findEnd(h *head) (end *head, whole bool, err error) {
	dir := s.path(journalDir)
	ns, err := segments(dir)
	if err != nil {
		return nil, false, err
	}
	start := head{instance: s.instance, hash: s.genesis, segment: 1}
	if len(ns) == 0 {
		return &start, h == nil || h.seq == 0, nil
	}
	end = &start
	if h != nil {
		from := *h
		end = &from
	}
	if ns[0] == 1 && ns[len(ns)-1] == len(ns) && end.segment <= len(ns) {
		err = s.follow(end, len(ns))
	} else {
		err = damaged("a journal segment is missing")
	}
	if err == nil || errors.Is(err, stillso.ErrNewer) || errors.Is(err, errOtherStore) || !errors.Is(err, stillso.ErrDamaged) {
		return end, true, err
	}
	return s.lastReadable(ns), false, nil
}

// follow moves end to the end of the segments, along the chain.
func (s *Store) follow(end *head, last int) error {
	for n := end.segment; n <= last; n++ {
		if n > end.segment {
			end.segment, end.size = n, 0
		}
		path := segmentPath(s.path(journalDir), n)
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		if info.Size() < end.size {
			return damaged("%s was cut", filepath.Base(path))
		}
		if info.Size() == end.size {
			continue
		}
		err = readSegment(path, s.instance, end.size, func(text []byte, after int64) error {
			e, err := parseLine(text)
			if err != nil {
				return err
			}
			if e.prev != end.hash || e.core.Seq != end.seq+1 {
				return damaged("%s: entry %d does not follow on %d", filepath.Base(path), e.core.Seq, end.seq)
			}
			end.seq, end.hash, end.size = e.core.Seq, e.hash, after
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// lastReadable returns the newest change of any line that can be read.
func (s *Store) lastReadable(ns []int) *head {
	last := head{instance: s.instance, hash: s.genesis, segment: 1}
	for _, n := range ns {
		// An error means that the rest of this file tells nothing.
		_ = readSegment(segmentPath(s.path(journalDir), n), s.instance, 0, func(text []byte, _ int64) error {
			if e, err := parseLine(text); err == nil && e.core.Seq > last.seq {
				last.seq, last.hash = e.core.Seq, e.hash
			}
			return nil
		})
	}
	return &last
}

// extend appends all changes after h to the segments in dir, flushes them to
// the disk, and moves h to their end.
func (s *Store) extend(ctx context.Context, tx *txn, dir string, h *head) (err error) {
	w := segmentWriter{dir: dir, head: h}
	defer func() { err = errors.Join(err, w.close()) }()
	return s.entries(ctx, tx, h.seq, func(e *entry, _ stillso.Outcome) error {
		if e.prev != h.hash {
			return damaged("journal entry %d does not follow on the one before", e.core.Seq)
		}
		if err := e.check(); err != nil {
			return err
		}
		return w.add(e)
	})
}

// rewriteSegments writes all segments anew from the database and puts them in
// the place of the old ones. A crash in between leaves no folder, or an old
// head, and both are healed by the next writer.
func (s *Store) rewriteSegments(ctx context.Context, tx *txn) error {
	dir := s.path(journalDir)
	fresh, old := dir+".new", dir+".old"
	if err := errors.Join(os.RemoveAll(fresh), os.RemoveAll(old), os.Mkdir(fresh, 0o700)); err != nil {
		return err
	}
	h := head{instance: s.instance, hash: s.genesis, segment: 1}
	if err := s.extend(ctx, tx, fresh, &h); err != nil {
		return errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := errors.Join(os.Rename(fresh, dir), os.RemoveAll(old)); err != nil {
		return err
	}
	syncDir(s.dir)
	return s.writeHead(&h)
}

// segmentWriter appends lines to the last segment and begins new ones.
type segmentWriter struct {
	dir  string
	head *head
	file *os.File
	buf  bytes.Buffer
}

func (w *segmentWriter) add(e *entry) error {
	if w.file != nil && w.head.size+int64(w.buf.Len()) >= maxSegment {
		if err := w.close(); err != nil {
			return err
		}
	}
	if w.file == nil {
		if err := w.open(); err != nil {
			return err
		}
	}
	text, err := e.appendLine(w.buf.AvailableBuffer())
	if err != nil {
		return err
	}
	w.buf.Write(text)
	w.head.seq, w.head.hash = e.core.Seq, e.hash
	if w.buf.Len() > 1<<20 {
		return w.flush()
	}
	return nil
}

// open opens the last segment at its end, or begins one. What stands after the
// end was cut by a crash, and goes.
func (w *segmentWriter) open() error {
	if err := os.Mkdir(w.dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if w.head.size >= maxSegment {
		w.head.segment, w.head.size = w.head.segment+1, 0
	}
	f, err := os.OpenFile(segmentPath(w.dir, w.head.segment), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	w.file = f
	if err := f.Truncate(w.head.size); err != nil {
		return err
	}
	if _, err := f.Seek(w.head.size, io.SeekStart); err != nil {
		return err
	}
	if w.head.size > 0 {
		return nil
	}
	b, err := json.Marshal(segmentHeader{segmentFormat, 1, w.head.instance, w.head.segment})
	w.buf.Write(append(b, '\n'))
	return err
}

func (w *segmentWriter) flush() error {
	n, err := w.buf.WriteTo(w.file)
	w.head.size += n
	return err
}

// close writes what is waiting and flushes the segment to the disk.
func (w *segmentWriter) close() error {
	if w.file == nil {
		return nil
	}
	err := w.flush()
	if err == nil {
		err = w.file.Sync()
	}
	err = errors.Join(err, w.file.Close())
	w.file = nil
	w.buf.Reset()
	if w.head.size < maxSegment {
		syncDir(w.dir)
	}
	return err
}
