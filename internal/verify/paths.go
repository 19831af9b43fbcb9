package verify

import (
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// paths draws paths and bare file names, and the symbol that a sentence says is in one.
func (d *drawer) paths(s string) {
	var only []string
	for _, t := range tokens(strings.ReplaceAll(s, "](", " ")) {
		switch p := cleanPath(t.text); {
		case p == "" || exampleName(p):
		case strings.Contains(p, "/"):
			if pathLike(p, t.quoted) {
				d.claim("path", p)
				only = append(only, p)
			}
		case fileLike(p):
			d.claim("file", p)
		}
	}
	if len(only) != 1 || !isCode(path.Ext(only[0])) || !rules().in.MatchString(s) {
		return
	}
	var symbols []string
	for _, m := range rules().symbol.FindAllStringSubmatch(s, -1) {
		if !isCode(path.Ext(m[1])) {
			symbols = append(symbols, m[1])
		}
	}
	if len(symbols) == 1 && symbolLike(symbols[0]) { // of several, who knows which
		d.claim("symbol", only[0], symbols[0])
	}
}

// symbolLike reports whether a quoted word is the name of something in code, and no
// word of a language or a value.
func symbolLike(s string) bool {
	inner := strings.IndexFunc(s[1:], unicode.IsUpper) >= 0
	return len(s) >= 4 && (inner && strings.ToUpper(s) != s || strings.Contains(s, "_") && strings.ToUpper(s) != s)
}

// token is a word that may be a path.
type token struct {
	text   string
	quoted bool
}

// tokens splits where no path goes on: at spaces, quotes, and characters of scripts
// without spaces.
func tokens(s string) []token {
	var out []token
	from, quoted := 0, false
	cut := func(i, next int, r rune) {
		if i > from {
			out = append(out, token{s[from:i], quoted && r == '`'})
		}
		from, quoted = next, r == '`' && !quoted
	}
	for i, r := range s {
		switch {
		case r == ' ' || r == '\t' || strings.ContainsRune("\"'`“”‘’<>|,;，、：；！？（）「」『』《》【】", r):
			cut(i, i+utf8.RuneLen(r), r)
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			cut(i, i+utf8.RuneLen(r), r)
		}
	}
	cut(len(s), len(s), 0)
	return out
}

// cleanPath takes off what people put around a path: marks, a line number, ./ before.
func cleanPath(s string) string {
	if strings.HasPrefix(s, "*.") || strings.Contains(s, "/*") {
		return "" // a pattern
	}
	s = strings.TrimLeft(s, "([{*")
	if len(s) > 2 && s[0] == '_' && s[len(s)-1] == '_' {
		s = s[1 : len(s)-1]
	}
	if i := strings.Index(s, "#L"); i > 0 {
		s = s[:i]
	}
	if i := strings.IndexByte(s, ':'); i > 0 {
		s = s[:i]
	}
	s = strings.TrimRight(s, ".,!?)]}*")
	if !strings.ContainsAny(s, "./") || strings.Contains(s, "...") || strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "@") {
		return ""
	}
	s = strings.TrimPrefix(s, "./")
	if Path.check(s) != nil {
		return ""
	}
	return s
}

// exampleName reports whether a path is one of those that stand for any path.
func exampleName(p string) bool {
	for part := range strings.SplitSeq(strings.ToLower(p), "/") {
		stem, _, _ := strings.Cut(part, ".")
		switch stem {
		case "nn", "foo", "bar", "baz", "qux", "example", "xxx", "yyy", "your", "my", "some", "path", "filename", "file":
			return true
		}
		if len(stem) > 2 && strings.Trim(stem, stem[:1]) == "" && strings.ContainsAny(stem[:1], "nxy") {
			return true // NNNN.jsonl
		}
		if strings.Contains(stem, "xxx") || strings.Contains(stem, "yyyy") {
			return true
		}
	}
	return false
}

// pathLike reports whether a word with a slash is a path of the project, and neither
// an alternative (and/or), a media type, a branch, an import nor an address.
func pathLike(p string, quoted bool) bool {
	head, _, _ := strings.Cut(p, "/")
	if strings.Contains(strings.TrimPrefix(head, "."), ".") && !strings.HasPrefix(p, ".") {
		return false // github.com/x/y
	}
	base := path.Base(p)
	if isCode(path.Ext(base)) {
		return len(p) >= 6 || strings.Count(p, "/") != 1 || strings.ToUpper(p) != p
	}
	switch base {
	case "Makefile", "Dockerfile", "Justfile", "Jenkinsfile", "Procfile", "LICENSE":
		return true
	}
	return sourceFolder(head) && path.Ext(base) == "" && strings.ToUpper(base) != base &&
		(strings.HasSuffix(p, "/") || quoted && strings.Count(p, "/") > 1) // tools/list is a method of a protocol
}

// sourceFolder reports whether projects usually have a folder of that name.
func sourceFolder(s string) bool {
	switch s {
	case "src", "internal", "cmd", "pkg", "lib", "libs", "app", "apps", "packages", "docs", "doc", "test", "tests", "scripts", "tools", "config", "configs", "deploy", "infra",
		"migrations", "db", "api", "web", "server", "client", "frontend", "backend", "services", "crates", "examples", "testdata", ".github", "assets", "public", "components", "terraform", "charts":
		return true
	}
	return false
}

// fileLike reports whether a word without a slash is a file's name.
func fileLike(p string) bool {
	ext := path.Ext(p)
	stem := strings.TrimSuffix(p, ext)
	if !isCode(ext) || stem == "" || strings.Trim(stem, "0123456789") == "" {
		return false
	}
	switch ext {
	case ".conf", ".service", ".plist", ".properties":
		return false // of the system, more often than of a project
	case ".js":
		if !strings.ContainsAny(stem, "_-.") && !usualScript(stem) {
			return false // Node.js, tesseract.js: libraries
		}
	}
	if p[0] == '.' && !strings.HasPrefix(p, ".env") && ext != ".yml" && ext != ".yaml" && ext != ".json" && ext != ".toml" {
		return false // an ending
	}
	switch p {
	case "MEMORY.md", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", "SKILL.md", "settings.json", "settings.local.json":
		return false // of the assistant, which keeps some of them elsewhere
	}
	if ext == ".rs" && (stem == "docs" || stem == "lib") || ext == ".md" && len(stem) < 2 {
		return false
	}
	return len(stem) > 1 || ext == ".c" || ext == ".h" || ext == ".go" || ext == ".py"
}

// usualScript lists what plain scripts are called; other plain names with .js are
// those of libraries.
func usualScript(stem string) bool {
	switch stem {
	case "index", "main", "app", "server", "worker", "script", "utils", "config", "setup", "test", "build", "sw":
		return true
	}
	return false
}

// isCode reports whether an extension is one of files that people keep in
// repositories.
func isCode(ext string) bool {
	switch ext {
	case ".go", ".mod", ".rs", ".py", ".pyi", ".js", ".jsx", ".ts", ".tsx", ".mjs", ".cjs", ".vue", ".svelte", ".java", ".kt", ".kts", ".scala", ".rb", ".php", ".cs", ".fs",
		".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".mm", ".swift", ".ex", ".exs", ".erl", ".hs", ".ml", ".clj", ".lua", ".r", ".jl", ".dart", ".zig", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat",
		".sql", ".proto", ".graphql", ".tf", ".hcl", ".yaml", ".yml", ".json", ".jsonc", ".jsonl", ".toml", ".ini", ".cfg", ".conf", ".xml", ".html", ".css", ".scss", ".less", ".md", ".mdx", ".rst", ".txt", ".csv",
		".gradle", ".lock", ".ipynb", ".tmpl", ".tpl", ".env", ".properties", ".plist", ".service", ".make", ".mk", ".cmake", ".bzl", ".nix":
		return true
	}
	return false
}
