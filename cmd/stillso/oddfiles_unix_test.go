//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe, a folder or a link in place of a file of the home must not hang a command
// for ever, and doctor must name it.
func TestOddFilesAreNamedAndNeverWaitedFor(t *testing.T) {
	for _, name := range []string{
		"config.toml", "sweep.lock", "snapshot.lock", "log/sweep.log", "spool/receipts.jsonl.taken", "spool/queue.jsonl", "spool/queue.jsonl.taken",
	} {
		for kind, put := range map[string]func(string) error{
			"pipe":   func(p string) error { return syscall.Mkfifo(p, 0o600) },
			"folder": func(p string) error { return os.Mkdir(p, 0o700) },
		} {
			t.Run(name+" "+kind, func(t *testing.T) {
				d := newDesk(t)
				d.remember("The billing service is deployed with the zanzibar script")
				path := filepath.Join(d.env["STILLSO_HOME"], filepath.FromSlash(name))
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if err := put(path); err != nil {
					t.Fatal(err)
				}
				for _, args := range [][]string{{"doctor"}, {"sweep"}, {"why"}, {"recall", "--dir", d.proj, "deploy the billing service"}} {
					var out, errOut string
					code, ended := 0, make(chan bool)
					go func() {
						defer close(ended)
						out, errOut, code = d.try(args...)
					}()
					select {
					case <-ended:
					case <-time.After(20 * time.Second):
						t.Fatalf("%s waits", args[0])
					}
					if args[0] == "doctor" && (code != exitProblems || !strings.Contains(out, filepath.Base(path))) {
						t.Errorf("doctor: exit %d\n%s%s", code, out, errOut)
					}
					if args[0] == "recall" && !strings.Contains(out, "zanzibar") {
						t.Errorf("recall: exit %d\n%s%s", code, out, errOut)
					}
				}
			})
		}
	}
}

// A home that cannot be read must not be taken for an empty one by any command: the
// person would start anew and believe that all is lost.
func TestUnreadableHomeIsNotAnEmptyOne(t *testing.T) {
	for name, spoil := range map[string]func(dir string) error{
		"a file": func(dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, nil, 0o600)
		},
		"closed to its owner": func(dir string) error { return os.Chmod(dir, 0) },
		"open to others":      func(dir string) error { return os.Chmod(dir, 0o777) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "closed to its owner" && os.Geteuid() == 0 {
				t.Skip("root reads everything")
			}
			d := newDesk(t)
			d.remember("The billing service is deployed with the zanzibar script")
			dir := d.env["STILLSO_HOME"]
			if err := spoil(dir); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(dir, 0o700) }) //nolint:errcheck // so that it can be removed
			for _, args := range [][]string{
				{"list"},
				{"list", "--all"},
				{"remember", "A new fact about okapi"},
				{"recall", "deploy the billing service"},
				{"search", "zanzibar"},
				{"export"},
				{"sweep"},
				{"doctor"},
				{"journal"},
			} {
				out, errOut, code := d.try(args...)
				if code != exitProblems && code != exitUsage || !strings.Contains(out+errOut, dir) || strings.Contains(errOut+out, "nothing was saved") {
					t.Errorf("%s: exit %d\n%s%s", args, code, out, errOut)
				}
			}
		})
	}
}

// An export into a pipe or a device must not put a plain file in its place, and what
// it writes must hold nothing that a terminal obeys.
func TestExportIntoAPipe(t *testing.T) {
	d := newDesk(t)
	d.remember("The okapi \u009b31m server \u202e listens")
	pipe := filepath.Join(d.proj, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		b, err := os.ReadFile(pipe)
		if err != nil {
			t.Error(err)
		}
		read <- string(b)
	}()
	d.must("export", pipe)
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Fatalf("the pipe is %v %v", info, err)
	}
	for _, text := range []string{<-read, d.must("export"), d.must("--json", "export")} {
		if !strings.Contains(text, "okapi") || strings.ContainsAny(text, "\u009b\u202e\x7f") {
			t.Errorf("%q", text)
		}
	}
}
