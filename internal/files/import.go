package files

import (
	"fmt"
	"slices"
	"time"

	"stillso"
)

// Kept is a memory that an import left as it is, and why.
type Kept struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Plan is what an import would do.
type Plan struct {
	Changes []stillso.Change
	Added   int
	Edited  int
	// Same counts what the store has already, word for word.
	Same int
	// Kept lists what differs and yet stays.
	Kept []Kept
}

// Import plans how fresh memories go into a store that has existing ones, by id.
// It may be repeated: what is here already changes nothing; what was retired
// here stays retired; what differs is taken over only if it is newer (a later
// updated_at, or a file whose text has changed).
func Import(existing map[string]*stillso.Memory, fresh Reading, by stillso.Actor, now time.Time) Plan {
	var p Plan
	for _, f := range fresh.Memories {
		old := existing[f.ID]
		if old == nil {
			p.Added++
			p.Changes = append(p.Changes, newChange(stillso.VerbAdd, "import", nil, f, by, now))
			continue
		}
		m, reason := meet(old, f, !fresh.lines[f.ID], !fresh.undated[f.ID])
		switch {
		case reason != "":
			p.Kept = append(p.Kept, Kept{f.ID, reason})
		case m == nil:
			p.Same++
		default:
			p.Edited++
			c := newChange(stillso.VerbEdit, "import", old, m, by, now)
			if f.UpdatedAt.After(old.UpdatedAt) {
				m.UpdatedAt = f.UpdatedAt
			}
			p.Changes = append(p.Changes, c)
		}
	}
	return p
}

// meet compares a memory with the one of the same id in the store. It returns
// what the memory becomes, or why the old one stays although they differ; nil
// and "" if there is no difference. live says that f was read from its file.
func meet(old, f *stillso.Memory, live, dated bool) (*stillso.Memory, string) {
	m := f.Clone()
	// Phrases are what recall has learnt; an import never takes them away.
	phrases := missing(old.Aliases, f.Aliases)
	m.Aliases = slices.Concat(old.Aliases, phrases)
	m.Aliases = m.Aliases[:min(len(m.Aliases), stillso.MaxAliases)]
	if !dated {
		m.UpdatedAt = old.UpdatedAt
		if !f.CreatedAt.Before(old.CreatedAt) {
			m.CreatedAt = old.CreatedAt
		}
	}
	unchanged := live && sameLine(old, f)
	switch {
	case m.Equal(old), unchanged && len(phrases) == 0:
		return nil, ""
	case old.State == stillso.Retired:
		return nil, "it was retired here"
	case old.Namespace != m.Namespace:
		return nil, fmt.Sprintf("its id belongs to a memory of %s", old.Namespace)
	case unchanged: // only phrases are new
		after := old.Clone()
		after.Aliases = m.Aliases
		return after, ""
	case live && old.File != nil && old.File.Path == f.File.Path: // its file has changed
		m.CreatedAt = old.CreatedAt
		return m, ""
	case !dated:
		return nil, "it differs from the one here, and its line has no updated_at"
	case !f.UpdatedAt.After(old.UpdatedAt):
		return nil, "the one here is as new or newer"
	}
	return m, ""
}

// missing returns the phrases of more that have lacks.
func missing(have, more []string) []string {
	var out []string
	for _, a := range more {
		if !slices.Contains(have, a) && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return out
}
