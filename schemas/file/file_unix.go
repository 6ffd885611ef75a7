//go:build !windows

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// A Pending is a file in the making, in the folder of the file that it replaces on Commit.
type Pending struct {
	*renameio.PendingFile
	path string // of the file
}

// Create starts the file path, which gets the mode less the process's umask.
func Create(path string, mode fs.FileMode) (*Pending, error) {
	return create(path, renameio.WithPermissions(mode))
}

func replacement(path string, mode fs.FileMode) (*Pending, error) {
	return create(path, renameio.WithPermissions(mode), renameio.WithExistingPermissions())
}

func create(path string, options ...renameio.Option) (*Pending, error) {
	f, err := renameio.NewPendingFile(path, append(options, renameio.WithTempDir(filepath.Dir(path)))...)
	if err != nil {
		return nil, err
	}
	return &Pending{f, path}, nil
}

// keepOwner gives f the owner and group of the file at path, which it is to replace. If there is none, it calls GiveToFolder.
func keepOwner(f *os.File, path string) error {
	old, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return GiveToFolder(f)
	}
	if err != nil {
		return err
	}
	return giveTo(f, old)
}

// GiveToFolder gives a file that root has made to the owner and group of its folder: otherwise the processes of that
// owner could not open it. It does nothing for other users.
func GiveToFolder(f *os.File) error {
	if os.Geteuid() != 0 {
		return nil
	}
	dir, err := os.Stat(filepath.Dir(f.Name()))
	if err != nil {
		return err
	}
	return giveTo(f, dir)
}

// giveTo gives f the owner and group of another file.
func giveTo(f *os.File, other fs.FileInfo) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	has, want := info.Sys().(*syscall.Stat_t), other.Sys().(*syscall.Stat_t)
	if has.Uid == want.Uid && has.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

// Commit makes the content durable and gives the file its name. The name is durable after SyncDir.
func (p *Pending) Commit() error {
	if err := p.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return Did("write", p.path)
}

// Abort removes the file. It does nothing after Commit.
func (p *Pending) Abort() error { return p.Cleanup() }

// Rename gives a closed file or a folder another name, replacing a file of that name. It is durable after SyncDir.
func Rename(from, to string) error { return os.Rename(from, to) }

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return err
	}
	return Did("sync", dir)
}

// Open opens a file for reading. It does not wait for the writer of a pipe.
func Open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) }

// InUse reports whether an error means that another process has the file open. It never does here.
func InUse(error) bool { return false }

// Owner returns the user who owns a file, unless it is absent or the system does not say.
func Owner(path string) (uid int, known bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
