package release

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/gofrs/flock"
)

// Names in a releases folder that are no releases. All start with a dot, which no
// release id does.
const (
	builderLock    = ".lock"       // held while a builder works
	storeLock      = ".store-lock" // held while current or the set of releases changes
	deletingPrefix = ".deleting-"
	currentFile    = "current"
	currentNew     = ".current-new"
)

// BuildingPrefix starts the names, in a releases folder, of what belongs to a build at
// work. Create removes what killed builders left under such names.
const BuildingPrefix = ".building-"

// disk does what has to survive a power cut. It calls step after each action with its
// description; an error from step ends the work there, as a kill would, so that a
// test can look at what is left.
type disk struct {
	step    func(action string) error
	noLinks bool // for tests: files get no second names
}

// did reports an action that has been done.
func (d disk) did(action, path string) error {
	if d.step == nil {
		return nil
	}
	return d.step(action + " " + filepath.Base(path))
}

func (d disk) mkdir(path string) error {
	if err := os.Mkdir(path, 0o755); err != nil {
		return err
	}
	return d.did("make", path)
}

// sync makes the content of f durable.
func (d disk) sync(f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return d.did("sync", f.Name())
}

// syncDir makes the names in the folder path durable.
func (d disk) syncDir(path string) error {
	if runtime.GOOS == "windows" { // has no such call
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return d.sync(f)
}

// writeFile creates or replaces path and makes its content durable, not its name.
func (d disk) writeFile(path string, data []byte) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer closeInto(f, &err)
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := d.did("write", path); err != nil {
		return err
	}
	return d.sync(f)
}

// rename gives from the name to and makes that durable. Both are in one folder.
func (d disk) rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	if err := d.did("rename", to); err != nil {
		return err
	}
	return d.syncDir(filepath.Dir(to))
}

// link gives the sealed file from another name, whose folder is still to be synced: where
// the file system cannot, to becomes a durable copy, by way of the name temporary in its folder.
func (d disk) link(from, to, temporary string) error {
	if !d.noLinks {
		if err := os.Link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
			return d.did("link", to)
		}
	}
	temporary = filepath.Join(filepath.Dir(to), temporary)
	if err := d.copyFile(from, temporary); err != nil {
		return err
	}
	return os.Rename(temporary, to)
}

// copyFile makes to a durable copy of from, with its permissions.
func (d disk) copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer closeInto(out, &err)
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	if err := d.did("copy", to); err != nil {
		return err
	}
	return d.sync(out)
}

func (d disk) removeAll(path string) error {
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	return d.did("remove", path)
}

// delete removes a release, which is gone as a whole once it has another name.
func (d disk) delete(path string) error {
	old := filepath.Join(filepath.Dir(path), deletingPrefix+filepath.Base(path))
	if err := d.removeAll(old); err != nil {
		return err
	}
	if err := d.rename(path, old); err != nil {
		return err
	}
	return d.removeAll(old)
}

// removeStale removes what is left in dir under names that start with prefix.
func (d disk) removeStale(dir, prefix string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			if err := d.removeAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// closeInto closes f and keeps its error unless there is one already.
func closeInto(f *os.File, err *error) {
	if cerr := f.Close(); *err == nil {
		*err = cerr
	}
}

// tryLock takes the lock file name in dir, or returns nil when another holds it.
func tryLock(dir, name string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(dir, name))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", l.Path(), err)
	}
	if !ok {
		return nil, nil
	}
	return l, nil
}

// hashFile reads the file path and calls each, unless nil, with its bytes piece by piece.
func hashFile(ctx context.Context, path string, each func([]byte)) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	sha, buf, size := sha256.New(), make([]byte, 256<<10), int64(0)
	for ctx.Err() == nil {
		n, err := f.Read(buf)
		sha.Write(buf[:n])
		size += int64(n)
		if errors.Is(err, io.EOF) {
			return File{Name: filepath.Base(path), Size: size, SHA256: hex.EncodeToString(sha.Sum(nil))}, nil
		}
		if err != nil {
			return File{}, err
		}
		if each != nil {
			each(buf[:n])
		}
	}
	return File{}, ctx.Err()
}

// missing tells whether err says that a file is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
