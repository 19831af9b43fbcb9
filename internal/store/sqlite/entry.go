package sqlite

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"stillso"
)

const hashSize = sha256.Size

// core is the part of a change without free text. It is never erased.
type core struct {
	Seq        int64           `json:"seq"`
	ID         string          `json:"id"`
	Verb       stillso.Verb    `json:"verb"`
	Outcome    stillso.Outcome `json:"outcome"`
	Actor      stillso.Actor   `json:"actor"`
	Confidence float64         `json:"confidence"`
	At         time.Time       `json:"at"`
	Batch      string          `json:"batch,omitempty"`
	Undoes     string          `json:"undoes,omitempty"`
	Resolves   string          `json:"resolves,omitempty"`
	Memories   []string        `json:"memories"`
}

// ground is part 0 of a change: what it rests on, in words.
type ground struct {
	Reason   string             `json:"reason,omitempty"`
	Evidence []stillso.Evidence `json:"evidence,omitempty"`
}

// part is one erasable part of an entry. An erased part has neither salt nor body.
type part struct {
	hash       [hashSize]byte
	salt, body []byte
}

// entry is one row of the journal.
type entry struct {
	core  core
	raw   []byte // core as JSON: the bytes that were hashed
	parts []part
	prev  [hashSize]byte
	hash  [hashSize]byte
}

// genesis is the hash before the first change of a store.
func genesis(instance string) [hashSize]byte {
	return sha256.Sum256([]byte("stillso journal 1 " + instance))
}

// newEntry builds the row of c, whose Seq is set, after the row hashed prev.
func newEntry(c *stillso.Change, prev [hashSize]byte) (*entry, error) {
	e := &entry{prev: prev, core: core{
		Seq: c.Seq, ID: c.ID, Verb: c.Verb, Outcome: c.Outcome, Actor: c.Actor, Confidence: c.Confidence,
		At: c.At, Batch: c.Batch, Undoes: c.Undoes, Resolves: c.Resolves, Memories: make([]string, len(c.Edits)),
	}}
	bodies := []any{ground{c.Reason, c.Evidence}}
	for i, edit := range c.Edits {
		e.core.Memories[i] = edit.MemoryID()
		bodies = append(bodies, edit)
	}
	var err error
	if e.raw, err = json.Marshal(e.core); err != nil {
		return nil, err
	}
	for _, b := range bodies {
		p := part{salt: make([]byte, 16)}
		if p.body, err = json.Marshal(b); err != nil {
			return nil, err
		}
		if _, err := rand.Read(p.salt); err != nil {
			return nil, err
		}
		p.hash = p.sum()
		e.parts = append(e.parts, p)
	}
	e.hash = e.sum()
	return e, nil
}

func (p *part) sum() [hashSize]byte {
	h := sha256.New()
	h.Write(p.salt)
	h.Write(p.body)
	return [hashSize]byte(h.Sum(nil))
}

func (e *entry) sum() [hashSize]byte {
	h := sha256.New()
	h.Write(e.prev[:])
	c := sha256.Sum256(e.raw)
	h.Write(c[:])
	for i := range e.parts {
		h.Write(e.parts[i].hash[:])
	}
	return [hashSize]byte(h.Sum(nil))
}

// check reports whether the entry is what was written, all but its outcome.
func (e *entry) check() error {
	if len(e.parts) != len(e.core.Memories)+1 {
		return damaged("journal entry %d has %d parts, not %d", e.core.Seq, len(e.parts), len(e.core.Memories)+1)
	}
	if err := e.checkParts(); err != nil {
		return err
	}
	if e.sum() != e.hash {
		return damaged("journal entry %d was altered", e.core.Seq)
	}
	return nil
}

// checkParts reports whether the text in the entry is what was written.
func (e *entry) checkParts() error {
	for i := range e.parts {
		if p := &e.parts[i]; p.body != nil && p.sum() != p.hash {
			return damaged("part %d of journal entry %d was altered", i, e.core.Seq)
		}
	}
	return nil
}

// change returns the entry as a change, with the outcome that it has now. An
// erased edit has a before that consists of the memory's id.
func (e *entry) change(now stillso.Outcome) (stillso.Change, error) {
	c := stillso.Change{
		Seq: e.core.Seq, ID: e.core.ID, Verb: e.core.Verb, Outcome: now, Actor: e.core.Actor,
		Confidence: e.core.Confidence, At: e.core.At, Batch: e.core.Batch, Undoes: e.core.Undoes, Resolves: e.core.Resolves,
		Edits: make([]stillso.Edit, len(e.core.Memories)),
	}
	if len(e.parts) != len(c.Edits)+1 {
		return c, damaged("journal entry %d has %d parts, not %d", c.Seq, len(e.parts), len(c.Edits)+1)
	}
	if b := e.parts[0].body; b != nil {
		var g ground
		if err := json.Unmarshal(b, &g); err != nil {
			return c, damaged("the reason of journal entry %d is not readable", c.Seq)
		}
		c.Reason, c.Evidence = g.Reason, g.Evidence
	}
	for i, id := range e.core.Memories {
		b := e.parts[i+1].body
		if b == nil {
			c.Edits[i] = tombstone(id)
		} else if err := json.Unmarshal(b, &c.Edits[i]); err != nil {
			return c, damaged("edit %d of journal entry %d is not readable", i+1, c.Seq)
		}
	}
	return c, nil
}

// tombstone is what remains of an edit when a human has erased the memory.
func tombstone(id string) stillso.Edit { return stillso.Edit{Before: &stillso.Memory{ID: id}} }

// isTombstone reports whether the edit was erased.
func isTombstone(e stillso.Edit) bool {
	return e.After == nil && e.Before != nil && e.Before.Content == "" && e.Before.Namespace == ""
}

// line is one change in a segment file.
type line struct {
	Seq   int64           `json:"seq"`
	Prev  string          `json:"prev"`
	Hash  string          `json:"hash"`
	Core  json.RawMessage `json:"core"`
	Parts []linePart      `json:"parts"`
}

type linePart struct {
	Hash string          `json:"hash"`
	Salt string          `json:"salt,omitempty"`
	Body json.RawMessage `json:"body,omitempty"`
}

// appendLine appends the segment line of e, newline included.
func (e *entry) appendLine(dst []byte) ([]byte, error) {
	l := line{Seq: e.core.Seq, Prev: hex.EncodeToString(e.prev[:]), Hash: hex.EncodeToString(e.hash[:]), Core: e.raw}
	for _, p := range e.parts {
		l.Parts = append(l.Parts, linePart{hex.EncodeToString(p.hash[:]), hex.EncodeToString(p.salt), p.body})
	}
	b, err := json.Marshal(l)
	if err != nil {
		return dst, err
	}
	return append(append(dst, b...), '\n'), nil
}

// errLine: a line of a segment that is not what a store writes.
var errLine = fmt.Errorf("%w: not a line of a journal", stillso.ErrDamaged)

// parseLine reads one line of a segment, with or without its newline. The
// entry it returns has passed check.
func parseLine(text []byte) (*entry, error) {
	var l line
	if err := json.Unmarshal(bytes.TrimSuffix(text, []byte("\n")), &l); err != nil {
		return nil, fmt.Errorf("%w: %w", errLine, err)
	}
	e := &entry{raw: l.Core}
	if err := errors.Join(unhex(e.prev[:], l.Prev), unhex(e.hash[:], l.Hash), json.Unmarshal(l.Core, &e.core)); err != nil {
		return nil, fmt.Errorf("%w: %w", errLine, err)
	}
	if e.core.Seq != l.Seq {
		return nil, fmt.Errorf("%w: two numbers, %d and %d", errLine, l.Seq, e.core.Seq)
	}
	for _, lp := range l.Parts {
		p := part{body: lp.Body}
		err := unhex(p.hash[:], lp.Hash)
		if err == nil && lp.Salt != "" {
			p.salt, err = hex.DecodeString(lp.Salt)
		}
		if err != nil || (p.body == nil) != (p.salt == nil) {
			return nil, fmt.Errorf("%w: entry %d has a malformed part", errLine, l.Seq)
		}
		e.parts = append(e.parts, p)
	}
	return e, e.check()
}

func unhex(dst []byte, s string) error {
	b, err := hex.DecodeString(s)
	if err == nil && len(b) != len(dst) {
		err = fmt.Errorf("%d bytes, not %d", len(b), len(dst))
	}
	copy(dst, b)
	return err
}
