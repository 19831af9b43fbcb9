// Package recall finds the memories that a prompt needs, or says nothing.
//
// A memory's evidence is a likelihood ratio: how much likelier are the prompt's
// words in this memory than in what developers say anyway. Most of it is computed
// when a memory is written (Postings); a search adds it up. The gate then asks
// which share of the prompt's information the memory covers, and lets through
// only what is strong enough (Recall).
package recall

import (
	"math"

	"stillso/internal/terms"
)

// Formula holds the constants of weighing and of the gate. Their reasons stand in
// docs/decisions; the figures come from internal/eval, which anybody can run again.
type Formula struct {
	// Shares of the parts of a memory in the probability of a term. They are flat:
	// halving or doubling one moves 0 to 2 of 129 answers.
	Title, Alias, Passage, Body float64
	// Lead is what a word in the lead of the body counts of one in the title, for a
	// memory without aliases: the answers on six stores rise from 64 to 68 % by it.
	Lead float64
	// Smoothing lengths, in terms: a part of this length has half its weight.
	TitleLen, AliasLen, PassageLen, BodyLen float64
	// Lambda is the weight of the memory against the background in the ratio.
	Lambda float64
	// Store is the weight of the store's own frequencies in the background: small,
	// so that impacts hardly change as the store grows.
	Store float64
	// Floor is the smallest background probability.
	Floor float64
	// Weights of the kinds of terms.
	WholeWeight, CharWeight, PairWeight float64
	// StrangePair is what a pair that neither store nor background knows counts of
	// the prompt's information: it mostly straddles two words.
	StrangePair float64
	// OtherWord is the least probability of an unknown word of a language of which
	// the background knows only what documentation says: it is mostly an everyday word.
	OtherWord float64
	// Attainable is the probability in a memory that information is measured by.
	Attainable float64
	// MaxTerms is how many terms of a prompt are asked for, the most telling first:
	// the cheapest silence there is, since long pastes collect evidence.
	MaxTerms int
	// Coverage is the exponent of the covered share of information: it stops long
	// prompts about something else, as the evidence stops short chat.
	Coverage float64
	// Thin is the covered share below which strength falls faster: a long paste
	// that shares three rare words with a memory is not about it.
	Thin float64
	// Count is the exponent of the number of matched terms, in units of CountUnit:
	// several words that agree are more than one rare word of equal evidence.
	Count, CountUnit float64
	// Hub is how fast strength falls with what any text of developers would score
	// on a memory (Generality): wordy memories of common words match everything.
	// Place is the same for the order of hits.
	Hub, Place float64
	// BaseAliased, BasePlain and BaseShort are the thresholds, in a store of StoreSize
	// memories, for memories with aliases, with a longer text but none, and with
	// neither. A memory of one statement has fewer words to be found by and
	// fewer that match by chance: at .7 of the base the six stores without their texts
	// give 41 % of answers for 33 %, at 1.9 % foreign prompts. They grow by the share Growth for
	// each factor e beyond, and fall by it below, down to SmallStore memories: the
	// best of many is strong by chance, the best of three hardly ever. Measured on
	// random parts of six stores: with one and the same Growth 3 to 332 memories stay
	// within 2 % of foreign prompts, and at 3 memories 70 % of answers pass, not 50 %.
	BaseAliased, BasePlain, BaseShort, StoreSize, SmallStore, Growth float64
	// Before is the share of the previous turn's evidence that a memory gets which
	// the prompt itself touches: with a strength of at least Touched of the threshold
	// (joining both turns into one query breaks silence).
	Before, Touched float64
	// File is the factor of a memory that one of the files at hand belongs to.
	File float64
	// Pasted is by what the threshold is raised for a prompt that is nothing but a
	// paste: the largest source of false hits.
	Pasted float64
	// Hint is the share of the threshold from which on a memory may be hinted at,
	// HintAliased that of one with aliases, which seldom needs it.
	Hint, HintAliased float64
	// Second is what share of the first hit's strength the second one must have,
	// Further that of any other.
	Second, Further float64
}

// Default returns the constants in use.
func Default() Formula {
	return Formula{
		Title: .25, Alias: .35, Passage: .25, Body: .1, Lead: .5,
		TitleLen: 8, AliasLen: 12, PassageLen: 30, BodyLen: 300,
		Lambda: 3, Store: .02, Floor: 1e-4,
		WholeWeight: 1, CharWeight: .6, PairWeight: .7,
		StrangePair: .25, OtherWord: .003, Attainable: .05, MaxTerms: 24,
		Coverage: .5, Thin: .25, Count: .25, CountUnit: 4, Hub: .35, Place: .2,
		BaseAliased: 3.9, BasePlain: 3.3, BaseShort: 2.1, StoreSize: 50, SmallStore: 3, Growth: .2,
		Before: .4, Touched: .6, File: 1.2, Pasted: 2, Hint: .65, HintAliased: .8,
		Second: .6, Further: .85,
	}
}

// Background says how often developers say a term anyway.
type Background interface {
	// Share is the share of short texts that hold the term.
	Share(term string) (share float64, known bool)
	// Smallest is the share of a term that is not known.
	Smallest(s terms.Script) float64
}

// Stats are the store's own frequencies.
type Stats interface {
	Docs() int
	Frequency(term string) int
}

// probability is how likely a short text of developers, or of this store, holds
// the term.
func (f *Formula) probability(term string, bg Background, st Stats) (p float64, known bool) {
	share, known := f.share(term, bg)
	df := st.Frequency(term)
	return f.mix(share, float64(df)/float64(st.Docs()+1)), known || df > 0
}

// share is the part of it that the background knows.
func (f *Formula) share(term string, bg Background) (share float64, known bool) {
	if share, known = bg.Share(term); !known {
		share = bg.Smallest(terms.ScriptOf(term))
	}
	return share, known
}

// mix joins the shares of the background and of the store.
func (f *Formula) mix(background, store float64) float64 {
	return (1-f.Store)*background + f.Store*store + f.Floor
}

func (f *Formula) weight(k terms.Kind) float64 {
	switch k {
	case terms.Whole:
		return f.WholeWeight
	case terms.Char:
		return f.CharWeight
	case terms.Pair:
		return f.PairWeight
	}
	return 1
}

// evidence is the logarithm of the ratio: 0 if the memory says nothing.
func (f *Formula) evidence(inMemory, background float64) float64 {
	return math.Log1p(f.Lambda * inMemory / background)
}

// wording says by how many words a memory can be found, which is what thresholds
// differ by.
type wording uint8

const (
	plain   wording = iota // a statement with a longer text
	short                  // a statement alone
	aliased                // somebody wrote the words a person would type
	wordings
)

func wordingOf(hasAliases, hasBody bool) wording {
	switch {
	case hasAliases:
		return aliased
	case hasBody:
		return plain
	}
	return short
}

// Threshold is what the strength of a memory must reach in a store of n memories.
func (f *Formula) Threshold(n int, w wording) float64 {
	base := [...]float64{aliased: f.BaseAliased, plain: f.BasePlain, short: f.BaseShort}[w]
	return base * (1 + f.Growth*math.Log(math.Max(f.SmallStore, float64(n))/f.StoreSize))
}
