//go:build unix

package verify

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"stillso"
)

// A pipe in the place of a file must not hold a run up for ever.
func TestPipes(t *testing.T) {
	b := newBench(t, "See src/a.go, `make x`, the branch `fix/x-1` and the function `parseThis` in it.", "DATABASE_URL stands in .env.local, the variable.")
	b.site.GitDir = filepath.Join(b.site.Root, ".git")
	for _, dir := range []string{"src", ".git/refs"} {
		if err := os.MkdirAll(filepath.Join(b.site.Root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"src/a.go", "Makefile", ".gitignore", ".gitmodules", ".env.local", "go.mod", ".git/packed-refs", ".git/refs/remotes", ".git/refs/heads"} {
		if err := syscall.Mkfifo(filepath.Join(b.site.Root, p), 0o600); err != nil {
			t.Skip(err)
		}
	}
	begin := time.Now()
	r, _ := b.run()
	if took := time.Since(begin); took > ProbeTime || len(r.Checked) < 4 {
		t.Errorf("%v, %d claims", took, len(r.Checked))
	}
	for _, c := range r.Checked {
		if c.Claim.Probe == "target" && c.Claim.Verdict != stillso.Unknown {
			t.Errorf("%+v", c)
		}
	}
}
