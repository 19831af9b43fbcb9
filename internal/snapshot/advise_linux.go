package snapshot

import "syscall"

// willNeed asks for a part of the mapped file before it is touched.
func willNeed(data []byte) {
	syscall.Madvise(data, syscall.MADV_WILLNEED) //nolint:errcheck,gosec // advice only
}
