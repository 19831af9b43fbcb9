// Package digest is SHA-256 for names and marks: the sums are those of crypto/sha256.
// That package tests itself and its relatives whenever a program starts, which costs
// the prompt path more than reading the whole snapshot. Nothing here is a secret.
package digest

import (
	"encoding/binary"
	"math/bits"
)

// Size is the length of a sum in bytes.
const Size = 32

const block = 64

// Sum256 returns the sum of data.
func Sum256(data []byte) [Size]byte {
	h := New()
	_, _ = h.Write(data) // it does not fail
	return h.sum()
}

// Hash is a sum in the making.
type Hash struct {
	state [8]uint32
	rest  [block]byte // what does not fill a block yet
	held  int
	size  uint64
}

// New returns the Hash of nothing.
func New() *Hash {
	return &Hash{state: [8]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	}}
}

// Write adds data. It never fails.
func (h *Hash) Write(data []byte) (int, error) {
	n := len(data)
	h.size += uint64(n)
	if h.held > 0 {
		m := copy(h.rest[h.held:], data)
		data = data[m:]
		if h.held += m; h.held == block {
			h.mix(h.rest[:])
			h.held = 0
		}
	}
	for ; len(data) >= block; data = data[block:] {
		h.mix(data[:block])
	}
	h.held += copy(h.rest[h.held:], data)
	return n, nil
}

// Sum appends the sum of what was written; more can be written afterwards.
func (h *Hash) Sum(dst []byte) []byte {
	sum := h.sum()
	return append(dst, sum[:]...)
}

func (h Hash) sum() (out [Size]byte) {
	end := make([]byte, 1, 2*block)
	end[0] = 0x80
	for (h.held+len(end))%block != block-8 {
		end = append(end, 0)
	}
	end = binary.BigEndian.AppendUint64(end, h.size*8)
	_, _ = h.Write(end) // it does not fail
	for i, v := range h.state {
		binary.BigEndian.PutUint32(out[4*i:], v)
	}
	return out
}

// round holds the round constants of FIPS 180-4, section 4.2.2.
var round = [64]uint32{
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

// mix takes one block into the state: FIPS 180-4, section 6.2.2.
func (h *Hash) mix(p []byte) {
	var w [64]uint32
	for i := range 16 {
		w[i] = binary.BigEndian.Uint32(p[4*i:])
	}
	for i := 16; i < 64; i++ {
		a, b := w[i-15], w[i-2]
		w[i] = w[i-16] + w[i-7] +
			(bits.RotateLeft32(a, -7) ^ bits.RotateLeft32(a, -18) ^ a>>3) +
			(bits.RotateLeft32(b, -17) ^ bits.RotateLeft32(b, -19) ^ b>>10)
	}
	s := h.state
	for i := range w {
		a, e := s[0], s[4]
		t1 := s[7] + (bits.RotateLeft32(e, -6) ^ bits.RotateLeft32(e, -11) ^ bits.RotateLeft32(e, -25)) +
			(e&s[5] ^ ^e&s[6]) + round[i] + w[i]
		t2 := (bits.RotateLeft32(a, -2) ^ bits.RotateLeft32(a, -13) ^ bits.RotateLeft32(a, -22)) +
			(a&s[1] ^ a&s[2] ^ s[1]&s[2])
		s[7], s[6], s[5], s[4] = s[6], s[5], e, s[3]+t1
		s[3], s[2], s[1], s[0] = s[2], s[1], a, t1+t2
	}
	for i, v := range s {
		h.state[i] += v
	}
}
