package capture

import (
	"fmt"
	"testing"

	"stillso"
)

// A store with thousands of memories and refusals must not slow capture down.
func BenchmarkRun(b *testing.B) {
	var near []*stillso.Memory
	for i := range 68 {
		near = append(near, memory(fmt.Sprintf("m%d", i), fmt.Sprintf("The service number %d listens on port %d behind the gateway of region %d.", i, 7000+i, i%7), stillso.Fact))
	}
	var refused []stillso.Change
	for i := range 2000 {
		refused = append(refused, stillso.Change{Verb: stillso.VerbAdd, Outcome: stillso.Refused, Edits: []stillso.Edit{{After: memory(fmt.Sprintf("r%d", i), fmt.Sprintf("Remember to rotate key %d of the billing cluster every %d days.", i, i%90), stillso.Fact)}}})
	}
	var turns []stillso.Turn
	var cands []map[string]any
	for i := range 8 {
		said := fmt.Sprintf("From now on deploys of team %d go through the release train number %d", i, 100+i)
		turns = append(turns, say(stillso.Typed, said), say(stillso.Assistant, "Noted, I will do that from here on."), say(stillso.Tool, "ok"))
		cands = append(cands, proposal(said, 3*i+1, said))
	}
	b.ReportAllocs()
	for b.Loop() {
		j := job(turns...)
		j.Near, j.Refused, j.Model = has(near...), refused, reply(cands...)
		out, err := Run(b.Context(), j)
		if err != nil || len(admitted(out.Changes)) != 8 {
			b.Fatal(err, reasons(out.Changes))
		}
	}
}
