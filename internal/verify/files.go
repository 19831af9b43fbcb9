package verify

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"stillso"
)

// pathExists looks for a path from the project's root, then for one that ends so: in
// a large repository people write paths from where they work.
func pathExists(ctx context.Context, l *look, args []string) Answer {
	p := args[0]
	_, err := l.stat(p)
	switch {
	case err == nil:
		a := holds("path " + p + " exists")
		a.mark = l.markOf(p)
		return a
	case !absent(err):
		return unknown("path " + p + " cannot be looked at: it leads out of the project or is closed")
	}
	if l.dangling(p) {
		return unknown("path " + p + " is a link that leads nowhere")
	}
	head, rest, nested := strings.Cut(p, "/")
	if nested && head == filepath.Base(l.site.Root) && rest != "" { // written from above the project
		if _, err := l.stat(rest); err == nil {
			a := holds("path " + p + " exists")
			a.mark = l.markOf(rest)
			return a
		}
	}
	x := l.listed(ctx)
	if found := x.ending(p); len(found) > 0 {
		a := holds("path " + p + " exists as " + found[0])
		a.mark = l.markOf(found[0])
		return a
	}
	if why := x.excuse(p); why != "" {
		return unknown("path " + p + " is not here: " + why)
	}
	if nested && len(x.byBase[head]) == 0 && !sourceFolder(head) && head != filepath.Base(l.site.Root) {
		a := unknown("path " + p + " may lie in another project: there is no " + head + " here")
		a.past = "path " + p + " is gone"
		return a
	}
	return fails("path " + p + " is gone")
}

func (l *look) dangling(p string) bool {
	info, err := l.root.Lstat(filepath.FromSlash(strings.TrimSuffix(p, "/")))
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// fileExists looks for a bare file name anywhere in the project.
func fileExists(ctx context.Context, l *look, args []string) Answer {
	name := args[0]
	x := l.listed(ctx)
	if found := x.byBase[name]; len(found) > 0 {
		a := holds("file " + name + " exists as " + found[0])
		a.mark = l.markOf(found[0])
		return a
	}
	if l.root == nil {
		return unknown("the project's folder cannot be opened")
	}
	if why := x.excuse(name); why != "" {
		return unknown("file " + name + " is not here: " + why)
	}
	if !distinct(name) {
		a := unknown("file " + name + " is not in the project; it may be one that a program makes, or a product")
		a.past = "file " + name + " is gone"
		return a
	}
	return fails("file " + name + " is gone")
}

// distinct reports whether a bare name can only mean a source file of somebody's
// project: config.toml and llama.cpp are as often a file that a program makes, or a
// product. Of 15 such names in this repository's own documents, none was a source.
func distinct(name string) bool {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	switch ext {
	case ".go", ".rs", ".py", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte", ".java", ".kt", ".scala", ".rb", ".php", ".cs", ".c", ".h", ".cc", ".cpp", ".hpp",
		".swift", ".ex", ".exs", ".hs", ".lua", ".dart", ".zig", ".sh", ".ps1", ".sql", ".proto", ".tf":
		return strings.ContainsAny(stem, "_-") || len(stem) > 1 && strings.IndexFunc(stem[1:], unicode.IsUpper) >= 0
	}
	return false
}

// content returns the text of a file that a claim is about, or the answer if it
// cannot be had.
func (l *look) content(ctx context.Context, p string) (string, *Answer) {
	if a := pathExists(ctx, l, []string{p}); a.verdict != stillso.Holds {
		return "", &a
	}
	real := p
	if _, err := l.stat(p); err != nil {
		if found := l.listed(ctx).ending(p); len(found) > 0 {
			real = found[0]
		}
	}
	text, err := l.readAll(real, maxRead)
	if err != nil {
		a := unknown(fmt.Sprintf("%s cannot be read: %v", p, err))
		return "", &a
	}
	return text, nil
}

func hasText(ctx context.Context, l *look, args []string) Answer {
	text, a := l.content(ctx, args[0])
	switch {
	case a != nil:
		return *a
	case strings.Contains(text, args[1]):
		return holds(fmt.Sprintf("%s contains %q", args[0], args[1]))
	}
	return fails(fmt.Sprintf("%s no longer contains %q", args[0], args[1]))
}

// definesSymbol looks for the symbol as a whole word. Whether a line defines it is
// told by the words before it, in the usual languages; a file that only mentions it
// proves nothing.
func definesSymbol(ctx context.Context, l *look, args []string) Answer {
	file, symbol := args[0], args[1]
	text, a := l.content(ctx, file)
	if a != nil {
		return *a
	}
	last := symbol[strings.LastIndexByte(symbol, '.')+1:]
	word := `(?:^|[^\w$])` + regexp.QuoteMeta(last) + `(?:[^\w$]|$)`
	found, err := regexp.MatchString(word, text)
	switch {
	case err != nil:
		return unknown(fmt.Sprintf("%s cannot be searched for", symbol))
	case !found:
		return fails(fmt.Sprintf("%s no longer defines %s", file, symbol))
	}
	defined, err := regexp.MatchString(`(?m)(?:^|[^\w$])(?:func|fn|def|class|struct|interface|enum|type|trait|const|let|var|val|function|module|package|message|service|record|object|static|public|private|protected|void|int|string|bool)[^\n=;{]{0,80}[^\w$]`+
		regexp.QuoteMeta(last)+`(?:[^\w$]|$)|(?m)^\s*(?:export\s+)?`+regexp.QuoteMeta(last)+`\s*(?:\(\)\s*\{|:?=)`, text)
	if err == nil && defined {
		return holds(fmt.Sprintf("%s defines %s", file, symbol))
	}
	return unknown(fmt.Sprintf("%s mentions %s", file, symbol))
}

func countLines(ctx context.Context, l *look, args []string) Answer {
	text, a := l.content(ctx, args[0])
	if a != nil {
		return *a
	}
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return compareCount(n, args[1], args[0]+" has %d lines")
}

func countMatches(ctx context.Context, l *look, args []string) Answer {
	text, a := l.content(ctx, args[0])
	if a != nil {
		return *a
	}
	return compareCount(strings.Count(text, args[1]), args[2], fmt.Sprintf("%s contains %q", args[0], args[1])+" %d times")
}

func compareCount(n int, want, says string) Answer {
	if strconv.Itoa(n) == want {
		return holds(fmt.Sprintf(says, n))
	}
	return fails(fmt.Sprintf(says, n) + ", not " + want)
}

// moved returns where a file that is gone lies now: the only file of that base name,
// or the one whose content is still what was there.
func (l *look) moved(ctx context.Context, p, mark string) string {
	x := l.listed(ctx)
	if !x.whole {
		return ""
	}
	var same []string
	for _, q := range x.byBase[path.Base(strings.TrimSuffix(p, "/"))] {
		if q != p && path.Ext(q) == path.Ext(p) {
			same = append(same, q)
		}
	}
	if len(same) == 1 {
		return same[0]
	}
	if mark == "" {
		return ""
	}
	var equal []string
	n := 0
	for _, list := range x.byBase {
		for _, q := range list {
			if path.Ext(q) != path.Ext(p) {
				continue
			}
			if n++; n > maxSearched || ctx.Err() != nil {
				return "" // another one may lie in the rest
			}
			if l.marked(q) == mark {
				equal = append(equal, q)
			}
		}
	}
	if len(equal) == 1 {
		return equal[0]
	}
	return ""
}
