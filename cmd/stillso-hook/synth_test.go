package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stillso"
)

// synth writes memories and prompts with the words of a language in their natural
// frequencies, and with identifiers that only this store has. Three in ten are Chinese.
type synth struct {
	r       *rand.Rand
	en, zh  vocabulary
	project stillso.Namespace
}

// vocabulary draws words by their frequency.
type vocabulary struct {
	words []string
	sums  []float64
}

func (v *vocabulary) draw(r *rand.Rand) string {
	i, _ := slices.BinarySearch(v.sums, r.Float64()*v.sums[len(v.sums)-1])
	return v.words[min(i, len(v.words)-1)]
}

func (v *vocabulary) add(word string, weight float64) {
	last := 0.0
	if len(v.sums) > 0 {
		last = v.sums[len(v.sums)-1]
	}
	v.words, v.sums = append(v.words, word), append(v.sums, last+weight)
}

func newSynth(t testing.TB, project stillso.Namespace) *synth {
	s := &synth{r: rand.New(rand.NewPCG(11, 7)), project: project}
	dir := os.Getenv("STILLSO_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	s.en = readCounts(filepath.Join(dir, "background", "words", "en.tsv"))
	s.zh = readCounts(filepath.Join(dir, "background", "zh.tsv"))
	if len(s.en.words) == 0 || len(s.zh.words) == 0 {
		t.Log("no background counts in ../shared: words are invented")
		s.en, s.zh = invented(20_000), vocabulary{}
		for i := range 3000 {
			s.zh.add(string(rune(0x4e00+i*5)), 1/math.Pow(float64(i+5), .9))
		}
	}
	return s
}

func readCounts(path string) (v vocabulary) {
	f, err := os.Open(path)
	if err != nil {
		return v
	}
	defer func() { _ = f.Close() }()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		word, count, _ := strings.Cut(sc.Text(), "\t")
		if n, err := strconv.ParseFloat(count, 64); err == nil && word[0] != '#' {
			v.add(word, n)
		}
	}
	return v
}

func invented(n int) (v vocabulary) {
	parts := strings.Fields("ba co di fu ge hi jo ka le mi no pu qua ro si ta ul ve wo xi ya zen ster ing ion al")
	for i := range n {
		word := ""
		for k := i + 26; k > 0; k /= len(parts) {
			word += parts[k%len(parts)]
		}
		v.add(word, 1/math.Pow(float64(i+3), 1.05))
	}
	return v
}

// text draws about n words; one in eight is an identifier of the project.
func (s *synth) text(n int, chinese bool) string {
	var b strings.Builder
	for i := range n {
		switch {
		case s.r.IntN(8) == 0:
			fmt.Fprintf(&b, " %sService%d ", s.en.draw(s.r), int(200*s.r.ExpFloat64()))
		case chinese:
			b.WriteString(s.zh.draw(s.r))
		default:
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(s.en.draw(s.r))
		}
	}
	return b.String()
}

func (s *synth) memory(i int) *stillso.Memory {
	chinese := s.r.IntN(10) < 3
	at := time.Unix(1_700_000_000+int64(s.r.IntN(60_000_000)), 0).UTC()
	m := &stillso.Memory{
		ID: fmt.Sprintf("s%011d", i), Namespace: s.project, Type: stillso.Types()[s.r.IntN(8)],
		Name: s.text(4, chinese), Content: s.text(28, chinese), CreatedAt: at, UpdatedAt: at,
		Priority: 1 + s.r.IntN(5), State: stillso.Active, Origin: stillso.FromUser,
	}
	if s.r.IntN(10) == 0 {
		m.Namespace = stillso.UserNamespace
	}
	if s.r.IntN(2) == 0 {
		m.Aliases = []string{s.text(4, chinese), s.text(4, chinese)}
	}
	return m
}
