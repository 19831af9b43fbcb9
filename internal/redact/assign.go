package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyKind says how strictly the value beside a name is looked at.
type keyKind uint8

const (
	passwordKey keyKind = iota // short values count
	secretKey                  // values that look random count
	weakKey                    // only "…_key": hexadecimal digests are let be
)

// keyName is the end of a name beside which a secret stands.
type keyName struct {
	text string // lower case
	kind keyKind
}

var keyNames = [...]keyName{
	{"password", passwordKey},
	{"passwd", passwordKey},
	{"passphrase", passwordKey},
	{"passcode", passwordKey},
	{"passwort", passwordKey},
	{"pwd", passwordKey},
	{"pswd", passwordKey},
	{"contraseña", passwordKey},
	{"senha", passwordKey},
	{"пароль", passwordKey},
	{"密码", passwordKey},
	{"密碼", passwordKey},
	{"口令", passwordKey},
	{"비밀번호", passwordKey},
	{"비번", passwordKey},
	{"패스워드", passwordKey},
	{"암호", passwordKey},
	{"パスワード", passwordKey},
	{"暗証番号", passwordKey},
	{"secret", secretKey},
	{"token", secretKey},
	{"credentials", secretKey},
	{"credential", secretKey},
	{"apikey", secretKey},
	{"api_key", secretKey},
	{"api-key", secretKey},
	{"api key", secretKey},
	{"accesskey", secretKey},
	{"access_key", secretKey},
	{"access-key", secretKey},
	{"access key", secretKey},
	{"access_key_id", secretKey},
	{"accesskeyid", secretKey},
	{"secretkey", secretKey},
	{"secret_key", secretKey},
	{"secret-key", secretKey},
	{"secret key", secretKey},
	{"secret_access_key", secretKey},
	{"privatekey", secretKey},
	{"private_key", secretKey},
	{"private key", secretKey},
	{"accountkey", secretKey},
	{"account_key", secretKey},
	{"sharedaccesskey", secretKey},
	{"signing_key", secretKey},
	{"signing key", secretKey},
	{"encryption_key", secretKey},
	{"encryption key", secretKey},
	{"license key", secretKey},
	{"license_key", secretKey},
	{"auth_key", secretKey},
	{"authkey", secretKey},
	{"_auth", secretKey},
	{"phpsessid", secretKey},
	{"jsessionid", secretKey},
	{"sessid", secretKey},
	{"connect.sid", secretKey},
	{"密钥", secretKey},
	{"密鑰", secretKey},
	{"秘钥", secretKey},
	{"私钥", secretKey},
	{"令牌", secretKey},
	{"凭证", secretKey},
	{"凭据", secretKey},
	{"토큰", secretKey},
	{"시크릿", secretKey},
	{"인증키", secretKey},
	{"トークン", secretKey},
	{"シークレット", secretKey},
	{"秘密鍵", secretKey},
	{"_key", weakKey},
}

// link says how a value hangs on its name.
type link uint8

const (
	noLink   link = iota
	spaced        // nothing but a space, or a particle
	sentence      // "is", 是, "to"
	sign          // : = =>
)

// assigned finds the value that stands beside one of the names that begin at i.
func assigned(s string, i int, keys []*keyName) (string, int, int) {
	var k *keyName
	for _, c := range keys {
		if (k == nil || len(c.text) > len(k.text)) && hasFold(s[i:], c.text) {
			k = c
		}
	}
	if k == nil {
		return "", 0, 0
	}
	cjk := k.text[0] >= utf8.RuneSelf && k.text != "пароль"
	at := i + len(k.text)
	if k.text == "pwd" && i > 0 && inClass(s[i-1], lowerSet) && s[i] == 'p' {
		return "", 0, 0
	}
	if !cjk && at < len(s) {
		// The name must end here: password_hash and tokenizer are other names.
		if inClass(s[at], upperSet|lowerSet|dashSet) && !closing(s, at) || s[at] == '.' && at+1 < len(s) && inClass(s[at+1], alnum) {
			return "", 0, 0
		}
		at = run(s, at, digitSet)
	}
	option := optionName(s, i)
	from, l := delimiter(s, at, cjk, option)
	if l == noLink {
		return "", 0, 0
	}
	start, end := value(s, from)
	if end <= start {
		return "", 0, 0
	}
	v := s[start:end]
	if end < len(s) && (s[end] == '(' || s[end] == '[') || masked(v) || placeholder(v) && !strings.ContainsAny(v, "!@#$%^&") || coded(v) {
		return "", 0, 0
	}
	rule := "secret"
	ok := false
	switch k.kind {
	case passwordKey:
		rule, ok = "password", isPassword(v, l, cjk)
	case secretKey:
		ok = isSecret(v, l)
	case weakKey:
		ok = l == sign && len(v) >= 20 && random(v) && !allHex(v) && changes(v) >= 0.2
	}
	if !ok {
		return "", 0, 0
	}
	return rule, start, end
}

// closing reports whether the dash or underscore at i belongs to bold text that
// ends there: __Token__: x.
func closing(s string, i int) bool {
	j := i
	for j < len(s) && s[j] == '_' {
		j++
	}
	return j > i && (j == len(s) || !inClass(s[j], word))
}

// optionName reports whether the name that holds i is an option of a command:
// --db-password, -token.
func optionName(s string, i int) bool {
	b := max(back(s, i, word), i-60)
	return b >= 0 && b < len(s) && s[b] == '-' && b < i+1 && strings.HasPrefix(s[b:], "--")
}

// isPassword judges the value beside a password name.
func isPassword(v string, l link, cjk bool) bool {
	letters, _, _, digits, signs := kinds(v)
	hard := strings.IndexFunc(v, func(r rune) bool { return strings.ContainsRune("!@#$%^&*+=?~", r) }) >= 0
	if isTechnical(strings.ToLower(strings.Trim(v, ".-_"))) || uuid(v) || address(v) {
		return false
	}
	n := 0
	for _, k := range [...]bool{letters > 0, digits > 0, signs > 0} {
		if k {
			n++
		}
	}
	switch l {
	case spaced:
		if cjk {
			return len(v) >= 6 && letters > 0 && digits > 0 && !technicalPhrase(v)
		}
		return len(v) >= 8 && letters > 0 && digits > 0 && (hard || !wordy(v) && threeKinds(v))
	case sentence:
		if letters == 0 && signs == 0 {
			return cjk && len(v) >= 6 && len(v) <= 16
		}
		return len(v) >= 6 && letters > 0 && (digits > 0 && !technicalPhrase(v) || hard && len(v) >= 8)
	case sign:
		if letters == 0 && signs == 0 {
			return len(v) >= 6 && len(v) <= 16
		}
		return len(v) >= 6 && letters > 0 && (digits > 0 && !technicalPhrase(v) || hard && len(v) >= 8 && n > 1)
	}
	return false
}

// technicalPhrase reports whether every part of v is a word or a technical name:
// sha256-hashed, base64-encoded.
func technicalPhrase(v string) bool {
	parts := strings.FieldsFunc(v, func(r rune) bool { return strings.ContainsRune("-_./:+,", r) })
	named := false
	for _, p := range parts {
		l := strings.ToLower(p)
		switch {
		case isTechnical(l):
			named = true
		case run(p, 0, digitSet) == len(p) && len(p) <= 4 && len(parts) > 1:
		case run(p, 0, upperSet|lowerSet) == len(p) && isWord(l):
		default:
			return false
		}
	}
	return named || len(parts) > 2
}

func threeKinds(v string) bool {
	_, lowers, uppers, digits, signs := kinds(v)
	n := 0
	for _, k := range [...]int{lowers, uppers, digits, signs} {
		if k > 0 {
			n++
		}
	}
	return n >= 3
}

// isSecret judges the value beside the name of a key or token.
func isSecret(v string, l link) bool {
	if random(v) {
		return l != spaced || len(v) >= 20 && changes(v) >= 0.15
	}
	// Short ones count only when written like a password: s3cr3t-V@lue.
	return l == sign && len(v) >= 8 && threeKinds(v) && mixed(v) && !wordy(v) && !uuid(v) && !address(v) && changes(v) >= 0.2 && !technicalPhrase(v)
}

// address reports whether v is a mail address, a host with port or a version.
func address(v string) bool {
	if i := strings.IndexByte(v, '@'); i > 0 && strings.Contains(v[i:], ".") && !strings.ContainsAny(v, "!#$%^&*") {
		return true
	}
	// 1.2.3, v1.2.3-rc1, 2026-03-02, 10:30, 127.0.0.1:8080
	t := strings.TrimPrefix(strings.ToLower(v), "v")
	for i := range len(t) {
		if !(t[i] >= '0' && t[i] <= '9' || strings.IndexByte(".-:/_", t[i]) >= 0) {
			return false
		}
	}
	return strings.ContainsAny(t, ".-:/")
}

// delimiter reads what stands between a name and its value from at on, and
// returns where the value may begin.
func delimiter(s string, at int, cjk, option bool) (int, link) {
	i := skip(s, at, "*_\"'`])} \t")
	i = bracketed(s, i)
	i = skip(s, i, "*_\"'`) \t")
	if n := signLen(s, i); n > 0 {
		return i + n, sign
	}
	if i < len(s) && s[i] == '|' && i > at && i+1 < len(s) && s[i+1] == ' ' {
		return i + 1, sign
	}
	if i < len(s) && s[i] == '>' && i == at {
		if end := strings.IndexByte(s[i:], '<'); end > 0 && strings.HasPrefix(s[i+end:], "</") {
			return i + 1, sign
		}
		return 0, noLink
	}
	if option && i > at {
		return i, sign
	}
	if j, ok := verb(s, i); ok {
		if n := signLen(s, skip(s, j, " \t")); n > 0 {
			j = skip(s, j, " \t") + n
		}
		return j, sentence
	}
	if i > at && s[i-1] == ' ' || cjk {
		return i, spaced
	}
	return 0, noLink
}

// signLen returns the length of the sign of assignment at i, or 0.
func signLen(s string, i int) int {
	for _, d := range [...]string{":=", "=>", "->", "==", "→", "：", "＝", ":", "="} {
		if strings.HasPrefix(s[min(i, len(s)):], d) {
			if d == ":" && strings.HasPrefix(s[i:], "://") {
				return 0
			}
			if d == "==" {
				return 0 // a comparison
			}
			return len(d)
		}
	}
	return 0
}

// verbs join a name and its value in a sentence.
var verbs = [...]string{
	"is now ", "is still ", "is ", "was ", "equals ", "to ", "has been set to ", "is set to ", "ist ", "es ", "é ",
	"设置为", "设置成", "修改为", "重置为", "更新为", "改成了", "改成", "改为", "设为", "设成", "换成", "用的是", "应该是", "就是", "都是", "还是", "是", "为", "為", "叫", "用",
	"은 ", "는 ", "이 ", "가 ", "을 ", "를 ", "은", "는", "は", "を", "が", "это ",
}

// verb returns where a verb that begins at i ends. Up to five words such as "for
// the staging database" may come first.
func verb(s string, i int) (int, bool) {
	for _, v := range verbs {
		if i < len(s) && hasFold(s[i:], v) {
			return i + len(v), true
		}
	}
	rest := s[min(i, len(s)):]
	if !hasFold(rest, "for ") && !hasFold(rest, "of ") && !hasFold(rest, "on ") {
		return 0, false
	}
	at := i
	for range 6 {
		n := 0
		for at+n < len(s) && (inClass(s[at+n], word) || s[at+n] == '\'') {
			n++
		}
		if n == 0 || at+n >= len(s) || s[at+n] != ' ' {
			if n > 0 && signLen(s, at+n) > 0 {
				return at + n + signLen(s, at+n), true
			}
			return 0, false
		}
		at += n + 1
		if hasFold(s[at:], "is ") {
			return at + 3, true
		}
	}
	return 0, false
}

// bracketed skips one remark in brackets: password (staging): x.
func bracketed(s string, i int) int {
	for _, p := range [...][2]string{{"(", ")"}, {"（", "）"}, {"[", "]"}} {
		if !strings.HasPrefix(s[min(i, len(s)):], p[0]) || markLen(s[i:]) > 0 {
			continue
		}
		if n := strings.Index(s[i:min(len(s), i+60)], p[1]); n > 0 && !strings.ContainsAny(s[i:i+n], "\n") {
			return i + n + len(p[1])
		}
	}
	return i
}

// skip returns the first place from i on that holds none of the characters.
func skip(s string, i int, chars string) int {
	for i < len(s) && strings.IndexByte(chars, s[i]) >= 0 {
		i++
	}
	return i
}

// value returns where the value that begins at or after i stands: what quotes
// enclose, or the characters up to a space, a bracket or a CJK sign.
func value(s string, i int) (start, end int) {
	i = skip(s, i, " \t*_")
	for _, q := range [...][2]string{{"\"", "\""}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"「", "」"}, {"‘", "’"}, {"\\\"", "\\\""}} {
		if !strings.HasPrefix(s[i:], q[0]) {
			continue
		}
		from := i + len(q[0])
		n := strings.Index(s[from:min(len(s), from+300)], q[1])
		if n <= 0 || strings.ContainsAny(s[from:from+n], "\n \t") {
			i = from
			break
		}
		return from, from + n
	}
	start, end = i, i
	for end < min(len(s), i+longest) {
		r, n := utf8.DecodeRuneInString(s[end:])
		if r <= ' ' || r >= 0x7f && (unicode.IsLetter(r) || unicode.IsPunct(r) || unicode.IsSpace(r) || r == utf8.RuneError || r >= 0x2000) ||
			strings.ContainsRune(",;\"'`|<>(){}[]", r) {
			break
		}
		end += n
	}
	for end > start && strings.IndexByte(".:?*_", s[end-1]) >= 0 {
		end--
	}
	return start, end
}
