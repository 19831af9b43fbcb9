package storetest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"stillso"
)

// A search that takes text for syntax fails on ordinary questions, and one that
// keeps old text finds what is no longer said.
func testSearch(t *testing.T, open Opener) {
	s := open(t)
	deploy := memory("deploy", "Run the database migration before the deployment.")
	named := memory("named", "Something else entirely about widgets.")
	named.Name = "deployment"
	alias := memory("alias", "Use make ship.")
	alias.Aliases = []string{"how do I roll out a release"}
	body := memory("body", "See the text.")
	body.Body = strings.Repeat("filler words go here. ", 40) + "The kubernetes ingress listens on 8443. " + strings.Repeat("more filler. ", 40)
	zh := memory("zh", "部署前先跑数据库迁移")
	zh.Namespace = "user"
	code := memory("code", "parseConfigFile panics on an empty file")
	old := memory("old", "Run the database migration before the deployment.")
	old.State = stillso.Superseded
	apply(t, s, add(deploy), add(named), add(alias), add(body), add(zh), add(code), add(old))

	find := func(q stillso.TextQuery) []stillso.Found {
		t.Helper()
		list, err := s.Search(t.Context(), q)
		if err != nil {
			t.Fatalf("Search(%q): %v", q.Text, err)
		}
		for i := 1; i < len(list); i++ {
			if list[i].Score > list[i-1].Score {
				t.Errorf("Search(%q): result %d scores more than the one before", q.Text, i)
			}
		}
		return list
	}
	first := func(text, id string) {
		t.Helper()
		if list := find(stillso.TextQuery{Text: text}); len(list) == 0 || list[0].Memory.ID != id {
			t.Errorf("Search(%q) = %v; want %s first", text, foundIDs(list), id)
		}
	}
	first("migrations", "deploy")
	first("deployment", "named")
	first("rolling out releases", "alias")
	first("数据库迁移怎么跑", "zh")
	first("parse config", "code")
	first("ingress", "body")
	if e := find(stillso.TextQuery{Text: "ingress"})[0].Excerpt; !strings.Contains(e, "8443") || len(e) > 400 {
		t.Errorf("excerpt = %q", e)
	}
	for _, q := range []string{"", "   ", "ok, go on", `"`, `content:x AND NEAR(a b) OR *`, "a\x00b'; DROP TABLE memories;--", "^(", "\xff", strings.Repeat("word ", 5000)} {
		find(stillso.TextQuery{Text: q})
	}
	if list := find(stillso.TextQuery{Text: "database migration", Filter: stillso.Filter{States: []stillso.State{stillso.Superseded}}}); foundIDs(list) != "[old]" {
		t.Errorf("by state: %s; want [old]", foundIDs(list))
	}
	if list := find(stillso.TextQuery{Text: "数据库 database", Filter: stillso.Filter{Namespaces: []stillso.Namespace{"user"}}}); foundIDs(list) != "[zh]" {
		t.Errorf("by namespace: %s; want [zh]", foundIDs(list))
	}
	if list := find(stillso.TextQuery{Text: "database migration deployment", Filter: stillso.Filter{Limit: 1}}); len(list) != 1 {
		t.Errorf("limit 1 returned %d", len(list))
	}
	apply(t, s, change("e", stillso.VerbEdit, stillso.Edit{Before: code, After: edited(code, "zebra crossing")}))
	if list := find(stillso.TextQuery{Text: "panics"}); len(list) != 0 {
		t.Errorf("text that was edited away is found: %s", foundIDs(list))
	}
	first("zebras", "code")
	if _, err := s.Undo(t.Context(), "add-alias", human, start); err != nil {
		t.Fatal(err)
	}
	if list := find(stillso.TextQuery{Text: "release"}); len(list) != 0 {
		t.Errorf("a memory that was undone is found: %s", foundIDs(list))
	}
}

func foundIDs(list []stillso.Found) string {
	var out []string
	for _, f := range list {
		if f.Memory != nil {
			out = append(out, f.Memory.ID)
		} else {
			out = append(out, f.Turn.ID)
		}
	}
	return fmt.Sprint(out)
}

// A session whose turns count twice would be captured twice.
func testSessions(t *testing.T, open Opener) {
	s := open(t)
	one := stillso.Session{ID: "one", Host: "claude-code", Namespace: "project/p", Directory: "/d", Transcript: "/t.jsonl", StartedAt: start, Offset: 10, Mark: "m"}
	turns := []stillso.Turn{
		{ID: "t1", Session: "one", Speaker: stillso.Typed, Text: "please use the blue walrus", At: start, Directory: "/d"},
		{ID: "t2", Session: "one", Speaker: stillso.Assistant, Text: "the green walrus it is", At: start.Add(time.Second)},
		{ID: "t3", Speaker: stillso.Tool, Text: "walrus output", At: start.Add(-time.Hour)},
	}
	record := func(se stillso.Session, turns []stillso.Turn, want int) {
		t.Helper()
		if n, err := s.Record(t.Context(), se, turns); err != nil || n != want {
			t.Errorf("Record(%s) = %d, %v; want %d", se.ID, n, err, want)
		}
	}
	record(one, turns[:2], 2)
	one.Offset, one.Captured = 20, 2
	record(one, turns, 1)
	record(one, turns, 0)
	fork := stillso.Session{ID: "fork", Host: "claude-code", Namespace: "project/q", StartedAt: start.Add(time.Hour)}
	record(fork, []stillso.Turn{turns[0], {ID: "t4", Speaker: stillso.Typed, Text: "a walrus in the fork", At: start.Add(time.Hour)}}, 1)

	got, err := s.Session(t.Context(), "one")
	if err != nil || !reflect.DeepEqual(*got, one) {
		t.Errorf("Session = %+v, %v\nwant %+v", got, err, one)
	}
	if _, err := s.Session(t.Context(), "none"); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("Session(none) = %v; want ErrNotFound", err)
	}
	list, err := s.Sessions(t.Context(), time.Time{})
	if err != nil || len(list) != 2 || list[0].ID != "fork" {
		t.Errorf("Sessions = %+v, %v; want fork, one", list, err)
	}
	if list, err := s.Sessions(t.Context(), start); err != nil || len(list) != 1 {
		t.Errorf("Sessions after the first = %+v, %v; want one", list, err)
	}
	back, err := s.Turns(t.Context(), "one")
	turns[2].Session = "one"
	for i := range turns {
		turns[i].At = turns[i].At.Truncate(time.Microsecond)
	}
	if err != nil || !reflect.DeepEqual(back, turns) {
		t.Errorf("Turns = %+v, %v\nwant %+v", back, err, turns)
	}
	search := func(q stillso.TextQuery, want string) {
		t.Helper()
		q.Text, q.Turns = "walrus", true
		if list, err := s.Search(t.Context(), q); err != nil || foundIDs(list) != want {
			t.Errorf("Search(%+v) = %s, %v; want %s", q, foundIDs(list), err, want)
		}
	}
	search(stillso.TextQuery{Filter: stillso.Filter{Namespaces: []stillso.Namespace{"project/q"}}}, "[t4]")
	search(stillso.TextQuery{Filter: stillso.Filter{Until: start}}, "[t1]")
	if list, err := s.Search(t.Context(), stillso.TextQuery{Text: "walrus"}); err != nil || len(list) != 0 {
		t.Errorf("turns are found without being asked for: %s, %v", foundIDs(list), err)
	}

	p := stillso.Place{Namespace: "project/p", Root: "/d", Remote: "r", SeenAt: start}
	p2 := stillso.Place{Namespace: "project/p", Root: "/e", SeenAt: start.Add(time.Hour)}
	p.Birth = "b"
	for _, x := range []stillso.Place{{Namespace: "project/p", Root: "/d", SeenAt: start.Add(-time.Hour)}, p, p2} {
		if err := s.Seen(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	if places, err := s.Places(t.Context()); err != nil || !reflect.DeepEqual(places, []stillso.Place{p2, p}) {
		t.Errorf("Places = %+v, %v", places, err)
	}
}

// Work that is queued twice is done twice; work that gets lost is never done.
func testQueue(t *testing.T, open Opener) {
	s := open(t)
	item := func(key string, at time.Time) stillso.QueueItem {
		return stillso.QueueItem{Kind: "capture", Key: key, Payload: map[string]string{"k": key}, At: at}
	}
	waiting := func(now time.Time, limit int) (list []stillso.QueueItem, keys string) {
		t.Helper()
		list, err := s.Waiting(t.Context(), now, limit)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range list {
			keys += it.Key
		}
		return list, keys
	}
	at := start.Truncate(time.Microsecond)
	if err := s.Enqueue(t.Context(), item("b", at.Add(time.Second)), item("a", at), item("a", at)); err != nil {
		t.Fatal(err)
	}
	if err := s.Enqueue(t.Context(), item("b", at)); err != nil {
		t.Fatal(err)
	}
	list, keys := waiting(at, 0)
	if keys != "ab" || list[0].Payload["k"] != "a" || !list[0].At.Equal(at) {
		t.Fatalf("Waiting = %+v; want a, b", list)
	}
	if _, keys := waiting(at, 1); keys != "a" {
		t.Errorf("Waiting, one = %q; want a", keys)
	}
	if err := s.Postpone(t.Context(), list[0].ID, at.Add(time.Minute), "no model"); err != nil {
		t.Fatal(err)
	}
	if _, keys := waiting(at, 0); keys != "b" {
		t.Errorf("Waiting after a postponement = %q; want b", keys)
	}
	list, keys = waiting(at.Add(time.Minute), 0)
	if keys != "ab" || list[0].Attempts != 1 || list[0].LastError != "no model" || !list[0].NotBefore.Equal(at.Add(time.Minute)) {
		t.Errorf("Waiting a minute later = %+v; want a, b", list)
	}
	for range 2 { // finishing what is finished is fine
		if err := s.Finish(t.Context(), list[0].ID); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Postpone(t.Context(), list[0].ID, at, ""); !errors.Is(err, stillso.ErrNotFound) {
		t.Errorf("Postpone of nothing = %v; want ErrNotFound", err)
	}
	if err := s.Enqueue(t.Context(), item("a", at)); err != nil {
		t.Fatal(err)
	}
	if list, keys := waiting(at, 0); keys != "ab" || list[0].Attempts != 0 {
		t.Errorf("Waiting after a is queued again = %+v; want a, b", list)
	}
}

// A ledger that books twice or loses a line makes every figure wrong.
func testLedger(t *testing.T, open Opener) {
	s := open(t)
	r := stillso.Receipt{
		V: 1, At: start, Host: "h", Event: "prompt", Namespace: "user", Terms: []string{"a"},
		Hits: []stillso.ReceiptHit{{ID: "m", Score: 1.5, Shown: true}}, Micros: 900, Bytes: 10,
	}
	r2 := r
	r2.At, r2.Silence, r2.Hits = start.Add(time.Second), "nothing relevant", nil
	for range 2 { // the spool file is drained again after a crash
		if err := s.AddReceipts(t.Context(), []stillso.Receipt{r, r2}); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := s.Receipts(t.Context(), time.Time{}, 0); err != nil || !reflect.DeepEqual(list, []stillso.Receipt{r2, r}) {
		t.Errorf("Receipts = %+v, %v", list, err)
	}
	if list, err := s.Receipts(t.Context(), r2.At, 5); err != nil || len(list) != 1 {
		t.Errorf("Receipts since the second = %d, %v; want 1", len(list), err)
	}
	if list, err := s.Receipts(t.Context(), time.Time{}, 1); err != nil || len(list) != 1 {
		t.Errorf("one receipt = %d, %v", len(list), err)
	}
	u := stillso.Usage{At: start, Purpose: "capture", Model: "m", In: 10, Out: 5, Millis: 3, CostUSD: 0.01}
	for range 2 { // two equal calls are two calls
		if err := s.AddUsage(t.Context(), u); err != nil {
			t.Fatal(err)
		}
	}
	if list, err := s.Usage(t.Context(), start); err != nil || len(list) != 2 || list[0] != u {
		t.Errorf("Usage = %+v, %v", list, err)
	}
	if list, err := s.Usage(t.Context(), start.Add(time.Second)); err != nil || len(list) != 0 {
		t.Errorf("Usage later = %+v, %v", list, err)
	}
}

// Writers that lose each other's changes, or readers that see half of one.
func testConcurrent(t *testing.T, open Opener) {
	s := open(t)
	const writers, each = 4, 10
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				a, b := memory(fmt.Sprintf("a-%d-%d", w, i), "pair"), memory(fmt.Sprintf("b-%d-%d", w, i), "pair")
				if _, err := s.Apply(t.Context(), change("c-"+a.ID, stillso.VerbAdd, stillso.Edit{After: a}, stillso.Edit{After: b})); err != nil {
					t.Errorf("Apply: %v", err)
				}
			}
		})
		wg.Go(func() {
			for range each {
				list, err := s.Memories(t.Context(), stillso.Filter{})
				if err != nil || len(list)%2 != 0 {
					t.Errorf("Memories = %d, %v; want pairs", len(list), err)
				}
			}
		})
	}
	wg.Wait()
	list, err := s.Journal(t.Context(), stillso.JournalFilter{Oldest: true})
	if err != nil || len(list) != writers*each {
		t.Fatalf("Journal = %d changes, %v; want %d", len(list), err, writers*each)
	}
	for i, c := range list {
		if c.Seq != int64(i)+1 {
			t.Fatalf("change %d has Seq %d", i+1, c.Seq)
		}
	}
}
