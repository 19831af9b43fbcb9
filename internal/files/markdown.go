package files

import (
	"slices"
	"strings"
	"unicode"
)

// item is one statement of an instruction file: a list item with everything
// nested in it, or a paragraph with the code or table that belongs to it.
type item struct {
	headings    []string // from the top of the file to the item
	intro       string   // the sentence that introduces the list it stands in
	text        string   // without the list mark; nested lines as they are
	first, last int      // lines, from 1
	box         byte     // 0, or what stands in the box of a task: ' ' or 'x'
}

// split cuts a text at headings, list items and paragraphs. first is the number
// of the text's first line.
func split(text string, first int) []item {
	s := splitter{lines: strings.Split(text, "\n"), first: first}
	for s.at < len(s.lines) {
		s.next()
	}
	return s.items
}

type splitter struct {
	lines    []string
	first    int
	at       int
	headings []heading
	intro    string
	items    []item
}

type heading struct {
	level int
	text  string
}

// next reads one block.
func (s *splitter) next() {
	line := s.lines[s.at]
	trim := strings.TrimSpace(line)
	switch {
	case trim == "" || rule(trim):
		s.at++
	case strings.HasPrefix(trim, "<!--"):
		s.skipComment()
	case headingText(trim) != "" || strings.HasPrefix(trim, "#") && strings.Trim(trim, "# ") == "":
		s.heading(len(trim)-len(strings.TrimLeft(trim, "#")), headingText(trim))
		s.at++
	case s.underlined():
		level := 1
		if strings.HasPrefix(strings.TrimSpace(s.lines[s.at+1]), "-") {
			level = 2
		}
		s.heading(level, oneLine(trim))
		s.at += 2
	default:
		if mark, rest := listItem(line); mark > 0 && rest != "" {
			s.listItem(line, mark, rest)
			return
		}
		s.paragraph()
	}
}

func (s *splitter) heading(level int, text string) {
	s.headings = slices.DeleteFunc(s.headings, func(h heading) bool { return h.level >= level })
	s.intro = ""
	if text != "" {
		s.headings = append(s.headings, heading{level, text})
	}
}

// underlined reports whether the line is a heading by the line below it.
func (s *splitter) underlined() bool {
	if s.at+1 >= len(s.lines) || s.at > 0 && strings.TrimSpace(s.lines[s.at-1]) != "" {
		return false
	}
	below := strings.TrimSpace(s.lines[s.at+1])
	mark, _ := listItem(s.lines[s.at])
	return mark == 0 && len(below) >= 3 && (strings.Trim(below, "=") == "" || strings.Trim(below, "-") == "") &&
		fence(strings.TrimSpace(s.lines[s.at])) == ""
}

func (s *splitter) skipComment() {
	for s.at < len(s.lines) {
		done := strings.Contains(s.lines[s.at], "-->")
		s.at++
		if done {
			return
		}
	}
}

// listItem reads an item with all lines that are indented below it.
func (s *splitter) listItem(line string, mark int, rest string) {
	start := s.at
	indent := indentOf(line)
	lines := []string{rest}
	fenced := openFence("", rest)
	s.at++
	for ; s.at < len(s.lines); s.at++ {
		l := s.lines[s.at]
		trim := strings.TrimSpace(l)
		if trim == "" && fenced == "" {
			// A blank line ends the item unless something nested follows.
			next := s.nextText(s.at)
			if next < 0 || indentOf(s.lines[next]) <= indent {
				break
			}
			lines = append(lines, "")
			continue
		}
		if fenced == "" && indentOf(l) <= indent {
			m, _ := listItem(l)
			if m > 0 || headingText(trim) != "" || rule(trim) || fence(trim) != "" {
				break
			}
		}
		fenced = openFence(fenced, trim)
		lines = append(lines, dedent(l, indent+mark))
	}
	it := item{headings: s.path(), intro: s.intro, first: s.first + start}
	it.box, lines[0] = taskBox(lines[0])
	s.add(it, lines)
}

// paragraph reads lines of prose, a block of code or a table; what follows a
// colon, and code after prose, stay together.
func (s *splitter) paragraph() {
	start := s.at
	var lines []string
	fenced := ""
	for ; s.at < len(s.lines); s.at++ {
		l := s.lines[s.at]
		trim := strings.TrimSpace(l)
		if fenced == "" {
			if trim == "" {
				next := s.nextText(s.at)
				if next < 0 || fence(strings.TrimSpace(s.lines[next])) == "" || len(lines) == 0 || !introduces(lines) {
					break
				}
				lines = append(lines, "")
				continue
			}
			mark, rest := listItem(l)
			if len(lines) > 0 && (headingText(trim) != "" || rule(trim) || mark > 0 && rest != "") {
				break
			}
		}
		was := fenced
		fenced = openFence(fenced, trim)
		lines = append(lines, strings.TrimRight(l, " \t"))
		if was != "" && fenced == "" { // the code is complete, and with it the block
			s.at++
			break
		}
	}
	// A sentence that introduces a list is its context, not a statement.
	if next := s.nextText(s.at); next >= 0 && introduces(lines) {
		if mark, _ := listItem(s.lines[next]); mark > 0 {
			s.intro = oneLine(strings.Join(lines, " "))
			return
		}
	}
	s.intro = ""
	s.add(item{headings: s.path(), first: s.first + start}, lines)
}

func (s *splitter) add(it item, lines []string) {
	it.last = it.first + len(lines) - 1
	it.text = strings.Trim(strings.Join(lines, "\n"), "\n")
	letters := 0
	for _, r := range it.text {
		if unicode.IsLetter(r) {
			letters++
		}
		if unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
			letters += 2
		}
	}
	// Below three letters there is nothing to remember; a line that only
	// imports another file is not a statement.
	if letters < 3 || strings.HasPrefix(it.text, "@") && !strings.ContainsAny(it.text, " \n") {
		return
	}
	s.items = append(s.items, it)
}

// nextText returns the next line from at on that is not blank, or -1.
func (s *splitter) nextText(at int) int {
	for ; at < len(s.lines); at++ {
		if strings.TrimSpace(s.lines[at]) != "" {
			return at
		}
	}
	return -1
}

func (s *splitter) path() []string {
	var out []string
	for _, h := range s.headings {
		out = append(out, h.text)
	}
	return out
}

// introduces reports whether the last line of text ends in a colon.
func introduces(lines []string) bool {
	for i := len(lines) - 1; i >= 0; i-- {
		if t := strings.TrimRight(lines[i], " \t*_"); t != "" {
			return strings.HasSuffix(t, ":") || strings.HasSuffix(t, "：")
		}
	}
	return false
}

// headingText returns the text of a heading line, or "".
func headingText(trim string) string {
	level := len(trim) - len(strings.TrimLeft(trim, "#"))
	if level == 0 || level > 6 || level < len(trim) && trim[level] != ' ' && trim[level] != '\t' {
		return ""
	}
	return oneLine(strings.TrimRight(strings.TrimSpace(trim[level:]), "# "))
}

// rule reports whether the line is a horizontal rule.
func rule(trim string) bool {
	s := strings.ReplaceAll(trim, " ", "")
	return len(s) >= 3 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "" || strings.Trim(s, "=") == "")
}

// fence returns the marks that open or close a block of code, or "".
func fence(trim string) string {
	for _, c := range []string{"`", "~"} {
		if n := len(trim) - len(strings.TrimLeft(trim, c)); n >= 3 {
			return trim[:n]
		}
	}
	return ""
}

// openFence returns the marks of the block of code that is open after the line,
// given those that were open before.
func openFence(open, trim string) string {
	mark := fence(trim)
	switch {
	case mark == "":
		return open
	case open == "":
		return mark
	case strings.HasPrefix(mark, open) && trim == mark:
		return ""
	}
	return open
}

// listItem returns the length of the list mark of the line and the text behind
// it; 0 if the line is no item.
func listItem(line string) (mark int, rest string) {
	s := strings.TrimLeft(line, " \t")
	n := 0
	switch {
	case s == "":
		return 0, ""
	case strings.ContainsRune("-*+•", []rune(s)[0]):
		n = len(string([]rune(s)[0]))
	default:
		for n < len(s) && n < 9 && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		if n == 0 || n >= len(s) || s[n] != '.' && s[n] != ')' {
			return 0, ""
		}
		n++
	}
	if n == len(s) {
		return n, ""
	}
	if s[n] != ' ' && s[n] != '\t' {
		return 0, ""
	}
	rest = strings.TrimSpace(s[n:])
	return n + 1, rest
}

// taskBox splits the box off a task.
func taskBox(s string) (byte, string) {
	if len(s) > 3 && s[0] == '[' && s[2] == ']' && s[3] == ' ' && strings.IndexByte(" xX", s[1]) >= 0 {
		return s[1] | ' ', strings.TrimSpace(s[4:])
	}
	return 0, s
}

func indentOf(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 4 - n%4
		default:
			return n
		}
	}
	return n
}

// dedent removes up to n columns of indentation.
func dedent(line string, n int) string {
	for n > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		if line[0] == '\t' {
			n -= 3
		}
		line, n = line[1:], n-1
	}
	return strings.TrimRight(line, " \t")
}
