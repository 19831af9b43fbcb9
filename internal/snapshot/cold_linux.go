//go:build linux && (amd64 || arm64 || riscv64)

package snapshot

import (
	"syscall"
	"unsafe"
)

// readNow fills b from the start of the file if it is in memory; ok is false if it would
// have to wait for the disk, or the system cannot tell.
func (f *file) readNow(b []byte) (ok bool) {
	const noWait = 8                                                                                           // RWF_NOWAIT
	vec := syscall.Iovec{Base: unsafe.SliceData(b), Len: uint64(len(b))}                                       //nolint:gosec // b stays alive in this function
	n, _, errno := syscall.Syscall6(sysPreadv2, uintptr(f.fd), uintptr(unsafe.Pointer(&vec)), 1, 0, 0, noWait) //nolint:gosec // the form that package unsafe asks for
	f.cold = errno == syscall.EAGAIN
	return errno == 0 && int(n) == len(b)
}

// soon asks the system to read a part of the file, without waiting.
func (f *file) soon(off, n uint64) {
	const willNeed = 3 // POSIX_FADV_WILLNEED
	if f.cold {
		syscall.Syscall6(syscall.SYS_FADVISE64, uintptr(f.fd), uintptr(off), uintptr(n), willNeed, 0, 0) //nolint:errcheck // advice only
	}
}
