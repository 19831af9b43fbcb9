package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2/maybe"

	"stillso"
	"stillso/internal/namespace"
	"stillso/internal/verify"
)

// verifyCmd checks what memories claim.
type verifyCmd struct {
	ID      []string `arg:"" optional:"" help:"The memories; else those of this project and yours."`
	All     bool     `short:"a" help:"Every namespace."`
	Confirm bool     `help:"Say yourself that these memories are right: their labels go."`
	Network *bool    `help:"Also ask other machines (or do not), whatever config.toml says." negatable:""`
	Dir     string   `help:"Act as if in this directory." type:"path"`
}

// Help shows examples.
func (verifyCmd) Help() string {
	return `A memory is a claim. The parts that can be checked (paths, branches, tags, commits,
versions, make targets, scripts, variables, addresses) are checked by a fixed set of
probes, which never run a shell and write nothing. A memory with a failing claim is
shown as unverified until the claim holds again. What cannot be told changes nothing.
Probes that ask other machines are off until verify.network = true in config.toml.

Examples:
  stillso verify
  stillso verify k3v9
  stillso verify --all --network
  stillso verify --confirm k3v9     it is right although a probe says otherwise`
}

// verified is what verify found.
type verified struct {
	Memories int           `json:"memories"`
	Claims   []claimResult `json:"claims"`
	Holds    int           `json:"holds"`
	Fails    int           `json:"fails"`
	Unknown  int           `json:"unknown"`
	// Off counts the claims that only other machines could tell.
	Off       int      `json:"network_off,omitempty"`
	Left      int      `json:"left,omitempty"`
	Labelled  []string `json:"labelled"`
	Cleared   []string `json:"cleared"`
	Confirmed []string `json:"confirmed,omitempty"`
	// Proposed are the changes with the new path of what moved.
	Proposed []string `json:"proposed,omitempty"`
	Batch    string   `json:"batch,omitempty"`
	Millis   int64    `json:"ms"`
	asked    bool     // whether to confirm
	whole    bool     // show what holds, too
}

// claimResult is one claim and what was found.
type claimResult struct {
	Memory  string          `json:"memory"`
	Probe   string          `json:"probe"`
	Args    []string        `json:"args"`
	Claim   string          `json:"claim"`
	Verdict stillso.Verdict `json:"verdict"`
	Reason  string          `json:"reason,omitempty"`
	// Once says that it failed for the first time, which may be a bad line.
	Once bool `json:"once,omitempty"`
}

func (c *verifyCmd) run(ctx context.Context, a *app) (summary, error) {
	list, err := c.memories(ctx, a)
	if err != nil {
		return nil, err
	}
	if c.Confirm {
		if len(c.ID) == 0 {
			return nil, usagef("nothing was confirmed: say which; give the ids of the memories that are right")
		}
		return a.confirm(ctx, list)
	}
	conf, err := a.config()
	if err != nil {
		return nil, err
	}
	network := conf.Verify.Network
	if c.Network != nil {
		network = *c.Network
	}
	p := newProgress(a)
	defer p.clear()
	sum, err := a.verify(ctx, list, c.All && len(c.ID) == 0, verify.Options{
		Network: network, Sites: a.sites(c.Dir),
		Progress: func(done, total int) { p.show("claim %d of %d", done, total) },
	})
	if err != nil {
		return nil, err
	}
	sum.whole = len(c.ID) > 0
	return sum, nil
}

func (c *verifyCmd) memories(ctx context.Context, a *app) ([]*stillso.Memory, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	if len(c.ID) > 0 {
		var list []*stillso.Memory
		for _, id := range c.ID {
			m, err := a.find(ctx, id)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(list, func(o *stillso.Memory) bool { return o.ID == m.ID }) {
				list = append(list, m)
			}
		}
		return list, nil
	}
	f := stillso.Filter{States: []stillso.State{stillso.Active}}
	if !c.All {
		if f.Namespaces, err = a.readNamespaces("project", c.Dir); err != nil {
			return nil, err
		}
	}
	return st.Memories(ctx, f)
}

// claimsFile is where the dates of checks are kept.
func (a *app) claimsFile() string { return filepath.Join(a.dir.String(), "claims.json") }

func (a *app) writeClaims(s *verify.State) error {
	data, err := s.Bytes()
	if err == nil {
		err = maybe.WriteFile(a.claimsFile(), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write when claims were checked: %w", err)
	}
	return nil
}

// sites returns where a namespace lives on this machine: the directory that the
// person is in first, then the places that are known and still there.
func (a *app) sites(dir string) func(stillso.Namespace) []verify.Site {
	reg, _ := namespace.ReadRegistry(a.dir.Places()) // without it the present directory serves
	places := reg.Places()
	slices.Reverse(places) // seen last first
	if pl, err := a.place(a.directory(dir)); err == nil {
		places = append([]stillso.Place{pl}, places...)
	}
	return func(ns stillso.Namespace) []verify.Site {
		if ns == stillso.UserNamespace {
			return nil
		}
		var out []verify.Site
		for _, pl := range places {
			same := func(s verify.Site) bool { return s.Root == pl.Root }
			if pl.Namespace != ns || pl.Root == "" || slices.ContainsFunc(out, same) {
				continue
			}
			if info, err := os.Stat(pl.Root); err == nil && info.IsDir() {
				out = append(out, verify.Site{Root: pl.Root, GitDir: pl.GitDir, Remote: pl.Remote})
			}
		}
		return out
	}
}

// verify checks memories and applies what follows: labels, and proposals for what
// moved. A memory that somebody else changed meanwhile is left for the next run. whole
// says that the list is all active memories: dates of others are forgotten.
func (a *app) verify(ctx context.Context, list []*stillso.Memory, whole bool, o verify.Options) (*verified, error) {
	state, err := verify.ReadState(a.claimsFile())
	if err != nil {
		return nil, err
	}
	if whole {
		active := map[string]bool{}
		for _, m := range list {
			active[m.ID] = true
		}
		state.Keep(func(id string) bool { return active[id] })
	}
	begin := a.now()
	o.Env, o.Now = a.std.env, begin
	report, err := verify.Run(ctx, list, state, o)
	if err != nil {
		return nil, err
	}
	sum := summed(report)
	changes := verify.Settle(list, report, state, begin)
	batch := stillso.NewID()
	for i := range changes {
		changes[i].Batch = batch
	}
	done, err := a.applyEach(ctx, changes)
	if err != nil {
		return nil, err
	}
	for _, ch := range done {
		if e := ch.Edits[0]; e.After.Unverified() != "" {
			sum.Labelled = append(sum.Labelled, e.MemoryID())
		} else {
			sum.Cleared = append(sum.Cleared, e.MemoryID())
		}
		sum.Batch = batch
	}
	if sum.Proposed, err = a.proposeMoves(ctx, report); err != nil {
		return nil, err
	}
	sum.Millis = a.now().Sub(begin).Milliseconds()
	return sum, a.writeClaims(state)
}

func summed(r *verify.Report) *verified {
	sum := &verified{Off: r.Off, Left: r.Left, Claims: []claimResult{}, Labelled: []string{}, Cleared: []string{}}
	last := ""
	for _, c := range r.Checked {
		if c.Memory != last {
			sum.Memories++
			last = c.Memory
		}
		switch c.Claim.Verdict {
		case stillso.Holds:
			sum.Holds++
		case stillso.Fails:
			sum.Fails++
		default:
			sum.Unknown++
		}
		sum.Claims = append(sum.Claims, claimResult{
			Memory: c.Memory, Probe: c.Claim.Probe, Args: c.Claim.Args, Claim: verify.Says(c.Claim),
			Verdict: c.Claim.Verdict, Reason: c.Claim.Reason, Once: c.Damped,
		})
	}
	return sum
}

// applyEach applies independent changes: all at once, or one by one where a memory
// was changed meanwhile, leaving those out.
func (a *app) applyEach(ctx context.Context, changes []stillso.Change) ([]stillso.Change, error) {
	if len(changes) == 0 {
		return nil, nil
	}
	done, err := a.apply(ctx, changes...)
	if !errors.Is(err, stillso.ErrConflict) {
		return done, err
	}
	for _, ch := range changes {
		one, err := a.apply(ctx, ch)
		if err != nil && !errors.Is(err, stillso.ErrConflict) {
			return done, err
		}
		done = append(done, one...)
	}
	return done, nil
}

// proposeMoves proposes the new path of what moved, once: what waits or was refused
// is not proposed again.
func (a *app) proposeMoves(ctx context.Context, r *verify.Report) ([]string, error) {
	var ids, out []string
	for _, c := range r.Checked {
		if c.MovedTo != "" && !slices.Contains(ids, c.Memory) {
			ids = append(ids, c.Memory)
		}
	}
	for _, id := range ids {
		m, err := a.opened.Memory(ctx, id)
		if err != nil {
			return out, err
		}
		after, why := verify.Moves(m, r)
		if after == nil || m.Unverified() == "" {
			continue
		}
		old, err := a.opened.Journal(ctx, stillso.JournalFilter{MemoryID: id, Outcomes: []stillso.Outcome{stillso.Proposed, stillso.Refused}})
		if err != nil {
			return out, err
		}
		if slices.ContainsFunc(old, func(c stillso.Change) bool { return c.Reason == why }) {
			continue
		}
		ch := a.change(stillso.VerbEdit, stillso.Actor{Kind: stillso.Rule, Name: "verify"}, stillso.Edit{Before: m, After: after})
		ch.Outcome, ch.Confidence, ch.Reason = stillso.Proposed, 0.8, why
		done, err := a.apply(ctx, ch)
		if err != nil {
			return out, err
		}
		out = append(out, done[0].ID)
	}
	return out, nil
}

// confirm takes the labels of memories away because a person says so.
func (a *app) confirm(ctx context.Context, list []*stillso.Memory) (summary, error) {
	state, err := verify.ReadState(a.claimsFile())
	if err != nil {
		return nil, err
	}
	sum := &verified{Memories: len(list), Claims: []claimResult{}, Labelled: []string{}, Cleared: []string{}, Batch: stillso.NewID(), asked: true}
	var changes []stillso.Change
	for _, m := range list {
		after := verify.Confirm(m, state, a.now())
		if after == nil {
			continue
		}
		ch := a.humanChange(stillso.VerbEdit, "verify", stillso.Edit{Before: m, After: after})
		ch.Reason, ch.Batch = verify.ByPerson, sum.Batch
		changes = append(changes, ch)
		sum.Confirmed = append(sum.Confirmed, m.ID)
	}
	if len(changes) == 0 {
		sum.Batch = ""
		return sum, nil
	}
	if _, err := a.apply(ctx, changes...); err != nil {
		return nil, err
	}
	return sum, a.writeClaims(state)
}

func (v *verified) text(p *page) {
	if len(v.Claims) == 0 {
		v.nothing(p)
		return
	}
	var rows [][]string
	for _, c := range v.Claims {
		if c.Verdict == stillso.Holds && !v.whole {
			continue
		}
		why := c.Reason
		if c.Once {
			why += " (seen once; labelled if it is so again)"
		}
		rows = append(rows, []string{c.Memory, string(c.Verdict), c.Claim, why})
	}
	if len(rows) > 0 {
		p.table([]string{"memory", "verdict", "claim", "what was seen"}, rows)
		p.printf("\n")
	}
	p.printf("%s of %s: %d hold, %d fail, %d unknown  %s\n", plural(len(v.Claims), "claim", "claims"), plural(v.Memories, "memory", "memories"),
		v.Holds, v.Fails, v.Unknown, p.faint(fmt.Sprintf("%d ms", v.Millis)))
	if v.Off > 0 {
		p.printf("%s\n", p.faint(plural(v.Off, "claim needs", "claims need")+" the network: --network asks now, verify.network = true in config.toml always"))
	}
	if n := len(v.Labelled); n > 0 {
		p.printf("%s labelled unverified: %s\n", plural(n, "memory is", "memories are"), strings.Join(v.Labelled, ", "))
	}
	if n := len(v.Cleared); n > 0 {
		p.printf("%s no longer labelled: %s\n", plural(n, "memory is", "memories are"), strings.Join(v.Cleared, ", "))
	}
	if n := len(v.Proposed); n > 0 {
		p.printf("%s for what moved; stillso review shows them\n", plural(n, "correction waits", "corrections wait"))
	}
	if v.Batch != "" {
		p.printf("%s\n", p.faint("take it back: stillso undo --batch "+v.Batch+"; right although it fails: stillso verify --confirm ID"))
	}
}

func (v *verified) nothing(p *page) {
	switch {
	case len(v.Confirmed) > 0:
		p.printf("confirmed %v: no longer labelled\n", v.Confirmed)
		p.printf("%s\n", p.faint("take it back: stillso undo --batch "+v.Batch))
	case v.asked:
		p.printf("nothing to confirm: no claim of these memories fails\n")
	case v.Off > 0:
		p.printf("%s the network: --network asks now\n", plural(v.Off, "claim needs", "claims need"))
	default:
		p.printf("nothing to check: these memories claim nothing that a probe knows\n")
	}
}

func (v *verified) exitCode() int {
	if v.Fails > 0 {
		return exitProblems
	}
	return exitOK
}

// The bounds of a sweep: so many claims, none that was checked a moment ago.
const (
	claimsPerSweep  = 400
	verifyPause     = 30 * time.Minute
	freshForSweep   = 6 * time.Hour
	freshForNetwork = 3 * 24 * time.Hour
)

// upkeep checks what memories claim, those first that were not checked for longest,
// then fits the profile; after a pause, for sweeps follow each other closely.
func (s *sweeper) upkeep(ctx context.Context) error {
	info, err := os.Stat(s.app.claimsFile())
	if age := s.app.now().Sub(modTime(info)); err == nil && age >= 0 && age < verifyPause {
		return nil
	}
	conf, err := s.app.config()
	if err != nil {
		return err
	}
	list, err := s.app.opened.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active}})
	if err != nil || len(list) == 0 {
		return err
	}
	if err := s.profile(ctx); err != nil {
		return err
	}
	if list, err = s.app.opened.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active}}); err != nil {
		return err
	}
	got, err := s.app.verify(ctx, list, true, verify.Options{
		Network: conf.Verify.Network, Sites: s.app.sites(s.app.dir.String()),
		Limit: claimsPerSweep, Fresh: freshForSweep, FreshNetwork: freshForNetwork,
	})
	if got != nil {
		s.sum.Claims += len(got.Claims)
		s.sum.Labels += len(got.Labelled) + len(got.Cleared)
		if len(got.Claims) > 0 {
			s.log.Info("verified", "claims", len(got.Claims), "labelled", len(got.Labelled), "cleared", len(got.Cleared), "proposed", len(got.Proposed), "left", got.Left)
		}
	}
	return err
}

func modTime(info os.FileInfo) time.Time {
	if info == nil {
		return time.Time{}
	}
	return info.ModTime()
}

// claims says how many memories fail, and how old the checks are.
func (d *checkup) claims(ctx context.Context) {
	if d.st == nil {
		return
	}
	ms, err := d.st.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active}})
	if err != nil {
		return
	}
	state, err := verify.ReadState(d.app.claimsFile())
	if err != nil {
		d.health.add("claims", problem, "", "%v", err)
		return
	}
	claims, never, oldest := state.Due(ms)
	if claims == 0 {
		return
	}
	broken := 0
	for _, m := range ms {
		if m.Unverified() != "" {
			broken++
		}
	}
	detail := fmt.Sprintf("%s, %d never checked", plural(claims, "claim that can be checked", "claims that can be checked"), never)
	if !oldest.IsZero() {
		detail += ", the oldest check " + ago(d.app.now(), oldest)
	}
	if broken > 0 {
		d.health.add("claims", note, "stillso verify --all shows them; stillso verify --confirm ID if one is right", "%s; %s", detail, plural(broken, "memory is unverified", "memories are unverified"))
		return
	}
	d.health.add("claims", fine, "", "%s", detail)
}
