package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stillso/internal/home"
	"stillso/internal/mcp"
)

// mcpHTTPCmd offers the tools to programs of this machine over HTTP.
type mcpHTTPCmd struct {
	Port int    `help:"The port on 127.0.0.1; 0 takes a free one." default:"0"`
	Dir  string `help:"Act as if in this directory." type:"existingdir"`
}

// Help says what keeps others out.
func (mcpHTTPCmd) Help() string {
	return `For clients that cannot start a program. It listens on 127.0.0.1 only and answers only
who shows the token, which stands in the file mcp.token of the home directory. Pages
in a browser are refused, whatever they show. It runs until it is interrupted.

Examples:
  stillso mcp http --port 8791`
}

// maxMCPBody bounds one request: a statement and what the protocol puts around it.
const maxMCPBody = 1 << 20

func (c *mcpHTTPCmd) run(ctx context.Context, a *app) (summary, error) {
	token, err := a.mcpToken()
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", c.Port))
	if err != nil {
		return nil, fmt.Errorf("the server did not start: %w; name another --port", err)
	}
	log := slog.New(slog.NewTextHandler(a.std.err, &slog.HandlerOptions{Level: slog.LevelError}))
	server := mcp.New((&mcpDesk{app: a, dir: a.directory(c.Dir)}).desk(), buildVersion().Version, log)
	tools := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	srv := &http.Server{
		Handler:           guardHTTP(tools, l.Addr().String(), token),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
	}
	fmt.Fprintf(a.std.err, "listening on http://%s/mcp; send the header \"Authorization: Bearer …\" with what stands in %s\n", l.Addr(), a.tokenFile()) //nolint:errcheck // a closed terminal stops nothing
	stop := context.AfterFunc(ctx, func() {
		end, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_ = srv.Shutdown(end) // Serve returns either way
	})
	defer stop()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return nil, fmt.Errorf("the server ended: %w", err)
	}
	return nil, nil
}

// guardHTTP lets through only what a program of this machine sends that knows the
// token. A page in the person's browser can reach 127.0.0.1 too, also under a name of
// its own (DNS rebinding): so the host must be ours, the origin ours or absent, and
// no header is ever sent that would let a page read an answer.
func guardHTTP(next http.Handler, addr, token string) http.Handler {
	_, port, _ := net.SplitHostPort(addr)
	ours := map[string]bool{addr: true, net.JoinHostPort("localhost", port): true}
	want := []byte("Bearer " + token)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		switch {
		case !ours[r.Host]:
			http.Error(w, "this name is not served here", http.StatusForbidden)
		case origin != "" && (!strings.HasPrefix(origin, "http://") || !ours[strings.TrimPrefix(origin, "http://")]):
			http.Error(w, "requests of web pages are refused", http.StatusForbidden)
		case r.Header.Get("Sec-Fetch-Site") != "" && r.Header.Get("Sec-Fetch-Site") != "none":
			http.Error(w, "requests of web pages are refused", http.StatusForbidden)
		case subtle.ConstantTimeCompare([]byte(r.Header.Get("Authorization")), want) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the token is missing or wrong; it stands in mcp.token of the home directory", http.StatusUnauthorized)
		case r.URL.Path != "/mcp":
			http.NotFound(w, r)
		case r.Method != http.MethodPost:
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "use POST", http.StatusMethodNotAllowed)
		case !jsonBody(r.Header.Get("Content-Type")):
			http.Error(w, "use application/json", http.StatusUnsupportedMediaType)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxMCPBody)
			next.ServeHTTP(w, r)
		}
	})
}

func jsonBody(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json")
}

func (a *app) tokenFile() string { return filepath.Join(string(a.dir), "mcp.token") }

// mcpToken returns the token of this home, 256 random bits, made at the first use.
func (a *app) mcpToken() (string, error) {
	if err := a.dir.Create(); err != nil {
		return "", err
	}
	text, err := home.ReadFile(a.tokenFile(), 1<<10)
	if errors.Is(err, fs.ErrNotExist) {
		var bits [32]byte
		if _, err := rand.Read(bits[:]); err != nil {
			return "", err
		}
		text = []byte(hex.EncodeToString(bits[:]) + "\n")
		f, err := home.OpenFile(a.tokenFile(), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
		if err != nil {
			return "", fmt.Errorf("the token was not written: %w; check the home directory", err)
		}
		if _, err = f.Write(text); err == nil {
			err = f.Sync()
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return "", fmt.Errorf("the token was not written: %w; check the home directory", err)
		}
	} else if err != nil {
		return "", fmt.Errorf("the token cannot be read: %w; remove %s, a new one is made", err, a.tokenFile())
	}
	token := strings.TrimSpace(string(text))
	if len(token) < 32 {
		return "", usagef("the token in %s is too short; remove the file, a new one is made", a.tokenFile())
	}
	return token, nil
}
