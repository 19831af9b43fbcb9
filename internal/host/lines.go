package host

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// The memory that a line of any length may take, in bytes. A longer line is
// read with its strings shortened: images and tool output are what is long, the
// text that a human typed survives whole up to maxString.
const (
	readBuffer = 1 << 20
	maxString  = 1 << 20
	maxLine    = 8 << 20
)

// lineReader yields the lines of a transcript in bounded memory.
type lineReader struct {
	in *bufio.Reader
	// short holds a line that does not fit the buffer.
	short shortener
}

// newLineReader takes a smaller buffer for a smaller input of about size bytes.
func newLineReader(r io.Reader, size int64) *lineReader {
	return &lineReader{in: bufio.NewReaderSize(r, int(min(readBuffer, max(size+1, 64<<10))))}
}

// next returns a line without its end, valid until the following call, and its
// length in the file. whole is false for a last line that has no end: it may
// still be written. tooLong is set if even the shortened line does not fit.
func (l *lineReader) next() (line []byte, size int64, whole, tooLong bool, err error) {
	chunk, err := l.in.ReadSlice('\n')
	size = int64(len(chunk))
	if !errors.Is(err, bufio.ErrBufferFull) {
		if err != nil && (!errors.Is(err, io.EOF) || size == 0) {
			return nil, size, false, false, err
		}
		return bytes.TrimRight(chunk, "\r\n"), size, err == nil, false, nil
	}
	l.short.reset()
	for errors.Is(err, bufio.ErrBufferFull) {
		l.short.add(chunk)
		chunk, err = l.in.ReadSlice('\n')
		size += int64(len(chunk))
	}
	l.short.add(chunk)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, size, false, false, err
	}
	return bytes.TrimRight(l.short.out, "\r\n"), size, err == nil, l.short.overflow, nil
}

// shortener copies JSON in pieces, and cuts every string at maxString bytes.
type shortener struct {
	out      []byte
	overflow bool
	inString bool
	// escaped is set if the piece before ended in the middle of an escape.
	escaped bool
	// length of the string so far, as kept in out.
	length int
}

func (s *shortener) reset() { *s = shortener{out: s.out[:0]} }

func (s *shortener) add(chunk []byte) {
	for len(chunk) > 0 && !s.overflow {
		i := bytes.IndexByte(chunk, '"')
		if !s.inString {
			if i < 0 {
				s.keep(chunk)
				return
			}
			s.keep(chunk[:i+1])
			chunk = chunk[i+1:]
			s.inString, s.escaped, s.length = true, false, 0
			continue
		}
		part := chunk
		if i >= 0 {
			part = chunk[:i]
		}
		s.escaped = endsInEscape(part, s.escaped)
		s.keepString(part)
		if i < 0 {
			return
		}
		if s.escaped { // the quote belongs to the string
			s.keepString(chunk[i : i+1])
			s.escaped = false
		} else {
			s.keep(chunk[i : i+1])
			s.inString = false
		}
		chunk = chunk[i+1:]
	}
}

// endsInEscape reports whether the byte behind part is escaped, given whether
// the first byte of part is.
func endsInEscape(part []byte, escaped bool) bool {
	slashes := len(part) - len(bytes.TrimRight(part, `\`))
	if slashes == len(part) && escaped {
		slashes++
	}
	return slashes%2 == 1
}

// keepString keeps what still fits the limit of the string, without half an
// escape at the cut.
func (s *shortener) keepString(part []byte) {
	if s.length >= maxString {
		return
	}
	if room := maxString - s.length; len(part) >= room {
		s.keep(part[:room])
		s.length = maxString
		tail := s.out[len(s.out)-min(len(s.out), maxString):]
		if slashes := len(tail) - len(bytes.TrimRight(tail, `\`)); slashes%2 == 1 {
			s.out = s.out[:len(s.out)-1]
		}
		return
	}
	s.keep(part)
	s.length += len(part)
}

func (s *shortener) keep(part []byte) {
	if len(s.out)+len(part) > maxLine {
		s.overflow = true
		s.out = s.out[:0]
		return
	}
	s.out = append(s.out, part...)
}
