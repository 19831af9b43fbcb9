package redact

import (
	"math"
	"strings"
)

// masked reports whether v stands for a secret and is none: <password>, ${PW},
// ****, {{ token }}, %TOKEN%.
func masked(v string) bool {
	if v == "" || strings.HasPrefix(v, "redacted:") || strings.HasPrefix(v, mark) {
		return true
	}
	switch c := v[0]; {
	case c == '<' || c == '{' || c == '*' || c == '.' && strings.Trim(v, ".") == "":
		return true
	case c == '$':
		rest := v[1:]
		if rest == "" || rest[0] == '{' || rest[0] == '(' || identifier(rest) {
			return true
		}
	case c == '%':
		if len(v) > 2 && v[len(v)-1] == '%' {
			return true
		}
	case c == '[':
		return true
	}
	return distinct(v) <= 1 || strings.Contains(v, "***") || strings.Contains(v, "…")
}

// placeholder reports whether v is what documentation writes where a secret
// would stand.
func placeholder(v string) bool {
	if masked(v) || distinct(v) <= 3 {
		return true
	}
	l := strings.ToLower(v)
	for _, w := range [...]string{"xxxx", "example", "your", "placeholder", "redacted", "changeme", "....", "dummy", "replace", "insert", "my-", "my_"} {
		if strings.Contains(l, w) {
			return true
		}
	}
	return false
}

// distinct counts the different bytes of v.
func distinct(v string) int {
	var seen [256]bool
	n := 0
	for i := range len(v) {
		if !seen[v[i]] {
			seen[v[i]] = true
			n++
		}
	}
	return n
}

// entropy is the Shannon entropy of the bytes of v, in bits a byte.
func entropy(v string) float64 {
	var count [256]int
	for i := range len(v) {
		count[v[i]]++
	}
	h, n := 0.0, float64(len(v))
	for _, c := range count {
		if c > 0 {
			p := float64(c) / n
			h -= p * math.Log2(p)
		}
	}
	return h
}

// kinds says which kinds of character v has.
func kinds(v string) (letters, lowers, uppers, digits, signs int) {
	for i := range len(v) {
		switch c := v[i]; {
		case 'a' <= c && c <= 'z':
			lowers++
		case 'A' <= c && c <= 'Z':
			uppers++
		case '0' <= c && c <= '9':
			digits++
		default:
			signs++
		}
	}
	return lowers + uppers, lowers, uppers, digits, signs
}

// mixed reports whether v has both letters and digits.
func mixed(v string) bool {
	letters, _, _, digits, _ := kinds(v)
	return letters > 0 && digits > 0
}

// identifier reports whether v is a plain name of a programming language.
func identifier(v string) bool {
	for i := range len(v) {
		c := v[i]
		if !inClass(c, alnum) && c != '_' || i == 0 && inClass(c, digitSet) {
			return false
		}
	}
	return v != ""
}

// coded reports whether v is source text that refers to a secret instead of
// being one: a call, a path through an object, a file, an address.
func coded(v string) bool {
	if strings.ContainsAny(v, "(){}<>\\") && !strings.ContainsAny(v, "!@#%^&") {
		return true
	}
	if strings.HasPrefix(v, "http:") || strings.HasPrefix(v, "https:") || strings.HasPrefix(v, "file:") || strings.Contains(v, "://") {
		return true
	}
	switch v[0] {
	case '/', '~', '-', '@', '#', '&', '|', ',', '?':
		if !strings.ContainsAny(v, "0123456789") || v[0] == '/' || v[0] == '~' || v[0] == '-' {
			return true
		}
	}
	if strings.HasPrefix(v, "./") || strings.HasPrefix(v, "../") || strings.Contains(v, "::") {
		return true
	}
	// a.b.c with names of a word each, such as import.meta.env.VITE_KEY
	if parts := strings.Split(v, "."); len(parts) > 1 {
		names := 0
		for _, p := range parts {
			if p = strings.TrimRight(p, "?![]"); identifier(p) && wordy(p) {
				names++
			}
		}
		if names == len(parts) {
			return true
		}
	}
	return false
}

// technical lists words with digits in them that are names, not secrets.
const technical = " sha1 sha2 sha3 sha224 sha256 sha384 sha512 md4 md5 base16 base32 base58 base62 base64 base64url utf8 utf16 " +
	"aes128 aes192 aes256 aes128gcm aes256gcm argon2 argon2i argon2d argon2id pbkdf2 ed25519 x25519 curve25519 secp256k1 p256 p384 p521 rsa2048 rsa4096 " +
	"rs256 rs384 rs512 hs256 hs384 hs512 es256 es384 ps256 eddsa oauth oauth1 oauth2 oauth20 openid x509 pkcs1 pkcs8 pkcs12 pkcs7 s3 ec2 k8s k3s i18n l10n " +
	"e2e web3 http2 http3 ipv4 ipv6 win32 win64 x86 x64 arm64 amd64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 varchar255 varchar64 " +
	"h1 h2 h3 h4 mp3 mp4 v1 v2 v3 v4 v5 v6 sso2 totp2 mfa2 fido2 u2f tls12 tls13 tls1 ssl3 chacha20 poly1305 blake2 blake2b blake3 crc32 ntlmv2 utf8mb4 sqlite3 python3 log4j neo4j db2 "

func isTechnical(w string) bool {
	return strings.Contains(technical, " "+w+" ")
}

// wordy reports whether v is made of words: after splitting at signs and at
// capitals every run of letters has three or more letters with a vowel among
// them, or is a known technical name, and there are few digits.
func wordy(v string) bool {
	if isTechnical(strings.ToLower(v)) {
		return true
	}
	runs, bad, digits, letters := 0, 0, 0, 0
	for _, part := range strings.FieldsFunc(v, func(r rune) bool {
		return !(r < 0x80 && inClass(byte(r), alnum))
	}) {
		if isTechnical(strings.ToLower(part)) {
			runs++
			letters += len(part)
			continue
		}
		for i := 0; i < len(part); {
			j := i
			if inClass(part[i], digitSet) {
				for j < len(part) && inClass(part[j], digitSet) {
					j++
				}
				digits += j - i
				i = j
				continue
			}
			for j < len(part) && inClass(part[j], upperSet) {
				j++
			}
			caps := j - i
			if caps <= 1 || j == len(part) || !inClass(part[j], lowerSet) {
				for caps <= 1 && j < len(part) && inClass(part[j], lowerSet) {
					j++
				}
			} else {
				j-- // the last capital begins the next word: HTTPServer
			}
			runs++
			letters += j - i
			if w := part[i:j]; !(isWord(w) || caps > 1 && len(w) <= 10) {
				bad++
			}
			i = j
		}
	}
	if runs == 0 {
		return false
	}
	return bad*4 <= runs && changes(v) < 0.3 && digits <= max(4, letters/4) && letters >= 3*digits-3*min(digits, 2)
}

// isWord reports whether w could be a word or a usual short one.
func isWord(w string) bool {
	w = strings.ToLower(w)
	if len(w) < 3 {
		return strings.Contains(" is of to in on by at an or as id db ui my no go js ts py rb my us eu uk cn vm os ip fs io pr qa ", " "+w+" ")
	}
	if len(w) > 16 {
		return false
	}
	if !strings.ContainsAny(w, "aeiouy") {
		return strings.Contains(" ctx http https html css src tls ssl jwt pwd tmp cfg mgr svc dev prd stg str ptr msg db sql xml rpc grpc https npm pnpm ssh dns vpc cdn aws gcp k8s ", " "+w+" ")
	}
	// Five consonants in a row are rare in words.
	row := 0
	for i := range len(w) {
		if strings.IndexByte("aeiouy", w[i]) >= 0 {
			row = 0
			continue
		}
		if row++; row >= 5 {
			return false
		}
	}
	return true
}

// changes is how often neighbours in v differ in kind, as a share; a capital
// before small letters is no change. Random text is above 0.25, names below.
func changes(v string) float64 {
	if len(v) < 2 {
		return 0
	}
	kind := func(c byte) int {
		switch {
		case inClass(c, digitSet):
			return 1
		case inClass(c, lowerSet):
			return 2
		case inClass(c, upperSet):
			return 3
		}
		return 0
	}
	n := 0
	for i := 1; i < len(v); i++ {
		a, b := kind(v[i-1]), kind(v[i])
		if a != b && a != 0 && b != 0 && !(a == 3 && b == 2) {
			n++
		}
	}
	return float64(n) / float64(len(v)-1)
}

// uuid reports whether v is a UUID.
func uuid(v string) bool {
	if len(v) != 36 {
		return false
	}
	for i := range len(v) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if v[i] != '-' {
				return false
			}
			continue
		}
		if !inClass(v[i], hexSet) {
			return false
		}
	}
	return true
}

// allHex reports whether v is hexadecimal digits only.
func allHex(v string) bool { return v != "" && run(v, 0, hexSet) == len(v) }

// random reports whether v looks drawn by lot: what keys and tokens are.
func random(v string) bool {
	if len(v) < 16 || uuid(v) || distinct(v) < 8 {
		return false
	}
	letters, _, _, digits, _ := kinds(v)
	switch {
	case letters == 0:
		return false
	case allHex(v):
		return digits > 0 && letters > 0 && entropy(v) >= 2.6
	case digits == 0:
		return entropy(v) >= 3.3 && changes(v) >= 0.3 && !wordy(v)
	}
	return entropy(v) >= 3.1 && !wordy(v)
}
