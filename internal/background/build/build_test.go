package build

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the shipped table anew")

// The shipped table must be what this program makes of the published counts, and
// small enough to sit in the hook's binary.
func TestShipped(t *testing.T) {
	shared := os.Getenv("STILLSO_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "..", "shared")
	}
	dir := filepath.Join(shared, "background")
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is expected in CI: %v", dir, err)
		}
		t.Skipf("no background counts: %v", err)
	}
	got, err := Table(dir)
	if err != nil {
		t.Fatal(err)
	}
	const file = "../table.bin"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the shipped table (%d bytes) is not what the counts give (%d bytes): run go generate ./internal/background", len(want), len(got))
	}
	if len(got) > 400<<10 {
		t.Errorf("the table has %d bytes", len(got))
	}
}
