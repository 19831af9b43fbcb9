package namespace

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"stillso"
)

// Registry remembers which place has which namespace, so that a repository
// keeps it when it is renamed, moved, or given a remote later; and what a person
// decided otherwise. The zero Registry knows nothing.
//
// Its file has a line each, of fields that tabs separate; control characters
// and % in a field are written %XX. What is not understood is skipped:
//
//	override  directory  namespace
//	place     namespace  root  git directory  remote  birth  seen (Unix seconds)
type Registry struct{ text string }

// maxRegistry bounds what is read of a registry file, in bytes: some 40,000
// places.
const maxRegistry = 8 << 20

const registryHead = "# stillso places 1: written by stillso, read by its hook; lines that start with \"override\" may be edited\n"

// ReadRegistry reads a registry file. One that does not exist is empty.
func ReadRegistry(path string) (Registry, error) {
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return Registry{}, nil
	}
	if err != nil {
		return Registry{}, fmt.Errorf("places cannot be read: %w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxRegistry {
		return Registry{}, fmt.Errorf("places cannot be read: %s is no file of less than %d MiB; move it away, it is rebuilt", path, maxRegistry>>20)
	}
	data := readSome(path, maxRegistry)
	if data == nil && info.Size() > 0 { // ask again for the reason
		if data, err = os.ReadFile(path); err != nil { // #nosec G304 -- the caller's own home
			return Registry{}, fmt.Errorf("places cannot be read: %w", err)
		}
	}
	return ParseRegistry(data), nil
}

// ParseRegistry takes the content of a registry file.
func ParseRegistry(data []byte) Registry { return Registry{text: string(data)} }

// Bytes returns the content for a registry file.
func (r Registry) Bytes() []byte { return []byte(r.text) }

// Override is a person's decision that a directory, and all below it, belongs
// to a namespace.
type Override struct {
	Dir       string            `json:"dir"`
	Namespace stillso.Namespace `json:"namespace"`
}

// Overrides lists the overrides.
func (r Registry) Overrides() []Override {
	var list []Override
	for o := range r.overrides {
		list = append(list, o)
	}
	return list
}

// Places lists the places, the one that was seen last at the end.
func (r Registry) Places() []stillso.Place {
	var list []stillso.Place
	for p := range r.places {
		list = append(list, p)
	}
	return list
}

// Orphans lists the places that are gone, or hold another project now, and whose
// namespace has no other place left: what was learnt there waits for a new home.
func (r Registry) Orphans() []stillso.Place {
	var gone []stillso.Place
	alive := map[stillso.Namespace]bool{}
	for o := range r.overrides {
		alive[o.Namespace] = alive[o.Namespace] || isDir(o.Dir)
	}
	places := r.Places()
	for i, p := range places {
		lost := p.GitDir != "" && !isDir(p.GitDir) || p.GitDir == "" && !isDir(p.Root)
		for _, later := range places[i+1:] {
			lost = lost || p.GitDir != "" && samePath(p.GitDir, later.GitDir)
		}
		if lost {
			gone = append(gone, p)
		} else {
			alive[p.Namespace] = true
		}
	}
	kept := gone[:0]
	for _, p := range gone {
		if !alive[p.Namespace] {
			kept = append(kept, p)
		}
	}
	return kept
}

func (r Registry) lines() iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(r.text, "\n") {
			if line = strings.TrimSuffix(line, "\r"); line != "" && !yield(line) {
				return
			}
		}
	}
}

func (r Registry) overrides(yield func(Override) bool) {
	if !strings.Contains(r.text, "override\t") {
		return
	}
	for line := range r.lines() {
		rest, ok := strings.CutPrefix(line, "override\t")
		if !ok {
			continue
		}
		dir, ns, _ := strings.Cut(rest, "\t")
		ns, _, _ = strings.Cut(ns, "\t")
		o := Override{Dir: unescapeField(dir), Namespace: stillso.Namespace(strings.TrimSpace(ns))}
		if filepath.IsAbs(o.Dir) && o.Namespace.Valid() && !yield(o) {
			return
		}
	}
}

func (r Registry) places(yield func(stillso.Place) bool) {
	for line := range r.lines() {
		if p, ok := parsePlace(line); ok && !yield(p) {
			return
		}
	}
}

func parsePlace(line string) (stillso.Place, bool) {
	rest, ok := strings.CutPrefix(line, "place\t")
	if !ok {
		return stillso.Place{}, false
	}
	var field [6]string
	for i := range field {
		field[i], rest, _ = strings.Cut(rest, "\t")
	}
	p := stillso.Place{
		Namespace: stillso.Namespace(field[0]), Root: unescapeField(field[1]), GitDir: unescapeField(field[2]),
		Remote: unescapeField(field[3]), Birth: unescapeField(field[4]),
	}
	if s, err := strconv.ParseInt(field[5], 10, 64); err == nil {
		p.SeenAt = time.Unix(s, 0).UTC()
	}
	return p, p.Namespace.Valid() && p.Root != ""
}

// byRemote finds the first place with a remote, without taking apart the lines
// of all others: it is what the prompt path asks most often.
func (r Registry) byRemote(remote string) (stillso.Namespace, bool) {
	if remote == "" {
		return "", false
	}
	field := "\t" + escapeField(remote) + "\t"
	for from := 0; ; {
		i := strings.Index(r.text[from:], field)
		if i < 0 {
			return "", false
		}
		i += from
		line, _, _ := strings.Cut(r.text[strings.LastIndexByte(r.text[:i], '\n')+1:], "\n")
		if p, ok := parsePlace(strings.TrimSuffix(line, "\r")); ok && p.Remote == remote {
			return p.Namespace, true
		}
		from = i + 1
	}
}

// override finds the nearest override above dir, or else above the main work
// tree, so that one for a repository holds in its linked work trees too.
func (r Registry) override(dir, main string) (stillso.Namespace, bool) {
	var best [2]Override
	for o := range r.overrides {
		for i, d := range [2]string{dir, main} {
			if below(d, o.Dir) && len(o.Dir) > len(best[i].Dir) {
				best[i] = o
			}
		}
	}
	for _, o := range best {
		if o.Dir != "" {
			return o.Namespace, true
		}
	}
	return "", false
}

// below reports whether dir is parent or lies in it.
func below(dir, parent string) bool {
	dir, parent = pathKey(dir), strings.TrimSuffix(pathKey(parent), string(filepath.Separator))
	rest, ok := strings.CutPrefix(dir, parent)
	return ok && (rest == "" || rest[0] == filepath.Separator)
}

// lookup finds the namespace of a place that was seen before. A remote decides
// alone. Otherwise the same git directory, the same first commit whose old git
// directory is gone, or the same directory.
func (r Registry) lookup(p stillso.Place, main string) (stillso.Namespace, bool) {
	if ns, ok := r.byRemote(p.Remote); ok {
		return ns, true
	}
	var byDir, byRoot stillso.Place
	var births []stillso.Place
	for row := range r.places {
		switch {
		case p.GitDir != "" && samePath(row.GitDir, p.GitDir):
			if sameRepository(row, p) {
				byDir = row // the last one holds
			}
		case p.Birth != "" && row.Birth == p.Birth:
			births = append(births, row)
		case samePath(row.Root, main) && (row.GitDir == "" || p.GitDir == "" && !isDir(row.GitDir)):
			byRoot = row
		}
	}
	if byDir.Namespace != "" {
		return byDir.Namespace, true
	}
	for _, row := range births {
		if (row.Remote == "" || p.Remote == "") && !elsewhere(row, p) {
			return row.Namespace, true
		}
	}
	return byRoot.Namespace, byRoot.Namespace != ""
}

// sameRepository reports whether a known git directory still holds what it
// held. Another first commit is another repository. Another remote is another
// project, too (a template that was cloned and made one's own), unless only the
// host changed: a move from one service to the next.
func sameRepository(row, p stillso.Place) bool {
	if row.Birth != "" && p.Birth != "" && row.Birth != p.Birth {
		return false
	}
	if row.Remote == "" || p.Remote == "" || row.Remote == p.Remote {
		return true
	}
	_, a, _ := strings.Cut(row.Remote, "/")
	_, b, _ := strings.Cut(p.Remote, "/")
	return row.Birth != "" && row.Birth == p.Birth && strings.EqualFold(a, b)
}

// elsewhere reports whether the repository of row still lives at its own place:
// then p, with the same first commit, is a copy, and copies share nothing.
func elsewhere(row, p stillso.Place) bool {
	if row.GitDir == "" || birth(row.GitDir) != row.Birth {
		return false
	}
	real, err := filepath.EvalSymlinks(row.GitDir)
	return err != nil || !samePath(real, p.GitDir)
}

// copied reports whether the first commit of p belongs to another place already.
func (r Registry) copied(p stillso.Place) bool {
	for row := range r.places {
		if row.Birth == p.Birth && !samePath(row.GitDir, p.GitDir) && elsewhere(row, p) {
			return true
		}
	}
	return false
}

// taken reports whether a place of another identity has the namespace. It is
// asked only after lookup found nothing for p.
func (r Registry) taken(ns stillso.Namespace, p stillso.Place) bool {
	for row := range r.places {
		if row.Namespace == ns && (p.Remote == "" || row.Remote != p.Remote) {
			return true
		}
	}
	return false
}

func samePath(a, b string) bool { return a == b || pathKey(a) == pathKey(b) }

// pathKey is the form in which paths are compared and hashed: on systems whose
// file names ignore case, so does it.
func pathKey(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

func escapeField(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '%' }) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == 0x7f || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func unescapeField(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				b, i = append(b, byte(hi<<4|lo)), i+2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}
