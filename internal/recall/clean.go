package recall

import (
	"strings"
	"unicode/utf8"
)

// Clean returns the part of a prompt that a person wrote: without code blocks,
// wrappers of hosts, markers of images and pastes, lines that a machine wrote,
// references to files that the host reads itself, addresses (the words of a URL's
// path stay), dates and home directories. Of a very long text the beginning and
// the end stay: there stands what is asked for.
func Clean(prompt string) string {
	p := dropFences(prompt)
	p = dropWrappers(p)
	p = dropMarkers(p)
	p = dropCommand(p)
	p = ends(dropMachineLines(p))
	var b strings.Builder
	b.Grow(len(p))
	for rest := p; rest != ""; {
		i := strings.IndexFunc(rest, isSpace)
		switch {
		case i == 0:
			_, n := utf8.DecodeRuneInString(rest)
			b.WriteString(rest[:n])
			rest = rest[n:]
			continue
		case i < 0:
			i = len(rest)
		}
		cleanWord(&b, rest[:i])
		rest = rest[i:]
	}
	return b.String()
}

// maxClean is how much of a text is read from either end, in bytes.
const maxClean = 900

func ends(p string) string {
	if len(p) <= 2*maxClean {
		return p
	}
	head, tail := p[:maxClean], p[len(p)-maxClean:]
	if i := strings.LastIndexFunc(head, isSpace); i > maxClean/2 {
		head = head[:i]
	}
	if i := strings.IndexFunc(tail, isSpace); i >= 0 && i < maxClean/2 {
		tail = tail[i:]
	}
	return head + "\n" + tail
}

func isSpace(r rune) bool {
	return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == 0x3000 || r == 0xa0
}

// dropFences removes code blocks; one that is not closed runs to the end.
func dropFences(p string) string {
	const fence = "```"
	i := strings.Index(p, fence)
	if i < 0 {
		return p
	}
	var b strings.Builder
	for i >= 0 {
		b.WriteString(p[:i])
		b.WriteByte('\n')
		p = p[i+len(fence):]
		end := strings.Index(p, fence)
		if end < 0 {
			return b.String()
		}
		p = p[end+len(fence):]
		i = strings.Index(p, fence)
	}
	b.WriteString(p)
	return b.String()
}

// dropWrappers removes what hosts put around or into a prompt, and the brackets of
// other tags.
func dropWrappers(p string) string {
	if strings.IndexByte(p, '<') < 0 {
		return p
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(p, '<')
		if i < 0 {
			b.WriteString(p)
			return b.String()
		}
		b.WriteString(p[:i])
		p = p[i:]
		name, whole, n := tag(p)
		if n == 0 {
			b.WriteByte('<')
			p = p[1:]
			continue
		}
		b.WriteByte(' ')
		if whole {
			if end := strings.Index(p, "</"+name+">"); end >= 0 {
				n = end + len(name) + 3
			}
		}
		p = p[n:]
	}
}

// tag reads a tag at the start of p: its name, whether its content is not the
// user's, and its length, 0 if it is none.
func tag(p string) (name string, whole bool, n int) {
	i := 1
	if i < len(p) && p[i] == '/' {
		i++
	}
	start := i
	for i < len(p) && (p[i] >= 'a' && p[i] <= 'z' || i > start && (p[i] == '_' || p[i] == '-')) {
		i++
	}
	if i == start || i == len(p) || p[i] != '>' {
		return "", false, 0
	}
	name = p[start:i]
	return name, p[1] != '/' && wrapper(name), i + 1
}

func wrapper(name string) bool {
	switch name {
	case "task-notification", "hook_context", "ide_opened_file", "ide_selection", "system-reminder", "long_term_memories":
		return true
	}
	return strings.HasPrefix(name, "local-command-") || strings.HasPrefix(name, "command-") || strings.HasPrefix(name, "bash-")
}

// dropMarkers removes "[Image #1]", "[Request interrupted by user]", "[Pasted text …]".
func dropMarkers(p string) string {
	for from := 0; ; {
		i := strings.IndexByte(p[from:], '[')
		if i < 0 {
			return p
		}
		i += from
		from = i + 1
		for _, m := range [...]string{"Image", "Request interrupted", "Pasted"} {
			if !strings.HasPrefix(p[i+1:], m) {
				continue
			}
			if end := strings.IndexByte(p[i:], ']'); end >= 0 {
				p = p[:i] + " " + p[i+end+1:]
			}
			break
		}
	}
}

// dropCommand removes the name of a slash command that starts the prompt.
func dropCommand(p string) string {
	t := strings.TrimLeft(p, " \t\r\n")
	if len(t) < 2 || t[0] != '/' {
		return p
	}
	i := 1
	for i < len(t) && (letter(t[i]) || t[i] == '-') {
		i++
	}
	if i > 1 && (i == len(t) || t[i] == ' ' || t[i] == '\n' || t[i] == '\t') {
		return t[i:]
	}
	return p
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// cleanWord writes what is left of one word between spaces.
func cleanWord(b *strings.Builder, w string) {
	if i := strings.Index(w, "://"); i > 0 {
		start := i
		for start > 0 && letter(w[start-1]) {
			start--
		}
		if s := w[start:i]; s == "http" || s == "https" {
			end := strings.IndexAny(w[i:], ")>]")
			if end < 0 {
				end = len(w)
			} else {
				end += i
			}
			cleanWord(b, w[:start])
			b.WriteByte(' ')
			urlWords(b, w[i+3:end])
			b.WriteByte(' ')
			cleanWord(b, w[end:])
			return
		}
	}
	if fileReference(w) || screenshot(w) {
		return
	}
	w = dropHome(w)
	if i := isoDate(w); i >= 0 {
		b.WriteString(w[:i])
		b.WriteByte(' ')
		rest := w[i+10:]
		for rest != "" && (digit(rest[0]) || strings.IndexByte("T:.Z+", rest[0]) >= 0) {
			rest = rest[1:]
		}
		b.WriteString(rest)
		return
	}
	b.WriteString(w)
}

// urlWords writes the words of a URL's path, not those of the host or the query.
func urlWords(b *strings.Builder, u string) {
	_, path, _ := strings.Cut(u, "/")
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	for _, p := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/?#=&.", r) }) {
		if len(p) < 3 || len(p) > 30 {
			continue
		}
		if strings.IndexFunc(p, func(r rune) bool { return r != '-' && (r >= utf8.RuneSelf || !letter(byte(r))) }) < 0 {
			b.WriteString(p)
			b.WriteByte(' ')
		}
	}
}

// isoDate returns where a date such as 2026-11-30 starts, or -1.
func isoDate(w string) int {
	for i := 0; i+10 <= len(w); i++ {
		ok := true
		for j := range 10 {
			if c := w[i+j]; (j == 4 || j == 7) != (c == '-') || j != 4 && j != 7 && !digit(c) {
				ok = false
				break
			}
		}
		if ok && (i == 0 || !digit(w[i-1]) && !letter(w[i-1])) && (i+10 == len(w) || !digit(w[i+10])) {
			return i
		}
	}
	return -1
}

// dropHome removes home directories: their names say nothing.
func dropHome(w string) string {
	for _, home := range [...]string{"/home/", "/Users/", "\\Users\\", "/c/Users/"} {
		i := strings.Index(w, home)
		if i < 0 {
			continue
		}
		rest := w[i+len(home):]
		end := strings.IndexAny(rest, "/\\")
		if end < 0 {
			return w
		}
		if i >= 2 && w[i-1] == ':' { // C:
			i -= 2
		}
		return w[:i] + " " + rest[end+1:]
	}
	return w
}

// fileReference reports whether a word is a reference such as @docs/plan.md: the
// host puts the file into the prompt, and its name is not what the user talks of.
func fileReference(w string) bool {
	w = strings.TrimLeft(w, "\\(\"'`")
	return len(w) > 1 && w[0] == '@' && strings.ContainsAny(w[1:], "./")
}

// screenshot reports whether a word is the path of a picture: the user shows it,
// and its name is a machine's.
func screenshot(w string) bool {
	w = strings.ToLower(strings.Trim(w, ".,;:!?)(\"'`"))
	if !strings.ContainsAny(w, "/\\") {
		return false
	}
	for _, ext := range [...]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".heic", ".bmp"} {
		if strings.HasSuffix(w, ext) {
			return true
		}
	}
	return false
}
