//go:build unix

package stillso_test

import (
	"encoding/json"
	"slices"
	"strconv"
)

// stepWords are the words of one step or check. It notes which were asked for,
// so that a word that nobody understands is seen.
type stepWords struct {
	m    map[string]json.RawMessage
	used map[string]bool
}

func words(m map[string]json.RawMessage) *stepWords {
	return &stepWords{m: m, used: map[string]bool{"do": true, "check": true, "as": true, "optional": true, "comment": true, "note": true}}
}

func (w *stepWords) has(key string) bool { w.used[key] = true; return w.m[key] != nil }

// str returns a text, or a number or truth value as text.
func (w *stepWords) str(key string) string {
	w.used[key] = true
	var s string
	if json.Unmarshal(w.m[key], &s) == nil {
		return s
	}
	return string(w.m[key])
}

func (w *stepWords) num(key string, other float64) float64 {
	w.used[key] = true
	v := other
	if w.m[key] != nil && json.Unmarshal(w.m[key], &v) != nil {
		if f, err := strconv.ParseFloat(w.str(key), 64); err == nil {
			return f
		}
		return other
	}
	return v
}

func (w *stepWords) truth(key string) bool { return w.str(key) == "true" }

func (w *stepWords) list(key string) []string {
	w.used[key] = true
	var l []string
	if json.Unmarshal(w.m[key], &l) != nil && w.m[key] != nil {
		l = []string{w.str(key)}
	}
	return l
}

func (w *stepWords) object(key string) map[string]json.RawMessage {
	w.used[key] = true
	var m map[string]json.RawMessage
	_ = json.Unmarshal(w.m[key], &m)
	return m
}

func (w *stepWords) unused() []string {
	var out []string
	for k := range w.m {
		if !w.used[k] {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

func (w *stepWords) String() string {
	b, _ := json.Marshal(w.m)
	return string(b)
}
