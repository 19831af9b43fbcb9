package files

import (
	"testing"
	"time"
)

// An entry that is read otherwise here than by an import would be taken for another
// memory than the one that was made of it, and its lines for others than they are.
func TestEntries(t *testing.T) {
	text := "---\ntitle: x\n---\n# Index\n\n- [Kiln](kiln.md) — the curve\n- [[glaze]] — recipes\n- Never fire wet clay.\n  It bursts.\n\nNever:\n- push to main\n"
	got, err := Entries(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{
		{First: 6, Last: 6, Target: "kiln.md"},
		{First: 7, Last: 7, Target: "glaze"},
		{First: 8, Last: 9, Rule: true},
		{First: 12, Last: 12, Rule: true},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	r, err := parseInstructions("/x/MEMORY.md", text, Options{Namespace: "user", Now: time.Unix(1, 0)})
	if err != nil || len(r.Memories) != len(got) {
		t.Fatalf("%d memories, %v", len(r.Memories), err)
	}
	for i, g := range got {
		w := want[i]
		if g.First != w.First || g.Last != w.Last || g.Target != w.Target || g.Rule != w.Rule || g.Text == "" || g.Hash != r.Memories[i].File.Hash || g.First != r.Memories[i].File.Line {
			t.Errorf("entry %d: %+v, want %+v", i, g, w)
		}
	}
}
