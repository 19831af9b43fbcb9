package settings

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Plan is a change of one settings file that has been worked out, and that Apply
// carries out.
type Plan struct {
	// Path is the settings file; Target is the file that is written: the same,
	// or where its symbolic links lead.
	Path, Target string
	// Old and New are its content before and after. Deletes is set if the file
	// is to go: it was made by an install and holds nothing else.
	Old, New []byte
	Deletes  bool

	existed bool
	mode    fs.FileMode
	keep    string
	record  *record // what to write down; nil to forget what was
}

// record is what an install writes down in our home, so that an uninstall can
// give back the file as it was: byte for byte if nobody touched it since, else
// without our entries.
type record struct {
	Path    string   `json:"path"`
	Existed bool     `json:"existed"`
	MadeDir bool     `json:"made_dir,omitempty"`
	Before  string   `json:"before"` // hashes of the whole file
	After   string   `json:"after"`
	Created []string `json:"created"`
	backup  []byte
}

// PlanInstall works out how the file at path looks with our hooks in it. keep
// is the beginning of the names of two files, below our home, in which the
// install is written down: keep.json, keep.backup.
func PlanInstall(path, own string, hooks []Hook, keep string) (*Plan, error) {
	return planForward(path, keep, insertion{
		put:   func(text []byte) ([]byte, []string, error) { return Install(text, own, hooks) },
		there: func(text []byte) bool { return len(events(text, own)) > 0 },
		cut:   func(text []byte, created []string) ([]byte, error) { return Remove(text, own, created) },
	})
}

// insertion is what an install puts into a file, whether it is there, and how it
// is cut out again.
type insertion struct {
	put   func(text []byte) (out []byte, created []string, err error)
	there func(text []byte) bool
	cut   func(text []byte, created []string) ([]byte, error)
}

// planForward works out how a file looks with what is ours, and what to write
// down so that it can be taken out again.
func planForward(path, keep string, ours insertion) (*Plan, error) {
	p, err := open(path, keep)
	if err != nil {
		return nil, err
	}
	var created []string
	if p.New, created, err = ours.put(p.Old); err != nil {
		return nil, p.explain(err)
	}
	old, err := readRecord(keep)
	if err != nil {
		return nil, err
	}
	rec := &record{Path: p.Target, Existed: p.existed, Before: hash(p.Old), Created: append([]string{}, created...), backup: p.Old}
	switch {
	case old != nil && old.Path == p.Target && old.After == hash(p.Old): // as we left it
		rec = old
		rec.Created = append(rec.Created, created...)
	case ours.there(p.Old): // installed, then touched: go back to it without our entries
		var were []string
		if old != nil && old.Path == p.Target {
			were = old.Created
			rec.MadeDir = old.MadeDir
			rec.Created = append(rec.Created, were...)
		}
		if rec.backup, err = ours.cut(p.Old, were); err != nil {
			return nil, p.explain(err)
		}
		rec.Before = hash(rec.backup)
		if old != nil && !old.Existed && isEmpty(rec.backup) {
			rec.Existed = false
		}
	}
	rec.After = hash(p.New)
	p.record = rec
	return p, nil
}

// PlanRemoval works out how the file at path looks without our hooks.
func PlanRemoval(path, own, keep string) (*Plan, error) {
	return planBack(path, keep, func(text []byte, created []string) ([]byte, error) { return Remove(text, own, created) })
}

// planBack works out how a file looks without what an install put into it: as
// it was before where nobody touched it since, else by cutting. created is nil
// if nothing was written down.
func planBack(path, keep string, cut func(text []byte, created []string) ([]byte, error)) (*Plan, error) {
	p, err := open(path, keep)
	if err != nil {
		return nil, err
	}
	p.New = p.Old
	rec, err := readRecord(keep)
	if err != nil {
		return nil, err
	}
	if rec != nil && rec.Path != p.Target {
		rec = nil
	}
	if !p.existed {
		return p, nil
	}
	if rec != nil && rec.After == hash(p.Old) {
		switch {
		case !rec.Existed:
			p.New, p.Deletes = nil, true
			return p, nil
		case hash(rec.backup) == rec.Before:
			p.New = rec.backup
			return p, nil
		}
	}
	var created []string
	if rec != nil {
		created = append([]string{}, rec.Created...)
	}
	if p.New, err = cut(p.Old, created); err != nil {
		return nil, p.explain(err)
	}
	if rec != nil && !rec.Existed && isEmpty(p.New) {
		p.New, p.Deletes = nil, true
	}
	return p, nil
}

// Changed reports whether Apply has anything to do to the settings file.
func (p *Plan) Changed() bool { return p.Deletes || !bytes.Equal(p.Old, p.New) }

// Apply carries the plan out: first what is written down of it, then the file,
// in one step and with its mode. It refuses if the file changed since the plan
// was made.
func (p *Plan) Apply() error {
	now, err := os.ReadFile(p.Target) // #nosec G304 -- the settings file that a person named
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("settings cannot be read: %w", err)
	}
	if !bytes.Equal(now, p.Old) {
		return fmt.Errorf("%s was changed by another program just now; nothing was written: try again", p.Path)
	}
	if p.record != nil && p.Changed() {
		if _, err := os.Stat(filepath.Dir(p.Target)); errors.Is(err, fs.ErrNotExist) {
			p.record.MadeDir = true
		}
		if err := p.record.write(p.keep); err != nil {
			return fmt.Errorf("the backup cannot be written, so nothing was changed: %w", err)
		}
	}
	if p.Changed() {
		if err := p.write(); err != nil {
			return fmt.Errorf("settings cannot be written; %s is as it was: %w", p.Path, err)
		}
	}
	if p.record == nil {
		err := errors.Join(remove(p.keep+".json"), remove(p.keep+".backup"))
		_ = os.Remove(filepath.Dir(p.keep)) // only if nothing else is in it
		return err
	}
	return nil
}

func (p *Plan) write() error {
	dir := filepath.Dir(p.Target)
	if p.Deletes {
		if err := os.Remove(p.Target); err != nil {
			return err
		}
		if rec, err := readRecord(p.keep); err == nil && rec != nil && rec.MadeDir {
			_ = os.Remove(dir) // only if nothing else is in it
		}
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return replace(p.Target, p.New, p.mode)
}

func (p *Plan) explain(err error) error {
	var syntax *SyntaxError
	if errors.As(err, &syntax) {
		syntax.Path = p.Path
	}
	return err
}

// open reads a settings file, through links. One that does not exist is empty.
func open(path, keep string) (*Plan, error) {
	p := &Plan{Path: path, Target: path, keep: keep, mode: 0o600}
	for range 40 {
		link, err := os.Readlink(p.Target)
		if err != nil {
			break
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(p.Target), link)
		}
		p.Target = link
	}
	info, err := os.Stat(p.Target)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, fmt.Errorf("settings cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("settings cannot be read: %s is not a file", p.Target)
	}
	p.existed, p.mode = true, info.Mode().Perm()
	if p.Old, err = os.ReadFile(p.Target); err != nil { // #nosec G304 -- the settings file that a person named
		return nil, fmt.Errorf("settings cannot be read: %w", err)
	}
	return p, nil
}

// isEmpty reports whether settings say nothing at all, but for the version of
// their form.
func isEmpty(text []byte) bool {
	switch strings.Join(strings.Fields(string(text)), "") {
	case "", "{}", `{"version":1}`, `{"version":1,"hooks":{}}`:
		return true
	}
	return false
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readRecord returns what an install wrote down; nil if none did. A record that
// cannot be understood is none: our entries can be cut out without it.
func readRecord(keep string) (*record, error) {
	data, err := os.ReadFile(keep + ".json") // #nosec G304 -- a file below our home
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the record of the install cannot be read: %w", err)
	}
	var r record
	if json.Unmarshal(data, &r) != nil {
		return nil, nil
	}
	if r.backup, err = os.ReadFile(keep + ".backup"); err != nil && !errors.Is(err, fs.ErrNotExist) { // #nosec G304 -- a file below our home
		return nil, fmt.Errorf("the backup of the settings cannot be read: %w", err)
	}
	return &r, nil
}

func (r *record) write(keep string) error {
	if err := os.MkdirAll(filepath.Dir(keep), 0o700); err != nil {
		return err
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(keep+".backup", r.backup, 0o600); err != nil {
		return err
	}
	return replace(keep+".json", append(data, '\n'), 0o600)
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the settings are done, but the record of the install stays behind: %w", err)
	}
	return nil
}

// replace puts data in the place of a file in one step: a reader sees the old
// or the new one, whatever happens meanwhile.
func replace(path string, data []byte, mode fs.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".stillso-*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Chmod(mode); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
