package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"stillso"
	"stillso/internal/capture"
)

// statsCmd shows how well the memory works.
type statsCmd struct {
	Since string `help:"Since this date (2026-11-30) or span (4w)." default:"8w"`
}

// Help shows examples.
func (statsCmd) Help() string {
	return `A repeat is what the user said again although a memory says it already: missed, if
the memory had not been injected, or ignored, if it had. It is the failure that
stillso exists to end. From what was missed the memory learns the user's words.

Examples:
  stillso stats
  stillso stats --since 26w --json`
}

// counted is what stats found.
type counted struct {
	Since   time.Time     `json:"since"`
	Weeks   []week        `json:"weeks"`
	Repeats []repeated    `json:"repeats"`
	Recalls recallFigures `json:"recalls"`
}

// week counts the repeats of one week.
type week struct {
	Monday  string `json:"monday"`
	Missed  int    `json:"missed"`
	Ignored int    `json:"ignored"`
}

// repeated is a memory that was said again.
type repeated struct {
	Memory  string   `json:"memory"`
	Content string   `json:"content"`
	Missed  int      `json:"missed"`
	Ignored int      `json:"ignored"`
	Learnt  []string `json:"learnt,omitempty"`
	// Change takes back what was learnt last.
	Change string `json:"change,omitempty"`
}

// recallFigures sums up receipts.
type recallFigures struct {
	Prompts  int   `json:"prompts"`
	Injected int   `json:"injected"`
	Memories int   `json:"memories"`
	P50      int64 `json:"p50_us"`
	P95      int64 `json:"p95_us"`
}

func (c *statsCmd) run(ctx context.Context, a *app) (summary, error) {
	since, err := parseWhen(c.Since, a.now())
	if err != nil {
		return nil, err
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	changes, err := st.Journal(ctx, stillso.JournalFilter{Actors: []stillso.ActorKind{stillso.Rule}, Since: since, Oldest: true})
	if err != nil {
		return nil, err
	}
	sum := &counted{Since: since, Weeks: []week{}, Repeats: []repeated{}}
	for _, ch := range changes {
		sum.repeat(ch)
	}
	slices.SortStableFunc(sum.Repeats, func(a, b repeated) int { return cmp.Compare(b.Missed+b.Ignored, a.Missed+a.Ignored) })
	receipts, err := st.Receipts(ctx, since, 100_000)
	if err != nil {
		return nil, err
	}
	waiting, err := a.spooledReceipts()
	for _, r := range waiting { // the next sweep takes them into the store
		if !r.At.Before(since) {
			receipts = append(receipts, r)
		}
	}
	sum.Recalls = figures(receipts)
	return sum, err
}

// repeat counts a change if it is a repeat.
func (s *counted) repeat(ch stillso.Change) {
	missed := ch.Actor.Name == capture.RepeatMissed
	if !missed && ch.Actor.Name != capture.RepeatIgnored || len(ch.Edits) == 0 {
		return
	}
	day := ch.At.Local()
	monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7).Format("2006-01-02")
	if len(s.Weeks) == 0 || s.Weeks[len(s.Weeks)-1].Monday != monday {
		s.Weeks = append(s.Weeks, week{Monday: monday})
	}
	e := ch.Edits[0]
	i := slices.IndexFunc(s.Repeats, func(r repeated) bool { return r.Memory == e.MemoryID() })
	if i < 0 {
		i = len(s.Repeats)
		s.Repeats = append(s.Repeats, repeated{Memory: e.MemoryID()})
	}
	r, w := &s.Repeats[i], &s.Weeks[len(s.Weeks)-1]
	if missed {
		r.Missed++
		w.Missed++
	} else {
		r.Ignored++
		w.Ignored++
	}
	if m := cmp.Or(e.After, e.Before); m != nil {
		r.Content = m.Content
	}
	if e.Before == nil || e.After == nil || ch.Outcome != stillso.Applied {
		return
	}
	for _, alias := range e.After.Aliases {
		if !slices.Contains(e.Before.Aliases, alias) {
			r.Learnt, r.Change = append(r.Learnt, alias), ch.ID
		}
	}
}

func figures(receipts []stillso.Receipt) recallFigures {
	var f recallFigures
	var took []int64
	for _, r := range receipts {
		if r.Event != "prompt" {
			continue
		}
		f.Prompts++
		took = append(took, r.Micros)
		shown := 0
		for _, h := range r.Hits {
			if h.Shown {
				shown++
			}
		}
		if shown > 0 {
			f.Injected++
			f.Memories += shown
		}
	}
	if len(took) > 0 {
		slices.Sort(took)
		f.P50, f.P95 = took[len(took)/2], took[len(took)*95/100]
	}
	return f
}

func (s *counted) text(p *page) {
	f := s.Recalls
	if f.Prompts > 0 {
		p.printf("%s since %s: %d got %s, %d got silence; median %.1f ms, 95 of 100 below %.1f ms\n",
			plural(f.Prompts, "prompt", "prompts"), s.Since.Local().Format("2006-01-02"), f.Injected, plural(f.Memories, "memory", "memories"),
			f.Prompts-f.Injected, float64(f.P50)/1000, float64(f.P95)/1000)
	} else {
		p.printf("no prompt was answered by a hook since %s\n", s.Since.Local().Format("2006-01-02"))
	}
	if len(s.Weeks) == 0 {
		p.printf("no repeats: nobody had to say again what a memory says\n")
		return
	}
	p.printf("\n%s\n", p.bold("Repeats"))
	rows := make([][]string, len(s.Weeks))
	for i, w := range s.Weeks {
		rows[i] = []string{w.Monday, fmt.Sprint(w.Missed), fmt.Sprint(w.Ignored)}
	}
	p.table([]string{"week of", "missed", "ignored"}, rows)
	p.printf("\n")
	for _, r := range s.Repeats {
		p.printf("%s  missed %d, ignored %d  %s\n", p.bold(r.Memory), r.Missed, r.Ignored, cut(oneLine(r.Content), 80))
		for _, l := range r.Learnt {
			p.printf("  learnt %q  %s\n", oneLine(l), p.faint("take it back: stillso undo "+r.Change))
		}
	}
}
