package capture

import (
	"fmt"
	"strings"
	"time"

	"stillso"
	"stillso/internal/redact"
)

// The limits of a window, in bytes. The whole stays far below what any model
// reads, since attention thins out long before; a session of hours fits into one
// or two.
const (
	DefaultLimit = 64 << 10
	maxTyped     = 16 << 10 // of one typed turn
	maxAssistant = 1200     // of one assistant's turn
	maxTool      = 160      // of one tool's output
	maxKnown     = 8        // existing memories shown
	// Of a long run of turns in which the user says nothing, the first and the
	// last are kept.
	runHead, runTail = 2, 5
	// lead is how many captured turns before the new ones are shown again.
	lead = 4
)

// Window is a part of a session as a model reads it.
type Window struct {
	Session string
	// Text holds no secret.
	Text string
	// ids are the turns shown, numbered from 1.
	ids []string
	// first and end bound the new turns, by their place in the session.
	first, end int
	known      []*stillso.Memory
	updates    []Update
	findings   bool
}

// Windows cuts the new turns of a session into windows, at turns. Windows in
// which nobody typed anything are left out.
func Windows(job *Job) []Window {
	var out []Window
	at := job.Session.Captured
	for at < len(job.Turns) {
		w, end := oneWindow(job, at)
		if w != nil {
			out = append(out, *w)
		} else if len(out) > 0 {
			out[len(out)-1].end = end
		}
		at = end
	}
	return out
}

// oneWindow builds the window that begins with turn first, and returns where it
// ends. It is nil if no turn of it was typed.
func oneWindow(job *Job, first int) (*Window, int) {
	w := &Window{Session: job.Session.ID, first: first, findings: job.Findings}
	var b strings.Builder
	typed := ""
	left := 0
	show := func(i int) bool {
		t := job.Turns[i]
		text := shorten(job.Turns, i)
		if text == "" {
			return true
		}
		if b.Len()+len(text)+80 > job.Limit && len(w.ids) > 0 && i > first {
			return false
		}
		if left > 0 {
			fmt.Fprintf(&b, "(%d turns of the assistant and its tools are left out here)\n\n", left)
			left = 0
		}
		w.ids = append(w.ids, t.ID)
		old := ""
		if i < first {
			old = ", captured before, context only"
		}
		fmt.Fprintf(&b, "[turn %d, %s%s]\n%s\n\n", len(w.ids), speakerName(t.Speaker), old, text)
		if t.Speaker == stillso.Typed && i >= first {
			typed += t.Text + "\n"
		}
		return true
	}
	for i := max(0, first-lead); i < first; i++ {
		show(i)
	}
	end := first
	for end < len(job.Turns) {
		if skippable(job.Turns, end, first) {
			left++
			end++
			continue
		}
		if !show(end) {
			break
		}
		end++
	}
	w.end = end
	if typed == "" {
		return nil, end
	}
	w.known = known(job, typed)
	w.Text, _ = redact.Text(heading(job, first) + listed(w.known) + "\n" + b.String())
	return w, end
}

// skippable reports whether turn i lies in the middle of a long run of turns that
// nobody typed.
func skippable(turns []stillso.Turn, i, first int) bool {
	if turns[i].Speaker == stillso.Typed {
		return false
	}
	for n := 1; n <= runHead; n++ {
		if i-n < first || turns[i-n].Speaker == stillso.Typed {
			return false
		}
	}
	for n := 1; n <= runTail; n++ {
		if i+n >= len(turns) || turns[i+n].Speaker == stillso.Typed {
			return false
		}
	}
	return true
}

func speakerName(s stillso.Speaker) string {
	switch s {
	case stillso.Typed:
		return "developer"
	case stillso.Assistant:
		return "assistant"
	}
	return "tool"
}

// shorten returns what is shown of turn i: all that a person typed within reason,
// beginning and end of what the assistant said, a line of a tool's output.
func shorten(turns []stillso.Turn, i int) string {
	t := turns[i]
	text := strings.TrimSpace(t.Text)
	switch t.Speaker {
	case stillso.Typed:
		text = unwrap(text)
		text = middle(text, maxTyped*5/8, maxTyped*3/8)
	case stillso.Assistant:
		if i+1 < len(turns) && turns[i+1].Speaker == stillso.Typed { // what is answered
			text = middle(text, maxAssistant, maxAssistant)
		} else {
			text = middle(text, maxAssistant/2, maxAssistant/2)
		}
	case stillso.Tool:
		text = middle(oneLine(cut(text, 4*maxTool)), maxTool, 0)
	default:
		return ""
	}
	// A text cannot pretend to be another turn.
	return strings.ReplaceAll(text, "[turn ", "(turn ")
}

// unwrap takes out of a typed text what a host or we ourselves put into it.
func unwrap(s string) string {
	spans := wrapped(s)
	if len(spans) == 0 {
		return s
	}
	b := []byte(s)
	for _, p := range spans {
		for i := p.start; i < p.end; i++ {
			b[i] = ' '
		}
	}
	return strings.TrimSpace(strings.Join(strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' }), "\n"))
}

// middle leaves out the middle of s beyond head and tail bytes.
func middle(s string, head, end int) string {
	if len(s) <= head+end+40 {
		return s
	}
	if end == 0 {
		return cut(s, head) + " …"
	}
	a, z := cut(s, head), tail(s, end)
	return fmt.Sprintf("%s\n(… %d bytes left out …)\n%s", a, len(s)-len(a)-len(z), z)
}

// heading is the first line of a window.
func heading(job *Job, first int) string {
	at := job.Now
	if t := job.Turns[first].At; !t.IsZero() {
		at = t
	}
	if at.IsZero() {
		return "Date: unknown\n"
	}
	return "Date: " + at.In(job.Location).Format("2006-01-02 (Monday)") + "\n"
}

// known returns the existing memories that share topics with what was typed,
// unconfirmed ones first.
func known(job *Job, typed string) []*stillso.Memory {
	list := job.near(tail(typed, 3000), 3*maxKnown, stillso.Active)
	var out []*stillso.Memory
	for _, inferred := range [...]bool{true, false} {
		for _, m := range list {
			if (m.Origin == stillso.FromInferred) == inferred && len(out) < maxKnown {
				out = append(out, m)
			}
		}
	}
	return out
}

// listed writes the existing memories for a model.
func listed(known []*stillso.Memory) string {
	if len(known) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Existing memories that share topics (do not propose them again):\n")
	for _, m := range known {
		label := string(m.Type)
		if m.Origin == stillso.FromInferred {
			label += ", unconfirmed"
		}
		fmt.Fprintf(&b, "- %s (%s, %s): %s\n", m.ID, label, m.UpdatedAt.Format(time.DateOnly), cut(oneLine(m.Content), 400))
	}
	return b.String()
}
