package capture

import (
	"regexp"
	"strings"

	"stillso"
	"stillso/internal/terms"
)

// maxSpoken is the longest turn, in bytes, that is taken for typed as a whole.
// Of a longer one only the beginning and the end are looked at: what stands
// between was most likely pasted.
const maxSpoken = 4000

// Rules proposes memories without a model: from the turns that were typed from
// number first on, by cues that leave little doubt. What is taken back later is
// not proposed, and of two statements on one matter only the last is. Each
// candidate carries its score.
func Rules(turns []stillso.Turn, first int) []stillso.Candidate {
	var found []finding
	heard := newHeard(turns)
	for i := range turns {
		if turns[i].Speaker != stillso.Typed {
			continue
		}
		said := statements(turns[i].Text)
		found = withdraw(found, said, i)
		if i < first {
			continue
		}
		found = append(found, withdraw(read(turns, i, said, heard), said, i)...)
		found = lastWord(found)
	}
	var out []stillso.Candidate
	for _, f := range found {
		if !f.dropped {
			out = append(out, f.cand)
		}
	}
	return out
}

// lastWord drops the findings that a later one replaces: it speaks of the same
// things, with another value or the opposite.
func lastWord(found []finding) []finding {
	for j := range found {
		for i := range found[:j] {
			a, b := &found[i], &found[j]
			if !a.dropped && !b.dropped && changed(a.cand.Memory.Content, b.cand.Memory.Content) {
				a.dropped = true
			}
		}
	}
	return found
}

// finding is a candidate on the way, with the turn it was said in.
type finding struct {
	cand    stillso.Candidate
	turn    int
	at      int // the sentence's number in the turn
	topic   map[string]bool
	dropped bool
}

// said is one sentence of a typed turn.
type said struct {
	text string // as typed
	view string // as the cues see it, fillers at the front taken off
	full string // as the cues see it
	lang *language
	// line and para number the line and the paragraph it stands in.
	line, para int
}

// statements cuts a typed text into the sentences that its author said.
func statements(text string) []said {
	mine := own(text)
	if len(mine) > maxSpoken {
		head := cut(mine, maxSpoken/2)
		mine = head + strings.Repeat(" ", len(mine)-len(head)-len(tail(mine, maxSpoken/2))) + tail(mine, maxSpoken/2)
	}
	var out []said
	line, para, at := 0, 0, 0
	for _, p := range sentences(mine) {
		gap := mine[at:p.start]
		line += strings.Count(gap, "\n")
		if strings.Count(gap, "\n") > 1 {
			para++
		}
		at = p.end
		s := strings.TrimLeft(p.of(mine), "-*•·#0123456789.)、 \t")
		if s == "" || len(s) > 1200 {
			continue
		}
		w := said{text: s, full: seen(s), line: line, para: para}
		w.view = w.full
		for _, l := range languagesOf(w.full) {
			w.lang = l
			w.view = strings.TrimSpace(l.strip.ReplaceAllString(w.full, ""))
		}
		out = append(out, w)
	}
	return out
}

// read finds the candidates of one typed turn.
func read(turns []stillso.Turn, i int, all []said, heard *heard) []finding {
	var out []finding
	used := -1
	for n, s := range all {
		if s.lang == nil || n <= used {
			continue
		}
		level := s.cue()
		points := s.pointer() && (level == noCue || s.lang.refers.MatchString(s.view))
		if level == noCue && !points || heard.echo(i, s.text) {
			continue
		}
		quote := []string{s.text}
		content := ""
		switch {
		case points:
			level = asked
			body, to := pointed(all, n)
			if len(body) == 0 {
				continue
			}
			for _, b := range body {
				content += b.statement() + " "
				quote = append(quote, b.text)
			}
			used = max(used, to)
		default:
			content = s.statement()
			if more, to := follow(all, n, content); len(more) > 0 {
				content = strings.TrimSpace(content + " " + strings.Join(more, " "))
				quote = append(quote, more...)
				used = to
			}
		}
		if content = tidy(content); vague(content, s.lang) {
			continue
		}
		f := finding{cand: candidate(content, turns[i], quote, level, all), turn: i, at: n, topic: telling(content)}
		for k := range out { // the same said twice in one turn
			if near(out[k].cand.Memory.Content, content) {
				out[k].dropped = true
			}
		}
		out = append(out, f)
	}
	return out
}

func candidate(content string, t stillso.Turn, quotes []string, level strength, all []said) stillso.Candidate {
	m := stillso.Memory{Content: content, Origin: stillso.FromUser, State: stillso.Active, Priority: 3, Name: Name(content), Type: typeOf(content)}
	if m.Type == stillso.Fact && instructs(quotes[0]) {
		m.Type = stillso.Preference
	}
	around := content
	for _, s := range all {
		if strings.Contains(strings.Join(quotes, "\n"), s.text) {
			around += " " + s.full
		}
	}
	m.Namespace = namespaceOf(content, around)
	if level == asked || m.Type == stillso.Constraint {
		m.Priority = 4
	}
	for _, q := range quotes {
		m.Evidence = append(m.Evidence, stillso.Evidence{Session: t.Session, Turn: t.ID, Quote: q})
	}
	reason := "a standing rule in the user's words"
	if level == asked {
		reason = "the user asked for it to be kept"
	}
	return stillso.Candidate{Memory: m, Confirmed: true, Score: int(level), Reason: reason, Relation: stillso.New}
}

// instructs reports whether a sentence tells how to work, not how something is:
// it holds a cue other than "remember".
func instructs(sentence string) bool {
	view := seen(sentence)
	for _, w := range [...]string{"from now on", "going forward", "moving forward", "from here on", "as a rule", "in the future", "in future", "always", "never", "whenever", "prefer", "make sure", "rule", "convention", "preference", "以后", "今后", "统一", "一律", "每次", "喜欢", "习惯", "始终", "规则", "规范", "앞으로", "항상", "今後", "必ず", "常に"} {
		if strings.Contains(view, w) {
			return true
		}
	}
	return false
}

// cue says how plainly the sentence asks to be kept.
func (s said) cue() strength {
	l := s.lang
	if l.question.MatchString(s.view) || l.oneOff.MatchString(s.view) || l.reported.MatchString(s.view) {
		return noCue
	}
	for _, c := range [...]struct {
		level strength
		at    []int
	}{{asked, l.asked.FindStringIndex(s.view)}, {standing, l.standing.FindStringIndex(s.view)}} {
		if c.at == nil || quoted(s.view, c.at[0]) {
			continue
		}
		if c.level == standing && (l.describes.MatchString(s.view) || oneFile(s.view)) {
			continue
		}
		return c.level
	}
	return noCue
}

// pointer reports whether the sentence asks to write down what its neighbours
// say.
func (s said) pointer() bool {
	return s.lang.record.MatchString(s.view) && !s.lang.question.MatchString(s.view) && !s.lang.oneOff.MatchString(s.view) && !s.lang.reported.MatchString(s.view)
}

// quoted reports whether the place i of s stands inside quotation marks.
func quoted(s string, i int) bool {
	return strings.Count(s[:i], `"`)%2 == 1 || strings.Count(s[:i], "「") > strings.Count(s[:i], "」")
}

// oneFile reports whether a sentence names one source file or one function and
// nothing that reaches beyond it.
func oneFile(s string) bool {
	for _, w := range strings.Fields(s) {
		w = strings.Trim(w, ".,:;'\"()`")
		dot := strings.LastIndexByte(w, '.')
		named := dot > 0 && len(w)-dot <= 5 && strings.Contains(" .go .py .ts .tsx .js .jsx .java .rs .rb .c .cc .cpp .h .cs .php .vue .html .css .scss .sql .sh .swift .kt ", " "+w[dot:]+" ")
		if (named || strings.HasSuffix(w, "()")) && !strings.Contains(s, "repo") && !strings.Contains(s, "project") && !strings.Contains(s, "every") && !strings.Contains(s, "all ") {
			return true
		}
	}
	return false
}

// toldYou opens what a person says once more.
var toldYou = regexp.MustCompile(`^(?i:i(?:'ve| have)? (?:already )?(?:told|asked) you\b[^:,.?]{0,30}[:,]\s*)|^(?:我|都|已经|跟你|和你|早就)+说过(?:了|多少[次遍]了?|好几[次遍]了?|很多[次遍]了?)?[,，:：、 ]\s*`)

// statement returns the sentence without the words that only address the
// assistant: fillers, "remember that", "note that", "from now on".
func (s said) statement() string {
	text := s.text[len(toldYou.FindString(s.text)):]
	for range 4 {
		l := strings.ToLower(text)
		n := 0
		for _, p := range openers {
			if strings.HasPrefix(l, p) && len(p) > n {
				n = len(p)
			}
		}
		if n == 0 {
			break
		}
		text = strings.TrimLeft(text[n:], " ,，:：;；。.!！、-")
	}
	return text
}

// openers are taken off the front of a statement, in lower case.
var openers = [...]string{
	"please ", "pls ", "ok ", "ok,", "okay ", "okay,", "also ", "also,", "and ", "but ", "so ", "so,", "yes ", "yes,", "no,", "right.", "right,", "good.", "great.", "great,", "thanks.", "thanks,", "btw ", "btw,", "well,", "then ", "now ", "now,", "actually,", "go ahead.", "go ahead,",
	"don't forget that ", "don't forget, ", "don't forget: ", "don't forget ", "do not forget that ", "do not forget ",
	"remember that ", "remember this:", "remember:", "remember,", "remember ", "keep in mind that ", "keep in mind:", "keep in mind ", "bear in mind that ", "note that ", "note:", "memorize:", "memorize that ",
	"from now on,", "from now on ", "from now on:", "from here on,", "from here on out,", "going forward,", "going forward ", "moving forward,", "as a rule,", "as a rule ", "as a general rule,", "for future reference,", "for future reference:", "in the future,", "in future,",
	"create a rule that specifies that ", "create a rule that says ", "create a rule that ", "add a rule that says ", "add a rule that ", "make a rule that ", "write a rule that ",
	"decision:",
	"请", "好的", "好，", "好,", "行，", "对，", "另外", "还有", "注意：", "注意:", "你要记住", "你记住", "请记住", "记住了", "记住一下", "记住这点", "记住", "牢记", "谨记", "帮我记一下", "记一下", "从现在开始", "从现在起", "从今以后", "从今天起", "以后", "今后", "請", "請記住", "記住", "以後", "今後", "從現在開始", "從現在起",
	"기억해줘:", "기억해:", "앞으로는 ", "앞으로 ", "그리고 ", "今後は", "これからは", "覚えておいて：", "覚えておいて:",
}

// follow returns the sentences behind number n that belong to its statement: the
// rest of its paragraph after "remember:", and a sentence that only goes on.
func follow(all []said, n int, content string) ([]string, int) {
	var out []string
	to := n
	open := strings.HasPrefix(all[n].view, "remember:") || strings.HasPrefix(all[n].view, "remember,") || strings.TrimRight(content, " :：") == "" || strings.HasSuffix(all[n].view, ":")
	for k := n + 1; k < len(all) && len(out) < 2 && all[k].para == all[n].para; k++ {
		s := all[k]
		goesOn := strings.HasPrefix(s.view, "the only ") || strings.HasPrefix(s.view, "otherwise") || strings.HasPrefix(s.view, "that way") || strings.HasPrefix(s.view, "because") || strings.HasPrefix(s.view, "this is because") || strings.HasPrefix(s.view, "因为") || strings.HasPrefix(s.view, "否则")
		if s.lang == nil || s.lang.question.MatchString(s.full) || !open && !goesOn || s.lang.back.MatchString(s.full) || open && s.line > all[n].line+4 {
			break
		}
		out = append(out, s.text)
		to = k
	}
	return out, to
}

// pointed returns what a sentence such as "record this as a rule" means: what
// stands behind its colon, or the sentence before it in the same turn, or else
// the lines below it.
func pointed(all []said, n int) ([]said, int) {
	rest := all[n].text
	if i := strings.IndexAny(rest, ":："); i >= 0 && len(strings.TrimSpace(rest[i:])) > 12 && !strings.HasPrefix(rest[i:], "://") {
		s := all[n]
		s.text = strings.TrimSpace(strings.TrimLeft(rest[i:], ":： "))
		return []said{s}, n
	}
	if n > 0 && all[n-1].lang != nil && all[n-1].para == all[n].para && orders(all[n-1]) {
		return all[n-1 : n], n
	}
	to := n
	for k := n + 1; k < len(all) && to-n < 3 && all[k].lang != nil && all[k].line > all[n].line && all[k].line-all[to].line <= 2 && orders(all[k]); k++ {
		to = k
	}
	return all[n+1 : to+1], to
}

// orders reports whether a sentence tells how something is to be done.
func orders(s said) bool {
	l := s.lang
	if l.question.MatchString(s.full) || l.oneOff.MatchString(s.full) || l.reported.MatchString(s.full) || l.back.MatchString(s.full) {
		return false
	}
	return len(telling(s.text)) >= 3
}

// vague reports whether a statement says too little to act on, or only what
// every developer wants.
func vague(content string, l *language) bool {
	n, hard := 0, 0
	for _, t := range terms.Analyze(content) {
		if t.Kind == terms.Whole || t.Kind == terms.Char || terms.Stop(t) || l.vague.MatchString(t.Text) {
			continue
		}
		n++
		if t.Kind == terms.Word {
			hard++
		}
	}
	if l.name == "en" {
		return hard < 2
	}
	return n < 3
}

// tidy gives a statement its first capital and one line.
func tidy(s string) string {
	s = oneLine(s)
	s = strings.TrimRight(s, " ,，;；:：")
	if s != "" && s[0] >= 'a' && s[0] <= 'z' {
		if w, _, _ := strings.Cut(s, " "); !strings.ContainsAny(w, "./_-0123456789`") {
			s = strings.ToUpper(s[:1]) + s[1:]
		}
	}
	return s
}

// typeOf guesses a statement's type by its words.
func typeOf(content string) stillso.Type {
	view := seen(content)
	for _, l := range languagesOf(view) {
		switch {
		case l.decides.MatchString(view):
			return stillso.Decision
		case l.forbids.MatchString(view):
			return stillso.Constraint
		case l.standing.MatchString(view) || l.asked.MatchString(view) || strings.HasPrefix(view, "use ") || strings.Contains(view, "prefer") || strings.Contains(view, "always") || strings.Contains(view, "喜欢") || strings.Contains(view, "统一") || strings.HasPrefix(view, "用"):
			return stillso.Preference
		case strings.HasPrefix(view, "when i say") || strings.HasPrefix(view, "我说"):
			return stillso.Procedure
		}
	}
	return stillso.Fact
}

// namespaceOf says "user" if the words around a statement make it one about the
// person in every project, and leaves it open otherwise: the caller fills in the
// project.
func namespaceOf(content, around string) stillso.Namespace {
	view := seen(content + " " + around)
	for _, l := range languagesOf(view) {
		if l.person.MatchString(view) && !l.here.MatchString(view) {
			return stillso.UserNamespace
		}
	}
	return ""
}

// withdraw drops the findings that a later typed turn takes back or replaces.
func withdraw(found []finding, all []said, turn int) []finding {
	for n, s := range all {
		if s.lang == nil {
			continue
		}
		back, corrects := s.lang.back.MatchString(s.full), s.lang.corrects.MatchString(s.full)
		if !back && !corrects {
			continue
		}
		topic := telling(s.text)
		for i := range found {
			f := &found[i]
			if f.dropped || f.turn == turn && f.at >= n {
				continue
			}
			touches := shared(topic, f.topic)
			last := i == len(found)-1 && turn-f.turn <= 3
			if back && (touches > 0 || last && (f.turn < turn && n == 0 || f.turn == turn && n <= f.at+2)) || corrects && touches >= 2 || corrects && touches == 1 && len(topic) <= 6 {
				f.dropped = true
			}
		}
	}
	return found
}
