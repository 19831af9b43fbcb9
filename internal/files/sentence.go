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

// endsSentence reports whether the sentence ends with rune i. A full stop without
// a space behind it is part of a number, path or name.
func endsSentence(runes []rune, i int, r rune) bool {
	switch r {
	case '。', '！', '？':
		return true
	case '.', '!', '?':
	default:
		return false
	}
	if i+1 >= len(runes) {
		return true
	}
	return runes[i+1] == ' ' && (r != '.' || !abbreviated(runes[:i]))
}

// abbreviated reports whether a text ends in a word that is cut short: a single
// letter, one with stops in it (e.g), or one of the usual ones.
func abbreviated(text []rune) bool {
	start := len(text)
	for start > 0 && (unicode.IsLetter(text[start-1]) || text[start-1] == '.') {
		start--
	}
	switch word := strings.ToLower(string(text[start:])); word {
	case "etc", "vs", "cf", "approx", "ca", "incl", "excl", "resp", "fig", "sec", "ch", "no", "nr", "mr", "mrs", "dr", "st", "bzw", "ggf", "usw", "evtl":
		return word != "no" || text[start] == 'N'
	default:
		return len(text)-start == 1 || strings.Contains(strings.Trim(word, "."), ".")
	}
}
