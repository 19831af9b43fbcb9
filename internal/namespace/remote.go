package namespace

import (
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxRemote bounds the address of a remote, in bytes.
const maxRemote = 1024

// NormalRemote brings the spellings of one remote to one form, host/owner/name:
// user, password, port, .git, trailing slashes and the case of the host do not
// count, nor does the case of the path on hosts that ignore it. It returns ""
// for what is no address, and for a directory of this machine.
func NormalRemote(address string) string {
	address = strings.TrimSpace(address)
	if address == "" || len(address) > maxRemote || !usable(address) || !utf8.ValidString(address) {
		return ""
	}
	if _, local := localRemote(address); local {
		return ""
	}
	var host, rest string
	if helper, after, ok := strings.Cut(address, "::"); ok && !strings.ContainsAny(helper, "[/@:") {
		rest = strings.Trim(cleanPath(strings.ReplaceAll(after, "://", "/")), "/")
		if helper == "" || rest == "" {
			return ""
		}
		return strings.ToLower(helper) + "/" + rest
	}
	if scheme, after, ok := strings.Cut(address, "://"); ok {
		after, _, _ = strings.Cut(after, "#")
		after, _, _ = strings.Cut(after, "?")
		host, rest, _ = strings.Cut(after, "/")
		if host == "" || scheme == "" {
			return ""
		}
	} else {
		host, rest = splitScp(address)
	}
	host = bareHost(host)
	name := repositoryPath(host, rest)
	if host == "" || name == "" {
		return ""
	}
	return aliasHost(host) + "/" + name
}

// splitScp splits user@host:path, also with an IPv6 address in brackets.
func splitScp(address string) (host, rest string) {
	from := 0
	if open := strings.IndexByte(address, '['); open >= 0 {
		if end := strings.IndexByte(address, ']'); end > open {
			from = end
			if inner := address[open+1 : end]; strings.Count(inner, ":") == 1 { // [host:port]:path
				_, rest, _ = strings.Cut(address[end:], ":")
				return inner, rest
			}
		}
	}
	i := strings.IndexByte(address[from:], ':')
	if i < 0 {
		return "", ""
	}
	return address[:from+i], address[from+i+1:]
}

// bareHost strips user, password and port, and lowers the case.
func bareHost(host string) string {
	host = strings.ToLower(host[strings.LastIndexByte(host, '@')+1:])
	if end := strings.IndexByte(host, ']'); strings.HasPrefix(host, "[") && end > 0 {
		return host[1:end]
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && strings.Count(host, ":") == 1 {
		host = host[:i]
	}
	return strings.TrimSuffix(host, ".")
}

// aliasHost maps the second names of the large hosts to the first: those for
// ssh through port 443, and the github.com-work that people with two accounts
// put into their ssh config.
func aliasHost(host string) string {
	switch host {
	case "ssh.github.com", "www.github.com":
		return "github.com"
	case "altssh.gitlab.com", "www.gitlab.com":
		return "gitlab.com"
	case "altssh.bitbucket.org", "www.bitbucket.org":
		return "bitbucket.org"
	case "ssh.dev.azure.com":
		return "dev.azure.com"
	}
	for _, known := range [...]string{"github.com", "gitlab.com", "bitbucket.org"} {
		if strings.HasPrefix(host, known+"-") && !strings.Contains(host[len(known):], ".") {
			return known
		}
	}
	return host
}

func repositoryPath(host, rest string) string {
	rest = strings.Trim(cleanPath(unescape(rest)), "/")
	rest = strings.TrimRight(strings.TrimSuffix(rest, ".git"), "/")
	switch aliasHost(host) {
	case "github.com", "gitlab.com", "bitbucket.org", "codeberg.org":
		return strings.ToLower(rest)
	case "dev.azure.com":
		return strings.Replace(strings.TrimPrefix(rest, "v3/"), "/_git/", "/", 1)
	}
	return rest
}

// cleanPath resolves dots and doubled slashes, so that no spelling of a path
// differs from another, and none climbs.
func cleanPath(p string) string { return path.Clean("/" + strings.ReplaceAll(p, `\`, "/")) }

// unescape decodes %XX where the result is a printable character.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			hi, lo := unhex(s[i+1]), unhex(s[i+2])
			if c := hi<<4 | lo; hi >= 0 && lo >= 0 && c > ' ' && c != 0x7f {
				b = append(b, byte(c))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// localRemote reports whether an address is a directory of this machine, and
// returns it.
func localRemote(address string) (string, bool) {
	if rest, ok := cutFold(address, "file://"); ok {
		rest = unescape(rest)
		if len(rest) > 2 && rest[0] == '/' && rest[2] == ':' { // file:///C:/dir
			rest = rest[1:]
		}
		return strings.TrimPrefix(rest, "localhost"), true
	}
	if strings.Contains(address, "://") {
		return "", false
	}
	colon, slash := strings.IndexByte(address, ':'), strings.IndexAny(address, `/\`)
	switch {
	case colon < 0, slash >= 0 && slash < colon:
		return address, true
	case colon == 1 && filepath.Separator == '\\': // C:\dir
		return address, true
	}
	return "", false
}

func cutFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}
