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
	code := run(ctx, os.Args[1:], streams{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		env: os.Getenv, clock: time.Now,
	})
	stop()
	os.Exit(code)
}

// streams is what a command may reach of the process around it.
type streams struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	clock    func() time.Time
}
