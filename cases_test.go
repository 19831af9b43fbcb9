//go:build unix

package stillso_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestMain also lets this test binary stand in for other programs that the cases
// need: a model, a process that locks the store, one without root's privileges.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "as:") {
		os.Exit(standIn(os.Args[1:]))
	}
	dir, err := os.MkdirTemp("", "stillso-bin-")
	if err == nil {
		err = os.Setenv(binVariable, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// binVariable names the folder of this run's binaries.
const binVariable = "STILLSO_TEST_BIN"

// sharedData returns a folder of the optional data beside the repository. Without
// it the test is skipped; the CI must have it.
func sharedData(t *testing.T, name string) string {
	t.Helper()
	root := os.Getenv("STILLSO_SHARED")
	if root == "" {
		root = filepath.Join("..", "shared")
	}
	dir, err := filepath.Abs(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err != nil {
		missing := fmt.Sprintf("%s is not here: set STILLSO_SHARED to the folder that holds %s", dir, name)
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return dir
}

// buildOnce builds both binaries once for all tests of this package.
var buildOnce = sync.OnceValues(func() (string, error) {
	dir := os.Getenv(binVariable)
	for _, name := range []string{"stillso", "stillso-hook"} {
		out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), "./cmd/"+name).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("cannot build %s: %w\n%s", name, err, out)
		}
	}
	return dir, nil
})

// TestCases runs every folder of $STILLSO_CASES (else the cases of the shared
// data) as a subtest: public bug reports about tools of this kind, as programs.
// The words of an expect.json are those of the cases' README.md; one that is
// not known fails the case.
func TestCases(t *testing.T) {
	dir := os.Getenv("STILLSO_CASES")
	if dir == "" {
		dir = sharedData(t, "cases")
	}
	runCases(t, dir)
}

// TestOwnCases runs those of this repository: words of the cases that the shared
// ones do not use, on faults of our own.
func TestOwnCases(t *testing.T) { runCases(t, filepath.Join("testdata", "cases")) }

func runCases(t *testing.T, dir string) {
	t.Helper()
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "expect.json"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no cases in %s: a case is a folder with an expect.json (%v)", dir, err)
	}
	bin, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var skipped []string
	t.Cleanup(func() {
		if slices.Sort(skipped); len(skipped) > 0 {
			t.Logf("%d of %d cases are not supported yet:\n  %s", len(skipped), len(found), strings.Join(skipped, "\n  "))
		}
	})
	slices.Sort(found)
	for _, f := range found {
		t.Run(filepath.Base(filepath.Dir(f)), func(t *testing.T) {
			t.Parallel() // most of their time is waiting
			var r *caseRun
			defer func() {
				if r.unsupported != "" {
					mu.Lock()
					skipped = append(skipped, filepath.Base(r.source)+": "+r.unsupported)
					mu.Unlock()
				}
			}()
			// The limits of time and memory are for a quiet machine: the cases' README.md
			// says to take the best of three. Everything else must hold the first time.
			for attempt := 1; ; attempt++ {
				r = newCaseRun(t, filepath.Dir(f), bin)
				r.last = attempt == 3
				if r.do() {
					return
				}
			}
		})
	}
}

// later lists the features that cases ask for and that this version does not
// have, by the step, the setting, or the check that needs them.
func later() map[string]string {
	return map[string]string{
		"consolidate": "the tidy pass (stillso tidy)",
	}
}

// caseFile is an expect.json.
type caseFile struct {
	Case      string                       `json:"case"`
	Kind      string                       `json:"kind"`
	Sources   []string                     `json:"sources"`
	AppliesIf string                       `json:"applies_if"`
	Steps     []map[string]json.RawMessage `json:"steps"`
	Checks    []map[string]json.RawMessage `json:"checks"`
}

// do runs the steps, then the checks. It is false if nothing but limits of time and
// memory was missed, and another attempt is left.
func (r *caseRun) do() bool {
	text, err := os.ReadFile(filepath.Join(r.dir, "expect.json"))
	if err != nil {
		r.t.Fatal(err)
	}
	var c caseFile
	if err := json.Unmarshal(text, &c); err != nil {
		r.t.Fatalf("%s: %v", r.source, err)
	}
	if r.usesPlaceholder("{RESIDENT_FILE}") {
		r.unsupported = "a resident file that people edit: the profile is a view of memories"
		r.t.Skip("needs " + r.unsupported)
	}
	// Say what is missing before the work, and by name.
	for _, s := range c.Steps {
		if need := r.needs(words(s)); need != "" && !words(s).truth("optional") {
			r.unsupported = need
			r.t.Skipf("needs %s, which this version does not have", need)
		}
	}
	r.prepare(c)
	for i, s := range c.Steps {
		w := words(s)
		if need := r.needs(w); need != "" {
			r.t.Logf("step %d (%s) is optional and left out: it needs %s", i+1, w.str("do"), need)
			continue
		}
		o := r.step(w)
		if r.t.Failed() {
			r.t.Fatalf("step %d (%s) cannot be done", i+1, w.str("do"))
		}
		if name := w.str("as"); name != "" {
			r.results[name] = o
		}
		if rest := w.unused(); len(rest) > 0 {
			r.t.Logf("step %d (%s): %v is not understood", i+1, w.str("do"), rest)
		}
		if testing.Verbose() && os.Getenv("STILLSO_CASES_TRACE") != "" {
			r.t.Logf("%s %s: exit %d, %d ms, ids %v\n%s%s", w.str("do"), w.str("as"), o.exit, o.ms, o.ids, o.text, o.stderr)
		}
	}
	slow := false
	for _, m := range c.Checks {
		w := words(m)
		err := r.check(w)
		if kind := w.str("check"); err != nil && !r.last && (kind == "max_ms" || kind == "max_rss_mb") {
			r.t.Logf("again, for %s: %v", w, err)
			slow = true
			continue
		}
		if missing := (*missingStep)(nil); errors.As(err, &missing) && w.truth("optional") {
			r.t.Logf("%s is optional and left out: %v", w, err)
		} else if err != nil {
			r.t.Errorf("%s: %v", w, err)
		}
	}
	if r.t.Failed() {
		r.t.Log("root of the case: " + r.root + " (kept only while the test runs); STILLSO_CASES_TRACE=1 shows every step")
	}
	return r.t.Failed() || !slow
}

// needs returns the feature that a step needs and that is not there, or "".
func (r *caseRun) needs(s *stepWords) string {
	do := s.str("do")
	if what, ok := later()[do]; ok && !r.hasCommand(do) {
		return what
	}
	if do == "config" {
		for key := range s.object("set") {
			what, late := later()[key]
			if _, known := settingNames()[key]; !known && !strings.Contains(key, ".") {
				return fmt.Sprintf("a setting for %q", key)
			}
			if late && !r.hasSetting(key) {
				return what
			}
		}
	}
	return ""
}

// usesPlaceholder reports whether a placeholder that has no value here stands in
// the case's program.
func (r *caseRun) usesPlaceholder(name string) bool {
	text, err := os.ReadFile(filepath.Join(r.dir, "expect.json"))
	return err == nil && strings.Contains(string(text), name)
}

// hasCommand reports whether the binary has the command that a step needs.
func (r *caseRun) hasCommand(do string) bool {
	name := map[string]string{"consolidate": "tidy", "mark_verified": "verify"}[do]
	if name == "" {
		name = do
	}
	return r.cli("", name, "--help").exit == 0
}

// hasSetting reports whether the settings that the binary prints have a key.
func (r *caseRun) hasSetting(key string) bool {
	o := r.cli("", "settings")
	return strings.Contains(o.stdout, settingNames()[key][1])
}

// settingNames maps the cases' names of settings to table and key of config.toml.
func settingNames() map[string][2]string {
	return map[string][2]string{
		"resident_limit_bytes": {"profile", "max_bytes"},
		"capture_every_turns":  {"capture", "turns"},
	}
}

// maxRSS is the largest memory a process had, in MB.
func maxRSS(state *os.ProcessState) float64 {
	kb := maxRSSOf(state)
	if runtime.GOOS == "darwin" { // bytes there
		return float64(kb) / (1 << 20)
	}
	return float64(kb) / (1 << 10)
}
