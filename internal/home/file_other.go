//go:build !unix

package home

import (
	"io"
	"io/fs"
	"os"
)

// appendFile adds data to a regular file with one write. A file of MaxSpool is full.
func appendFile(path string, data []byte) error {
	f, err := OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // the write itself is checked
	if info, err := f.Stat(); err == nil && (info.Size() > MaxSpool || !info.Mode().IsRegular()) {
		return &fs.PathError{Op: "open", Path: path, Err: errFull}
	}
	_, err = f.Write(data)
	return err
}

// readEnd reads at most limit bytes of the end of a regular file.
func readEnd(path string, limit int) ([]byte, error) {
	f, err := OpenFile(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // read only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(max(0, info.Size()-int64(limit)), io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(f, int64(limit)))
}
