package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page, in the man(7) macros.
type manCmd struct{}

func (manCmd) needsNoHome() {}

func (manCmd) run(context.Context, *app) (summary, error) {
	k, err := newParser(&grammar{}, streams{})
	if err != nil {
		return nil, err
	}
	return &generated{manual(k.Model, buildVersion())}, nil
}

// manual writes the page: the same grammar, the same help texts as --help.
func manual(model *kong.Application, v *versions) string {
	var b strings.Builder
	day, _, _ := strings.Cut(v.Date, "T")
	fmt.Fprintf(&b, ".TH STILLSO 1 \"%s\" \"stillso %s\" \"User Commands\"\n", day, roff(v.Version))
	fmt.Fprintf(&b, ".SH NAME\nstillso \\- long-term memory for AI coding assistants\n.SH SYNOPSIS\n.B stillso\n[\\fIoptions\\fR] \\fIcommand\\fR\n.SH DESCRIPTION\n%s\n", roff(model.Help))
	b.WriteString(".PP\nThe program \\fBstillso\\-hook\\fR is called by the assistants, with the name of the host and the event, and the\nhost's JSON on standard input; \\fBstillso install\\fR registers it.\n.SH OPTIONS\nEvery command has these.\n")
	manFlags(&b, model.Flags)
	for _, g := range groups() {
		fmt.Fprintf(&b, ".SH %s\n", roff(strings.ToUpper(strings.TrimSuffix(g.Title, ":"))))
		for _, n := range model.Children {
			if !n.Hidden && n.Group != nil && n.Group.Key == g.Key {
				manCommand(&b, n)
			}
		}
	}
	b.WriteString(".SH EXIT STATUS\n.nf\n")
	for line := range strings.Lines(strings.TrimPrefix(exitCodes, "Exit codes:\n")) {
		b.WriteString(roff(strings.TrimSpace(line)) + "\n")
	}
	b.WriteString(".fi\n.SH ENVIRONMENT\n.TP\n.B STILLSO_HOME\nThe home of the memories; else \\fI$XDG_DATA_HOME/stillso\\fR, else \\fI~/.local/share/stillso\\fR,\non Windows \\fI%LOCALAPPDATA%\\\\stillso\\fR.\n.TP\n.B NO_COLOR\nNo colours.\n")
	return b.String()
}

// manCommand writes one command and those below it.
func manCommand(b *strings.Builder, n *kong.Node) {
	if len(n.Children) == 0 || len(n.Positional) > 0 || n.DefaultCmd != nil {
		fmt.Fprintf(b, ".SS %s\n%s\n", roff("stillso "+n.Summary()), roff(n.Help))
		if n.Detail != "" {
			manDetail(b, n.Detail)
		}
		for _, p := range n.Positional {
			fmt.Fprintf(b, ".TP\n\\fI%s\\fR\n%s\n", roff(p.Summary()), roff(p.Help))
		}
		manFlags(b, n.Flags)
	}
	for _, c := range n.Children {
		if !c.Hidden {
			manCommand(b, c)
		}
	}
}

// manDetail writes a detailed help: paragraphs, and examples in indented lines.
func manDetail(b *strings.Builder, text string) {
	b.WriteString(".PP\n")
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "":
			b.WriteString(".PP\n")
			continue
		case line[0] == ' ':
			b.WriteString(".br\n\\ \\ ")
		}
		b.WriteString(roff(trimmed) + "\n")
	}
}

// manFlags writes one entry a flag.
func manFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := roff(f.Value.Summary())
		if f.Short != 0 {
			name = roff("-"+string(f.Short)) + ", " + name
		}
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR\n%s\n", name, roff(f.Help))
	}
}

// roff escapes text so that none of it is a request or an escape.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "\n", "\n\\&").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
