package files

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"stillso"
)

// WriteMarkdown writes a memory as one note: a front matter and the text. ReadMarkdown
// reads it back to the same memory but for evidence, claims and file origin,
// which only an export holds.
func WriteMarkdown(w io.Writer, m *stillso.Memory) error {
	var out strings.Builder
	put := func(key, value string) {
		if value != "" {
			out.WriteString(key + ": " + scalar(value) + "\n")
		}
	}
	list := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		out.WriteString(key + ":\n")
		for _, v := range values {
			out.WriteString("  - " + quote(v) + "\n")
		}
	}
	out.WriteString("---\n")
	put("id", m.ID)
	put("name", m.Name)
	body := m.Body
	if body != "" {
		put("description", m.Content)
	} else if body = m.Content; statement(body) != body {
		put("description", m.Content)
	}
	put("type", string(m.Type))
	put("namespace", string(m.Namespace))
	put("created", stamp(m.CreatedAt))
	put("updated", stamp(m.UpdatedAt))
	put("status", string(m.State))
	put("origin", string(m.Origin))
	put("priority", strconv.Itoa(m.Priority))
	if m.Resident {
		put("pinned", "true")
	}
	put("superseded_by", m.SupersededBy)
	put("source_session", m.SourceSession)
	put("why", m.Why)
	list("tags", m.Tags)
	list("aliases", m.Aliases)
	list("related_files", m.RelatedFiles)
	keys := make([]string, 0, len(m.Extra))
	for k := range m.Extra {
		if _, _, ok := keyValue(k + ": x"); ok {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		put(k, m.Extra[k])
	}
	out.WriteString("---\n" + strings.Trim(body, "\n") + "\n")
	if _, err := io.WriteString(w, out.String()); err != nil {
		return fmt.Errorf("cannot write the note: %w", bare(err))
	}
	return nil
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// scalar writes a value so that every reader of YAML takes it for the same text.
func scalar(s string) string {
	odd := func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("_./-:", r)
	}
	plain := s != "" && !strings.ContainsFunc(s, odd) && strings.TrimLeft(s, "-:.") == s && !strings.HasSuffix(s, ":")
	if plain {
		return s
	}
	return quote(s)
}

func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
