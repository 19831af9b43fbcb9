// Package cli reaches models through the command line programs of coding
// assistants, and so through the subscription that a person already has; or
// through any program that reads a prompt and prints an answer.
//
// A call hands a stranger's text to a program that could act as the user. So:
// the text goes to standard input and never into an argument; tools are off;
// the working directory is private and holds nothing; the environment holds
// what the program needs and no more; the program's own hooks do not fire, and
// STILLSO_SUPPRESS=1 tells ours not to work if they do; the program is found
// once, outside the repository; its output is bounded; and when its time is up
// it ends together with everything it started.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"stillso/internal/llm"
)

// DirectoryPrefix begins the name of every working directory of a call. A
// reader of transcripts skips sessions that ran in such a directory: they are
// ours, not the user's.
const DirectoryPrefix = "stillso-model-"

// SuppressVar is the environment variable that tells our own hooks to do
// nothing, because the session is a call of ours. Its name holds none of the
// words for which a host would strip it.
const SuppressVar = "STILLSO_SUPPRESS"

// Adapters returns the programs that this package can call, in the order in
// which "auto" tries them, and "command" for any other program.
func Adapters() []llm.Adapter {
	var list []llm.Adapter
	for _, p := range []*program{claude(), codex(), gemini(), cursor(), copilot(), qwen(), opencode()} {
		list = append(list, llm.Adapter{Name: p.name, Auto: p.auto, Find: func(c llm.Config, env llm.Environment) (llm.Model, string, error) {
			return find(p, c, env)
		}})
	}
	return append(list, llm.Adapter{Name: "command", Find: findCommand})
}

// program is what is known of one program.
type program struct {
	name     string
	binaries []string // names to look for
	// auto: it may be chosen unasked, because its tools can be switched off.
	auto  bool
	model string // the model if the settings name none; empty leaves it to the program
	// keep lists the environment variables it needs beyond the common ones; a
	// trailing * stands for any end.
	keep    []string
	install string // what to do if it is missing
	login   string // what to do if nobody is logged in
	// prepare fills in a call.
	prepare func(context.Context, *call) error
	// read takes the reply out of what the program printed.
	read func(stdout []byte) (llm.Reply, error)
}

// call is one run of a program.
type call struct {
	m   *model
	r   llm.Request
	dir string // private, for the files of this call
	// cwd is the working directory, dir if it is empty. It has a fixed name for
	// programs that keep a record of every directory they ran in.
	cwd   string
	args  []string
	stdin string
	env   []string          // on top of the model's
	files map[string]string // to write into dir first
}

// model is a program that was found.
type model struct {
	*program
	path  string // absolute
	model string
	dir   string // where working directories are made
	env   []string

	mu      sync.Mutex
	version *version // nil before it was asked for
}

// Name names the program and the model it is asked for.
func (m *model) Name() string {
	if m.model == "" {
		return m.name
	}
	return m.name + "/" + m.model
}

// Complete runs the program once.
func (m *model) Complete(ctx context.Context, r llm.Request) (llm.Reply, error) {
	if n := len(r.System) + len(r.Text); n > llm.MaxRequest {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrTooLarge, Model: m.Name(), Detail: fmt.Sprintf("the request has %d bytes; %d are allowed", n, llm.MaxRequest)}
	}
	dir, err := workdir(m.dir)
	if err != nil {
		return llm.Reply{}, fmt.Errorf("cannot make a working directory for %s: %w", m.name, err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a directory that stays is empty, private and harmless
	c := &call{m: m, r: r, dir: dir}
	if err := m.prepare(ctx, c); err != nil {
		return llm.Reply{}, m.named(err)
	}
	for name, text := range c.files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return llm.Reply{}, fmt.Errorf("cannot prepare a call of %s: %w", m.name, err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return llm.Reply{}, fmt.Errorf("cannot prepare a call of %s: %w", m.name, err)
		}
	}
	if c.cwd == "" {
		c.cwd = dir
	}
	out, runErr := m.run(ctx, c.cwd, c.args, c.stdin, c.env)
	if runErr != nil && (out.ended || !errors.As(runErr, new(*exec.ExitError))) {
		return llm.Reply{}, m.named(runErr)
	}
	reply, err := m.read(out.stdout)
	if runErr != nil || err != nil {
		return llm.Reply{Model: reply.Model, Usage: reply.Usage}, m.explain(out, runErr, err)
	}
	if len(reply.Text) > llm.MaxReply {
		return llm.Reply{}, &llm.Error{Kind: llm.ErrTooLarge, Model: m.Name(), Detail: fmt.Sprintf("the reply has %d bytes; %d are allowed", len(reply.Text), llm.MaxReply)}
	}
	return reply, nil
}

// explain finds out why a run gave no reply: what the program said in its own
// format comes first, then what it said in words.
func (m *model) explain(out output, runErr, readErr error) error {
	var told *llm.Error
	if errors.As(readErr, &told) && !errors.Is(told, llm.ErrNotJSON) {
		return m.named(told)
	}
	said := strings.TrimSpace(out.stderr)
	if len(said) == 0 || runErr == nil {
		said = strings.TrimSpace(string(out.stdout[:min(len(out.stdout), 4000)]) + "\n" + said)
	}
	detail := llm.Short(said, m.secrets()...)
	if t := llm.Trouble(said); t != nil {
		var e *llm.Error
		if errors.As(t, &e) {
			e.Detail = detail
		}
		return m.named(t)
	}
	low := strings.ToLower(said)
	for _, w := range []string{"unknown option", "unexpected argument", "unknown argument", "unrecognized", "unknown feature", "unknown flag"} {
		if strings.Contains(low, w) {
			return m.named(&llm.Error{Kind: llm.ErrConfig, Detail: detail, Do: "this version does not know an option that keeps the call safe: update " + m.name})
		}
	}
	if runErr != nil {
		return m.named(&llm.Error{Kind: llm.ErrUnavailable, Detail: llm.Short(runErr.Error() + ": " + detail), Err: runErr})
	}
	return m.named(&llm.Error{Kind: llm.ErrUnavailable, Detail: "its output is not in its usual format: " + detail, Err: readErr})
}

// named adds to an error what is known of the program.
func (m *model) named(err error) error {
	var e *llm.Error
	if errors.As(err, &e) {
		e.Model = m.Name()
		if errors.Is(e, llm.ErrNotLoggedIn) && m.login != "" {
			e.Do = m.login
		}
	}
	return err
}

// secrets lists the values of the environment that must not stand in an error.
func (m *model) secrets() []string {
	var list []string
	for _, kv := range m.env {
		name, value, _ := strings.Cut(kv, "=")
		for _, w := range []string{"KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL"} {
			if strings.Contains(strings.ToUpper(name), w) {
				list = append(list, value)
				break
			}
		}
	}
	return list
}

// find looks for the program and makes it a model.
func find(p *program, c llm.Config, env llm.Environment) (llm.Model, string, error) {
	var path string
	var err error
	for _, name := range p.binaries {
		if path, err = resolve(name, env); err == nil {
			break
		}
	}
	if err != nil {
		return nil, "", &llm.Error{Kind: llm.ErrNotInstalled, Model: p.name, Detail: err.Error(), Do: p.install}
	}
	m := newModel(p, path, c, env)
	return m, m.Name() + " at " + path, nil
}

func newModel(p *program, path string, c llm.Config, env llm.Environment) *model {
	name := c.Model
	if name == "" {
		name = p.model
	}
	return &model{program: p, path: path, model: name, dir: env.Directory, env: environ(env, append(p.keep, c.PassEnv...))}
}

// resolve finds a program on PATH, as an absolute path. Relative entries of
// PATH and directories to avoid are passed over: a repository that is worked
// on may bring a program of that name. Links are followed to see where the
// program really lies.
func resolve(name string, env llm.Environment) (string, error) {
	passed := ""
	for _, dir := range filepath.SplitList(env.Get("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		if inside(path, env.Avoid) {
			passed = path
			continue
		}
		return path, nil
	}
	if passed != "" {
		return "", fmt.Errorf("%s stands only at %s, inside the repository, and is not run from there", name, passed)
	}
	return "", fmt.Errorf("%s is not on PATH", name)
}

// inside reports whether the path, or what it links to, lies in one of the
// directories. What cannot be followed counts as inside.
func inside(path string, dirs []string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	for _, dir := range dirs {
		for _, d := range []string{dir, follow(dir)} {
			for _, p := range []string{path, real} {
				if rel, err := filepath.Rel(d, p); err == nil && filepath.IsLocal(rel) {
					return true
				}
			}
		}
	}
	return false
}

func follow(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

// workdir makes a new private directory below parent.
func workdir(parent string) (string, error) {
	if parent == "" {
		return "", errors.New("no directory is set for the calls of models")
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp(parent, DirectoryPrefix)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// common are the variables that any program may need: who and where the user
// is, the language, where temporary files and certificates are, and how the
// network is reached.
var common = []string{
	"HOME", "USER", "LOGNAME", "LANG", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP", "XDG_*", "DBUS_SESSION_BUS_ADDRESS",
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
	"PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "USERNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// environ returns the environment of a call: the common variables, those to
// keep, PATH without relative and avoided entries, and our guard.
func environ(env llm.Environment, keep []string) []string {
	var list []string
	for _, kv := range env.Environ {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case !ok || name == "" || strings.EqualFold(name, SuppressVar):
		case strings.EqualFold(name, "PATH"):
			var dirs []string
			for _, dir := range filepath.SplitList(value) {
				if filepath.IsAbs(dir) && !inside(dir, env.Avoid) {
					dirs = append(dirs, dir)
				}
			}
			list = append(list, name+"="+strings.Join(dirs, string(filepath.ListSeparator)))
		case listed(common, name) || listed(keep, name):
			list = append(list, kv)
		}
	}
	return append(list, SuppressVar+"=1")
}

// listed reports whether a pattern of the list matches the variable's name;
// letter case does not count on Windows, nor for proxies anywhere.
func listed(list []string, name string) bool {
	fold := runtime.GOOS == "windows" || strings.HasSuffix(name, "_proxy")
	if fold {
		name = strings.ToUpper(name)
	}
	for _, p := range list {
		if fold {
			p = strings.ToUpper(p)
		}
		if start, any := strings.CutSuffix(p, "*"); p == name || any && strings.HasPrefix(name, start) {
			return true
		}
	}
	return false
}
