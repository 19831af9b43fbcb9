package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"stillso"
)

// ruleID begins the id of a claim that was drawn by the rules of this file; claims by
// people and models have other ids, and are kept as they are.
const ruleID = "rule-"

// modelID begins the id of a claim that a model made of the memory's own words, see
// package enrich: it ends with the words, when somebody edits them away.
const modelID = "model-"

// Claims returns what a memory claims: what the rules draw from its content, body and
// related files, after the claims that it carries already. It is at most [MaxClaims]
// claims, each valid, none twice. Verdicts of claims that are still made are kept.
//
// The rules prefer silence: what may be an example, a plan, history or a remark about
// another project makes no claim, and neither do events and todos, whose words are
// about what was and what will be.
func Claims(m *stillso.Memory) []stillso.Claim {
	var out []stillso.Claim
	add := func(c stillso.Claim) {
		same := func(o stillso.Claim) bool { return o.ID == c.ID || o.Probe == c.Probe && slices.Equal(o.Args, c.Args) }
		if len(out) < MaxClaims && Valid(c) == nil && !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	known := map[string]stillso.Claim{}
	for _, c := range m.Claims {
		if known[c.ID] = c; c.ID != "" && !strings.HasPrefix(c.ID, ruleID) && (!strings.HasPrefix(c.ID, modelID) || stated(m, c)) {
			add(c)
		}
	}
	for _, c := range drawn(m) {
		c.ID = claimID(c)
		if old, ok := known[c.ID]; ok {
			c.Verdict, c.Reason, c.CheckedAt = old.Verdict, old.Reason, old.CheckedAt
		}
		add(c)
	}
	return out
}

// stated reports whether the memory still holds the arguments of a claim.
func stated(m *stillso.Memory, c stillso.Claim) bool {
	own := strings.Join(append([]string{m.Name, m.Content, m.Why, m.Body}, m.RelatedFiles...), "\n")
	return !slices.ContainsFunc(c.Args, func(arg string) bool { return !strings.Contains(own, arg) })
}

func claimID(c stillso.Claim) string {
	sum := sha256.Sum256([]byte(c.Probe + "\x00" + strings.Join(c.Args, "\x00")))
	return ruleID + hex.EncodeToString(sum[:5])
}

// drawn applies the rules, without bounds and checks.
func drawn(m *stillso.Memory) []stillso.Claim {
	if m.Type == stillso.Event || m.Type == stillso.Todo {
		return nil
	}
	d := &drawer{}
	for _, f := range m.RelatedFiles {
		if !path.IsAbs(f) && !strings.Contains(f, `\`) {
			d.claim("path", path.Clean(f))
		}
	}
	d.text(m.Content)
	if m.Body != m.Content {
		d.text(withoutFences(m.Body))
	}
	return d.claims
}

// withoutFences drops blocks of code, which are examples.
func withoutFences(s string) string {
	if !strings.Contains(s, "```") {
		return s
	}
	var b strings.Builder
	inside := false
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inside = !inside
			b.WriteByte('\n')
		} else if !inside {
			b.WriteString(line)
		}
	}
	return b.String()
}

type drawer struct{ claims []stillso.Claim }

// weak reports which claims stand in the body alone, by id: a long note mentions much
// that is not what it says, so that only what once held can be seen to fail there.
func weak(m *stillso.Memory) map[string]bool {
	if m.Body == "" {
		return nil
	}
	plain := *m
	plain.Body = ""
	strong := map[string]bool{}
	for _, c := range drawn(&plain) {
		strong[claimID(c)] = true
	}
	out := map[string]bool{}
	for _, c := range drawn(m) {
		if id := claimID(c); !strong[id] && c.Probe != "path" {
			out[id] = true
		}
	}
	return out
}

func (d *drawer) claim(probe string, args ...string) {
	d.claims = append(d.claims, stillso.Claim{Probe: probe, Args: args})
}

func (d *drawer) text(s string) {
	for _, sentence := range sentences(s[:min(len(s), maxText)]) {
		d.sentence(sentence)
	}
}

// sentences splits at ends of lines and at marks that end a sentence: those of Latin
// scripts only before a space, for paths have dots.
func sentences(s string) []string {
	var out []string
	from := 0
	for i, r := range s {
		end := r == '\n' || r == '。' || r == '！' || r == '？' || r == '；'
		if next := i + utf8.RuneLen(r); r == '.' || r == '!' || r == '?' || r == ';' {
			end = next < len(s) && (s[next] == ' ' || s[next] == '\n') && !abbreviation(s[from:i])
		}
		if end {
			out = append(out, s[from:i])
			from = i + max(utf8.RuneLen(r), 1)
		}
	}
	return append(out, s[from:])
}

// abbreviation reports whether a dot after s does not end a sentence: e.g., i.e., etc.
func abbreviation(s string) bool {
	i := strings.LastIndexByte(s, ' ') + 1
	w := strings.ToLower(strings.TrimLeft(s[i:], "("))
	return w == "e.g" || w == "i.e" || w == "etc" || w == "vs" || w == "cf" || w == "no"
}

// patterns are the rules' expressions, compiled when the first memory is read.
type patterns struct {
	// hedged matches a sentence that speaks of what is not here: what was, will be,
	// could be, or is somewhere else.
	hedged *regexp.Regexp
	// undone matches what stands before a name that something is done away with or is
	// still to be made, passed what stands behind it.
	undone, passed *regexp.Regexp

	url    *regexp.Regexp
	branch *regexp.Regexp
	// naming matches a sentence about how branches are to be called.
	naming   *regexp.Regexp
	tag      *regexp.Regexp
	commit   *regexp.Regexp
	pull     *regexp.Regexp
	pullURL  *regexp.Regexp
	merged   *regexp.Regexp
	notYet   *regexp.Regexp
	repo     *regexp.Regexp
	make     *regexp.Regexp
	script   *regexp.Regexp
	at       *regexp.Regexp
	pinned   *regexp.Regexp
	module   *regexp.Regexp
	quoted   *regexp.Regexp
	env      *regexp.Regexp
	envCue   *regexp.Regexp
	dotenv   *regexp.Regexp
	instance *regexp.Regexp
	in       *regexp.Regexp
	symbol   *regexp.Regexp
}

var rules = sync.OnceValue(func() *patterns {
	return &patterns{
		hedged: regexp.MustCompile(`(?i)\bno longer\b|\bgone\b|\bused to\b|\bformer(?:ly)?\b|\bpreviously\b` +
			`|\bthere (?:is|was|are|were) no\b|\b(?:does|did|do)(?:n't| not) (?:exist|create|add)\b|\bwill (?:be|move|live|go)\b|\bplanned\b|\bwould\b` +
			`|\be\.g\.?|\bfor example\b|\bfor instance\b|\bsuch as\b|\binstead of\b|\brather than\b|\bgit-?ignored?\b` +
			`|\b(?:other|another|different|separate|upstream|sister|their) (?:repo|repository|project|service)\b|\bin the \S+ (?:repo|repository)\b` +
			`|不再|曾经|以前|原来|不存在|例如|比如|而不是|另一个(?:仓库|项目)|别的(?:仓库|项目)|其他(?:仓库|项目)`),
		undone: regexp.MustCompile(`(?:\b(?:delet|remov|renam|creat|replac|generat|dropp?)(?:e|es|ed|ing)?|\bmoved? (?:\S+ )?(?:from|out of))\s+(?:(?:the|a|an|old|new|file|files|script|folder|branch|tag|target|our|that|this|your|my)\s+){0,3}["'\x60(]*$` +
			`|(?:删除|删掉|移除|去掉|新建|创建|生成|重命名)(?:了|文件|一个)*\s*["'\x60“]*$`),
		passed: regexp.MustCompile(`^["'\x60)]*,?\s+(?:(?:file|folder|script|branch|tag|target)\s+)?(?:was|is|were|are|has been|have been|had been|got|gets|will be|must be)\s+(?:(?:now|since|later|then|being|to be)\s+)?(?:deleted|removed|renamed|created|replaced|generated|moved|dropped)\b` +
			`|^["'\x60”]*\s*(?:文件|分支)?(?:已经|已|被|已被|早已)+(?:删|移除|去掉|改名|重命名|搬|移|生成)`),

		url:      regexp.MustCompile("https?://[^\\s<>\"'`\\]\\[{}|^\\\\，。；、（）]+"),
		branch:   regexp.MustCompile("(?i)(?:\\bbranch(?:es)?|分支)(?:\\s+(?:is|called|named|name is|叫|是|为)){0,3}[\\s：:]*[`\"'“]([\\w./#+-]+)[`\"'”]|[`\"'“]([\\w./#+-]+)[`\"'”]\\s*(?:branch\\b|分支)|\\bbranch (?:is )?(?:called|named) ([\\w./-]+)|\\b(main|master|develop|trunk|staging|production) branch\\b|\\bbranch (main|master|develop|trunk|staging|production)\\b"),
		naming:   regexp.MustCompile(`(?i)\bnew branch|\bprefix|\bnaming|\bconvention|\bpattern|\blike\b|\bstart(?:s|ing)? with\b|前缀|命名|新分支`),
		tag:      regexp.MustCompile("(?i)(?:\\btag(?:ged)?(?: as)?|标签)\\s+[`\"']?(v?\\d[\\w.+-]*)[`\"']?|[`\"'](v?\\d[\\w.+-]*)[`\"']\\s+tag\\b"),
		commit:   regexp.MustCompile("(?i)(?:\\bcommit|提交)\\s+[`\"']?([0-9a-f]{7,40})\\b"),
		pull:     regexp.MustCompile(`(?i)(?:\bPR|\bpull request)\s*#?(\d{1,7})\b`),
		pullURL:  regexp.MustCompile(`https?://github\.com/([\w-]+/[\w.-]+)/pull/(\d{1,7})`),
		merged:   regexp.MustCompile(`(?i)\b(?:was|is|are|were|been|got|已)?\s*merged\b|已合并`),
		notYet:   regexp.MustCompile(`(?i)\b(?:not|until|once|when|before|after|if|unless|wait)\b|n't|未|还没|等`),
		repo:     regexp.MustCompile(`(?i)\brepo(?:sitory)?\s+(?:is|stays|remains)\s+(public|private|internal)\b|仓库是(公开|私有)的?`),
		make:     regexp.MustCompile("`make ([\\w./-]+)`|\\b[Rr]un make ([a-z][\\w-]*)\\b"),
		script:   regexp.MustCompile(`\b(?:npm|pnpm|yarn|bun) run ([A-Za-z0-9][\w:.-]*)`),
		at:       regexp.MustCompile(`(?:^|[\s"'\x60(])(@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*|[a-z0-9][\w.-]*)@(v?\d+(?:\.\d+)+[\w.+-]*|v?\d{1,3})\b`),
		pinned:   regexp.MustCompile(`(?:^|[\s"'\x60(])([A-Za-z0-9][\w.-]*)(?:\[[\w,]+\])?==(\d+\.[\w.+-]*)`),
		module:   regexp.MustCompile(`(?:^|[\s"'\x60(])([a-z0-9][\w-]*(?:\.[\w-]+)+/[\w./~-]+)[\x60"']? (v\d+\.\d+\.\d+[\w.+-]*)`),
		quoted:   regexp.MustCompile("`([A-Za-z@][\\w./@-]*)`(?: is)?(?: pinned)?(?: at| to)?(?: version)? (v?\\d+(?:\\.\\d+)+[\\w.+-]*)"),
		env:      regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b`),
		envCue:   regexp.MustCompile(`(?i)\benv(?:ironment)?\b|\bvariables?\b|\bexport\b|\$[A-Z]|\.env\b|\bdoppler\b|\bsecrets?\b|环境变量|变量|密钥名`),
		dotenv:   regexp.MustCompile(`(?:^|[\s"'\x60(/])((?:[\w-]+/)*\.env(?:\.[\w.-]+\w)?)\b`),
		instance: regexp.MustCompile(`\bi-(?:[0-9a-f]{17}|[0-9a-f]{8})\b`),
		in:       regexp.MustCompile(`(?i)\b(?:func(?:tion)?|method|class|struct|type|interface|const(?:ant)?|defined|declared|implemented|lives|helper)\b|函数|方法|定义|实现`),
		symbol:   regexp.MustCompile("`([A-Za-z_$][\\w$.]*)(?:\\(\\))?`"),
	}
})

// maxSentence and maxText bound what the rules look at, in bytes: a longer sentence
// is a table or a log, and what a long note claims stands at its beginning.
const (
	maxSentence = 2000
	maxText     = 64 << 10
)

// sentence draws the claims of one sentence, unless it is hedged. Each rule runs only
// where a word that it needs stands, for most sentences claim nothing.
func (d *drawer) sentence(s string) {
	if len(s) > maxSentence {
		return
	}
	low := strings.ToLower(s)
	before := len(d.claims)
	text := s
	if strings.Contains(low, "http") {
		for _, u := range rules().url.FindAllString(s, -1) {
			u = strings.TrimRight(u, ".,;:!?)'\"*_")
			u, _, _ = strings.Cut(u, "#")
			d.claim("url", u)
		}
		text = rules().url.ReplaceAllString(s, " ")
	}
	d.git(text, low)
	d.commands(text, low)
	d.packages(text)
	if strings.Contains(text, "_") {
		d.variables(text)
	}
	if strings.Contains(text, "i-") {
		for _, m := range rules().instance.FindAllString(text, -1) {
			d.claim("instance", m)
		}
	}
	d.paths(text)
	if len(d.claims) > before && mayHedge(low) {
		if rules().hedged.MatchString(s) {
			d.claims = d.claims[:before]
		}
		d.claims = append(d.claims[:before], slices.DeleteFunc(d.claims[before:], func(c stillso.Claim) bool { return notHere(low, c.Args[0]) })...)
	}
	d.merged(s, low)
}

// mayHedge reports whether a part of a hedging word stands in a sentence in lower
// case: most have none, and the expression for the words is slow.
func mayHedge(low string) bool {
	return containsAny(low, "delet", "remov", "renam", "no longer", "gone", "move", "drop", "used to", "former", "previously", "there ", "n't", "not ", "creat", "will ", "plan", "would",
		"e.g", "for ex", "for in", "such as", "instead", "rather", "replace", "generate", "ignore", "repo", "project", "service",
		"删", "除", "去掉", "不", "曾", "以前", "原来", "名", "移", "搬", "建", "例如", "比如", "生成", "另", "别", "其他")
}

// notHere reports whether a sentence says of a name that it was done away with or is
// still to be made. "Removed by x.go" says nothing of the kind.
func notHere(low, name string) bool {
	const near = 80
	if name = strings.ToLower(name); name == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(low[from:], name)
		if i < 0 {
			return false
		}
		at, end := from+i, from+i+len(name)
		if rules().undone.MatchString(low[max(0, at-near):at]) || rules().passed.MatchString(low[end:min(len(low), end+near)]) {
			return true
		}
		from = end
	}
}

// git draws what a sentence says of branches, tags, commits and the repository.
func (d *drawer) git(s, low string) {
	if containsAny(low, "branch", "分支") && !rules().naming.MatchString(s) {
		for _, m := range rules().branch.FindAllStringSubmatch(s, -1) {
			name := strings.TrimRight(first(m[1:]), ".")
			if !exampleName(name) && (m[3] != "" || branchLike(name)) {
				d.claim("branch", name)
			}
		}
	}
	if containsAny(low, "tag", "标签") {
		for _, m := range rules().tag.FindAllStringSubmatch(s, -1) {
			d.claim("tag", strings.TrimRight(first(m[1:]), ".-"))
		}
	}
	if containsAny(low, "commit", "提交") {
		for _, m := range rules().commit.FindAllStringSubmatch(s, -1) {
			if strings.ContainsAny(m[1], "0123456789") && strings.ContainsAny(strings.ToLower(m[1]), "abcdef") {
				d.claim("commit", strings.ToLower(m[1]))
			}
		}
	}
	if containsAny(low, "repo", "仓库") {
		if m := rules().repo.FindStringSubmatch(s); m != nil {
			word := map[string]string{"公开": "public", "私有": "private"}[m[2]]
			d.claim("visibility", thisRepository, first([]string{strings.ToLower(m[1]), word}))
		}
	}
}

// branchLike reports whether a quoted word is a branch of git: code has branches, too.
func branchLike(s string) bool {
	switch s {
	case "main", "master", "develop", "dev", "trunk", "staging", "production", "release", "next", "stable", "gh-pages":
		return true
	}
	return strings.ContainsAny(s, "/-") && !isCode(path.Ext(s))
}

// merged draws that pull requests are merged, which is past and yet can be checked.
func (d *drawer) merged(s, low string) {
	if !containsAny(low, "merged", "已合并") || !rules().merged.MatchString(s) || rules().notYet.MatchString(s) {
		return
	}
	for _, m := range rules().pullURL.FindAllStringSubmatch(s, -1) {
		d.claim("merged", m[1], m[2])
	}
	for _, m := range rules().pull.FindAllStringSubmatch(s, -1) {
		d.claim("merged", thisRepository, m[1])
	}
}

func containsAny(s string, words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

func first(list []string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func (d *drawer) commands(s, low string) {
	if !containsAny(low, "make ", " run ") {
		return
	}
	for _, m := range rules().make.FindAllStringSubmatch(s, -1) {
		d.claim("target", first(m[1:]))
	}
	for _, m := range rules().script.FindAllStringSubmatch(s, -1) {
		d.claim("script", strings.TrimRight(m[1], ".:"))
	}
}

func (d *drawer) packages(s string) {
	if !strings.ContainsAny(s, "0123456789") {
		return
	}
	for _, rule := range []struct {
		mark string
		re   *regexp.Regexp
	}{{"@", rules().at}, {"==", rules().pinned}, {" v", rules().module}, {"` ", rules().quoted}} {
		if !strings.Contains(s, rule.mark) {
			continue
		}
		for _, m := range rule.re.FindAllStringSubmatch(s, -1) {
			v := strings.TrimRight(m[2], ".-+_")
			if isCode(path.Ext(m[1])) || strings.HasSuffix(m[1], "/") || strings.Count(v, ".") == 3 {
				continue // user@10.0.0.1 is no package
			}
			d.claim("version", m[1], v)
		}
	}
}

func (d *drawer) variables(s string) {
	if !rules().envCue.MatchString(s) {
		return
	}
	file := ""
	if m := rules().dotenv.FindStringSubmatch(s); m != nil {
		file = strings.TrimRight(m[1], ".")
	}
	doppler := strings.Contains(strings.ToLower(s), "doppler")
	for _, name := range rules().env.FindAllString(s, -1) {
		switch {
		case doppler:
			d.claim("secret", name)
		case file != "":
			d.claim("dotenv", name, file)
		default:
			d.claim("env", name)
		}
	}
}
