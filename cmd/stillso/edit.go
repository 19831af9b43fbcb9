package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"stillso"
	"stillso/internal/capture"
)

// editCmd changes one memory.
type editCmd struct {
	ID        string       `arg:"" help:"The id, or the start of it."`
	Content   *string      `help:"The new content; - reads it from standard input."`
	Name      *string      `help:"The new name; an empty value makes one from the text."`
	Type      *string      `help:"The new type."`
	Priority  *int         `help:"The new priority, 1 to 5."`
	Namespace string       `help:"Move it: user, project (this one), or a full namespace."`
	Replace   replacements `help:"Replace OLD by NEW in the content and the body; OLD must stand there once. Repeatable." placeholder:"OLD NEW"`
	Tags      []string     `help:"The new tags; an empty value removes all." sep:","`
	Alias     []string     `help:"Add a phrase you would type when you need it; repeatable." sep:"none"`
	Why       *string      `help:"The reason behind it; an empty value removes it."`
	Resident  *bool        `help:"Inject it at the start of every session, or no longer." negatable:""`
	Dir       string       `help:"Act as if in this directory." type:"existingdir"`
}

// Help shows examples.
func (editCmd) Help() string {
	return `Examples:
  stillso edit k3v9 --replace "port 5432" "port 5433"
  stillso edit k3v9 --type decision --priority 4
  stillso edit k3v9 --resident`
}

// replacement is one OLD NEW pair of --replace.
type replacement struct{ Old, New string }

// replacements takes two words for each use of the option.
type replacements []replacement

// Decode reads the two words behind --replace.
func (r *replacements) Decode(ctx *kong.DecodeContext) error {
	var pair replacement
	if err := ctx.Scan.PopValueInto("OLD", &pair.Old); err != nil {
		return err
	}
	if err := ctx.Scan.PopValueInto("NEW", &pair.New); err != nil {
		return fmt.Errorf("--replace needs two words, OLD and NEW: %w", err)
	}
	*r = append(*r, pair)
	return nil
}

// edited is what an edit did to memories.
type edited struct {
	Verb    stillso.Verb      `json:"verb"`
	Memory  []*stillso.Memory `json:"memories"`
	Changes []string          `json:"changes"`
	// Same lists the memories that were so already.
	Same     []string `json:"unchanged,omitempty"`
	Redacted int      `json:"redacted,omitempty"`
}

func (c *editCmd) run(ctx context.Context, a *app) (summary, error) {
	if c.empty() {
		return nil, usagef("nothing was changed: no option says what; `stillso edit --help` lists them")
	}
	old, err := a.find(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	after := old.Clone()
	if err := c.change(a, after); err != nil {
		return nil, err
	}
	if after.Name == "" || c.Name == nil && old.Name == capture.Name(old.Content) {
		after.Name = capture.Name(after.Content) // made from the words, so it follows them
	}
	sum := &edited{Verb: stillso.VerbEdit, Redacted: redactMemory(after)}
	if err := after.Validate(); err != nil {
		return nil, usagef("cannot edit it: %w", err)
	}
	if after.Equal(old) {
		sum.Same = []string{old.ID}
		return sum, nil
	}
	after.UpdatedAt = a.now()
	change := a.humanChange(stillso.VerbEdit, "edit", stillso.Edit{Before: old, After: after})
	if old.Resident != after.Resident {
		change.Verb = stillso.VerbPromote
		if !after.Resident {
			change.Verb = stillso.VerbDemote
		}
	}
	done, err := a.apply(ctx, change)
	if err != nil {
		return nil, err
	}
	sum.Memory, sum.Changes = []*stillso.Memory{after}, []string{done[0].ID}
	return sum, nil
}

// empty reports whether no option says what to change.
func (c *editCmd) empty() bool {
	return c.Content == nil && c.Name == nil && c.Type == nil && c.Priority == nil && c.Namespace == "" &&
		c.Tags == nil && c.Why == nil && c.Resident == nil && len(c.Replace)+len(c.Alias) == 0
}

// change puts the options into m.
func (c *editCmd) change(a *app, m *stillso.Memory) error {
	var err error
	if c.Content != nil {
		if m.Content, err = a.textArgument([]string{*c.Content}); err != nil {
			return err
		}
	}
	for _, r := range c.Replace {
		if err := r.in(m); err != nil {
			return err
		}
	}
	if c.Type != nil && *c.Type == "" {
		return usagef("cannot edit %s: the type is empty; `stillso edit --help` shows how to give one", m.ID)
	}
	if c.Type != nil {
		if m.Type, err = stillso.ParseType(*c.Type); err != nil {
			return usagef("cannot edit %s: %w", m.ID, err)
		}
	}
	if c.Namespace != "" {
		if m.Namespace, err = a.namespaceOption(c.Namespace, c.Dir); err != nil {
			return err
		}
	}
	if c.Name != nil {
		m.Name = strings.TrimSpace(*c.Name)
	}
	if c.Priority != nil {
		if *c.Priority == 0 { // the store takes 0 for "unsaid"
			return usagef("cannot edit %s: priority 0 is not between 1 and 5", m.ID)
		}
		m.Priority = *c.Priority
	}
	if c.Tags != nil {
		m.Tags = given(c.Tags)
	}
	if c.Why != nil {
		m.Why = strings.TrimSpace(*c.Why)
	}
	if c.Resident != nil {
		m.Resident = *c.Resident
	}
	m.Aliases = append(m.Aliases, given(c.Alias)...)
	return nil
}

// given returns the values of an option that hold something.
func given(values []string) []string {
	var list []string
	for _, v := range values {
		if v = strings.TrimSpace(v); v != "" {
			list = append(list, v)
		}
	}
	return list
}

// in replaces the words in m. The content of a note is the beginning of its body,
// so that the words may stand once in each.
func (r replacement) in(m *stillso.Memory) error {
	content, body := strings.Count(m.Content, r.Old), strings.Count(m.Body, r.Old)
	if r.Old == "" || content+body == 0 || content > 1 || body > 1 {
		return usagef("cannot edit %s: %q stands %s in its content and %s in its body; give words that stand there once",
			m.ID, r.Old, plural(content, "time", "times"), plural(body, "time", "times"))
	}
	m.Content = strings.Replace(m.Content, r.Old, r.New, 1)
	m.Body = strings.Replace(m.Body, r.Old, r.New, 1)
	return nil
}

func (e *edited) text(p *page) {
	past := map[stillso.Verb]string{
		stillso.VerbEdit: "changed", stillso.VerbRetire: "retired", stillso.VerbRestore: "restored",
	}[e.Verb]
	already := map[stillso.Verb]string{
		stillso.VerbEdit: "is so already", stillso.VerbRetire: "is retired already", stillso.VerbRestore: "is active already",
	}[e.Verb]
	for i, m := range e.Memory {
		p.printf("%s %s  %s\n", past, p.bold(m.ID), oneLine(m.Content))
		p.printf("%s\n", p.faint("take it back: stillso undo "+e.Changes[i]))
	}
	for _, id := range e.Same {
		p.printf("%s %s: nothing changed\n", p.bold(id), already)
	}
	if e.Redacted > 0 {
		p.printf("%s\n", p.yellow(plural(e.Redacted, "secret was", "secrets were")+" taken out before saving"))
	}
}
