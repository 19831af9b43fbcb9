package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"stillso"
	"stillso/internal/snapshot"
	"stillso/internal/terms"
)

// Terms of the index that are no words begin with a control character, so that no
// prompt can ask for them by accident.
const (
	fileMark   = "\x01" // a file that a memory is about
	signalMark = "\x02" // a phrase that a memory defines as a signal
)

// maxSignal is the longest signal, in characters.
const maxSignal = 16

// signalEvidence is the impact of a signal, in sixteenths of a nat.
const signalEvidence = 160

// triggerTerm returns the term that a short prompt would have as a signal, "" if
// it is too long to be one.
func triggerTerm(cleaned string) string {
	if len(cleaned) > 16*maxSignal { // what stands around a signal is not as long
		return ""
	}
	s := normal(cleaned)
	if s == "" || utf8.RuneCountInString(s) > maxSignal {
		return ""
	}
	return signalMark + s
}

// normal is a phrase without case, outer punctuation and doubled spaces.
func normal(s string) string {
	s = strings.ToLower(terms.Fold(s))
	s = strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return strings.Join(strings.Fields(s), " ")
}

// signals returns the postings of phrases that m defines: a quoted phrase beside a
// word that defines it, in a standing rule or a procedure.
func signals(m *stillso.Memory) []snapshot.Posting {
	if !m.Type.Standing() && m.Type != stillso.Procedure {
		return nil
	}
	var out []snapshot.Posting
	for _, text := range [...]string{m.Name, m.Content} {
		for _, q := range quoted(text) {
			if s := normal(q.phrase); s != "" && utf8.RuneCountInString(s) <= maxSignal && defines(q) {
				out = append(out, snapshot.Posting{Term: signalMark + s, I0: signalEvidence, I1: signalEvidence})
			}
		}
	}
	return out
}

// quote is a quoted phrase with what stands before and after it.
type quote struct{ before, phrase, after string }

func quoted(text string) []quote {
	var out []quote
	for _, marks := range [...][2]string{{"\"", "\""}, {"“", "”"}, {"「", "」"}, {"`", "`"}, {"'", "'"}, {"‘", "’"}} {
		for at := 0; ; {
			i := strings.Index(text[at:], marks[0])
			if i < 0 {
				break
			}
			start := at + i + len(marks[0])
			end := strings.Index(text[start:], marks[1])
			if end < 0 {
				break
			}
			end += start
			out = append(out, quote{text[:at+i], text[start:end], text[end+len(marks[1]):]})
			at = end + len(marks[1])
		}
	}
	return out
}

// defines reports whether the words around a quoted phrase make it a signal.
func defines(q quote) bool {
	after := strings.ToLower(strings.TrimLeft(q.after, " ,，:：)）"))
	for _, lead := range [...]string{
		"=", "means", "is short for", "stands for", "→", "就是", "表示", "意思", "意味", "代表", "等于", "指", "的时候", "时，", "时,", "은 ", "는 ", "라고 하면", "이라고 하면", "と言ったら", "は",
	} {
		if strings.HasPrefix(after, lead) {
			return true
		}
	}
	before := strings.ToLower(strings.TrimRight(q.before, " (（:："))
	for _, cue := range [...]string{"when i say", "when the user says", "if i say", "says", "saying", "trigger", "说", "回复", "输入", "当用户说", "口令", "暗号"} {
		if strings.HasSuffix(before, cue) {
			return true
		}
	}
	return false
}
