//go:build unix

package stillso_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"stillso"
)

// check performs one check and says what is wrong. One that is not known fails.
func (r *caseRun) check(c *stepWords) error {
	name := c.str("check")
	switch name {
	case "any_of":
		return r.anyOf(c)
	case "disk_lacks":
		return r.diskLacks(c.str("text"))
	case "git_clean":
		o := r.run(c.str("dir"), nil, "git", "status", "--porcelain")
		if o.exit != 0 || o.stdout != "" {
			return fmt.Errorf("git status: %s%s", o.stdout, o.stderr)
		}
		return nil
	case "same", "same_tree", "count_delta", "size_not_smaller", "exports_equal":
		return r.pair(name, c)
	}
	known, ok := checks()[name]
	if !ok {
		return errors.New("unknown check")
	}
	o, err := r.of(c.str("of"))
	if err != nil {
		return err
	}
	return known(r, o, c)
}

type checkFunc func(r *caseRun, o *outcome, c *stepWords) error

// checks are those that look at one outcome.
func checks() map[string]checkFunc {
	return map[string]checkFunc{
		"in_top": inTop, "absent": absent, "empty": empty, "nonempty": nonempty, "ranked_before": rankedBefore,
		"contains_saved": saved, "lacks_saved": saved, "exit": exitIs, "exit_nonzero": exitNonzero, "all_exit": allExit,
		"stderr_empty": stderrEmpty, "json_or_empty": jsonOrEmpty, "max_ms": limits, "max_bytes": limits, "max_rss_mb": limits,
		"max_request_chars": limits, "text_has": text, "text_lacks": text, "text_matches": text, "occurs": text, "text_has_series": textSeries,
		"count": number, "number": number, "same_bytes": sameBytes, "json_equal": jsonEqual, "own_hooks_once": ownHooksOnce,
		"frame_intact": frameIntact, "valid_unicode": validUnicode, "ids_equal": idSets, "ids_include": idSets, "exactly_one_of": idSets,
		"export_ids": idSets, "export_field": exportField, "export_body_equals": exportField, "single_frontmatter": singleFrontMatter,
		"marked": marked, "unmarked": marked, "evidence_sessions": evidenceSessions, "no_children": noChildren,
	}
}

// missingStep says that a check looks at a step that was not done.
type missingStep struct{ name string }

func (m *missingStep) Error() string { return fmt.Sprintf("there is no step %q", m.name) }

// of returns the outcome of a step, or a part of it: c1.model_input.
func (r *caseRun) of(name string) (*outcome, error) {
	base, part, _ := strings.Cut(name, ".")
	o := r.results[base]
	if o == nil {
		return nil, &missingStep{base}
	}
	if part == "" {
		return o, nil
	}
	text, ok := map[string]string{
		"model_input": strings.Join(o.requests, "\n"), "user_input": o.userInput, "stored": o.stored,
		"stdout": o.stdout, "stderr": o.stderr, "text": o.text,
	}[part]
	if !ok {
		return nil, fmt.Errorf("a step has no part %q", part)
	}
	n := len(o.requests)
	return &outcome{text: text, ids: blockIDs(text), requests: o.requests, number: &n, exit: o.exit, ms: o.ms, rss: o.rss}, nil
}

func (r *caseRun) anyOf(c *stepWords) error {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(c.m["checks"], &list); err != nil {
		return err
	}
	c.used["checks"] = true
	var all []error
	for _, m := range list {
		err := r.check(words(m))
		if err == nil {
			return nil
		}
		all = append(all, fmt.Errorf("%s: %w", words(m), err))
	}
	return fmt.Errorf("none of them: %w", errors.Join(all...))
}

func (r *caseRun) pair(name string, c *stepWords) error {
	a, errA := r.of(c.str("a"))
	b, errB := r.of(c.str("b"))
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	switch name {
	case "same":
		if a.text != b.text {
			return fmt.Errorf("%q and %q", short(a.text), short(b.text))
		}
	case "same_tree":
		return sameTree(a.tree, b.tree)
	case "exports_equal":
		return exportsEqual(a.text, b.text)
	default:
		if a.number == nil || b.number == nil {
			return errors.New("no number to compare")
		}
		if d := *b.number - *a.number; name == "size_not_smaller" && d < 0 {
			return fmt.Errorf("%d bytes became %d", *a.number, *b.number)
		} else if name == "count_delta" && !within(float64(d), c) {
			return fmt.Errorf("%d became %d", *a.number, *b.number)
		}
	}
	return nil
}

func sameTree(a, b map[string]string) error {
	var diff []string
	for path, sum := range a {
		if b[path] != sum {
			diff = append(diff, path+" changed or went")
		}
	}
	for path := range b {
		if a[path] == "" {
			diff = append(diff, path+" is new")
		}
	}
	if len(diff) > 0 {
		slices.Sort(diff)
		return errors.New(strings.Join(diff, ", "))
	}
	return nil
}

// exportsEqual compares two exports memory by memory; their order is free.
func exportsEqual(a, b string) error {
	index := func(text string) map[string]*stillso.Memory {
		m := map[string]*stillso.Memory{}
		for _, x := range memoriesOf(text) {
			m[x.ID] = x
		}
		return m
	}
	x, y := index(a), index(b)
	if len(x) == 0 || len(x) != len(y) {
		return fmt.Errorf("%d and %d memories", len(x), len(y))
	}
	for id, m := range x {
		if !m.Equal(y[id]) {
			return fmt.Errorf("%s differs: %s, %s", id, encode(m), encode(y[id]))
		}
	}
	return nil
}

// diskLacks looks through everything that the product wrote: its data, the rest
// of the home directory without what the case itself put there, and temporary
// files. A text with line ends may stand there as JSON.
func (r *caseRun) diskLacks(text string) error {
	if text == "" {
		return errors.New("nothing to look for")
	}
	escaped := strings.Trim(string(encode(text)), `"`)
	read := 0
	for _, dir := range []string{r.home(), r.env["TMPDIR"], r.env["XDG_DATA_HOME"], r.env["XDG_CACHE_HOME"]} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && path == filepath.Join(r.home(), ".claude", "projects") {
				return filepath.SkipDir
			}
			if !d.Type().IsRegular() {
				return nil
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			read += len(b)
			if bytes.Contains(b, []byte(text)) || bytes.Contains(b, []byte(escaped)) {
				return fmt.Errorf("it stands in %s", path)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if read == 0 {
		return errors.New("the product wrote nothing, so this proves nothing")
	}
	return nil
}

func inTop(_ *caseRun, o *outcome, c *stepWords) error {
	k := int(c.num("k", 1))
	if !slices.Contains(o.ids[:min(k, len(o.ids))], c.str("id")) {
		return fmt.Errorf("got %v", o.ids)
	}
	return nil
}

func absent(_ *caseRun, o *outcome, c *stepWords) error {
	if slices.Contains(o.ids, c.str("id")) {
		return fmt.Errorf("got %v", o.ids)
	}
	return nil
}

func empty(_ *caseRun, o *outcome, _ *stepWords) error {
	if len(o.ids) > 0 || o.text != "" {
		return fmt.Errorf("got %v %q", o.ids, short(o.text))
	}
	return nil
}

func nonempty(_ *caseRun, o *outcome, _ *stepWords) error {
	if len(o.ids) == 0 && strings.TrimSpace(o.text) == "" {
		return errors.New("got nothing")
	}
	return nil
}

func rankedBefore(_ *caseRun, o *outcome, c *stepWords) error {
	id, other := slices.Index(o.ids, c.str("id")), slices.Index(o.ids, c.str("other"))
	if other >= 0 && (id < 0 || id > other) {
		return fmt.Errorf("got %v", o.ids)
	}
	return nil
}

func saved(r *caseRun, o *outcome, c *stepWords) error {
	s, err := r.of(c.str("saved"))
	if err != nil {
		return err
	}
	if s.saved == "" {
		return fmt.Errorf("step %s saved nothing", c.str("saved"))
	}
	if got := slices.Contains(o.ids, s.saved); got != (c.str("check") == "contains_saved") {
		return fmt.Errorf("%s: got %v", s.saved, o.ids)
	}
	return nil
}

func exitIs(_ *caseRun, o *outcome, c *stepWords) error {
	if o.exit != int(c.num("code", 0)) {
		return fmt.Errorf("exit code %d: %s", o.exit, short(o.stderr+o.stdout))
	}
	return nil
}

func exitNonzero(_ *caseRun, o *outcome, _ *stepWords) error {
	if o.exit == 0 {
		return fmt.Errorf("exit code 0: %s", short(o.stdout))
	}
	return nil
}

func allExit(_ *caseRun, o *outcome, c *stepWords) error {
	if len(o.exits) == 0 {
		return errors.New("no process ran")
	}
	for _, e := range o.exits {
		if e != int(c.num("code", 0)) {
			return fmt.Errorf("exit codes %v: %s", o.exits, short(o.stderr))
		}
	}
	return nil
}

func stderrEmpty(_ *caseRun, o *outcome, _ *stepWords) error {
	if o.stderr != "" {
		return fmt.Errorf("got %q", short(o.stderr))
	}
	return nil
}

// jsonOrEmpty: nothing at all, or exactly one JSON document.
func jsonOrEmpty(_ *caseRun, o *outcome, _ *stepWords) error {
	if o.stdout != "" && !json.Valid([]byte(o.stdout)) {
		return fmt.Errorf("got %q", short(o.stdout))
	}
	return nil
}

func limits(_ *caseRun, o *outcome, c *stepWords) error {
	var got, most float64
	switch c.str("check") {
	case "max_ms":
		got, most = float64(o.ms), c.num("ms", 0)
	case "max_bytes":
		got, most = float64(len(o.text)), c.num("bytes", 0)
	case "max_rss_mb":
		got, most = o.rss, c.num("mb", 0)
	case "max_request_chars":
		if len(o.requests) == 0 {
			return errors.New("the model was not asked")
		}
		for _, q := range o.requests {
			got = max(got, float64(utf8.RuneCountInString(q)))
		}
		most = c.num("chars", 0)
	}
	if got > most || most == 0 {
		return fmt.Errorf("%.0f, at most %.0f", got, most)
	}
	return nil
}

// text looks for words. In a block they may stand escaped.
func text(_ *caseRun, o *outcome, c *stepWords) error {
	want := c.str("text")
	n := strings.Count(o.text, want)
	ok := false
	switch c.str("check") {
	case "text_has":
		ok = n > 0 || strings.Contains(html.UnescapeString(o.text), want)
	case "text_lacks":
		ok = n == 0
	case "occurs":
		ok = within(float64(n), c)
	case "text_matches":
		re, err := regexp.Compile(c.str("pattern"))
		if err != nil {
			return err
		}
		ok = re.MatchString(o.text)
	}
	if !ok {
		return fmt.Errorf("%d times in %q", n, short(o.text))
	}
	return nil
}

// textSeries: the pattern with %d is there for every number of the range.
func textSeries(_ *caseRun, o *outcome, c *stepWords) error {
	from, to := int(c.num("from", 0)), int(c.num("to", -1))
	if to < from || !strings.Contains(c.str("pattern"), "%") {
		return errors.New("no series to look for")
	}
	var gone []string
	for i := from; i <= to; i++ {
		want := fmt.Sprintf(c.str("pattern"), i)
		if !strings.Contains(o.text, want) && !strings.Contains(html.UnescapeString(o.text), want) {
			gone = append(gone, want)
		}
	}
	if len(gone) > 0 {
		return fmt.Errorf("%d are missing, the first is %q", len(gone), gone[0])
	}
	return nil
}

// within reports whether n has the bounds eq, le and ge of the check.
func within(n float64, c *stepWords) bool {
	bounded := c.has("eq") || c.has("le") || c.has("ge")
	return bounded && (!c.has("eq") || n == c.num("eq", math.NaN())) && (!c.has("le") || n <= c.num("le", math.NaN())) &&
		(!c.has("ge") || n >= c.num("ge", math.NaN()))
}

func number(_ *caseRun, o *outcome, c *stepWords) error {
	n := o.number
	if n == nil {
		if v, err := strconv.Atoi(strings.TrimSpace(o.text)); err == nil {
			n = &v
		}
	}
	if n == nil {
		return fmt.Errorf("no number: %s", short(o.text+o.stderr))
	}
	if !within(float64(*n), c) {
		return fmt.Errorf("got %d", *n)
	}
	return nil
}

func sameBytes(r *caseRun, o *outcome, c *stepWords) error {
	want, err := os.ReadFile(r.in(c.str("file")))
	if err != nil {
		return err
	}
	if o.text != string(want) {
		return fmt.Errorf("got %q, want %q", short(o.text), short(string(want)))
	}
	return nil
}

// jsonEqual compares what stands at a JSON pointer.
func jsonEqual(_ *caseRun, o *outcome, c *stepWords) error {
	var doc, want any
	if err := json.Unmarshal([]byte(o.text), &doc); err != nil {
		return err
	}
	if err := json.Unmarshal(c.m["value"], &want); err != nil {
		return err
	}
	c.used["value"] = true
	got, err := at(doc, c.str("path"))
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %s", encode(got))
	}
	return nil
}

// at returns what a JSON pointer (RFC 6901) points to.
func at(doc any, pointer string) (any, error) {
	if pointer == "" || pointer == "/" {
		return doc, nil
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				return nil, fmt.Errorf("there is no %q", part)
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil, fmt.Errorf("there is no item %q", part)
			}
			doc = v[i]
		default:
			return nil, fmt.Errorf("%q is in no object", part)
		}
	}
	return doc, nil
}

func short(s string) string {
	if len(s) > 600 {
		return s[:300] + " … " + s[len(s)-300:]
	}
	return s
}
