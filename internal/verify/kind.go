package verify

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"stillso"
)

// Kind is the type of an argument. It lists what is allowed; everything else is
// refused, so that no argument can be an option, leave the project, reach a private
// address, or mean something to a program that reads it.
type Kind struct {
	Name  string
	check func(string) error
}

// Check reports why s is no argument of this kind.
func (k Kind) Check(s string) error {
	if err := k.check(s); err != nil {
		return fmt.Errorf("not a %s: %w", k.Name, err)
	}
	return nil
}

// The kinds of arguments.
var (
	Path       = Kind{"path", checkPath}
	FileName   = Kind{"file name", checkFileName}
	Text       = Kind{"text", checkText}
	Symbol     = Kind{"symbol", checkSymbol}
	Count      = Kind{"count", func(s string) error { return checkNumber(s, 1_000_000_000, true) }}
	Ref        = Kind{"branch or tag", checkRef}
	Commit     = Kind{"commit", checkCommit}
	Package    = Kind{"package", checkPackage}
	Version    = Kind{"version", checkVersion}
	Target     = Kind{"target", func(s string) error { return checkWord(s, 100, "._:/-") }}
	Command    = Kind{"command", func(s string) error { return checkWord(s, 64, "._+-") }}
	EnvName    = Kind{"variable name", checkEnvName}
	Repository = Kind{"repository", checkRepository}
	Number     = Kind{"number", func(s string) error { return checkNumber(s, 10_000_000, false) }}
	Visibility = Kind{"visibility", func(s string) error { return checkOneOf(s, "public", "private", "internal") }}
	Instance   = Kind{"instance", checkInstance}
	URL        = Kind{"address", checkURL}
)

// Valid reports why a claim cannot be checked: its probe is none of ours, or an
// argument is refused by its type.
func Valid(c stillso.Claim) error {
	p, ok := Find(c.Probe)
	if !ok {
		return fmt.Errorf("no probe is called %q", cutText(c.Probe, 40))
	}
	if len(c.Args) != len(p.Args) {
		return fmt.Errorf("probe %s takes %d arguments, not %d", p.Name, len(p.Args), len(c.Args))
	}
	for i, k := range p.Args {
		if err := k.Check(c.Args[i]); err != nil {
			return err
		}
	}
	return nil
}

var (
	errLong   = errors.New("it is too long")
	errEmpty  = errors.New("it is empty")
	errOption = errors.New("it starts like an option")
	errChars  = errors.New("it has characters that are not allowed")
	errForm   = errors.New("it does not have the form of one")
	errMixed  = errors.New("it mixes scripts that look alike")
)

// basic refuses what no argument may be.
func basic(s string, most int) error {
	switch {
	case s == "":
		return errEmpty
	case len(s) > most:
		return errLong
	case s[0] == '-':
		return errOption
	case !utf8.ValidString(s):
		return errChars
	}
	return nil
}

func isAlnum(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isHex(c byte) bool   { return isDigit(c) || c >= 'a' && c <= 'f' }

// only reports whether s is made of ASCII letters, digits and the given marks.
func only(s, marks string) bool {
	for i := range len(s) {
		if !isAlnum(s[i]) && strings.IndexByte(marks, s[i]) < 0 {
			return false
		}
	}
	return true
}

// maxParts bounds the components of a path.
const maxParts = 40

func checkPath(s string) error {
	if err := basic(s, 512); err != nil {
		return err
	}
	s = strings.TrimSuffix(s, "/")
	if !filepath.IsLocal(s) || strings.HasPrefix(s, "~") {
		return errors.New("it leads out of the project")
	}
	parts := strings.Split(s, "/")
	if len(parts) > maxParts {
		return errLong
	}
	for _, p := range parts {
		if err := checkComponent(p); err != nil {
			return err
		}
	}
	return nil
}

func checkFileName(s string) error {
	if err := basic(s, 255); err != nil {
		return err
	}
	return checkComponent(s)
}

// checkComponent checks one name of a path, by the rules of every system: a memory
// that was written on one is verified on another.
func checkComponent(s string) error {
	switch {
	case s == "" || s == "." || s == "..":
		return errors.New("it has an empty or climbing part")
	case len(s) > 255:
		return errLong
	case s[0] == '-':
		return errOption
	case s[0] == ' ' || strings.HasSuffix(s, ".") || strings.HasSuffix(s, " "):
		return errors.New("it has a part that some systems read as another one")
	case strings.EqualFold(s, ".git") || strings.EqualFold(s, "git~1"):
		return errors.New("it leads into git's own folder")
	}
	base, _, _ := strings.Cut(strings.ToUpper(s), ".")
	if reserved(strings.TrimRight(base, " ")) {
		return errors.New("it has a part that names a device on some systems")
	}
	latin, twin := false, false
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+@()[] ", r) {
				return errChars
			}
			latin = latin || unicode.IsLetter(r)
		case !unicode.In(r, unicode.L, unicode.Nd, unicode.Mn, unicode.Mc) || r >= 0xf900 && r <= 0xfaff:
			return errChars
		case unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian):
			twin = true
		}
	}
	if latin && twin {
		return errMixed
	}
	return nil
}

// reserved reports whether a name is a device on Windows.
func reserved(s string) bool {
	switch s {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	return len(s) == 4 && (s[:3] == "COM" || s[:3] == "LPT") && isDigit(s[3])
}

// checkText allows one line of visible characters: it is compared, never parsed.
func checkText(s string) error {
	switch {
	case s == "":
		return errEmpty
	case len(s) > 200:
		return errLong
	case !utf8.ValidString(s):
		return errChars
	}
	for _, r := range s {
		if r != ' ' && !unicode.IsGraphic(r) || r == utf8.RuneError || unicode.In(r, unicode.Zl, unicode.Zp) || r >= 0xe0000 {
			return errChars
		}
	}
	return nil
}

func checkSymbol(s string) error {
	if err := basic(s, 100); err != nil {
		return err
	}
	if isDigit(s[0]) || s[0] == '.' || s[len(s)-1] == '.' || strings.Contains(s, "..") || !only(s, "_.$") {
		return errForm
	}
	return nil
}

func checkNumber(s string, most int64, zero bool) error {
	if err := basic(s, 12); err != nil {
		return err
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || s != strconv.FormatInt(n, 10) || n > most || n < 0 || n == 0 && !zero {
		return errForm
	}
	return nil
}

// checkRef follows git check-ref-format, and is stricter: ASCII only, no revision
// syntax, no full names of references.
func checkRef(s string) error {
	if err := basic(s, 200); err != nil {
		return err
	}
	if !only(s, "._/+#-") {
		return errChars
	}
	if s == "HEAD" || strings.HasPrefix(s, "refs/") || strings.Contains(s, "..") || strings.HasSuffix(s, ".") {
		return errForm
	}
	for p := range strings.SplitSeq(s, "/") {
		if p == "" || p[0] == '.' || p[0] == '-' || strings.HasSuffix(strings.ToLower(p), ".lock") || reserved(strings.ToUpper(p)) {
			return errForm
		}
	}
	return nil
}

func checkCommit(s string) error {
	if len(s) < 7 || len(s) > 40 {
		return errForm
	}
	for i := range len(s) {
		if !isHex(s[i]) {
			return errForm
		}
	}
	return nil
}

// checkPackage allows the names of npm, PyPI, crates.io and Go modules.
func checkPackage(s string) error {
	if err := basic(s, 214); err != nil {
		return err
	}
	if !only(s, "@._/~-") || strings.LastIndexByte(s, '@') > 0 || strings.HasPrefix(s, "@") && strings.Count(s, "/") != 1 {
		return errForm
	}
	for p := range strings.SplitSeq(strings.TrimPrefix(s, "@"), "/") {
		if p == "" || !isAlnum(p[0]) || strings.Contains(p, "..") || p[len(p)-1] == '.' {
			return errForm
		}
	}
	return nil
}

func checkVersion(s string) error {
	if err := basic(s, 64); err != nil {
		return err
	}
	if n := strings.TrimPrefix(s, "v"); n == "" || !isDigit(n[0]) || !only(s, ".+_-") || strings.Contains(s, "..") {
		return errForm
	}
	return nil
}

// checkWord allows one word that starts with a letter or digit.
func checkWord(s string, most int, marks string) error {
	if err := basic(s, most); err != nil {
		return err
	}
	if !isAlnum(s[0]) || !only(s, marks) || strings.Contains(s, "..") || strings.Contains(s, "//") || s[len(s)-1] == '/' {
		return errForm
	}
	return nil
}

func checkEnvName(s string) error {
	if err := basic(s, 100); err != nil {
		return err
	}
	if isDigit(s[0]) || !only(s, "_") {
		return errForm
	}
	return nil
}

// This repository is the one that a memory's project lies in.
const thisRepository = "this"

// checkRepository allows owner/name on GitHub, or "this".
func checkRepository(s string) error {
	if s == thisRepository {
		return nil
	}
	if err := basic(s, 140); err != nil {
		return err
	}
	owner, name, ok := strings.Cut(s, "/")
	switch {
	case !ok || owner == "" || name == "" || len(owner) > 39 || len(name) > 100:
		return errForm
	case !only(owner, "-") || owner[0] == '-' || owner[len(owner)-1] == '-':
		return errForm
	case !only(name, "._-") || strings.Trim(name, ".") == "" || name[0] == '-' || strings.EqualFold(name, ".git"):
		return errForm
	}
	return nil
}

func checkOneOf(s string, words ...string) error {
	for _, w := range words {
		if s == w {
			return nil
		}
	}
	return fmt.Errorf("it is none of %s", strings.Join(words, ", "))
}

func checkInstance(s string) error {
	id, ok := strings.CutPrefix(s, "i-")
	if !ok || len(id) != 8 && len(id) != 17 {
		return errForm
	}
	for i := range len(id) {
		if !isHex(id[i]) {
			return errForm
		}
	}
	return nil
}

// checkURL allows web addresses with a public-looking name. Where the name leads is
// decided when the connection is made.
func checkURL(s string) error {
	if err := basic(s, 2000); err != nil {
		return err
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\\\"'`<>{}|^", c) >= 0 {
			return errChars
		}
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Opaque != "":
		return errForm
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("only http and https are asked")
	case u.User != nil || strings.Contains(u.Host, "@") || strings.Contains(u.Host, "%"):
		return errors.New("it carries a name or a password")
	}
	if strings.HasSuffix(u.Host, ":") || !allowedPort(u.Port()) {
		return errors.New("only ports 80, 443, 8080 and 8443 are asked")
	}
	return checkHost(u.Hostname())
}

func allowedPort(p string) bool {
	switch p {
	case "", "80", "443", "8080", "8443":
		return true
	}
	return false
}

// checkHost allows a name of at least two labels below a public-looking top level.
func checkHost(host string) error {
	if _, err := netip.ParseAddr(host); err == nil {
		return errors.New("addresses as numbers are not asked")
	}
	host = strings.ToLower(host)
	labels := strings.Split(host, ".")
	if len(host) > 253 || len(labels) < 2 {
		return errors.New("it names no public host")
	}
	for _, l := range labels {
		if l == "" || len(l) > 63 || !only(l, "-") || l[0] == '-' || l[len(l)-1] == '-' {
			return errForm
		}
		if strings.HasPrefix(l, "xn--") {
			return errors.New("names in other scripts are not asked: they may look like another one")
		}
	}
	top := labels[len(labels)-1]
	if !only(top, "") || strings.ContainsAny(top, "0123456789") {
		return errors.New("it is an address in disguise")
	}
	switch top {
	case "local", "localhost", "internal", "localdomain", "lan", "home", "corp", "intranet", "private", "arpa", "onion", "test", "invalid":
		return errors.New("it names no public host")
	}
	return nil
}

func cutText(s string, n int) string {
	if len(s) > n {
		return strings.ToValidUTF8(s[:n], "") + "…"
	}
	return s
}
