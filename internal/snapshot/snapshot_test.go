package snapshot

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"stillso"
)

// item is a document with its postings, as the tests feed and re-score it.
type item struct {
	doc   Doc
	posts []Posting
}

// build writes base items and delta items (later ones win) and opens the result.
func build(t testing.TB, base, delta []item, hide ...string) (*Snapshot, string) {
	t.Helper()
	dir := t.TempDir()
	w, err := Lock(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Unlock() }()
	feed := func(b *Builder, err error, items []item) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			if err := b.Add(it.doc, it.posts); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	b, err := w.NewBase(Options{Seq: 7, Constants: map[string][]byte{"k": []byte("v")}})
	feed(b, err, base)
	if len(delta)+len(hide) > 0 {
		b, err := w.NewDelta(Options{Seq: 9})
		if err == nil {
			for _, id := range hide {
				b.Hide(id)
			}
		}
		feed(b, err, delta)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, dir
}

func randomItem(r *rand.Rand, id int, terms int) item {
	spaces := []stillso.Namespace{"user", "project/a", "project/b", "team/x"}
	d := Doc{
		ID: fmt.Sprintf("m%05d", id), Namespace: spaces[r.IntN(len(spaces))], Type: stillso.Fact,
		State: stillso.Active, Origin: stillso.FromUser, Created: 5, Updated: int64(1000 + r.IntN(40)),
		Priority: uint8(1 + r.IntN(5)), Name: "name", Content: fmt.Sprintf("content of %d 内容", id),
	}
	var posts []Posting
	for t := range terms {
		// Term t stands in about 1 of t+1 documents, so lists have all lengths.
		if r.IntN(t+1) != 0 {
			continue
		}
		p := Posting{Term: fmt.Sprintf("t%d", t), I0: uint8(r.IntN(100))}
		p.I1 = p.I0
		if r.IntN(4) == 0 {
			p.I1, p.Mask = p.I0+uint8(r.IntN(100)), r.Uint64()>>r.IntN(64)
		}
		posts = append(posts, p)
	}
	return item{d, posts}
}

// score is the definition of L, in the index's whole numbers: passage by passage, every
// term of the query that the document has. places says where in the query a term stands.
func (it item) score(query []QueryTerm, places map[string][]int) (sum, matched uint32) {
	var passages uint64
	var have []Posting
	for _, post := range it.posts {
		if len(places[post.Term]) > 0 && (post.I0 > 0 || post.Mask != 0 && post.I1 > post.I0) {
			passages |= post.Mask
			have = append(have, post)
		}
	}
	for p := -1; p < 64; p++ {
		if p >= 0 && passages>>p&1 == 0 {
			continue
		}
		var one uint32
		for _, post := range have {
			v := post.I0
			if p >= 0 && post.Mask>>p&1 == 1 {
				v = post.I1
			}
			for _, i := range places[post.Term] {
				matched |= 1 << i
				one += uint32(v) * quantise(query[i].Weight)
			}
		}
		sum = max(sum, one)
	}
	return sum, matched
}

type want struct {
	id           string
	updated      int64
	sum, matched uint32
}

func slow(items []item, query []QueryTerm, k int, ok func(Doc) bool) []want {
	places := map[string][]int{}
	for i, q := range query {
		if quantise(q.Weight) > 0 {
			places[q.Term] = append(places[q.Term], i)
		}
	}
	var all []want
	for _, it := range items {
		if sum, matched := it.score(query, places); sum > 0 && ok(it.doc) {
			all = append(all, want{it.doc.ID, it.doc.Updated, sum, matched})
		}
	}
	slices.SortFunc(all, func(a, b want) int {
		return cmp.Or(cmp.Compare(b.sum, a.sum), cmp.Compare(b.updated, a.updated), cmp.Compare(a.id, b.id))
	})
	return all[:min(k, len(all))]
}

// The fast search must return exactly what scoring every document returns: a bound
// that is too low loses the right memory without a sign.
func TestSearchEqualsSlowScan(t *testing.T) {
	for round, n := range []uint16{0, 1, 50, 129, 1500, 5000} {
		searchEqualsSlowScan(t, uint64(round), n, false, 25)
		searchEqualsSlowScan(t, uint64(round), n, true, 25)
	}
}

func FuzzSearch(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed, uint16(seed*700), seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, n uint16, withDelta bool) {
		searchEqualsSlowScan(t, seed, n%4500, withDelta, 8)
	})
}

// searchEqualsSlowScan compares queries on a random store of n documents.
func searchEqualsSlowScan(t *testing.T, seed uint64, n uint16, withDelta bool, queries int) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 2))
	var base, delta []item
	for i := range int(n) {
		base = append(base, randomItem(r, i, 40))
	}
	var hide []string
	if withDelta {
		for i := range int(n)/10 + 3 {
			delta = append(delta, randomItem(r, i*7, 40))
		}
		hide = []string{"m00003", "m00010", "absent"}
	}
	s, _ := build(t, base, delta, hide...)
	hidden := map[string]bool{}
	for _, id := range hide {
		hidden[id] = true
	}
	all := slices.Clone(delta)
	for _, it := range delta {
		hidden[it.doc.ID] = true
	}
	for _, it := range base {
		if !hidden[it.doc.ID] {
			all = append(all, it)
		}
	}
	if got := s.All().Len(); got != len(all) {
		t.Fatalf("seed %d: %d documents, want %d", seed, got, len(all))
	}
	for q := range queries {
		compareSearch(t, r, s, all, fmt.Sprintf("seed %d, %d documents, query %d", seed, n, q))
	}
}

func compareSearch(t *testing.T, r *rand.Rand, s *Snapshot, all []item, name string) {
	t.Helper()
	var query []QueryTerm
	for range 1 + r.IntN(32) {
		query = append(query, QueryTerm{fmt.Sprintf("t%d", r.IntN(45)), float32(r.IntN(20)) / 10})
	}
	k := 1 + r.IntN(60)
	spaces := []stillso.Namespace{"user", "project/a", "none"}
	odd := r.IntN(3) == 0
	accept := func(ref Ref) bool { return !odd || s.Head(ref).Priority%2 == 1 }
	view, in := s.All(), func(stillso.Namespace) bool { return true }
	if r.IntN(2) == 0 {
		view, in = s.In(spaces...), func(n stillso.Namespace) bool { return slices.Contains(spaces, n) }
	}
	got := view.Search(query, k, accept)
	exp := slow(all, query, k, func(d Doc) bool { return in(d.Namespace) && (!odd || d.Priority%2 == 1) })
	if s.Err() != nil {
		t.Fatal(name, s.Err())
	}
	if len(got) != len(exp) {
		t.Fatalf("%s: %d results, want %d", name, len(got), len(exp))
	}
	for i, c := range got {
		d := s.Doc(c.Ref)
		if d.ID != exp[i].id || c.L != nats(exp[i].sum) || c.Matched != exp[i].matched {
			t.Fatalf("%s: place %d is %s %v %b, want %+v", name, i, d.ID, c.L, c.Matched, exp[i])
		}
		if again := s.Score(c.Ref, query); again != c {
			t.Fatalf("%s: scored alone %+v, in the search %+v", name, again, c)
		}
	}
}

// What is read must be what was written, and a delta must take the base's place.
func TestRoundTrip(t *testing.T) {
	d := Doc{
		ID: "a", Namespace: "project/p", Type: stillso.Todo, State: stillso.Superseded, Origin: stillso.FromImport,
		Created: 1_700_000_000, Updated: 1_700_000_001, Priority: 5, Flags: HasAliases | Resident, Numbers: 0xdeadbeef,
		Name: "n", Content: "c\x00\xff", Label: "l", RelatedFiles: []string{"x/y.go", ""}, LoadedBy: []string{"claude-code"},
	}
	old := d
	old.Content = "old"
	gone := d
	gone.ID = "gone"
	s, dir := build(t, []item{{old, []Posting{{Term: "x", I0: 9, I1: 9}}}, {gone, nil}}, []item{{d, []Posting{{Term: "y", I0: 1, I1: 3, Mask: 2}}}}, "gone")
	ref, ok := s.Find("a")
	if !ok {
		t.Fatal("not found by id")
	}
	d.Flags |= Loaded
	if got := s.Doc(ref); !reflect.DeepEqual(got, d) {
		t.Errorf("got %+v\nwant %+v", got, d)
	}
	if got := s.All().Search([]QueryTerm{{"x", 1}}, 5, nil); len(got) != 0 {
		t.Errorf("what the delta replaced was found: %v", got)
	}
	if got := s.Search([]QueryTerm{{"y", 1}}, 5, nil); len(got) != 1 || got[0].L != 3.0/16 {
		t.Errorf("what the delta holds: %v", got)
	}
	if _, ok := s.Find("gone"); ok {
		t.Error("a hidden document was found by id")
	}
	if got := s.In("project/p").Residents(); len(got) != 1 || got[0] != ref {
		t.Errorf("residents %v, want %v", got, ref)
	}
	if string(s.Constant("k")) != "v" || s.Seq() != 9 || s.Frequency("x") != 1 || s.Namespace(ref) != "project/p" {
		t.Error("constant, seq, frequency or namespace differ")
	}
	if err := s.Verify(); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, BaseFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	rest, _ := filepath.Glob(filepath.Join(dir, "*.*.*"))
	if len(rest) > 0 {
		t.Errorf("left behind: %v", rest)
	}
}

// A delta of another base must never be applied: its numbers mean other documents.
func TestDeltaOfAnotherBase(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	_, dir := build(t, []item{randomItem(r, 1, 5), randomItem(r, 2, 5)}, []item{randomItem(r, 1, 5)})
	_, other := build(t, []item{randomItem(r, 1, 5)}, nil)
	data, err := os.ReadFile(filepath.Join(other, BaseFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, BaseFile), data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if s.All().Len() != 1 || s.Delta() == nil {
		t.Errorf("%d documents, delta error %v", s.All().Len(), s.Delta())
	}
}

// Missing, empty, cut and foreign files are typed errors; a link is not followed.
func TestOpenErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	_, dir := build(t, []item{randomItem(r, 1, 5)}, nil)
	path := filepath.Join(dir, BaseFile)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	newer := slices.Clone(good)
	newer[8] = 99
	cases := []struct {
		name string
		data []byte
		want error
	}{
		{"empty", nil, stillso.ErrDamaged},
		{"cut", good[:len(good)-1], stillso.ErrDamaged},
		{"longer", append(slices.Clone(good), 0), stillso.ErrDamaged},
		{"header only", good[:headerSize], stillso.ErrDamaged},
		{"foreign", make([]byte, 5000), stillso.ErrDamaged},
		{"newer", newer, stillso.ErrNewer},
	}
	for _, c := range cases {
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
	link := t.TempDir()
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, filepath.Join(link, BaseFile)); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	if _, err := Open(link); err == nil {
		t.Error("a symbolic link was followed")
	}
}

// Two writers at once would lose one's memory from the index.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	w, err := Lock(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Lock(dir, 20*time.Millisecond); !errors.Is(err, stillso.ErrBusy) {
		t.Errorf("second writer: %v", err)
	}
	if err := w.Unlock(); err != nil {
		t.Fatal(err)
	}
	if w, err = Lock(dir, 0); err != nil {
		t.Fatal(err)
	}
	if err := w.Unlock(); err != nil {
		t.Error(err)
	}
}

// Any flipped or overwritten byte must end in an error or in the right answer.
func FuzzDamage(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 5))
	var items []item
	for i := range 400 {
		items = append(items, randomItem(r, i, 25))
	}
	_, dir := build(f, items, nil)
	good, err := os.ReadFile(filepath.Join(dir, BaseFile))
	if err != nil {
		f.Fatal(err)
	}
	query := []QueryTerm{{"t0", 1}, {"t3", 0.5}, {"t9", 2}, {"t24", 1}}
	exp := slow(items, query, 10, func(Doc) bool { return true })
	for i := range 300 {
		f.Add(uint32(i*len(good)/300), byte(1<<(i%8)), uint16(0))
		f.Add(uint32(i), byte(255), uint16(i%40))
	}
	f.Fuzz(func(t *testing.T, at uint32, flip byte, more uint16) {
		data := slices.Clone(good)
		for i := range int(more)%64 + 1 {
			data[(int(at)+i)%len(data)] ^= flip + byte(i)
		}
		seg, err := parse(&file{memory: data, size: int64(len(data))})
		if err != nil {
			return
		}
		s := &Snapshot{base: seg}
		got := s.Search(query, 10, nil)
		for i, c := range got {
			if d := s.Doc(c.Ref); s.Err() == nil && (d.ID != exp[i].id || c.L != nats(exp[i].sum)) {
				t.Fatalf("damage at %d gave a wrong answer: %s, want %s", at, d.ID, exp[i].id)
			}
		}
		if len(got) < len(exp) && s.Err() == nil && !errors.Is(s.Err(), stillso.ErrDamaged) {
			t.Fatalf("damage at %d lost answers without an error", at)
		}
		s.Find("m00003")
		if !slices.Equal(data, good) && s.Verify() == nil {
			t.Fatalf("damage at %d was not seen by Verify", at)
		}
	})
}
