package redact

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// tables finds what may begin with a pair of bytes: the place of its group in
// one of the lists, 0 for none. Names are found without regard to ASCII case.
type tables struct {
	prefixAt, keyAt [1 << 16]uint8
	prefixes        [][]*prefixRule
	keys            [][]*keyName
}

var index = sync.OnceValue(func() *tables {
	t := &tables{prefixes: make([][]*prefixRule, 1), keys: make([][]*keyName, 1)}
	for i := range prefixes {
		r := &prefixes[i]
		g := &t.prefixAt[pair(r.prefix[0], r.prefix[1])]
		if *g == 0 {
			*g = uint8(len(t.prefixes))
			t.prefixes = append(t.prefixes, nil)
		}
		t.prefixes[*g] = append(t.prefixes[*g], r)
	}
	for i := range keyNames {
		k := &keyNames[i]
		g := &t.keyAt[pair(k.text[0], k.text[1])]
		if *g == 0 {
			*g = uint8(len(t.keys))
			t.keys = append(t.keys, nil)
		}
		t.keys[*g] = append(t.keys[*g], k)
	}
	return t
})

func pair(a, b byte) uint16 { return uint16(a)<<8 | uint16(b) }

// longest bounds how far a token is looked at before it is known to be a secret,
// so that text made of beginnings only is read in linear time.
const longest = 1 << 10

// walk looks once at every place of s where a secret may begin.
func walk(s string, found []Finding) []Finding {
	t := index()
	add := func(rule string, start, end int) { found = append(found, Finding{rule, start, end}) }
	for i := 0; i < len(s); {
		c := s[i]
		if c == '[' {
			if n := markLen(s[i:]); n > 0 {
				i += n
				continue
			}
		}
		if i+1 == len(s) {
			break
		}
		if i == 0 || !inClass(s[i-1], alnum) {
			if g := t.prefixAt[pair(c, s[i+1])]; g != 0 {
				if rule, end := token(s, i, t.prefixes[g]); end > 0 {
					add(rule, i, end)
					i = end
					continue
				}
			}
			if rule, start, end := shape(s, i); end > 0 {
				add(rule, start, end)
				i = end
				continue
			}
		}
		switch c {
		case ':', '-', '8', '.', '?', '&':
			if rule, start, end := inner(s, i); end > 0 {
				add(rule, start, end)
				i = max(i+1, end)
				continue
			}
		}
		if g := t.keyAt[pair(lower(c), lower(s[i+1]))]; g != 0 {
			if rule, start, end := assigned(s, i, t.keys[g]); end > 0 {
				add(rule, start, end)
				i = max(i+1, end)
				continue
			}
		}
		if c < utf8.RuneSelf {
			i++
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return found
}

// shape finds secrets that begin at a word boundary and are known by their form.
func shape(s string, i int) (rule string, start, end int) {
	switch c := s[i]; {
	case c == 'e' && strings.HasPrefix(s[i:], "eyJ"):
		return jwt(s, i)
	case c == 'M' || c == 'N' || c == 'O':
		if end := discord(s, i); end > 0 {
			return "discord-token", i, end
		}
	case c == '-' || c == 'c' || c == 's':
		if start, end := flag(s, i); end > 0 {
			return "password", start, end
		}
	}
	if c := lower(s[i]); c == 'a' || c == 'b' || c == 'c' || c == 's' || c == 'p' {
		if start, end := header(s, i); end > 0 {
			rule := "authorization"
			if c == 'c' || c == 's' {
				rule = "cookie"
			}
			return rule, start, end
		}
	}
	if inClass(s[i], hexSet) {
		if end := zhipu(s, i); end > 0 {
			return "zhipu-key", i, end
		}
	}
	return "", 0, 0
}

// inner finds secrets by a mark in their middle.
func inner(s string, i int) (rule string, start, end int) {
	rest := s[i:]
	switch s[i] {
	case ':':
		if strings.HasPrefix(rest, "://") {
			if start, end := userinfo(s, i+3); end > 0 {
				return "url-password", start, end
			}
		}
		if strings.HasPrefix(rest, ":AA") {
			from := back(s, i, digitSet)
			if end := run(s, i+1, word); i-from >= 8 && i-from <= 10 && end-i >= 33 {
				return "telegram-token", from, end
			}
		}
	case '-':
		if strings.HasPrefix(rest, "-us") && i >= 32 {
			end := run(s, i+3, digitSet)
			if from := back(s, i, hexSet); i-from == 32 && end > i+3 && end <= i+5 {
				return "mailchimp-key", from, end
			}
		}
	case '8':
		if strings.HasPrefix(rest, "8Q~") && i >= 3 {
			end := i + 3
			for end < min(len(s), i+60) && (inClass(s[end], dotted) || s[end] == '~') {
				end++
			}
			if from := back(s, i, dotted); end-i >= 30 {
				return "azure-secret", from, end
			}
		}
	case '.':
		if strings.HasPrefix(rest, ".atlasv1.") {
			from, end := back(s, i, alnum), run(s, i+9, base64)
			if i-from >= 10 && end-i > 40 {
				return "terraform-token", from, end
			}
		}
	case '?', '&':
		return signature(s, i+1)
	}
	return "", 0, 0
}

// back returns where the characters of set that end before i begin, or a place
// at most longest bytes before i.
func back(s string, i int, set class) int {
	for stop := max(0, i-longest); i > stop && inClass(s[i-1], set); {
		i--
	}
	return i
}

// jwt finds a JSON web token that begins, or whose second part begins, at i. One
// that was cut is known by the header that nearly all of them share.
func jwt(s string, i int) (string, int, int) {
	end := run(s[:min(len(s), i+longest)], i, dotted)
	for end > i && s[end-1] == '.' {
		end--
	}
	tok := s[i:end]
	start := i
	if i > 0 && s[i-1] == '.' {
		start = back(s, i-1, word)
	}
	head, rest, parts := strings.Cut(tok, ".")
	switch {
	case start < i-10 && parts && len(rest) >= 16:
	case parts && len(head) >= 12 && strings.HasPrefix(rest, "eyJ"):
	case len(tok) >= 16 && knownHead(tok):
	default:
		return "", 0, 0
	}
	if end == i+longest {
		end = run(s, end, dotted)
	}
	return "jwt", start, end
}

// knownHead reports whether tok begins with the base64 of {"alg": {"typ": and
// the other usual first keys of a JOSE header.
func knownHead(tok string) bool {
	for _, h := range [...]string{"eyJhbGciOi", "eyJ0eXAiOi", "eyJraWQiOi", "eyJlbmMiOi", "eyJ4NXQ", "eyJqa3Ui", "eyJjdHki"} {
		if strings.HasPrefix(tok, h) {
			return true
		}
	}
	return false
}

// discord finds a bot token: three parts of 24-26, 6 and 27-38 characters.
func discord(s string, i int) int {
	a := run(s, i, alnum)
	if n := a - i; n < 23 || n > 28 || a >= len(s) || s[a] != '.' {
		return 0
	}
	b := run(s, a+1, word)
	if b-a-1 != 6 || b >= len(s) || s[b] != '.' {
		return 0
	}
	c := run(s, b+1, word)
	if n := c - b - 1; n < 27 || n > 40 {
		return 0
	}
	return c
}

// zhipu finds 32 hexadecimal digits, a full stop and 16 letters or digits.
func zhipu(s string, i int) int {
	a := run(s, i, hexSet)
	if a-i != 32 || a >= len(s) || s[a] != '.' {
		return 0
	}
	b := run(s, a+1, alnum)
	if b-a-1 != 16 || !mixed(s[a+1:b]) {
		return 0
	}
	return b
}

// userinfo finds the password of a URL whose authority begins at i, or a long
// token that stands alone before the @.
func userinfo(s string, i int) (start, end int) {
	end = i
	for end < min(len(s), i+longest) && s[end] > ' ' && s[end] < 0x7f && !strings.ContainsRune("/?#\"'`<>", rune(s[end])) {
		end++
	}
	// A password may hold a slash or #, when nobody encoded it: the last @ before
	// white space counts if a colon came first and no slash stands between.
	at := strings.LastIndexByte(s[i:end], '@')
	if at < 0 {
		return 0, 0
	}
	at += i
	if colon := strings.IndexByte(s[i:at], ':'); colon >= 0 {
		start = i + colon + 1
		if v := s[start:at]; v != "" && !masked(v) {
			return start, at
		}
		return 0, 0
	}
	if v := s[i:at]; len(v) >= 20 && mixed(v) {
		return i, at
	}
	return 0, 0
}

// signature finds the value of a signed URL's signature parameter.
func signature(s string, i int) (string, int, int) {
	for _, name := range [...]string{"sig=", "signature=", "x-amz-signature=", "x-goog-signature=", "x-amz-security-token="} {
		if !hasFold(s[i:], name) {
			continue
		}
		from := i + len(name)
		end := from
		for end < len(s) && (inClass(s[end], base64|dotSet) || s[end] == '%') {
			end++
		}
		if end-from >= 20 {
			return "url-signature", from, end
		}
	}
	return "", 0, 0
}

// pem finds private key blocks, also those that lost their first or last line.
func pem(s string, found []Finding) []Finding {
	const begin, fin, dashes = "-----BEGIN ", "-----END ", "-----"
	for at := 0; ; {
		i := strings.Index(s[at:], dashes)
		if i < 0 {
			return found
		}
		i += at
		line := s[i:min(len(s), i+80)]
		if n := strings.IndexAny(line, "\r\n"); n >= 0 {
			line = line[:n]
		}
		at = i + len(dashes)
		if !strings.Contains(line, "PRIVATE KEY") {
			continue
		}
		switch {
		case strings.HasPrefix(line, begin):
			end := i + len(begin)
			end = body(s, end+headLen(s[end:]))
			// body stops within or at the END line, which may be missing.
			near := max(i+len(begin), end-len(fin)-20)
			if e := strings.Index(s[near:min(len(s), end+20)], fin); e >= 0 {
				end = near + e + len(fin)
				end += headLen(s[end:])
			}
			found = append(found, Finding{"private-key", i, end})
			at = end
		case strings.HasPrefix(line, fin):
			start := backBody(s, i)
			end := i + len(fin) + headLen(s[i+len(fin):])
			found = append(found, Finding{"private-key", start, end})
			at = end
		}
	}
}

// headLen returns the length of the rest of a BEGIN or END line, closing dashes
// included.
func headLen(s string) int {
	line := s[:min(len(s), 80)]
	if n := strings.IndexAny(line, "\r\n"); n >= 0 {
		line = line[:n]
	}
	if n := strings.Index(line, "-----"); n >= 0 {
		return n + 5
	}
	return len(line)
}

// body returns where the base64 lines that begin at i end. Line ends may be
// escaped, and header fields ("Proc-Type: 4,ENCRYPTED") may stand between.
func body(s string, i int) int {
	end := i
	for i < len(s) {
		switch c := s[i]; {
		case inClass(c, alnum|baseSet):
			j := run(s, i, alnum|baseSet)
			// A word of ordinary length that a space follows is prose again.
			if j-i < 16 && j < len(s) && s[j] == ' ' {
				return end
			}
			i, end = j, j
		case c == '\n' || c == '\r' || c == '\\' || c == '"' || c == ',' || c == ':' || c == '-' || c == ' ' || c == '\t' || c == '|' || c == '>':
			i++
		default:
			return end
		}
	}
	return end
}

// backBody returns where the base64 lines that end before i begin.
func backBody(s string, i int) int {
	start := i
	for j := i; j > 0; {
		k := j
		for k > 0 && strings.IndexByte("\n\r\\nr\" \t", s[k-1]) >= 0 {
			k--
		}
		b := back(s, k, alnum|baseSet)
		if k-b < 20 {
			return start
		}
		start, j = b, b
	}
	return start
}
