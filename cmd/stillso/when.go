package main

import (
	"strconv"
	"strings"
	"time"
)

// parseWhen reads a point in time as people give it: a date (2026-11-30), a
// date with time (RFC 3339), or a span back from now (90m, 12h, 7d, 2w). An
// empty text is the zero time.
func parseWhen(s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t.UTC(), nil
		}
	}
	units := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	if unit, ok := units[s[len(s)-1]]; ok {
		if n, err := strconv.Atoi(s[:len(s)-1]); err == nil && n >= 0 && n < 100_000 {
			return now.Add(-time.Duration(n) * unit).UTC(), nil
		}
	}
	return time.Time{}, usagef("cannot read the time %q: use a date (2026-11-30) or a span back from now (90m, 12h, 7d, 2w)", s)
}
