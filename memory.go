package stillso

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Memory is one durable statement, useful in a later session. Its JSON form is
// published: fields are added, never renamed (docs/format.md).
type Memory struct {
	// ID names the memory for ever, also across export and import.
	ID        string    `json:"id"`
	Namespace Namespace `json:"namespace"`
	Type      Type      `json:"type"`
	// Name is a label in words or hyphens; it may be empty.
	Name string `json:"name,omitempty"`
	// Content is the statement: at most three sentences, one line when shown.
	Content string `json:"content"`
	// Body is the longer text of an imported note; it is searched, and shown
	// only on demand.
	Body      string    `json:"body,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// SourceSession is the session in which the memory was captured.
	SourceSession string   `json:"source_session,omitempty"`
	RelatedFiles  []string `json:"related_files,omitempty"`
	// Priority is 1 (nice to know) to 5 (breaking it causes damage); 3 if unsaid.
	Priority int      `json:"priority"`
	Tags     []string `json:"tags,omitempty"`
	State    State    `json:"status"`
	Origin   Origin   `json:"origin"`
	// Why is the reason the user gave, if any.
	Why      string     `json:"why,omitempty"`
	Evidence []Evidence `json:"evidence,omitempty"`
	// Aliases are phrases a person would type when they need the memory.
	Aliases []string `json:"aliases,omitempty"`
	Claims  []Claim  `json:"claims,omitempty"`
	// Resident memories are in the profile: injected at every session start.
	Resident bool `json:"resident,omitempty"`
	// SupersededBy is the id of the memory that took this one's place.
	SupersededBy string `json:"superseded_by,omitempty"`
	// File is set on memories of origin file, and on imported notes.
	File *FileOrigin `json:"file,omitempty"`
	// Extra keeps unknown fields of an imported note, so that an export gives
	// back all that an import took.
	Extra map[string]string `json:"extra,omitempty"`
}

// FileOrigin says which place of which file a memory was read from.
type FileOrigin struct {
	Path string `json:"path"`
	// Line is the first line of the item, from 1.
	Line int `json:"line,omitempty"`
	// Hash is the hexadecimal SHA-256 of the item's text; a sweep keeps the
	// memory in step with the file by it.
	Hash string `json:"hash,omitempty"`
	// LoadedBy lists the hosts that load this very line themselves, so that it
	// is not injected a second time there.
	LoadedBy []string `json:"loaded_by,omitempty"`
}

// Evidence is a verbatim quote that a candidate or a memory rests on.
type Evidence struct {
	Session string `json:"session,omitempty"`
	Turn    string `json:"turn,omitempty"`
	Quote   string `json:"quote"`
}

// Type says what kind of statement a memory is; it fixes decay, and who may
// supersede whom.
type Type string

// The types of a memory.
const (
	Preference Type = "preference" // how the user likes to work
	Constraint Type = "constraint" // what must or must not be done
	Decision   Type = "decision"   // what was settled, and why
	Fact       Type = "fact"       // how something is
	Procedure  Type = "procedure"  // how something is done
	Event      Type = "event"      // what happened
	Reference  Type = "reference"  // where something is to be found
	Todo       Type = "todo"       // what is still to be done
)

// Types lists the types in the order in which people are shown them.
func Types() []Type {
	return []Type{Preference, Constraint, Decision, Fact, Procedure, Event, Reference, Todo}
}

// ParseType returns the type that s names. Names that other tools use are
// mapped: rule is a constraint, feedback and user are preferences, project is a
// fact. An empty name is a fact.
func ParseType(s string) (Type, error) {
	switch s = strings.ToLower(strings.TrimSpace(s)); s {
	case "":
		return Fact, nil
	case "rule":
		return Constraint, nil
	case "feedback", "user":
		return Preference, nil
	case "project":
		return Fact, nil
	}
	if t := Type(s); slices.Contains(Types(), t) {
		return t, nil
	}
	return "", fmt.Errorf("unknown type %q: use one of %s", s, join(Types()))
}

// Standing reports whether a memory of this type holds until somebody says
// otherwise: a standing rule does not decay when a user stated it.
func (t Type) Standing() bool { return t == Preference || t == Constraint || t == Decision }

// Origin says where a memory comes from, and so how far it is to be trusted.
type Origin string

// The origins of a memory.
const (
	FromUser     Origin = "user"      // typed by a human
	FromProposal Origin = "confirmed" // proposed, then accepted by a human
	FromInferred Origin = "inferred"  // an assistant's conclusion
	FromFile     Origin = "file"      // stands in a file that is kept in step
	FromImport   Origin = "import"    // imported once
)

// Origins lists the origins, most trusted first.
func Origins() []Origin {
	return []Origin{FromUser, FromProposal, FromFile, FromImport, FromInferred}
}

// State is where a memory is in its life. In JSON it is called status.
type State string

// The states of a memory. Nothing is deleted: superseded and retired memories
// stay in the store, labelled.
const (
	Draft      State = "draft"
	Active     State = "active"
	Superseded State = "superseded"
	Retired    State = "retired"
)

// States lists the states.
func States() []State { return []State{Draft, Active, Superseded, Retired} }

// Namespace says whom a memory is for: "user", "project/<id>" or "team/<id>".
type Namespace string

// UserNamespace holds what is true of the person in every project.
const UserNamespace Namespace = "user"

// Valid reports whether n has one of the three forms.
func (n Namespace) Valid() bool {
	if n == UserNamespace {
		return true
	}
	kind, id, ok := strings.Cut(string(n), "/")
	return ok && (kind == "project" || kind == "team") && id != "" && len(n) <= 200 &&
		!strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '/' || r == '\\' })
}

// ErrInvalid is wrapped by the errors of Validate.
var ErrInvalid = errors.New("invalid memory")

// The limits of a memory, in bytes unless said otherwise. They keep one memory
// from filling a block, a snapshot or a review page.
const (
	MaxContent = 8 << 10
	MaxBody    = 256 << 10
	MaxName    = 200
	MaxAliases = 64 // phrases
	MaxAlias   = 300
)

// Validate reports what is wrong with m, wrapping ErrInvalid.
func (m *Memory) Validate() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("%w %s: %s", ErrInvalid, m.ID, fmt.Sprintf(format, a...))
	}
	switch {
	case m.ID == "" || len(m.ID) > 200 || strings.ContainsFunc(m.ID, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		return bad("the id must be 1 to 200 characters without spaces")
	case !m.Namespace.Valid():
		return bad("namespace %q is none of user, project/<id>, team/<id>", m.Namespace)
	case !slices.Contains(Types(), m.Type):
		return bad("type %q is none of %s", m.Type, join(Types()))
	case !slices.Contains(States(), m.State):
		return bad("status %q is none of %s", m.State, join(States()))
	case !slices.Contains(Origins(), m.Origin):
		return bad("origin %q is none of %s", m.Origin, join(Origins()))
	case strings.TrimSpace(m.Content) == "":
		return bad("the content is empty")
	case len(m.Content) > MaxContent:
		return bad("the content has %d bytes; %d are allowed", len(m.Content), MaxContent)
	case len(m.Body) > MaxBody:
		return bad("the body has %d bytes; %d are allowed", len(m.Body), MaxBody)
	case len(m.Name) > MaxName:
		return bad("the name has %d bytes; %d are allowed", len(m.Name), MaxName)
	case m.Priority < 1 || m.Priority > 5:
		return bad("priority %d is not between 1 and 5", m.Priority)
	case len(m.Aliases) > MaxAliases:
		return bad("%d aliases; %d are allowed", len(m.Aliases), MaxAliases)
	case m.CreatedAt.IsZero() || m.UpdatedAt.IsZero():
		return bad("created_at and updated_at must be set")
	}
	for _, a := range m.Aliases {
		if len(a) > MaxAlias {
			return bad("an alias has %d bytes; %d are allowed", len(a), MaxAlias)
		}
	}
	return nil
}

// Default fills what a sparse memory leaves open: a memory with nothing but
// content and namespace becomes valid. Times are now, in UTC.
func (m *Memory) Default(now time.Time) {
	if m.ID == "" {
		m.ID = NewID()
	}
	if m.Type == "" {
		m.Type = Fact
	}
	if m.State == "" {
		m.State = Active
	}
	if m.Origin == "" {
		m.Origin = FromImport
	}
	if m.Priority == 0 {
		m.Priority = 3
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = now
	}
	if m.UpdatedAt.IsZero() {
		m.UpdatedAt = m.CreatedAt
	}
	m.CreatedAt, m.UpdatedAt = m.CreatedAt.UTC(), m.UpdatedAt.UTC()
}

// Clone returns a copy that shares nothing with m. The clone of nil is nil.
func (m *Memory) Clone() *Memory {
	if m == nil {
		return nil
	}
	c := *m
	c.RelatedFiles, c.Tags, c.Aliases = slices.Clone(m.RelatedFiles), slices.Clone(m.Tags), slices.Clone(m.Aliases)
	c.Evidence, c.Claims = slices.Clone(m.Evidence), slices.Clone(m.Claims)
	for i := range c.Claims {
		c.Claims[i].Args = slices.Clone(c.Claims[i].Args)
	}
	if m.File != nil {
		f := *m.File
		f.LoadedBy = slices.Clone(f.LoadedBy)
		c.File = &f
	}
	if m.Extra != nil {
		c.Extra = make(map[string]string, len(m.Extra))
		for k, v := range m.Extra {
			c.Extra[k] = v
		}
	}
	return &c
}

// Equal reports whether both are the same memory in the same words: their JSON
// forms are equal. Two nils are equal.
func (m *Memory) Equal(o *Memory) bool {
	if m == nil || o == nil {
		return m == o
	}
	a, errA := json.Marshal(m)
	b, errB := json.Marshal(o)
	return errA == nil && errB == nil && string(a) == string(b)
}

// NewID returns a new identifier of 12 characters, 60 random bits: among a
// million memories the chance that two are equal is below one in a million.
//
// They come from the generator of math/rand/v2, which the system seeds: an identifier is
// no secret, and package crypto would cost every start of the prompt path.
func NewID() string {
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	bits := rand.Uint64() //nolint:gosec // no secret
	id := make([]byte, 12)
	for i := range id {
		id[i] = letters[bits&31]
		bits >>= 5
	}
	return string(id)
}

func join[S ~string](list []S) string {
	words := make([]string, len(list))
	for i, s := range list {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
