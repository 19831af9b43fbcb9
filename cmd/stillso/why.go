package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/home"
)

// whyCmd explains what a recall did.
type whyCmd struct {
	Prompt   string `help:"Explain this prompt; else the last one that a hook answered."`
	Previous string `help:"The user's turn before."`
	Session  string `help:"The last prompt of this session." placeholder:"ID"`
	Host     string `help:"The host that asks." default:"claude-code"`
	Dir      string `help:"Act as if in this directory." type:"existingdir"`
}

// Help shows examples.
func (whyCmd) Help() string {
	return `Without --prompt it shows the receipt of the last recall of a hook. A receipt holds
the terms that the index knows and figures, never the prompt.

Examples:
  stillso why
  stillso why --prompt "the app can't reach postgres on staging"`
}

// reasons is what why found.
type reasons struct {
	Receipt *stillso.Receipt `json:"receipt,omitempty"`
	// Contents are those of the memories in the receipt, by id.
	Contents map[string]string `json:"contents,omitempty"`
	Recall   *recalled         `json:"recall,omitempty"`
}

func (c *whyCmd) run(ctx context.Context, a *app) (summary, error) {
	if c.Prompt != "" {
		ask := recallCmd{Previous: c.Previous, Host: c.Host, Dir: c.Dir}
		r, err := ask.ask(ctx, a, c.Prompt)
		if err != nil {
			return nil, err
		}
		return &reasons{Recall: r}, nil
	}
	last, err := a.lastReceipt(ctx, c.Session)
	if err != nil {
		return nil, err
	}
	if last == nil {
		if c.Session != "" {
			return nil, fmt.Errorf("no recall to explain: no hook has answered a prompt of the session %q; `stillso why` shows the last of any", c.Session)
		}
		return nil, errors.New("no recall to explain: no hook has answered a prompt yet; give one with --prompt, or register the hook with `stillso install`")
	}
	return c.explain(ctx, a, last)
}

// explain gives the memories of a receipt their words.
func (c *whyCmd) explain(ctx context.Context, a *app, last *stillso.Receipt) (summary, error) {
	sum := &reasons{Receipt: last, Contents: map[string]string{}}
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	for _, h := range last.Hits {
		if m, err := st.Memory(ctx, h.ID); err == nil {
			sum.Contents[h.ID] = m.Content
		}
	}
	return sum, nil
}

// spooledReceipts returns the receipts that wait for a sweep, oldest first.
func (a *app) spooledReceipts() ([]stillso.Receipt, error) {
	f, err := home.OpenFile(filepath.Join(a.dir.Spool(), home.Receipts), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the receipts: %w", err)
	}
	defer f.Close() //nolint:errcheck // it was only read
	var list []stillso.Receipt
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 2*home.MaxLine)
	for lines.Scan() {
		var r stillso.Receipt
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			list = append(list, r)
		}
	}
	return list, nil // a line that no hook wrote ends it: what stands before is true
}

// lastReceipt returns the newest receipt of a prompt: from the spool, where
// hooks put it, else from the store, where the sweep took it.
func (a *app) lastReceipt(ctx context.Context, session string) (*stillso.Receipt, error) {
	match := func(r *stillso.Receipt) bool {
		return (r.Event == "prompt" || r.Event == "") && (session == "" || strings.HasPrefix(r.Session, session))
	}
	waiting, err := a.spooledReceipts()
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(waiting) {
		if match(&r) {
			return &r, nil
		}
	}
	if !a.exists() {
		return nil, nil
	}
	var last *stillso.Receipt
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	list, err := st.Receipts(ctx, time.Time{}, 500)
	if i := slices.IndexFunc(list, func(r stillso.Receipt) bool { return match(&r) }); i >= 0 {
		last = &list[i]
	}
	return last, err
}

func (r *reasons) text(p *page) {
	if r.Recall != nil {
		r.Recall.explain(p)
		return
	}
	rc := r.Receipt
	p.printf("%s  %s\n", rc.At.Local().Format("2006-01-02 15:04:05"), p.faint(fmt.Sprintf("%s %s · %s · session %s · %.1f ms", rc.Host, rc.Event, rc.Namespace, rc.Session, float64(rc.Micros)/1000)))
	if len(rc.Terms) > 0 {
		p.printf("terms     %s\n", strings.Join(rc.Terms, " "))
	}
	if rc.Silence != "" {
		p.printf("silence   %s\n", rc.Silence)
	} else {
		p.printf("injected  %s\n", plural(rc.Bytes, "byte", "bytes"))
	}
	if len(rc.Hits) == 0 {
		return
	}
	p.printf("\n")
	rows := make([][]string, len(rc.Hits))
	for i, h := range rc.Hits {
		why := h.Why
		if h.Shown {
			why = "shown"
		}
		needed := "" // a receipt holds that of the best; the decision names the others
		if i == 0 {
			needed = fmt.Sprintf("%.2f", rc.Threshold)
		}
		rows[i] = []string{h.ID, fmt.Sprintf("%.2f", h.Score), fmt.Sprintf("%.2f", h.Strength), needed, why, r.Contents[h.ID]}
	}
	p.table([]string{"id", "score", "strength", "needed", "decision", "content"}, rows)
}

// explain shows every step of a recall.
func (r *recalled) explain(p *page) {
	if r.Block != "" {
		p.printf("%s\n", r.Block)
	} else {
		p.printf("silence: %s\n", r.Silence)
	}
	p.printf("\n%s %s\n", p.faint("searched in   "), joinNamespaces(r.Namespace))
	p.printf("%s %.1f ms\n", p.faint("time          "), float64(r.Micros)/1000)
	if len(r.Asked) > 0 {
		p.printf("\n%s\n", p.bold("What the prompt asks for"))
		rows := make([][]string, len(r.Asked))
		for i, t := range r.Asked {
			rows[i] = []string{t.Term, fmt.Sprintf("%.2f", t.Weight), fmt.Sprintf("%.2f", t.Info), fmt.Sprint(t.Memories)}
		}
		p.table([]string{"term", "weight", "tells", "memories"}, rows)
	}
	if len(r.Weighed) > 0 {
		p.printf("\n%s\n", p.bold("What was weighed"))
		rows := make([][]string, len(r.Weighed))
		for i, w := range r.Weighed {
			why := w.Why
			if why == "" {
				why = "shown"
			}
			rows[i] = []string{
				w.ID, fmt.Sprintf("%.2f", w.Evidence), fmt.Sprintf("%.0f %%", 100*w.Coverage), fmt.Sprintf("%.2f", w.Factor),
				fmt.Sprintf("%.2f", w.Strength), fmt.Sprintf("%.2f", w.Threshold), why, strings.Join(w.Matched, " "), w.Content,
			}
		}
		p.table([]string{"id", "evidence", "covers", "factor", "strength", "needed", "decision", "matched", "content"}, rows)
		p.printf("%s\n", p.faint("strength = evidence × √coverage × factor (priority, age, origin, state); it must reach what is needed"))
	}
}

func joinNamespaces(list []stillso.Namespace) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}
