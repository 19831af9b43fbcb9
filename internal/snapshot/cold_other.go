//go:build !linux || !(amd64 || arm64 || riscv64)

package snapshot

func (f *file) readNow([]byte) bool { return false }

func (f *file) soon(uint64, uint64) {}
