package host

import (
	"bytes"
	"testing"
)

// Fault: a line that is read in pieces is not the line that stands there.
func FuzzShortener(f *testing.F) {
	f.Add([]byte(`{"a":"b\\\"c","d":["\\",1]}`), 9)
	f.Add([]byte(`"\\`), 2)
	f.Fuzz(func(t *testing.T, data []byte, at int) {
		var s shortener // it must not change a line whose strings are short
		cut := max(0, min(at, len(data)))
		s.add(data[:cut])
		s.add(data[cut:])
		if !bytes.Equal(s.out, data) {
			t.Fatalf("%q became %q", data, s.out)
		}
	})
}
