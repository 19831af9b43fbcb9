package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"stillso/internal/host"
	"stillso/internal/host/codex"
	"stillso/internal/settings"
)

// codexTime is how long Codex may take to answer.
const codexTime = 30 * time.Second

// codexHook is a hook as Codex lists it.
type codexHook struct {
	Key     string `json:"key"`
	Command string `json:"command"`
	Source  string `json:"sourcePath"`
	Hash    string `json:"currentHash"`
	Trust   string `json:"trustStatus"` // trusted, untrusted, modified
	Enabled bool   `json:"enabled"`
}

// trustKeep is the record of what was trusted.
func (a *app) trustKeep() string { return a.keepFile(codex.Name + "-trust") }

// trustCodex tells Codex, through its own interface, to trust the hooks of ours
// that stand in the user's hooks.json, and no others. It is a person's consent:
// called only after an explicit yes.
func (a *app) trustCodex(ctx context.Context, h assistant) error {
	c, err := a.codexServer(ctx, h)
	if err != nil {
		return err
	}
	defer c.close()
	list, err := c.hooks(h.settings)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return errors.New("Codex lists no hook of ours: it is too old, or its hooks are switched off ([features] hooks in config.toml)") //nolint:staticcheck // a name
	}
	return settings.Record(codex.Places(h.dir).Config(), a.trustKeep(), func() ([]string, error) {
		value, names := map[string]any{}, []string(nil)
		for _, x := range list {
			value[x.Key] = map[string]string{"trusted_hash": x.Hash}
			names = append(names, x.Key)
		}
		err := c.call("config/batchWrite", map[string]any{
			"edits": []any{map[string]any{"keyPath": "hooks.state", "value": value, "mergeStrategy": "upsert"}},
		}, nil)
		return names, err
	})
}

// planDistrust works out how config.toml looks without what was trusted.
func (a *app) planDistrust(h assistant) (*settings.Plan, error) {
	var names []string
	if text, err := os.ReadFile(h.settings); err == nil { // #nosec G304 -- the settings of the host
		for _, x := range settings.Positions(text, host.Program) {
			names = append(names, fmt.Sprintf("%s:%s:%d:%d", h.settings, snake(x.Event), x.Group, x.Index))
		}
	}
	return settings.PlanTables(codex.Places(h.dir).Config(), a.trustKeep(), []string{"hooks", "state"}, names)
}

// snake writes SessionEnd as session_end.
func snake(s string) string {
	return strings.ToLower(regexp.MustCompile(`([a-z])([A-Z])`).ReplaceAllString(s, "${1}_$2"))
}

// codexServer is `codex app-server`, spoken to in JSON-RPC over its standard
// streams.
type codexServer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  *bufio.Scanner
	cancel context.CancelFunc
	id     int
}

func (a *app) codexServer(ctx context.Context, h assistant) (*codexServer, error) {
	program := h.program(a)
	if program == "" {
		return nil, errors.New("its program, codex, is not on the PATH")
	}
	ctx, cancel := context.WithTimeout(ctx, codexTime)
	cmd := exec.CommandContext(ctx, program, "app-server") // #nosec G204 -- the host's own program
	cmd.Env = append(os.Environ(), host.SuppressVariable+"=1", "CODEX_HOME="+h.dir)
	if home := a.userHome(); home != "" {
		cmd.Dir = home
	}
	cmd.WaitDelay = time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("codex cannot be started: %w", err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("codex cannot be started: %w", err)
	}
	c := &codexServer{cmd: cmd, in: in, lines: bufio.NewScanner(out), cancel: cancel}
	c.lines.Buffer(nil, 16<<20)
	info := map[string]any{"clientInfo": map[string]string{"name": "stillso", "title": "stillso", "version": buildVersion().Version}}
	if err := c.call("initialize", info, nil); err != nil {
		c.close()
		return nil, err
	}
	if err := c.send(map[string]any{"method": "initialized"}); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// hooks lists our hooks that stand in a file.
func (c *codexServer) hooks(file string) ([]codexHook, error) {
	var got struct {
		Data []struct {
			Hooks []codexHook `json:"hooks"`
		} `json:"data"`
	}
	if err := c.call("hooks/list", map[string]any{"cwds": []string{c.cmd.Dir}}, &got); err != nil {
		return nil, err
	}
	var list []codexHook
	for _, d := range got.Data {
		for _, x := range d.Hooks {
			if settings.Program(x.Command) == host.Program && sameFile(x.Source, file) {
				list = append(list, x)
			}
		}
	}
	return list, nil
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return a == b || err == nil && err2 == nil && os.SameFile(x, y)
}

func (c *codexServer) send(message map[string]any) error {
	data, err := json.Marshal(message)
	if err == nil {
		_, err = c.in.Write(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("codex does not listen: %w", err)
	}
	return nil
}

// call sends a request and waits for its answer; what comes in between is passed
// over.
func (c *codexServer) call(method string, params, result any) error {
	c.id++
	if err := c.send(map[string]any{"id": c.id, "method": method, "params": params}); err != nil {
		return err
	}
	for c.lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(c.lines.Bytes(), &m) != nil || m.Method != "" || string(m.ID) != fmt.Sprint(c.id) {
			continue
		}
		if m.Error != nil {
			return fmt.Errorf("codex refuses %s: %s", method, oneLine(m.Error.Message))
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(m.Result, result)
	}
	return fmt.Errorf("codex did not answer %s: it is too old, or it was stopped", method)
}

func (c *codexServer) close() {
	_ = c.in.Close() // it ends by itself then
	timer := time.AfterFunc(2*time.Second, c.cancel)
	_ = c.cmd.Wait() // how it ends does not matter
	timer.Stop()
	c.cancel()
}
