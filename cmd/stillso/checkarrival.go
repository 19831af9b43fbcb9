package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/home"
)

// receipts returns when each host last left a receipt, and its last one of a
// prompt that got a memory: from the store, and from what still waits in the
// spool.
func (d *checkup) receipts(ctx context.Context) (seen map[string]time.Time, shown map[string]stillso.Receipt) {
	seen, shown = map[string]time.Time{}, map[string]stillso.Receipt{}
	take := func(r stillso.Receipt) {
		if r.Host == "" {
			return
		}
		if r.At.After(seen[r.Host]) {
			seen[r.Host] = r.At
		}
		hit := slices.ContainsFunc(r.Hits, func(h stillso.ReceiptHit) bool { return h.Shown })
		if hit && r.Event == "prompt" && !r.At.Before(shown[r.Host].At) {
			shown[r.Host] = r
		}
	}
	if d.st != nil {
		list, _ := d.st.Receipts(ctx, d.app.now().Add(-30*24*time.Hour), 100_000) // the check of the store reports a failure
		for _, r := range list {
			take(r)
		}
	}
	text, err := home.ReadFile(filepath.Join(d.app.dir.Spool(), home.Receipts), home.MaxSpool)
	if err != nil {
		return seen, shown
	}
	for line := range strings.Lines(string(text)) {
		var r stillso.Receipt
		if json.Unmarshal([]byte(line), &r) == nil {
			take(r)
		}
	}
	return seen, shown
}

// maxArrival is how much of a transcript is looked through, in bytes.
const maxArrival = 256 << 20

// arrived looks for what a receipt says was shown in the transcript of its
// session: every host that was measured writes it there. A no is a remark, not a
// problem: the host may have written it elsewhere.
func (d *checkup) arrived(ctx context.Context, h assistant, r stillso.Receipt) string {
	if d.st == nil {
		return "unknown"
	}
	s, err := d.st.Session(ctx, r.Session)
	if err != nil || s.Transcript == "" {
		return "unknown" // not captured yet, or long ago
	}
	f, err := os.Open(s.Transcript) // #nosec G304 -- the transcript that the host named
	if err != nil {
		return "unknown"
	}
	defer f.Close() //nolint:errcheck // read only
	var ids [][]byte
	for _, hit := range r.Hits {
		if hit.Shown {
			ids = append(ids, []byte(hit.ID))
		}
	}
	if contains(io.LimitReader(f, maxArrival), ids) {
		return "yes"
	}
	d.health.add(h.name, note, "stillso why", "what was injected in session %s is not in its transcript: an old version of the host does not write it there, any other lost it", r.Session)
	return "no"
}

// contains reports whether one of the texts stands in what r holds, with bounded
// memory.
func contains(r io.Reader, texts [][]byte) bool {
	const piece = 1 << 20
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	buf := make([]byte, 0, piece+longest)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if slices.ContainsFunc(texts, func(t []byte) bool { return bytes.Contains(buf, t) }) {
			return true
		}
		if err != nil {
			return false
		}
		buf = append(buf[:0], buf[max(0, len(buf)-longest):]...)
	}
}
