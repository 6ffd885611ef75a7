package file

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A Pending is an unfinished file, in the folder of the file that Commit replaces.
type Pending struct {
	*os.File
	path string
	done bool // Commit or Abort has been called
}

// Create starts a replacement for path. Its permissions come from the folder: Windows ignores the mode.
func Create(path string, _ fs.FileMode) (*Pending, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"*")
	if err != nil {
		return nil, err
	}
	return &Pending{File: f, path: path}, nil
}

func replacement(path string, mode fs.FileMode) (*Pending, error) { return Create(path, mode) }

// keepOwner does nothing: the folder determines permissions.
func keepOwner(*os.File, string) error { return nil }

// GiveToFolder does nothing: the folder determines permissions.
func GiveToFolder(*os.File) error { return nil }

// Commit durably puts the file in place.
func (p *Pending) Commit() error {
	if p.done {
		return fs.ErrClosed
	}
	p.done = true
	err := errors.Join(p.Sync(), p.Close())
	if err == nil {
		err = Rename(p.Name(), p.path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(p.Name()))
	}
	return Did("write", p.path)
}

// Abort removes the temporary file. It does nothing after Commit.
func (p *Pending) Abort() error {
	if p.done {
		return nil
	}
	p.done = true
	return errors.Join(p.Close(), os.Remove(p.Name()))
}

// patience is how long Rename and Open wait for other processes to close a file. Our readers keep small files open
// for microseconds; virus scanners keep new ones open for longer.
var patience = 2 * time.Second

// Rename durably renames a closed file or a folder, replacing a file of that name. If only Open has that file open,
// it is replaced at once on file systems that can, such as NTFS. Rename waits for other readers.
func Rename(from, to string) error {
	a, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	b, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	err = retry(func() error {
		err := windows.MoveFileEx(a, b, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
		if InUse(err) && replaceOpen(from, to) {
			return nil
		}
		return err
	})
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// replaceOpen replaces a file that is open elsewhere, and reports success. Both names are in one folder.
func replaceOpen(from, to string) bool {
	dir := filepath.Dir(from)
	if dir != filepath.Dir(to) {
		return false
	}
	root, err := os.OpenRoot(dir) // its Rename has POSIX semantics, unlike os.Rename
	if err != nil {
		return false
	}
	defer root.Close()
	if root.Rename(filepath.Base(from), filepath.Base(to)) != nil {
		return false
	}
	if f, err := os.OpenFile(to, os.O_RDWR, 0); err == nil {
		_ = f.Sync() // includes the name; without it a power cut leaves the old file
		_ = f.Close()
	}
	return true
}

// SyncDir does nothing: the system has no such call, and Rename is durable on its own.
func SyncDir(dir string) error { return Did("sync", dir) }

// Open opens a file for reading. Others may write, rename and remove it meanwhile, unlike with os.Open.
func Open(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	var h windows.Handle
	err = retry(func() (err error) {
		h, err = windows.CreateFile(name, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
			nil, windows.OPEN_EXISTING, windows.FILE_ATTRIBUTE_NORMAL, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return os.NewFile(uintptr(h), path), nil
}

// retry calls try until it succeeds, patience has passed, or it fails for another reason than a file in use.
func retry(try func() error) (err error) {
	pause := time.Millisecond
	for end := time.Now().Add(patience); ; pause = min(2*pause, 50*time.Millisecond) {
		if err = try(); !InUse(err) || time.Now().After(end) {
			return err
		}
		time.Sleep(pause)
	}
}

// InUse reports whether an error may mean that another process has the file open or mapped. Missing permissions cause
// the same errors.
func InUse(err error) bool {
	for _, code := range []error{windows.ERROR_SHARING_VIOLATION, windows.ERROR_ACCESS_DENIED, windows.ERROR_LOCK_VIOLATION, windows.ERROR_USER_MAPPED_FILE} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// Owner returns false: on Windows the folder determines permissions.
func Owner(string) (uid int, known bool) { return 0, false }

// Map maps the first size bytes of f, size > 0. They stay valid after f is closed, until Unmap. The system does not
// shrink mapped files. Reading an unreadable page faults.
func Map(f *os.File, size int) ([]byte, error) {
	h, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, uint32(uint64(size)>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	defer func() { _ = windows.CloseHandle(h) }() // the view keeps the mapping
	address, err := windows.MapViewOfFile(h, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	// Through a pointer to the address: go vet mistakes a direct conversion for arithmetic.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&address)), size), nil
}

// ReadAhead does nothing: the system detects sequential reads.
func ReadAhead([]byte) {}

// Drop removes a mapping's pages from the memory of the process; the next access reads them again.
func Drop(b []byte) {
	if len(b) > 0 {
		_ = windows.VirtualUnlock(addressOf(b), uintptr(len(b))) // for unlocked pages it fails, but removes them from the working set
	}
}

// Unmap removes a mapping.
func Unmap(b []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", windows.UnmapViewOfFile(addressOf(b)))
}

func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
