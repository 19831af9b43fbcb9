package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"stillso"
	"stillso/internal/llm"
)

// usageCmd shows what the calls to models cost.
type usageCmd struct {
	Since string `help:"Since this date (2026-11-30) or span (7d)." default:"7d"`
}

// Help shows examples.
func (usageCmd) Help() string {
	return `Every call is booked, failed ones too. The budgets stand in config.toml, [llm.budget].

Examples:
  stillso usage
  stillso usage --since 30d --json`
}

// used is what usage found.
type used struct {
	Since time.Time   `json:"since"`
	Rows  []usedRow   `json:"rows"`
	Today []usedToday `json:"today"`
}

// usedRow sums up the calls of one purpose and model.
type usedRow struct {
	Purpose string  `json:"purpose"`
	Model   string  `json:"model"`
	Calls   int     `json:"calls"`
	Failed  int     `json:"failed"`
	In      int     `json:"tokens_in"`
	Out     int     `json:"tokens_out"`
	Millis  int64   `json:"ms"`
	CostUSD float64 `json:"cost_usd"`
}

// usedToday is how much of a budget is spent since midnight.
type usedToday struct {
	Pot    string `json:"pot"`
	Calls  int    `json:"calls"`
	Most   int    `json:"most_calls"`
	Tokens int    `json:"tokens"`
	Limit  int    `json:"most_tokens"`
}

func (c *usageCmd) run(ctx context.Context, a *app) (summary, error) {
	since, err := parseWhen(c.Since, a.now())
	if err != nil {
		return nil, err
	}
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	list, err := st.Usage(ctx, since)
	if err != nil {
		return nil, err
	}
	u := &used{Since: since, Rows: sumUsage(list), Today: []usedToday{}}
	y, m, d := a.std.clock().Date()
	midnight := time.Date(y, m, d, 0, 0, 0, 0, a.std.clock().Location())
	if list, err = st.Usage(ctx, midnight); err != nil {
		return nil, err
	}
	for _, pot := range []string{"capture", "enrich", "tidy", "other"} {
		limits := conf.Model.Budgets.Of(pot)
		t := usedToday{Pot: pot, Most: limits.DayCalls, Limit: limits.DayTokens}
		for _, x := range list {
			if llm.Pot(x.Purpose) == pot {
				t.Calls++
				t.Tokens += x.In + x.Out
			}
		}
		if t.Calls > 0 || pot == "capture" {
			u.Today = append(u.Today, t)
		}
	}
	return u, nil
}

// sumUsage sums up calls by purpose and model, the dearest first.
func sumUsage(list []stillso.Usage) []usedRow {
	rows := []usedRow{}
	for _, u := range list {
		i := slices.IndexFunc(rows, func(r usedRow) bool { return r.Purpose == u.Purpose && r.Model == u.Model })
		if i < 0 {
			i = len(rows)
			rows = append(rows, usedRow{Purpose: u.Purpose, Model: u.Model})
		}
		r := &rows[i]
		r.Calls++
		if u.Error != "" {
			r.Failed++
		}
		r.In, r.Out, r.Millis, r.CostUSD = r.In+u.In, r.Out+u.Out, r.Millis+u.Millis, r.CostUSD+u.CostUSD
	}
	slices.SortStableFunc(rows, func(a, b usedRow) int { return cmp.Compare(b.In+b.Out, a.In+a.Out) })
	return rows
}

func (u *used) text(p *page) {
	if len(u.Rows) == 0 {
		p.printf("no model was called since %s\n", u.Since.Local().Format("2006-01-02 15:04"))
	} else {
		rows := make([][]string, len(u.Rows))
		for i, r := range u.Rows {
			cost := ""
			if r.CostUSD > 0 {
				cost = fmt.Sprintf("%.3f", r.CostUSD)
			}
			rows[i] = []string{
				r.Purpose, fmt.Sprint(r.Calls), fmt.Sprint(r.Failed), fmt.Sprint(r.In), fmt.Sprint(r.Out),
				fmt.Sprintf("%.1f", float64(r.Millis)/1000/float64(r.Calls)), cost, r.Model,
			}
		}
		p.table([]string{"purpose", "calls", "failed", "tokens in", "out", "s/call", "USD", "model"}, rows)
	}
	p.printf("\n")
	for _, t := range u.Today {
		p.printf("today  %-8s %d of %s calls, %d of %s tokens\n", t.Pot, t.Calls, most(t.Most), t.Tokens, most(t.Limit))
	}
}

// most prints a limit; a negative one is none.
func most(n int) string {
	if n < 0 {
		return "any number of"
	}
	return fmt.Sprint(n)
}
