package files

import (
	"slices"
	"strings"
	"unicode"
)

// The limits of a content that is taken from a longer text. Three sentences are
// what content may have (docs/format.md); the size keeps a text without
// full stops from becoming content whole.
const (
	maxSentences = 3
	maxStatement = 600  // bytes, taken from a body
	maxSummary   = 1000 // bytes, of a description that the note gives itself
)

// statement returns what a text says first: up to three sentences of its first
// paragraph, on one line.
func statement(text string) string {
	var out strings.Builder
	for i, s := range sentences(oneLine(firstParagraph(text))) {
		if i == maxSentences || i > 0 && out.Len()+len(s) > maxStatement {
			break
		}
		if i > 0 && s[0] < 0x80 {
			out.WriteByte(' ')
		}
		out.WriteString(s)
	}
	return cut(out.String(), maxStatement)
}

// firstParagraph returns the first block of lines that is prose: headings, rules
// and code are passed over unless there is nothing else.
func firstParagraph(text string) string {
	var first, block, code []string
	fenced := ""
	for line := range strings.SplitSeq(text, "\n") {
		trim := strings.TrimSpace(line)
		mark := fence(trim)
		switch {
		case fenced != "":
			if mark != "" && strings.HasPrefix(mark, fenced) && trim == mark {
				fenced = ""
				continue
			}
			code = append(code, trim)
			continue
		case mark != "":
			fenced = mark
			continue
		case trim == "":
			if len(block) > 0 {
				return strings.Join(block, "\n")
			}
			continue
		case headingText(trim) != "" || rule(trim):
			if len(block) > 0 {
				return strings.Join(block, "\n")
			}
			first = append(first, headingText(trim))
			continue
		}
		// Items of a list are statements of their own.
		if _, item := listItem(line); item != "" {
			if len(block) > 0 {
				return strings.Join(block, "\n")
			}
			trim = item
		} else if i := len(block) - 1; i >= 0 {
			block[i] += "\n" + trim
			continue
		}
		block = append(block, trim)
	}
	if len(block) > 0 {
		return strings.Join(block, "\n")
	}
	if len(code) > 0 {
		return strings.Join(code, "\n")
	}
	first = slices.DeleteFunc(first, func(s string) bool { return s == "" })
	return strings.Join(first[:min(1, len(first))], "\n")
}

// sentences splits a line at full stops, question and exclamation marks.
func sentences(line string) []string {
	var out []string
	runes := []rune(line)
	start := 0
	for i, r := range runes {
		if !endsSentence(runes, i, r) {
			continue
		}
		if s := strings.TrimSpace(string(runes[start : i+1])); s != "" {
			out = append(out, s)
		}
		start = i + 1
	}
	if s := strings.TrimSpace(string(runes[start:])); s != "" {
		out = append(out, s)
	}
	return out
}

// endsSentence reports whether the sentence ends with rune i. A full stop before
// a small letter is an abbreviation, one without a space behind it a number,
// path or name.
func endsSentence(runes []rune, i int, r rune) bool {
	switch r {
	case '。', '！', '？':
		return true
	case '.', '!', '?':
	default:
		return false
	}
	if i+1 < len(runes) && runes[i+1] != ' ' {
		return false
	}
	if i+2 < len(runes) && r == '.' && unicode.IsLower(runes[i+2]) {
		return false
	}
	// "No. 5", "J. Doe": a single letter or a short capitalised word and a stop.
	word := 0
	for j := i - 1; j >= 0 && unicode.IsLetter(runes[j]); j-- {
		word++
	}
	return !(r == '.' && word == 1 && i+1 < len(runes))
}
