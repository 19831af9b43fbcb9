package recall

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/snapshot"
)

// The impacts of file terms, in sixteenths of a nat: a memory that was recorded
// for a file says more about it than one whose text mentions it.
const (
	relatedEvidence   = 128
	mentionedEvidence = 64
)

// filePostings returns the postings by which a memory is found for a file: one for
// each file it is related to or that its text names. A file is known by its last
// folder and its name, or by its name alone where the memory gives no folder.
func filePostings(m *stillso.Memory) []snapshot.Posting {
	best := map[string]uint8{}
	for _, f := range m.RelatedFiles {
		if t := fileTerm(f); t != "" {
			best[t] = relatedEvidence
		}
	}
	for _, text := range [...]string{m.Content, m.Body} {
		for _, w := range strings.FieldsFunc(text, notInPath) {
			w = strings.Trim(w, ".:,;'\"*")
			if !namesFile(w) {
				continue
			}
			if t := fileTerm(w); t != "" && best[t] == 0 {
				best[t] = mentionedEvidence
			}
		}
	}
	out := make([]snapshot.Posting, 0, len(best))
	for t, i := range best {
		out = append(out, snapshot.Posting{Term: t, I0: i, I1: i})
	}
	slices.SortFunc(out, func(a, b snapshot.Posting) int { return strings.Compare(a.Term, b.Term) })
	return out
}

func notInPath(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/\\._-@+", r) || r >= 0xc0 && r < 0x2000)
}

// namesFile reports whether a word of a text names a file: an ending of letters
// after a name, and no name that every project has.
func namesFile(w string) bool {
	w = strings.ReplaceAll(w, "\\", "/")
	base := path.Base(w)
	ext := path.Ext(base)
	if len(ext) < 2 || len(ext) > 6 || len(base) == len(ext) || !letter(ext[1]) || strings.Contains(w, "//") {
		return false
	}
	return strings.Contains(w, "/") || !everywhere(base)
}

// everywhere reports whether many folders have a file of this name.
func everywhere(base string) bool {
	switch name, _, _ := strings.Cut(strings.ToLower(base), "."); name {
	case "index", "main", "readme", "package", "config", "__init__", "mod", "lib", "utils", "util", "test", "tests", "types", "app", "setup", "license", "makefile", "dockerfile", "e", "i", "vs", "etc":
		return true
	}
	return false
}

// fileTerm returns the term of a path: its last folder and name, in lower case.
func fileTerm(p string) string {
	p = strings.ToLower(strings.ReplaceAll(p, "\\", "/"))
	dir, base := path.Split(path.Clean(p))
	if base == "" || base == "." || base == "/" || base == ".." {
		return ""
	}
	if d := path.Base(dir); dir != "" && d != "." && d != "/" && d != ".." {
		return fileMark + d + "/" + base
	}
	return fileMark + base
}

// fileTerms returns the query for files: with their folder, and by name alone.
func fileTerms(files []string) []snapshot.QueryTerm {
	var out []snapshot.QueryTerm
	for _, f := range files[:min(len(files), 8)] {
		t := fileTerm(f)
		if t == "" {
			continue
		}
		out = append(out, snapshot.QueryTerm{Term: t, Weight: 1})
		if base := path.Base(strings.TrimPrefix(t, fileMark)); fileMark+base != t {
			out = append(out, snapshot.QueryTerm{Term: fileMark + base, Weight: .8})
		}
	}
	return out
}

// FileQuery asks for what is known about one file.
type FileQuery struct {
	// Path is absolute or relative to the work tree.
	Path       string
	Namespaces []stillso.Namespace
	Host       string
	Now        time.Time
	Skip       func(id string) bool
	// Limit is the largest number of hits; 0 is MaxFileHits.
	Limit int
}

// MaxFileHits is how many memories are shown for a file.
const MaxFileHits = 3

// ForFile returns the memories related to a file that is about to be read or
// changed: those that name it among their related files or in their text.
func ForFile(snap *snapshot.Snapshot, q FileQuery) Outcome {
	var o Outcome
	o.Receipt.V, o.Receipt.At = 1, q.Now
	limit := q.Limit
	if limit == 0 {
		limit = MaxFileHits
	}
	asked := fileTerms([]string{q.Path})
	found := snap.In(q.Namespaces...).Search(asked, candidates, func(r snapshot.Ref) bool {
		return snap.Head(r).State == stillso.Active && accept(snap, r, q.Host)
	})
	for _, c := range found {
		head := snap.Head(c.Ref)
		o.Weighed = append(o.Weighed, Hit{
			Doc: snap.Doc(c.Ref), Evidence: c.L, Strength: c.L, Coverage: 1, Factor: factor(head, q.Now),
			Matched: []string{path.Base(strings.ReplaceAll(q.Path, "\\", "/"))},
		})
	}
	slices.SortStableFunc(o.Weighed, func(a, b Hit) int { return cmp.Compare(b.score(), a.score()) })
	for i := range o.Weighed {
		h := &o.Weighed[i]
		switch {
		case len(o.Hits) == limit:
			h.Why = "more than the limit"
		case q.Skip != nil && q.Skip(h.Doc.ID):
			h.Why = "already shown in this session"
		default:
			o.Hits = append(o.Hits, *h)
		}
		o.Receipt.Hits = append(o.Receipt.Hits, stillso.ReceiptHit{
			ID: h.Doc.ID, Score: round(h.score()), Strength: round(h.Strength), Shown: h.Why == "", Why: h.Why,
		})
	}
	switch {
	case len(o.Hits) > 0:
	case len(o.Weighed) > 0:
		o.Receipt.Silence = "what is known about this file was already shown"
	default:
		o.Receipt.Silence = "no memory names this file"
	}
	return o
}
