package sqlite

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

func mountReadOnly(t testing.TB, dir string) func() {
	t.Helper()
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		t.Skipf("skipped: root may write everywhere, and mounting is not allowed here: %v", err)
	}
	back := func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	}
	if err := unix.Mount(dir, dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		back()
		t.Skipf("skipped: root may write everywhere, and mounting is not allowed here: %v", err)
	}
	return back
}

// mountSmall makes dir a disk of its own with room for kib KiB.
func mountSmall(t testing.TB, dir string, kib int) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%dk,mode=0700", kib)); err != nil {
		t.Skipf("skipped: a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
}

// mountLarger gives a disk of mountSmall more room.
func mountLarger(t testing.TB, dir string, kib int) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, fmt.Sprintf("size=%dk,mode=0700", kib)); err != nil {
		t.Fatal(err)
	}
}
