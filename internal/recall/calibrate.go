package recall

import (
	_ "embed" // the neutral prompts
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/snapshot"
	"stillso/internal/terms"
)

// neutral are prompts that any developer might type, written for this purpose in
// four languages: until the user has other projects, they stand for them.
//
//go:embed neutral.txt
var neutral string

// The constants of calibration. In a store that speaks too often, thresholds are
// raised until no more than foreignShare of the user's prompts of other projects
// would get something, but by no more than maxScale: a store about everything is
// the user's own choice. The neutral prompts are about programming as such, and
// meet a memory three times as often as real prompts of other projects do (measured
// on six stores), so more of them are allowed: neutralShare.
const (
	foreignShare = .03
	neutralShare = .08
	maxScale     = 1.6
	// maxProbes is how many of the user's own prompts are tried, the newest first.
	maxProbes = 300
	// minProbes is how many prompts a limit must rest on.
	minProbes = 30
)

// probe is one prompt that is tried on every project it does not belong to.
type probe struct {
	space stillso.Namespace // where it was typed; empty for a neutral one
	asked []Asked
	info  float64
}

// calibration collects, while memories are weighed, how strong the best of each
// namespace would be for each probe.
type calibration struct {
	probes []probe
	// uses lists for each term the probes that ask for it, with its place there.
	uses map[string][]use
	best map[stillso.Namespace][]strongest
	docs map[stillso.Namespace]int
}

type use struct{ probe, place int }

// strongest is the strength of the best memory with and without aliases.
type strongest [wordings]float64

// newCalibration prepares the probes.
func (m *Model) newCalibration(typed []typedPrompt) *calibration {
	c := &calibration{uses: map[string][]use{}, best: map[stillso.Namespace][]strongest{}, docs: map[stillso.Namespace]int{}}
	for line := range strings.Lines(neutral) {
		typed = append(typed, typedPrompt{"", strings.TrimSpace(line)})
	}
	for _, t := range typed {
		p := probe{space: t.space, asked: m.Formula.Ask(Clean(t.text), m.Language, m.Stats)}
		for i, a := range p.asked {
			p.info += a.Info
			c.uses[a.Term] = append(c.uses[a.Term], use{len(c.probes), i})
		}
		c.probes = append(c.probes, p)
	}
	return c
}

// add weighs one memory against all probes that share a word with it.
func (c *calibration) add(f *Formula, mem *stillso.Memory, postings []snapshot.Posting, general float64) {
	c.docs[mem.Namespace]++
	hit := map[int][]matchedTerm{}
	for _, p := range postings {
		for _, u := range c.uses[p.Term] {
			hit[u.probe] = append(hit[u.probe], matchedTerm{u.place, p})
		}
	}
	if len(hit) == 0 {
		return
	}
	best := c.best[mem.Namespace]
	if best == nil {
		best = make([]strongest, len(c.probes))
		c.best[mem.Namespace] = best
	}
	for i, list := range hit {
		if c.probes[i].space == mem.Namespace {
			continue
		}
		s, _ := f.Strength(c.probes[i].asked, evidenceOf(c.probes[i].asked, list), general)
		w := wordingOf(len(mem.Aliases) > 0, mem.Body != "")
		best[i][w] = max(best[i][w], s)
	}
}

type matchedTerm struct {
	place int
	p     snapshot.Posting
}

// evidenceOf is what the index would compute: the best passage's sum.
func evidenceOf(asked []Asked, list []matchedTerm) snapshot.Candidate {
	var c snapshot.Candidate
	var passages uint64
	for _, t := range list {
		c.Matched |= 1 << t.place
		c.L += asked[t.place].Weight * float64(t.p.I0) / 16
		passages |= t.p.Mask
	}
	base := c.L
	for ; passages != 0; passages &= passages - 1 {
		one := base
		for _, t := range list {
			if t.p.Mask&(passages&-passages) != 0 {
				one += asked[t.place].Weight * float64(t.p.I1-t.p.I0) / 16
			}
		}
		c.L = max(c.L, one)
	}
	return c
}

// scales returns by what each project's thresholds have to be raised. A project is
// searched together with what is true of the user everywhere.
func (c *calibration) scales(f *Formula) map[stillso.Namespace]float64 {
	out := map[stillso.Namespace]float64{}
	for space, n := range c.docs {
		if space != stillso.UserNamespace {
			n += c.docs[stillso.UserNamespace]
		}
		scale := max(c.scale(f, space, n, true, neutralShare), c.scale(f, space, n, false, foreignShare))
		if scale > 1 {
			out[space] = min(scale, maxScale)
		}
	}
	return out
}

// scale is by what the thresholds of a project of n memories have to be raised so
// that at most a share of the neutral or of the other typed prompts passes.
func (c *calibration) scale(f *Formula, space stillso.Namespace, n int, neutral bool, share float64) float64 {
	var ratios []float64
	for i, p := range c.probes {
		if (p.space == "") != neutral || p.space == space || len(p.asked) == 0 {
			continue
		}
		var r float64
		for _, s := range []stillso.Namespace{space, stillso.UserNamespace} {
			if b := c.best[s]; b != nil {
				for w, strength := range b[i] {
					r = max(r, strength/f.Threshold(n, wording(w)))
				}
			}
		}
		ratios = append(ratios, r)
	}
	if len(ratios) < minProbes {
		return 1
	}
	slices.Sort(ratios)
	return max(1, ratios[int(float64(len(ratios))*(1-share))])
}

// packScales writes scales as: hash of the namespace (8 bytes), scale in
// thousandths (2 bytes).
func packScales(scales map[stillso.Namespace]float64) []byte {
	var out []byte
	for space, s := range scales {
		out = binary.LittleEndian.AppendUint64(out, spaceHash(space))
		out = binary.LittleEndian.AppendUint16(out, uint16(math.Round(s*1000)))
	}
	return out
}

// scaleOf reads the scale for a search of these namespaces: the strictest of them.
func scaleOf(packed []byte, spaces []stillso.Namespace) float64 {
	scale := 1.0
	for ; len(packed) >= 10; packed = packed[10:] {
		h := binary.LittleEndian.Uint64(packed)
		for _, s := range spaces {
			if spaceHash(s) == h {
				scale = max(scale, min(float64(binary.LittleEndian.Uint16(packed[8:]))/1000, maxScale))
			}
		}
	}
	return scale
}

func spaceHash(s stillso.Namespace) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return bits.RotateLeft64(h, 17)
}

// typedPrompt is a prompt of the user and where it was typed.
type typedPrompt struct {
	space stillso.Namespace
	text  string
}

// hasTopic reports whether a text has a word that says something.
func hasTopic(list []terms.Term) bool {
	return slices.ContainsFunc(list, func(t terms.Term) bool { return !terms.Stop(t) && !smallNumber(t) })
}
