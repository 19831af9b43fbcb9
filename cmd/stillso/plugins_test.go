package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stillso/internal/host"
	"stillso/internal/host/claudecode"
	"stillso/internal/host/codex"
	"stillso/internal/host/cursor"
	"stillso/internal/host/gemini"
	"stillso/internal/settings"
)

var updatePlugins = flag.Bool("update-plugins", false, "write plugins/ anew")

// pluginVersion is that of all plugins: they hold configuration only, and change
// when an event or a line of theirs does.
const pluginVersion = "1.0.0"

const (
	pluginWhat    = "Long-term memory: recalls what earlier sessions decided, and stays silent when nothing fits."
	pluginMissing = "stillso-hook is not on the PATH, so nothing is remembered: put stillso and stillso-hook there, as the README of stillso says"
)

// pluginHooks are the entries of a plugin: they call the hook by its name. Where
// a shell runs them that knows ||, the first one says how to get it if it is not
// there.
func pluginHooks(list []host.Hook, tell bool) (out []settings.Hook) {
	for _, h := range list {
		x := settings.Hook{Event: h.Event, Matcher: h.Matcher, Command: h.Command, Args: h.Args, Timeout: h.Timeout, Name: h.Name, Flat: h.Flat}
		if tell && h.Event == "SessionStart" {
			message, _ := json.Marshal(map[string]string{"systemMessage": pluginMissing})
			x.Command = strings.Join(append([]string{h.Command}, h.Args...), " ") + " || echo '" + string(message) + "'"
			x.Args = nil
		}
		out = append(out, x)
	}
	return out
}

// plugins returns the files of all plugins, by path below plugins.
func plugins(t *testing.T) map[string]string {
	t.Helper()
	hooks := func(list []host.Hook, tell bool) string {
		text, _, err := settings.Install(nil, host.Program, pluginHooks(list, tell))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	doc := func(v any) string {
		data, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		return string(data) + "\n"
	}
	manifest := map[string]any{
		"name": "stillso", "version": pluginVersion, "description": pluginWhat, "license": "Apache-2.0", "author": map[string]string{"name": "The stillso authors"},
		"keywords": []string{"memory", "recall"},
	}
	with := func(more map[string]any) map[string]any {
		out := map[string]any{}
		for _, m := range []map[string]any{manifest, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	return map[string]string{
		".claude-plugin/marketplace.json": doc(map[string]any{
			"name": "stillso", "owner": map[string]string{"name": "The stillso authors"}, "metadata": map[string]string{"description": pluginWhat},
			"plugins": []any{map[string]string{"name": "stillso", "source": "./claude-code", "description": pluginWhat}},
		}),
		"claude-code/.claude-plugin/plugin.json": doc(manifest),
		"claude-code/hooks/hooks.json":           hooks(claudecode.Hooks(host.Program, "linux"), true),
		".agents/plugins/marketplace.json": doc(map[string]any{
			"name": "stillso", "interface": map[string]string{"displayName": "stillso"},
			"plugins": []any{map[string]any{
				"name": "stillso", "source": map[string]string{"source": "local", "path": "./codex"}, "category": "Productivity",
				"policy": map[string]string{"installation": "AVAILABLE", "authentication": "ON_INSTALL"},
			}},
		}),
		"codex/.codex-plugin/plugin.json":   doc(with(map[string]any{"hooks": "./hooks/hooks.json"})),
		"codex/hooks/hooks.json":            hooks(codex.Hooks(host.Program, "linux"), true),
		"gemini/gemini-extension.json":      doc(map[string]any{"name": "stillso", "version": pluginVersion, "description": pluginWhat}),
		"gemini/hooks/hooks.json":           hooks(gemini.Hooks(host.Program, "linux"), false),
		"cursor/.cursor-plugin/plugin.json": doc(with(map[string]any{"hooks": "hooks/hooks.json"})),
		"cursor/hooks/hooks.json":           hooks(cursor.Hooks(host.Program, "linux"), false),
	}
}

// Fault: a plugin registers other events, or other lines, than install does.
func TestPlugins(t *testing.T) {
	root := filepath.Join("..", "..", "plugins")
	want := plugins(t)
	for name, text := range want {
		path := filepath.Join(root, name)
		if *updatePlugins {
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
		if !json.Valid([]byte(text)) {
			t.Errorf("%s is no JSON: %s", name, text)
		}
	}
	if err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if _, ok := want[filepath.ToSlash(rel)]; !ok && err == nil {
			err = fmt.Errorf("%s is not made here", rel)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
