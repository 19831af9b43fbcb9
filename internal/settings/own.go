package settings

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ErrForeign is wrapped by the error for a file that stands where ours should,
// and that we did not write.
var ErrForeign = errors.New("the file is not ours")

// PlanOwn works out how a file looks that is ours as a whole. mark is a text that
// every version of it holds: a file without it was written by somebody else, and
// is refused.
func PlanOwn(path string, content []byte, mark, keep string) (*Plan, error) {
	p, err := open(path, keep)
	if err != nil {
		return nil, err
	}
	p.New = content
	rec := &record{Path: p.Target, Existed: false, Created: []string{}, After: hash(content)}
	if p.existed {
		if !bytes.Contains(p.Old, []byte(mark)) {
			return nil, fmt.Errorf("%w: %s was written by somebody else; move it away, and try again", ErrForeign, path)
		}
		if old, err := readRecord(keep); err == nil && old != nil {
			rec.MadeDir = old.MadeDir
		}
	}
	p.record = rec
	return p, nil
}

// PlanOwnRemoval works out that a file of ours goes. One that was changed since
// it was installed is not ours alone any more, and is refused.
func PlanOwnRemoval(path string, content []byte, mark, keep string) (*Plan, error) {
	p, err := open(path, keep)
	if err != nil {
		return nil, err
	}
	p.New = p.Old
	if !p.existed || !bytes.Contains(p.Old, []byte(mark)) {
		return p, nil
	}
	rec, err := readRecord(keep)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(p.Old, content) && (rec == nil || rec.After != hash(p.Old)) {
		return nil, fmt.Errorf("%w alone: %s was changed since it was installed; remove it by hand", ErrForeign, path)
	}
	p.New, p.Deletes = nil, true
	return p, nil
}

// Record has another program change a settings file, and writes down below our
// home what it was before and after, and the names of what was put into it, so
// that PlanTables can give it back.
func Record(path, keep string, change func() (names []string, err error)) error {
	p, err := open(path, keep)
	if err != nil {
		return err
	}
	rec := &record{Path: p.Target, Existed: p.existed, Before: hash(p.Old), After: hash(p.Old), Created: []string{}, backup: p.Old}
	if old, err := readRecord(keep); err == nil && old != nil && old.Path == p.Target && old.After == hash(p.Old) {
		rec = old
	}
	if err := rec.write(keep); err != nil {
		return fmt.Errorf("the backup cannot be written, so nothing was changed: %w", err)
	}
	names, err := change()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(rec.Created, name) {
			rec.Created = append(rec.Created, name)
		}
	}
	now, err := os.ReadFile(p.Target) // #nosec G304 -- the settings file of a host
	if err != nil {
		return fmt.Errorf("settings cannot be read: %w", err)
	}
	rec.After = hash(now)
	return rec.write(keep)
}

// Exists reports whether an install was written down.
func Exists(keep string) bool {
	_, err := os.Stat(filepath.Clean(keep + ".json"))
	return err == nil
}
