package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/host/claudecode"
)

// importCmd takes memories from files.
type importCmd struct {
	Path      []string `arg:"" optional:"" help:"Folders of notes, instruction files, projects, or exports (.jsonl, .json)."`
	Aliases   []string `sep:"none" placeholder:"FILE" help:"Add aliases from a file with a line {\"note\": NAME-OR-ID, \"aliases\": [...]} each."`
	Namespace string   `help:"Where memories go that name no namespace: user, project (the default), or a full one."`
	Dir       string   `help:"Act as if in this directory." type:"existingdir"`
	DryRun    bool     `help:"Show what would be imported; change nothing."`
}

// Help shows examples.
func (importCmd) Help() string {
	return `Understands folders of Markdown notes (also the auto-memory of Claude Code),
instruction files (CLAUDE.md, AGENTS.md, GEMINI.md, .cursor/rules), and the JSON
lines of stillso export; a line with only "content" is enough. Importing again
changes nothing. Lines of instruction files are kept in step at each sweep.

Examples:
  stillso import ~/.claude/projects/-home-me-shop/memory --dir ~/shop
  stillso import CLAUDE.md
  stillso import memories.jsonl
  stillso import --aliases aliases.jsonl`
}

// imported is what import did.
type imported struct {
	Files []importedFile `json:"files"`
	// Batch undoes all of it: stillso undo --batch.
	Batch    string          `json:"batch,omitempty"`
	DryRun   bool            `json:"dry_run,omitempty"`
	Redacted int             `json:"redacted,omitempty"`
	Kept     []files.Kept    `json:"kept,omitempty"`
	Skipped  []files.Problem `json:"skipped,omitempty"`
}

// importedFile is one row of the summary.
type importedFile struct {
	Path      string `json:"path"`
	Kind      string `json:"kind"`
	New       int    `json:"new"`
	Changed   int    `json:"changed"`
	Unchanged int    `json:"unchanged"`
	Skipped   int    `json:"skipped"`
}

func (c *importCmd) run(ctx context.Context, a *app) (summary, error) {
	if len(c.Path)+len(c.Aliases) == 0 {
		return nil, usagef("nothing to import: no path was given; name folders or files%s", a.importable(c.Dir))
	}
	ns, err := a.namespaceOption(c.Namespace, c.Dir)
	if err != nil {
		return nil, err
	}
	sum := &imported{Batch: stillso.NewID(), DryRun: c.DryRun}
	var all []stillso.Change
	known := map[string]*stillso.Memory{}
	for _, path := range c.Path {
		path := a.absolute(path)
		ns := ns
		if c.Namespace == "" && c.Dir == "" {
			if ns, err = a.namespaceOfNotes(path, ns); err != nil {
				return nil, err
			}
		}
		changes, err := c.path(ctx, a, path, ns, known, sum)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	for _, path := range c.Aliases {
		changes, err := c.aliases(ctx, a, a.absolute(path), known, sum)
		if err != nil {
			return nil, err
		}
		all = append(all, changes...)
	}
	if c.DryRun || len(all) == 0 {
		sum.Batch = ""
		return sum, nil
	}
	for i := range all {
		all[i].Batch = sum.Batch
	}
	if err := a.create(ctx); err != nil {
		return nil, err
	}
	_, err = a.apply(ctx, all...)
	return sum, err
}

// aliases plans the aliases that a file adds to memories that are there, or are
// just being imported.
func (c *importCmd) aliases(ctx context.Context, a *app, path string, known map[string]*stillso.Memory, sum *imported) ([]stillso.Change, error) {
	f, err := os.Open(path) // #nosec G304 -- the person named it
	if err != nil {
		return nil, usagef("nothing was imported: cannot read %s: %w; check the path", path, err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	list, problems, err := files.ReadAliases(f, path)
	if err != nil {
		return nil, usagef("nothing was imported: %w", err)
	}
	all, err := a.everything(ctx, known)
	if err != nil {
		return nil, err
	}
	row := importedFile{Path: path, Kind: "aliases", Skipped: len(problems)}
	before := make(map[string]*stillso.Memory, len(all))
	for i, m := range all {
		before[m.ID] = m
		all[i] = m.Clone()
	}
	for _, name := range list.Apply(all) {
		row.Skipped++
		problems = append(problems, files.Problem{Path: path, Cause: fmt.Sprintf("there is no memory %q", name)})
	}
	var changes []stillso.Change
	for _, m := range all {
		sum.Redacted += redactMemory(m)
		switch old := before[m.ID]; {
		case len(list.Of(old)) == 0:
		case slices.Equal(old.Aliases, m.Aliases):
			row.Unchanged++
		default:
			row.Changed++
			m.UpdatedAt = old.UpdatedAt // it says nothing new
			changes = append(changes, a.humanChange(stillso.VerbEdit, "import", stillso.Edit{Before: old, After: m}))
			known[m.ID] = m
		}
	}
	sum.Files, sum.Skipped = append(sum.Files, row), append(sum.Skipped, problems...)
	return changes, nil
}

// everything returns all memories of the store, with those of known in place of
// or beside them.
func (a *app) everything(ctx context.Context, known map[string]*stillso.Memory) ([]*stillso.Memory, error) {
	var all []*stillso.Memory
	if a.exists() {
		st, err := a.store(ctx)
		if err != nil {
			return nil, err
		}
		if all, err = st.Memories(ctx, stillso.Filter{}); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	for i, m := range all {
		seen[m.ID] = true
		if k := known[m.ID]; k != nil {
			all[i] = k
		}
	}
	for id, m := range known {
		if !seen[id] {
			all = append(all, m)
		}
	}
	return all, nil
}

// path plans the import of one path. known holds the memories that were looked
// up or planned already, as they will be.
func (c *importCmd) path(ctx context.Context, a *app, path string, ns stillso.Namespace, known map[string]*stillso.Memory, sum *imported) ([]stillso.Change, error) {
	kind, reading, err := a.read(path, ns)
	if err != nil {
		return nil, usagef("nothing was imported: %w", err)
	}
	for _, m := range reading.Memories {
		sum.Redacted += redactMemory(m)
	}
	plan, err := a.plan(ctx, reading, known)
	if err != nil {
		return nil, err
	}
	sum.Kept = append(sum.Kept, plan.Kept...)
	sum.Skipped = append(sum.Skipped, reading.Problems...)
	sum.Files = append(sum.Files, importedFile{
		Path: path, Kind: kind, New: plan.Added, Changed: plan.Edited, Unchanged: plan.Same,
		Skipped: len(plan.Kept) + len(reading.Problems),
	})
	return plan.Changes, nil
}

// plan compares what was read with what the store has.
func (a *app) plan(ctx context.Context, fresh files.Reading, known map[string]*stillso.Memory) (files.Plan, error) {
	if err := a.lookUp(ctx, fresh.Memories, known); err != nil {
		return files.Plan{}, err
	}
	kept, err := a.dropPurged(ctx, &fresh)
	if err != nil {
		return files.Plan{}, err
	}
	plan := files.Import(known, fresh, stillso.Actor{Kind: stillso.Human, Name: "import"}, a.now())
	plan.Kept = append(plan.Kept, kept...)
	for _, ch := range plan.Changes {
		known[ch.Edits[0].After.ID] = ch.Edits[0].After
	}
	return plan, nil
}

// dropPurged leaves out what a person erased: a backup must not bring it back, nor
// keep the rest from being imported.
func (a *app) dropPurged(ctx context.Context, fresh *files.Reading) ([]files.Kept, error) {
	if !a.exists() {
		return nil, nil
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := st.Journal(ctx, stillso.JournalFilter{Verbs: []stillso.Verb{stillso.VerbPurge}})
	if err != nil {
		return nil, err
	}
	purged := map[string]bool{}
	for _, c := range changes {
		for _, e := range c.Edits {
			purged[e.MemoryID()] = true
		}
	}
	var kept []files.Kept
	fresh.Memories = slices.DeleteFunc(fresh.Memories, func(m *stillso.Memory) bool {
		if purged[m.ID] {
			kept = append(kept, files.Kept{ID: m.ID, Reason: "it was purged here"})
		}
		return purged[m.ID]
	})
	return kept, nil
}

// lookUp puts into known those memories of the store that fresh ones meet.
func (a *app) lookUp(ctx context.Context, fresh []*stillso.Memory, known map[string]*stillso.Memory) error {
	if !a.exists() {
		return nil
	}
	st, err := a.store(ctx)
	if err != nil {
		return err
	}
	if len(fresh) > 500 { // one pass is quicker than so many look-ups
		ms, err := st.Memories(ctx, stillso.Filter{})
		for _, m := range ms {
			if known[m.ID] == nil {
				known[m.ID] = m
			}
		}
		return err
	}
	for _, f := range fresh {
		if known[f.ID] != nil || f.ID == "" {
			continue
		}
		m, err := st.Memory(ctx, f.ID)
		if err == nil {
			known[f.ID] = m
		} else if exitCode(err) != exitUsage {
			return err
		}
	}
	return nil
}

// sessionIn reports whether a file is the transcript of a session of Claude Code.
func sessionIn(path string) bool {
	enough := errors.New("enough")
	got, err := claudecode.ReadFile(path, claudecode.Position{}, func(stillso.Turn) error { return enough })
	return got.Session != "" && (err == nil || errors.Is(err, enough))
}

// read reads the memories of one path and says what kind of path it is.
func (a *app) read(path string, ns stillso.Namespace) (string, files.Reading, error) {
	r, err := files.Read(path, files.Options{Namespace: ns, Root: a.rootFor(path), Now: a.now(), Loaded: a.loadedLines})
	if err != nil && len(r.Memories) == 0 && sessionIn(path) {
		return "", r, fmt.Errorf("%s is the transcript of a session; `stillso capture` reads it", path)
	}
	if err != nil {
		return "", r, err
	}
	kind := "notes"
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case ext == ".jsonl" || ext == ".ndjson" || ext == ".json":
		kind = "export"
	case len(r.Memories) > 0 && r.Memories[0].Origin == stillso.FromFile:
		kind = "instructions"
	}
	return kind, r, nil
}

// rootFor returns the directory that ids are made relative to: the root of the
// project that a path lies in. It is the same whoever asks, wherever they stand:
// an import and a sweep must give a line the same id.
func (a *app) rootFor(path string) string {
	dir := path
	if st, err := os.Stat(path); err != nil || !st.IsDir() {
		dir = filepath.Dir(path)
	}
	for slices.Contains([]string{"rules", "instructions", ".cursor", ".claude", ".github"}, filepath.Base(dir)) {
		dir = filepath.Dir(dir)
	}
	pl, err := a.place(dir)
	if err == nil && pl.Root != "" && inside(pl.Root, path) {
		return pl.Root
	}
	return dir
}

// inside reports whether path is root or lies below it.
func inside(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

func (s *imported) text(p *page) {
	rows := make([][]string, len(s.Files))
	changed := 0
	for i, f := range s.Files {
		n := func(v int) string { return fmt.Sprint(v) }
		rows[i] = []string{n(f.New), n(f.Changed), n(f.Unchanged), n(f.Skipped), f.Kind, f.Path}
		changed += f.New + f.Changed
	}
	p.table([]string{"new", "changed", "same", "skipped", "kind", "path"}, rows)
	const most = 12
	for i, k := range s.Kept {
		if i == most {
			p.printf("  and %d more; --json lists them\n", len(s.Kept)-most)
			break
		}
		p.printf("skipped %s: %s\n", k.ID, k.Reason)
	}
	for i, k := range s.Skipped {
		if i == most {
			p.printf("  and %d more; --json lists them\n", len(s.Skipped)-most)
			break
		}
		p.printf("skipped %s\n", k.String())
	}
	if s.Redacted > 0 {
		p.printf("%s\n", p.yellow(plural(s.Redacted, "secret was", "secrets were")+" taken out before saving"))
	}
	switch {
	case s.DryRun:
		p.printf("%s\n", p.faint("dry run: nothing was changed"))
	case s.Batch != "":
		p.printf("%s\n", p.faint("take it back: stillso undo --batch "+s.Batch))
	default:
		p.printf("%s\n", p.faint("nothing to change"))
	}
}
