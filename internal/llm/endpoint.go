package llm

import (
	"net/netip"
	"net/url"
	"strings"
)

// Endpoint joins a base URL of the settings and a path, and refuses what would
// give a key away: a URL that holds a user or password, and plain http to
// another machine when there is a key.
func Endpoint(base, path, key string) (string, error) {
	bad := func(detail, do string) (string, error) {
		return "", &Error{Kind: ErrConfig, Detail: detail, Do: do}
	}
	u, err := url.Parse(strings.TrimRight(base, "/") + path)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return bad("base_url is not a URL of http or https", `write base_url = "http://127.0.0.1:11434/v1"`)
	case u.User != nil:
		return bad("base_url holds a user or password", "put the key into an environment variable and name it in key_env")
	case u.RawQuery != "" || u.Fragment != "":
		return bad("base_url holds a query or fragment", "leave it out")
	case u.Scheme == "http" && key != "" && !loopback(u.Hostname()):
		return bad("the key would be sent unencrypted to "+Short(u.Host), "use https, or no key_env")
	}
	return u.String(), nil
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// Key reads the key of an HTTP adapter from the variable that the settings
// name, or from the usual one. It is empty, without an error, if the settings
// name none and the usual one is not set.
func Key(c Config, env Environment, usual string) (string, error) {
	if c.KeyEnv == "" {
		return env.Get(usual), nil
	}
	key := env.Get(c.KeyEnv)
	if key == "" {
		return "", &Error{Kind: ErrConfig, Detail: "the environment variable " + c.KeyEnv + " is not set", Do: "set it where stillso runs, also for programs that start it"}
	}
	return key, nil
}
