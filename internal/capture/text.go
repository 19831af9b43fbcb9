package capture

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stillso/internal/terms"
)

// plain returns s as it is compared: full-width forms and typographic quotes
// made ordinary, invisible characters dropped, white space made single spaces,
// letters lower case. What is equal after it was said in the same words.
func plain(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	space := false
	for _, r := range s {
		switch {
		case r == '\u3000' || unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case r >= '！' && r <= '～': // full-width ASCII
			r -= '！' - '!'
		case r == '‘' || r == '’' || r == '`' || r == '´':
			r = '\''
		case r == '“' || r == '”' || r == '„':
			r = '"'
		case r == '–' || r == '—' || r == '‐' || r == '‑':
			r = '-'
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) || r < ' ' || r >= 0x7f && r < 0xa0:
			continue
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// hidden reports whether s carries characters that a person neither types nor
// sees, and which hide text from the reader and keep it for the model: tag
// characters, direction overrides, or zero-width spaces in number. A few of the
// last come with honest text from the web.
func hidden(s string) bool {
	zero := 0
	for _, r := range s {
		switch {
		case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069', r >= 0xe0000 && r <= 0xe007f:
			return true
		case unseen(r):
			zero++
		}
	}
	return zero > 3
}

// unseen reports whether r takes no room and joins nothing.
func unseen(r rune) bool { return r == '\u200b' || r >= '\u2060' && r <= '\u2064' }

// span is a part of a text, by its place in bytes.
type span struct{ start, end int }

func (p span) of(s string) string { return s[p.start:p.end] }

// sentences cuts s at line ends and at the ends of sentences, with the signs that
// end them, and leaves out what is blank.
func sentences(s string) []span {
	var out []span
	start, quotes := 0, 0
	cut := func(end int) {
		a, b := start, end
		for a < b && strings.IndexByte(" \t\r\n", s[a]) >= 0 {
			a++
		}
		for b > a && strings.IndexByte(" \t\r\n", s[b-1]) >= 0 {
			b--
		}
		if b > a {
			out = append(out, span{a, b})
		}
		start = end
	}
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			end = i + 1
		}
		switch r {
		case '\n', '。', '！', '？', '；':
			cut(end)
			quotes = 0
		case '"', '“', '”':
			quotes++
		case '.', '!', '?', ';':
			// "Shall I go on?" inside a sentence does not end it.
			if quotes%2 == 1 && strings.ContainsAny(s[end:min(len(s), end+80)], "\"”") {
				continue
			}
			if end >= len(s) || strings.IndexByte(" \t\r\n\"')", s[end]) >= 0 || s[end] >= utf8.RuneSelf && r != '.' {
				if r == '.' && shortened(s[start:i]) {
					continue
				}
				cut(end)
			}
		}
	}
	cut(len(s))
	return out
}

// countSentences counts what a statement says: parts that a semicolon joins are
// one.
func countSentences(s string) int {
	return len(sentences(strings.NewReplacer(";", ",", "；", "，", "\n", " ").Replace(s)))
}

// shortened reports whether s ends with an abbreviation, so that the full stop
// behind it ends no sentence.
func shortened(s string) bool {
	w := s[strings.LastIndexAny(s, " \t\n(")+1:]
	switch strings.ToLower(w) {
	case "e.g", "i.e", "etc", "vs", "cf", "approx", "mr", "dr", "no", "incl", "resp", "fig", "sec", "..", "z.b", "1", "2", "3", "4", "5", "6", "7", "8", "9":
		return strings.ToLower(w) != "no" || strings.HasSuffix(s, "No")
	}
	return false
}

// own returns s with everything blanked, byte for byte, that its author did not
// say: code blocks, quoted lines, what other programs wrapped around it, pasted
// logs and program text. Places in it are places in s.
func own(s string) string {
	b := []byte(s)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			if b[i] != '\n' {
				b[i] = ' '
			}
		}
	}
	for _, p := range fenced(s) {
		blank(p.start, p.end)
	}
	for _, p := range wrapped(s) {
		blank(p.start, p.end)
	}
	if p, ok := pasted(s); ok {
		blank(p.start, p.end)
	}
	at := 0
	for line := range strings.SplitAfterSeq(s, "\n") {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, ">") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "    ") && codeLike(t) || codeLike(t) {
			blank(at, at+len(line))
		}
		at += len(line)
	}
	return string(b)
}

// announces recognises a line that ends with a colon and says that what follows
// is another's text.
var announces = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\b(?:says|said|wrote|writes|reads|replied|answered|reported)` +
		`|\b(?:this|these|the following|following|here(?:'s| is| are)|got an?|below is|from)\b.{0,40}\b(?:errors?|logs?|output|readme|article|e-?mail|message|comments?|review|page|ticket|issue|transcript|response|traceback|docs?|documentation|spec|prompt)(?: (?:on|in|from|of) [\w ]{1,30})?` +
		`|(?:说|写道|写着)|(?:日志|报错|邮件|文章|网页|原文|错误|信息|输出|文档|评论|内容|反馈)(?:内容|信息)?如下` +
		`|(?:로그|에러|문서|메일).{0,12}|(?:ログ|エラー|記事|メール).{0,12}):$`)
})

// pasted returns the part of s behind a line that ends with a colon and announces
// another's text, to the last paragraph of s or its end.
func pasted(s string) (span, bool) {
	at := 0
	for line := range strings.SplitAfterSeq(s, "\n") {
		at += len(line)
		t := plain(line)
		if !strings.HasSuffix(t, ":") || at >= len(s) {
			continue
		}
		if announces().MatchString(t) {
			end := len(s)
			if n := strings.LastIndex(strings.TrimRight(s, "\n "), "\n\n"); n > at {
				end = n
			}
			return span{at, end}, true
		}
	}
	return span{}, false
}

// fenced returns the code blocks of s, fences included. One that is not closed
// runs to the end.
func fenced(s string) []span {
	var out []span
	open, fence, at := -1, "", 0
	for line := range strings.SplitAfterSeq(s, "\n") {
		t := strings.TrimSpace(line)
		switch {
		case open < 0 && (strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~")):
			if len(t) > 6 && strings.HasSuffix(t, t[:3]) { // ```code``` on one line
				out = append(out, span{at, at + len(line)})
				break
			}
			open, fence = at, t[:3]
		case open >= 0 && strings.HasPrefix(t, fence):
			out = append(out, span{open, at + len(line)})
			open = -1
		}
		at += len(line)
	}
	if open >= 0 {
		out = append(out, span{open, len(s)})
	}
	return out
}

// wrappers are the tags in which hosts, and we ourselves, put text that nobody
// typed.
var wrappers = [...]string{
	"long_term_memories", "system-reminder", "task-notification", "hook_context", "ide_opened_file", "ide_selection",
	"command-name", "command-message", "command-args", "local-command-stdout", "local-command-stderr", "user-prompt-submit-hook",
	"environment_context", "user_instructions", "attached_files", "file_contents", "context", "document", "documents", "search_results", "tool_result", "function_results",
	"memory", "system", "instructions", "additional_data", "pasted_text", "web_page",
}

// wrapped returns the parts of s that stand inside one of the wrappers.
func wrapped(s string) []span {
	if !strings.Contains(s, "<") {
		return nil
	}
	l := strings.ToLower(s)
	if len(l) != len(s) {
		l = s // some capitals change length; such a text keeps its case
	}
	var out []span
	for _, tag := range wrappers {
		for at := 0; ; {
			i := strings.Index(l[at:], "<"+tag)
			if i < 0 {
				break
			}
			i += at
			at = i + 1 + len(tag)
			if at < len(l) && l[at] != '>' && l[at] != ' ' && l[at] != '\n' {
				continue
			}
			end := len(s)
			if n := strings.Index(l[at:], "</"+tag); n >= 0 {
				end = at + n + len(tag) + 2
				if g := strings.IndexByte(l[end:], '>'); g >= 0 {
					end += g + 1
				}
			}
			out = append(out, span{i, end})
			at = end
		}
	}
	return out
}

// codeLike reports whether a line is program text, a log line, a stack frame, a
// diff or a prompt of a shell rather than something said.
func codeLike(t string) bool {
	if len(t) < 4 {
		return false
	}
	for _, p := range [...]string{"$ ", "# !", "at ", "File \"", "Traceback", "diff --git", "@@ ", "+++ ", "--- a/", "import ", "from .", "const ", "let ", "var ", "func ", "def ", "class ", "return ", "#include", "public ", "private ", "</", "//", "/*", "ERROR", "WARN", "INFO", "DEBUG", "error:", "warning:", "fatal:", "npm ERR", "Error:", "Exception"} {
		if strings.HasPrefix(t, p) {
			if p == "at " || p == "let " || p == "class " || p == "public " || p == "private " || p == "return " || p == "import " {
				if !strings.ContainsAny(t, "(){};=") {
					continue
				}
			}
			return true
		}
	}
	if c := t[0]; c >= '0' && c <= '9' && len(t) > 19 && (t[4] == '-' || t[4] == '/') && strings.Contains(t[:19], ":") {
		return true // 2026-03-02 10:00:00 …
	}
	last := t[len(t)-1]
	if last == '{' || last == '}' || strings.HasSuffix(t, ");") || strings.HasSuffix(t, "};") || strings.HasSuffix(t, "],") {
		return true
	}
	signs := 0
	for i := range len(t) {
		if strings.IndexByte("{}()[]<>=;&|\\$", t[i]) >= 0 {
			signs++
		}
	}
	return signs*6 > len(t)
}

// telling returns the terms of s that say something, without repetition: words,
// numbers and pairs of CJK characters that are no stop words. Whole identifiers
// are left to their parts.
func telling(s string) map[string]bool {
	out := map[string]bool{}
	for _, t := range terms.Analyze(s) {
		if t.Kind == terms.Whole || t.Kind == terms.Char || terms.Stop(t) {
			continue
		}
		out[t.Text] = true
	}
	return out
}

// shared counts the members that both have.
func shared(a, b map[string]bool) int {
	if len(a) > len(b) {
		a, b = b, a
	}
	n := 0
	for t := range a {
		if b[t] {
			n++
		}
	}
	return n
}

// specifics returns the numbers and the names with digits of s: what stays the
// same when a statement is put in other words. Index terms are no help here, for
// they leave out short numbers.
func specifics(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(plain(s), func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && r != '_' && r != '.' && r != '-'
	}) {
		w = strings.TrimPrefix(strings.Trim(w, "._-"), "v")
		if strings.ContainsAny(w, "0123456789") {
			out[w] = true
		}
	}
	return out
}

// cut shortens s to at most n bytes at a character's border.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// tail keeps the last n bytes of s at most, from a character's border on.
func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// oneLine joins the lines of s.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// hasCJK reports whether s holds Chinese, Japanese or Korean characters.
func hasCJK(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana)
	})
}
