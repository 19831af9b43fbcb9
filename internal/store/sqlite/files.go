package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"stillso"

	"github.com/gofrs/flock"
)

// lockPatience is how long a writer waits for the lock file. It is held for
// milliseconds, except by purge, repair and migration.
const lockPatience = time.Minute

// locked runs f while no other process, and no other goroutine of this one,
// writes segments, migrates, purges or repairs. The order is fixed: first this
// lock, then a transaction of the database, never the other way round.
func (s *Store) locked(ctx context.Context, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return withLock(ctx, s.dir, lockPatience, f)
}

func withLock(ctx context.Context, dir string, patience time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	l := flock.New(filepath.Join(dir, lockFile), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, 2*time.Millisecond)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: another process holds %s; try again", stillso.ErrBusy, lockFile)
	}
	if err != nil || !ok {
		return fmt.Errorf("lock the store: %w", err)
	}
	defer l.Close() //nolint:errcheck // closing releases the lock in any case
	return f()
}

// checkFolder makes sure that dir is a folder of this user with files and no
// links in it. It is created, and closed to others, if write is set.
func checkFolder(dir string, write bool) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if !write {
			return fmt.Errorf("%w: there is no store", stillso.ErrNotFound)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("create the folder: %w", err)
		}
		info, err = os.Lstat(dir)
	}
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link: name the folder that it points to", dir)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder: remove it or choose another home", dir)
	}
	if err := checkOwner(info); err != nil {
		return err
	}
	for _, name := range []string{dbFile, dbFile + "-wal", dbFile + "-shm", dbFile + "-journal", headFile, lockFile, journalDir, backupDir} {
		info, err := os.Lstat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		want := fs.FileMode(0)
		if name == journalDir || name == backupDir {
			want = fs.ModeDir
		}
		if info.Mode().Type() != want {
			return fmt.Errorf("%s is a %s: a store consists of plain files; remove it, then run stillso repair", name, kindOf(info.Mode()))
		}
	}
	return nil
}

func kindOf(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m.IsDir():
		return "folder"
	case m.IsRegular():
		return "plain file"
	}
	return "special file"
}

// closeToOthers takes the rights of everybody else away from the folder and the
// files of the store, whatever the umask was when they were made.
func closeToOthers(dir string) error {
	for _, name := range []string{"", dbFile, dbFile + "-wal", dbFile + "-shm", headFile, lockFile, journalDir, backupDir} {
		p := filepath.Join(dir, name)
		info, err := os.Lstat(p)
		if err != nil || info.Mode().Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(p, info.Mode().Perm()&0o700); err != nil {
			return err
		}
	}
	return nil
}

// putFile replaces the file at path in one step. It is not flushed to the disk.
func putFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".new-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// syncDir makes the names in a folder durable, where the system can do so.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync() // Windows and some network disks refuse; the names are then theirs to keep
		_ = d.Close()
	}
}
