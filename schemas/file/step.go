package file

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Step is called, unless it is nil, after each action that has to survive a power cut: sync and write for content that is
// on the disk now, and others. An error from Step ends the work there, as a kill would: a test looks at what is left.
var Step func(action, path string) error

// Did reports an action to Step.
func Did(action, path string) error {
	if Step == nil {
		return nil
	}
	return Step(action, path)
}

// Sync makes the content of f durable.
func Sync(f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return Did("sync", f.Name())
}

// MkdirAll makes a folder with those above it that are missing, durably.
func MkdirAll(dir string, mode fs.FileMode) error {
	if isDir(dir) {
		return nil
	}
	above := filepath.Dir(dir)
	if above != dir {
		if err := MkdirAll(above, mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, mode); err != nil && !isDir(dir) { // another process may have made it
		return err
	}
	if err := SyncDir(above); !errors.Is(err, fs.ErrPermission) { // a folder that this user cannot list
		return err
	}
	return nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// MoveInto durably gives from the name to. Both are in one folder.
func MoveInto(from, to string) error {
	if err := Rename(from, to); err != nil {
		return err
	}
	if err := Did("rename", to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

var link = os.Link // a test has a file system that cannot

// Link gives the file from another name, whose folder is still to be synced. Where the file system cannot, to becomes a
// durable copy with its permissions. A file of that name stays.
func Link(from, to string) error {
	if err := link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return Did("link", to)
	}
	return Copy(from, to)
}

// Copy makes a durable copy of a file with its permissions, whose folder is still to be synced. It replaces a file of that
// name.
func Copy(from, to string) error {
	in, err := Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := Create(to, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}
