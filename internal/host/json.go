package host

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrJSON is returned for text whose structure is not JSON, or that ends early.
var ErrJSON = errors.New("not a complete JSON document")

// Fields calls yield for every member of a JSON object, until it returns false:
// the key decoded, the value as it stands in the text. It checks structure only
// (strings, brackets, commas), allocates nothing and never recurses, so that
// 60 MB of foreign input cost one pass. After ErrJSON the members before the
// fault have been seen.
func Fields(object []byte, yield func(key, value []byte) bool) error {
	i := space(object, 0)
	if i >= len(object) || object[i] != '{' {
		return ErrJSON
	}
	i = space(object, i+1)
	if i < len(object) && object[i] == '}' {
		return nothingAfter(object, i+1)
	}
	for {
		start := i
		if i = stringEnd(object, i); i < 0 {
			return ErrJSON
		}
		key := object[start+1 : i-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			key = []byte(Text(object[start:i], MaxField))
		}
		if i = space(object, i); i >= len(object) || object[i] != ':' {
			return ErrJSON
		}
		start = space(object, i+1)
		if i = valueEnd(object, start); i < 0 {
			return ErrJSON
		}
		if !yield(key, object[start:i]) {
			return nil
		}
		if i = space(object, i); i >= len(object) {
			return ErrJSON
		}
		switch object[i] {
		case '}':
			return nothingAfter(object, i+1)
		case ',':
			i = space(object, i+1)
		default:
			return ErrJSON
		}
	}
}

// Elements calls yield for every element of a JSON array, as Fields does for
// the members of an object.
func Elements(array []byte, yield func(value []byte) bool) error {
	i := space(array, 0)
	if i >= len(array) || array[i] != '[' {
		return ErrJSON
	}
	i = space(array, i+1)
	if i < len(array) && array[i] == ']' {
		return nothingAfter(array, i+1)
	}
	for {
		end := valueEnd(array, i)
		if end < 0 {
			return ErrJSON
		}
		if !yield(array[i:end]) {
			return nil
		}
		if i = space(array, end); i >= len(array) {
			return ErrJSON
		}
		switch array[i] {
		case ']':
			return nothingAfter(array, i+1)
		case ',':
			i = space(array, i+1)
		default:
			return ErrJSON
		}
	}
}

// End returns the index behind the JSON value at the start of text, or -1 if it
// has none, or not all of one.
func End(text []byte) int { return valueEnd(text, 0) }

// Kind returns the first byte of a JSON value: { [ " t f n - or a digit; 0 for
// an empty one.
func Kind(value []byte) byte {
	if len(value) == 0 {
		return 0
	}
	return value[0]
}

// True reports whether a JSON value is true.
func True(value []byte) bool { return string(value) == "true" }

// Text decodes a JSON string to at most limit bytes of valid UTF-8, cut at a
// character. It is lenient: an escape that means nothing stands for itself. Of
// a value that is no string it is "".
func Text(value []byte, limit int) string {
	if Kind(value) != '"' {
		return ""
	}
	in := value[1:]
	if n := len(in); n > 0 && in[n-1] == '"' {
		in = in[:n-1]
	}
	if bytes.IndexByte(in, '\\') < 0 {
		return valid(string(in[:min(len(in), limit+utf8.UTFMax)]), limit)
	}
	out := make([]byte, 0, min(len(in), limit+utf8.UTFMax))
	for len(in) > 0 && len(out) < limit+utf8.UTFMax {
		i := bytes.IndexByte(in, '\\')
		if i < 0 {
			i = len(in)
		}
		room := min(i, limit+utf8.UTFMax-len(out))
		out = append(out, in[:room]...)
		if in = in[i:]; len(in) == 0 {
			break
		}
		out, in = unescape(out, in)
	}
	return valid(string(out), limit)
}

// valid replaces what is not UTF-8, and cuts. The check before is many times
// faster than the replacing, and nearly all text passes it.
func valid(s string, limit int) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return cut(s, limit)
}

// unescape decodes the escape at the start of in.
func unescape(out, in []byte) (decoded, rest []byte) {
	if len(in) < 2 {
		return append(out, in...), nil
	}
	switch c := in[1]; c {
	case 'n':
		return append(out, '\n'), in[2:]
	case 't':
		return append(out, '\t'), in[2:]
	case 'r':
		return append(out, '\r'), in[2:]
	case 'b':
		return append(out, '\b'), in[2:]
	case 'f':
		return append(out, '\f'), in[2:]
	case 'u':
		r, n := unicodeEscape(in)
		if n == 0 {
			return utf8.AppendRune(out, utf8.RuneError), in[2:]
		}
		return utf8.AppendRune(out, r), in[n:]
	default:
		return append(out, c), in[2:]
	}
}

// unicodeEscape decodes \uXXXX, or two that are a surrogate pair; n is 0 if it
// is malformed.
func unicodeEscape(in []byte) (r rune, n int) {
	r = hex4(in)
	if r < 0 {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if len(in) >= 12 && in[6] == '\\' && in[7] == 'u' {
			if both := utf16.DecodeRune(r, hex4(in[6:])); both != utf8.RuneError {
				return both, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

func hex4(in []byte) rune {
	if len(in) < 6 {
		return -1
	}
	var r rune
	for _, c := range in[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// cut shortens s to at most limit bytes, at a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// AppendText appends s as a JSON string. What is not UTF-8 becomes U+FFFD.
func AppendText(out []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	out = append(out, '"')
	for _, r := range s { // an invalid byte comes out as U+FFFD
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, '\\', 'n')
		case r == '\t':
			out = append(out, '\\', 't')
		case r < ' ' || r == 0x7f:
			out = append(out, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		case r == '\u2028' || r == '\u2029':
			out = append(out, '\\', 'u', '2', '0', '2', hexDigits[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

func nothingAfter(b []byte, i int) error {
	if space(b, i) < len(b) {
		return ErrJSON
	}
	return nil
}

// stringEnd returns the index behind the string that starts at i, or -1.
func stringEnd(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return -1
	}
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
}

// valueEnd returns the index behind the value that starts at i, or -1.
func valueEnd(b []byte, i int) int {
	if i >= len(b) {
		return -1
	}
	switch b[i] {
	case '"':
		return stringEnd(b, i)
	case '{', '[':
		return nestedEnd(b, i)
	}
	start := i
	for i < len(b) && b[i] != ',' && b[i] != '}' && b[i] != ']' && b[i] > ' ' {
		if b[i] == '"' || b[i] == ':' || b[i] == '{' || b[i] == '[' {
			return -1
		}
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// nestedEnd returns the index behind the object or array that starts at i. It
// remembers which brackets are open in a bit each, and refuses deeper nesting
// than any host writes.
func nestedEnd(b []byte, i int) int {
	const deepest = 512
	var square [deepest / 64]uint64
	depth := 0
	for ; i < len(b); i++ {
		switch c := b[i]; c {
		case '"':
			if i = stringEnd(b, i); i < 0 {
				return -1
			}
			i--
		case '{', '[':
			if depth == deepest {
				return -1
			}
			bit := uint64(1) << (depth & 63)
			square[depth>>6] &^= bit
			if c == '[' {
				square[depth>>6] |= bit
			}
			depth++
		case '}', ']':
			depth--
			if open := square[depth>>6]>>(depth&63)&1 == 1; open != (c == ']') {
				return -1
			}
			if depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// Member returns the value at a path of names in an object, or nil.
func Member(value []byte, path ...string) []byte {
	for _, name := range path {
		if Kind(value) != '{' {
			return nil
		}
		var next []byte
		_ = Fields(value, func(k, v []byte) bool { // of a broken object, what stands before the fault
			if string(k) == name {
				next = v
			}
			return next == nil
		})
		value = next
	}
	return value
}
