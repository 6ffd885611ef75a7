//go:build !windows

package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// A Pending is an unfinished file, in the folder of the file that Commit replaces.
type Pending struct {
	*renameio.PendingFile
	path string // path of the file to replace
}

// Create starts a replacement for path, which gets mode less the umask.
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

// keepOwner gives f the owner and group of the file at path, its predecessor. Without one, it calls
// GiveToFolder.
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

// GiveToFolder gives a file created by root to the owner and group of its folder, whose processes could not open it
// otherwise. It does nothing for other users.
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
	current, wanted := info.Sys().(*syscall.Stat_t), other.Sys().(*syscall.Stat_t)
	if current.Uid == wanted.Uid && current.Gid == wanted.Gid {
		return nil
	}
	return f.Chown(int(wanted.Uid), int(wanted.Gid))
}

// Commit syncs the content and puts the file in place. The name is durable after SyncDir.
func (p *Pending) Commit() error {
	if err := p.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return Did("write", p.path)
}

// Abort removes the temporary file. It does nothing after Commit.
func (p *Pending) Abort() error { return p.Cleanup() }

// Rename renames a closed file or a folder, replacing a file of that name. It is durable after SyncDir.
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

// Open opens a file for reading. It never blocks on a pipe.
func Open(path string) (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) }

// InUse reports whether an error means that another process has the file open. On Unix it is always false.
func InUse(error) bool { return false }

// Owner returns the user who owns a file; false if the file is absent or the system does not report it.
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

// Map maps the first size bytes of f, size > 0. They stay valid after f is closed, until Unmap. If f shrinks
// meanwhile, reading the lost part faults.
func Map(f *os.File, size int) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Requests access pages at random: reading ahead would fill memory with unused pages.
	_ = unix.Madvise(b, unix.MADV_RANDOM) // the system may ignore the hint
	return b, nil
}

// ReadAhead announces a sequential read of a mapping.
func ReadAhead(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_NORMAL) // the system may ignore the hint
	}
}

// Drop removes a mapping's pages from the memory of the process; the next access reads them again.
func Drop(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_DONTNEED) // the system may ignore the hint
	}
}

// Unmap removes a mapping.
func Unmap(b []byte) error { return unix.Munmap(b) }
