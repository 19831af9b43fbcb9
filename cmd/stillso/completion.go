package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// completionCmd prints what a shell needs to complete stillso's command line.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// generated is a text made from the grammar: a completion or the manual page.
type generated struct {
	Text string `json:"text"`
}

func (g *generated) text(p *page) { p.printf("%s", styled(g.Text)) }

func (*completionCmd) needsNoHome() {}

func (c *completionCmd) run(context.Context, *app) (summary, error) {
	k, err := newParser(&grammar{}, streams{})
	if err != nil {
		return nil, err
	}
	words := completions(k.Model.Node)
	switch c.Shell {
	case "bash":
		return &generated{bashCompletion(words)}, nil
	case "zsh":
		return &generated{zshCompletion(words)}, nil
	}
	return &generated{fishCompletion(words)}, nil
}

// completed is what may follow one command: "stillso", "stillso review", …
type completed struct {
	path     string
	commands []*kong.Node
	flags    []*kong.Flag
	names    []string // values of the first positional, where they are few and known
	files    bool     // a positional is a path
}

// completions lists every command that is not hidden, parents first.
func completions(root *kong.Node) []completed {
	c := completed{path: root.Name}
	if root.Type != kong.ApplicationNode {
		c.path = root.FullPath()
	}
	for _, group := range root.AllFlags(true) {
		c.flags = append(c.flags, group...)
	}
	for i, p := range root.Positional {
		if i == 0 && p.Enum != "" {
			c.names = p.EnumSlice()
		}
		c.files = c.files || isPath(p)
	}
	var below []completed
	for _, n := range root.Children {
		if !n.Hidden {
			c.commands = append(c.commands, n)
			below = append(below, completions(n)...)
		}
	}
	return append([]completed{c}, below...)
}

// isPath reports whether the value is a file or directory.
func isPath(v *kong.Value) bool {
	return v.Tag != nil && (v.Tag.Type == "path" || strings.HasPrefix(v.Tag.Type, "existing"))
}

// inWords returns a pattern for every command below the first.
func inWords(words []completed) []string {
	var paths []string
	for _, c := range words[1:] {
		paths = append(paths, shellQuote(c.path))
	}
	return paths
}

// shellQuote quotes s for bash, zsh and fish.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'" }

// short returns the first sentence of a help text, on one line.
func short(help string) string {
	line, _, _ := strings.Cut(help, "\n")
	if i := strings.Index(line, ". "); i > 0 {
		line = line[:i]
	}
	return strings.TrimSuffix(line, ".")
}

// findCommand writes the loop of bash and zsh that finds the command in the words
// before the cursor.
func findCommand(b *strings.Builder, before string, words []completed) {
	fmt.Fprintf(b, "  local cmd=stillso w\n  for w in %s; do\n    case \"$cmd $w\" in\n      %s) cmd=\"$cmd $w\" ;;\n    esac\n  done\n",
		before, strings.Join(inWords(words), "|"))
}

func bashCompletion(words []completed) string {
	var b strings.Builder
	b.WriteString("# bash completion for stillso; made by `stillso completion bash`.\n_stillso() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} names= flags= files=\n")
	findCommand(&b, `"${COMP_WORDS[@]:1:COMP_CWORD-1}"`, words)
	b.WriteString("  case \"$cmd\" in\n")
	for _, c := range words {
		var names, flags, paths, values []string
		for _, n := range c.commands {
			names = append(names, n.Name)
		}
		names = append(names, c.names...)
		for _, f := range c.flags {
			flags = append(flags, "--"+f.Name)
			switch {
			case isPath(f.Value):
				paths = append(paths, "--"+f.Name)
			case !f.IsBool():
				values = append(values, "--"+f.Name)
			}
		}
		fmt.Fprintf(&b, "    '%s')\n      names='%s' flags='%s'", c.path, strings.Join(names, " "), strings.Join(flags, " "))
		if c.files {
			b.WriteString(" files=yes")
		}
		b.WriteString("\n      case \"$prev\" in\n")
		if len(paths) > 0 {
			fmt.Fprintf(&b, "        %s) names= flags= files=yes ;;\n", strings.Join(paths, "|"))
		}
		if len(values) > 0 {
			fmt.Fprintf(&b, "        %s) return ;;\n", strings.Join(values, "|"))
		}
		b.WriteString("      esac ;;\n")
	}
	b.WriteString("  esac\n  [[ $cur == -* ]] && names=$flags files=\n" +
		"  local IFS=$' \\t\\n'\n  COMPREPLY=($(compgen -W \"$names\" -- \"$cur\"))\n" +
		"  if [[ $files ]]; then\n    compopt -o filenames 2>/dev/null\n    IFS=$'\\n'\n    COMPREPLY+=($(compgen -f -- \"$cur\"))\n  fi\n}\ncomplete -F _stillso stillso\n")
	return b.String()
}

func zshCompletion(words []completed) string {
	var b strings.Builder
	b.WriteString("#compdef stillso\n# zsh completion for stillso; made by `stillso completion zsh`.\n_stillso() {\n  local -a names flags\n  local files= prev=${words[CURRENT-1]}\n")
	findCommand(&b, `${words[2,CURRENT-1]}`, words)
	b.WriteString("  case \"$cmd\" in\n")
	describe := func(name, help string) string {
		return shellQuote(strings.ReplaceAll(name, ":", `\:`) + ":" + strings.ReplaceAll(short(help), ":", `\:`))
	}
	for _, c := range words {
		var names, flags, paths, values []string
		for _, n := range c.commands {
			names = append(names, describe(n.Name, n.Help))
		}
		for _, n := range c.names {
			names = append(names, shellQuote(n))
		}
		for _, f := range c.flags {
			flags = append(flags, describe("--"+f.Name, f.Help))
			switch {
			case isPath(f.Value):
				paths = append(paths, "--"+f.Name)
			case !f.IsBool():
				values = append(values, "--"+f.Name)
			}
		}
		fmt.Fprintf(&b, "    '%s')\n      names=(%s)\n      flags=(%s)\n", c.path, strings.Join(names, " "), strings.Join(flags, "\n        "))
		if c.files {
			b.WriteString("      files=yes\n")
		}
		b.WriteString("      case \"$prev\" in\n")
		if len(paths) > 0 {
			fmt.Fprintf(&b, "        %s) _files; return ;;\n", strings.Join(paths, "|"))
		}
		if len(values) > 0 {
			fmt.Fprintf(&b, "        %s) _message value; return ;;\n", strings.Join(values, "|"))
		}
		b.WriteString("      esac ;;\n")
	}
	b.WriteString("  esac\n  if [[ ${words[CURRENT]} == -* ]]; then\n    _describe -o option flags\n    return\n  fi\n" +
		"  (( $#names )) && _describe command names\n  [[ -z $files ]] || _files\n}\n" +
		"if [[ $funcstack[1] == _stillso ]]; then _stillso \"$@\"; else compdef _stillso stillso; fi\n")
	return b.String()
}

func fishCompletion(words []completed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion for stillso; made by `stillso completion fish`.\nfunction __stillso_command\n    set -l cmd stillso\n"+
		"    for w in (commandline -opc)[2..]\n        switch \"$cmd $w\"\n            case %s\n                set cmd \"$cmd $w\"\n        end\n    end\n    echo $cmd\nend\ncomplete -c stillso -f\n",
		strings.Join(inWords(words), " "))
	for _, c := range words {
		when := fmt.Sprintf("complete -c stillso -n 'test (__stillso_command) = \"%s\"'", c.path)
		if c.path == words[0].path {
			when = "complete -c stillso -n 'test (__stillso_command) = stillso'"
		}
		for _, n := range c.commands {
			fmt.Fprintf(&b, "%s -a %s -d %s\n", when, n.Name, fishQuote(short(n.Help)))
		}
		for _, n := range c.names {
			fmt.Fprintf(&b, "%s -a %s\n", when, n)
		}
		if c.files {
			fmt.Fprintf(&b, "%s -F\n", when)
		}
		for _, f := range c.flags {
			takes := " -x"
			switch {
			case isPath(f.Value):
				takes = " -r -F"
			case f.IsBool():
				takes = ""
			}
			fmt.Fprintf(&b, "%s -l %s%s -d %s\n", when, f.Name, takes, fishQuote(short(f.Help)))
		}
	}
	return b.String()
}

// fishQuote quotes s for fish, whose single quotes know \' and \\.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
