package sqlite

import (
	"testing"

	"stillso/internal/store/storetest"
)

// openTest opens a store in dir and closes it when the test ends.
func openTest(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t testing.TB) storetest.Store { return openTest(t, t.TempDir()+"/home") })
}
