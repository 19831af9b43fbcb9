package opencode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"stillso"
	"stillso/internal/host"
)

// maxExport is the largest export that is read, in bytes: it is one document,
// and held in memory.
const maxExport = 128 << 20

// Read reads what `opencode export SESSION` prints: one document with all the
// messages of a session. Text parts that are marked synthetic nobody typed.
func Read(r io.Reader, emit func(stillso.Turn) error) (host.Reading, error) {
	doc, err := io.ReadAll(io.LimitReader(r, maxExport+1))
	var rd host.Reading
	if err != nil {
		return rd, fmt.Errorf("reading stopped: %w", err)
	}
	if len(doc) > maxExport {
		return rd, fmt.Errorf("%w: the export is larger than %d MB", host.ErrUnsupported, maxExport>>20)
	}
	if i := bytes.IndexByte(doc, '{'); i > 0 { // a line of progress may stand before it
		doc = doc[i:]
	}
	doc = bytes.TrimSpace(doc)
	rd.Bytes = int64(len(doc))
	info, messages := host.Member(doc, "info"), host.Member(doc, "messages")
	if host.End(doc) < 0 || host.Kind(info) != '{' || host.Kind(messages) != '[' {
		return rd, fmt.Errorf("%w: it is no export; give what `opencode export SESSION` prints", host.ErrUnsupported)
	}
	rd.Session, rd.Directory, rd.Version = host.Line(host.Member(info, "id")), host.Line(host.Member(info, "directory")), host.Line(host.Member(info, "version"))
	nobody := host.Line(host.Member(info, "parentID")) != ""
	var failed error
	err = host.Elements(messages, func(message []byte) bool {
		rd.Rows++
		for _, t := range turnsOf(message, &rd, nobody) {
			if failed = emit(t); failed != nil {
				return false
			}
			rd.Turns++
		}
		return true
	})
	if failed != nil {
		return rd, failed
	}
	if errors.Is(err, host.ErrJSON) {
		rd.Broken++
	}
	return rd, nil
}

// ReadFile reads an export that was saved. It is read as a whole: the position
// only says that it was, and unchanged.
func ReadFile(path string, from host.Position, emit func(stillso.Turn) error) (host.Reading, error) {
	f, err := os.Open(path) // #nosec G304 -- reading the file that a person names is the task
	if err != nil {
		return host.Reading{}, fmt.Errorf("transcript cannot be read: %w", err)
	}
	defer f.Close() //nolint:errcheck // read only
	got, err := Read(f, emit)
	if err != nil {
		got.Next = from
		return got, fmt.Errorf("transcript %s: %w", path, err)
	}
	return got, nil
}

// turnsOf reads one message of an export.
func turnsOf(message []byte, rd *host.Reading, nobody bool) (turns []stillso.Turn) {
	info := host.Member(message, "info")
	id, role := host.Line(host.Member(info, "id")), host.Line(host.Member(info, "role"))
	if id == "" || role != "user" && role != "assistant" {
		return nil
	}
	at := millis(host.Member(info, "time", "created"))
	if !at.IsZero() && (rd.StartedAt.IsZero() || at.Before(rd.StartedAt)) {
		rd.StartedAt = at
	}
	if at.After(rd.EndedAt) {
		rd.EndedAt = at
	}
	add := func(speaker stillso.Speaker, text string) {
		if text != "" {
			turns = append(turns, stillso.Turn{ID: fmt.Sprintf("%s/%d", id, len(turns)), Session: rd.Session, Speaker: speaker, Text: text, At: at, Directory: rd.Directory})
		}
	}
	limit := host.MaxText
	if role == "assistant" {
		limit = host.MaxAssistant
	}
	text, lines := "", []string(nil)
	parts := host.Member(message, "parts")
	if host.Kind(parts) != '[' {
		return nil
	}
	_ = host.Elements(parts, func(part []byte) bool { // of broken ones, what stands before the fault
		switch host.Line(host.Member(part, "type")) {
		case "text":
			if !host.True(host.Member(part, "synthetic")) && !host.True(host.Member(part, "ignored")) {
				text = host.Join(text, host.Text(host.Member(part, "text"), limit), limit)
			}
		case "tool":
			state := host.Member(part, "state")
			lines = append(lines, host.Use(host.Line(host.Member(part, "tool")), host.Member(state, "input")))
			if out := host.Member(state, "output"); host.Kind(out) == '"' {
				lines = append(lines, host.Output(false, out))
			} else if out := host.Member(state, "error"); host.Kind(out) == '"' {
				lines = append(lines, host.Output(true, out))
			}
		}
		return true
	})
	switch {
	case role == "assistant" && !host.True(host.Member(info, "summary")):
		add(stillso.Assistant, strings.TrimSpace(host.Without(text, host.OwnFence)))
	case role == "user" && !nobody:
		add(stillso.Typed, typed(text))
	}
	if len(turns) == 0 {
		rd.Harness++
	}
	for _, l := range lines {
		add(stillso.Tool, l)
	}
	return turns
}

func millis(value []byte) time.Time {
	n, err := strconv.ParseInt(string(value), 10, 64)
	if err != nil || n <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
