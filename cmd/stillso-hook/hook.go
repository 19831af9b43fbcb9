package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/host"
	"stillso/internal/inject"
	"stillso/internal/namespace"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// hook is one call by a host.
type hook struct {
	start    time.Time
	hostName string
	event    string
	getenv   func(string) string
	read     func() ([]byte, bool)
	write    func([]byte) bool

	dir     home.Dir
	call    host.Call
	adapter adapter
	place   stillso.Place
}

// run does what the event asks for. Every return is silence.
func (h *hook) run() {
	if host.Suppressed(h.getenv) {
		return
	}
	var ok bool
	if h.adapter, ok = adapterOf(h.hostName); !ok || h.event != "" && !slices.Contains(host.Events(), h.event) {
		return
	}
	data, ok := h.read()
	if !ok {
		return
	}
	var err error
	if h.call, err = h.adapter.parse(h.event, data); err != nil {
		return
	}
	if h.dir, err = home.Locate(h.getenv); err != nil || h.dir.Check() != nil {
		return
	}
	if !h.recognise(data) || h.call.Subagent {
		return
	}
	h.event = h.call.Event
	switch h.event {
	case host.Prompt:
		h.prompt()
	case host.SessionStart:
		h.sessionStart()
	case host.PreTool:
		h.preTool()
	case host.TurnEnd, host.SessionEnd, host.PreCompact:
		h.compacting()
		h.findTranscript()
		h.queueCapture()
	}
}

// prompt recalls what the prompt needs. The last prompt's terms and the files at hand
// sharpen that.
func (h *hook) prompt() {
	if h.call.Prompt == "" || h.call.Machine {
		return
	}
	h.answer(func(snap *snapshot.Snapshot) answer {
		session, skip := h.session()
		o := recall.Recall(snap, recall.Query{
			Prompt: h.call.Prompt, PreviousTurn: strings.Join(session.Terms, " "), Files: session.Files,
			Namespaces: h.namespaces(), Host: h.hostName, Now: h.start, Skip: skip,
			Hints: string(snap.Constant(hintsKey)) == "on",
		})
		a := answer{receipt: o.Receipt}
		if a.text, a.remember.Shown = inject.Block(items(o.Hits), inject.Options{}); a.text == "" {
			a.text, a.remember.Shown = inject.Hint(items(o.Hints))
		}
		if terms := o.Receipt.Terms[:min(len(o.Receipt.Terms), sharpening)]; !slices.Equal(terms, session.Terms) {
			a.remember.Terms = terms
		}
		return a
	})
}

// sharpening is how many terms of a prompt, the most telling first, sharpen the next one.
const sharpening = 12

// hintsKey is the constant of a snapshot that switches hints on: "on".
const hintsKey = "inject.hints"

// sessionStart gives what a session begins with. After a compaction or a clear the
// model has forgotten what was injected, so that all of it may come again.
func (h *hook) sessionStart() {
	if h.call.Source == "compact" || h.call.Source == "clear" {
		h.dir.Forget(h.call.Session, h.start) //nolint:errcheck,gosec // then it is not injected again: no harm
	}
	h.answer(func(snap *snapshot.Snapshot) answer {
		_, skip := h.session()
		hits := recall.Start(snap, recall.Query{Namespaces: h.namespaces(), Host: h.hostName, Now: h.start, Skip: skip})
		hits = slices.DeleteFunc(hits, func(x recall.Hit) bool { return skip(x.Doc.ID) })
		var a answer
		a.text, a.remember.Shown = inject.Block(items(hits), inject.Options{
			Items: len(hits), Size: inject.MaxSize, Session: true,
			Bytes: limit(snap, bytesKey, inject.SessionBytes), Tokens: limit(snap, tokensKey, inject.SessionTokens),
		})
		for _, x := range hits {
			a.receipt.Hits = append(a.receipt.Hits, stillso.ReceiptHit{ID: x.Doc.ID, Shown: slices.Contains(a.remember.Shown, x.Doc.ID)})
		}
		if a.text == "" {
			a.receipt.Silence = "nothing to begin the session with"
		}
		return a
	})
	h.catchUp()
}

// The constants of a snapshot that bound what a session begins with, in digits.
const (
	bytesKey  = "profile.max_bytes"
	tokensKey = "profile.max_tokens"
)

// limit reads such a constant; one that is not there or makes no sense is the default.
func limit(snap *snapshot.Snapshot, key string, usual int) int {
	n, err := strconv.Atoi(string(snap.Constant(key)))
	if err != nil || n <= 0 {
		return usual
	}
	return n
}

// preTool recalls what is known about a file that is about to be read or changed.
func (h *hook) preTool() {
	switch h.call.Tool {
	case "Read", "Edit", "Write", "MultiEdit", "NotebookEdit":
	default:
		return
	}
	if h.call.ToolFile == "" {
		return
	}
	h.answer(func(snap *snapshot.Snapshot) answer {
		session, skip := h.session()
		o := recall.ForFile(snap, recall.FileQuery{
			Path: h.call.ToolFile, Namespaces: h.namespaces(), Host: h.hostName, Now: h.start, Skip: skip,
		})
		a := answer{receipt: o.Receipt, quiet: true}
		a.text, a.remember.Shown = inject.Block(items(o.Hits), inject.Options{})
		if !slices.Contains(session.Files, h.call.ToolFile) {
			a.remember.Files = []string{h.call.ToolFile}
		}
		return a
	})
}

// answer is what a recall comes to.
type answer struct {
	text     string
	remember home.Session
	receipt  stillso.Receipt
	// quiet answers leave no receipt of their silence: they are asked at every tool call.
	quiet bool
}

// answer opens the snapshot, asks it, and hands the text to the host. What was shown
// is remembered before it is printed, so that a killed hook repeats nothing.
func (h *hook) answer(ask func(*snapshot.Snapshot) answer) {
	snap, err := snapshot.Open(h.dir.String())
	if err != nil {
		h.orderRebuild(err)
		return
	}
	a := ask(snap)
	if err := snap.Err(); err != nil {
		h.orderRebuild(err)
		return
	}
	out := h.adapter.context(h.event, a.text)
	if len(out) == 0 {
		a.remember.Shown = nil
		h.dir.Remember(h.call.Session, a.remember, h.start) //nolint:errcheck,gosec // at worst the next prompt is less sharp
	} else if !h.claim(a.remember) || !h.write(out) {
		return
	}
	if len(out) > 0 || !a.quiet {
		h.receipt(a)
	}
	if snap.Delta() != nil {
		h.orderRebuild(snap.Delta())
	}
}

// namespaces are those whose memories may be shown here: the user's and the project's.
func (h *hook) namespaces() []stillso.Namespace {
	reg, _ := namespace.ReadRegistry(h.dir.Places()) // without it repositories are still told apart
	place, err := namespace.Resolve(h.call.Directory, reg)
	h.place = place
	if err != nil || place.Namespace == stillso.UserNamespace || place.Namespace == "" {
		h.place.Namespace = stillso.UserNamespace
		return []stillso.Namespace{stillso.UserNamespace}
	}
	return []stillso.Namespace{stillso.UserNamespace, place.Namespace}
}

// session reads what is remembered of this session, and returns what tells whether a
// memory was already shown in it.
func (h *hook) session() (home.Session, func(id string) bool) {
	s, _ := h.dir.Session(h.call.Session, h.start) // at worst something is shown again
	return s, func(id string) bool { return slices.Contains(s.Shown, id) }
}

func items(hits []recall.Hit) []inject.Item {
	list := make([]inject.Item, len(hits))
	for i, x := range hits {
		list[i] = inject.Item{
			ID: x.Doc.ID, Type: x.Doc.Type, Label: x.Doc.Label, Content: x.Doc.Content, Name: x.Doc.Name,
			Date: time.Unix(x.Doc.Updated, 0).UTC().Format(time.DateOnly),
		}
	}
	return list
}

// orderRebuild asks the sweep for a new snapshot where the one that stands cannot be
// used. A newer format is not ours to replace.
func (h *hook) orderRebuild(why error) {
	if errors.Is(why, stillso.ErrNewer) || !h.claimSweep(rebuildPause) {
		return
	}
	h.enqueue(stillso.QueueItem{Kind: "rebuild", Key: "snapshot", Payload: map[string]string{"reason": why.Error()}})
	h.startSweep()
}
