// Package replay answers requests with recorded replies, and records them. It
// lets tests and evaluations run without a model, always with the same answers.
//
// A recording is a file of JSON lines. A row is found by the hash of the request
// that it answered, or by the id of a row of an evaluation set:
//
//	{"purpose":"capture","hash":"1f0c…","model":"claude/haiku","reply":"…","usage":{"In":10,"Out":5}}
//	{"id":"xp12","reply":{"candidates":[]}}
//	{"id":"xp12","candidate":0,"reply":{"score":5}}
//
// A reply is a string with the model's text, or the JSON document that was the
// text. A row without a purpose has the name of its file, up to the first dot.
// Rows with candidates answer together: {"verdicts":[…]}, each reply with its
// candidate's number added. Of equal keys the last row counts.
package replay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"stillso/internal/llm"
)

// maxLine is the size up to which a row is read, in bytes.
const maxLine = 2 * llm.MaxReply

// row is one line of a recording.
type row struct {
	Purpose   string          `json:"purpose,omitempty"`
	Hash      string          `json:"hash,omitempty"`
	ID        string          `json:"id,omitempty"`
	Candidate *int            `json:"candidate,omitempty"`
	Model     string          `json:"model,omitempty"`
	Reply     json.RawMessage `json:"reply"`
	Usage     llm.Usage       `json:"usage,omitzero"`
}

// Replies are recorded replies: a model that never calls out.
type Replies struct {
	byHash map[string]llm.Reply         // by purpose/hash
	byID   map[string]llm.Reply         // by purpose/id
	parts  map[string]map[int]llm.Reply // by purpose/id and candidate
}

// Open reads recordings: files, or directories of which all *.jsonl are read.
func Open(paths ...string) (*Replies, error) {
	r := &Replies{map[string]llm.Reply{}, map[string]llm.Reply{}, map[string]map[int]llm.Reply{}}
	for _, path := range paths {
		files := []string{path}
		if info, err := os.Stat(path); err != nil {
			return nil, fmt.Errorf("cannot read recorded replies: %w", err)
		} else if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(path, "*.jsonl")); err != nil {
				return nil, fmt.Errorf("cannot read recorded replies: %w", err)
			}
		}
		for _, file := range files {
			if err := r.load(file); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (r *Replies) load(file string) error {
	f, err := os.Open(file) // #nosec G304 -- the person named it
	if err != nil {
		return fmt.Errorf("cannot read recorded replies: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	purpose, _, _ := strings.Cut(filepath.Base(file), ".")
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if err := r.add(lines.Bytes(), purpose); err != nil {
			return fmt.Errorf("recorded replies, %s line %d: %w", file, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("recorded replies, %s line %d: %w", file, n+1, err)
	}
	return nil
}

// add reads one line.
func (r *Replies) add(line []byte, purpose string) error {
	var w row
	if err := json.Unmarshal(line, &w); err != nil {
		return err
	}
	if w.Purpose != "" {
		purpose = w.Purpose
	}
	reply := llm.Reply{Text: string(w.Reply), Model: w.Model, Usage: w.Usage}
	switch {
	case len(w.Reply) == 0 || string(w.Reply) == "null":
		return errors.New("it has no reply")
	case w.Reply[0] == '"':
		if err := json.Unmarshal(w.Reply, &reply.Text); err != nil {
			return err
		}
	}
	switch {
	case w.Hash != "":
		r.byHash[purpose+"/"+w.Hash] = reply
	case w.ID != "" && w.Candidate != nil:
		key := purpose + "/" + w.ID
		if r.parts[key] == nil {
			r.parts[key] = map[int]llm.Reply{}
		}
		r.parts[key][*w.Candidate] = reply
	case w.ID != "":
		r.byID[purpose+"/"+w.ID] = reply
	default:
		return errors.New("it has neither a hash nor an id")
	}
	return nil
}

// Name is "replay".
func (r *Replies) Name() string { return "replay" }

// Complete returns the reply that was recorded for the request's hash, or for
// its ID. A miss is llm.ErrNotRecorded and names the key.
func (r *Replies) Complete(ctx context.Context, q llm.Request) (llm.Reply, error) {
	if err := ctx.Err(); err != nil {
		return llm.Reply{}, err
	}
	if reply, ok := r.byHash[q.Purpose+"/"+q.Hash()]; ok {
		return reply, nil
	}
	key := q.Purpose + "/" + q.ID
	if reply, ok := r.byID[key]; ok && q.ID != "" {
		return reply, nil
	}
	if parts, ok := r.parts[key]; ok {
		return join(parts)
	}
	detail := fmt.Sprintf("purpose %q, request %s", q.Purpose, q.Hash())
	if q.ID != "" {
		detail += fmt.Sprintf(", row %q", q.ID)
	}
	return llm.Reply{}, &llm.Error{Kind: llm.ErrNotRecorded, Model: r.Name(), Detail: detail, Do: "record it with a real model: a changed prompt needs new replies"}
}

// Candidate returns the reply that was recorded for one candidate of a row.
func (r *Replies) Candidate(purpose, id string, n int) (llm.Reply, bool) {
	reply, ok := r.parts[purpose+"/"+id][n]
	return reply, ok
}

// join makes one answer of the replies about single candidates.
func join(parts map[int]llm.Reply) (llm.Reply, error) {
	var all llm.Reply
	verdicts := []map[string]any{}
	var numbers []int
	for n := range parts {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		part := parts[n]
		var v map[string]any
		if err := llm.Decode(part.Text, "score", &v); err != nil {
			return llm.Reply{}, fmt.Errorf("recorded reply for candidate %d: %w", n, err)
		}
		v["candidate"] = n
		verdicts = append(verdicts, v)
		all.Model = part.Model
		all.Usage.In += part.Usage.In
		all.Usage.Out += part.Usage.Out
		all.Usage.CostUSD += part.Usage.CostUSD
	}
	text, err := json.Marshal(map[string]any{"verdicts": verdicts})
	all.Text = string(text)
	return all, err
}

// Record returns a model that passes requests on to m and appends what m
// replies to the file, which is made with mode 0600. A reply that cannot be
// recorded is an error: it would be missing in every later replay.
func Record(m llm.Model, file string) llm.Model { return &recorder{Model: m, file: file} }

type recorder struct {
	llm.Model
	file string
	mu   sync.Mutex
}

func (r *recorder) Complete(ctx context.Context, q llm.Request) (llm.Reply, error) {
	reply, err := r.Model.Complete(ctx, q)
	if err != nil {
		return reply, err
	}
	text, err := json.Marshal(reply.Text)
	if err != nil {
		return reply, fmt.Errorf("cannot record a reply: %w", err)
	}
	model := reply.Model
	if model == "" {
		model = r.Name()
	}
	line, err := json.Marshal(row{Purpose: q.Purpose, Hash: q.Hash(), Model: model, Reply: text, Usage: reply.Usage})
	if err == nil {
		err = r.append(append(line, '\n'))
	}
	if err != nil {
		return reply, fmt.Errorf("cannot record a reply: %w", err)
	}
	if q.ID != "" { // a second row, by which an evaluation finds it after a change of prompt
		line, err = json.Marshal(row{Purpose: q.Purpose, ID: q.ID, Model: model, Reply: text, Usage: reply.Usage})
		if err == nil {
			err = r.append(append(line, '\n'))
		}
	}
	return reply, err
}

// append writes one line with one write, so that several processes can record
// into one file.
func (r *recorder) append(line []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := os.OpenFile(r.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(line); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

// Adapter is the provider "replay"; base_url is the file or directory.
func Adapter() llm.Adapter {
	return llm.Adapter{Name: "replay", Find: func(c llm.Config, _ llm.Environment) (llm.Model, string, error) {
		if c.BaseURL == "" {
			return nil, "", &llm.Error{Kind: llm.ErrConfig, Detail: "replay needs a recording", Do: "set base_url to its file or directory"}
		}
		r, err := Open(c.BaseURL)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, "", &llm.Error{Kind: llm.ErrConfig, Detail: err.Error(), Do: "set base_url to the file or directory of a recording"}
		}
		if err != nil {
			return nil, "", err
		}
		return r, fmt.Sprintf("%d recorded replies", len(r.byHash)+len(r.byID)+len(r.parts)), nil
	}}
}
