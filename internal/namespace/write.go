package namespace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"stillso"
)

// seenStep is how much newer a sighting must be to be worth a write.
const seenStep = 24 * time.Hour

// Add takes a resolved place into the registry and reports whether that changed
// it. What the registry knew and p does not say (a remote that was removed, a
// first commit that git forgot) is kept. Places of the user namespace, and those
// under an override, are not taken: they would speak for others.
func (r *Registry) Add(p stillso.Place) bool {
	if p.Namespace == stillso.UserNamespace || !p.Namespace.Valid() || p.Root == "" {
		return false
	}
	main := mainOf(p.GitDir, p.Root)
	if _, overridden := r.override(p.Root, main); overridden {
		return false
	}
	places := r.Places()
	kept := make([]stillso.Place, 0, len(places)+1)
	var old stillso.Place
	for _, row := range places {
		// A place that another project had before keeps its row: what was learnt
		// there is an orphan, and somebody has to be told.
		if row.Namespace == p.Namespace && replaces(p, row, main) {
			old = row
		} else {
			kept = append(kept, row)
		}
	}
	if p.Remote == "" {
		p.Remote = old.Remote
	}
	if p.Birth == "" {
		p.Birth = old.Birth
	}
	same := old
	same.SeenAt = p.SeenAt
	if same == p && len(kept) == len(places)-1 && p.SeenAt.Sub(old.SeenAt) < seenStep {
		return false
	}
	r.write(r.Overrides(), append(kept, p))
	return true
}

// replaces reports whether p is the new form of row: the same git directory,
// the same plain directory, or a repository that has moved away from there.
func replaces(p, row stillso.Place, main string) bool {
	switch {
	case p.GitDir != "" && row.GitDir != "":
		moved := row.Namespace == p.Namespace && row.Birth != "" && row.Birth == p.Birth && !isDir(row.GitDir)
		return samePath(p.GitDir, row.GitDir) || moved
	case row.GitDir == "":
		return samePath(row.Root, main)
	}
	return row.Namespace == p.Namespace && samePath(row.Root, p.Root)
}

// SetOverride makes dir, and all below it, belong to ns; an empty ns takes the
// override away.
func (r *Registry) SetOverride(dir string, ns stillso.Namespace) error {
	if ns != "" && !ns.Valid() {
		return fmt.Errorf("namespace %q cannot be used: it is none of user, project/<id>, team/<id>", ns)
	}
	real, err := realDirectory(dir)
	if err != nil {
		return err
	}
	overrides := r.Overrides()
	kept := overrides[:0]
	for _, o := range overrides {
		if !samePath(o.Dir, real) {
			kept = append(kept, o)
		}
	}
	if ns != "" {
		kept = append(kept, Override{Dir: real, Namespace: ns})
	}
	r.write(kept, r.Places())
	return nil
}

func (r *Registry) write(overrides []Override, places []stillso.Place) {
	var b strings.Builder
	b.WriteString(registryHead)
	for _, o := range overrides {
		b.WriteString("override\t" + escapeField(o.Dir) + "\t" + string(o.Namespace) + "\n")
	}
	for _, p := range places {
		seen := int64(0)
		if !p.SeenAt.IsZero() {
			seen = p.SeenAt.Unix()
		}
		for _, f := range []string{"place", string(p.Namespace), escapeField(p.Root), escapeField(p.GitDir), escapeField(p.Remote), escapeField(p.Birth)} {
			b.WriteString(f + "\t")
		}
		b.WriteString(strconv.FormatInt(seen, 10) + "\n")
	}
	r.text = b.String()
}

// Update changes a registry file: it reads it, calls change, and puts the result
// in its place in one step, so that a reader sees the old or the new one.
// Writers wait for each other. Nothing is written if change alters nothing or
// returns an error.
func Update(path string, change func(*Registry) error) error {
	unlock, err := lock(path + ".lock")
	if err != nil {
		return err
	}
	defer unlock()
	reg, err := ReadRegistry(path)
	if err != nil {
		return err
	}
	before := reg.text
	if err := change(&reg); err != nil {
		return err
	}
	if reg.text == before {
		return nil
	}
	if err := replaceFile(path, reg.Bytes()); err != nil {
		return fmt.Errorf("places cannot be written: %w", err)
	}
	return nil
}

// lock creates a lock file. One that stays for 3 seconds was left by a process
// that died: no writer holds it for more than a few milliseconds.
func lock(path string) (unlock func(), err error) {
	const step, tries = 5 * time.Millisecond, 600
	for i := 0; ; i++ {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) // #nosec G304 -- the caller's own home
		if err == nil {
			return func() { _ = os.Remove(path) }, f.Close()
		}
		// Windows says "access denied" while another process removes the file.
		held := errors.Is(err, os.ErrExist) || runtime.GOOS == "windows" && errors.Is(err, os.ErrPermission)
		if !held || i > 2*tries {
			return nil, fmt.Errorf("places cannot be locked: %w", err)
		}
		if i == tries {
			_ = os.Remove(path)
		}
		time.Sleep(step)
	}
}

func replaceFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
			_ = os.Remove(f.Name())
		}
	}()
	if err := f.Chmod(0o600); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if _, err := f.Write(data); err != nil {
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
