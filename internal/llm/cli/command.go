package cli

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"stillso/internal/llm"
)

// findCommand makes a model of any program: command = ["prog", "arg"].
//
// The program is started without a shell. On standard input, in UTF-8, it gets
// the instructions, an empty line, and the data between two equal lines
// "===== data HASH ====="; end of file ends it. It prints the answer to
// standard output and exits with 0. What it prints to standard error is shown
// to the person when it fails. These variables tell it more:
//
//	STILLSO_SUPPRESS=1   hooks of stillso do nothing below it
//	STILLSO_PURPOSE      capture, judge, enrich or tidy
//	STILLSO_REQUEST      the hash of the request, as replay uses it
//	STILLSO_MODEL        model of [llm], if set
func findCommand(c llm.Config, env llm.Environment) (llm.Model, string, error) {
	if len(c.Command) == 0 || strings.TrimSpace(c.Command[0]) == "" {
		return nil, "", &llm.Error{Kind: llm.ErrConfig, Detail: "command is empty", Do: `write command = ["prog", "arg"]`}
	}
	path := c.Command[0]
	if !filepath.IsAbs(path) {
		if strings.ContainsAny(path, `/\`) {
			return nil, "", &llm.Error{Kind: llm.ErrConfig, Detail: "command " + llm.Short(path) + " is a relative path", Do: "give an absolute path, or a name that is on PATH"}
		}
		found, err := resolve(path, env)
		if err != nil {
			return nil, "", &llm.Error{Kind: llm.ErrNotInstalled, Detail: err.Error(), Do: "install it, or give an absolute path in command"}
		}
		path = found
	} else if _, err := exec.LookPath(path); err != nil {
		return nil, "", &llm.Error{Kind: llm.ErrNotInstalled, Detail: llm.Short(path) + " cannot be run", Do: "install it, or correct command"}
	}
	args := c.Command[1:]
	p := &program{
		name: "command", install: "check command in [llm]",
		prepare: func(_ context.Context, call *call) error {
			call.args, call.stdin = args, prompt(call.r)
			call.env = []string{"STILLSO_PURPOSE=" + call.r.Purpose, "STILLSO_REQUEST=" + call.r.Hash(), "STILLSO_MODEL=" + c.Model}
			return nil
		},
		read: func(stdout []byte) (llm.Reply, error) {
			if strings.TrimSpace(string(stdout)) == "" {
				return llm.Reply{}, &llm.Error{Kind: llm.ErrNotJSON, Detail: "it printed nothing"}
			}
			return llm.Reply{Text: string(stdout)}, nil
		},
	}
	m := newModel(p, path, c, env)
	if m.model == "" {
		m.model = strings.TrimSuffix(filepath.Base(path), ".exe")
	}
	return m, path + arguments(len(args)), nil
}

// arguments says how many there are.
func arguments(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " with 1 argument"
	}
	return fmt.Sprintf(" with %d arguments", n)
}
