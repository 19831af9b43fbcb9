package main

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/host"
)

// How long after the last start of a sweep the next one may be started. The sweep is
// single anyway; this saves starting a program after every turn for nothing. What
// waits meanwhile is taken up by the next turn, or by the next session. The end of a
// session waits for nothing: without a person it comes right after the last turn, whose
// sweep may be done by then, and nothing may follow it for hours.
const (
	turnPause    = time.Minute
	endPause     = 2 * time.Second
	catchUpPause = 10 * time.Minute
	rebuildPause = time.Minute
)

// queueCapture notes that a session has something new and has it read offline. The
// host may end this process within a second.
func (h *hook) queueCapture() {
	key := h.hostName + " " + h.call.Session
	if h.event == host.SessionEnd { // it asks for more than a turn that waits: it must not count as the same
		key += " ended"
	}
	if h.call.Transcript != "" {
		h.enqueue(stillso.QueueItem{
			Kind: "capture",
			Key:  key,
			Payload: map[string]string{
				"host": h.hostName, "event": h.event, "session": h.call.Session,
				"directory": h.call.Directory, "transcript": h.call.Transcript,
			},
		})
	}
	pause := turnPause
	switch h.event {
	case host.PreCompact:
		pause = endPause
	case host.SessionEnd:
		pause = 0
	}
	if h.claimSweep(pause) {
		h.startSweep()
	}
}

// catchUp sweeps what an earlier session left behind that never said it ended.
func (h *hook) catchUp() {
	if info, err := os.Stat(filepath.Join(h.dir.Spool(), home.Queue)); err == nil && info.Size() > 0 && h.claimSweep(catchUpPause) {
		h.startSweep()
	}
}

func (h *hook) enqueue(q stillso.QueueItem) {
	q.At = h.start.UTC()
	h.dir.Append(home.Queue, appendItem(nil, &q)) //nolint:errcheck,gosec // a full disk costs a capture; the next turn asks again
}

// appendItem writes an item as encoding/json does (a test compares them).
func appendItem(out []byte, q *stillso.QueueItem) []byte {
	out = append(out, `{"id":`...)
	out = strconv.AppendInt(out, q.ID, 10)
	out = appendField(out, "kind", q.Kind, true)
	out = appendField(out, "key", q.Key, true)
	if len(q.Payload) > 0 {
		sep := `,"payload":{`
		for _, k := range slices.Sorted(maps.Keys(q.Payload)) {
			out = host.AppendText(append(out, sep...), k)
			out = host.AppendText(append(out, ':'), q.Payload[k])
			sep = ","
		}
		out = append(out, '}')
	}
	out = append(out, `,"at":"`...)
	out = q.At.AppendFormat(out, time.RFC3339Nano)
	out = append(out, `","attempts":`...)
	out = strconv.AppendInt(out, int64(q.Attempts), 10)
	return append(out, '}')
}

// claimSweep reports whether the last sweep was started longer ago than pause, and
// marks that one is started now. A mark in the future is a clock that was set back.
func (h *hook) claimSweep(pause time.Duration) bool {
	mark := h.dir.SweepMark()
	info, err := os.Lstat(mark)
	if err == nil {
		if age := h.start.Sub(info.ModTime()); age >= 0 && age < pause {
			return false
		}
		return os.Chtimes(mark, h.start, h.start) == nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return false
	}
	f, err := home.OpenFile(mark, os.O_CREATE|os.O_EXCL|os.O_WRONLY)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// startSweep starts `stillso sweep` so that it outlives this process and the host, and
// does not wait for it.
func (h *hook) startSweep() {
	program := h.program()
	if program == "" {
		return
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	p, err := os.StartProcess(program, []string{program, "--home", h.dir.String(), "sweep"}, &os.ProcAttr{
		Dir: h.dir.String(), Files: []*os.File{null, null, null}, Sys: detached(),
	})
	if err == nil {
		p.Release() //nolint:errcheck,gosec // nobody waits for it
	}
}

// program finds the stillso that belongs to this hook: beside it, else in PATH, whose
// relative entries do not count, since they lead into whatever repository this is.
func (h *hook) program() string {
	if self, err := os.Executable(); err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		if p := filepath.Join(filepath.Dir(self), sweepName); isProgram(p) {
			return p
		}
	}
	for _, dir := range filepath.SplitList(h.getenv("PATH")) {
		if p := filepath.Join(dir, sweepName); filepath.IsAbs(dir) && isProgram(p) {
			return p
		}
	}
	return ""
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && executable(info)
}
