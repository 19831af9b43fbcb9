package verify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"
)

// web asks addresses whether they answer. The address of the machine is checked when
// the connection is made, after every resolver has had its say; proxies, redirects
// and cookies are not used.
type web struct{ client *http.Client }

// newWeb returns a web that connects only where allow says nil.
func newWeb(allow func(netip.AddrPort) error) *web {
	d := &net.Dialer{Timeout: ProbeTime, Control: func(_, address string, _ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return errPrivate
		}
		return allow(to)
	}}
	return &web{&http.Client{
		Transport: &http.Transport{
			Proxy: nil, DialContext: d.DialContext, DisableKeepAlives: true, DisableCompression: true,
			TLSHandshakeTimeout: ProbeTime, ResponseHeaderTimeout: ProbeTime, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       3 * time.Second,
	}}
}

var errPrivate = errors.New("the address is not a public one")

// forbidden are the ranges inside the global ones that lead back into private space
// or to nobody: documentation, benchmarks, translations of IPv4, 6to4, Teredo.
// Source: the IANA special-purpose address registries.
var forbidden = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("224.0.0.0/3"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

var globalV6 = netip.MustParsePrefix("2000::/3")

// public reports why a connection must not be made, or nil.
func public(to netip.AddrPort) error {
	a := to.Addr().Unmap()
	if p := to.Port(); p != 80 && p != 443 && p != 8080 && p != 8443 {
		return fmt.Errorf("port %d is not asked", p)
	}
	if a.Zone() != "" || a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() || a.IsMulticast() || a.IsUnspecified() || !a.IsGlobalUnicast() {
		return errPrivate
	}
	if a.Is6() && !globalV6.Contains(a) {
		return errPrivate
	}
	for _, p := range forbidden {
		if p.Contains(a) {
			return errPrivate
		}
	}
	return nil
}

// urlAlive sends HEAD, and GET where HEAD is not known. An answer of success or a
// redirect is a sign of life; everything else proves nothing.
func urlAlive(ctx context.Context, l *look, args []string) Sign {
	for _, method := range []string{http.MethodHead, http.MethodGet} {
		req, err := http.NewRequestWithContext(ctx, method, args[0], nil)
		if err != nil {
			return noSign("it cannot be asked")
		}
		req.Header.Set("User-Agent", "stillso")
		resp, err := l.web.client.Do(req)
		if err != nil {
			return noSign("no answer")
		}
		io.CopyN(io.Discard, resp.Body, 1024) //nolint:errcheck,gosec // only that it answers matters
		resp.Body.Close()                     //nolint:errcheck,gosec // as above
		if resp.StatusCode < 400 {
			return seen(fmt.Sprintf("it answers with %d", resp.StatusCode))
		}
		if resp.StatusCode != http.StatusMethodNotAllowed && resp.StatusCode != http.StatusNotImplemented {
			return noSign(fmt.Sprintf("it answers with %d", resp.StatusCode))
		}
	}
	return noSign("no answer")
}
