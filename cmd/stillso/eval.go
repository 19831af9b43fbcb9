package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2/maybe"

	"stillso"
	"stillso/internal/eval"
)

// evalCmd measures stillso on labelled sets.
type evalCmd struct {
	Recall   evalRecallCmd     `cmd:"" help:"Measure recall and silence on labelled prompts."`
	Capture  evalExtractionCmd `cmd:"" name:"extraction" help:"Measure capture on labelled excerpts of sessions."`
	Bench    evalBenchCmd      `cmd:"" help:"Run a public benchmark of search."`
	Control  evalControlCmd    `cmd:"" help:"Measure superseding, releasing and purging in words."`
	Newest   evalNewestCmd     `cmd:"" help:"Measure whether a new statement outranks the one it updates."`
	Conflict evalConflictCmd   `cmd:"" help:"Play fifty sessions of changes, lies and conditions."`
	All      evalAllCmd        `cmd:"" help:"Everything there is in the folder of shared data."`
}

// evalRecallCmd measures recall.
type evalRecallCmd struct {
	Notes   string   `help:"A folder of notes; else your own memories." placeholder:"DIR" type:"path"`
	Queries string   `help:"Labelled prompts: {\"id\",\"prompt\",\"right\":[ids],\"also_ok\":[ids]} a line." placeholder:"FILE" type:"path"`
	Aliases string   `help:"Aliases for the notes: {\"note\",\"aliases\":[...]} a line." placeholder:"FILE" type:"path"`
	Set     []string `sep:"none" help:"A folder with notes/, queries.jsonl and aliases.jsonl; repeatable, summed up." placeholder:"DIR" type:"path"`
	Bare    bool     `help:"Leave the aliases of the sets out."`
	Foreign string   `help:"Prompts of other projects, asked of every set." placeholder:"FILE" type:"path"`
	Answers string   `help:"Write what each prompt got: {\"id\",\"notes\":[ids]} a line." placeholder:"OUT" type:"path"`
	Save    bool     `help:"Keep this run; later ones are compared with it."`
	Compare string   `help:"Compare with this run instead of the kept one." placeholder:"FILE" type:"path"`
}

// Help shows examples.
func (evalRecallCmd) Help() string {
	return `Runs the code of the hook, gate included: what counts as found is what would be
injected. A kept run of the same sets is compared with; exit code 1 if this one is
worse.

Examples:
  stillso eval recall --queries my-prompts.jsonl --save
  stillso eval recall --notes notes --queries queries.jsonl --answers out.jsonl
  stillso eval recall --set sets/shop --set sets/api --bare`
}

// evaluated is what eval recall found.
type evaluated struct {
	eval.RecallReport
	// Against is the run that this one was compared with.
	Against string   `json:"compared_with,omitempty"`
	Worse   []string `json:"worse,omitempty"`
	Kept    string   `json:"kept,omitempty"`
}

func (c *evalRecallCmd) run(ctx context.Context, a *app) (summary, error) {
	sets, err := c.sets(ctx, a)
	if err != nil {
		return nil, err
	}
	opts := eval.RecallOptions{Now: a.now(), Clock: a.std.clock}
	if c.Foreign != "" {
		if opts.Foreign, err = eval.ReadForeign(c.Foreign); err != nil {
			return nil, usagef("cannot measure: %w", err)
		}
	}
	report, err := eval.Recall(ctx, sets, opts)
	if err != nil {
		return nil, err
	}
	if c.Answers != "" {
		if err := writeAnswers(c.Answers, report.Answers); err != nil {
			return nil, err
		}
	}
	sum := &evaluated{RecallReport: report}
	return sum, c.compare(a, sum)
}

func (c *evalRecallCmd) sets(ctx context.Context, a *app) ([]eval.RecallSet, error) {
	var sets []eval.RecallSet
	for _, dir := range c.Set {
		s, err := eval.ReadRecallSet(dir, !c.Bare, a.now())
		if err != nil {
			return nil, usagef("cannot measure: %w", err)
		}
		sets = append(sets, s)
	}
	if c.Queries == "" {
		if len(sets) == 0 {
			return nil, usagef("nothing to measure: no labelled prompts; give --queries FILE, or --set DIR")
		}
		return sets, nil
	}
	if c.Notes != "" {
		s, err := eval.ReadRecallFiles(c.Notes, c.Queries, c.Aliases, a.now())
		if err != nil {
			return nil, usagef("cannot measure: %w", err)
		}
		return append(sets, s), nil
	}
	s, err := a.ownSet(ctx, c.Queries)
	return append(sets, s), err
}

// ownSet is the person's own memories with prompts that they labelled.
func (a *app) ownSet(ctx context.Context, queries string) (eval.RecallSet, error) {
	s := eval.RecallSet{Name: "own memories"}
	st, err := a.store(ctx)
	if err != nil {
		return s, err
	}
	ms, err := st.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active, stillso.Superseded}})
	if err != nil {
		return s, err
	}
	for _, m := range ms {
		m.Namespace = eval.EvalNamespace
		s.Memories = append(s.Memories, m)
	}
	f, err := os.Open(queries) // #nosec G304 -- the person named it
	if err != nil {
		return s, usagef("cannot measure: %w; check the path", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var q eval.RecallQuery
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return s, usagef("cannot measure: line %d of %s: %w; write {\"id\",\"prompt\",\"right\":[ids]}", n, queries, err)
		}
		s.Queries = append(s.Queries, q)
	}
	if err := lines.Err(); err != nil {
		return s, usagef("cannot measure: %s: %w", queries, err)
	}
	return s, nil
}

// compare compares a run with an earlier one of the same sets, and keeps it if
// it was asked to.
func (c *evalRecallCmd) compare(a *app, sum *evaluated) error {
	key := sha256.Sum256([]byte(strings.Join(append(slices.Clone(c.Set), c.Notes, c.Queries, c.Aliases, c.Foreign, fmt.Sprint(c.Bare)), "\n")))
	kept := filepath.Join(string(a.dir), "eval", "recall-"+hex.EncodeToString(key[:6])+".json")
	from := kept
	if c.Compare != "" {
		from = c.Compare
	}
	data, err := os.ReadFile(from) // #nosec G304 -- a kept run, or one that the person named
	switch {
	case err == nil:
		var before eval.RecallReport
		if err := json.Unmarshal(data, &before); err != nil {
			return usagef("cannot compare with %s: %w; it is no run that was kept", from, err)
		}
		sum.Against, sum.Worse = from, sum.RecallReport.Worse(before)
	case c.Compare != "" || !errors.Is(err, fs.ErrNotExist):
		return usagef("cannot compare: %w", err)
	}
	if !c.Save {
		return nil
	}
	if err := a.dir.Create(); err != nil {
		return fmt.Errorf("cannot keep the run: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
		return fmt.Errorf("cannot keep the run: %w", err)
	}
	out, err := marshalSafe(sum.RecallReport, "  ")
	if err == nil {
		err = maybe.WriteFile(kept, out, 0o600)
	}
	sum.Kept = kept
	return err
}

// writeAnswers writes one JSON line a prompt.
func writeAnswers(path string, answers []eval.RecallAnswer) error {
	var b bytes.Buffer
	for _, ans := range answers {
		if ans.Notes == nil {
			ans.Notes = []string{}
		}
		if err := writeJSONLine(&b, ans); err != nil {
			return err
		}
	}
	if err := maybe.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return usagef("cannot write the answers: %w", err)
	}
	return nil
}

func (e *evaluated) text(p *page) {
	rows := make([][]string, 0, len(e.Sets)+1)
	all := e.Sets
	if len(all) != 1 {
		all = append(slices.Clone(all), e.Total)
	}
	for _, f := range all {
		rows = append(rows, []string{
			fmt.Sprint(f.Memories), share(f.Top1), share(f.Top2), share(f.Top5), share(f.Found2), share(f.Silent), share(f.Misled),
			share(f.Foreign), share(f.Nothing), fmt.Sprintf("%.2f", float64(f.P50)/1000), fmt.Sprintf("%.2f", float64(f.P95)/1000), f.Name,
		})
	}
	p.table([]string{"memories", "top-1", "top-2", "top-5", "before gate", "silent", "misled", "foreign", "nothing", "p50 ms", "p95", "set"}, rows)
	p.printf("%s\n", p.faint("top-k: a right memory is among the first k injected · before gate: among the first 2 of the ranking · silent: prompts that need nothing and got nothing · foreign, nothing: prompts of other projects that got something"))
	if e.Against != "" && len(e.Worse) == 0 {
		p.printf("%s than %s\n", p.green("no worse"), e.Against)
	}
	for _, w := range e.Worse {
		p.printf("%s %s\n", p.red("worse"), w)
	}
	if e.Kept != "" {
		p.printf("kept as %s\n", e.Kept)
	}
}

// share prints a share as people read it.
func share(s eval.Share) string {
	if s.Of == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d %.1f %%", s.Hit, s.Of, s.Percent())
}

func (e *evaluated) exitCode() int {
	if len(e.Worse) > 0 {
		return exitProblems
	}
	return exitOK
}
