package main

import (
	"strings"
	"testing"
)

// Fault: what stands across two pieces of a transcript is not found, or what is
// not there is.
func TestContains(t *testing.T) {
	for at := 1<<20 - 12; at < 1<<20+12; at++ {
		text := strings.Repeat("x", at) + "memory-id-7" + strings.Repeat("y", 1<<20)
		if !contains(strings.NewReader(text), [][]byte{[]byte("absent"), []byte("memory-id-7")}) {
			t.Errorf("at %d: not found", at)
		}
	}
	for _, text := range []string{"", "memory-id-", strings.Repeat("memory-id-", 300_000)} {
		if contains(strings.NewReader(text), [][]byte{[]byte("memory-id-7")}) {
			t.Errorf("found in %d bytes", len(text))
		}
	}
}
