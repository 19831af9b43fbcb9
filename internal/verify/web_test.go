package verify

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"stillso"
)

// Addresses that a name may resolve to; none of them may be connected to.
func TestPrivateAddresses(t *testing.T) {
	for _, s := range []string{
		"127.0.0.1:80", "127.8.9.1:443", "0.0.0.0:80", "10.1.2.3:80", "172.16.0.1:80", "192.168.1.1:80", "169.254.169.254:80", "100.100.100.200:80", "100.64.0.1:80", "192.0.0.1:80", "198.18.0.1:80", "203.0.113.9:80",
		"224.0.0.1:80", "240.0.0.1:80", "255.255.255.255:80", "[::1]:80", "[::]:80", "[::ffff:127.0.0.1]:80", "[::ffff:10.0.0.1]:80", "[64:ff9b::7f00:1]:80", "[2002:7f00:1::]:80", "[fe80::1%eth0]:80", "[fd00::1]:80", "[fc00::1]:80",
		"[ff02::1]:80", "[2001:db8::1]:80", "[2001::1]:80", "[100::1]:80", "[fec0::1]:80", "93.184.216.34:22", "93.184.216.34:6379", "93.184.216.34:0",
	} {
		if public(netip.MustParseAddrPort(s)) == nil {
			t.Errorf("%s may be connected to", s)
		}
	}
	for _, s := range []string{"93.184.216.34:443", "8.8.8.8:80", "[2606:2800:220:1::1]:443", "172.32.0.1:8080"} {
		if err := public(netip.MustParseAddrPort(s)); err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
}

// A name that resolves to this machine must not be connected to, whatever the type of
// the argument let through.
func TestDialIsRefused(t *testing.T) {
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer srv.Close()
	t.Setenv("HTTP_PROXY", srv.URL)
	t.Setenv("http_proxy", srv.URL)
	w := newWeb(public)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(srv.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range []string{srv.URL, "http://localhost:" + port, "http://[::ffff:127.0.0.1]:" + port} {
		if a := urlAlive(context.Background(), &look{web: w}, []string{u}).answer(); a.verdict != stillso.Unknown {
			t.Errorf("%s: %s", u, a.verdict)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("this machine was asked %d times", n)
	}
}

// An address proves life and never death, and leads nowhere else.
func TestURLAlive(t *testing.T) {
	var wrong atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/ok", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/trap", http.StatusFound) })
	mux.HandleFunc("/trap", func(http.ResponseWriter, *http.Request) { wrong.Add(1) })
	mux.HandleFunc("/get", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
		if r.Header.Get("Cookie")+r.Header.Get("Authorization") != "" {
			wrong.Add(1)
		}
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	l := &look{web: newWeb(func(netip.AddrPort) error { return nil })}
	for path, want := range map[string]stillso.Verdict{"/ok": stillso.Holds, "/moved": stillso.Holds, "/get": stillso.Holds, "/gone": stillso.Unknown} {
		if a := urlAlive(context.Background(), l, []string{srv.URL + path}).answer(); a.verdict != want {
			t.Errorf("%s: %s (%s)", path, a.verdict, a.reason)
		}
	}
	srv.Close()
	if a := urlAlive(context.Background(), l, []string{srv.URL + "/ok"}).answer(); a.verdict != stillso.Unknown {
		t.Errorf("closed: %s", a.verdict)
	}
	if wrong.Load() > 0 {
		t.Error("a redirect was followed")
	}
}
