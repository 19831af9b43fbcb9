package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

// call is one execution of a program. The argument list is fixed but for validated
// arguments; there is never a shell.
type call struct {
	tool string
	argv []string
	// env is set besides the minimum; pass names variables that are handed on.
	env  []string
	pass []string
}

// toolResult is what a call gave.
type toolResult struct {
	out     []byte
	code    int
	missing bool
	err     error
}

// toolbox finds and runs programs: those of the person's PATH, by absolute path, and
// never one that lies in a project.
type toolbox struct {
	env   func(string) string
	sites []string

	mu    sync.Mutex
	found map[string]string
}

// maxOutput bounds what is read of a program's output, in bytes.
const maxOutput = 1 << 20

// find returns the absolute path of a program, or "".
func (t *toolbox) find(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p, ok := t.found[name]; ok {
		return p
	}
	if t.found == nil {
		t.found = map[string]string{}
	}
	t.found[name] = ""
	for _, dir := range t.path() {
		p := filepath.Join(dir, name)
		if runtime.GOOS == "windows" {
			p += ".exe"
		}
		real, err := filepath.EvalSymlinks(p)
		if err != nil || t.inProject(p) || t.inProject(real) {
			continue
		}
		info, err := os.Stat(real)
		if err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0) {
			t.found[name] = p
			break
		}
	}
	return t.found[name]
}

// path returns the absolute folders of PATH that lie in no project.
func (t *toolbox) path() []string {
	var out []string
	for _, dir := range filepath.SplitList(t.env("PATH")) {
		if filepath.IsAbs(dir) && !t.inProject(dir) {
			out = append(out, dir)
		}
	}
	return out
}

func (t *toolbox) inProject(p string) bool {
	for _, root := range t.sites {
		rel, err := filepath.Rel(root, p)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// run runs a call in a folder that is no project, with a minimal environment.
func (t *toolbox) run(ctx context.Context, c call) toolResult {
	program := t.find(c.tool)
	if program == "" {
		return toolResult{missing: true}
	}
	cmd := exec.CommandContext(ctx, program, c.argv...) // #nosec G204 -- an absolute path, a fixed list, validated arguments
	cmd.Dir = filepath.VolumeName(program) + string(filepath.Separator)
	cmd.WaitDelay = 200 * time.Millisecond
	cmd.Env = append([]string{"PATH=" + strings.Join(t.path(), string(filepath.ListSeparator)), "LC_ALL=C", "NO_COLOR=1"}, c.env...)
	for _, name := range append([]string{"HOME", "USERPROFILE", "SystemRoot", "XDG_CONFIG_HOME", "APPDATA"}, c.pass...) {
		if v := t.env(name); v != "" {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	var out limited
	cmd.Stdout = &out
	err := cmd.Run()
	r := toolResult{out: out.Bytes(), err: err}
	var exit *exec.ExitError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.missing = true
	case errors.As(err, &exit) && ctx.Err() == nil:
		r.code, r.err = exit.ExitCode(), nil
	}
	return r
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	if room := maxOutput - l.Len(); room > 0 {
		l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// json decodes the output of a call that went well.
func (r toolResult) json(v any) bool {
	return r.err == nil && r.code == 0 && !r.missing && json.Unmarshal(r.out, v) == nil
}

// silent says why a program gave no answer.
func (r toolResult) silent(tool string) string {
	switch {
	case r.missing:
		return tool + " is not installed"
	case errors.Is(r.err, context.DeadlineExceeded) || r.err != nil:
		return tool + " did not answer in time"
	}
	return tool + " could not say"
}

// commandExists proves only that a program is here: elsewhere it may be so, too.
func commandExists(_ context.Context, l *look, args []string) Sign {
	if l.tools.find(args[0]) != "" {
		return seen("command " + args[0] + " is installed")
	}
	return noSign("command " + args[0] + " is not in PATH here")
}

// repository returns owner/name on GitHub, or "".
func (l *look) repository(arg string) string {
	if arg != thisRepository {
		return arg
	}
	name, ok := strings.CutPrefix(l.site.Remote, "github.com/")
	if !ok || checkRepository(name) != nil {
		return ""
	}
	return name
}

func ghPull(repo, number string) call {
	return call{tool: "gh", argv: []string{"pr", "view", number, "--repo=" + repo, "--json=state"}, env: ghEnv, pass: ghPass}
}

func ghVisibility(repo string) call {
	return call{tool: "gh", argv: []string{"repo", "view", repo, "--json=visibility"}, env: ghEnv, pass: ghPass}
}

var (
	ghEnv  = []string{"GH_PROMPT_DISABLED=1", "GH_NO_UPDATE_NOTIFIER=1", "GH_PAGER=cat"}
	ghPass = []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_CONFIG_DIR"}
)

// pullMerged knows one terminal state: what is open is a mood, and what is closed can
// be opened again.
func pullMerged(ctx context.Context, l *look, args []string) Sign {
	repo := l.repository(args[0])
	if repo == "" {
		return noSign("the project has no repository on GitHub")
	}
	out := l.tools.run(ctx, ghPull(repo, args[1]))
	var got struct{ State string }
	if !out.json(&got) {
		return noSign(out.silent("gh"))
	}
	if got.State == "MERGED" {
		return seen("pull request " + repo + "#" + args[1] + " is merged")
	}
	return noSign("pull request " + repo + "#" + args[1] + " is not merged so far")
}

func visibilityIs(ctx context.Context, l *look, args []string) Answer {
	repo := l.repository(args[0])
	if repo == "" {
		return unknown("the project has no repository on GitHub")
	}
	out := l.tools.run(ctx, ghVisibility(repo))
	var got struct{ Visibility string }
	if !out.json(&got) || checkOneOf(strings.ToLower(got.Visibility), "public", "private", "internal") != nil {
		return unknown(out.silent("gh"))
	}
	if now := strings.ToLower(got.Visibility); now != args[1] {
		return fails("repository " + repo + " is " + now + ", not " + args[1])
	}
	return holds("repository " + repo + " is " + args[1])
}

// dopplerNames asks for the names of secrets only; values are never read.
func dopplerNames(root string) call {
	return call{tool: "doppler", argv: []string{"secrets", "--only-names", "--json", "--no-check-version", "--no-read-env", "--scope=" + root}, pass: []string{"DOPPLER_TOKEN"}}
}

func secretDeclared(ctx context.Context, l *look, args []string) Sign {
	out := l.tools.run(ctx, dopplerNames(l.site.Root))
	var named map[string]json.RawMessage
	var list []string
	switch {
	case out.json(&named):
		if _, ok := named[args[0]]; ok {
			return seen("secret " + args[0] + " is declared")
		}
	case out.json(&list):
		for _, name := range list {
			if name == args[0] {
				return seen("secret " + args[0] + " is declared")
			}
		}
	default:
		return noSign(out.silent("doppler"))
	}
	return noSign("secret " + args[0] + " is not declared in the configuration of this folder")
}

func awsInstance(id string) call {
	return call{tool: "aws", argv: []string{
		"ec2", "describe-instances", "--instance-ids", id, "--query", "Reservations[].Instances[].State.Name", "--output", "json", "--no-cli-pager",
	}, pass: []string{"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"}}
}

// instanceExists proves nothing by absence: it may be in another region or account.
func instanceExists(ctx context.Context, l *look, args []string) Sign {
	out := l.tools.run(ctx, awsInstance(args[0]))
	var states []string
	if !out.json(&states) {
		return noSign(out.silent("aws"))
	}
	for _, s := range states {
		if s != "terminated" && s != "shutting-down" {
			return seen("instance " + args[0] + " exists")
		}
	}
	return noSign("instance " + args[0] + " is not in this region and account")
}
