package main

import (
	"context"
	"fmt"
)

// doctorCmd checks everything and changes nothing.
type doctorCmd struct {
	Dir string `help:"Act as if in this directory." type:"path"`
}

// Help shows examples.
func (doctorCmd) Help() string {
	return `Checks the home, the store, the index, the sweep, the hooks and what was learnt.
It never changes anything: stillso repair does. Exit code 1 if there is a problem.

Examples:
  stillso doctor
  stillso doctor --json`
}

// level says how bad a finding is.
type level string

// The levels of a finding. Only a problem makes the exit code 1.
const (
	fine    level = "ok"
	note    level = "note"
	problem level = "problem"
)

// finding is one line of the report.
type finding struct {
	Check  string `json:"check"`
	Level  level  `json:"level"`
	Detail string `json:"detail"`
	// Do says what to do about it; empty if nothing is to be done.
	Do string `json:"do,omitempty"`
	// Index is a MEMORY.md that is not loaded whole.
	Index *indexOrder `json:"index,omitempty"`
}

// health is what doctor found.
type health struct {
	Findings []finding    `json:"findings"`
	Problems int          `json:"problems"`
	Hosts    []hostHealth `json:"hosts"`
}

func (h *health) add(check string, l level, do, format string, v ...any) {
	if l == problem {
		h.Problems++
	}
	h.Findings = append(h.Findings, finding{Check: check, Level: l, Detail: fmt.Sprintf(format, v...), Do: do})
}

func (c *doctorCmd) run(ctx context.Context, a *app) (summary, error) {
	h := &health{Hosts: []hostHealth{}}
	d := &checkup{app: a, health: h, dir: a.directory(c.Dir)}
	for _, check := range []func(context.Context){
		d.home, d.store, d.journal, d.index, d.places, d.sweep, d.memories, d.twice, d.claims, d.model, d.hooks, d.settings,
	} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		check(ctx)
	}
	return h, nil
}

func (h *health) text(p *page) {
	marks := map[level]styled{fine: p.green("ok"), note: p.yellow("note"), problem: p.red("problem")}
	wide := 0
	for _, f := range h.Findings {
		wide = max(wide, columns(f.Check))
	}
	pad := func(s string, n int) string { return fmt.Sprintf("%*s", max(n-columns(s), 0), "") }
	for _, f := range h.Findings {
		p.printf("%s%s  %s%s  %s\n", marks[f.Level], pad(string(f.Level), 7), f.Check, pad(f.Check, wide), oneLine(f.Detail))
		if f.Do != "" {
			p.printf("%s\n", p.faint(pad("", wide+11)+"→ "+f.Do))
		}
		if f.Index != nil {
			f.Index.text(p, pad("", wide+11))
		}
	}
	h.hostTable(p)
	if h.Problems == 0 {
		p.printf("\nall is well\n")
		return
	}
	p.printf("\n%s\n", p.red(plural(h.Problems, "problem", "problems")))
}

func (h *health) exitCode() int {
	if h.Problems > 0 {
		return exitProblems
	}
	return exitOK
}
