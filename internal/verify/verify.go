// Package verify checks what memories claim against the world, by a fixed set of
// probes. Claims are drawn from a memory by rules; arguments are validated by type
// before a probe sees them, wherever they come from; no probe ever runs a shell, and
// none writes.
//
// What a probe may say is fixed by the type of its answer: an [Answer] can say that a
// claim fails, a [Sign] cannot. A missing path is false; a silent address is unknown.
package verify

import (
	"context"
	"sync"
	"time"

	"stillso"
)

// Answer is what a probe says whose evidence can show that a claim is false.
type Answer struct {
	verdict stillso.Verdict
	reason  string
	// mark identifies what was found, to know it again under another name.
	mark string
	// past is the reason with which an unknown claim fails if it held before: what was
	// never here may be about another project, what was here is gone.
	past string
}

// Sign is what a probe says that can find a sign of life and never proof of death:
// it has no way to say that a claim fails.
type Sign struct {
	seen   bool
	reason string
}

func holds(reason string) Answer   { return Answer{verdict: stillso.Holds, reason: reason} }
func fails(reason string) Answer   { return Answer{verdict: stillso.Fails, reason: reason} }
func unknown(reason string) Answer { return Answer{verdict: stillso.Unknown, reason: reason} }

func seen(reason string) Sign   { return Sign{seen: true, reason: reason} }
func noSign(reason string) Sign { return Sign{reason: reason} }

// answer is the verdict that a sign allows.
func (s Sign) answer() Answer {
	if s.seen {
		return holds(s.reason)
	}
	return unknown(s.reason)
}

// Cost says what running a probe takes; cheap ones go first.
type Cost int

// The costs.
const (
	Local   Cost = iota // reads files of the project
	Process             // starts a program of this machine, without network
	Network             // asks another machine; off until a person switches it on
)

// Probe is one way of checking a claim. Exactly one of decide and sense is set.
type Probe struct {
	Name string
	// Says what the claim means, with %s for each argument.
	Says string
	Args []Kind
	Cost Cost
	// Project probes need a directory of the memory's project to look into.
	Project bool

	decide func(context.Context, *look, []string) Answer
	sense  func(context.Context, *look, []string) Sign
}

// MayFail reports whether the probe's evidence can show that a claim is false.
func (p *Probe) MayFail() bool { return p.decide != nil }

func (p *Probe) run(ctx context.Context, l *look, args []string) Answer {
	if p.decide != nil {
		return p.decide(ctx, l, args)
	}
	return p.sense(ctx, l, args).answer()
}

// Probes returns the closed set of probes.
func Probes() []Probe {
	return []Probe{
		{Name: "path", Says: "path %s exists", Args: []Kind{Path}, Project: true, decide: pathExists},
		{Name: "file", Says: "a file named %s exists", Args: []Kind{FileName}, Project: true, decide: fileExists},
		{Name: "text", Says: "%s contains %s", Args: []Kind{Path, Text}, Project: true, decide: hasText},
		{Name: "symbol", Says: "%s defines %s", Args: []Kind{Path, Symbol}, Project: true, decide: definesSymbol},
		{Name: "lines", Says: "%s has %s lines", Args: []Kind{Path, Count}, Project: true, decide: countLines},
		{Name: "matches", Says: "%s contains %s %s times", Args: []Kind{Path, Text, Count}, Project: true, decide: countMatches},
		{Name: "branch", Says: "branch %s exists", Args: []Kind{Ref}, Project: true, decide: branchExists},
		{Name: "tag", Says: "tag %s exists", Args: []Kind{Ref}, Project: true, decide: tagExists},
		{Name: "commit", Says: "commit %s exists", Args: []Kind{Commit}, Cost: Process, Project: true, sense: commitExists},
		{Name: "dependency", Says: "a manifest lists %s", Args: []Kind{Package}, Project: true, decide: dependencyListed},
		{Name: "version", Says: "a manifest lists %s %s", Args: []Kind{Package, Version}, Project: true, decide: versionListed},
		{Name: "target", Says: "make target %s exists", Args: []Kind{Target}, Project: true, decide: targetExists},
		{Name: "script", Says: "npm script %s exists", Args: []Kind{Target}, Project: true, decide: scriptExists},
		{Name: "command", Says: "command %s is installed", Args: []Kind{Command}, sense: commandExists},
		{Name: "env", Says: "%s is declared or used", Args: []Kind{EnvName}, Project: true, sense: envUsed},
		{Name: "dotenv", Says: "%[2]s declares %[1]s", Args: []Kind{EnvName, Path}, Project: true, decide: envDeclared},
		{Name: "secret", Says: "secret %s is declared", Args: []Kind{EnvName}, Cost: Network, Project: true, sense: secretDeclared},
		{Name: "merged", Says: "pull request %s#%s is merged", Args: []Kind{Repository, Number}, Cost: Network, Project: true, sense: pullMerged},
		{Name: "visibility", Says: "repository %s is %s", Args: []Kind{Repository, Visibility}, Cost: Network, Project: true, decide: visibilityIs},
		{Name: "instance", Says: "cloud instance %s exists", Args: []Kind{Instance}, Cost: Network, sense: instanceExists},
		{Name: "url", Says: "%s answers", Args: []Kind{URL}, Cost: Network, sense: urlAlive},
	}
}

// registry is the set by name, made once.
var registry = sync.OnceValue(func() map[string]Probe {
	out := map[string]Probe{}
	for _, p := range Probes() {
		out[p.Name] = p
	}
	return out
})

// Find returns the probe of that name.
func Find(name string) (Probe, bool) {
	p, ok := registry()[name]
	return p, ok
}

// The bounds of a run.
const (
	// MaxClaims bounds the claims of one memory that are checked.
	MaxClaims = 20
	// ProbeTime bounds one probe.
	ProbeTime = 2 * time.Second
	// Parallel is how many probes run at once.
	Parallel = 8
)
