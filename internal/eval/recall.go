// Package eval measures what stillso does on labelled data: recall with silence,
// capture, and public benchmarks of search.
package eval

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/terms"
)

// RecallSet is one store of memories with labelled prompts.
type RecallSet struct {
	Name     string
	Memories []*stillso.Memory
	Queries  []RecallQuery
}

// RecallQuery is one labelled prompt. Anybody can write such lines.
type RecallQuery struct {
	ID     string `json:"id"`
	Prompt string `json:"prompt"`
	// Previous is the user's turn before, if that matters.
	Previous string `json:"previous,omitempty"`
	// Right are the memories that answer it; none means that silence is right.
	Right []string `json:"right"`
	// AlsoOK answer it as well.
	AlsoOK []string `json:"also_ok"`
	Kind   string   `json:"kind"`
}

// silent reports whether nothing should be injected.
func (q *RecallQuery) silent() bool { return q.Kind == "nothing" || len(q.Right)+len(q.AlsoOK) == 0 }

func (q *RecallQuery) right(id string) bool {
	return slices.Contains(q.Right, id) || slices.Contains(q.AlsoOK, id)
}

// ForeignPrompt is a real prompt of somebody else's project: the hardest test of
// silence. Expect is nothing, either or may_recall (a topic, but not of this store).
type ForeignPrompt struct {
	ID     string `json:"id"`
	Person string `json:"person"`
	Text   string `json:"text"`
	Label  string `json:"label"`
	Expect string `json:"expect"`
}

// EvalNamespace holds the memories of a set while it is measured.
const EvalNamespace stillso.Namespace = "project/eval"

// ReadRecallSet reads a folder with notes/*.md, queries.jsonl and, if they are
// asked for and there, aliases.jsonl. Ids are the names of the notes' files.
func ReadRecallSet(dir string, aliases bool, now time.Time) (RecallSet, error) {
	file := ""
	if aliases {
		file = filepath.Join(dir, "aliases.jsonl")
	}
	s, err := ReadRecallFiles(filepath.Join(dir, "notes"), filepath.Join(dir, "queries.jsonl"), file, now)
	s.Name = filepath.Base(dir)
	return s, err
}

// ReadRecallFiles reads a folder of notes, a file of labelled prompts and, unless
// its name is empty, a file of aliases. A missing file of aliases is none.
func ReadRecallFiles(notes, queries, aliases string, now time.Time) (RecallSet, error) {
	s := RecallSet{Name: filepath.Base(notes)}
	read, err := files.ReadFolder(notes, files.Options{Namespace: EvalNamespace, Now: now})
	if err != nil {
		return s, err
	}
	s.Memories = read.Memories
	for _, m := range s.Memories {
		if m.File != nil {
			base := filepath.Base(m.File.Path)
			m.ID = strings.TrimSuffix(base, filepath.Ext(base))
		}
		m.Namespace = EvalNamespace
	}
	if s.Queries, err = readLines[RecallQuery](queries); err != nil {
		return s, err
	}
	if aliases != "" {
		if err := addAliases(s.Memories, aliases); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return s, err
		}
	}
	return s, nil
}

func addAliases(memories []*stillso.Memory, path string) error {
	list, err := readLines[struct {
		ID      string   `json:"note"`
		Aliases []string `json:"aliases"`
	}](path)
	if err != nil {
		return err
	}
	byID := map[string]*stillso.Memory{}
	for _, m := range memories {
		byID[m.ID] = m
	}
	for _, a := range list {
		if m := byID[a.ID]; m != nil {
			m.Aliases = append(m.Aliases, a.Aliases...)
		}
	}
	return nil
}

// ReadForeign reads prompts of other projects, one JSON document a line.
func ReadForeign(path string) ([]ForeignPrompt, error) { return readLines[ForeignPrompt](path) }

// readLines reads one JSON document a line. A line that cannot be read is an
// error that names it.
func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path) // #nosec G304 -- a file that the user named
	if err != nil {
		return nil, fmt.Errorf("cannot read the labelled data: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	var out []T
	r := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				return nil, fmt.Errorf("%s, line %d is not what it should be: %w; each line is one JSON document", path, n, err)
			}
			out = append(out, v)
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
	}
}

// Share is a part of a whole.
type Share struct {
	Hit int `json:"hit"`
	Of  int `json:"of"`
}

func (s *Share) add(hit bool) {
	s.Of++
	if hit {
		s.Hit++
	}
}

// Percent is 0 for a part of nothing.
func (s Share) Percent() float64 {
	if s.Of == 0 {
		return 0
	}
	return 100 * float64(s.Hit) / float64(s.Of)
}

func (s Share) String() string { return fmt.Sprintf("%d/%d = %.1f %%", s.Hit, s.Of, s.Percent()) }

// RecallFigures are what a set came to.
type RecallFigures struct {
	Name     string `json:"name"`
	Memories int    `json:"memories"`
	// Top1 to Top5: a right memory is among so many of those injected.
	Top1 Share `json:"top1"`
	Top2 Share `json:"top2"`
	Top5 Share `json:"top5"`
	// Found1 to Found5 are the same before the gate: ranking alone.
	Found1 Share `json:"found1"`
	Found2 Share `json:"found2"`
	Found5 Share `json:"found5"`
	// MRR is the mean of 1/rank of the first right memory before the gate.
	MRR float64 `json:"mrr"`
	// Injected: of the memories injected for prompts that need one, those that are right.
	Injected Share `json:"injected"`
	// Misled counts prompts that got only wrong memories.
	Misled Share `json:"misled"`
	// Silent: prompts that need nothing and got nothing.
	Silent Share `json:"silent"`
	// Foreign: prompts with a topic of other projects that got something. Nothing:
	// prompts of other projects that need nothing and got something.
	Foreign Share `json:"foreign"`
	Nothing Share `json:"nothing"`
	// Hinted counts recall prompts answered by a hit or by a hint that names the
	// right memory, HintedNothing prompts that need nothing and got a hint.
	Hinted        Share `json:"hinted"`
	HintedNothing Share `json:"hinted_nothing"`
	// P50 and P95 are microseconds of one recall.
	P50 int64 `json:"p50_us"`
	P95 int64 `json:"p95_us"`

	micros []int64
	ranks  float64
}

func (f *RecallFigures) add(o *RecallFigures) {
	for _, p := range []struct{ to, from *Share }{
		{&f.Top1, &o.Top1},
		{&f.Top2, &o.Top2},
		{&f.Top5, &o.Top5},
		{&f.Found1, &o.Found1},
		{&f.Found2, &o.Found2},
		{&f.Found5, &o.Found5},
		{&f.Injected, &o.Injected},
		{&f.Misled, &o.Misled},
		{&f.Silent, &o.Silent},
		{&f.Foreign, &o.Foreign},
		{&f.Nothing, &o.Nothing},
		{&f.Hinted, &o.Hinted},
		{&f.HintedNothing, &o.HintedNothing},
	} {
		p.to.Hit += p.from.Hit
		p.to.Of += p.from.Of
	}
	f.Memories += o.Memories
	f.micros = append(f.micros, o.micros...)
	f.ranks += o.ranks
}

func (f *RecallFigures) finish() {
	slices.Sort(f.micros)
	if n := len(f.micros); n > 0 {
		f.P50, f.P95 = f.micros[n/2], f.micros[n*95/100]
	}
	if f.Found5.Of > 0 {
		f.MRR = f.ranks / float64(f.Found5.Of)
	}
}

// RecallAnswer is what one prompt got: the memories injected, best first.
type RecallAnswer struct {
	ID    string   `json:"id"`
	Notes []string `json:"notes"`
}

// RecallReport is the result of a run.
type RecallReport struct {
	Sets  []RecallFigures `json:"sets"`
	Total RecallFigures   `json:"total"`
	// Answers are those to the sets' own prompts.
	Answers []RecallAnswer `json:"-"`
}

// RecallOptions say how to measure.
type RecallOptions struct {
	Now time.Time
	// Clock measures the time of one recall; nil measures none.
	Clock func() time.Time
	// Foreign prompts are asked of every set.
	Foreign []ForeignPrompt
	// Typed are prompts that the user typed in another project: what the background
	// learns from and the thresholds are calibrated with.
	Typed []ForeignPrompt
	// Forget are scripts that the background is made not to know.
	Forget []terms.Script
	// Temp is a directory for the snapshots; empty is the system's.
	Temp string
}

// Recall measures sets through the code of the hook: a real snapshot, the cleaned
// prompt, the gate. What it counts as injected is what would be injected.
func Recall(ctx context.Context, sets []RecallSet, o RecallOptions) (RecallReport, error) {
	rep := RecallReport{Total: RecallFigures{Name: "all"}}
	for i := range sets {
		if err := ctx.Err(); err != nil {
			return rep, err
		}
		f, answers, err := recallSet(&sets[i], o)
		if err != nil {
			return rep, fmt.Errorf("%s: %w", sets[i].Name, err)
		}
		rep.Total.add(f)
		f.finish()
		rep.Sets = append(rep.Sets, *f)
		rep.Answers = append(rep.Answers, answers...)
	}
	rep.Total.finish()
	return rep, nil
}

// Worse lists what a run does worse than an earlier one, in words: fewer right
// answers, less silence, more foreign injections.
func (r RecallReport) Worse(before RecallReport) []string {
	var out []string
	a, b := r.Total, before.Total
	for _, c := range []struct {
		name     string
		now, was Share
		up       bool
	}{
		{"right memory first", a.Top1, b.Top1, true},
		{"right memory in the first two", a.Top2, b.Top2, true},
		{"right memory in the first five", a.Top5, b.Top5, true},
		{"silent where nothing is needed", a.Silent, b.Silent, true},
		{"foreign prompts injected", a.Foreign, b.Foreign, false},
		{"foreign prompts without topic injected", a.Nothing, b.Nothing, false},
	} {
		if c.now.Of == 0 || c.was.Of == 0 {
			continue
		}
		if d := c.now.Percent() - c.was.Percent(); c.up && d < -1e-9 || !c.up && d > 1e-9 {
			out = append(out, fmt.Sprintf("%s: %s, was %s", c.name, c.now, c.was))
		}
	}
	return out
}
