//go:build !linux

package snapshot

func willNeed([]byte) {}
