package sqlite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"stillso"
)

// benchSize is the number of memories that the benchmarks run on:
// STILLSO_BENCH_MEMORIES, or 10,000.
func benchSize() int {
	if n, err := strconv.Atoi(os.Getenv("STILLSO_BENCH_MEMORIES")); err == nil {
		return n
	}
	return 10_000
}

// prose makes memories of about 30 words whose words are as unevenly spread as
// those of a language: a few are everywhere, most are rare.
type prose struct {
	rng *rand.Rand
	z   *rand.Zipf
}

func newProse() *prose {
	rng := rand.New(rand.NewPCG(1, 1))
	return &prose{rng, rand.NewZipf(rng, 1.1, 4, 50_000)}
}

func (p *prose) words(n int) string {
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%s ", word(p.z.Uint64()))
	}
	return b.String()
}

// word is the n-th word of an invented language.
func word(n uint64) string {
	const letters = "bdfgklmnprstvz"
	var b []byte
	for n += 20; n > 0; n /= 14 * 5 {
		b = append(b, letters[n%14], "aeiou"[n/14%5])
	}
	return string(b)
}

func (p *prose) memory(i int) *stillso.Memory {
	m := memory(fmt.Sprintf("m%07d", i), p.words(30))
	m.Name, m.Aliases = p.words(3), []string{p.words(6), p.words(6)}
	m.UpdatedAt = noon.Add(time.Duration(i) * time.Second)
	m.Namespace = stillso.Namespace("project/p" + strconv.Itoa(i%20))
	return m
}

// BenchmarkStore measures everything on one store, in the order of its life.
func BenchmarkStore(b *testing.B) {
	dir, n, p := filepath.Join(b.TempDir(), "home"), benchSize(), newProse()
	changes := make([]stillso.Change, n)
	for i := range changes {
		changes[i] = adding(p.memory(i))
	}
	s, err := Open(b.Context(), dir, Options{})
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if _, err := s.Apply(b.Context(), changes...); err != nil {
		b.Fatal(err)
	}
	b.Logf("Apply of %d changes at once: %v", n, time.Since(began).Round(time.Millisecond))
	size := int64(0)
	if info, err := os.Stat(filepath.Join(dir, dbFile)); err == nil {
		size = info.Size()
	}
	b.Logf("%d bytes of database a memory", size/int64(n))

	next := n
	b.Run("Apply", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Apply(b.Context(), adding(p.memory(next))); err != nil {
				b.Fatal(err)
			}
			next++
		}
	})
	b.Run("Each", func(b *testing.B) {
		for b.Loop() {
			seen := 0
			if _, err := s.Each(b.Context(), 0, func(*stillso.Memory, int64) error { seen++; return nil }); err != nil || seen < n {
				b.Fatal(seen, err)
			}
		}
	})
	b.Run("EachOfLast10", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Each(b.Context(), int64(next-10), func(*stillso.Memory, int64) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, words := range []int{1, 4, 12} {
		b.Run(fmt.Sprintf("Search%dWords", words), func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Search(b.Context(), stillso.TextQuery{Text: p.words(words)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("SearchNamespace", func(b *testing.B) {
		f := stillso.Filter{Namespaces: []stillso.Namespace{"project/p3", "user"}}
		for b.Loop() {
			if _, err := s.Search(b.Context(), stillso.TextQuery{Text: p.words(4), Filter: f}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Memory", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Memory(b.Context(), fmt.Sprintf("m%07d", p.rng.IntN(n))); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Newest50", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Memories(b.Context(), stillso.Filter{Limit: 50}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Open", func(b *testing.B) {
		for b.Loop() {
			o, err := Open(b.Context(), dir, Options{})
			if err != nil {
				b.Fatal(err)
			}
			if err := o.Close(); err != nil {
				b.Fatal(err)
			}
		}
	})
	timed := func(what string, f func() error) {
		began := time.Now()
		if err := f(); err != nil {
			b.Fatal(what, err)
		}
		b.Logf("%s: %v", what, time.Since(began).Round(time.Millisecond))
	}
	timed("Check", func() error {
		list, err := s.Check(b.Context())
		if len(list) > 0 {
			b.Error(list)
		}
		return err
	})
	timed("Purge", func() error { _, err := s.Purge(b.Context(), "m0000007", human, noon); return err })
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	timed("Repair", func() error { _, err := Repair(b.Context(), dir, noon); return err })
}
