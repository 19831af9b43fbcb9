package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"stillso"
	"stillso/internal/terms"
)

// whyNotCmd says what kept a memory from being injected.
type whyNotCmd struct {
	ID       string   `arg:"" help:"The memory that was expected."`
	Prompt   []string `arg:"" help:"The prompt; - reads it from standard input."`
	Previous string   `help:"The user's turn before."`
	Host     string   `help:"The host that asks." default:"claude-code"`
	Dir      string   `help:"Act as if in this directory." type:"existingdir"`
}

// Help shows examples.
func (whyNotCmd) Help() string {
	return `Names the first condition that stopped the memory, and what would have let it
pass. Exit code 1 if the memory was stopped, 0 if it is shown.

Examples:
  stillso why-not k3v9 "how do I reach the database"`
}

// whyNot is the answer.
type whyNot struct {
	Memory *stillso.Memory `json:"memory"`
	Shown  bool            `json:"shown"`
	// Stopped is the first condition that stopped it, Pass what would let it pass.
	Stopped string   `json:"stopped,omitempty"`
	Pass    string   `json:"pass,omitempty"`
	Weighed *weighed `json:"weighed,omitempty"`
	// Missing are the prompt's telling words that the memory does not have.
	Missing []string `json:"missing,omitempty"`
}

func (c *whyNotCmd) run(ctx context.Context, a *app) (summary, error) {
	prompt, err := a.textArgument(c.Prompt)
	if err != nil {
		return nil, err
	}
	m, err := a.find(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	ask := recallCmd{Previous: c.Previous, Host: c.Host, Dir: c.Dir}
	r, err := ask.ask(ctx, a, prompt)
	if err != nil {
		return nil, err
	}
	w := &whyNot{Memory: m, Shown: r.shows(m.ID)}
	if i := slices.IndexFunc(r.Weighed, func(x weighed) bool { return x.ID == m.ID }); i >= 0 {
		w.Weighed = &r.Weighed[i]
	}
	if !w.Shown {
		w.judge(r, c.Host, prompt)
	}
	return w, nil
}

// judge finds the first condition that stopped the memory, in the order in which
// recall asks.
func (w *whyNot) judge(r *recalled, hostName, prompt string) {
	m := w.Memory
	has := memoryTerms(m)
	var shared []string
	for _, t := range r.Asked {
		if has[t.Term] {
			shared = append(shared, t.Term)
		} else {
			w.Missing = append(w.Missing, t.Term)
		}
	}
	w.Missing = promptWords(prompt, w.Missing)
	alias := fmt.Sprintf("stillso edit %s --alias %q", m.ID, strings.Join(w.Missing[:min(6, len(w.Missing))], " "))
	switch {
	case !indexed(m):
		w.Stopped, w.Pass = fmt.Sprintf("it is %s, and only active and superseded memories are recalled", m.State), "stillso restore "+m.ID
	case !slices.Contains(r.Namespace, m.Namespace):
		w.Stopped = fmt.Sprintf("it belongs to %s, and this directory searches %s", m.Namespace, joinNamespaces(r.Namespace))
		w.Pass = fmt.Sprintf("ask from its own project (--dir), or move it: stillso edit %s --namespace user", m.ID)
	case m.File != nil && slices.Contains(m.File.LoadedBy, hostName):
		w.Stopped = fmt.Sprintf("%s loads this line of %s itself, so it is in front of the model already", hostName, m.File.Path)
		w.Pass = "nothing is missing there; other hosts get it"
	case len(r.Asked) == 0:
		w.Stopped, w.Pass = "the prompt has no word with a topic", "a prompt that names what it is about"
	case len(shared) == 0:
		w.Stopped, w.Pass = "it shares no word with the prompt", "an alias in the words people type: "+alias
	case w.Weighed == nil:
		w.Stopped = fmt.Sprintf("at least %d memories match the prompt better", len(r.Weighed))
		w.Pass = "more of its words in the prompt, or an alias: " + alias
	case w.Weighed.Strength < w.Weighed.Threshold:
		w.Stopped = fmt.Sprintf("its strength is %.2f and %.2f is needed: it covers %.0f %% of what the prompt asks for",
			w.Weighed.Strength, w.Weighed.Threshold, 100*w.Weighed.Coverage)
		w.Pass = "more of its words in the prompt, or an alias: " + alias
	case w.Weighed.Why != "":
		w.Stopped = w.Weighed.Why
		w.Pass = "it is close: a word of its own in the prompt puts it first"
	default:
		w.Stopped, w.Pass = "there is no room in the block", "fewer or shorter memories before it"
	}
}

// promptWords returns the words of the prompt that the terms were made from, in
// the order of the terms: a stem is not what a person would type.
func promptWords(prompt string, list []string) []string {
	from := map[string]string{}
	for _, word := range strings.FieldsFunc(prompt, func(r rune) bool {
		return unicode.IsSpace(r) || strings.ContainsRune(",;:?!，。；：？！、()\"", r)
	}) {
		for _, t := range terms.Analyze(word) {
			if from[t.Text] == "" {
				from[t.Text] = strings.Trim(word, ".'")
			}
		}
	}
	var out []string
	for _, t := range list {
		if word := from[t]; word != "" && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// memoryTerms returns the terms that a memory can be found by.
func memoryTerms(m *stillso.Memory) map[string]bool {
	set := map[string]bool{}
	for _, text := range append([]string{m.Name, m.Content, m.Body}, m.Aliases...) {
		for _, t := range terms.Analyze(text) {
			set[t.Text] = true
		}
	}
	return set
}

func (w *whyNot) text(p *page) {
	p.printf("%s  %s\n", p.bold(w.Memory.ID), oneLine(w.Memory.Content))
	if w.Shown {
		p.printf("it is shown")
		if w.Weighed != nil {
			p.printf(": its strength is %.2f and %.2f is needed", w.Weighed.Strength, w.Weighed.Threshold)
		}
		p.printf("\n")
		return
	}
	p.printf("stopped by  %s\n", w.Stopped)
	p.printf("would pass  %s\n", w.Pass)
	if len(w.Missing) > 0 {
		p.printf("%s\n", p.faint("words of the prompt that it lacks: "+strings.Join(w.Missing, " ")))
	}
}

func (w *whyNot) exitCode() int {
	if w.Shown {
		return exitOK
	}
	return exitProblems
}
