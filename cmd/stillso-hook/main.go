// Command stillso-hook is what an assistant calls at its events:
//
//	stillso-hook HOST EVENT < event.json
//
// A host that ignores the arguments in its settings, as Claude Code did before 2.1.139,
// calls it bare: then the host is taken to be Claude Code, and the event is the one that
// the document names.
//
// It prints one JSON document or nothing, writes nothing to stderr, and exits with 0
// within its own deadline, whatever happens: it stands between a person and a prompt.
// It reads the snapshot, opens no database, takes no lock and starts nothing but a
// detached `stillso sweep`. What is not linked into it cannot run: imports_test.go.
package main

import (
	"os"
	"runtime/debug"
	"time"
)

// deadline is how long the whole call may take. A prompt without memories is better
// than a prompt that waits.
const deadline = 150 * time.Millisecond

func main() {
	start := time.Now()
	time.AfterFunc(deadline, func() { os.Exit(0) })
	if hostName, event, ok := called(os.Args[1:]); ok {
		h := hook{start: start, hostName: hostName, event: event, getenv: os.Getenv, read: readInput, write: writeOutput}
		roomy(false)
		quietly(h.run)
	}
	os.Exit(0)
}

// roomy makes the stack large while there is little on it: growing it step by step
// under a search touches twenty fresh pages more.
//
//go:noinline
func roomy(use bool) byte {
	if !use {
		return 0
	}
	var room [48 << 10]byte
	return room[len(os.Args)]
}

// quietly keeps everything that goes wrong in run to itself.
func quietly(run func()) {
	defer func() { recover() }() //nolint:errcheck // whatever it is, the prompt goes on without us
	// A mapped file that is cut short or lies on a broken disk faults when it is
	// touched; that must not end in a crash.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	run()
}
