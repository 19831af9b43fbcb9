package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"stillso"
	"stillso/internal/host"
	"stillso/internal/host/claudecode"
	"stillso/internal/host/opencode"
)

// readTranscript reads what is new in the transcript of a session, whichever
// host wrote it.
func (a *app) readTranscript(ctx context.Context, t task, from host.Position, emit func(stillso.Turn) error) (host.Reading, error) {
	h, ok := a.assistant(t.host)
	if !ok {
		return host.Reading{}, fmt.Errorf("unknown host %q", t.host)
	}
	if id, ok := strings.CutPrefix(t.transcript, opencode.TranscriptPrefix); ok && h.name == opencode.Name {
		return a.exportOpenCode(ctx, h, id, emit)
	}
	return h.read(t.transcript, from, emit)
}

// sessionOf returns the id of the session that a transcript names, else that of
// the file.
func (a *app) sessionOf(t task) string {
	base := filepath.Base(t.transcript)
	name := base[:len(base)-len(filepath.Ext(base))]
	h, ok := a.assistant(t.host)
	if !ok || h.name == claudecode.Name { // there the name is the id
		return name
	}
	enough := errors.New("enough")
	got, err := h.read(t.transcript, host.Position{}, func(stillso.Turn) error { return enough })
	if got.Session != "" && (err == nil || errors.Is(err, enough)) {
		return got.Session
	}
	return name
}

// exportTime is how long OpenCode may take to write out a session.
const exportTime = time.Minute

// exportOpenCode has OpenCode write out a session, whose messages stand in a
// database of its own, and reads that.
func (a *app) exportOpenCode(ctx context.Context, h assistant, id string, emit func(stillso.Turn) error) (host.Reading, error) {
	program := h.program(a)
	if program == "" || !opencode.ValidSession(id) {
		return host.Reading{}, fmt.Errorf("%w: the program opencode, which writes sessions out, is not on the PATH", host.ErrUnsupported)
	}
	ctx, cancel := context.WithTimeout(ctx, exportTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "export", id)                        // #nosec G204 -- the host's own program, the id is checked
	cmd.Env = append(os.Environ(), host.SuppressVariable+"=1", "OPENCODE_PURE=1") // without plugins, ours among them
	cmd.Dir = string(a.dir)
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return host.Reading{}, fmt.Errorf("opencode cannot be started: %w", err)
	}
	got, err := opencode.Read(out, emit)
	if werr := cmd.Wait(); err == nil && werr != nil {
		err = fmt.Errorf("opencode export %s: %w", id, werr)
	}
	return got, err
}
