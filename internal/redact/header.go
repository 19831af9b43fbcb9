package redact

import "strings"

// header finds the credential of an Authorization, Cookie or similar header, or
// of "Bearer …" anywhere, that begins at i.
func header(s string, i int) (start, end int) {
	if hasFold(s[i:], "bearer ") {
		return credential(s, i+len("bearer "))
	}
	for _, name := range [...]string{"authorization", "proxy-authorization"} {
		if !hasFold(s[i:], name) {
			continue
		}
		at := skip(s, i+len(name), "\"'`* \t")
		n := signLen(s, at)
		if n == 0 {
			return 0, 0
		}
		at = skip(s, at+n, "\"'`* \t")
		for _, scheme := range [...]string{"basic ", "token ", "bearer ", "apikey ", "digest ", "key ", "negotiate "} {
			if hasFold(s[at:], scheme) {
				from := skip(s, at+len(scheme), " ")
				if end := run(s, from, base64|dotSet); scheme == "basic " && end-from >= 8 && !placeholder(s[from:end]) {
					return from, end
				}
				return credential(s, from)
			}
		}
		return credential(s, at)
	}
	for _, name := range [...]string{"cookie:", "set-cookie:", "cookie=", "cookie2:"} {
		if hasFold(s[i:], name) {
			return cookies(s, i+len(name))
		}
	}
	return 0, 0
}

// credential returns the token at i if it looks like one.
func credential(s string, i int) (start, end int) {
	end = i
	for end < min(len(s), i+4*longest) && (inClass(s[end], base64|dotSet) || s[end] == '~') {
		end++
	}
	for end > i && s[end-1] == '.' {
		end--
	}
	v := s[i:end]
	if len(v) < 10 || placeholder(v) || coded(v) || wordy(v) {
		return 0, 0
	}
	if !mixed(v) && changes(v) < 0.3 {
		return 0, 0
	}
	return i, end
}

// cookies returns the span from the first telling value of a cookie header to
// the last. The header ends where the next part is no name with a value.
func cookies(s string, i int) (start, end int) {
	i = skip(s, i, " \t\"'`")
	line := min(len(s), i+4*longest)
	if n := strings.IndexAny(s[i:line], "\r\n\"'`"); n >= 0 {
		line = i + n
	}
	for range 40 {
		if i >= line {
			break
		}
		next := line
		if n := strings.IndexByte(s[i:line], ';'); n >= 0 {
			next = i + n
		}
		name, v, _ := strings.Cut(s[i:next], "=")
		from := i + len(name) + 1
		name, v = strings.TrimSpace(name), strings.TrimRight(v, " \t")
		if run(name, 0, dotted) != len(name) {
			break
		}
		last := strings.IndexFunc(v, func(r rune) bool { return r <= ' ' || r >= 0x7f })
		if last >= 0 {
			v = v[:last]
		}
		if !strings.Contains(attributes, " "+strings.ToLower(name)+" ") &&
			len(v) >= 8 && !masked(v) && !wordy(v) && (mixed(v) || changes(v) >= 0.3) {
			if start == 0 {
				start = from
			}
			end = from + len(v)
		}
		if last >= 0 {
			break
		}
		i = next + 1
	}
	return start, end
}

// attributes of a cookie are no secrets.
const attributes = " path domain expires max-age samesite secure httponly priority partitioned "

// flag finds passwords given to a command: sshpass -p X, curl -u user:X.
func flag(s string, i int) (start, end int) {
	at := 0
	switch {
	case strings.HasPrefix(s[i:], "sshpass -p"):
		at = skip(s, i+len("sshpass -p"), " ")
		start, end = value(s, at)
		if end-start < 3 || masked(s[start:end]) {
			return 0, 0
		}
		return start, end
	case strings.HasPrefix(s[i:], "-u "):
		at = i + 3
	case strings.HasPrefix(s[i:], "--user "), strings.HasPrefix(s[i:], "--user="):
		at = i + 7
	default:
		return 0, 0
	}
	start, end = value(s, at)
	colon := strings.IndexByte(s[start:end], ':')
	if colon <= 0 {
		return 0, 0
	}
	start += colon + 1
	v := s[start:end]
	if len(v) < 6 || masked(v) || coded(v) || !isPassword(v, sentence, false) && (len(v) < 10 || wordy(v) || changes(v) < 0.25) {
		return 0, 0
	}
	return start, end
}
