package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts call stillso as a program of its own: a process a
// command, as people do.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"stillso": main, "plain": plainUser,
		"stillso-hook": func() {}, // what install looks for; scripts do not call it
	})
}

// TestScripts runs testdata/script. Each script is headed by the fault that it
// guards against. Besides the commands of testscript there are
//
//	exits CODE command...   the command ends with this exit code
//	get NAME path           sets a variable to a part of the JSON on standard output
//	json                    standard output is one JSON document
//	nowhere TEXT dir...     no file below the folders holds the text
//	zero FILE [n]           overwrites the first n bytes of a file, or all, with zeros
//	plain command...        as exec, without root's right to ignore permissions
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("STILLSO_HOME", filepath.Join(home, "my store"))
			e.Setenv("XDG_DATA_HOME", "")
			e.Setenv("STILLSO_LLM", "none") // a test never calls out
			e.Setenv("TZ", "UTC")
			e.Setenv("COLUMNS", "100")
			return os.MkdirAll(filepath.Join(home, "proj"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "get": get, "json": isJSON, "nowhere": nowhere, "zero": zero,
		},
		Condition: func(c string) (bool, error) {
			if c == "can-be-read-only" { // where permissions can bind this process
				return canBePlain() || os.Getuid() > 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", c)
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE command...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func get(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: get NAME path")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for part := range strings.SplitSeq(args[1], ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			i, err := strconv.Atoi(part)
			ts.Check(err)
			if i >= len(x) {
				ts.Fatalf("%s: %d items", args[1], len(x))
			}
			v = x[i]
		default:
			ts.Fatalf("%s: %q is in no object", args[1], part)
		}
	}
	if v == nil {
		ts.Fatalf("%s is not there", args[1])
	}
	ts.Setenv(args[0], fmt.Sprint(v))
}

func isJSON(ts *testscript.TestScript, neg bool, _ []string) {
	if out := ts.ReadFile("stdout"); json.Valid([]byte(out)) == neg {
		ts.Fatalf("standard output: %q", out)
	}
}

func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	found := ""
	for _, dir := range args[1:] {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if bytes.Contains(b, []byte(args[0])) {
				found = path
			}
			return err
		}))
	}
	if (found != "") != neg {
		ts.Fatalf("%q: found in %q", args[0], found)
	}
}

func zero(ts *testscript.TestScript, neg bool, args []string) {
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	n := info.Size()
	if len(args) > 1 {
		v, err := strconv.ParseInt(args[1], 10, 64)
		ts.Check(err)
		n = min(n, v)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	ts.Check(err)
	_, err = f.Write(make([]byte, n))
	ts.Check(errors.Join(err, f.Close()))
}
