package capture

import (
	"fmt"
	"strings"
	"testing"

	"stillso"
)

// Statements that differ in the thing they speak of as well as in its value must not
// take each other's place: the user said all of them.
func TestOtherThingsAreNotLaterWords(t *testing.T) {
	for _, tt := range []struct {
		form string // of statement number i
		want int    // how many of three are kept
	}{
		{"From now on use port 900%[1]d for service omega%[1]d", 3},
		{"Always run gizmo%[1]d before you commit module%[1]d", 3},
		{"From now on use port 900%[1]d for the gateway", 1},
		{"Always use python 3.%[1]d in the images", 1},
	} {
		var turns []stillso.Turn
		for i := 1; i <= 3; i++ {
			turns = append(turns, stillso.Turn{ID: fmt.Sprint("t", i), Session: "s", Speaker: stillso.Typed, Text: fmt.Sprintf(tt.form, i)})
		}
		got := Rules(turns, 0)
		if len(got) != tt.want {
			t.Errorf("%s: %d candidates, want %d", tt.form, len(got), tt.want)
		}
		if last := got[len(got)-1].Memory.Content; !strings.Contains(last, "3") {
			t.Errorf("%s: the last is %q", tt.form, last)
		}
	}
}
