package main

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// table prints rows under a head, columns aligned by the width that a terminal
// gives to their characters. The last column is cut so that a row fits the
// terminal; it is not padded.
func (p *page) table(head []string, rows [][]string) {
	wide := make([]int, len(head))
	for i, h := range head {
		wide[i] = columns(h)
	}
	for _, row := range rows {
		for i, cell := range row {
			row[i] = oneLine(safeText(cell))
			if i < len(head)-1 {
				wide[i] = max(wide[i], columns(row[i]))
			}
		}
	}
	room := 0
	if p.width > 0 {
		room = p.width
		for _, w := range wide[:len(wide)-1] {
			room -= w + 2
		}
		room = max(room, 20)
	}
	p.row(head, wide, room, p.faint)
	for _, row := range rows {
		p.row(row, wide, room, nil)
	}
}

// row prints one line of a table.
func (p *page) row(cells []string, wide []int, room int, style func(string) styled) {
	var b strings.Builder
	for i, cell := range cells {
		if i == len(cells)-1 {
			if room > 0 {
				cell = cut(cell, room)
			}
			b.WriteString(cell)
			break
		}
		b.WriteString(cell + strings.Repeat(" ", wide[i]-columns(cell)+2))
	}
	line := strings.TrimRight(b.String(), " ")
	if style != nil {
		p.printf("%s\n", style(line))
		return
	}
	p.printf("%s\n", line)
}

// columns returns how many columns a terminal gives to s.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens s to at most n columns, with an ellipsis where it was cut.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	got := 0
	for i, r := range s {
		if got += runeColumns(r); got > n-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// plural returns "1 memory", "2 memories".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// wrap breaks s into lines of at most n columns at spaces; a word longer than a
// line stands alone. n <= 0 wraps nothing.
func wrap(s string, n int) []string {
	if n <= 0 {
		return strings.Split(s, "\n")
	}
	var lines []string
	for para := range strings.SplitSeq(s, "\n") {
		line, used := "", 0
		for _, word := range strings.Fields(para) {
			for columns(word) > n { // no spaces to break at: Chinese, a long path
				head := strings.TrimSuffix(cut(word, n+1), "…")
				if used > 0 {
					lines, line, used = append(lines, line), "", 0
				}
				if head == "" {
					break
				}
				lines = append(lines, head)
				word = word[len(head):]
			}
			w := columns(word)
			switch {
			case used == 0:
				line, used = word, w
			case used+1+w <= n:
				line, used = line+" "+word, used+1+w
			default:
				lines, line, used = append(lines, line), word, w
			}
		}
		lines = append(lines, line)
	}
	return lines
}
