package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// grammar is the command line. Each command stands in a file of its own, with
// its options, its help and its summary.
type grammar struct {
	Home string `help:"Home of the memories; else $$STILLSO_HOME, else the user's data directory." placeholder:"DIR" type:"path"`
	JSON bool   `name:"json" help:"Print one JSON document instead of text."`

	Try tryCmd `cmd:"" group:"start" help:"See what stillso would remember and recall on this machine; changes nothing."`

	Remember rememberCmd `cmd:"" group:"memories" help:"Save one memory."`
	Recall   recallCmd   `cmd:"" group:"memories" help:"Show what a prompt would get injected, or why nothing."`
	Why      whyCmd      `cmd:"" group:"memories" help:"Explain what the last recall did, or what a prompt would get."`
	WhyNot   whyNotCmd   `cmd:"" group:"memories" help:"Say what kept a memory from being injected."`
	Search   searchCmd   `cmd:"" group:"memories" help:"Search all memories by words."`
	List     listCmd     `cmd:"" group:"memories" help:"List memories."`
	Show     showCmd     `cmd:"" group:"memories" help:"Show one memory with all its fields."`
	Edit     editCmd     `cmd:"" group:"memories" help:"Change one memory."`
	Retire   retireCmd   `cmd:"" group:"memories" help:"Take memories out of recall; they are kept."`
	Restore  restoreCmd  `cmd:"" group:"memories" help:"Bring retired or superseded memories back."`
	Verify   verifyCmd   `cmd:"" group:"memories" help:"Check what memories claim against this machine's files and tools."`
	Profile  profileCmd  `cmd:"" group:"memories" help:"Show and change what every session begins with."`
	Purge    purgeCmd    `cmd:"" group:"memories" help:"Erase a memory and its history for good, for secrets."`

	Journal journalCmd `cmd:"" group:"history" help:"List the changes of memories, newest first."`
	History historyCmd `cmd:"" group:"history" help:"Show a memory through time."`
	Review  reviewCmd  `cmd:"" group:"history" help:"Decide on what waits for a human."`
	Undo    undoCmd    `cmd:"" group:"history" help:"Take back a change, the last one, or a batch."`

	Import  importCmd  `cmd:"" group:"data" help:"Import notes, instruction files, or an export."`
	Export  exportCmd  `cmd:"" group:"data" help:"Write memories as JSON lines."`
	Capture captureCmd `cmd:"" group:"data" help:"Read a session transcript and save what is worth remembering."`
	Enrich  enrichCmd  `cmd:"" group:"data" help:"Add the words that a person would type when they need a memory."`
	Tidy    tidyCmd    `cmd:"" group:"data" help:"Join duplicates, mark what was replaced, retire what is over."`
	Sweep   sweepCmd   `cmd:"" group:"data" help:"Do the waiting offline work: capture, files in step, index."`

	Install   installCmd   `cmd:"" group:"upkeep" help:"Register stillso-hook with an assistant."`
	Uninstall uninstallCmd `cmd:"" group:"upkeep" help:"Take stillso-hook out of an assistant's settings."`
	MCP       mcpCmd       `cmd:"" name:"mcp" group:"upkeep" help:"Offer the memory to assistants as tools (MCP), and register that."`
	Doctor    doctorCmd    `cmd:"" group:"upkeep" help:"Check everything; change nothing."`
	Repair    repairCmd    `cmd:"" group:"upkeep" help:"Repair what doctor found."`
	Stats     statsCmd     `cmd:"" group:"upkeep" help:"Show how well the memory works: recalls and repeats."`
	Usage     usageCmd     `cmd:"" group:"upkeep" help:"Show what the calls to models cost."`
	Adopt     adoptCmd     `cmd:"" group:"upkeep" help:"Give the memories of a namespace to a directory that moved."`
	Settings  settingsCmd  `cmd:"" group:"upkeep" help:"Show the settings, or write a file with the defaults."`
	Eval      evalCmd      `cmd:"" group:"upkeep" help:"Measure recall and capture on labelled sets."`
	Version   versionCmd   `cmd:"" group:"upkeep" help:"Print the version."`

	Completion completionCmd `cmd:"" hidden:"" help:"Print the completion of a shell."`
	Man        manCmd        `cmd:"" hidden:"" help:"Print the manual page."`
}

// groups orders the commands in the help text.
func groups() []kong.Group {
	return []kong.Group{
		{Key: "start", Title: "Start here:"},
		{Key: "memories", Title: "Memories:"},
		{Key: "history", Title: "History:"},
		{Key: "data", Title: "In and out:"},
		{Key: "upkeep", Title: "Upkeep:"},
	}
}

// command is one command of the grammar: it does its work and returns a summary.
type command interface {
	run(ctx context.Context, a *app) (summary, error)
}

// summary is what a command found or did: printed as text, or as JSON.
type summary interface {
	text(p *page)
}

// homeless is a command that works without a home.
type homeless interface{ needsNoHome() }

// coded is a summary that is not exit code 0: nothing matched, problems found.
type coded interface{ exitCode() int }

// run runs one command line and returns its exit code.
func run(ctx context.Context, args []string, std streams) int {
	cmd, g, code, done := parse(args, std)
	if done {
		return code
	}
	a := &app{std: std, homeFlag: g.Home, json: g.JSON}
	var sum summary
	err := a.openHome()
	if _, ok := cmd.(homeless); ok {
		err = nil
	}
	if err == nil {
		sum, err = cmd.run(ctx, a)
	}
	if cerr := a.close(); err == nil {
		err = cerr
	}
	if err == nil && sum != nil {
		err = a.print(sum)
	}
	if err != nil {
		return report(std, g.JSON, err)
	}
	if c, ok := sum.(coded); ok {
		return c.exitCode()
	}
	return exitOK
}

// printHelp prints the help; that of stillso itself ends with the exit codes.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil || ctx.Selected() != nil {
		return err
	}
	_, err := fmt.Fprintf(ctx.Stdout, "\n%s\n", exitCodes)
	return err
}

// helpExit leaves kong after it printed the help.
type helpExit struct{ code int }

// newParser returns the parser of the grammar g.
func newParser(g *grammar, std streams) (*kong.Kong, error) {
	return kong.New(g,
		kong.Name("stillso"),
		kong.Description("Long-term memory for AI coding assistants: recalls in milliseconds, silent when it has nothing to say."),
		kong.Writers(std.out, std.err),
		kong.Exit(func(code int) { panic(helpExit{code}) }),
		kong.ExplicitGroups(groups()),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true, WrapUpperBound: 100}),
	)
}

// parse reads the command line. done says that there is nothing left to run.
func parse(args []string, std streams) (cmd command, g *grammar, code int, done bool) {
	g = &grammar{}
	k, err := newParser(g, std)
	if err != nil {
		return nil, g, report(std, false, err), true
	}
	defer func() {
		if r := recover(); r != nil {
			h, ok := r.(helpExit)
			if !ok {
				panic(r)
			}
			code, done = h.code, true
		}
	}()
	switch {
	case len(args) == 0:
		args = []string{"--help"}
	case args[0] == "--version":
		args = append([]string{"version"}, args[1:]...)
	case args[0] == "help":
		args = append(slices.Clone(args[1:]), "--help")
	}
	kctx, err := k.Parse(args)
	if err != nil {
		wrong := usagef("%w; `stillso %s--help` shows how", err, selectedPath(err))
		return nil, g, report(std, g.JSON || slices.Contains(args, "--json"), wrong), true
	}
	cmd, ok := kctx.Selected().Target.Addr().Interface().(command)
	if !ok {
		return nil, g, report(std, g.JSON, usagef("%s needs a command; `stillso %s --help` lists them", kctx.Command(), kctx.Command())), true
	}
	return cmd, g, 0, false
}

// selectedPath returns the command that a parse error belongs to, with a space
// behind it, or "".
func selectedPath(err error) string {
	var perr *kong.ParseError
	if !errors.As(err, &perr) || perr.Context == nil {
		return ""
	}
	var words []string
	for _, p := range perr.Context.Path {
		if p.Command != nil {
			words = append(words, p.Command.Name)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(words, " ") + " "
}

// report prints an error and returns its exit code.
func report(std streams, asJSON bool, err error) int {
	code := exitCode(err)
	text := err.Error()
	if hint := advice(err); hint != "" && !strings.Contains(text, "stillso ") {
		text += "; " + hint
	}
	if asJSON {
		if writeJSONLine(std.err, map[string]any{"error": text, "exit": code}) == nil {
			return code
		}
	}
	fmt.Fprintf(std.err, "stillso: %s\n", oneLine(safeText(text))) //nolint:errcheck // where standard error is gone, nobody listens
	return code
}

// writeJSONLine prints v as JSON on one line.
func writeJSONLine(w io.Writer, v any) error {
	b, err := marshalSafe(v, "")
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
