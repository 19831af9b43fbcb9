//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stillso"
	"stillso/internal/home"
	"stillso/internal/namespace"
	"stillso/internal/recall"
	"stillso/internal/snapshot"
)

var (
	speed       = flag.Bool("speed", false, "measure whole cold hook processes against an empty Go program")
	speedRuns   = flag.Int("speed.runs", 300, "pairs of runs for each row")
	speedMax    = flag.Int("speed.max", 1_000_000, "largest store")
	speedStrict = flag.Bool("speed.strict", false, "fail if a bar is missed")
	speedKeep   = flag.String("speed.keep", "", "directory in which the stores are kept and found again")
)

// bars are what a row should reach: times an empty program, KiB resident, milliseconds
// with the page cache evicted. 0 asks nothing. A row that misses one says so; the test
// fails for it only with -speed.strict, since medians on a busy machine are no verdict.
type bars struct {
	ratio     float64
	kib       int
	evictedMs float64
}

// TestSpeed measures what a person waits for: the whole process, from its start to its
// end, with event, namespace, snapshot, block, receipt and session file.
func TestSpeed(t *testing.T) {
	if !*speed {
		t.Skip("run with -args -speed")
	}
	b := newBench(t)
	t.Logf("%9s  %-16s %8s %8s %7s %8s %8s  %s", "memories", "event", "hook µs", "empty µs", "ratio", "bar", "RSS KiB", "answer")
	for _, n := range []int{0, 1000, 10_000, 100_000, 1_000_000} {
		if n > *speedMax {
			break
		}
		dir := b.store(t, n)
		long := map[int]bars{10_000: {ratio: 1.6}, 100_000: {ratio: 2, kib: 16 << 10, evictedMs: 20}, 1_000_000: {ratio: 3.5}}[n]
		b.row(t, dir, n, "prompt 80 words", b.prompt(n), long)
		if n > 0 {
			b.row(t, dir, n, "prompt short", b.short(n), bars{ratio: long.ratio})
		}
		b.row(t, dir, n, "silence", "ok, go on", bars{ratio: 1.6})
	}
}

type bench struct {
	bin, hook, empty, measure string
	project                   string
	space                     stillso.Namespace
	synth                     *synth
	memories                  map[int]*stillso.Memory
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{bin: t.TempDir(), project: filepath.Join(t.TempDir(), "work", "project"), memories: map[int]*stillso.Memory{}}
	for name, pkg := range map[string]string{"hook": ".", "empty": "./testdata/empty", "measure": "./testdata/measure"} {
		made, used := filepath.Join(b.bin, name+".made"), filepath.Join(b.bin, name)
		out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", made, pkg).CombinedOutput()
		if err != nil {
			t.Fatalf("build %s: %v\n%s", pkg, err, out)
		}
		// A copy stands in the page cache as an installed program does; what the linker
		// has just written lies there in small pieces and starts a tenth slower.
		data, err := os.ReadFile(made)
		if err == nil {
			err = os.WriteFile(used, data, 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	b.hook, b.empty, b.measure = filepath.Join(b.bin, "hook"), filepath.Join(b.bin, "empty"), filepath.Join(b.bin, "measure")
	if *speedKeep != "" {
		b.project = filepath.Join(*speedKeep, "project")
	}
	if err := os.MkdirAll(b.project, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("git", "init", "-q", b.project).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	b.space = "project/speed"
	b.synth = newSynth(t, b.space)
	return b
}

// store builds, or finds, a home with n memories.
func (b *bench) store(t *testing.T, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "home")
	if *speedKeep != "" {
		dir = filepath.Join(*speedKeep, fmt.Sprint("home", n))
	}
	if err := home.Dir(dir).Create(); err != nil {
		t.Fatal(err)
	}
	if err := namespace.Update(home.Dir(dir).Places(), func(r *namespace.Registry) error {
		return r.SetOverride(b.project, b.space)
	}); err != nil {
		t.Fatal(err)
	}
	b.synth = newSynth(t, b.space)
	if _, err := os.Stat(filepath.Join(dir, snapshot.BaseFile)); err == nil {
		for i := range min(n, 50) {
			b.memories[n*100+i] = b.synth.memory(i)
		}
		return dir
	}
	start := time.Now()
	learner := recall.NewLearner()
	learner.Prompt("project/speed", "ok, go on")
	model := learner.Model()
	w, err := snapshot.Lock(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Unlock() }()
	builder, err := w.NewBase(snapshot.Options{Constants: model.Constants()})
	if err != nil {
		t.Fatal(err)
	}
	var weighing time.Duration
	for i := range n {
		m := b.synth.memory(i)
		if i < 50 {
			b.memories[n*100+i] = m
		}
		at := time.Now()
		doc, posts := model.Index(m)
		weighing += time.Since(at)
		if err := builder.Add(doc, posts); err != nil {
			t.Fatal(err)
		}
	}
	at := time.Now()
	info, err := builder.Commit()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%9d  built in %.1f s (weighing %.1f s, writing %.1f s): %d terms, %.1f MB, heap %s", n, time.Since(start).Seconds(),
		weighing.Seconds(), time.Since(at).Seconds(), info.Terms, float64(info.Bytes)/1e6, peak())
	return dir
}

// peak is the highest resident memory of this process so far.
func peak() string {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			return strings.TrimSpace(v)
		}
	}
	return "unknown"
}

// prompt has eighty words: some of one memory, the rest of the language.
func (b *bench) prompt(n int) string {
	if n == 0 {
		return b.synth.text(80, false)
	}
	m := b.memories[n*100+7]
	return m.Name + " " + b.synth.text(80-len(strings.Fields(m.Name)), false)
}

func (b *bench) short(n int) string {
	m := b.memories[n*100+9]
	return "what about " + m.Name + " " + strings.Join(strings.Fields(m.Content)[:3], " ") + "?"
}

func (b *bench) row(t *testing.T, dir string, n int, name, prompt string, want bars) {
	t.Helper()
	event, err := json.Marshal(map[string]any{
		"session_id": "SESSION", "transcript_path": filepath.Join(dir, "none.jsonl"), "cwd": b.project,
		"hook_event_name": "UserPromptSubmit", "permission_mode": "default", "prompt": prompt,
	})
	if err != nil {
		t.Fatal(err)
	}
	in := filepath.Join(dir, strings.ReplaceAll("event "+name+".json", " ", "-"))
	if err := os.WriteFile(in, event, 0o600); err != nil {
		t.Fatal(err)
	}
	answer := b.once(t, dir, event)
	ours, theirs, kib := b.pairs(t, dir, in, "-", *speedRuns)
	ratio := ours / theirs
	t.Logf("%9d  %-16s %8.0f %8.0f %7.2f %8s %8d  %s", n, name, ours, theirs, ratio, bar(want.ratio), kib, answer)
	if want.ratio > 0 && ratio > want.ratio {
		missed(t, "%d memories, %s: %.2f times an empty program, want at most %.1f", n, name, ratio, want.ratio)
	}
	if want.kib > 0 && kib > want.kib {
		missed(t, "%d memories, %s: %d KiB resident, want at most %d", n, name, kib, want.kib)
	}
	if want.evictedMs > 0 {
		files := strings.Join([]string{filepath.Join(dir, snapshot.BaseFile), home.Dir(dir).Places(), b.hook}, ",")
		cold, _, _ := b.pairs(t, dir, in, files, max(*speedRuns/10, 10))
		t.Logf("%9d  %-16s %8.0f %35s", n, name+", evicted", cold, fmt.Sprintf("bar %.0f ms", want.evictedMs))
		if cold/1000 > want.evictedMs {
			missed(t, "%d memories, page cache evicted: %.1f ms, want at most %.0f", n, cold/1000, want.evictedMs)
		}
	}
}

func missed(t *testing.T, format string, args ...any) {
	t.Helper()
	if t.Logf("MISSED: "+format, args...); *speedStrict {
		t.Fail()
	}
}

func bar(x float64) string {
	if x == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", x)
}

// once runs the hook and says in words what it did.
func (b *bench) once(t *testing.T, dir string, event []byte) string {
	t.Helper()
	c := exec.Command(b.hook, "claude-code", "prompt")
	c.Env = append(os.Environ(), "STILLSO_HOME="+dir, "PATH=")
	c.Stdin = bytes.NewReader(event)
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	receipts, _ := os.ReadFile(filepath.Join(dir, "spool", home.Receipts))
	lines := strings.Split(strings.TrimSpace(string(receipts)), "\n")
	var r stillso.Receipt
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &r); err != nil {
		t.Fatalf("no receipt: %v", err)
	}
	return fmt.Sprintf("%d bytes, %d terms, %d µs inside, %s", len(out), len(r.Terms), r.Micros, r.Silence)
}

// pairs runs hook and empty program in turn and returns the medians in microseconds
// and the median resident memory of the hook. Every run is the first of its session, so
// that what is found is also shown.
func (b *bench) pairs(t *testing.T, dir, in, evict string, runs int) (ours, theirs float64, kib int) {
	t.Helper()
	var times [2][]float64
	var memory []int
	c := exec.Command(b.measure, fmt.Sprint(runs), evict, in, b.hook+" claude-code prompt", b.empty)
	c.Env = append(os.Environ(), "STILLSO_HOME="+dir, "PATH=")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		var which, us, rss int
		if _, err := fmt.Sscan(line, &which, &us, &rss); err != nil {
			t.Fatal(err)
		}
		times[which] = append(times[which], float64(us))
		if which == 0 {
			memory = append(memory, rss)
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	slices.Sort(memory)
	return times[0][len(times[0])/2], times[1][len(times[1])/2], memory[len(memory)/2]
}
