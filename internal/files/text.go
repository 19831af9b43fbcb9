package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// MaxFile is the largest note or instruction file that is read, in bytes. Hosts
// load at most some 40 KB of such a file; a hundred times as much is not a note.
const MaxFile = 4 << 20

// Problem is one place of a file that could not be read; what stands around it
// was.
type Problem struct {
	Path string `json:"path"`
	// Line counts from 1; 0 is the file as a whole.
	Line  int    `json:"line,omitempty"`
	Cause string `json:"cause"`
}

func (p Problem) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s line %d: %s", p.Path, p.Line, p.Cause)
	}
	return fmt.Sprintf("%s: %s", p.Path, p.Cause)
}

// readText returns the text of a small file with line ends of one kind, or says
// why it is none.
func readText(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w; check the path", path, bare(err))
	}
	// Opening a pipe or a device could wait for ever.
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("cannot read %s: it is not a regular file; name a file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w; check its permissions", path, bare(err))
	}
	defer f.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, bare(err))
	}
	text, err := clean(b)
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	}
	return text, nil
}

// clean checks that b is text, and removes the byte order mark and carriage
// returns.
func clean(b []byte) (string, error) {
	if len(b) > MaxFile {
		return "", fmt.Errorf("it has more than %d MB, too much for a note; split it", MaxFile>>20)
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return "", fmt.Errorf("it is UTF-16; save it as UTF-8")
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return "", fmt.Errorf("it is binary (zero byte at %d); name a text file", i)
	}
	if i := invalidUTF8(b); i >= 0 {
		return "", fmt.Errorf("it is not valid UTF-8 (byte %d); save it as UTF-8", i)
	}
	s := strings.ReplaceAll(string(b), "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	if strings.TrimSpace(s) == "" {
		return "", fmt.Errorf("it is empty; nothing to read")
	}
	return s, nil
}

// invalidUTF8 returns the place of the first byte that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			return i
		}
		i += n
	}
	return -1
}

// bare drops the operation and path from an error of package os, since our own
// message names the path.
func bare(err error) error {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// stem is the name of a file without folder and ending.
func stem(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// oneLine joins the words of s with single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cut shortens s to at most n bytes at a word, marking the cut.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n-len("…")]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
		s = s[:i]
	}
	return strings.TrimRight(s, " ") + "…"
}
