package home

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The files of the spool.
const (
	Receipts = "receipts.jsonl" // one stillso.Receipt a line
	Queue    = "queue.jsonl"    // one stillso.QueueItem a line
)

// MaxLine is the longest line of the spool, its end included. Writes of this size to a
// file opened for appending are not mixed with those of other processes.
const MaxLine = 4096

// MaxSpool is how large a spool file may grow while nobody drains it; then lines are
// dropped, so that a broken sweep cannot fill the disk.
const MaxSpool = 64 << 20

var (
	errLine = errors.New("spool: line is too long or holds a line end")
	errFull = errors.New("full, or no regular file")
)

// Append adds one line to a file of the spool with a single write. The directories are
// made if they are missing.
func (d Dir) Append(name string, line []byte) error {
	if len(line) >= MaxLine || bytes.IndexByte(line, '\n') >= 0 {
		return errLine
	}
	return d.append(filepath.Join(d.Spool(), name), append(line[:len(line):len(line)], '\n'))
}

func (d Dir) append(path string, data []byte) error {
	err := appendFile(path, data)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = appendFile(path, data)
		}
	}
	return err
}

// settle is how long a hook may take between opening a spool file and writing to it: its
// own deadline and some more.
const settle = 250 * time.Millisecond

// Drain hands over the lines of a spool file, oldest first, one call a line without its
// end. The file is renamed first, so that hooks go on appending to a new one, then those
// that had opened it get time to write, and it is removed when use has taken all lines.
// What a crash left behind is taken first. If use fails, all lines are handed over again
// next time: use must bear seeing a line twice. Drains must not run at the same time.
func (d Dir) Drain(name string, use func(line []byte) error) error {
	taken := filepath.Join(d.Spool(), name+".taken")
	for range 2 {
		f, err := OpenFile(taken, os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Rename(filepath.Join(d.Spool(), name), taken)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err == nil {
				time.Sleep(settle)
				f, err = OpenFile(taken, os.O_RDONLY)
			}
		}
		if err != nil {
			return err
		}
		err = eachLine(f, use)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if err = os.Remove(taken); err != nil {
			return err
		}
	}
	return nil
}

// eachLine reads lines of any content with bounded memory; longer ones than MaxLine
// did not come from Append and are skipped.
func eachLine(r io.Reader, use func([]byte) error) error {
	buf := make([]byte, 0, 64<<10)
	skip := false
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		for {
			i := bytes.IndexByte(buf, '\n')
			if i < 0 {
				break
			}
			if !skip && i > 0 {
				if err := use(buf[:i]); err != nil {
					return err
				}
			}
			skip = false
			buf = append(buf[:0], buf[i+1:]...)
		}
		if len(buf) > MaxLine {
			buf, skip = buf[:0], true
		}
		if err == io.EOF {
			if len(buf) > 0 && !skip { // a line whose end a full disk cut off
				return use(buf)
			}
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sessionFile is where a session is remembered. The session's own id is
// data from outside, so its hash is the name.
func (d Dir) sessionFile(session string) string {
	h := uint64(14695981039346656037)
	for i := 0; i < len(session); i++ {
		h = (h ^ uint64(session[i])) * 1099511628211
	}
	const hex = "0123456789abcdef"
	var name [16]byte
	for i := range name {
		name[i] = hex[h>>(60-4*i)&15]
	}
	return filepath.Join(d.Spool(), "sessions", string(name[:]))
}

// Session is what hooks remember of a conversation.
type Session struct {
	// Shown are the ids of the memories that were injected.
	Shown []string
	// Terms are those of the last prompt that had a topic.
	Terms []string
	// Files are the last ones that a tool was about to read or change, latest last.
	Files []string
}

// A line of a session's file is an id, or one of these and the rest.
const (
	termsMark = "~" // terms, separated by spaces
	fileMark  = "@" // a path
)

const (
	// maxSession is how much of a session's file is read: thousands of ids.
	maxSession = 256 << 10
	// maxFiles is how many files a session remembers.
	maxFiles = 8
)

// Session reads what was remembered of a session since the last Forget.
func (d Dir) Session(session string) (Session, error) {
	var s Session
	if session == "" {
		return s, nil
	}
	data, err := readFile(d.sessionFile(session), maxSession)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	for line := range strings.SplitSeq(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, termsMark); ok {
			s.Terms = strings.Fields(rest)
		} else if rest, ok := strings.CutPrefix(line, fileMark); ok {
			s.Files = append(s.Files, rest)
		} else if line != "" {
			s.Shown = append(s.Shown, line)
		}
	}
	s.Files = s.Files[max(0, len(s.Files)-maxFiles):]
	return s, err
}

// Remember adds to what is remembered of a session, with one write. What holds a line
// end, and nothing at all of a session without an id, is not remembered.
func (d Dir) Remember(session string, s Session) error {
	var b strings.Builder
	add := func(mark, text string) {
		if text != "" && strings.IndexByte(text, '\n') < 0 && b.Len()+len(text)+2 <= MaxLine {
			b.WriteString(mark)
			b.WriteString(text)
			b.WriteByte('\n')
		}
	}
	for _, id := range s.Shown {
		if !strings.HasPrefix(id, termsMark) && !strings.HasPrefix(id, fileMark) {
			add("", id)
		}
	}
	add(termsMark, strings.Join(s.Terms, " "))
	for _, f := range s.Files {
		add(fileMark, f)
	}
	if session == "" || b.Len() == 0 {
		return nil
	}
	return d.append(d.sessionFile(session), []byte(b.String()))
}

// Forget starts a session anew: its context was compacted or cleared.
func (d Dir) Forget(session string) error {
	if session == "" {
		return nil
	}
	err := os.Remove(d.sessionFile(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
