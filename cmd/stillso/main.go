// Command stillso is the long-term memory of AI coding assistants on the
// command line: it saves, finds, changes, imports and checks memories, and
// registers stillso-hook with an assistant. `stillso --help` lists the commands
// and the exit codes.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	// Memories are private: whatever any room creates is for its owner only.
	restrictNewFiles()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A command that does not look at its context, such as one that waits for
	// input, must not hold a person up: after the first signal there are two
	// seconds to end well, and a second signal ends at once. Writing survives it:
	// a store that is killed loses nothing it has acknowledged.
	context.AfterFunc(ctx, func() {
		stop()
		time.Sleep(2 * time.Second)
		os.Exit(exitInterrupted)
	})
	code := run(ctx, os.Args[1:], streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		env: os.Getenv, clock: time.Now,
	})
	os.Exit(code)
}

// streams is what a command may reach of the process around it.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	clock    func() time.Time
}
