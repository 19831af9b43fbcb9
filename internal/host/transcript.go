package host

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"time"

	"stillso"
	"stillso/internal/digest"
)

// ErrUnsupported is wrapped by the error for a file that is no transcript of the
// host whose format it was read in.
var ErrUnsupported = errors.New("not a transcript of this assistant")

// Format is how one host writes its transcripts: JSON documents, one a line.
type Format struct {
	// Files says which files are meant, for the error about another one.
	Files string
	// MayMatter is the filter on bytes that spares most lines the decoding: true
	// for every line that has a turn in it, and for few others.
	MayMatter func(line []byte) bool
	// Row takes one document. It returns ErrJSON, before it changes anything,
	// for what is not one; any other error ends the reading.
	Row func(rd *Reader, doc []byte) error
	// Head is set if the first line says what holds for all of them: a reading
	// that begins further on looks at it first.
	Head bool
}

// Position is how far a transcript has been read: an offset in bytes, and a
// hash of the bytes just before it, by which a file that was cut or replaced is
// recognised. The zero Position is the beginning.
type Position struct {
	Offset int64  `json:"offset"`
	Mark   string `json:"mark,omitempty"`
}

// markSize is how many bytes before an offset its mark covers.
const markSize = 4 << 10

// Reading is what one reading of a transcript found, apart from its turns. A
// reading from a Position tells only of what follows it.
type Reading struct {
	// Session, Directory, Branch and Version are the first that rows name, so
	// that a session belongs where it began.
	Session, Directory, Branch, Version string
	StartedAt, EndedAt                  time.Time
	// Next is where to go on later. A last line that is still being written is
	// left for then.
	Next Position
	// Restarted is set if the file had been cut or replaced since the Position
	// that was given, and was read from its beginning.
	Restarted bool
	// Rows counts documents, Turns those handed out.
	Rows, Turns int
	// Harness counts rows of users and assistants that nobody spoke, Repeated
	// those that the file holds twice.
	Harness, Repeated int
	// Broken counts lines that are not JSON, TooLong those that did not fit into
	// memory; both were passed over.
	Broken, TooLong int
	Bytes           int64
}

// ReadFile reads a transcript from a Position on, and calls emit for every turn
// in the order of the file: what a human typed, what the assistant said (rows of
// one message as one turn), and tools in a line each. What the harness wrote is
// left out: wrappers, summaries, sub-agents, our own block. Memory is bounded
// whatever the length of a line. If emit fails, its error is returned and the
// Position stays where it was.
func (f Format) ReadFile(path string, from Position, emit func(stillso.Turn) error) (Reading, error) {
	info, err := os.Stat(path)
	if err != nil {
		return Reading{}, fmt.Errorf("transcript cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Reading{}, fmt.Errorf("transcript cannot be read: %s is not a file", path)
	}
	file, err := os.Open(path) // #nosec G304 -- reading the file that the host names is the task
	if err != nil {
		return Reading{}, fmt.Errorf("transcript cannot be read: %w", err)
	}
	defer file.Close() //nolint:errcheck // read only
	start := from
	if from.Offset < 0 || from.Offset > info.Size() || from.Offset > 0 && mark(file, from.Offset) != from.Mark {
		start = Position{}
	}
	if _, err := file.Seek(start.Offset, io.SeekStart); err != nil {
		return Reading{}, fmt.Errorf("transcript cannot be read: %w", err)
	}
	got, err := f.read(file, start.Offset, info.Size()-start.Offset, f.head(file, start.Offset), emit)
	got.Restarted = start != from
	if err != nil {
		got.Next = from
		return got, fmt.Errorf("transcript %s: %w", path, err)
	}
	got.Next.Mark = mark(file, got.Next.Offset)
	return got, nil
}

// Read reads a transcript from a stream, as ReadFile does from its beginning.
// Its Next has no mark.
func (f Format) Read(r io.Reader, emit func(stillso.Turn) error) (Reading, error) {
	return f.read(r, 0, readBuffer, nil, emit)
}

// head returns the first line of a file, if the format wants it and the reading
// begins behind it.
func (f Format) head(file io.ReaderAt, offset int64) []byte {
	if !f.Head || offset == 0 {
		return nil
	}
	line, _, _, tooLong, err := newLineReader(io.NewSectionReader(file, 0, offset), readBuffer).next()
	if err != nil || tooLong {
		return nil
	}
	return line
}

func mark(f io.ReaderAt, offset int64) string {
	buf := make([]byte, min(offset, markSize))
	if n, err := f.ReadAt(buf, offset-int64(len(buf))); n < len(buf) && err != nil {
		return ""
	}
	sum := digest.Sum256(buf)
	return hex.EncodeToString(sum[:8])
}

// Reader carries the state of one reading.
type Reader struct {
	Reading
	// Here is the directory that the rows so far say the session is in now, for
	// formats that do not repeat it in every row.
	Here string
	// Nobody is set by a format for a session in which no human took part: that
	// of a sub-agent, for example.
	Nobody bool

	format Format
	emit   func(stillso.Turn) error
	seen   map[uint64]struct{}
	seed   maphash.Seed
	// pending is the assistant message whose rows are being merged.
	pending struct {
		message string
		turns   []stillso.Turn
	}
	known bool
	head  []byte
}

// read reads what r holds; size is how much that is about, in bytes, and head a
// line before it that says what holds for all.
func (f Format) read(r io.Reader, offset, size int64, head []byte, emit func(stillso.Turn) error) (Reading, error) {
	rd := &Reader{format: f, emit: func(stillso.Turn) error { return nil }, seen: map[uint64]struct{}{}, seed: maphash.MakeSeed()}
	if len(head) > 0 {
		_ = f.Row(rd, head) // an odd one says nothing
		session, nobody, here := rd.Session, rd.Nobody, rd.Here
		*rd = Reader{format: f, seen: rd.seen, seed: rd.seed, known: rd.known, Nobody: nobody, Here: here}
		rd.Session, rd.Directory = session, here
	}
	rd.emit = emit
	lines := newLineReader(r, size)
	at := offset
	for {
		text, size, whole, tooLong, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return rd.Reading, fmt.Errorf("reading stopped at byte %d: %w", at, err)
		}
		if at == 0 {
			text = bytes.TrimPrefix(text, []byte("\ufeff"))
		}
		if len(rd.head) == 0 {
			rd.head = bytes.Clone(bytes.TrimSpace(text[:min(len(text), 256)]))
		}
		before := rd.Broken
		if !tooLong {
			if err := rd.line(text, whole); err != nil {
				return rd.Reading, err
			}
		}
		if !whole && (tooLong || rd.Broken > before) { // the end of it is still to come
			rd.Broken = before
			break
		}
		if tooLong {
			rd.TooLong++
		}
		at += size
	}
	rd.Next.Offset, rd.Bytes = at, at-offset
	if err := rd.flush(); err != nil {
		return rd.Reading, err
	}
	// A first row that is still being written is no reason to give up.
	if foreign := rd.Rows+rd.Broken > 0 || len(rd.head) > 0 && rd.head[0] != '{'; offset == 0 && !rd.known && foreign {
		return rd.Reading, fmt.Errorf("%w: %s; give %s", ErrUnsupported, looksLike(rd.head), f.Files)
	}
	return rd.Reading, nil
}

// line takes one line. What cannot matter is not taken apart, only looked at
// from both ends; but of a last line that may still be written (whole is false)
// every byte is, lest half of it pass for all.
func (rd *Reader) line(text []byte, whole bool) error {
	text = bytes.Trim(text, " \t\r\x00")
	if len(text) == 0 {
		return nil
	}
	if text[0] != '{' || text[len(text)-1] != '}' || !whole && End(text) < 0 {
		rd.Broken++
		return nil
	}
	if rd.known && !rd.format.MayMatter(text) {
		rd.Rows++
		return nil
	}
	rd.Rows++
	if err := rd.format.Row(rd, text); !errors.Is(err, ErrJSON) {
		return err
	}
	rd.Rows--
	return rd.documents(text)
}

// documents takes a line that is not one document: several, perhaps, that a lost
// line end has joined.
func (rd *Reader) documents(text []byte) error {
	for len(text) > 0 {
		end := End(text)
		if end < 0 || text[0] != '{' {
			rd.Broken++
			return nil
		}
		rd.Rows++
		if err := rd.format.Row(rd, text[:end]); errors.Is(err, ErrJSON) {
			rd.Rows--
			rd.Broken++
			return nil
		} else if err != nil {
			return err
		}
		text = bytes.TrimLeft(text[end:], " \t\r\x00")
	}
	return nil
}

// Known tells that a row has the shape of this host's: the file is a transcript.
func (rd *Reader) Known() { rd.known = true }

// New reports whether no row of this id was seen before; a second one counts as
// Repeated.
func (rd *Reader) New(id string) bool {
	key := maphash.String(rd.seed, id)
	if _, again := rd.seen[key]; again {
		rd.Repeated++
		return false
	}
	rd.seen[key] = struct{}{}
	return true
}

// Say hands out the turns of one row. Rows of one assistant message that follow
// each other are merged: its words become one turn, with the tools it used
// behind them.
func (rd *Reader) Say(message string, assistant bool, turns ...stillso.Turn) error {
	if !assistant || message == "" || message != rd.pending.message {
		if err := rd.flush(); err != nil {
			return err
		}
	}
	if !assistant {
		rd.pending.turns = append(rd.pending.turns, turns...)
		return rd.flush()
	}
	rd.pending.message = message
	for _, t := range turns {
		if p := rd.pending.turns; t.Speaker == stillso.Assistant && len(p) > 0 && p[0].Speaker == stillso.Assistant {
			p[0].Text = Join(p[0].Text, t.Text, MaxAssistant)
			continue
		}
		rd.pending.turns = append(rd.pending.turns, t)
	}
	return nil
}

func (rd *Reader) flush() error {
	for _, t := range rd.pending.turns {
		if err := rd.emit(t); err != nil {
			return err
		}
		rd.Turns++
	}
	rd.pending.message, rd.pending.turns = "", rd.pending.turns[:0]
	return nil
}

// Facts takes what a row says of its session. The first of each holds, so that a
// session belongs where it began.
func (rd *Reader) Facts(session, directory, branch, version string, at time.Time) {
	for _, f := range [...]struct {
		to   *string
		from string
	}{{&rd.Session, session}, {&rd.Directory, directory}, {&rd.Branch, branch}, {&rd.Version, version}} {
		if *f.to == "" {
			*f.to = f.from
		}
	}
	if directory != "" {
		rd.Here = directory
	}
	if at.IsZero() {
		return
	}
	if rd.StartedAt.IsZero() || at.Before(rd.StartedAt) {
		rd.StartedAt = at
	}
	if at.After(rd.EndedAt) {
		rd.EndedAt = at
	}
}

// looksLike names the formats that people hand in by mistake.
func looksLike(head []byte) string {
	for _, f := range [...][2]string{
		{"SpecStory", "it looks like a SpecStory history"},
		{"# aider chat", "it looks like an aider history"},
		{`"session_meta"`, "it looks like a Codex rollout"},
		{`"response_item"`, "it looks like a Codex rollout"},
	} {
		if bytes.Contains(head, []byte(f[0])) {
			return f[1]
		}
	}
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		return "it is JSON of another program, a Gemini session perhaps"
	}
	return "none of its lines has the shape of one"
}
