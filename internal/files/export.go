package files

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"stillso"
)

// maxLine is the longest line of an export that is read: the largest memory with
// room for escapes.
const maxLine = 4 << 20

// ReadExport reads our own export, or what is like it: one JSON object a line, or
// one array of objects. A line with nothing but content is enough. A field that
// we do not know is kept in Extra. A line that cannot be read is a problem;
// that none can is an error.
func ReadExport(r io.Reader, path string, o Options) (Reading, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	e := exportReader{path: path, o: o, ids: map[string]bool{}}
	e.lines, e.undated = map[string]bool{}, map[string]bool{}
	first, err := firstByte(in)
	if err != nil {
		return Reading{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if first == '[' {
		err = e.array(in)
	} else {
		err = e.each(in)
	}
	if err != nil {
		return Reading{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if len(e.Memories) == 0 && len(e.Problems) > 0 {
		return e.Reading, fmt.Errorf("cannot read %s: none of its %d lines is a memory; the first: line %d: %s",
			path, len(e.Problems), e.Problems[0].Line, e.Problems[0].Cause)
	}
	return e.Reading, nil
}

// firstByte skips white space and a byte order mark, and peeks.
func firstByte(in *bufio.Reader) (byte, error) {
	if b, _ := in.Peek(3); bytes.Equal(b, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	}
	for {
		b, err := in.Peek(1)
		switch {
		case errors.Is(err, io.EOF):
			return 0, errors.New("it is empty; export a store to it first")
		case err != nil:
			return 0, bare(err)
		case b[0] == '[' || b[0] == '{':
			return b[0], nil
		case b[0] == '\n':
			return 0, nil // lines count from here, so that none is lost
		case b[0] == ' ' || b[0] == '\t' || b[0] == '\r':
			_, _ = in.Discard(1)
		case b[0] == 0 || b[0] >= 0x80:
			return 0, errors.New("it is no text; name a JSON or JSONL file")
		default:
			return 0, nil
		}
	}
}

type exportReader struct {
	Reading
	path string
	o    Options
	ids  map[string]bool
}

// each reads lines. One that is too long is passed over without keeping it.
func (e *exportReader) each(in *bufio.Reader) error {
	var line []byte
	for n := 1; ; n++ {
		line = line[:0]
		long := false
		var err error
		for {
			var part []byte
			part, err = in.ReadSlice('\n')
			if long = long || len(line)+len(part) > maxLine; !long {
				line = append(line, part...)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		switch text := bytes.TrimSpace(line); {
		case long:
			e.bad(n, fmt.Errorf("it has more than %d MB; no memory is that long", maxLine>>20))
		case len(text) > 0:
			e.line(n, text)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return bare(err)
		}
	}
}

// array reads the elements of one JSON array. Lines are counted as they pass.
func (e *exportReader) array(in io.Reader) error {
	count := &lineCounter{in: in}
	d := json.NewDecoder(count)
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = errors.New("the file ends in the middle of a memory; it is cut off")
			}
			// Nothing behind it can be told apart; what came before is kept.
			e.bad(count.line(d.InputOffset()), err)
			return nil
		}
		e.line(count.line(d.InputOffset()), raw)
	}
	if _, err := d.Token(); err != nil {
		e.bad(count.line(d.InputOffset()), errors.New("the array is not closed; the file is cut off"))
	}
	return nil
}

// lineCounter tells which line an offset is on, for offsets that only grow.
type lineCounter struct {
	in     io.Reader
	read   int64
	breaks []int64
	passed int
}

func (c *lineCounter) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	for i, b := range p[:n] {
		if b == '\n' {
			c.breaks = append(c.breaks, c.read+int64(i))
		}
	}
	c.read += int64(n)
	return n, err
}

func (c *lineCounter) line(offset int64) int {
	n := 0
	for n < len(c.breaks) && c.breaks[n] < offset {
		n++
	}
	c.breaks = c.breaks[n:]
	c.passed += n
	return c.passed + 1
}

func (e *exportReader) bad(n int, err error) {
	e.Problems = append(e.Problems, Problem{Path: e.path, Line: n, Cause: err.Error()})
}

func (e *exportReader) line(n int, text []byte) {
	m, dated, err := parseLine(text, e.o)
	if err == nil && e.ids[m.ID] {
		err = fmt.Errorf("the id %s stands twice; only the first is read", m.ID)
	}
	if err != nil {
		e.bad(n, err)
		return
	}
	e.ids[m.ID], e.lines[m.ID] = true, true
	if !dated {
		e.undated[m.ID] = true
	}
	e.Memories = append(e.Memories, m)
}

// parseLine reads one memory. dated is false if the line does not say when the
// memory was last changed.
func parseLine(text []byte, o Options) (m *stillso.Memory, dated bool, err error) {
	if i := invalidUTF8(text); i >= 0 {
		return nil, false, fmt.Errorf("it is not valid UTF-8 (byte %d)", i)
	}
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, false, notMemory(text, err)
	}
	m = &stillso.Memory{Namespace: o.Namespace}
	var summary string
	keys := make([]string, 0, len(raw))
	for k := range raw {
		keys = append(keys, k)
	}
	slices.Sort(keys) // the same line always reads the same
	for _, k := range keys {
		if string(raw[k]) == "null" {
			continue
		}
		if err := setJSON(m, k, raw[k], &summary, o); err != nil {
			return nil, false, fmt.Errorf("field %s: %w", k, err)
		}
	}
	if strings.TrimSpace(m.Content) == "" {
		setContent(m, summary)
	}
	if strings.TrimSpace(m.Content) == "" {
		return nil, false, errors.New("it has no content; write {\"content\": \"…\"}")
	}
	if len(m.Content) > stillso.MaxContent {
		m.Body = strings.TrimSpace(m.Content + "\n\n" + m.Body)
		m.Content = statement(m.Content)
	}
	if m.ID == "" {
		m.ID = stableID("line", string(m.Namespace), oneLine(m.Content), m.Body)
	}
	if m.State == "" && m.SupersededBy != "" {
		m.State = stillso.Superseded
	}
	dated = !m.UpdatedAt.IsZero()
	if m.CreatedAt.IsZero() {
		m.CreatedAt = m.UpdatedAt
	}
	m.Default(o.Now)
	return m, dated, m.Validate()
}

// notMemory says in words why a line is no JSON object.
func notMemory(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &kind):
		return fmt.Errorf("it is a JSON %s, not an object; write {\"content\": \"…\"}", kind.Value)
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(text)):
		return fmt.Errorf("it is cut off: %w", err)
	case bytes.IndexByte(text, 0) >= 0:
		return errors.New("it is binary; name a JSON or JSONL file")
	}
	return fmt.Errorf("it is no JSON: %w", err)
}

// setJSON puts one field of a line where it belongs.
func setJSON(m *stillso.Memory, key string, raw json.RawMessage, summary *string, o Options) error {
	decode := func(to any) error {
		if err := json.Unmarshal(raw, to); err != nil {
			return fmt.Errorf("it should not be %s", cut(string(raw), 40))
		}
		return nil
	}
	switch key {
	case "content", "body":
		to := &m.Content
		if key == "body" {
			to = &m.Body
		}
		return decode(to)
	case "evidence":
		return decode(&m.Evidence)
	case "claims":
		return decode(&m.Claims)
	case "file":
		return decode(&m.File)
	case "priority":
		return decode(&m.Priority)
	case "tags":
		return decode(&m.Tags)
	case "aliases":
		return decode(&m.Aliases)
	case "related_files":
		return decode(&m.RelatedFiles)
	case "extra":
		var all map[string]json.RawMessage
		if err := decode(&all); err != nil {
			return err
		}
		for k, v := range all {
			extra(m, k, plainJSON(v))
		}
		return nil
	}
	// What notes and exports have in common reads the same in both. A type that
	// is not ours and every unknown key go to Extra there.
	return setField(m, field{key: key, values: []string{plainJSON(raw)}}, summary, o)
}

// plainJSON returns the text of a JSON string, and other values as they are.
func plainJSON(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && utf8.ValidString(s) {
		return s
	}
	return string(raw)
}

// Form is how an export is written.
type Form string

// The forms of an export.
const (
	Lines Form = "jsonl" // one memory a line
	Array Form = "json"  // one JSON array
)

// WriteExport writes memories in the given form and returns how many. Retired
// memories are left out unless all is set. What it writes, ReadExport reads back
// to equal memories.
func WriteExport(w io.Writer, list []*stillso.Memory, form Form, all bool) (int, error) {
	out := bufio.NewWriter(w)
	n := 0
	for _, m := range list {
		if m.State == stillso.Retired && !all {
			continue
		}
		line, err := encode(m)
		if err != nil {
			return n, fmt.Errorf("cannot export memory %s: %w", m.ID, err)
		}
		if form == Array {
			_, _ = out.WriteString(map[bool]string{true: "[\n ", false: ",\n "}[n == 0])
		}
		_, _ = out.Write(line)
		if form != Array {
			_ = out.WriteByte('\n')
		}
		n++
	}
	if form == Array {
		_, _ = out.WriteString(map[bool]string{true: "[]\n", false: "\n]\n"}[n == 0])
	}
	// The buffered writer keeps the first error and returns it here.
	if err := out.Flush(); err != nil {
		return n, fmt.Errorf("cannot write the export: %w", bare(err))
	}
	return n, nil
}

// encode returns a memory as one line of JSON without HTML escapes.
func encode(m *stillso.Memory) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
