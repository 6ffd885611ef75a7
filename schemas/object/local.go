package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/reelsplice/reelsplice/schemas/durable"
)

// Local is a Folder of a file system, which processes of several machines may share. It is made by the first
// file. Names whose last element starts with a dot are its own: files in the making, and a lock.
type Local string

var _ Folder = Local("")

// String returns the path.
func (l Local) String() string { return string(l) }

// Path implements Folder.
func (l Local) Path(name string) (string, bool) { return l.path(name), true }

// URL implements Folder.
func (l Local) URL(name string) string { return l.path(name) }

func (l Local) path(name string) string { return filepath.Join(string(l), filepath.FromSlash(name)) }

// Close does nothing.
func (l Local) Close() error { return nil }

// Stat implements Folder.
func (l Local) Stat(_ context.Context, name string) (Info, error) {
	st, err := os.Stat(l.path(name))
	if err != nil {
		return Info{}, err
	}
	if st.IsDir() {
		return Info{}, fmt.Errorf("%s: %w: it is a folder", l.path(name), fs.ErrNotExist)
	}
	return infoOf(name, st), nil
}

func infoOf(name string, st fs.FileInfo) Info {
	return Info{Key: name, Size: st.Size(), ModTime: st.ModTime(), ETag: strconv.FormatInt(st.Size(), 36) + "-" + strconv.FormatInt(st.ModTime().UnixNano(), 36)}
}

// List implements Folder.
func (l Local) List(ctx context.Context, prefix string) (all []Info, err error) {
	root := l.path(prefix[:strings.LastIndex(prefix, "/")+1])
	// The separator makes a link of the folder itself.
	err = filepath.WalkDir(root+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		switch {
		case os.IsNotExist(err):
			return nil // it may go at any time
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		rel, err := filepath.Rel(string(l), path)
		name := filepath.ToSlash(rel)
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), ".") || !strings.HasPrefix(name, prefix) {
			return err
		}
		st, err := os.Stat(path) // a link is what it leads to
		if os.IsNotExist(err) || err == nil && st.IsDir() {
			return nil
		}
		if err != nil {
			return err
		}
		all = append(all, infoOf(name, st))
		return nil
	})
	sortByKey(all)
	return all, err
}

// ReadAll implements Folder.
func (l Local) ReadAll(_ context.Context, name string) ([]byte, Info, error) {
	f, err := durable.Open(l.path(name))
	if err != nil {
		return nil, Info{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, Info{}, err
	}
	data, err := io.ReadAll(f)
	return data, infoOf(name, st), err
}

// open opens a version.
func (l Local) open(o Info) (*os.File, error) {
	f, err := durable.Open(l.path(o.Key))
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && infoOf(o.Key, st).ETag != o.ETag {
		err = fmt.Errorf("%s: %w", l.path(o.Key), ErrChanged)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadRange implements Folder.
func (l Local) ReadRange(_ context.Context, o Info, off, n int64) ([]byte, error) {
	f, err := l.open(o)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, n)
	if _, err := f.ReadAt(data, off); err != nil {
		return nil, fmt.Errorf("%s: read %d bytes at offset %d: %w", l.path(o.Key), n, off, err)
	}
	return data, nil
}

// NewReader implements Folder.
func (l Local) NewReader(_ context.Context, o Info) io.ReadCloser {
	f, err := l.open(o)
	if err != nil {
		return failedReader{err}
	}
	return f
}

// A failedReader has nothing to read but an error.
type failedReader struct{ err error }

func (r failedReader) Read([]byte) (int, error) { return 0, r.err }
func (r failedReader) Close() error             { return nil }

// temporary makes a hidden file of the folder that name lies in, for a file in the making.
func (l Local) temporary(name string) (*os.File, error) {
	dir := filepath.Dir(l.path(name))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return nil, err
	}
	return f, f.Chmod(0o644)
}

// Create implements Folder: a hard link gives a whole file its name unless it is taken.
func (l Local) Create(_ context.Context, name string, data []byte) error {
	f, err := l.temporary(name)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return os.Link(f.Name(), l.path(name))
}

// lockWait is how often the lock is asked for.
const lockWait = 10 * time.Millisecond

// Replace implements Folder.
func (l Local) Replace(ctx context.Context, old Info, data []byte) error {
	lock := flock.New(filepath.Join(filepath.Dir(l.path(old.Key)), ".replace-lock"))
	if ok, err := lock.TryLockContext(ctx, lockWait); err != nil || !ok {
		return fmt.Errorf("lock %s: %w", lock.Path(), err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process does it otherwise
	now, err := l.Stat(ctx, old.Key)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if now.ETag != old.ETag {
		return fmt.Errorf("%s: %w", l.path(old.Key), ErrChanged)
	}
	return l.Put(ctx, old.Key, data)
}

// Put implements Folder.
func (l Local) Put(_ context.Context, name string, data []byte) error {
	path := l.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return durable.WriteFile(path, data, 0o644)
}

// Upload implements Folder.
func (l Local) Upload(_ context.Context, name string, r io.ReaderAt, size int64) error {
	f, err := l.temporary(name)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when all went well
	defer f.Close()
	if _, err := io.Copy(f, io.NewSectionReader(r, 0, size)); err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil { // Windows renames no open file
		return err
	}
	return durable.Rename(f.Name(), l.path(name))
}

// Copy implements Folder: the file gets a second name where the file system has those.
func (l Local) Copy(_ context.Context, from Folder, o Info, name string) error {
	path, ok := from.Path(o.Key)
	if !ok {
		return errors.ErrUnsupported
	}
	temporary, err := l.temporary(name)
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone already when all went well
	if err := errors.Join(temporary.Close(), os.Remove(temporary.Name())); err != nil {
		return err
	}
	if err := os.Link(path, temporary.Name()); err != nil {
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return durable.Rename(temporary.Name(), l.path(name))
}

// Delete implements Folder. Folders that become empty go too.
func (l Local) Delete(_ context.Context, name string) error {
	if err := os.Remove(l.path(name)); err != nil && !os.IsNotExist(err) {
		return err
	}
	dir := filepath.Dir(l.path(name))
	for dir != filepath.Clean(string(l)) && os.Remove(dir) == nil { // a folder with other files stays
		dir = filepath.Dir(dir)
	}
	return nil
}
