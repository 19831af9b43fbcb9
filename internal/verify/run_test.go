package verify

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"stillso"
)

var start = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// bench is a project with memories about it, and a state between runs.
type bench struct {
	t        *testing.T
	site     Site
	memories []*stillso.Memory
	state    *State
	now      time.Time
	o        Options
}

func newBench(t *testing.T, contents ...string) *bench {
	b := &bench{t: t, site: Site{Root: t.TempDir(), Remote: "github.com/owner/repo"}, state: &State{Memories: map[string]map[string]*Seen{}}, now: start}
	for i, c := range contents {
		m := &stillso.Memory{ID: fmt.Sprint("m", i), Namespace: "project/p", Type: stillso.Fact, Content: c, Origin: stillso.FromUser}
		m.Default(start)
		b.memories = append(b.memories, m)
	}
	b.o = Options{Sites: func(ns stillso.Namespace) []Site {
		if ns == stillso.UserNamespace {
			return nil
		}
		return []Site{b.site}
	}, Env: os.Getenv}
	return b
}

func (b *bench) put(name, text string) {
	b.t.Helper()
	p := filepath.Join(b.site.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) remove(name string) {
	b.t.Helper()
	if err := os.Remove(filepath.Join(b.site.Root, filepath.FromSlash(name))); err != nil {
		b.t.Fatal(err)
	}
}

// run runs once and applies the changes.
func (b *bench) run() (*Report, []stillso.Change) {
	b.t.Helper()
	b.now = b.now.Add(time.Hour)
	b.o.Now = b.now
	r, err := Run(context.Background(), b.memories, b.state, b.o)
	if err != nil {
		b.t.Fatal(err)
	}
	changes := Settle(b.memories, r, b.state, b.now)
	for _, c := range changes {
		if c.Verb != stillso.VerbEdit || c.Actor.Kind != stillso.Rule || c.Actor.Name != "verify" || c.Outcome != stillso.Applied {
			b.t.Errorf("change %+v", c)
		}
		for _, e := range c.Edits {
			i := slices.IndexFunc(b.memories, func(m *stillso.Memory) bool { return m.ID == e.MemoryID() })
			if !b.memories[i].Equal(e.Before) {
				b.t.Error("the edit does not rest on the memory")
			}
			if !e.After.UpdatedAt.Equal(e.Before.UpdatedAt) {
				b.t.Error("a check made the memory look new")
			}
			b.memories[i] = e.After
		}
	}
	return r, changes
}

// A label must come with the first failing check and go with the next success; a
// confirmation must not be a change; what only was read must not clear it.
func TestLabel(t *testing.T) {
	b := newBench(t, "Tokens are kept by src/auth/token_store.go here.", "The list is tested in slash_models_check.rs before release.", "The page is at http://127.0.0.1:9/ here.")
	b.put("src/auth/token_store.go", "x")
	b.put("slash_models_check.rs", "y")
	if _, changes := b.run(); len(changes) != 0 {
		t.Fatalf("confirmed, and yet changed: %+v", changes)
	}
	b.remove("src/auth/token_store.go")
	b.remove("slash_models_check.rs")
	if _, changes := b.run(); len(changes) != 2 {
		t.Fatalf("%d changes", len(changes))
	}
	for i, want := range []string{"path src/auth/token_store.go is gone", "file slash_models_check.rs is gone", ""} {
		if got := b.memories[i].Unverified(); got != want {
			t.Errorf("memory %d is %q, want %q", i, got, want)
		}
	}
	for range 3 {
		if _, changes := b.run(); len(changes) != 0 {
			t.Fatalf("the same verdict, and yet changed: %+v", changes)
		}
	}
	b.put("src/auth/token_store.go", "x")
	if _, changes := b.run(); len(changes) != 1 || b.memories[0].Unverified() != "" || b.memories[1].Unverified() == "" {
		t.Errorf("%d changes, %q, %q", len(changes), b.memories[0].Unverified(), b.memories[1].Unverified())
	}
}

// What a person takes back must stay away, until the claim held in between.
func TestPersonHasTheLastWord(t *testing.T) {
	for name, act := range map[string]func(*bench, *stillso.Memory) *stillso.Memory{
		"undo":    func(_ *bench, before *stillso.Memory) *stillso.Memory { return before },
		"confirm": func(b *bench, _ *stillso.Memory) *stillso.Memory { return Confirm(b.memories[0], b.state, b.now) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "See src/a.go for it.")
			_, changes := b.run()
			if len(changes) != 1 {
				t.Fatalf("%d changes", len(changes))
			}
			b.memories[0] = act(b, changes[0].Edits[0].Before)
			if b.memories[0].Unverified() != "" {
				t.Fatal("still labelled")
			}
			for range 2 {
				if _, changes := b.run(); len(changes) > 0 {
					t.Fatal("labelled again against the person's word")
				}
			}
			b.put("src/a.go", "x")
			b.run()
			b.remove("src/a.go")
			if _, changes := b.run(); len(changes) != 1 || b.memories[0].Unverified() == "" {
				t.Error("gone again after it was back, and not labelled")
			}
		})
	}
	m := &stillso.Memory{ID: "x", Type: stillso.Fact, Content: "Nothing to check."}
	if Confirm(m, &State{Memories: map[string]map[string]*Seen{}}, start) != nil {
		t.Error("something was confirmed where nothing failed")
	}
}

// A network probe that fails once may be a bad line; one local failure is a fact.
func TestDamping(t *testing.T) {
	b := newBench(t, "The repository is public.")
	answer := filepath.Join(t.TempDir(), "answer")
	env, _ := standIns(t, map[string]string{"gh": "cat '" + answer + "'"})
	b.o.Env = env
	say := func(s string) {
		if err := os.WriteFile(answer, []byte(`{"visibility":"`+s+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	say("PRIVATE")
	if r, _ := b.run(); r.Off != 1 || len(r.Checked) != 0 {
		t.Fatalf("asked although it is off: %+v", r)
	}
	b.o.Network = true
	for i, want := range []int{0, 1, 0} {
		if _, changes := b.run(); len(changes) != want {
			t.Fatalf("run %d: %d changes", i, len(changes))
		}
	}
	if got := b.memories[0].Unverified(); !strings.Contains(got, "is private, not public") {
		t.Errorf("labelled %q", got)
	}
	say("PUBLIC")
	if _, changes := b.run(); len(changes) != 1 || b.memories[0].Unverified() != "" {
		t.Errorf("not cleared: %q", b.memories[0].Unverified())
	}
	for _, s := range []string{"PRIVATE", "PUBLIC", "PRIVATE", "PUBLIC"} {
		say(s)
		if _, changes := b.run(); len(changes) > 0 {
			t.Error("it flaps")
		}
	}
}

// A path that moved is a proposal with the new path, and nothing else in the text may
// change.
func TestMoves(t *testing.T) {
	b := newBench(t, "See src/auth/token.go, not src/auth/token.go.bak; tokens.", "Checked by old_name.py daily.", "Two: a/util.go.")
	b.memories[0].RelatedFiles = []string{"src/auth/token.go"}
	b.put("src/auth/token.go", "package auth")
	b.put("src/auth/token.go.bak", "x")
	b.put("old_name.py", "print('the very same content')")
	b.put("a/util.go", "1")
	b.run()
	for from, to := range map[string]string{"src/auth/token.go": "pkg/auth/token.go", "old_name.py": "new/name.py"} {
		if err := os.MkdirAll(filepath.Join(b.site.Root, filepath.Dir(to)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(b.site.Root, from), filepath.Join(b.site.Root, to)); err != nil {
			t.Fatal(err)
		}
	}
	b.remove("a/util.go")
	b.put("b/util.go", "2")
	b.put("c/util.go", "3")
	r, _ := b.run()
	after, why := Moves(b.memories[0], r)
	if after == nil || after.Content != "See pkg/auth/token.go, not src/auth/token.go.bak; tokens." || !slices.Equal(after.RelatedFiles, []string{"pkg/auth/token.go"}) {
		t.Errorf("%q: %+v", why, after)
	}
	if after != nil && after.Unverified() != "" {
		t.Errorf("the corrected memory is still labelled: %q", after.Unverified())
	}
	if after, _ := Moves(b.memories[1], r); after == nil || after.Content != "Checked by new/name.py daily." {
		t.Errorf("a file that was renamed and is byte for byte the same: %+v", after)
	}
	if after, why := Moves(b.memories[2], r); after != nil {
		t.Errorf("two files of that name, and one was chosen: %s", why)
	}
}

// Stale claims go first, cheap ones before dear ones, and the limit leaves the rest.
func TestSchedule(t *testing.T) {
	b := newBench(t, "See src/a.go and commit 3fa9c1d.", "See src/b.go.", "See src/c.go.")
	b.o.Limit = 2
	var told atomic.Int32
	b.o.Progress = func(done, total int) { told.Add(1) }
	var order []string
	for range 2 {
		r, _ := b.run()
		for _, c := range r.Checked {
			order = append(order, c.Claim.Args[0])
		}
	}
	if want := []string{"src/a.go", "src/b.go", "3fa9c1d", "src/c.go"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
	if told.Load() != 4 {
		t.Errorf("told %d times", told.Load())
	}
	b.o.Limit, b.o.Fresh = 0, 24*time.Hour
	if r, _ := b.run(); len(r.Checked) != 0 {
		t.Errorf("%d fresh claims were checked", len(r.Checked))
	}
	b.now = b.now.Add(48 * time.Hour)
	if r, _ := b.run(); len(r.Checked) != 4 {
		t.Errorf("%d of 4 claims were checked", len(r.Checked))
	}
	b.memories[0].State, b.memories[1].Namespace = stillso.Retired, stillso.UserNamespace
	b.now = b.now.Add(48 * time.Hour)
	if r, _ := b.run(); len(r.Checked) != 1 {
		t.Errorf("%d claims: retired ones, and paths of no project", len(r.Checked))
	}
}

// A plain name that was never here may be anything; one that was here is gone.
func TestPlainNames(t *testing.T) {
	b := newBench(t, "The curve is set in curve.toml by hand.")
	if _, changes := b.run(); len(changes) > 0 {
		t.Fatal("labelled although it was never here")
	}
	b.put("conf/curve.toml", "x")
	b.run()
	b.remove("conf/curve.toml")
	if _, changes := b.run(); len(changes) != 1 || b.memories[0].Unverified() != "file curve.toml is gone" {
		t.Errorf("%d changes, %q", len(changes), b.memories[0].Unverified())
	}
}

// A second work tree may lack what is on another branch.
func TestSites(t *testing.T) {
	b := newBench(t, "See src/a.go.")
	other := Site{Root: t.TempDir()}
	gone := Site{Root: filepath.Join(t.TempDir(), "gone")}
	sites := []Site{other, b.site}
	b.o.Sites = func(stillso.Namespace) []Site { return sites }
	b.put("src/a.go", "x")
	if r, _ := b.run(); r.Checked[0].Claim.Verdict != stillso.Holds {
		t.Errorf("%+v", r.Checked[0])
	}
	b.remove("src/a.go")
	sites = []Site{other, gone}
	if r, _ := b.run(); r.Checked[0].Claim.Verdict != stillso.Unknown {
		t.Errorf("one place cannot be seen: %+v", r.Checked[0])
	}
	sites = []Site{other, b.site}
	if r, _ := b.run(); r.Checked[0].Claim.Verdict != stillso.Fails {
		t.Errorf("%+v", r.Checked[0])
	}
}

// Long notes mention much: files of other projects, and each other. Only what was here
// and is not any more is a fault of theirs.
func TestLongNotes(t *testing.T) {
	b := newBench(t, "How we release.", "Rules of the other note.")
	b.memories[0].Body = "How we release. See helper.py, other-repo/x.go and reference_rules.md, and once.py.\nThe branch `release/1` is cut."
	b.memories[0].File = &stillso.FileOrigin{Path: "/home/u/notes/feedback_release.md"}
	b.memories[1].File = &stillso.FileOrigin{Path: "/home/u/notes/reference_rules.md"}
	b.put("once.py", "x")
	b.put("other-repo/x.go", "x")
	if r, changes := b.run(); len(changes) > 0 || len(r.Checked) < 4 {
		t.Fatalf("%d claims; labelled %q", len(r.Checked), b.memories[0].Unverified())
	}
	b.remove("once.py")
	if err := os.RemoveAll(filepath.Join(b.site.Root, "other-repo")); err != nil {
		t.Fatal(err)
	}
	if _, changes := b.run(); len(changes) != 1 || !strings.Contains(changes[0].Reason, "once.py is gone") || !strings.Contains(changes[0].Reason, "other-repo/x.go is gone") {
		t.Fatalf("%+v", changes)
	}
}

// No machine is asked more than five times a run, whatever memories say.
func TestPerHost(t *testing.T) {
	b := newBench(t)
	for i := range 12 {
		m := &stillso.Memory{ID: fmt.Sprint("m", i), Namespace: "project/p", Type: stillso.Fact, Content: fmt.Sprintf("See https://one.example.com/%d for it.", i)}
		m.Default(start)
		b.memories = append(b.memories, m)
	}
	b.o.Network = true
	b.o.web = newWeb(func(netip.AddrPort) error { return errPrivate })
	r, _ := b.run()
	if len(r.Checked) != 5 || r.Left != 7 {
		t.Errorf("%d asked, %d left", len(r.Checked), r.Left)
	}
	if r, _ := b.run(); len(r.Checked) != 5 || r.Checked[0].Memory == "m0" {
		t.Errorf("the same ones were asked again: %+v", r.Checked)
	}
}

// Without a probe coming to an end a run must.
func TestProbeTime(t *testing.T) {
	b := newBench(t, "The repository is private.")
	env, _ := standIns(t, map[string]string{"gh": "sleep 60"})
	b.o.Env, b.o.Network = env, true
	begin := time.Now()
	r, _ := b.run()
	if took := time.Since(begin); took > ProbeTime+2*time.Second || r.Checked[0].Claim.Verdict != stillso.Unknown {
		t.Errorf("%v, %+v", took, r.Checked[0])
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, b.memories, b.state, b.o); err == nil {
		t.Error("an ended run reports no error")
	}
}

// The state survives, and a damaged one is an empty one.
func TestState(t *testing.T) {
	b := newBench(t, "See src/a.go.")
	b.run()
	path := filepath.Join(t.TempDir(), "claims.json")
	data, err := b.state.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "src/a") {
		t.Errorf("the state holds text of memories: %s", data)
	}
	for text, want := range map[string]int{string(data): 1, "": 0, "{": 0, "[]": 0, `{"memories":null}`: 0, `{"memories":{"m0":null}}`: 0} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := ReadState(path)
		if err != nil || len(s.Memories) != want {
			t.Errorf("%.20s: %v, %v", text, s, err)
		}
	}
	if s, err := ReadState(path + "-gone"); err != nil || len(s.Memories) != 0 {
		t.Errorf("%v, %v", s, err)
	}
	if _, err := ReadState(t.TempDir()); err == nil {
		t.Error("a folder is a state")
	}
	b.state.Keep(func(id string) bool { return false })
	if len(b.state.Memories) > 0 {
		t.Error("kept")
	}
}

// 400 local claims must take no longer than 2 s.
func TestFourHundredClaims(t *testing.T) {
	b := newBench(t)
	for i := range 3000 {
		b.put(fmt.Sprintf("src/d%d/f%d.go", i%40, i), "package x\n")
	}
	for i := range 200 {
		m := &stillso.Memory{ID: fmt.Sprint("m", i), Namespace: "project/p", Type: stillso.Fact, Content: fmt.Sprintf("See src/d%d/f%d.go and gone_%d.rs.", i%40, i, i)}
		m.Default(start)
		b.memories = append(b.memories, m)
	}
	begin := time.Now()
	r, changes := b.run()
	took := time.Since(begin)
	if len(r.Checked) != 400 || len(changes) != 200 || took > 2*time.Second {
		t.Errorf("%d claims, %d changes in %v", len(r.Checked), len(changes), took)
	}
	t.Logf("%d claims in %v", len(r.Checked), took)
}
