package verify

import (
	"cmp"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stillso"
)

// Options of a run.
type Options struct {
	// Sites returns where a namespace lives on this machine; a claim holds if it holds
	// at one of them, and fails if it fails at all.
	Sites func(stillso.Namespace) []Site
	// Network switches on the probes that ask other machines.
	Network bool
	// Env reads the environment of the person: PATH, and what their tools need.
	Env func(string) string
	Now time.Time
	// Limit is the largest number of claims that are checked; 0 is no limit.
	Limit int
	// Fresh and FreshNetwork are how old a check may be that is not repeated.
	Fresh, FreshNetwork time.Duration
	// Progress is told after every claim.
	Progress func(done, total int)

	web *web // of tests
}

// Checked is one claim and what its probe found.
type Checked struct {
	Memory string        `json:"memory"`
	Claim  stillso.Claim `json:"claim"`
	// Damped says that it failed once and is not labelled before it fails again.
	Damped bool `json:"damped,omitempty"`
	// MovedTo is where a path that is gone may lie now.
	MovedTo string `json:"moved_to,omitempty"`
}

// Report is what a run found.
type Report struct {
	Checked []Checked
	// Left counts the claims that the limit left for the next run.
	Left int
	// Off counts those whose probe asks other machines, which is switched off.
	Off int
}

// job is one claim to be checked.
type job struct {
	memory *stillso.Memory
	claim  stillso.Claim
	probe  Probe
	sites  []Site
	at     time.Time // last check
	mark   string    // of the file that was there
	held   bool      // it was seen to hold
	weak   bool      // it stands in the body of a long note alone
	beside bool      // it names a file that memories stand in
	answer Answer
	moved  string
}

// Run checks the claims of active memories: those that were checked longest ago
// first, cheap ones before dear ones, at most [Parallel] at once and [ProbeTime] each.
// What was found goes into state; Report lists it in the order of the memories.
func Run(ctx context.Context, memories []*stillso.Memory, state *State, o Options) (*Report, error) {
	r := &Report{}
	jobs := plan(memories, state, o, r)
	if err := runAll(ctx, jobs, o); err != nil {
		return nil, err
	}
	order := map[*stillso.Memory]int{}
	for i, m := range memories {
		order[m] = i
	}
	slices.SortStableFunc(jobs, func(a, b *job) int { return cmp.Compare(order[a.memory], order[b.memory]) })
	for _, j := range jobs {
		c := Checked{Memory: j.memory.ID, Claim: j.claim, MovedTo: j.moved}
		c.Claim.Verdict, c.Claim.Reason, c.Claim.CheckedAt = j.answer.verdict, j.answer.reason, o.Now
		c.Damped = state.note(j, o.Now)
		r.Checked = append(r.Checked, c)
	}
	return r, nil
}

// plan lists what is due, in the order in which it is to be done.
func plan(memories []*stillso.Memory, state *State, o Options, r *Report) []*job {
	var jobs []*job
	notes := map[string]bool{}
	for _, m := range memories {
		if m.File != nil {
			notes[filepath.Base(m.File.Path)] = true
		}
	}
	for _, m := range memories {
		if m.State != stillso.Active {
			continue
		}
		sites := o.Sites(m.Namespace)
		thin := weak(m)
		for _, c := range Claims(m) {
			p, ok := Find(c.Probe)
			if !ok || p.Project && len(sites) == 0 {
				continue
			}
			fresh := o.Fresh
			if p.Cost == Network {
				if !o.Network {
					r.Off++
					continue
				}
				fresh = o.FreshNetwork
			}
			at := state.checked(m.ID, c.ID)
			if !at.IsZero() && at.Add(fresh).After(o.Now) && !at.After(o.Now) {
				continue
			}
			j := &job{memory: m, claim: c, probe: p, sites: sites, at: at, weak: thin[c.ID], beside: notes[filepath.Base(c.Args[0])]}
			j.mark, j.held = state.past(m.ID, c.ID)
			jobs = append(jobs, j)
		}
	}
	slices.SortStableFunc(jobs, func(a, b *job) int {
		return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.probe.Cost, b.probe.Cost))
	})
	asked := map[string]int{}
	jobs = slices.DeleteFunc(jobs, func(j *job) bool {
		host := j.host()
		if host == "" {
			return false
		}
		asked[host]++
		if asked[host] > perHost {
			r.Left++
		}
		return asked[host] > perHost
	})
	if o.Limit > 0 && len(jobs) > o.Limit {
		r.Left += len(jobs) - o.Limit
		jobs = jobs[:o.Limit]
	}
	return jobs
}

// perHost is how often a run asks one machine at most.
const perHost = 5

// host is the machine that a web address names, "" for other claims.
func (j *job) host() string {
	if j.probe.Name != "url" {
		return ""
	}
	u, err := url.Parse(j.claim.Args[0])
	if err != nil {
		return ""
	}
	return u.Hostname()
}

func runAll(ctx context.Context, jobs []*job, o Options) error {
	tools := &toolbox{env: o.Env}
	looks := map[Site]*look{}
	w := o.web
	if w == nil {
		w = newWeb(public)
	}
	for _, j := range jobs {
		for _, s := range j.sites {
			if looks[s] == nil {
				tools.sites = append(tools.sites, s.Root)
				looks[s] = newLook(s, tools, w)
			}
		}
	}
	nowhere := newLook(Site{}, tools, w)
	defer func() {
		for _, l := range looks {
			l.close()
		}
	}()
	queue := make(chan *job)
	done := make(chan struct{})
	var all sync.WaitGroup
	for range Parallel {
		all.Go(func() {
			for j := range queue {
				j.do(ctx, looks, nowhere)
				done <- struct{}{}
			}
		})
	}
	go func() {
		defer close(queue)
		for _, j := range jobs {
			select {
			case queue <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	go func() { all.Wait(); close(done) }()
	n := 0
	for range done {
		if n++; o.Progress != nil {
			o.Progress(n, len(jobs))
		}
	}
	return ctx.Err()
}

// do asks the probe at every site of the memory's project until one says that the
// claim holds.
func (j *job) do(ctx context.Context, looks map[Site]*look, nowhere *look) {
	places := []*look{nowhere}
	if j.probe.Project {
		places = places[:0]
		for _, s := range j.sites {
			places = append(places, looks[s])
		}
	}
	for i, l := range places {
		a := j.ask(ctx, l)
		switch {
		case a.verdict == stillso.Holds:
			j.answer = a
			return
		case i == 0, j.answer.verdict == stillso.Fails && a.verdict == stillso.Unknown:
			j.answer = a
		}
	}
	switch a := &j.answer; {
	case a.verdict == stillso.Unknown && a.past != "" && j.held:
		*a = fails(a.past)
	case a.verdict == stillso.Fails && !j.held && j.weak:
		*a = unknown(a.reason + ", or was never here")
	case a.verdict == stillso.Fails && j.isNote():
		*a = holds("it is a file of memories")
	}
	if j.answer.verdict == stillso.Fails && (j.probe.Name == "path" || j.probe.Name == "file") {
		j.moved = places[0].moved(ctx, j.claim.Args[0], j.mark)
	}
}

// isNote reports whether a file that is not in the project is one that memories stand
// in, or lies beside the one of this memory: notes refer to each other.
func (j *job) isNote() bool {
	if j.probe.Name != "path" && j.probe.Name != "file" {
		return false
	}
	if j.beside || j.memory.File == nil || !filepath.IsAbs(j.memory.File.Path) {
		return j.beside && j.probe.Name == "file"
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(j.memory.File.Path), filepath.FromSlash(j.claim.Args[0])))
	return err == nil
}

// ask runs the probe once, in its time. A probe that does not come to an end says
// nothing.
func (j *job) ask(ctx context.Context, l *look) Answer {
	ctx, cancel := context.WithTimeout(ctx, ProbeTime)
	defer cancel()
	if err := Valid(j.claim); err != nil { // once more, at the last moment
		return unknown("it is not checked: " + err.Error())
	}
	found := make(chan Answer, 1)
	go func() { found <- j.probe.run(ctx, l, j.claim.Args) }()
	select {
	case a := <-found:
		if ctx.Err() == nil || a.verdict != stillso.Fails {
			return a
		}
	case <-ctx.Done(): // a disk that does not answer cannot be called back
	}
	return unknown("the probe took too long")
}

// ByPerson is the reason of a claim that a person confirmed although a probe says
// otherwise.
const ByPerson = "confirmed by a person"

// Settle returns the changes that follow from a report: one edit for each memory
// whose verdicts changed, none for what only was confirmed. A failing claim is
// written with its reason, which recall shows beside the memory; a later success
// clears it; what cannot be told changes nothing.
func Settle(memories []*stillso.Memory, r *Report, state *State, now time.Time) []stillso.Change {
	found := map[string]map[string]Checked{}
	for _, c := range r.Checked {
		if found[c.Memory] == nil {
			found[c.Memory] = map[string]Checked{}
		}
		found[c.Memory][c.Claim.ID] = c
	}
	var out []stillso.Change
	for _, m := range memories {
		if m.State != stillso.Active {
			continue
		}
		claims, why := settled(m, found[m.ID], state)
		if why == "" {
			continue
		}
		after := m.Clone()
		after.Claims = claims
		out = append(out, stillso.Change{
			ID: stillso.NewID(), Verb: stillso.VerbEdit, Outcome: stillso.Applied, Actor: stillso.Actor{Kind: stillso.Rule, Name: "verify"},
			Confidence: 1, Reason: why, Edits: []stillso.Edit{{Before: m, After: after}}, At: now,
		})
	}
	return out
}

// settled returns the claims of m with their new verdicts, and why they changed; no
// reason if none did.
func settled(m *stillso.Memory, found map[string]Checked, state *State) ([]stillso.Claim, string) {
	claims := Claims(m)
	var reasons []string
	for i := range claims {
		c := &claims[i]
		now, ok := found[c.ID]
		if !ok {
			continue
		}
		s := state.of(m.ID, c.ID)
		switch failing := c.Verdict == stillso.Fails; {
		case now.Claim.Verdict == stillso.Holds && failing:
			*c = now.Claim
			s.Labelled = false
			reasons = append(reasons, now.Claim.Reason)
		case now.Claim.Verdict == stillso.Holds:
			s.Labelled = false
			if c.Verdict != "" {
				c.Verdict, c.Reason, c.CheckedAt = stillso.Holds, now.Claim.Reason, now.Claim.CheckedAt
			}
		case now.Claim.Verdict != stillso.Fails || now.Damped:
		case failing && c.Reason == now.Claim.Reason:
			s.Labelled = true
		case s.Labelled && !failing:
			// A person took the label back; it comes again only after the claim held.
		default:
			*c = now.Claim
			s.Labelled = true
			reasons = append(reasons, now.Claim.Reason)
		}
	}
	for _, old := range m.Claims {
		gone := !slices.ContainsFunc(claims, func(c stillso.Claim) bool { return c.ID == old.ID })
		if gone && old.Verdict == stillso.Fails {
			reasons = append(reasons, "it does not claim any more that: "+says(old))
		}
	}
	if len(reasons) > 0 { // what is written anyway is written whole
		for i := range claims {
			if now, ok := found[claims[i].ID]; ok && claims[i].Verdict == "" && !now.Damped && now.Claim.Verdict != stillso.Fails {
				claims[i] = now.Claim
			}
		}
	}
	return claims, strings.Join(reasons, "; ")
}

// Confirm returns the edit of a person who says that a memory is right although
// claims of it fail; nil if none does. The label comes back only after the probe saw
// the claim hold and fail again.
func Confirm(m *stillso.Memory, state *State, now time.Time) *stillso.Memory {
	after := m.Clone()
	changed := false
	for i := range after.Claims {
		c := &after.Claims[i]
		if c.Verdict == stillso.Fails {
			c.Verdict, c.Reason, c.CheckedAt = stillso.Holds, ByPerson, now
			state.of(m.ID, c.ID).Labelled = true
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return after
}

// Moves returns what to propose for paths that moved: the same memory with the new
// path in the place of the old one. Nothing is applied without a human.
func Moves(m *stillso.Memory, r *Report) (*stillso.Memory, string) {
	after := m.Clone()
	var why []string
	for _, c := range r.Checked {
		if c.Memory != m.ID || c.MovedTo == "" || c.Damped || m.Origin == stillso.FromFile {
			continue
		}
		old, to := c.Claim.Args[0], c.MovedTo
		before := after.Clone()
		after.Content, after.Body = replacePath(after.Content, old, to), replacePath(after.Body, old, to)
		for i, f := range after.RelatedFiles {
			if f == old {
				after.RelatedFiles[i] = to
			}
		}
		if after.Equal(before) {
			continue
		}
		after.Claims = slices.DeleteFunc(after.Claims, func(x stillso.Claim) bool { return x.ID == c.Claim.ID })
		why = append(why, old+" lies at "+to+" now")
	}
	if len(why) == 0 {
		return nil, ""
	}
	return after, strings.Join(why, "; ")
}

// replacePath replaces a path where it stands as a whole.
func replacePath(s, old, to string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, old)
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		end := i + len(old)
		whole := (i == 0 || !pathByte(s[i-1])) && (end == len(s) || !pathByte(s[end]) || s[end] == '.' && (end+1 == len(s) || !isAlnum(s[end+1])))
		b.WriteString(s[:i])
		if whole {
			b.WriteString(to)
			if strings.HasSuffix(old, "/") {
				b.WriteByte('/')
			}
		} else {
			b.WriteString(old)
		}
		s = s[end:]
	}
}

func pathByte(c byte) bool { return isAlnum(c) || strings.IndexByte("._-/@+", c) >= 0 }
