package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"stillso"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

// ConflictFigures say how answers change as a store grows old: the questions are
// scored +1 for the right memory first, 0 for silence or a labelled wrong one, -1
// for a wrong memory that is shown as if it held.
type ConflictFigures struct {
	Sessions  int `json:"sessions"`
	Memories  int `json:"memories"`
	Questions int `json:"questions"`
	Score     int `json:"score"`
	// Unlabelled counts planted lies that were recalled without a label.
	Unlabelled int           `json:"lies_unlabelled"`
	Ages       []ConflictAge `json:"ages"`
	Kinds      []ConflictAge `json:"kinds"`
	Wrong      []string      `json:"wrong,omitempty"`
}

// ConflictAge is the part of some sessions, or of one kind of question.
type ConflictAge struct {
	Name      string `json:"name"`
	Questions int    `json:"questions"`
	Right     int    `json:"right"`
	Silent    int    `json:"silent"`
	Wrong     int    `json:"wrong"`
}

// Of returns the share of wrong answers, 0 to 1.
func (a ConflictAge) Of() float64 {
	if a.Questions == 0 {
		return 0
	}
	return float64(a.Wrong) / float64(a.Questions)
}

func (a *ConflictAge) add(score int) {
	a.Questions++
	switch {
	case score > 0:
		a.Right++
	case score < 0:
		a.Wrong++
	default:
		a.Silent++
	}
}

// conflictSessions is the length of the story; the shape is that of the MemConflict
// benchmark (arXiv 2605.20926): facts that change, lies that are planted,
// statements that hold under a condition, and much else beside.
const conflictSessions = 50

// subject is one thing that a session may speak of, with the values it can take.
type subject struct {
	// first, later and lie are forms with %s for the value; ask is the question.
	first, later, lie, ask string
	values                 []string
}

// services times attributes make the subjects.
var conflictServices = [...]string{"billing", "search", "login", "export", "mailer", "ledger", "upload", "report", "coupon", "tariff", "stock", "courier"}

var conflictForms = [...]subject{
	{"The %[1]s service listens on port %[2]s.", "The %[1]s service now listens on port %[2]s.", "Port %[2]s is where the %[1]s service listens.", "which port does the %[1]s service listen on?", []string{"5101", "5102", "6203", "6204", "7305", "7406"}},
	{"Backups of the %[1]s tables are kept %[2]s days.", "Backups of the %[1]s tables are now kept %[2]s days.", "We have kept backups of the %[1]s tables %[2]s days.", "how long do we keep backups of the %[1]s tables?", []string{"14", "21", "30", "45", "60", "90"}},
	{"The %[1]s deploy runs on %[2]s.", "The %[1]s deploy now runs on %[2]s.", "It is %[2]s when the %[1]s deploy runs.", "on which day does the %[1]s deploy run?", []string{"Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays"}},
	{"Alerts of the %[1]s queue go to the channel %[2]s.", "Alerts of the %[1]s queue now go to the channel %[2]s.", "The channel %[2]s is where alerts of the %[1]s queue go.", "where do alerts of the %[1]s queue go?", []string{"heron", "falcon", "osprey", "magpie", "plover", "bittern"}},
}

// conditional statements hold side by side.
var conflictCases = [...][3]string{
	{"The %s test timeout in the pipeline is 90 seconds.", "what is the %s test timeout in the pipeline?", "pipeline"},
	{"The %s test timeout on laptops is 20 seconds.", "what is the %s test timeout on laptops?", "laptops"},
}

// distractors speak of the same services and answer none of the questions.
var conflictNoise = [...]string{
	"Reviewers of the %s module want small pull requests.", "The %s diagrams live in the wiki of the platform team.", "The first prototype of the %s module was written in Perl.",
	"Somebody should rename the %s helpers one day.", "The %s fixtures are made by a script in tools.", "The %s dashboard shows errors in red.",
}

// fateOf is what is true of one subject at some time of the story.
type fateOf struct {
	form    int
	service string
	current string // id of the memory that holds
	value   int
	asked   string
	// stale are the memories that no longer hold, lies those that were planted, with
	// their values: one may come true later.
	stale map[string]bool
	lies  map[string]int
}

// lied reports whether a memory was planted and does not hold.
func (x *fateOf) lied(id string) bool {
	value, planted := x.lies[id]
	return planted && value != x.value
}

// Conflict plays the story with a seed, tidies after every session without a model,
// and asks about everything known after each of them.
func Conflict(ctx context.Context, seed uint64, now time.Time) (*ConflictFigures, error) {
	p := &conflictPlay{
		rng: rand.New(rand.NewPCG(seed, 7)), // #nosec G404 -- a story, not a secret
		w:   &world{}, f: &ConflictFigures{Sessions: conflictSessions}, now: now,
	}
	p.f.Ages = []ConflictAge{{Name: "sessions 1-5"}, {Name: "sessions 6-10"}, {Name: "sessions 11-45"}, {Name: "sessions 46-50"}}
	p.f.Kinds = []ConflictAge{{Name: "dynamic"}, {Name: "static"}, {Name: "conditional"}}
	for s := range conflictSessions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.w.now = now.AddDate(0, 0, 3*(s-conflictSessions))
		p.session(s)
		if err := p.w.tidy(ctx); err != nil {
			return nil, err
		}
		if err := p.ask(s); err != nil {
			return nil, err
		}
	}
	p.f.Memories = len(p.w.all)
	return p.f, nil
}

type conflictPlay struct {
	rng   *rand.Rand
	w     *world
	f     *ConflictFigures
	now   time.Time
	known []*fateOf
	cases []conditional
}

// conditional is a statement that holds in one case, and the one of the other.
type conditional struct{ id, other, asked string }

// say adds a memory of some origin, a minute after the last.
func (p *conflictPlay) say(origin stillso.Origin, format string, v ...any) *stillso.Memory {
	p.w.now = p.w.now.Add(time.Minute)
	return p.w.add(fmt.Sprintf(format, v...), origin, stillso.Fact)
}

// session tells what one session adds: a new fact, a change of an old one, a lie,
// now and then a statement under a condition, and noise.
func (p *conflictPlay) session(s int) {
	if s < len(conflictServices)*len(conflictForms) {
		form, service := s%len(conflictForms), conflictServices[s%len(conflictServices)]
		x := &fateOf{form: form, service: service, value: p.rng.IntN(6), stale: map[string]bool{}, lies: map[string]int{}}
		if !slices.ContainsFunc(p.known, func(y *fateOf) bool { return y.form == form && y.service == service }) {
			f := conflictForms[form]
			x.current = p.say(stillso.FromUser, f.first, service, f.values[x.value]).ID
			x.asked = fmt.Sprintf(f.ask, service)
			p.known = append(p.known, x)
		}
	}
	if s > 2 {
		x := p.known[p.rng.IntN(len(p.known)-1)]
		f := conflictForms[x.form]
		x.stale[x.current] = true
		x.value = (x.value + 1 + p.rng.IntN(4)) % 6
		x.current = p.say(stillso.FromUser, f.later, x.service, f.values[x.value]).ID
		delete(x.stale, x.current)
	}
	if s%2 == 1 {
		x := p.known[p.rng.IntN(len(p.known))]
		f := conflictForms[x.form]
		origin := []stillso.Origin{stillso.FromImport, stillso.FromInferred}[p.rng.IntN(2)]
		// Every second lie has the words of the truth, every other one its own order.
		lie, form := (x.value+5)%6, f.lie
		if s%4 == 1 {
			form = f.first + " " // the space keeps it apart from what was once true
		}
		x.lies[p.say(origin, form, x.service, f.values[lie]).ID] = lie
	}
	if s%5 == 0 && s/5 < len(conflictServices) {
		service := conflictServices[s/5]
		a := p.say(stillso.FromUser, conflictCases[0][0], service).ID
		b := p.say(stillso.FromUser, conflictCases[1][0], service).ID
		p.cases = append(p.cases, conditional{a, b, fmt.Sprintf(conflictCases[0][1], service)}, conditional{b, a, fmt.Sprintf(conflictCases[1][1], service)})
	}
	for range 4 {
		p.say(stillso.FromUser, conflictNoise[p.rng.IntN(len(conflictNoise))], conflictServices[p.rng.IntN(len(conflictServices))])
	}
}

// ask asks every question that the story knows an answer to, through the hook's
// code.
func (p *conflictPlay) ask(s int) error {
	age := &p.f.Ages[2]
	switch {
	case s < 5:
		age = &p.f.Ages[0]
	case s < 10:
		age = &p.f.Ages[1]
	case s >= conflictSessions-5:
		age = &p.f.Ages[3]
	}
	var all []*stillso.Memory
	for _, m := range p.w.all {
		if m.State == stillso.Active || m.State == stillso.Superseded {
			all = append(all, m)
		}
	}
	return withSnapshot(all, RecallOptions{Now: p.w.now}, func(snap *snapshot.Snapshot) error {
		hits := func(prompt string) []recall.Hit {
			return recall.Recall(snap, recall.Query{Prompt: prompt, Namespaces: []stillso.Namespace{EvalNamespace}, Host: "eval", Now: p.w.now}).Hits
		}
		note := func(kind int, score int, what string) {
			p.f.Questions++
			p.f.Score += score
			age.add(score)
			p.f.Kinds[kind].add(score)
			if score < 0 && len(p.f.Wrong) < 20 {
				p.f.Wrong = append(p.f.Wrong, fmt.Sprintf("session %d: %s", s+1, what))
			}
		}
		for _, x := range p.known {
			kind := 0
			if len(x.lies) > 0 {
				kind = 1
			}
			got := hits(x.asked)
			note(kind, x.score(got), x.asked+" "+contents(got))
			for _, h := range got {
				if x.lied(h.Doc.ID) && h.Doc.Label == "" {
					p.f.Unlabelled++
					if len(p.f.Wrong) < 20 {
						p.f.Wrong = append(p.f.Wrong, fmt.Sprintf("session %d, unlabelled: %s", s+1, contents(got)))
					}
				}
			}
		}
		for _, c := range p.cases {
			got := hits(c.asked)
			score := 0
			if len(got) > 0 && got[0].Doc.Label == "" {
				score = map[string]int{c.id: 1, c.other: -1}[got[0].Doc.ID]
			}
			note(2, score, c.asked+" "+contents(got))
		}
		return nil
	})
}

// score marks the first answer.
func (x *fateOf) score(got []recall.Hit) int {
	if len(got) == 0 {
		return 0
	}
	first := got[0].Doc
	switch {
	case first.ID == x.current:
		return 1
	case (x.stale[first.ID] || x.lied(first.ID)) && first.Label == "":
		return -1
	}
	return 0
}

func contents(hits []recall.Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, fmt.Sprintf("[%s] %s", h.Doc.Label, h.Doc.Content))
	}
	return strings.Join(list, " | ")
}
