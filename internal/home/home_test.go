package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// The order of the variables is documented; a relative path would be another store in
// every directory.
func TestLocate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths of Unix")
	}
	cases := []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"STILLSO_HOME": "/a/", "XDG_DATA_HOME": "/x", "HOME": "/h"}, "/a"},
		{map[string]string{"XDG_DATA_HOME": "/x", "HOME": "/h"}, "/x/stillso"},
		{map[string]string{"XDG_DATA_HOME": "x", "HOME": "/h"}, "/h/.local/share/stillso"},
		{map[string]string{"STILLSO_HOME": "a", "HOME": "/h"}, ""},
		{map[string]string{"HOME": ""}, ""},
		{map[string]string{"HOME": "h"}, ""},
	}
	for _, c := range cases {
		got, err := Locate(func(k string) string { return c.env[k] })
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%v: %q, %v; want %q", c.env, got, err, c.want)
		}
	}
}

// A directory that others can write to would let them put words into every prompt.
func TestCheck(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes of Unix")
	}
	d := Dir(filepath.Join(t.TempDir(), "a", "b"))
	if d.Exists() {
		t.Error("exists too early")
	}
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{d.String(), d.Spool(), d.Journal()} {
		info, err := os.Stat(p)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777} {
		if err := os.Chmod(d.String(), mode); err != nil {
			t.Fatal(err)
		}
		if err := d.Check(); !errors.Is(err, ErrUnsafe) {
			t.Errorf("%v: %v", mode, err)
		}
	}
	file := Dir(filepath.Join(t.TempDir(), "f"))
	if err := os.WriteFile(file.String(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := file.Check(); !errors.Is(err, ErrUnsafe) {
		t.Errorf("a file: %v", err)
	}
}

// Hooks of twenty terminals append at once, while a sweep drains: no line may be lost,
// torn or seen by nobody.
func TestAppendWhileDraining(t *testing.T) {
	d := Dir(t.TempDir())
	const writers, each = 20, 50
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				line := fmt.Sprintf(`{"w":%d,"i":%d,"pad":"%s"}`, w, i, strings.Repeat("x", w*i))
				if err := d.Append(Queue, []byte(line)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var got []string
	drain := func() {
		if err := d.Drain(Queue, func(l []byte) error { got = append(got, string(l)); return nil }); err != nil {
			t.Error(err)
		}
	}
	for range 4 {
		drain()
	}
	wg.Wait()
	drain()
	drain()
	slices.Sort(got)
	if got = slices.Compact(got); len(got) != writers*each {
		t.Errorf("%d lines, want %d", len(got), writers*each)
	}
	for _, l := range got {
		if !strings.HasPrefix(l, `{"w":`) || !strings.HasSuffix(l, `"}`) {
			t.Errorf("torn line %q", l)
		}
	}
}

// What could not be stored must be handed over again, and before newer lines.
func TestDrainAgain(t *testing.T) {
	d := Dir(t.TempDir())
	fail := errors.New("store is full")
	for _, l := range []string{"1", "2"} {
		if err := d.Append(Receipts, []byte(l)); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.Drain(Receipts, func([]byte) error { return fail }); !errors.Is(err, fail) {
		t.Fatal(err)
	}
	if err := d.Append(Receipts, []byte("3")); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := d.Drain(Receipts, func(l []byte) error { got = append(got, string(l)); return nil }); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "") != "123" {
		t.Errorf("got %q", got)
	}
}

// Lines that are too long would be torn; foreign ones must not stop the drain.
func TestLines(t *testing.T) {
	d := Dir(t.TempDir())
	if err := d.Append(Queue, []byte(strings.Repeat("x", MaxLine))); err == nil {
		t.Error("a line that is too long was taken")
	}
	if err := d.Append(Queue, []byte("a\nb")); err == nil {
		t.Error("two lines were taken for one")
	}
	path := filepath.Join(d.Spool(), Queue)
	if err := os.MkdirAll(d.Spool(), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "a\n\n" + strings.Repeat("y", 1<<20) + "\n\xff\x00\nlast"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	if err := d.Drain(Queue, func(l []byte) error { got = append(got, string(l)); return nil }); err != nil {
		t.Fatal(err)
	}
	if strings.Join(got, "|") != "a|\xff\x00|last" {
		t.Errorf("got %.80q", got)
	}
}

// What one session was shown must not silence another, and a compacted session starts
// anew.
func TestSession(t *testing.T) {
	d := Dir(t.TempDir())
	now := time.Unix(3000*week-60, 0)
	ids := func(list ...string) Session { return Session{Shown: list} }
	if err := errors.Join(d.Remember("s1", ids("a", "b"), now), d.Remember("s1", ids("c", "~x", "two\nlines"), now),
		d.Remember("../../x", ids("d"), now), d.Remember("", ids("e"), now), d.Remember("s2", ids(), now)); err != nil {
		t.Fatal(err)
	}
	for session, want := range map[string]string{"s1": "a|b|c|~x", "../../x": "d", "": "", "s2": ""} {
		got, err := d.Session(session, now)
		if err != nil || strings.Join(got.Shown, "|") != want {
			t.Errorf("%q: %v %v, want %q", session, got, err, want)
		}
	}
	next := now.Add(time.Hour) // another week
	if err := d.Remember("s1", ids("n"), next); err != nil {
		t.Fatal(err)
	}
	if got, _ := d.Session("s1", next); strings.Join(got.Shown, "|") != "a|b|c|~x|n" {
		t.Errorf("over the end of the week: %v", got)
	}
	if got, err := d.Last("s1", next); err != nil || strings.Join(got.Shown, "|") != "n" {
		t.Errorf("just now: %v %v", got, err)
	}
	if err := errors.Join(d.Forget("s1", next), d.Forget("s1", next), d.Forget("", next)); err != nil {
		t.Fatal(err)
	}
	if got, _ := d.Session("s1", next); len(got.Shown) != 0 {
		t.Errorf("after forgetting: %v", got)
	}
	if got, _ := d.Session("../../x", next); len(got.Shown) != 1 {
		t.Errorf("another one forgot too: %v", got)
	}
	for i := range 2000 {
		if err := d.Remember("long", Session{Shown: []string{fmt.Sprintf("id%04d", i)}, Terms: []string{"t", fmt.Sprint(i)}, Files: []string{fmt.Sprintf("/a b/%d", i)}}, now); err != nil {
			t.Fatal(err)
		}
	}
	got, err := d.Session("long", now)
	if err != nil || len(got.Shown) < 1500 || got.Shown[len(got.Shown)-1] != "id1999" || strings.Join(got.Terms, " ") != "t 1999" ||
		len(got.Files) != maxFiles || got.Files[maxFiles-1] != "/a b/1999" {
		t.Errorf("%d ids, terms %v, files %v, %v", len(got.Shown), got.Terms, got.Files, err)
	}
}

// Sessions share files: a thousand of them must not mix, and must not be a thousand files.
func TestManySessions(t *testing.T) {
	d := Dir(t.TempDir())
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := range 1000 {
		if err := d.Remember(fmt.Sprint("session ", i), Session{Shown: []string{fmt.Sprint("id", i)}}, now); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 1000 {
		if got, err := d.Session(fmt.Sprint("session ", i), now); err != nil || len(got.Shown) != 1 || got.Shown[0] != fmt.Sprint("id", i) {
			t.Fatalf("session %d: %v %v", i, got, err)
		}
	}
	list, err := os.ReadDir(filepath.Join(d.Spool(), "sessions"))
	if err != nil || len(list) > 256 {
		t.Errorf("%d files, %v", len(list), err)
	}
}

// A link in place of a spool file must not lead writes elsewhere.
func TestNoFollow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need rights")
	}
	d := Dir(t.TempDir())
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(target, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(d.Spool(), Queue)); err != nil {
		t.Fatal(err)
	}
	if err := d.Append(Queue, []byte("evil")); err == nil {
		t.Error("appended through a link")
	}
	if got, _ := os.ReadFile(target); string(got) != "x" {
		t.Errorf("target is %q", got)
	}
}

// The terms of a prompt about an erased memory must not stay in the files of sessions;
// what was shown must not come again.
func TestForgetTerms(t *testing.T) {
	d := Dir(t.TempDir())
	if err := d.Create(); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	if err := d.Remember("s", Session{Shown: []string{"id1"}, Terms: []string{"codename", "hush"}, Files: []string{"/a b"}}, now); err != nil {
		t.Fatal(err)
	}
	if err := d.ForgetTerms(); err != nil {
		t.Fatal(err)
	}
	got, err := d.Session("s", now)
	if err != nil || len(got.Terms) > 0 || len(got.Shown) != 1 || len(got.Files) != 1 {
		t.Errorf("%+v %v", got, err)
	}
	list, err := filepath.Glob(filepath.Join(d.Spool(), "sessions", "*"))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	if data, _ := os.ReadFile(list[0]); strings.Contains(string(data), "hush") {
		t.Errorf("still there: %s", data)
	}
}
