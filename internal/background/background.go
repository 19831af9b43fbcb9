// Package background knows how often developers say a term anyway. What is common
// in everybody's talk is no evidence that a prompt is about a memory; this is what
// makes recall silent.
//
// The shipped table is embedded and is read as it lies: nothing is decoded at
// start-up, and a lookup touches a few bytes. Tables learnt from the user's own
// prompts have the same form.
package background

import (
	_ "embed" // the shipped table
	"encoding/binary"
	"errors"
	"math"
	"slices"
)

//go:generate go test ./build -run TestShipped -update

//go:embed table.bin
var shipped string

// Table says in which share of short texts a term occurs. The zero Table knows
// nothing.
type Table struct {
	// Texts is the number of texts that the shares rest on: the weight of this
	// table beside another one.
	Texts   float64
	buckets uint32
	data    string
}

// The packed form, little-endian:
//
//	magic "sbg1" | texts uint32 | buckets uint32 | starts [buckets+1]uint32 | entries
//
// An entry has three bytes: 16 bits of the term's hash, and the share as
// 255 + 12·log2(share). Entries of a bucket are in the order of the hash bits. A
// term that is not in the table is taken for another one with a chance of about
// 1 in 3,000.
const (
	magic     = "sbg1"
	headSize  = 12
	entrySize = 3
	octave    = 12 // steps a doubling
	perBucket = 20
)

// ErrFormat is returned for data that is no table.
var ErrFormat = errors.New("not a background table")

// Shipped returns the table that comes with the program. It counts licence-clean
// developer text of nine languages: SOURCES.md beside this file.
func Shipped() Table {
	t, err := Open(shipped)
	if err != nil {
		return Table{}
	}
	return t
}

// Open returns the table packed in data.
func Open(data string) (Table, error) {
	if len(data) < headSize || data[:4] != magic {
		return Table{}, ErrFormat
	}
	t := Table{Texts: float64(word(data, 4)), buckets: word(data, 8), data: data}
	need := uint64(headSize) + (uint64(t.buckets)+1)*4
	if t.buckets == 0 || need > uint64(len(data)) {
		return Table{}, ErrFormat
	}
	if last := uint64(word(data, headSize+int(t.buckets)*4)); need+last*entrySize != uint64(len(data)) {
		return Table{}, ErrFormat
	}
	return t, nil
}

func word(s string, at int) uint32 {
	return uint32(s[at]) | uint32(s[at+1])<<8 | uint32(s[at+2])<<16 | uint32(s[at+3])<<24
}

// Share returns the share of texts that hold the term, and whether the table
// knows it.
func (t Table) Share(term string) (float64, bool) {
	if t.buckets == 0 {
		return 0, false
	}
	b, bits := place(term, t.buckets)
	from, to := word(t.data, headSize+int(b)*4), word(t.data, headSize+int(b)*4+4)
	at := headSize + (int(t.buckets)+1)*4
	if from > to || at+int(to)*entrySize > len(t.data) {
		return 0, false
	}
	for i := at + int(from)*entrySize; i < at+int(to)*entrySize; i += entrySize {
		if got := uint16(t.data[i]) | uint16(t.data[i+1])<<8; got >= bits {
			if got > bits {
				break
			}
			return math.Exp2((float64(t.data[i+2]) - 255) / octave), true
		}
	}
	return 0, false
}

// place returns the bucket of a term and the bits that tell it apart there.
func place(term string, buckets uint32) (bucket uint32, bits uint16) {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return uint32((h >> 32) * uint64(buckets) >> 32), uint16(h)
}

// Pack returns the packed form of shares, measured on so many texts. Shares are
// between 0 and 1; terms with a share of 0 are left out.
func Pack(shares map[string]float64, texts uint32) []byte {
	buckets := max(1, uint32(len(shares)/perBucket))
	type entry struct {
		bucket uint32
		bits   uint16
		share  byte
	}
	entries := make([]entry, 0, len(shares))
	for term, s := range shares {
		if s <= 0 {
			continue
		}
		b, bits := place(term, buckets)
		v := math.Round(255 + octave*math.Log2(min(s, 1)))
		entries = append(entries, entry{b, bits, byte(max(v, 0))})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if a.bucket != b.bucket {
			return int(a.bucket) - int(b.bucket)
		}
		if a.bits != b.bits {
			return int(a.bits) - int(b.bits)
		}
		return int(b.share) - int(a.share) // of two terms in one place the frequent one wins
	})
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.bucket == b.bucket && a.bits == b.bits })
	out := append([]byte(magic), 0, 0, 0, 0, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(out[4:], texts)
	binary.LittleEndian.PutUint32(out[8:], buckets)
	i := 0
	for b := range buckets {
		out = binary.LittleEndian.AppendUint32(out, uint32(i))
		for i < len(entries) && entries[i].bucket == b {
			i++
		}
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(len(entries)))
	for _, e := range entries {
		out = append(binary.LittleEndian.AppendUint16(out, e.bits), e.share)
	}
	return out
}
