package verify

import (
	"testing"

	"stillso"
)

// A claim that a model made of words which were edited away since would label a
// memory for what it does not say any more; a person's claim needs no words.
func TestClaimsOfGoneWords(t *testing.T) {
	m := &stillso.Memory{Type: stillso.Fact, Content: "The kiln heats by ramp_up of src/kiln.py.", Claims: []stillso.Claim{
		{ID: "model-1", Probe: "symbol", Args: []string{"src/kiln.py", "ramp_up"}, Verdict: stillso.Fails, Reason: "x"},
		{ID: "mine", Probe: "tag", Args: []string{"v1"}},
	}}
	has := func(id string) bool {
		for _, c := range Claims(m) {
			if c.ID == id {
				return true
			}
		}
		return false
	}
	if !has("model-1") || !has("mine") {
		t.Errorf("%+v", Claims(m))
	}
	m.Content = "The kiln heats by hand, see src/kiln.py."
	if has("model-1") || !has("mine") {
		t.Errorf("after the edit: %+v", Claims(m))
	}
}
