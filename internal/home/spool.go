package home

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
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
