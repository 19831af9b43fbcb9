package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"stillso"
	"stillso/internal/namespace"
	"stillso/internal/snapshot"
	"stillso/internal/store/sqlite"
)

// checkup makes the findings of doctor, one method a subject.
type checkup struct {
	app    *app
	health *health
	dir    string
	// st is the store, opened for reading only; nil if there is none or it
	// cannot be opened.
	st store
}

func (d *checkup) home(context.Context) {
	a := d.app
	if !a.dir.Exists() {
		d.health.add("home", note, "stillso remember saves the first memory", "%s is not there yet", a.dir)
		return
	}
	if err := a.dir.Check(); err != nil {
		d.health.add("home", problem, "stillso repair, or make it yours alone: chmod 700", "%v", err)
		return
	}
	if err := a.usable(); err != nil {
		d.health.add("home", problem, "make it yours alone: chmod 700", "%v", err)
		return
	}
	if odd := oddFiles(a.dir); len(odd) > 0 {
		d.health.add("home", problem, "move it away; it is made anew", "%s", strings.Join(odd, "; "))
		return
	}
	if open := looseFiles(string(a.dir)); len(open) > 0 {
		d.health.add("home", note, "stillso repair closes them", "others may read %s: %s", plural(len(open), "file", "files"), strings.Join(open[:min(3, len(open))], ", "))
		return
	}
	d.health.add("home", fine, "", "%s, for you only", a.dir)
}

// looseFiles lists what below the home others may read or write.
func looseFiles(dir string) []string {
	if runtime.GOOS == "windows" {
		return nil // there, the access list of the profile directory decides
	}
	var out []string
	//nolint:errcheck,gosec // what cannot be listed is reported by the other checks
	filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil && info.Mode().Perm()&0o077 != 0 && info.Mode()&fs.ModeSymlink == 0 {
			out = append(out, path)
		}
		return nil
	})
	return out
}

func (d *checkup) store(ctx context.Context) {
	if !d.app.exists() {
		d.health.add("store", note, "", "nothing was saved yet")
		return
	}
	st, err := sqlite.Open(ctx, string(d.app.dir), sqlite.Options{ReadOnly: true})
	if err != nil {
		d.health.add("store", problem, "stillso repair", "%s", bareProblem(err.Error()))
		return
	}
	d.st = st
	d.app.opened = st // closed with the app; doctor itself only reads
	counts, total := map[stillso.State]int{}, 0
	if _, err := st.Each(ctx, 0, func(m *stillso.Memory, _ int64) error {
		counts[m.State]++
		total++
		return nil
	}); err != nil {
		d.health.add("store", problem, "stillso repair", "its memories cannot be read: %v", err)
		return
	}
	var parts []string
	for _, s := range stillso.States() {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	d.health.add("store", fine, "", "%s (%s)", plural(total, "memory", "memories"), strings.Join(parts, ", "))
}

// bareProblem drops the advice to repair from what the store says: it stands beside
// it, or it is being followed.
func bareProblem(text string) string { return strings.ReplaceAll(text, "; run stillso repair", "") }

// journal compares the store with its journal, its segments and its sidecar.
func (d *checkup) journal(ctx context.Context) {
	if d.st == nil {
		return
	}
	problems, err := sqlite.Check(ctx, string(d.app.dir), sqlite.Options{ReadOnly: true})
	if err != nil {
		d.health.add("journal", problem, "stillso repair", "%v", err)
		return
	}
	for _, p := range problems {
		do := p.Do
		if do == "" {
			do = "stillso repair"
		}
		d.health.add("journal", problem, do, "%s: %s", p.Part, p.What)
	}
	if len(problems) == 0 {
		d.health.add("journal", fine, "", "unbroken, and the store is what it says")
	}
}

func (d *checkup) index(ctx context.Context) {
	if d.st == nil {
		return
	}
	const do = "stillso sweep --rebuild"
	seq, err := d.st.Seq(ctx)
	if err != nil {
		d.health.add("index", problem, "stillso repair", "%v", err)
		return
	}
	snap, err := snapshot.Open(string(d.app.dir))
	if err != nil {
		if seq == 0 && errors.Is(err, stillso.ErrNotFound) {
			d.health.add("index", fine, "", "nothing to index yet")
			return
		}
		d.health.add("index", problem, do, "recall is silent: %v", err)
		return
	}
	defer snap.Close() //nolint:errcheck // it was only read
	if err := snap.Verify(); err != nil {
		d.health.add("index", problem, do, "recall is silent: %v", err)
		return
	}
	if ofOther(snap, d.st) {
		d.health.add("index", problem, do, "it was made from another store: recall shows what is not in this one")
		return
	}
	if err := snap.Delta(); err != nil {
		d.health.add("index", problem, do, "what was saved last is not found: %v", err)
		return
	}
	if behind := seq - snap.Seq(); behind > 0 {
		d.health.add("index", problem, do, "it is %s behind the store", plural(int(behind), "change", "changes"))
		return
	}
	d.health.add("index", fine, "", "%s, up to date, every checksum right", plural(snap.All().Len(), "memory", "memories"))
}

func (d *checkup) places(ctx context.Context) {
	reg, err := namespace.ReadRegistry(d.app.dir.Places())
	if err != nil {
		d.health.add("places", problem, "stillso repair", "%v", err)
		return
	}
	orphans, found := reg.Orphans(), 0
	for _, p := range orphans {
		found++
		d.health.add("places", note, fmt.Sprintf("if it moved: stillso adopt %s NEW-DIR", p.Namespace),
			"%s%s lived in %s, which is gone", p.Namespace, d.withMemories(ctx, p.Namespace), p.Root)
	}
	for _, p := range taken(reg) {
		with := d.withMemories(ctx, p.Namespace)
		if with == "" || slices.ContainsFunc(orphans, func(o stillso.Place) bool { return o.Namespace == p.Namespace }) {
			continue
		}
		found++
		now, err := namespace.Resolve(p.Root, reg)
		if err != nil {
			continue // it went away meanwhile
		}
		d.health.add("places", note, fmt.Sprintf("stillso adopt %s %s", p.Namespace, shellWord(p.Root)),
			"%s%s is recalled nowhere: %s belongs to %s now", p.Namespace, with, p.Root, now.Namespace)
	}
	if found == 0 {
		d.health.add("places", fine, "", "%s known, all there", plural(len(reg.Places()), "directory", "directories"))
	}
}

// shellWord writes a path so that it can be pasted as one word.
func shellWord(path string) string {
	if strings.ContainsAny(path, " \t\n'\"\\$`&|;<>()*?[]#~!{}") {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// taken lists the places that are there but belong to another namespace now, as a
// folder does whose parent became a repository, where no other place is left to theirs.
func taken(reg namespace.Registry) []stillso.Place {
	var list []stillso.Place
	alive := map[stillso.Namespace]bool{}
	for _, o := range reg.Overrides() {
		alive[o.Namespace] = true
	}
	for _, p := range reg.Places() {
		if st, err := os.Stat(p.Root); err != nil || !st.IsDir() {
			continue
		}
		if now, err := namespace.Resolve(p.Root, reg); err == nil && now.Namespace != p.Namespace {
			list = append(list, p)
		} else {
			alive[p.Namespace] = true
		}
	}
	return slices.DeleteFunc(list, func(p stillso.Place) bool { return alive[p.Namespace] })
}

// withMemories says how many active memories a namespace has; nothing if there are
// none, or if they cannot be counted.
func (d *checkup) withMemories(ctx context.Context, ns stillso.Namespace) string {
	if d.st == nil {
		return ""
	}
	ms, err := d.st.Memories(ctx, stillso.Filter{Namespaces: []stillso.Namespace{ns}, States: []stillso.State{stillso.Active}})
	if err != nil || len(ms) == 0 {
		return ""
	}
	return " with " + plural(len(ms), "memory", "memories")
}

func (d *checkup) sweep(context.Context) {
	a := d.app
	if d.st == nil && !a.spooled() {
		return
	}
	last, err := readLastSweep(a.dir.SweepLog())
	switch {
	case err != nil:
		d.health.add("sweep", problem, "", "its log cannot be read: %v", err)
	case last == nil:
		d.health.add("sweep", note, "stillso sweep runs one now; the hook starts them by itself", "none has run yet")
	case last.Msg == "failed":
		d.health.add("sweep", problem, "look into "+a.dir.SweepLog()+", then stillso sweep", "the last one, %s, failed: %s", ago(a.now(), last.At), last.Error)
	default:
		d.health.add("sweep", fine, "", "the last one ended %s", ago(a.now(), last.At))
	}
	if oldest, n := spoolLag(a.dir.Spool()); n > 0 {
		l := fine
		if a.now().Sub(oldest) > 24*time.Hour {
			l = problem
		}
		detail := "%d bytes wait, written to since %s"
		if sweeping(a.dir.SweepLock()) {
			detail += "; a sweep is at work"
		}
		d.health.add("spool", l, "stillso sweep", detail, n, ago(a.now(), oldest))
	}
}

// spoolLag returns since when the oldest file of the spool waits, and how many
// bytes wait in all.
func spoolLag(dir string) (oldest time.Time, bytes int64) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return oldest, 0
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			continue
		}
		bytes += info.Size()
		if oldest.IsZero() || info.ModTime().Before(oldest) {
			oldest = info.ModTime()
		}
	}
	return oldest, bytes
}

// sweeping reports whether a sweep is running; it makes no lock file.
func sweeping(lock string) bool {
	if info, err := os.Lstat(lock); err != nil || !info.Mode().IsRegular() {
		return false
	}
	l := flock.New(lock)
	got, err := l.TryRLock()
	if err == nil && got {
		l.Unlock() //nolint:errcheck,gosec // it was free, and closing frees it
	}
	return err == nil && !got
}

func (d *checkup) memories(ctx context.Context) {
	if d.st == nil {
		return
	}
	ms, err := d.st.Memories(ctx, stillso.Filter{States: []stillso.State{stillso.Active}})
	if err != nil || len(ms) == 0 {
		return
	}
	bare := 0
	for _, m := range ms {
		if len(m.Aliases) == 0 {
			bare++
		}
	}
	l, do := fine, ""
	if bare*2 > len(ms) {
		l, do = note, "stillso enrich writes the words people type; or stillso edit ID --alias"
	}
	d.health.add("aliases", l, do, "%d of %s without aliases", bare, plural(len(ms), "active memory", "active memories"))
}

// model says which model captures and enriches, and how its last call went.
func (d *checkup) model(ctx context.Context) {
	m, choice, _, err := d.app.choose()
	switch {
	case err != nil:
		d.health.add("model", problem, "", "%v", err)
		return
	case m == nil:
		d.health.add("model", fine, "", "none; rules capture: %s", choice.Why)
		return
	}
	if d.st != nil {
		calls, err := d.st.Usage(ctx, d.app.now().Add(-7*24*time.Hour))
		if err == nil && len(calls) > 0 {
			last := slices.MaxFunc(calls, func(a, b stillso.Usage) int { return a.At.Compare(b.At) })
			if last.Error != "" {
				d.health.add("model", problem, "stillso usage", "%s: its last call, %s, failed: %s", m.Name(), ago(d.app.now(), last.At), last.Error)
				return
			}
		}
	}
	d.health.add("model", fine, "", "%s: %s", m.Name(), choice.Why)
}

func (d *checkup) settings(context.Context) {
	_, unknown, err := readConfig(d.app.dir.Config())
	switch {
	case err != nil:
		d.health.add("settings", problem, "", "%v", err)
	case len(unknown) > 0:
		d.health.add("settings", note, "", "unknown keys in config.toml are ignored: %s", strings.Join(unknown, ", "))
	}
}

// ago says in words how long ago something was.
func ago(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute", "minutes") + " ago"
	case d < 48*time.Hour:
		return plural(int(d.Hours()), "hour", "hours") + " ago"
	}
	return plural(int(d.Hours()/24), "day", "days") + " ago"
}
