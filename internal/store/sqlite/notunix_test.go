//go:build !unix

package sqlite

import "testing"

// setUmask returns -1: modes mean nothing here.
func setUmask(int) int { return -1 }

func makeReadOnly(t testing.TB, dir string) func() { return mountReadOnly(t, dir) }
