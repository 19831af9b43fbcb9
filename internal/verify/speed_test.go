package verify

import (
	"strings"
	"testing"
	"time"

	"stillso"
)

// A note of the largest size must not hold a run up, whatever it is made of.
func TestClaimsOfLargeNotes(t *testing.T) {
	for _, unit := range []string{"See src/a.go and `make x` for it. ", "a/", "数据在a/b.py里，", "`", "x ", "A_B=$C ", "http://", "branch `x` ", "a@1.2.3 ", "\n", "."} {
		s := strings.Repeat(unit, stillso.MaxBody/len(unit))
		begin := time.Now()
		Claims(&stillso.Memory{Type: stillso.Fact, Content: unit, Body: s})
		took := time.Since(begin)
		t.Logf("%v for %q", took, unit)
		if took > time.Second {
			t.Errorf("%v for 256 KB of %q", took, unit)
		}
	}
}

func BenchmarkClaims(b *testing.B) {
	m := &stillso.Memory{Type: stillso.Fact, Content: "Module number7 keeps its cache in internal/mod7/file7.go and is built by `make mod7` for team3."}
	for b.Loop() {
		Claims(m)
	}
}
