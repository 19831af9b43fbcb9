package namespace

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
)

// gitConfig is the part of a git config that says where a repository comes from.
type gitConfig struct {
	remotes  []remote          // in file order
	branches map[string]string // branch → remote
	rewrites []rewrite
}

type remote struct{ name, url string }

// rewrite is url.<base>.insteadOf: addresses that start with from start with
// base in truth.
type rewrite struct{ base, from string }

// readConfig reads the config of a git directory. The person's own config is
// asked only for what the repository's leaves open: an address such as gh:a/b
// whose "host" is a shorthand.
func readConfig(common string) gitConfig {
	c := gitConfig{branches: map[string]string{}}
	parseConfig(readSome(filepath.Join(common, "config"), maxConfig), c.take)
	return c
}

func (c *gitConfig) take(section, sub, key, value string) {
	if !usable(value) || !usable(sub) {
		return
	}
	switch {
	case section == "remote" && key == "url" && sub != "" && value != "":
		for _, r := range c.remotes {
			if r.name == sub {
				return // the first address is the one git fetches from
			}
		}
		c.remotes = append(c.remotes, remote{sub, value})
	case section == "branch" && key == "remote" && sub != "":
		c.branches[sub] = value
	case section == "url" && key == "insteadof" && value != "":
		c.rewrites = append(c.rewrites, rewrite{sub, value})
	}
}

// url returns the address of origin, else of the remote that the current branch
// follows, else of the first remote. head reads HEAD; it is seldom asked.
func (c gitConfig) url(head func() string) string {
	if len(c.remotes) == 0 {
		return ""
	}
	url, changed := c.rewritten(c.chosen(head).url)
	if !changed && shorthand(url) {
		home, err := os.UserHomeDir()
		if err != nil {
			return url
		}
		own := gitConfig{branches: map[string]string{}}
		xdg := os.Getenv("XDG_CONFIG_HOME")
		if !filepath.IsAbs(xdg) {
			xdg = filepath.Join(home, ".config")
		}
		parseConfig(readSome(filepath.Join(xdg, "git", "config"), maxConfig), own.take)
		parseConfig(readSome(filepath.Join(home, ".gitconfig"), maxConfig), own.take)
		url, _ = own.rewritten(url)
	}
	return url
}

func (c gitConfig) chosen(head func() string) remote {
	for _, r := range c.remotes {
		if r.name == "origin" {
			return r
		}
	}
	if len(c.remotes) > 1 {
		branch, _ := strings.CutPrefix(head(), "ref: refs/heads/")
		upstream := c.branches[strings.TrimSpace(branch)]
		for _, r := range c.remotes {
			if r.name == upstream {
				return r
			}
		}
	}
	return c.remotes[0]
}

// rewritten applies the longest insteadOf that fits, as git does.
func (c gitConfig) rewritten(url string) (string, bool) {
	var best rewrite
	for _, r := range c.rewrites {
		if strings.HasPrefix(url, r.from) && len(r.from) > len(best.from) {
			best = r
		}
	}
	if best.from == "" {
		return url, false
	}
	return best.base + url[len(best.from):], true
}

// shorthand reports whether the host of a scp-like address has no dot.
func shorthand(url string) bool {
	host, _, ok := strings.Cut(url, ":")
	return ok && host != "" && !strings.ContainsAny(host, "./\\@") && len(host) > 1 && !strings.Contains(url, "://")
}

// parseConfig calls set for every entry of a git config, with section and key
// in lower case. It is lenient: what it does not understand it skips, up to the
// end of the line. Includes are not followed.
func parseConfig(data []byte, set func(section, sub, key, value string)) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	var section, sub string
	for len(data) > 0 {
		line := data
		switch c := data[0]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			data = data[1:]
		case c == '#' || c == ';':
			_, data, _ = bytes.Cut(data, []byte("\n"))
		case c == '[':
			var ok bool
			if section, sub, data, ok = parseSection(data[1:]); !ok {
				section = ""
				_, data, _ = bytes.Cut(line, []byte("\n"))
			}
		default:
			var key, value string
			key, value, data = parseEntry(data)
			if section != "" && key != "" {
				set(section, sub, key, value)
			}
		}
	}
}

// parseSection reads what follows a bracket: section, section "sub" or the old
// section.sub, and returns the rest behind the closing bracket.
func parseSection(data []byte) (section, sub string, rest []byte, ok bool) {
	i := 0
	for i < len(data) && (isKeyByte(data[i]) || data[i] == '.') {
		i++
	}
	section = strings.ToLower(string(data[:i]))
	if before, after, dotted := strings.Cut(section, "."); dotted {
		section, sub = before, after
	}
	for i < len(data) && (data[i] == ' ' || data[i] == '\t') {
		i++
	}
	if i < len(data) && data[i] == '"' {
		var b []byte
		for i++; i < len(data) && data[i] != '"'; i++ {
			if data[i] == '\\' {
				i++
			}
			if i >= len(data) || data[i] == '\n' {
				return "", "", nil, false
			}
			b = append(b, data[i])
		}
		sub, i = string(b), i+1
	}
	if section == "" || i >= len(data) || data[i] != ']' {
		return "", "", nil, false
	}
	return section, sub, data[i+1:], true
}

func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-'
}

// parseEntry reads "key = value" with quotes, escapes, comments and lines that
// a backslash joins. A key without a value is true, as in git.
func parseEntry(data []byte) (key, value string, rest []byte) {
	i := 0
	for i < len(data) && isKeyByte(data[i]) {
		i++
	}
	key = strings.ToLower(string(data[:i]))
	for i < len(data) && (data[i] == ' ' || data[i] == '\t') {
		i++
	}
	if i >= len(data) || data[i] != '=' {
		if i < len(data) && data[i] != '\n' && data[i] != '\r' && data[i] != '#' && data[i] != ';' {
			key = ""
		}
		_, rest, _ = bytes.Cut(data[i:], []byte("\n"))
		return key, "true", rest
	}
	value, rest, ok := parseValue(data[i+1:])
	if !ok {
		key = ""
	}
	return key, value, rest
}

func parseValue(data []byte) (value string, rest []byte, ok bool) {
	var b []byte
	keep := 0 // length of b without trailing spaces that stood outside quotes
	quoted := false
	i := 0
	for ; i < len(data) && data[i] != '\n'; i++ {
		c := data[i]
		switch {
		case c == '\\' && i+1 < len(data):
			i++
			switch data[i] {
			case '\n':
				continue
			case '\r':
				if i+1 < len(data) && data[i+1] == '\n' {
					i++
				}
				continue
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			default:
				c = data[i]
			}
			b = append(b, c)
			keep = len(b)
		case c == '"':
			quoted = !quoted
			keep = len(b)
		case !quoted && (c == '#' || c == ';'):
			_, rest, _ = bytes.Cut(data[i:], []byte("\n"))
			return string(b[:keep]), rest, true
		case !quoted && (c == ' ' || c == '\t' || c == '\r'):
			if len(b) > 0 {
				b = append(b, c)
			}
		default:
			b = append(b, c)
			keep = len(b)
		}
	}
	return string(b[:keep]), data[min(i+1, len(data)):], !quoted
}
