package digest

import (
	"crypto/sha256"
	"testing"
)

// Names made with one must be found with the other, for every length of the last block.
func TestEqualsSHA256(t *testing.T) {
	data := make([]byte, 300)
	for i := range data {
		data[i] = byte(i * 7)
	}
	for n := range data {
		if got, want := Sum256(data[:n]), sha256.Sum256(data[:n]); got != want {
			t.Fatalf("%d bytes: %x, want %x", n, got, want)
		}
	}
}

// Written in any pieces, and read in between, the sum is the same.
func FuzzPieces(f *testing.F) {
	f.Add([]byte("some text that is longer than one block of sixty-four bytes, so that it is cut"), 5, 70)
	f.Fuzz(func(t *testing.T, data []byte, a, b int) {
		a, b = min(max(a, 0), len(data)), min(max(b, 0), len(data))
		a, b = min(a, b), max(a, b)
		h := New()
		for _, piece := range [][]byte{data[:a], data[a:b], data[b:]} {
			if n, err := h.Write(piece); n != len(piece) || err != nil {
				t.Fatal(n, err)
			}
			h.Sum(nil)
		}
		if want := sha256.Sum256(data); string(h.Sum([]byte("x"))) != "x"+string(want[:]) {
			t.Fatalf("%x, want %x", h.Sum(nil), want)
		}
	})
}
