//go:build unix

package sqlite

import (
	"os"
	"syscall"
	"testing"
)

func setUmask(mask int) int { return syscall.Umask(mask) }

// makeReadOnly makes the folder one that nothing can be written into: by its
// mode or, for root, by mounting it read-only on itself. It returns the way back.
func makeReadOnly(t testing.TB, dir string) func() {
	t.Helper()
	if os.Geteuid() != 0 {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		return func() {
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Error(err)
			}
		}
	}
	return mountReadOnly(t, dir)
}
