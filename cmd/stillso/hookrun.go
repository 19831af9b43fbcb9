package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// hookName is the file name of the hook's binary.
func hookName() string {
	if runtime.GOOS == "windows" {
		return "stillso-hook.exe"
	}
	return "stillso-hook"
}

// findHook returns the absolute path of stillso-hook: beside this binary, else
// on the PATH.
func findHook() (string, error) {
	self, err := os.Executable()
	if err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		path := filepath.Join(filepath.Dir(self), hookName())
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path, nil
		}
	}
	path, err := exec.LookPath(hookName())
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", usagef("cannot find %s: it is neither beside %s nor on the PATH; build both with `make build`, or put them into one directory", hookName(), self)
	}
	return path, nil
}

// answer is what the hook's process did with one prompt.
type answer struct {
	Context string        `json:"context"`
	Took    time.Duration `json:"-"`
}

// askHook runs the hook as the assistant does: a cold process, JSON in, JSON or
// nothing out. Took is the whole life of the process.
func askHook(ctx context.Context, hook, home, session, dir, prompt string) (answer, error) {
	in, err := json.Marshal(map[string]string{
		"session_id": session, "transcript_path": "", "cwd": dir, "hook_event_name": "UserPromptSubmit", "prompt": prompt,
	})
	if err != nil {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, hook, "claude-code", "prompt") // #nosec G204 -- our own binary
	cmd.Stdin = bytes.NewReader(in)
	cmd.Env = append(os.Environ(), "STILLSO_HOME="+home, "STILLSO_SUPPRESS=0")
	var out bytes.Buffer
	cmd.Stdout = &out
	begin := time.Now()
	err = cmd.Run()
	a := answer{Took: time.Since(begin)}
	if err != nil {
		return a, fmt.Errorf("cannot run %s: %w", hook, err)
	}
	if out.Len() == 0 {
		return a, nil
	}
	var doc struct {
		Out struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		return a, errors.Join(errors.New("the hook printed no JSON"), err)
	}
	a.Context = doc.Out.Context
	return a, nil
}
