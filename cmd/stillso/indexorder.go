package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/host/claudecode"
)

// indexOrder is what a host does not load of a MEMORY.md, and what could change
// places so that it loads what matters most. It is a proposal: the file is the
// person's and the assistant's, and is never written here.
type indexOrder struct {
	Path   string      `json:"path"`
	Beyond []indexLine `json:"not_loaded"`
	Up     []indexLine `json:"move_up"`
	Down   []indexLine `json:"move_down"`
}

// indexLine is one statement of it.
type indexLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
	Why  string `json:"why,omitempty"`
}

// The ranks of a line, best first. A line that the host loads itself is never
// recalled there: that says nothing about it, and it is unknown.
const (
	rankRule = iota
	rankRecalled
	rankUnknown
	rankNever
	rankSuperseded
)

// ranked is an entry and what is known of it.
type ranked struct {
	files.Entry
	rank   int
	times  int       // recalled
	at     time.Time // last changed; zero if not known
	loaded bool
	units  int // UTF-16, as the host counts
}

// recallWindow is how far back a recall counts.
const recallWindow = 90 * 24 * time.Hour

// known is what the store says about the lines of indexes.
type known struct {
	memories []*stillso.Memory
	recalled map[string]int // times shown, by id
}

func (d *checkup) known(ctx context.Context) known {
	k := known{recalled: map[string]int{}}
	if d.st == nil {
		return k
	}
	k.memories, _ = d.st.Memories(ctx, stillso.Filter{States: stillso.States()}) // the store's own check tells of an error
	list, _ := d.st.Receipts(ctx, d.app.now().Add(-recallWindow), 100_000)
	for _, r := range list {
		for _, h := range r.Hits {
			if h.Shown {
				k.recalled[h.ID]++
			}
		}
	}
	return k
}

// memory returns the memory that was made of an entry, or of the note it points to.
func (k known) memory(path string, e files.Entry) *stillso.Memory {
	note := filepath.Join(filepath.Dir(path), filepath.FromSlash(e.Target))
	i := slices.IndexFunc(k.memories, func(m *stillso.Memory) bool {
		if m.File == nil {
			return false
		}
		return e.Target != "" && (m.File.Path == note || m.File.Path == note+".md") || m.File.Path == path && m.File.Hash == e.Hash
	})
	if i < 0 {
		return nil
	}
	return k.memories[i]
}

func (k known) rank(path string, e files.Entry) ranked {
	r := ranked{Entry: e, rank: rankUnknown}
	m := k.memory(path, e)
	if m != nil {
		r.at, r.times = m.UpdatedAt, k.recalled[m.ID]
	}
	switch {
	case m != nil && (m.State == stillso.Superseded || m.State == stillso.Retired):
		r.rank = rankSuperseded
	case e.Rule || m != nil && m.Type.Standing():
		r.rank = rankRule
	case r.times > 0:
		r.rank = rankRecalled
	case m != nil && !slices.Contains(m.File.LoadedBy, claudecode.Name):
		r.rank = rankNever
	}
	return r
}

// why says in words what put a line where it is.
func (r ranked) why() string {
	switch r.rank {
	case rankSuperseded:
		return "already superseded or retired"
	case rankRule:
		return "a standing rule"
	case rankRecalled:
		return "recalled " + plural(r.times, "time", "times")
	case rankNever:
		return "never recalled, last changed " + r.at.Format(time.DateOnly)
	}
	return "nothing is known of its use"
}

// propose orders the entries of the text of a MEMORY.md, of which the first so many
// lines are loaded, by: standing rules, what is recalled, what nothing is known of,
// what was never recalled, what is superseded; within these by use, the newest
// first, else as they stand. Those that fit into the lines and units that the
// host loads, beside what is no entry there, should be loaded.
func propose(path, text string, loaded, units int, k known) (*indexOrder, error) {
	entries, err := files.Entries(text)
	if err != nil {
		return nil, err
	}
	lines := strings.SplitAfter(text, "\n")
	out := &indexOrder{Path: path, Beyond: []indexLine{}, Up: []indexLine{}, Down: []indexLine{}}
	other := length(strings.Join(lines[:min(loaded, len(lines))], "")) // of what is loaded and no entry
	var list []ranked
	room := 0
	for _, e := range entries {
		r := k.rank(path, e)
		r.loaded = e.Last <= loaded
		r.units = length(strings.Join(lines[e.First-1:min(e.Last, len(lines))], ""))
		if r.loaded {
			room += e.Last - e.First + 1
			other -= r.units
		} else {
			out.Beyond = append(out.Beyond, indexLine{Line: e.First, Text: e.Text})
		}
		list = append(list, r)
	}
	units -= other
	slices.SortStableFunc(list, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.times, a.times), b.at.Compare(a.at), cmp.Compare(a.First, b.First))
	})
	for _, r := range list {
		n := r.Last - r.First + 1
		fits := n <= room && r.units <= units
		if fits {
			room, units = room-n, units-r.units
		}
		line := indexLine{Line: r.First, Text: r.Text, Why: r.why()}
		switch {
		case fits && !r.loaded:
			out.Up = append(out.Up, line)
		case !fits && r.loaded:
			out.Down = append(out.Down, line)
		}
	}
	if len(out.Down) == 0 { // what is left over at the end is no reason to move anything
		out.Up = []indexLine{}
	}
	return out, nil
}

// length counts as the host does: in UTF-16.
func length(s string) int { return len(utf16.Encode([]rune(s))) }

// cutOff tells of MEMORY.md files of which the host loads only the beginning.
func (d *checkup) cutOff(ctx context.Context) {
	var k *known
	for _, folder := range look(d.app.claudeDir()).folders {
		path := filepath.Join(folder, "MEMORY.md")
		text, err := os.ReadFile(path) // #nosec G304 -- the host's own index
		if err != nil {
			continue
		}
		lines := strings.Count(strings.TrimRight(string(text), "\n")+"\n", "\n")
		loaded := files.LoadedIndex(string(text))
		if loaded >= lines {
			continue
		}
		d.health.add("MEMORY.md", note, "stillso import "+folder+" makes them findable",
			"Claude Code loads %d of %d lines of %s", loaded, lines, path)
		if k == nil {
			all := d.known(ctx)
			k = &all
		}
		if order, err := propose(path, string(text), loaded, files.IndexUnits, *k); err == nil { // else import tells what is wrong
			d.health.Findings[len(d.health.Findings)-1].Index = order
		}
	}
}

// text shows the first lines of each list; --json has all.
func (o *indexOrder) text(p *page, margin string) {
	const most = 8
	show := func(title string, list []indexLine) {
		if len(list) == 0 {
			return
		}
		p.printf("%s%s\n", margin, title)
		for _, l := range list[:min(most, len(list))] {
			var why styled
			if l.Why != "" {
				why = p.faint("  (" + l.Why + ")")
			}
			p.printf("%s  line %d: %s%s\n", margin, l.Line, cut(l.Text, 60), why)
		}
		if more := len(list) - most; more > 0 {
			p.printf("%s  %s\n", margin, p.faint(fmt.Sprintf("and %d more; --json has all", more)))
		}
	}
	show("not loaded:", o.Beyond)
	if len(o.Up) == 0 {
		return
	}
	show("proposed: move up, into what is loaded", o.Up)
	show("proposed: move to the end instead", o.Down)
}
