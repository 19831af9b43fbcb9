package main

import (
	"syscall"
	"time"
)

// maxInput is the largest event that is read, in bytes: a prompt with a paste of ten
// million characters fits. Of a larger one nothing can be told.
const maxInput = 48 << 20

// readInput reads stdin to its end; ok is false if it is larger than maxInput or
// cannot be read. The rest of what is too large is read away, since a host may not
// bear a closed pipe.
func readInput() (data []byte, ok bool) {
	buf := make([]byte, 0, 32<<10)
	ok = true
	for {
		if len(buf) == cap(buf) {
			if cap(buf) >= maxInput {
				buf, ok = buf[:0], false
			} else {
				buf = append(make([]byte, 0, min(cap(buf)*4, maxInput)), buf...)
			}
		}
		n, err := syscall.Read(stdin, buf[len(buf):cap(buf)])
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN: // a pipe that does not wait; the deadline ends this
			time.Sleep(time.Millisecond)
			continue
		case err != nil || n < 0:
			return nil, false
		case n == 0:
			return buf, ok
		}
		buf = buf[:len(buf)+n]
	}
}

// writeOutput writes the document with one call: a host must never see half of one,
// unless the pipe itself takes no more at once. os.Stdout is not used, since the
// runtime ends a program whose stdout is closed by a signal.
func writeOutput(data []byte) bool {
	for len(data) > 0 {
		n, err := syscall.Write(stdout, data)
		if n > 0 {
			data = data[n:]
		}
		switch err {
		case nil, syscall.EINTR:
		case syscall.EAGAIN:
			time.Sleep(time.Millisecond)
		default:
			return false
		}
	}
	return true
}
