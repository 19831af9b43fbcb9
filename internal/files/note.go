package files

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"stillso"
)

// Options say what a reader cannot know from the file.
type Options struct {
	// Namespace is where memories go that name none, and those of scope project.
	Namespace stillso.Namespace
	// Root is the directory of the namespace: ids are made from paths below it,
	// so that a moved checkout keeps them. Empty is the file's own folder.
	Root string
	// Now dates what carries no date.
	Now time.Time
	// Loaded says which lines of a file hosts load themselves; nil is none.
	Loaded func(path, text string) []Loaded
}

// Loaded is a range of lines, from 1 and inclusive, that a host loads itself.
type Loaded struct {
	Host        string
	First, Last int
}

// Reading is what was found in files: valid memories, and what could not be read.
type Reading struct {
	Memories []*stillso.Memory
	Problems []Problem
	// lines are memories of an export rather than of a file that lives; undated
	// those whose line has no date of change. Both by id.
	lines, undated map[string]bool
}

// Add joins what was read elsewhere to r. A memory whose id r has already is a
// problem, not a memory.
func (r *Reading) Add(o Reading) {
	have := map[string]*stillso.Memory{}
	for _, m := range r.Memories {
		have[m.ID] = m
	}
	for _, m := range o.Memories {
		if other := have[m.ID]; other != nil {
			r.Problems = append(r.Problems, double(m, other))
			continue
		}
		have[m.ID] = m
		r.Memories = append(r.Memories, m)
	}
	r.Problems = append(r.Problems, o.Problems...)
	r.mark(&r.lines, o.lines)
	r.mark(&r.undated, o.undated)
}

func (r *Reading) mark(to *map[string]bool, ids map[string]bool) {
	if *to == nil && len(ids) > 0 {
		*to = map[string]bool{}
	}
	for id := range ids {
		(*to)[id] = true
	}
}

func double(m, other *stillso.Memory) Problem {
	p := Problem{Cause: fmt.Sprintf("the id %s stands twice; give this one another id", m.ID)}
	if m.File != nil {
		p.Path, p.Line = m.File.Path, m.File.Line
	}
	if other.File != nil && p.Path != "" {
		p.Cause = fmt.Sprintf("its id %s is taken by %s; give it another one", m.ID, other.File.Path)
	}
	return p
}

// ReadMarkdown reads one note: a text with or without front matter that is one
// memory. The whole text is kept: what the front matter says about fields we do
// not have goes to Extra, what is more than three sentences to Body.
func ReadMarkdown(path string, o Options) (*stillso.Memory, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	m, err := parseNote(path, text, written(path, o.Now), o)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	return m, nil
}

// written is when the file was last written, the best date of a note that has
// none; not later than now, since clocks and copies go wrong.
func written(path string, now time.Time) time.Time {
	info, err := os.Stat(path)
	if err != nil || info.ModTime().After(now) {
		return now
	}
	return info.ModTime().UTC().Truncate(time.Second)
}

func parseNote(path, text string, written time.Time, o Options) (*stillso.Memory, error) {
	fields, body, err := splitFrontMatter(text)
	if err != nil {
		return nil, err
	}
	m := &stillso.Memory{
		Namespace: o.Namespace,
		Body:      strings.Trim(body, "\n"),
		File:      &stillso.FileOrigin{Path: path, Line: 1, Hash: hash(text)},
	}
	var summary string
	for _, f := range fields {
		// People write what they like into a note ("created: last week"). What is
		// none of our values is kept as it stands.
		if err := setField(m, f, &summary, o); err != nil {
			extra(m, f.key, f.text())
		}
	}
	if m.Name == "" {
		m.Name = stem(path)
	}
	m.Name = cut(oneLine(m.Name), stillso.MaxName)
	setContent(m, summary)
	if strings.TrimSpace(m.Content) == "" {
		return nil, fmt.Errorf("the note says nothing: it has neither a description nor a text; write one")
	}
	if m.ID == "" {
		m.ID = stableID("note", string(m.Namespace), stem(path))
	}
	if m.State == stillso.Active || m.State == "" {
		if m.SupersededBy != "" {
			m.State = stillso.Superseded
		}
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = m.UpdatedAt
	}
	m.Default(written)
	return m, m.Validate()
}

// setContent makes the content from the description, or else from the first
// sentences of the body. What was shortened stays whole in the body.
func setContent(m *stillso.Memory, summary string) {
	if summary = oneLine(summary); summary != "" {
		m.Content = cut(summary, maxSummary)
		if m.Content != summary {
			m.Body = strings.TrimSpace(summary + "\n\n" + m.Body)
		}
	} else {
		m.Content = statement(m.Body)
	}
	if strings.TrimSpace(m.Body) == m.Content {
		m.Body = ""
	}
}

// setField puts one entry of a front matter where it belongs. Both spellings of
// assistants' notes are known (type, metadata.type), and those of other tools.
func setField(m *stillso.Memory, f field, summary *string, o Options) error {
	text := strings.TrimSpace(f.text())
	if text == "" {
		return nil
	}
	key := strings.TrimPrefix(strings.ToLower(f.key), "metadata.")
	switch key {
	case "description", "summary", "content":
		*summary = strings.TrimSpace(*summary + " " + text)
	case "name":
		if m.Name != "" { // a title came first; both are kept
			extra(m, "title", m.Name)
		}
		m.Name = text
	case "title":
		if m.Name != "" {
			extra(m, f.key, text)
		} else {
			m.Name = text
		}
	case "type":
		var err error
		if m.Type, err = stillso.ParseType(text); err != nil {
			m.Type = stillso.Fact
			extra(m, f.key, text)
		}
	case "node_type":
		// A rare spelling of type; "memory" is what assistants write here.
		if t, err := stillso.ParseType(text); err == nil && m.Type == "" {
			m.Type = t
		}
		extra(m, f.key, text)
	case "status", "state":
		setState(m, f.key, text)
	case "id":
		m.ID = text
	case "superseded_by":
		m.SupersededBy = text
	case "why":
		m.Why = text
	case "originsessionid", "source_session":
		m.SourceSession = text
	case "tags":
		m.Tags = f.items()
	case "aliases":
		m.Aliases = f.items()
	case "related_files":
		m.RelatedFiles = f.items()
	default:
		return setChecked(m, f.key, key, text, o)
	}
	return nil
}

// setChecked puts an entry that has a form of its own where it belongs, and what
// we have no field for into Extra.
func setChecked(m *stillso.Memory, written, key, text string, o Options) (err error) {
	switch key {
	case "scope", "namespace":
		var n stillso.Namespace
		if n, err = scope(text, o.Namespace); err == nil {
			m.Namespace = n
		}
	case "created", "created_at", "date":
		m.CreatedAt, err = date(text)
	case "updated", "updated_at", "modified":
		m.UpdatedAt, err = date(text)
	case "pinned", "resident":
		m.Resident, err = truth(text)
	case "origin":
		origin := stillso.Origin(strings.ToLower(text))
		if !slices.Contains(stillso.Origins(), origin) {
			return fmt.Errorf("origin %q is none of ours", text)
		}
		m.Origin = origin
	case "priority":
		n, bad := strconv.Atoi(text)
		if bad != nil || n < 1 || n > 5 {
			return fmt.Errorf("priority %q is no number from 1 to 5", text)
		}
		m.Priority = n
	default:
		extra(m, written, text)
	}
	return err
}

func extra(m *stillso.Memory, key, value string) {
	if m.Extra == nil {
		m.Extra = map[string]string{}
	}
	if old, ok := m.Extra[key]; ok && old != value {
		value = old + "\n" + value
	}
	m.Extra[key] = value
}

// setState also knows the words of other tools. What they call otherwise is
// active, with their word kept.
func setState(m *stillso.Memory, key, text string) {
	switch s := stillso.State(strings.ToLower(text)); {
	case slices.Contains(stillso.States(), s):
		m.State = s
	case slices.Contains([]string{"deleted", "archived", "obsolete", "removed", "forgotten"}, string(s)):
		m.State = stillso.Retired
	default:
		extra(m, key, text)
	}
}

// items returns the parts of a list; a single text is split at commas.
func (f field) items() []string {
	values := f.values
	if len(values) == 1 && !f.list {
		values = strings.Split(values[0], ",")
	}
	var out []string
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	}
	return out
}

// scope maps the words of other tools to a namespace.
func scope(text string, project stillso.Namespace) (stillso.Namespace, error) {
	switch strings.ToLower(text) {
	case "user", "global", "personal":
		return stillso.UserNamespace, nil
	case "", "project", "local", "repo":
		return project, nil
	}
	if n := stillso.Namespace(text); n.Valid() {
		return n, nil
	}
	return "", fmt.Errorf("scope %q is none of user, project, project/<id>, team/<id>", text)
}

// date reads a time as notes have it; a day is its midnight in UTC.
func date(s string) (time.Time, error) {
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00",
		"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02", "2006/01/02",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	if s == "" {
		return time.Time{}, nil
	}
	return time.Time{}, fmt.Errorf("%q is no date; write 2026-01-31 or 2026-01-31T12:00:00Z", s)
}

func truth(s string) (bool, error) {
	switch strings.ToLower(s) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0", "":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}

// hash is the fingerprint by which a sweep sees that a text has changed. Spaces
// and line ends do not count.
func hash(text string) string {
	sum := sha256.Sum256([]byte(oneLine(text)))
	return hex.EncodeToString(sum[:])
}

// stableID makes the same id from the same parts: 65 bits in the alphabet of
// stillso.NewID, with a letter in front that tells where it comes from.
func stableID(kind string, parts ...string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + strings.Join(parts, "\x00")))
	return kind[:1] + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:])[:13])
}

// below returns path relative to root where it lies below it, with slashes.
func below(root, path string) string {
	if root == "" {
		return filepath.Base(path)
	}
	rel, err := filepath.Rel(root, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}
