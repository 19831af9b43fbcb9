//go:build !linux

package sqlite

import "testing"

func mountReadOnly(t testing.TB, _ string) func() {
	t.Helper()
	t.Skip("skipped: root may write everywhere, and mounting needs Linux")
	return nil
}

func mountSmall(t testing.TB, _ string, _ int) {
	t.Helper()
	t.Skip("skipped: a small disk can be mounted on Linux only")
}

func mountLarger(testing.TB, string, int) {}
