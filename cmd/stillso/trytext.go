package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// text prints the try: the first thing that anybody sees of stillso.
func (t *tried) text(p *page) {
	p.printf("%s  %s\n", p.bold("stillso try"), p.faint("reads only; what it makes lives in a throw-away home"))
	if t.Sample {
		p.printf("%s\n", p.faint("a sample project, for nothing of Claude Code was found here"))
	}
	for _, f := range t.Own {
		p.printf("%s\n", p.faint(fmt.Sprintf("your own %s has %s: stillso import takes them, and knows which the assistant loads itself",
			shortPath(f.Path), plural(f.Lines, "statement", "statements"))))
	}
	t.here(p)
	t.remembered(p)
	t.answered(p)
	t.stillSo(p)
	t.cutOff(p)
	p.printf("\n%s\n", p.bold("Next"))
	p.printf("  stillso install claude-code    %s\n", p.faint("register the hook; stillso uninstall takes it out again"))
	if !t.Sample && t.Folders > 0 {
		p.printf("  stillso import %s --dir PROJECT\n", shortPath(filepath.Join(t.Claude, "projects", "…", "memory")))
	}
	p.printf("  stillso remember \"…\"           %s\n", p.faint("save the first memory yourself"))
	for i, w := range t.Warnings {
		if i == 5 {
			p.printf("%s\n", p.faint(fmt.Sprintf("and %d more; --json lists them", len(t.Warnings)-5)))
			break
		}
		p.printf("%s %s\n", p.yellow("note:"), oneLine(w))
	}
	p.printf("\n%s\n", p.faint(fmt.Sprintf("took %.1f s", float64(t.Millis)/1000)))
}

func (t *tried) here(p *page) {
	p.printf("\n%s\n", p.bold("What is here"))
	line := func(name, what, where string) {
		p.printf("  %-13s %s", name, what)
		if where != "" {
			p.printf("  %s", p.faint(where))
		}
		p.printf("\n")
	}
	more := ""
	if t.Skipped > 0 {
		more = fmt.Sprintf(" (%d older ones not read, to stay quick)", t.Skipped)
	}
	line("histories", fmt.Sprintf("%s in %s, %s%s", plural(t.Sessions, "session", "sessions"), plural(t.Projects, "project", "projects"),
		plural(t.Prompts, "typed prompt", "typed prompts"), more), t.where("projects"))
	if t.Folders > 0 {
		line("auto-memory", fmt.Sprintf("%s in %s", plural(t.Notes, "note", "notes"), plural(t.Folders, "folder", "folders")), t.where("projects", "…", "memory"))
	}
	for _, f := range t.Files {
		line("instructions", plural(f.Lines, "statement", "statements"), filepath.Base(f.Path)+"; what the host loads itself is not injected again")
	}
}

// where returns the path of something of Claude Code's, unless it is a sample.
func (t *tried) where(parts ...string) string {
	if t.Sample {
		return ""
	}
	return shortPath(filepath.Join(append([]string{t.Claude}, parts...)...))
}

// shortPath writes the home directory as ~.
func shortPath(path string) string {
	if h, err := os.UserHomeDir(); err == nil && h != "" && inside(h, path) && h != path {
		return "~" + strings.TrimPrefix(path, h)
	}
	return path
}

func (t *tried) remembered(p *page) {
	count := map[string]int{}
	for _, m := range t.Memories {
		count[m.From]++
	}
	p.printf("\n%s  %s\n", p.bold("What it would remember"), p.faint(fmt.Sprintf("%d from sessions, by rules alone; %d notes; %d lines of instructions",
		count["session"], count["notes"], count["instructions"])))
	const perKind = 6
	shown := map[string]int{}
	for _, m := range t.Memories {
		if shown[m.From]++; shown[m.From] > perKind || m.From == "instructions" {
			continue
		}
		content := oneLine(m.Memory.Content)
		if p.width > 0 {
			content = cut(content, max(p.width-15, 30))
		} else {
			content = cut(content, 110)
		}
		p.printf("  %s %s\n", p.cyan(fmt.Sprintf("%-11s", m.Memory.Type)), content)
	}
	if rest := max(count["session"]-perKind, 0) + max(count["notes"]-perKind, 0); rest > 0 {
		p.printf("  %s\n", p.faint(fmt.Sprintf("and %d more; --json lists them all", rest)))
	}
	if len(t.Memories) == 0 {
		p.printf("  nothing: the sessions hold no explicit rule, and there are no notes\n")
	}
}

func (t *tried) answered(p *page) {
	p.printf("\n%s", p.bold("What your prompts would get"))
	if t.Sample {
		p.printf("  %s\n", p.faint("the prompts of the sample"))
	} else {
		p.printf("  %s\n", p.faint(fmt.Sprintf("of the last %d: a memory for %d, silence for %d", t.Asked, t.Answered, t.Asked-t.Answered)))
	}
	took := " in the hook, a cold process"
	if t.Hook == "" {
		took = " in this process"
	}
	if t.Answered == 0 {
		p.printf("  %s\n", p.faint("memories come with use: `stillso try --sample` shows a project that has some"))
	}
	whole := true
	for _, a := range t.Answers {
		p.printf("\n  %s %s  %s\n", p.green("›"), p.bold(cut(oneLine(a.Prompt), 90)), p.faint(fmt.Sprintf("%.1f ms%s", a.Millis, took)))
		took = ""
		if a.Block == "" {
			p.printf("    %s\n", p.faint("silence: "+a.Silence))
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(a.Block), "\n") {
			if !whole && !strings.HasPrefix(line, "- ") {
				continue // the frame was shown once
			}
			for i, part := range wrap(line, blockWidth(p)) {
				indent := "    │ "
				if i > 0 && strings.HasPrefix(line, "- ") {
					indent = "    │   "
				}
				p.printf("%s%s\n", p.faint(indent), part)
			}
		}
		whole = false
	}
}

// blockWidth is how wide the injected text is shown.
func blockWidth(p *page) int {
	if p.width == 0 {
		return 100
	}
	return max(min(p.width, 110)-8, 30)
}

func (t *tried) cutOff(p *page) {
	if len(t.Index) == 0 {
		return
	}
	p.printf("\n%s  %s\n", p.bold("What Claude Code cuts off"), p.faint("it loads 200 lines or 25,000 characters of a MEMORY.md"))
	lost := 0
	for _, x := range t.Index {
		if x.Loaded < x.Lines {
			lost++
			p.printf("  %s of %d lines never reach the model  %s\n", p.red(fmt.Sprint(x.Lines-x.Loaded)), x.Lines, p.faint(shortPath(x.Path)))
			p.printf("    %s\n", p.faint(fmt.Sprintf("lines %d to %d; stillso brings them when a prompt needs them", x.Loaded+1, x.Lines)))
		}
	}
	if lost == 0 {
		p.printf("  nothing: %s whole\n", plural(len(t.Index), "index is loaded", "indexes are loaded"))
	}
}

// progress tells a person at a terminal what is going on, on one line that is
// wiped in the end.
type progress struct{ page *page }

func newProgress(a *app) *progress {
	f, ok := a.std.err.(*os.File)
	if !ok || a.json || !isTerminal(f) {
		return &progress{}
	}
	return &progress{newPage(f, a.std.env)}
}

func (p *progress) show(format string, v ...any) {
	if p.page == nil {
		return
	}
	p.page.printf("%s%s", styled("\r\x1b[K"), cut(fmt.Sprintf(format, v...), max(p.page.width-1, 10)))
}

func (p *progress) clear() {
	if p.page != nil {
		p.page.printf("%s", styled("\r\x1b[K"))
	}
}
