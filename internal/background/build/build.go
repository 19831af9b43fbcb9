// Package build makes the shipped background table from the counts of
// ../shared/background. It is not linked into any program.
package build

import (
	"bufio"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"stillso/internal/background"
	"stillso/internal/terms"
)

// How the counts are joined, as measured for ../shared/background/README.md: talk
// counts four times; English and Chinese documentation stand for so many texts
// beside it; the other languages are joined by maximum, at a quarter of their
// share, since a user writes one or two languages and not all.
const (
	talkTimes  = 4
	enTexts    = 8000
	zhTexts    = 4000
	otherShare = 0.25
)

// counts is one table: the share of texts that hold a term.
type counts struct {
	texts float64
	share map[string]float64
}

// Shares joins the tables of a directory. It returns the share of each term and
// the number of texts behind them.
func Shares(dir string) (map[string]float64, uint32, error) {
	talk, err := read(filepath.Join(dir, "talk-transcripts.tsv"))
	if err != nil {
		return nil, 0, err
	}
	n := talk.texts*talkTimes + enTexts + zhTexts
	out := map[string]float64{}
	for t, s := range talk.share {
		out[t] += s * talk.texts * talkTimes
	}
	for _, l := range []struct {
		file  string
		texts float64
	}{{"words/en.tsv", enTexts}, {"zh.tsv", zhTexts}} {
		c, err := read(filepath.Join(dir, l.file))
		if err != nil {
			return nil, 0, err
		}
		for t, s := range c.share {
			out[t] += s * l.texts
		}
	}
	for _, file := range []string{"ja.tsv", "ko.tsv", "words/es.tsv", "words/pt.tsv", "words/fr.tsv", "words/de.tsv", "words/ru.tsv"} {
		c, err := read(filepath.Join(dir, file))
		if err != nil {
			return nil, 0, err
		}
		for t, s := range c.share {
			out[t] = max(out[t], s*otherShare*n)
		}
	}
	for t := range out {
		out[t] = min(1, out[t]/n)
	}
	common, err := everyday()
	if err != nil {
		return nil, 0, err
	}
	for _, t := range common {
		out[t] = max(out[t], everydayShare)
	}
	return out, uint32(n), nil
}

// everydayText holds words of everyday life, one file a language, written for this
// program: food, weather, places, devices, office, health. Developer text lacks
// them, and a prompt about lunch must not wake a memory that mentions lunch once.
//
//go:embed everyday/*.txt
var everydayText embed.FS

// everydayShare is the least share of an everyday word. Measured on six stores:
// 0.001 to 0.004 is flat; without the words 111 of 129 right answers become 105
// at the same silence.
const everydayShare = .002

func everyday() ([]string, error) {
	files, err := everydayText.ReadDir("everyday")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		text, err := everydayText.ReadFile("everyday/" + f.Name())
		if err != nil {
			return nil, err
		}
		for _, t := range terms.Analyze(string(text)) {
			if !terms.Stop(t) {
				out = append(out, t.Text)
			}
		}
	}
	return out, nil
}

// Table returns the packed table of a directory.
func Table(dir string) ([]byte, error) {
	shares, n, err := Shares(dir)
	if err != nil {
		return nil, err
	}
	return background.Pack(shares, n), nil
}

// read reads one table and analyses its words again, so that they are the terms
// of this program. Words that fall together are joined as if they were said
// independently of each other.
func read(path string) (counts, error) {
	f, err := os.Open(path)
	if err != nil {
		return counts{}, err
	}
	defer f.Close() //nolint:errcheck // read only
	c := counts{share: map[string]float64{}}
	for s := bufio.NewScanner(f); s.Scan(); {
		word, num, ok := strings.Cut(s.Text(), "\t")
		v, err := strconv.ParseFloat(num, 64)
		if !ok || err != nil {
			return counts{}, fmt.Errorf("%s: not a word and a number: %q", path, s.Text())
		}
		if word == "#N" {
			c.texts = v
			continue
		}
		t, ok := term(word)
		if !ok {
			continue
		}
		share := min(1, v/c.texts)
		c.share[t] = 1 - (1-c.share[t])*(1-share)
	}
	if c.texts == 0 {
		return counts{}, fmt.Errorf("%s: no number of texts", path)
	}
	return c, nil
}

// term returns the one term that a word of the tables is now: the whole of an
// identifier, the pair of two characters.
func term(word string) (string, bool) {
	ts := terms.Analyze(word)
	for _, t := range ts {
		if t.Kind == terms.Whole || t.Kind == terms.Pair {
			return t.Text, true
		}
	}
	if len(ts) != 1 || terms.Stop(ts[0]) {
		return "", false
	}
	return ts[0].Text, true
}
