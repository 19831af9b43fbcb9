package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"stillso/internal/llm"
)

const (
	// maxStdout leaves room for a reply in its wrapping; more is a program that
	// runs wild.
	maxStdout = 4 << 20
	// maxStderr is how much of the last words on standard error is kept.
	maxStderr = 8 << 10
	// grace is how long a program's pipes may stay open after it ended or was
	// killed, because something it started holds them.
	grace = 2 * time.Second
)

var errTooMuch = errors.New("it printed too much")

// output is what a run left behind.
type output struct {
	stdout []byte
	stderr string
	// ended is true if we ended the program: its output is then no answer.
	ended bool
}

// run starts the program, feeds it, and waits for its end. An exit status other
// than 0 is an *exec.ExitError; everything else is the context's error or an
// *llm.Error.
func (m *model) run(ctx context.Context, dir string, args []string, stdin string, env []string) (output, error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(inner, m.path, args...) //nolint:gosec // the path was resolved outside the repository, the arguments are ours
	stdout := &bounded{max: maxStdout, full: func() { cancel(errTooMuch) }}
	stderr := &tail{max: maxStderr}
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, strings.NewReader(stdin), stdout, stderr, grace
	cmd.Env = append(append([]string{}, m.env...), append(env, "PWD="+dir)...)
	group := newGroup(cmd)
	defer group.end()
	if err := cmd.Start(); err != nil {
		return output{}, &llm.Error{Kind: llm.ErrNotInstalled, Detail: llm.Short(err.Error()), Do: m.install, Err: err}
	}
	group.started()
	err := cmd.Wait()
	out := output{stdout: stdout.buf.Bytes(), stderr: stderr.String(), ended: inner.Err() != nil}
	switch {
	case errors.Is(context.Cause(inner), errTooMuch):
		return out, &llm.Error{Kind: llm.ErrTooLarge, Detail: fmt.Sprintf("it printed more than %d MiB and was ended", maxStdout>>20)}
	case ctx.Err() != nil:
		return out, ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay):
		err = nil // it ended well; something it started held the pipe
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return out, &llm.Error{Kind: llm.ErrUnavailable, Detail: llm.Short(err.Error()), Err: err}
	}
	return out, err
}

// bounded keeps what is written up to max bytes and then calls full. The buffer
// is not embedded: its ReadFrom would read past the bound.
type bounded struct {
	buf  bytes.Buffer
	max  int
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	if b.buf.Len()+len(p) > b.max {
		b.full()
		return 0, errTooMuch
	}
	return b.buf.Write(p)
}

// tail keeps the last max bytes that were written.
type tail struct {
	buf []byte
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf = append(t.buf, p[max(0, len(p)-t.max):]...)
	if n := len(t.buf) - t.max; n > 0 {
		t.buf = append(t.buf[:0], t.buf[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.buf) }

// ask runs the program for a short answer about itself, such as its version.
func (m *model) ask(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	dir, err := workdir(m.dir)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory that stays is empty, private and harmless
	out, err := m.run(ctx, dir, args, "", nil)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out.stdout)), nil
}
