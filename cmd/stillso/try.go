package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/files"
	"stillso/internal/home"
)

// tryCmd shows what stillso does with what this machine has.
type tryCmd struct {
	Dir     string `arg:"" optional:"" help:"A project, for its CLAUDE.md, AGENTS.md and the like; else this directory." type:"path"`
	Sample  bool   `help:"Use the sample project that comes with stillso."`
	Prompts int    `help:"Show what so many prompts would have got." default:"5"`
}

// Help shows examples.
func (tryCmd) Help() string {
	return `Reads the histories and notes that Claude Code keeps on this machine and the
instruction files of DIR; never writes there. Whatever it makes lives in a
throw-away directory. On a machine with nothing it uses a small sample project.

Examples:
  stillso try
  stillso try ~/code/shop
  stillso try --sample`
}

// tried is what try found.
type tried struct {
	Sample   bool          `json:"sample"`
	Claude   string        `json:"claude_dir"`
	Sessions int           `json:"sessions"`
	Skipped  int           `json:"sessions_not_read,omitempty"`
	Projects int           `json:"projects"`
	Prompts  int           `json:"prompts"`
	Notes    int           `json:"notes"`
	Folders  int           `json:"folders"`
	Files    []triedFile   `json:"instruction_files"`
	Own      []triedFile   `json:"own_instruction_files,omitempty"`
	Memories []triedMemory `json:"memories"`
	Asked    int           `json:"prompts_asked"`
	Answered int           `json:"prompts_with_a_memory"`
	Answers  []triedAnswer `json:"answers"`
	Index    []triedIndex  `json:"memory_md"`
	Verified triedClaims   `json:"verified"`
	Hook     string        `json:"hook,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	Millis   int64         `json:"ms"`
}

// triedFile is an instruction file.
type triedFile struct {
	Path  string `json:"path"`
	Lines int    `json:"lines"`
}

// triedMemory is one memory that would be kept, and how it came in.
type triedMemory struct {
	From   string          `json:"from"` // session, notes, instructions
	Memory *stillso.Memory `json:"memory"`
}

// triedAnswer is what one prompt would have got.
type triedAnswer struct {
	Prompt  string  `json:"prompt"`
	Block   string  `json:"block,omitempty"`
	Silence string  `json:"silence,omitempty"`
	Millis  float64 `json:"ms"`
}

// triedIndex is one MEMORY.md.
type triedIndex struct {
	Path   string `json:"path"`
	Lines  int    `json:"lines"`
	Loaded int    `json:"loaded"`
}

func (*tryCmd) needsNoHome() {}

func (c *tryCmd) run(ctx context.Context, a *app) (summary, error) {
	begin := a.now()
	temp, err := os.MkdirTemp("", "stillso-try-")
	if err != nil {
		return nil, fmt.Errorf("cannot make a throw-away directory: %w; check TMPDIR and the free space", err)
	}
	defer os.RemoveAll(temp) //nolint:errcheck // the system clears what is left
	t := &trial{app: a.within(home.Dir(filepath.Join(temp, "home"))), sum: &tried{}, progress: newProgress(a)}
	defer t.progress.clear()
	dir := a.directory(c.Dir)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, usagef("cannot try %s: it is no directory; name a project", dir)
	}
	repo, m := dir, look(a.claudeDir())
	if c.Sample || len(m.transcripts)+len(m.folders) == 0 {
		t.sum.Sample = true
		t.own(dir)
		if dir, m, err = unpackSample(temp); err != nil {
			return nil, err
		}
	}
	if err = t.all(ctx, dir, m, c.Prompts); err == nil {
		err = t.verify(ctx, repo)
	}
	t.sum.Millis = a.now().Sub(begin).Milliseconds()
	return t.sum, errors.Join(err, t.app.close())
}

// within returns an app like this one with another home.
func (a *app) within(dir home.Dir) *app {
	return &app{std: a.std, json: a.json, dir: dir}
}

// trial is one try at work.
type trial struct {
	app      *app
	sum      *tried
	progress *progress
	// where each memory came from.
	from map[string]string
}

func (t *trial) all(ctx context.Context, dir string, m machine, prompts int) error {
	h, err := t.app.readHistories(ctx, m, func(done, all int) { t.progress.show("reading session %d of %d", done+1, all) })
	if err != nil {
		return err
	}
	t.sum.Claude, t.sum.Sessions, t.sum.Skipped, t.sum.Prompts = m.dir, len(h.sessions), h.skipped, len(h.prompts)
	t.sum.Warnings = h.broken
	spaces := map[stillso.Namespace]bool{}
	for _, s := range h.sessions {
		spaces[projectOf(s.Directory)] = true
	}
	t.sum.Projects = len(spaces)
	if err := t.app.create(ctx); err != nil {
		return err
	}
	t.progress.show("looking for what is worth remembering")
	if err := t.remember(ctx, dir, m, h); err != nil {
		return err
	}
	return t.answer(ctx, dir, h, prompts)
}

// remember puts into the throw-away store what a real one would hold.
func (t *trial) remember(ctx context.Context, dir string, m machine, h *history) error {
	t.from = map[string]string{}
	var found files.Reading
	add := func(from string, ms []*stillso.Memory) {
		for _, m := range ms {
			redactMemory(m)
			if t.from[m.ID] == "" && m.Validate() == nil {
				t.from[m.ID] = from
				found.Memories = append(found.Memories, m)
			}
		}
	}
	for _, s := range h.sessions {
		add("session", t.app.candidates(s, h.turns[s.ID]))
	}
	for _, folder := range m.folders {
		// Without a session nobody knows which directory it is for; it must not speak
		// in the others.
		ns := stillso.Namespace("project/" + strings.Trim(filepath.Base(filepath.Dir(folder)), "-"))
		if d := h.dirs[filepath.Dir(folder)]; d != "" {
			ns = projectOf(d)
		}
		if !ns.Valid() {
			ns = stillso.UserNamespace
		}
		f, err := t.app.readFolder(folder, ns)
		if err != nil {
			t.sum.Warnings = append(t.sum.Warnings, err.Error())
			continue
		}
		t.sum.Folders++
		t.sum.Notes += len(f.reading.Memories)
		if f.lines > 0 {
			t.sum.Index = append(t.sum.Index, triedIndex{filepath.Join(folder, "MEMORY.md"), f.lines, f.loaded})
		}
		add("notes", f.reading.Memories)
	}
	ns := projectOf(dir)
	for _, path := range files.FindInstructions(dir) {
		r, err := files.ReadInstructions(path, files.Options{Namespace: ns, Root: dir, Now: t.app.now(), Loaded: t.app.loadedLines})
		if err != nil {
			t.sum.Warnings = append(t.sum.Warnings, err.Error())
			continue
		}
		t.sum.Files = append(t.sum.Files, triedFile{path, len(r.Memories)})
		add("instructions", r.Memories)
	}
	return t.save(ctx, found, h)
}

// own notes the instruction files of the directory that was named, where a sample
// takes its place.
func (t *trial) own(dir string) {
	for _, path := range files.FindInstructions(dir) {
		if r, err := files.ReadInstructions(path, files.Options{Namespace: projectOf(dir), Root: dir, Now: t.app.now()}); err == nil {
			t.sum.Own = append(t.sum.Own, triedFile{path, len(r.Memories)})
		}
	}
}

// save writes everything at once: sessions too, for the background learns from
// the user's own prompts.
func (t *trial) save(ctx context.Context, found files.Reading, h *history) error {
	var changes []stillso.Change
	for _, m := range found.Memories {
		m.Default(t.app.now())
		t.sum.Memories = append(t.sum.Memories, triedMemory{t.from[m.ID], m})
		changes = append(changes, t.app.change(stillso.VerbAdd, stillso.Actor{Kind: stillso.Rule, Name: "try"}, stillso.Edit{After: m}))
	}
	order := []string{"session", "notes", "instructions"}
	slices.SortStableFunc(t.sum.Memories, func(a, b triedMemory) int {
		return slices.Index(order, a.From) - slices.Index(order, b.From)
	})
	n := 0
	for _, s := range h.sessions {
		if n > learntPrompts {
			break
		}
		var typed []stillso.Turn
		for _, turn := range h.turns[s.ID] {
			if turn.Speaker == stillso.Typed {
				typed = append(typed, turn)
			}
		}
		n += len(typed)
		s.Namespace = projectOf(s.Directory)
		if _, err := t.app.opened.Record(ctx, s, typed); err != nil {
			return err
		}
	}
	if len(changes) == 0 {
		return t.app.rebuild(ctx)
	}
	_, err := t.app.opened.Apply(ctx, changes...)
	return errors.Join(err, t.app.rebuild(ctx))
}

// chitchat is the prompt that must get nothing.
const chitchat = "ok, go on"

// answer asks the user's own prompts, newest first, and shows some of those that
// get a memory, one that gets none, and chit-chat.
func (t *trial) answer(ctx context.Context, dir string, h *history, show int) error {
	hook, err := findHook()
	if err != nil {
		t.sum.Warnings = append(t.sum.Warnings, err.Error())
	}
	t.sum.Hook = hook
	const most = 500
	seen := map[string]bool{}
	var chosen []said
	for i, p := range h.prompts[:min(most, len(h.prompts))] {
		if i%20 == 0 {
			t.progress.show("asking your prompts, %d of %d", i+1, min(most, len(h.prompts)))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r, err := (&recallCmd{Dir: p.dir, Host: "claude-code"}).ask(ctx, t.app, p.text)
		if err != nil {
			return err
		}
		t.sum.Asked++
		if len(r.IDs) == 0 || t.selfMade(r.IDs, p) {
			continue
		}
		t.sum.Answered++
		if !seen[r.IDs[0]] && len(chosen) < show && len(p.text) < 400 {
			seen[r.IDs[0]] = true
			chosen = append(chosen, p)
		}
	}
	chosen = append(chosen, said{text: chitchat, dir: dir})
	for i, p := range chosen {
		a, err := t.ask(ctx, hook, fmt.Sprintf("try-%d", i), p)
		if err != nil {
			return err
		}
		t.sum.Answers = append(t.sum.Answers, a)
	}
	return nil
}

// selfMade reports whether the memories were captured from this very prompt: an
// answer to it would prove nothing.
func (t *trial) selfMade(ids []string, p said) bool {
	for _, m := range t.sum.Memories {
		if slices.Contains(ids, m.Memory.ID) && m.Memory.SourceSession == p.session && m.From == "session" {
			return true
		}
	}
	return false
}

// ask asks one prompt through the real hook where there is one, best of three,
// as the first start of a program reads it from the disk.
func (t *trial) ask(ctx context.Context, hook, session string, p said) (triedAnswer, error) {
	r, err := (&recallCmd{Dir: p.dir, Host: "claude-code"}).ask(ctx, t.app, p.text)
	if err != nil {
		return triedAnswer{}, err
	}
	ans := triedAnswer{Prompt: p.text, Block: r.Block, Silence: r.Silence, Millis: float64(r.Micros) / 1000}
	if hook == "" {
		return ans, nil
	}
	best := time.Hour
	for i := range 3 {
		a, err := askHook(ctx, hook, string(t.app.dir), fmt.Sprintf("%s-%d", session, i), p.dir, p.text)
		if err != nil {
			t.sum.Warnings = append(t.sum.Warnings, err.Error())
			return ans, nil
		}
		if i == 0 && (a.Context != "") != (r.Block != "") {
			t.sum.Warnings = append(t.sum.Warnings, fmt.Sprintf("the hook answered %q differently; stillso doctor", cut(p.text, 40)))
		}
		ans.Block = a.Context
		best = min(best, a.Took)
	}
	ans.Millis = float64(best.Microseconds()) / 1000
	return ans, nil
}
