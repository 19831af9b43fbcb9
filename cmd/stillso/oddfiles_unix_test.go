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
