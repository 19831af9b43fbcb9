// Package home knows where everything of stillso lives on disk, and the small files
// that hooks append to: the spool. It takes no lock: a line is appended with one
// write, and who drains a file renames it first.
package home

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Dir is the home directory of a store.
type Dir string

// Locate returns the home directory that the environment names: $STILLSO_HOME, else
// $XDG_DATA_HOME/stillso, else ~/.local/share/stillso (%LOCALAPPDATA%\stillso on
// Windows). It need not exist. Relative paths in the environment are not taken:
// they would name another store in every directory.
func Locate(getenv func(string) string) (Dir, error) {
	if d := getenv("STILLSO_HOME"); d != "" {
		if !filepath.IsAbs(d) {
			return "", fmt.Errorf("STILLSO_HOME is %q: it must be an absolute path", d)
		}
		return Dir(filepath.Clean(d)), nil
	}
	if d := getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return Dir(filepath.Join(d, "stillso")), nil
	}
	if runtime.GOOS == "windows" {
		if d := getenv("LOCALAPPDATA"); filepath.IsAbs(d) {
			return Dir(filepath.Join(d, "stillso")), nil
		}
	}
	key := "HOME"
	if runtime.GOOS == "windows" {
		key = "USERPROFILE"
	}
	d := getenv(key)
	if !filepath.IsAbs(d) {
		return "", fmt.Errorf("no home directory: STILLSO_HOME is not set and %s is %q", key, d)
	}
	return Dir(filepath.Join(d, ".local", "share", "stillso")), nil
}

// String is the path; the files of the snapshot stand directly in it.
func (d Dir) String() string { return string(d) }

func (d Dir) at(name string) string { return filepath.Join(string(d), name) }

// Config is the file of the person's settings.
func (d Dir) Config() string { return d.at("config.toml") }

// Store is the database.
func (d Dir) Store() string { return d.at("store.db") }

// Head is the sidecar of the store: instance and head of the journal.
func (d Dir) Head() string { return d.at("store.head") }

// Journal is the directory of the journal's segments.
func (d Dir) Journal() string { return d.at("journal") }

// Places is the registry of namespaces.
func (d Dir) Places() string { return d.at("places.tsv") }

// Spool is the directory of what hooks append.
func (d Dir) Spool() string { return d.at("spool") }

// SweepLock makes the sweep single.
func (d Dir) SweepLock() string { return d.at("sweep.lock") }

// SweepLog is where the sweep says what it did.
func (d Dir) SweepLog() string { return filepath.Join(d.at("log"), "sweep.log") }

// SweepMark is touched whenever a sweep is started.
func (d Dir) SweepMark() string { return filepath.Join(d.Spool(), "sweep.started") }

// Create makes the directory and its parts, 0700, and checks it as Check does.
func (d Dir) Create() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("home directory: %w", err)
	}
	if err := d.Check(); err != nil {
		return err
	}
	for _, sub := range []string{"journal", "spool", filepath.Join("spool", "sessions"), "log"} {
		if err := os.MkdirAll(d.at(sub), 0o700); err != nil {
			return fmt.Errorf("home directory: %w", err)
		}
	}
	return nil
}

// ErrUnsafe says that others may write into the home directory, so that nothing in it
// can be trusted.
var ErrUnsafe = errors.New("home directory is not safe")

// Check refuses a home directory that is not one, belongs to somebody else, or can be
// written by others. It is one system call.
func (d Dir) Check() error {
	info, err := os.Stat(string(d))
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%w: %s is not a directory; move it away or set STILLSO_HOME", ErrUnsafe, d)
	}
	return d.checkOwner(info)
}

// Exists reports whether there is a home directory.
func (d Dir) Exists() bool {
	_, err := os.Stat(string(d))
	return !errors.Is(err, fs.ErrNotExist)
}

// OpenFile opens a file of the home directory with mode 0600, without following a link
// in its place and without waiting for the other end of a pipe. What is no plain file
// is an error that is ErrNotPlain.
func OpenFile(path string, flag int) (*os.File, error) {
	return plain(os.OpenFile(path, flag|noFollow|noWait, 0o600))
}

// ErrNotPlain says that a folder, a link or a special file stands where stillso keeps a
// plain file.
var ErrNotPlain = errors.New("no plain file; move it away, it is made anew")

func plain(f *os.File, err error) (*os.File, error) {
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: f.Name(), Err: ErrNotPlain}
	}
	if err != nil {
		f.Close() //nolint:errcheck,gosec // nothing was written
		return nil, err
	}
	return f, nil
}

// ReadFile reads a file that a person keeps in the home directory, or has linked from
// there, up to limit bytes. It never waits: what is no plain file is ErrNotPlain.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := plain(os.OpenFile(path, os.O_RDONLY|noWait, 0)) // #nosec G304 -- the path is one of ours
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("larger than %d bytes", limit)}
	}
	return data, err
}
