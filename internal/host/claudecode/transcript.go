package claudecode

import (
	"fmt"
	"io"

	"stillso"
	"stillso/internal/host"
)

// ErrUnsupported is wrapped by the error for a file that is no transcript of
// this host.
var ErrUnsupported = host.ErrUnsupported

// Position is that of any host's transcripts.
type Position = host.Position

// Reading is that of any host's transcripts.
type Reading = host.Reading

// Format returns how this host writes its transcripts.
func Format() host.Format {
	return host.Format{Files: "a .jsonl file from ~/.claude/projects", MayMatter: mayMatter, Row: takeRow}
}

// ReadFile reads a transcript from a Position on: see host.Format.
func ReadFile(path string, from Position, emit func(stillso.Turn) error) (Reading, error) {
	return Format().ReadFile(path, from, emit)
}

// Read reads a transcript from a stream, as ReadFile does from its beginning.
// Its Next has no mark.
func Read(r io.Reader, emit func(stillso.Turn) error) (Reading, error) {
	return Format().Read(r, emit)
}

// takeRow hands out what one row says.
func takeRow(rd *host.Reader, doc []byte) error {
	r, err := parseRow(doc)
	if err != nil {
		return err
	}
	if r.known || r.kind == "summary" {
		rd.Known()
	}

	assistant := r.kind == "assistant"
	if !assistant && r.kind != "user" {
		return nil
	}
	if r.harness {
		rd.Harness++
		return nil
	}
	rd.Facts(r.session, r.cwd, r.branch, r.version, r.at)
	id := r.id()
	if !rd.New(id) {
		return nil
	}
	m, err := parseMessage(r.message, assistant, r.fromTool)
	if err != nil {
		rd.Broken++
		return nil
	}
	if m.model == "<synthetic>" {
		rd.Harness++
		return nil
	}
	var turns []stillso.Turn
	switch {
	case assistant && m.said != "":
		turns = append(turns, r.turn(id, stillso.Assistant, m.said))
	case m.typed != "":
		turns = append(turns, r.turn(id, stillso.Typed, m.typed))
	}
	for _, tool := range m.tools {
		toolID := id
		if n := len(turns); n > 0 {
			toolID = fmt.Sprintf("%s/%d", id, n)
		}
		if tool != "" {
			turns = append(turns, r.turn(toolID, stillso.Tool, tool))
		}
	}
	if len(turns) == 0 && len(m.tools) == 0 && !assistant {
		rd.Harness++
	}
	return rd.Say(m.id, assistant, turns...)
}
