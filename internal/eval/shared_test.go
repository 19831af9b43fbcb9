package eval

import (
	"os"
	"path/filepath"
	"testing"
)

// sharedDir returns a folder of the data for measuring, or skips.
func sharedDir(t *testing.T, parts ...string) string {
	t.Helper()
	root := os.Getenv("STILLSO_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	dir := filepath.Join(append([]string{root}, parts...)...)
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is expected in CI: %v", dir, err)
		}
		t.Skipf("no data for measuring: %v", err)
	}
	return dir
}
