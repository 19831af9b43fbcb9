package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"stillso/internal/home"
	"stillso/internal/redact"
)

// maxLog is how large the log of the sweep grows before it becomes the old one,
// which takes the place of the one before.
const maxLog = 1 << 20

// sweepLog is log/sweep.log: one JSON line a message, redacted.
type sweepLog struct {
	*slog.Logger
	f *os.File
}

// openSweepLog opens the log to append to, and rotates it if it is long.
func openSweepLog(a *app) (*sweepLog, error) {
	path := a.dir.SweepLog()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("cannot write the log of the sweep: %w", err)
	}
	if st, err := os.Stat(path); err == nil && st.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("cannot put the log of the sweep aside: %w", err)
		}
	}
	f, err := home.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY)
	if err != nil {
		return nil, fmt.Errorf("cannot write the log of the sweep: %w", err)
	}
	h := slog.NewJSONHandler(f, &slog.HandlerOptions{ReplaceAttr: func(_ []string, at slog.Attr) slog.Attr {
		switch at.Value.Kind() {
		case slog.KindTime:
			return slog.Time(at.Key, a.now())
		case slog.KindString:
			text, _ := redact.Text(at.Value.String())
			return slog.String(at.Key, text)
		}
		return at
	}})
	return &sweepLog{Logger: slog.New(h), f: f}, nil
}

// Close closes the log.
func (l *sweepLog) Close() error { return l.f.Close() }

// lastSweep is what the log says of the last sweep that came to an end.
type lastSweep struct {
	At    time.Time `json:"time"`
	Msg   string    `json:"msg"`
	Error string    `json:"error"`
}

// readLastSweep returns the last end of a sweep in the log, nil if there is none.
func readLastSweep(path string) (*lastSweep, error) {
	f, err := home.OpenFile(path, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	const tail = 64 << 10
	if st, err := f.Stat(); err == nil && st.Size() > tail {
		if _, err := f.Seek(-tail, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	var last *lastSweep
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, tail)
	for lines.Scan() {
		var l lastSweep
		if bytes.Contains(lines.Bytes(), []byte(`"msg":"`)) && json.Unmarshal(lines.Bytes(), &l) == nil &&
			(l.Msg == "done" || l.Msg == "failed") {
			last = &l
		}
	}
	return last, lines.Err()
}
