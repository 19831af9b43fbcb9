package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stillso"
	"stillso/internal/capture"
	"stillso/internal/host"
	"stillso/internal/llm"
	"stillso/internal/llm/cli"
	"stillso/internal/redact"
)

// captureCmd reads one session and saves what is worth remembering.
type captureCmd struct {
	Transcript string `arg:"" help:"The transcript that the assistant wrote." type:"path"`
	Host       string `help:"The assistant." default:"claude-code"`
	Session    string `help:"The session's id, if the transcript does not say." placeholder:"ID"`
	Dir        string `help:"Where the session ran, if the transcript does not say." type:"path"`
}

// Help shows examples.
func (captureCmd) Help() string {
	return `The sweep captures sessions by itself; this is for one that it does not know.
Capturing again reads only what is new.

Examples:
  stillso capture ~/.claude/projects/-home-me-shop/5d0f2c1e.jsonl`
}

// captured is what a capture did.
type captured struct {
	Session string `json:"session"`
	// Turns counts those that were new.
	Turns      int               `json:"turns"`
	Candidates int               `json:"candidates"`
	Saved      []*stillso.Memory `json:"saved"`
	Review     int               `json:"review"`
	Refused    int               `json:"refused"`
	Repeats    int               `json:"repeats"`
	Batch      string            `json:"batch,omitempty"`
	// Broken counts lines of the transcript that could not be read.
	Broken int `json:"broken,omitempty"`
	// Remark says why it was captured otherwise than the settings ask for.
	Remark string `json:"note,omitempty"`
	// applied says that something was changed.
	applied bool
}

// task is one session to capture.
type task struct {
	host, transcript, session, dir string
	// hurry is false while the session goes on: then a model is asked only after
	// enough new prompts.
	hurry bool
	// tried is how often it failed before.
	tried int
}

// modelTries is after how many failures of a model the rules take its place.
const modelTries = 5

func (c *captureCmd) run(ctx context.Context, a *app) (summary, error) {
	if _, ok := a.assistant(c.Host); !ok {
		return nil, usagef("cannot capture: unknown host %q; use one of %s", c.Host, a.assistantNames())
	}
	if st, err := os.Stat(c.Transcript); err != nil || !st.Mode().IsRegular() {
		return nil, usagef("cannot capture %s: it is no file that can be read; name a transcript (.jsonl)", c.Transcript)
	} else if st.Size() == 0 {
		return nil, usagef("cannot capture %s: it is empty; name a transcript (.jsonl)", c.Transcript)
	}
	if err := a.create(ctx); err != nil {
		return nil, err
	}
	unlock, err := a.lockSweep(ctx, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	sum, err := a.capture(ctx, task{host: c.Host, transcript: c.Transcript, session: c.Session, dir: c.Dir, hurry: true})
	if errors.Is(err, host.ErrUnsupported) {
		err = usagef("nothing was captured: %w", err)
	}
	return sum, err
}

// capture reads what is new in a transcript into the store, and then captures
// what was not captured before. Killed between the two, or between two windows,
// the next run goes on where this one was.
func (a *app) capture(ctx context.Context, t task) (*captured, error) {
	session, sum, err := a.take(ctx, t)
	if err != nil {
		return sum, err
	}
	turns, err := a.opened.Turns(ctx, session.ID)
	if err != nil {
		return sum, err
	}
	model, _, err := a.captureModel()
	if err != nil {
		return sum, err
	}
	if model != nil && !t.hurry && newPrompts(turns, session.Captured) < a.everyTurns() {
		return sum, nil
	}
	job, err := a.job(ctx, session, turns)
	if err != nil {
		return sum, err
	}
	sum.Batch = job.Batch
	rules := model == nil
	for more := true; more; {
		if !rules { // each window is a run of its own for the budget
			if job.Model, job.Judge, err = a.captureModel(); err != nil {
				return sum, err
			}
		}
		out, err := capture.Run(ctx, job)
		if err != nil && job.Model != nil && (llm.NeedsPerson(err) || t.tried >= modelTries) && !errors.Is(err, llm.ErrBudget) {
			// Nobody may be there to log in or to correct the settings: then the rules
			// do what they can, rather than nothing.
			a.warn("session %s: captured by rules alone, for the model cannot be used: %v", session.ID, err)
			sum.Remark = "by rules alone: " + err.Error()
			job.Model, job.Judge, rules = nil, nil, true
			out, err = capture.Run(ctx, job)
		}
		if err != nil {
			return sum, err
		}
		if err := a.book(ctx, sum, out); err != nil {
			return sum, err
		}
		job.Session.Captured, more = out.Captured, out.More
		if _, err := a.opened.Record(ctx, job.Session, nil); err != nil {
			return sum, err
		}
	}
	if !sum.applied {
		sum.Batch = "" // what was only proposed or refused cannot be taken back
	}
	return sum, nil
}

// errOwnCall marks the session of one of our own model calls, which some
// assistants keep: nothing in it is anybody's words.
var errOwnCall = errors.New("the session is a model call of stillso itself")

// take reads the new part of a transcript into the store, without secrets.
func (a *app) take(ctx context.Context, t task) (stillso.Session, *captured, error) {
	sum := &captured{Session: t.session, Saved: []*stillso.Memory{}}
	session := stillso.Session{ID: t.session, Host: t.host, Transcript: t.transcript, Directory: t.dir}
	if session.ID == "" {
		session.ID = a.sessionOf(t)
	}
	if old, err := a.opened.Session(ctx, session.ID); err == nil {
		session = *old
		session.Transcript = t.transcript
	} else if !errors.Is(err, stillso.ErrNotFound) {
		return session, sum, err
	}
	var turns []stillso.Turn
	got, err := a.readTranscript(ctx, t, host.Position{Offset: session.Offset, Mark: session.Mark}, func(turn stillso.Turn) error {
		turn.Text, _ = redact.Text(turn.Text)
		turns = append(turns, turn)
		return nil
	})
	if err != nil {
		return session, sum, err
	}
	session.Offset, session.Mark = got.Next.Offset, got.Next.Mark
	if session.StartedAt.IsZero() {
		session.StartedAt = got.StartedAt
	}
	if session.StartedAt.IsZero() {
		session.StartedAt = a.now()
	}
	if !got.EndedAt.IsZero() {
		session.EndedAt = got.EndedAt
	}
	if session.Directory == "" {
		session.Directory = got.Directory
	}
	if session.Directory == "" {
		session.Directory = filepath.Dir(t.transcript)
	}
	if strings.HasPrefix(filepath.Base(session.Directory), cli.DirectoryPrefix) {
		return session, sum, errOwnCall
	}
	pl, err := a.place(session.Directory)
	if err != nil {
		pl.Namespace = stillso.UserNamespace // the directory is gone or unusable: what is for the person still counts
	}
	session.Namespace = pl.Namespace
	for i := range turns {
		turns[i].Session = session.ID
	}
	sum.Session, sum.Broken = session.ID, got.Broken+got.TooLong
	sum.Turns, err = a.opened.Record(ctx, session, turns)
	return session, sum, err
}

// newPrompts counts the typed turns that were not captured yet.
func newPrompts(turns []stillso.Turn, captured int) int {
	n := 0
	for _, t := range turns[min(captured, len(turns)):] {
		if t.Speaker == stillso.Typed {
			n++
		}
	}
	return n
}

// job gathers what a capture run needs to know of the store.
func (a *app) job(ctx context.Context, s stillso.Session, turns []stillso.Turn) (capture.Job, error) {
	conf, err := a.config()
	if err != nil {
		return capture.Job{}, err
	}
	refused, err := a.opened.Journal(ctx, stillso.JournalFilter{
		Verbs: []stillso.Verb{stillso.VerbAdd}, Outcomes: []stillso.Outcome{stillso.Refused, stillso.Undone, stillso.Proposed}, Limit: 2000,
	})
	if err != nil {
		return capture.Job{}, err
	}
	receipts, err := a.opened.Receipts(ctx, s.StartedAt, 5000)
	if err != nil {
		return capture.Job{}, err
	}
	mine := receipts[:0]
	for _, r := range receipts {
		if r.Session == s.ID {
			mine = append(mine, r)
		}
	}
	root := s.Directory
	if pl, err := a.place(s.Directory); err == nil && pl.Root != "" {
		root = pl.Root
	}
	return capture.Job{
		Session: s, Turns: turns, Project: s.Namespace, Root: root,
		Refused: refused, Receipts: mine, Findings: conf.Capture.Findings,
		Now: a.now(), Location: a.std.clock().Location(), Batch: stillso.NewID(),
		Near: func(text string, k int) []*stillso.Memory { return a.near(ctx, s.Namespace, text, k) },
	}, nil
}

// near returns the memories of a project and the user that are nearest to a text.
func (a *app) near(ctx context.Context, ns stillso.Namespace, text string, k int) []*stillso.Memory {
	spaces := []stillso.Namespace{ns}
	if ns != stillso.UserNamespace {
		spaces = append(spaces, stillso.UserNamespace)
	}
	found, err := a.opened.Search(ctx, stillso.TextQuery{Text: text, Filter: stillso.Filter{Namespaces: spaces, Limit: k}})
	if err != nil {
		return nil // then a double may be proposed; a wrong answer would be worse
	}
	var out []*stillso.Memory
	for _, f := range found {
		if f.Memory != nil {
			out = append(out, f.Memory)
		}
	}
	return out
}

// book applies what a run came to, and counts it.
func (a *app) book(ctx context.Context, sum *captured, out capture.Outcome) error {
	sum.Candidates += out.Candidates
	sum.Repeats += len(out.Repeats)
	if len(out.Changes) == 0 {
		return nil
	}
	done, err := a.apply(ctx, out.Changes...)
	if err != nil {
		return err
	}
	for _, c := range done {
		sum.applied = sum.applied || c.Outcome == stillso.Applied
		switch {
		case c.Actor.Name == capture.RepeatMissed, c.Actor.Name == capture.RepeatIgnored:
			// counted as repeats
		case c.Outcome == stillso.Proposed:
			sum.Review++
		case c.Outcome == stillso.Refused:
			sum.Refused++
		case c.Outcome == stillso.Applied && (c.Verb == stillso.VerbAdd || c.Verb == stillso.VerbSupersede):
			for _, e := range c.Edits {
				if e.Before == nil && e.After != nil {
					sum.Saved = append(sum.Saved, e.After)
				}
			}
		}
	}
	return nil
}

// candidates returns what the rules alone would save of a session.
func (a *app) candidates(s stillso.Session, turns []stillso.Turn) []*stillso.Memory {
	s.Namespace = projectOf(s.Directory)
	out, err := capture.Run(context.Background(), capture.Job{Session: s, Turns: turns, Root: s.Directory, Now: a.now(), Location: a.std.clock().Location()})
	if err != nil {
		return nil
	}
	var ms []*stillso.Memory
	for _, c := range out.Changes {
		for _, e := range c.Edits {
			if c.Outcome == stillso.Applied && e.Before == nil && e.After != nil {
				ms = append(ms, e.After)
			}
		}
	}
	return ms
}

func (c *captured) text(p *page) {
	p.printf("session %s: %s new, %s\n", p.bold(c.Session), plural(c.Turns, "turn", "turns"), plural(c.Candidates, "candidate", "candidates"))
	for _, m := range c.Saved {
		p.printf("  saved %s  %s  %s\n", p.bold(m.ID), p.cyan(string(m.Type)), oneLine(m.Content))
	}
	if c.Review+c.Refused+c.Repeats > 0 {
		p.printf("  %d to review, %d refused, %s\n", c.Review, c.Refused, plural(c.Repeats, "repeat", "repeats"))
	}
	if c.Broken > 0 {
		p.printf("  %s\n", p.faint(plural(c.Broken, "line", "lines")+" of the transcript could not be read"))
	}
	if c.Batch != "" {
		p.printf("%s\n", p.faint("take it back: stillso undo --batch "+c.Batch))
	}
}

// everyTurns is after how many new prompts a running session is captured.
func (a *app) everyTurns() int {
	conf, err := a.config()
	if err != nil {
		return defaultConfig().Capture.Turns
	}
	return conf.Capture.Turns
}

// sessionError says which session could not be captured.
func sessionError(t task, err error) error {
	return fmt.Errorf("session %s: %w", t.session, err)
}
