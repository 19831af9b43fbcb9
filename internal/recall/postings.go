package recall

import (
	"math"
	"path"
	"slices"
	"strings"

	"stillso"
	"stillso/internal/snapshot"
	"stillso/internal/terms"
)

// part is a piece of a memory: its terms, counted, and its length in terms.
type part struct {
	count  map[string]float64
	length float64
}

func newPart(text string, buf *[]terms.Term) part {
	p := part{count: map[string]float64{}}
	*buf = terms.Append((*buf)[:0], text)
	for _, t := range *buf {
		if t.Kind == terms.Pair && terms.Stop(t) {
			continue
		}
		p.length++
		if !terms.Stop(t) {
			p.count[t.Text]++
		}
	}
	return p
}

// Parts are the pieces of a memory that a term is weighed in.
type parts struct {
	title    part
	lead     part // how the body begins
	aliases  []part
	passages []part
}

func split(m *stillso.Memory) parts {
	var buf []terms.Term
	title := m.Name + " . " + fileName(m) + " . " + m.Content
	for _, t := range m.Tags {
		title += " . " + t
	}
	p := parts{title: newPart(title, &buf)}
	for _, a := range m.Aliases {
		p.aliases = append(p.aliases, newPart(a, &buf))
	}
	body := m.Body
	if m.Why != "" {
		body += "\n\n" + m.Why
	}
	for _, text := range passages(body) {
		p.passages = append(p.passages, newPart(text, &buf))
	}
	if len(m.Aliases) == 0 {
		p.lead = newPart(lead(m.Body), &buf)
	}
	return p
}

// leadLen is about how many bytes of a body are its lead; a sentence of more than
// twice as many is a list, not a beginning.
const leadLen = 200

// lead returns how a body begins, in whole sentences and lines: people and
// assistants write there what a note is about, in other words than its title's.
func lead(body string) string {
	body = strings.TrimSpace(body)
	end := 0
	for line := range strings.Lines(body) {
		for _, s := range sentences(line) {
			if end >= leadLen || len(s) > 2*leadLen {
				return body[:end]
			}
			end += len(s)
		}
	}
	return body[:end]
}

// fileName is the name of the note's file, where it says something else than the
// memory's name.
func fileName(m *stillso.Memory) string {
	if m.File == nil || m.Origin != stillso.FromImport {
		return ""
	}
	base := path.Base(strings.ReplaceAll(m.File.Path, "\\", "/"))
	base = strings.TrimSuffix(base, path.Ext(base))
	same := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r == ' ' {
				return -1
			}
			return r
		}, strings.ToLower(s))
	}
	if everywhere(base) || same(base) == same(m.Name) {
		return ""
	}
	return base
}

// Terms returns the terms that a memory is indexed by, each once.
func Terms(m *stillso.Memory) []string {
	p := split(m)
	seen := map[string]bool{}
	for _, list := range [][]part{{p.title}, p.aliases, p.passages} {
		for _, x := range list {
			for t := range x.count {
				seen[t] = true
			}
		}
	}
	out := make([]string, 0, len(seen))
	for t := range seen {
		out = append(out, t)
	}
	slices.Sort(out)
	return out
}

// weighed is what a memory says about one term.
type weighed struct {
	title, bestAlias, aliases, body, passage float64
	mask                                     uint64
}

// Postings returns how strongly each term speaks for m.
func (f *Formula) Postings(m *stillso.Memory, bg Background, st Stats) []snapshot.Posting {
	p := split(m)
	all := map[string]*weighed{}
	at := func(t string) *weighed {
		w := all[t]
		if w == nil {
			w = new(weighed)
			all[t] = w
		}
		return w
	}
	for t, n := range p.title.count {
		at(t).title = n / (p.title.length + f.TitleLen)
	}
	for t := range p.lead.count {
		at(t).title += f.Lead / (p.title.length + f.TitleLen)
	}
	var aliasLen, bodyLen float64
	for _, a := range p.aliases {
		aliasLen += a.length
	}
	for _, a := range p.aliases {
		for t, n := range a.count {
			w := at(t)
			w.bestAlias = max(w.bestAlias, n/(a.length+f.AliasLen))
			w.aliases += n / (aliasLen + f.AliasLen)
		}
	}
	for _, b := range p.passages {
		bodyLen += b.length
	}
	for i, b := range p.passages {
		for t, n := range b.count {
			w := at(t)
			w.body += n / (bodyLen + f.BodyLen)
			w.passage = max(w.passage, n/(b.length+f.PassageLen))
			w.mask |= 1 << (i * 64 / max(64, len(p.passages)))
		}
	}
	out := make([]snapshot.Posting, 0, len(all))
	for t, w := range all {
		pb, _ := f.probability(t, bg, st)
		p0 := f.Title*w.title + f.Alias*(w.bestAlias+w.aliases)/2 + f.Body*w.body
		q := snapshot.Posting{Term: t, I0: quantise(f.evidence(p0, pb)), I1: quantise(f.evidence(p0+f.Passage*w.passage, pb))}
		if q.I1 > q.I0 {
			q.Mask = w.mask
		}
		if q.I1 > 0 {
			out = append(out, q)
		}
	}
	slices.SortFunc(out, func(a, b snapshot.Posting) int { return strings.Compare(a.Term, b.Term) })
	return out
}

// Generality is the evidence that an average text of developers would have for a
// memory with these postings, in nats: the sum over its terms of how often the
// term is said, times its impact.
func Generality(postings []snapshot.Posting, bg Background) float64 {
	g := 0.0
	for _, p := range postings {
		share, known := bg.Share(p.Term)
		if !known {
			share = bg.Smallest(terms.ScriptOf(p.Term))
		}
		g += share * float64(p.I1) / 16
	}
	return g
}

// quantise gives sixteenths of a nat: rounding so changes no answer (measured).
func quantise(nats float64) uint8 { return uint8(min(math.Round(nats*16), 255)) }

// passageLen is about how many words a passage has: one that scattered words do
// not add up in.
const passageLen = 90

// passages cuts a body at blank lines and list items into pieces of about
// passageLen words; a longer paragraph is cut at its sentences.
func passages(body string) []string {
	var out []string
	var cur strings.Builder
	n := 0
	flush := func() {
		if n > 0 {
			out = append(out, cur.String())
		}
		cur.Reset()
		n = 0
	}
	add := func(text string, k int) {
		if n+k > passageLen && n > 0 {
			flush()
		}
		cur.WriteString(text)
		cur.WriteByte('\n')
		n += k
	}
	for _, para := range paragraphs(body) {
		k := countWords(para)
		switch {
		case k == 0:
		case k <= 2*passageLen:
			add(para, k)
		default:
			for _, s := range sentences(para) {
				add(s, countWords(s))
			}
		}
	}
	flush()
	return out
}

// paragraphs cuts at blank lines, and before list items, headings and bold leads.
func paragraphs(body string) []string {
	var out []string
	start := 0
	for i := 0; i < len(body); {
		end := strings.IndexByte(body[i:], '\n')
		if end < 0 {
			break
		}
		next := i + end + 1
		line := body[next:]
		if e := strings.IndexByte(line, '\n'); e >= 0 {
			line = line[:e]
		}
		if strings.TrimSpace(line) == "" || startsItem(line) {
			out = append(out, body[start:next])
			start = next
		}
		i = next
	}
	return append(out, body[start:])
}

func startsItem(line string) bool {
	for _, lead := range [...]string{"- ", "* ", "# ", "**"} {
		if strings.HasPrefix(line, lead) {
			return true
		}
	}
	i := 0
	for i < len(line) && line[i] >= '0' && line[i] <= '9' {
		i++
	}
	return i > 0 && strings.HasPrefix(line[i:], ". ")
}

func sentences(text string) []string {
	var out []string
	start := 0
	for i, r := range text {
		switch r {
		case '.', '!', '?', ';', '。', '！', '？', '；':
			end := i + len(string(r))
			out = append(out, text[start:end])
			start = end
		}
	}
	return append(out, text[start:])
}

// countWords counts words, and characters of scripts without spaces.
func countWords(text string) int {
	n, inWord := 0, false
	for _, r := range text {
		switch {
		case r >= 0x2e80:
			n++
			inWord = false
		case r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r >= 0xc0:
			if !inWord {
				n++
			}
			inWord = true
		default:
			inWord = false
		}
	}
	return n
}
