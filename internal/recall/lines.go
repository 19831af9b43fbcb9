package recall

import (
	"strings"
	"unicode/utf8"

	"stillso/internal/terms"
)

// dropMachineLines removes lines that no person typed: logs, stack traces, output
// of commands, configuration, code, quoted replies, lists of paths.
func dropMachineLines(p string) string {
	var b strings.Builder
	b.Grow(len(p))
	message := false // the first error message is kept: it is what the prompt is about
	for line := range strings.Lines(p) {
		if isMessage := errorMessage(line); isMessage && !message || !isMessage && !machineLine(line) {
			b.WriteString(line)
			message = message || isMessage
		}
	}
	return b.String()
}

// errorMessage reports whether a line is the message of an error, as programs
// print it.
func errorMessage(line string) bool {
	t := strings.TrimSpace(line)
	for _, lead := range [...]string{"Error:", "error:", "fatal:", "warning:", "Uncaught "} {
		if strings.HasPrefix(t, lead) {
			return true
		}
	}
	first, _, ok := strings.Cut(t, ": ")
	return ok && (strings.HasSuffix(first, "Error") || strings.HasSuffix(first, "Exception")) && strings.IndexFunc(first, isSpace) < 0
}

func machineLine(line string) bool {
	t := strings.TrimSpace(line)
	if t == "" || strings.ContainsAny(t, "?？") && prose(t) {
		return false // a question is a person's
	}
	for _, lead := range [...]string{
		"⎿", "$ ", "> ", ">>> ", "Traceback", "File \"", "diff --git", "@@ ", "+++ ", "--- ", "#!/",
		"ERROR:", "ERROR [", "ERROR -", "ERROR  ", "WARN ", "WARNING:", "INFO ", "INFO:", "DEBUG", "npm ERR", "Caused by:",
	} {
		if strings.HasPrefix(t, lead) {
			return true
		}
	}
	if strings.HasPrefix(t, "at ") && strings.HasSuffix(t, ")") || strings.Contains(t, "(at ") {
		return true
	}
	for _, mark := range [...]string{"[ERROR]", "[INFO]", "[WARN", "[DEBUG]", " ERROR ", " INFO ", " DEBUG "} {
		if strings.Contains(t, mark) {
			return true
		}
	}
	first := t
	if i := strings.IndexFunc(t, isSpace); i >= 0 {
		first = t[:i]
	}
	return first == t && (pathLike(t) || assignment(t)) || sourceLine(first) || clock(first) || symbols(t)
}

// pathLike reports whether a word is a path of several parts.
func pathLike(w string) bool {
	return strings.Count(w, "/")+strings.Count(w, "\\") >= 2 && !strings.Contains(w, "://") && ascii(w)
}

func ascii(w string) bool {
	for i := range len(w) {
		if w[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// assignment reports whether a word is a setting such as KEY=value.
func assignment(w string) bool {
	i := 0
	for i < len(w) && (letter(w[i]) || digit(w[i]) || strings.IndexByte("_.-", w[i]) >= 0) {
		i++
	}
	return i > 0 && i+1 < len(w) && w[i] == '=' && w[i+1] != '='
}

// sourceLine reports whether a word is a place in a file, main.go:13, as compilers
// and consoles begin a line.
func sourceLine(w string) bool {
	w = strings.TrimRight(w, ":")
	i := len(w)
	for i > 0 && (digit(w[i-1]) || w[i-1] == ':') {
		i--
	}
	return i > 0 && i < len(w) && w[i] == ':' && strings.ContainsAny(w[:i], "./")
}

// clock reports whether a word begins with a date or a time of day with seconds.
func clock(w string) bool {
	w = strings.TrimLeft(w, "[(")
	if isoDate(w) == 0 {
		return true
	}
	return len(w) >= 8 && digit(w[0]) && digit(w[1]) && w[2] == ':' && digit(w[3]) && digit(w[4]) && w[5] == ':' && digit(w[6])
}

// symbols reports whether a line is mostly signs, digits and identifiers: code or
// data. A sentence has few of them; in other scripts than ours data is rarely written.
func symbols(t string) bool {
	if len(t) < 16 {
		return false
	}
	signs, all, other := 0, 0, 0
	for i := range len(t) {
		c := t[i]
		switch {
		case c == ' ' || c == '\t':
			continue
		case c >= utf8.RuneSelf:
			if other++; other > 12 {
				return false
			}
		case letter(c):
		case strings.IndexByte(".,!?'-:\"", c) >= 0: // also in sentences
		default:
			signs++
		}
		all++
	}
	return signs*10 >= all*3 && !prose(t)
}

// prose reports whether at least half of the words of a line are plain words.
func prose(t string) bool {
	words, plain := 0, 0
	for w := range strings.FieldsSeq(t) {
		words++
		w = strings.Trim(w, ".,!?'-:\"()")
		if len(w) > 1 && strings.IndexFunc(w, func(r rune) bool { return r < utf8.RuneSelf && !letter(byte(r)) && r != '\'' && r != '-' }) < 0 {
			plain++
		}
	}
	return plain*2 >= words
}

// pasted reports whether a prompt of several lines is nothing but a paste: no line
// has a word with which people turn to an assistant, nothing is asked, and neither
// the first nor the last line tells it to do something. Such a text may still need a
// memory, but shares words with many.
func pasted(prompt string) bool {
	lines, last := 0, ""
	for line := range strings.Lines(prompt) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if lines++; lines == 1 && order(line) || strings.ContainsAny(line, "?？") {
			return false
		}
		last = line
		for w := range strings.FieldsFuncSeq(line, notWord) {
			if w[0] >= utf8.RuneSelf || turning(strings.ToLower(w)) {
				return false
			}
		}
	}
	return lines >= pastedLines && !order(last) && !otherLanguage(terms.Analyze(prompt[:min(len(prompt), maxClean)]))
}

func notWord(r rune) bool { return r < utf8.RuneSelf && !letter(byte(r)) && r != '\'' }

// order reports whether a line begins with what an assistant is to do.
func order(line string) bool {
	for w := range strings.FieldsFuncSeq(line, notWord) {
		switch strings.ToLower(w) {
		case "add", "create", "update", "remove", "rename", "move", "make", "write", "change", "check", "run", "use", "implement",
			"refactor", "delete", "ensure", "test", "explain", "review", "build", "set", "put", "show", "find", "look", "read", "do", "don't", "so", "now":
			return true
		}
		return false
	}
	return false
}

// pastedLines is from how many lines on a text without a word to anybody is taken
// for a paste.
const pastedLines = 4

// turning lists words that people use when they turn to an assistant, and programs
// hardly ever print.
func turning(w string) bool {
	switch w {
	case "i", "im", "i'm", "i've", "i'd", "we", "we're", "my", "our", "me", "us", "can", "could", "should", "would",
		"please", "pls", "why", "how", "want", "need", "let", "let's", "lets", "help", "fix", "hey", "hi", "ok", "okay", "thanks", "what's":
		return true
	}
	return false
}
