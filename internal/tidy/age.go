package tidy

import (
	"fmt"
	"regexp"
	"sync"
	"time"

	"stillso"
)

// The ages from which something is taken to be over, in days. An inferred memory
// has a half-life of 30 days in recall; after three of them it has had its chance.
const (
	day           = 24 * time.Hour
	inferredAge   = 90 * day
	habitAge      = 180 * day // an inferred rule that nobody confirmed
	eventAge      = 365 * day // an imported event
	todoAge       = 180 * day // a todo without a date
	todoGrace     = 14 * day  // after the date of a todo
	failingFor    = 30 * day  // a claim that fails for so long will not recover
	neverProposed = 7 * day   // what changed lately is left alone
)

// age retires what is over. What the user stated as a rule never decays.
func (p *pass) age() {
	for _, x := range p.live {
		if !x.alive() || x.m.Origin == stillso.FromFile {
			continue
		}
		p.one(x)
	}
}

func (p *pass) one(x *profile) {
	m := x.m
	idle := p.job.Now.Sub(p.lastSign(m))
	if idle < neverProposed {
		return
	}
	if p.job.FailingSince != nil && m.Unverified() != "" {
		if since := p.job.FailingSince(m); !since.IsZero() && p.job.Now.Sub(since) >= failingFor {
			outcome := stillso.Proposed
			if m.Origin == stillso.FromInferred {
				outcome = stillso.Applied
			}
			p.retire(x, outcome, 0.8, fmt.Sprintf("it fails since %s: %s", since.Format("2006-01-02"), m.Unverified()))
			return
		}
	}
	switch {
	case m.Type == stillso.Todo:
		if due, ok := due(m.Content); ok && p.job.Now.Sub(due) > todoGrace {
			p.retire(x, stillso.Applied, 0.9, "its date, "+due.Format("2006-01-02")+", is over")
		} else if !ok && idle > todoAge {
			p.retire(x, stillso.Proposed, 0.6, fmt.Sprintf("still to be done after %d days; is it?", int(idle/day)))
		}
	case m.Origin == stillso.FromInferred && !m.Type.Standing() && idle > inferredAge:
		p.retire(x, stillso.Applied, 0.8, fmt.Sprintf("inferred, and in %d days neither confirmed nor used", int(idle/day)))
	case m.Origin == stillso.FromInferred && m.Type.Standing() && idle > habitAge:
		p.retire(x, stillso.Proposed, 0.6, fmt.Sprintf("an inferred habit that nobody confirmed in %d days", int(idle/day)))
	case m.Origin == stillso.FromImport && m.Type == stillso.Event && idle > eventAge:
		p.retire(x, stillso.Proposed, 0.6, fmt.Sprintf("an event of long ago, not used in %d days", int(idle/day)))
	}
}

// lastSign is when a memory was last written, used, or found to hold.
func (p *pass) lastSign(m *stillso.Memory) time.Time {
	last := m.UpdatedAt
	if u := p.job.Used[m.ID]; u.After(last) {
		last = u
	}
	for _, c := range m.Claims {
		if c.Verdict == stillso.Holds && c.CheckedAt.After(last) {
			last = c.CheckedAt
		}
	}
	return last
}

var dueForms = sync.OnceValue(func() *regexp.Regexp {
	const date = `(20\d\d-(?:0[1-9]|1[0-2])-[0-3]\d)`
	return regexp.MustCompile(`(?i)(?:\b(?:by|until|till|before|due(?: on| date:?)?|deadline:?|no later than|expires?(?: on)?|not after)|截止(?:日期)?(?:到|为|是|:|：)?|最迟|不晚于|까지|期限[:：]?)\s*` + date +
		`|` + date + `\s*(?:之前|前|截止|到期|까지|まで)`)
})

// due returns until when something was to be done, the latest of several dates.
func due(content string) (time.Time, bool) {
	var last time.Time
	for _, m := range dueForms().FindAllStringSubmatch(content, 8) {
		for _, s := range m[1:] {
			if t, err := time.Parse("2006-01-02", s); err == nil && t.After(last) {
				last = t
			}
		}
	}
	return last, !last.IsZero()
}
