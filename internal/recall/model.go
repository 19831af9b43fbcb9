package recall

import (
	"math"

	"stillso"
	"stillso/internal/background"
	"stillso/internal/snapshot"
	"stillso/internal/terms"
)

// The keys of the constants that recall keeps in a snapshot.
const (
	keyLearnt = "recall.learnt" // a packed background table
	keyLimits = "recall.limits" // calibrated lower limits of the thresholds
)

// Language is the background in use: what developers say, joined with what this
// user says in all projects. Where neither knows a script, the store's own texts
// stand in, so that every word of an unknown language is not taken for rare.
type Language struct {
	shipped, learnt background.Table
	// strange are the scripts that the shipped table does not know.
	strange scripts
}

// scripts is a set of scripts, one bit each.
type scripts uint8

func (s scripts) has(x terms.Script) bool { return s&(1<<x) != 0 }

// unshipped are the scripts that the shipped table has no language of.
const unshipped scripts = 1 << terms.OtherScript

// ownWeight is how much more a prompt of this very user counts than a text of
// developers in general.
const ownWeight = 2

// strangeShare is the share of an unknown word of a script that the background
// does not know. Measured with Chinese taken out: without it foreign injection
// rises from 2 to 23 of 136.
const strangeShare = .0005

// strangeUnits is the share of the store's own rate that such a word is given.
const strangeUnits = .35

// Share implements Background. What was learnt is final; a term that the user never
// said is a little rarer for it.
func (l *Language) Share(term string) (float64, bool) {
	if o, own := l.learnt.Share(term); own {
		return o, true
	}
	if l.strange.has(terms.ScriptOf(term)) {
		return 0, false
	}
	s, known := l.shipped.Share(term)
	return s * l.silence(), known
}

// silence is the weight of the shipped table beside what the user said.
func (l *Language) silence() float64 {
	return l.shipped.Texts / (l.shipped.Texts + ownWeight*l.learnt.Texts)
}

// Smallest implements Background.
func (l *Language) Smallest(s terms.Script) float64 {
	if l.strange.has(s) {
		return strangeShare
	}
	return .5 / (l.shipped.Texts + ownWeight*l.learnt.Texts + 1)
}

// Model is all that weighing a memory rests on: the formula, the background and
// the store's own frequencies. The postings of one memory can be computed from it
// at any time; a delta uses the model of its base.
type Model struct {
	Formula  Formula
	Language *Language
	Stats    Stats
	learnt   []byte
	limits   []byte
	// calibration is at work while a base is built.
	calibration *calibration
}

// keyStrange holds the set of unknown scripts, where it is not the usual one.
const keyStrange = "recall.strange"

// Learner collects a Model: first all memories, then the prompts that the user
// typed in any project.
type Learner struct {
	docs    int
	df      map[string]int
	units   float64
	spread  map[string]spread
	prompts float64
	said    map[string]float64
	typed   []typedPrompt // the newest, to calibrate with
	unknown scripts
}

// NewLearner returns an empty Learner.
func NewLearner() *Learner {
	return &Learner{df: map[string]int{}, spread: map[string]spread{}, said: map[string]float64{}, unknown: unshipped}
}

// Forget makes the learner treat a script as one that the shipped table does not
// know. It is for measuring what happens to languages nobody has counted.
func (l *Learner) Forget(s terms.Script) { l.unknown |= 1 << s }

// Memory counts one memory that will be in the snapshot.
func (l *Learner) Memory(m *stillso.Memory) {
	l.docs++
	p := split(m)
	units := map[string]float64{} // of this memory, with each of its terms
	for _, list := range [][]part{{p.title}, p.aliases, p.passages} {
		for _, x := range list {
			l.units++
			for t := range x.count {
				units[t]++
			}
		}
	}
	for t, n := range units {
		l.df[t]++
		o := l.spread[t]
		l.spread[t] = spread{o.units + n, max(o.most, n)}
	}
}

// spread is in how many units of the store a term stands, and in how many of the
// memory that has the most.
type spread struct{ units, most float64 }

// Prompt counts one prompt that the user typed, in whichever project; the newest
// come first. A project's thresholds are tried on those of the others.
func (l *Learner) Prompt(space stillso.Namespace, text string) {
	l.prompts++
	list := terms.Analyze(Clean(text))
	if len(l.typed) < maxProbes && space != "" && space != stillso.UserNamespace && hasTopic(list) {
		l.typed = append(l.typed, typedPrompt{space, text})
	}
	seen := map[string]bool{}
	for _, t := range list {
		if !seen[t.Text] && !terms.Stop(t) {
			seen[t.Text] = true
			l.said[t.Text]++
		}
	}
}

// Model returns what was learnt.
func (l *Learner) Model() *Model {
	m := &Model{
		Formula:  Default(),
		Language: &Language{shipped: background.Shipped(), strange: l.unknown},
		Stats:    &frequencies{l.docs, l.df},
	}
	if shares := l.shares(m.Language.shipped); len(shares) > 0 {
		m.learnt = background.Pack(shares, uint32(min(l.prompts, math.MaxUint32)))
		m.Language.learnt, _ = background.Open(string(m.learnt)) // just packed
	}
	m.calibration = m.newCalibration(l.typed)
	return m
}

// shares joins the shipped table with what the user said, and with what the store
// itself says in a language that the table does not know.
func (l *Learner) shares(shipped background.Table) map[string]float64 {
	out := map[string]float64{}
	n, own := shipped.Texts, ownWeight*l.prompts
	for t, said := range l.said {
		s, known := shipped.Share(t)
		if !known {
			s = .5 / (n + 1)
		}
		out[t] = (n*s + own*said/l.prompts) / (n + own)
	}
	for t, u := range l.spread {
		strange := l.unknown.has(terms.ScriptOf(t))
		if _, known := shipped.Share(t); known && !strange {
			continue
		}
		// What one memory says again and again is its topic; what others say as well
		// is the language.
		others := (u.units - u.most) / (l.units + 20)
		s := strangeUnits * others
		switch {
		case strange:
			s = max(s, strangeShare)
		case others < functionWord:
			continue // a word of the project, not of a language
		}
		if s > smallestUnits {
			out[t] = max(out[t], s)
		}
	}
	return out
}

// functionWord is the share of the store's texts from which on a word that no table
// knows is taken for grammar: the store is in a language that nobody counted, such
// as Italian or Turkish. Names of a project stay below.
const functionWord = .2

// smallestUnits keeps the table of learnt terms small: rarer ones are rare anyway.
const smallestUnits = .0003

// Constants are what a snapshot built with this model has to carry.
func (m *Model) Constants() map[string][]byte {
	c := map[string][]byte{keyLearnt: m.learnt}
	if s := m.Language.strange; s != unshipped {
		c[keyStrange] = []byte{byte(s)}
	}
	return c
}

// Index returns the record of a memory in the snapshot and its postings, as
// snapshot.Builder.Add takes them.
func (m *Model) Index(mem *stillso.Memory) (snapshot.Doc, []snapshot.Posting) {
	postings := m.Formula.Postings(mem, m.Language, m.Stats)
	d := Doc(mem)
	general := Generality(postings, m.Language)
	d.Numbers = packGenerality(general)
	if m.calibration != nil {
		m.calibration.add(&m.Formula, mem, postings, general)
	}
	return d, append(append(postings, filePostings(mem)...), signals(mem)...)
}

// Calibrated are the constants that are known once all memories were indexed: by
// what the thresholds of a project are raised so that it keeps silent at prompts
// of the others.
func (m *Model) Calibrated() map[string][]byte {
	if m.calibration == nil {
		return nil
	}
	m.limits = packScales(m.calibration.scales(&m.Formula))
	return map[string][]byte{keyLimits: m.limits}
}

// generalityUnit is the resolution in which a document carries its generality.
const generalityUnit = 1000

func packGenerality(g float64) uint32 {
	return uint32(max(1, math.Round(min(g, 1000)*generalityUnit)))
}

// generality reads it back; a document without one is taken for an average one.
func generality(numbers uint32) float64 {
	if numbers == 0 {
		return 1
	}
	return float64(numbers) / generalityUnit
}

// snapshotStats are the frequencies in a snapshot.
type snapshotStats struct {
	snap *snapshot.Snapshot
	docs int
}

func (s snapshotStats) Docs() int                 { return s.docs }
func (s snapshotStats) Frequency(term string) int { return s.snap.Frequency(term) }
func (s snapshotStats) Prefetch(term string)      { s.snap.Prefetch(term) }

// ModelOf returns the model that a snapshot was built with.
func ModelOf(snap *snapshot.Snapshot) *Model {
	m := &Model{
		Formula:  Default(),
		Language: &Language{shipped: background.Shipped(), strange: unshipped},
		Stats:    snapshotStats{snap, snap.All().Len()},
		learnt:   snap.Constant(keyLearnt),
		limits:   snap.Constant(keyLimits),
	}
	m.Language.learnt, _ = background.Open(string(m.learnt)) // without it the shipped table serves
	if s := snap.Constant(keyStrange); len(s) == 1 {
		m.Language.strange = scripts(s[0])
	}
	return m
}

// Doc returns the record of a memory in the snapshot.
func Doc(m *stillso.Memory) snapshot.Doc {
	d := snapshot.Doc{
		ID: m.ID, Namespace: m.Namespace, Type: m.Type, State: m.State, Origin: m.Origin,
		Created: m.CreatedAt.Unix(), Updated: m.UpdatedAt.Unix(), Priority: uint8(min(max(m.Priority, 0), 5)),
		Name: m.Name, Content: m.Content, RelatedFiles: m.RelatedFiles,
	}
	if len(m.Aliases) > 0 {
		d.Flags |= snapshot.HasAliases
	}
	if m.Resident {
		d.Flags |= snapshot.Resident
	}
	if m.Body != "" {
		d.Flags |= snapshot.HasBody
	}
	if m.File != nil {
		d.LoadedBy = m.File.LoadedBy
	}
	switch reason := m.Unverified(); {
	case m.State == stillso.Superseded && m.SupersededBy != "":
		d.Label = "superseded by " + m.SupersededBy
	case m.State == stillso.Superseded:
		d.Label = "superseded"
	case reason != "":
		d.Label = "unverified: " + reason
		d.Flags |= snapshot.Unverified
	case m.Origin == stillso.FromInferred:
		d.Label = "inferred, unconfirmed"
	}
	return d
}
