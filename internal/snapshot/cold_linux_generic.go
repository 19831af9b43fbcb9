//go:build linux && (arm64 || riscv64)

package snapshot

const sysPreadv2 = 286
