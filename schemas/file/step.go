package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Step is called, unless nil, after each action that must survive a power cut: "sync" and "write" once content is on
// disk, and others. An error from Step aborts the work like a kill, so a test can examine the result.
var Step func(action, path string) error

// Did reports an action to Step.
func Did(action, path string) error {
	if Step == nil {
		return nil
	}
	return Step(action, path)
}

// Sync syncs the content of f.
func Sync(f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return Did("sync", f.Name())
}

// MkdirAll durably creates a folder and its missing parents.
func MkdirAll(dir string, mode fs.FileMode) error {
	if isDir(dir) {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MkdirAll(parent, mode); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, mode); err != nil && !isDir(dir) { // another process may have created it
		return err
	}
	if err := SyncDir(parent); !errors.Is(err, fs.ErrPermission) { // a folder that this user cannot list
		return err
	}
	return nil
}

func isDir(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// MoveInto durably renames from to to.
func MoveInto(from, to string) error {
	if err := Rename(from, to); err != nil {
		return err
	}
	if err := Did("rename", to); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(to))
}

// ReplaceAll durably moves the files of a folder, whose content is on disk, to the same paths below another: all or none. It
// renames the folder to complete before the first move. If that exists after a kill, MoveAll completes the replacement.
func ReplaceAll(from, complete, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = SyncDir(path)
		}
		return err
	})
	if err == nil {
		err = MoveInto(from, complete)
	}
	if err == nil {
		err = SyncDir(to)
	}
	if err == nil {
		err = MoveAll(complete, to)
	}
	return err
}

// MoveAll durably moves the files of a folder to the same paths below another, and removes the folder. If it is interrupted, a
// second call completes it.
func MoveAll(from, to string) error {
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		return Move(path, filepath.Join(to, name))
	})
	if err == nil {
		err = SyncDir(to)
	}
	if err == nil {
		err = os.RemoveAll(from)
	}
	if err == nil {
		err = SyncDir(filepath.Dir(from))
	}
	return err
}

// Move durably moves a file to another folder of its file system, which it creates if missing. An empty file removes the file
// at to.
func Move(from, to string) error {
	info, err := os.Stat(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o700)
	}
	switch {
	case err != nil:
	case info.Size() > 0:
		err = MoveInto(from, to)
	default:
		if err = os.Remove(to); err == nil || errors.Is(err, fs.ErrNotExist) {
			err = os.Remove(from)
		}
	}
	if err != nil {
		return fmt.Errorf("put %s in its place: %w", to, err)
	}
	return nil
}

var link = os.Link // a test replaces it with a file system without links

// Link links the file from under another name, whose folder the caller still has to sync. If the file system has no
// links, to becomes a durable copy with the same permissions. An existing file stays.
func Link(from, to string) error {
	if err := link(from, to); err == nil || errors.Is(err, fs.ErrExist) {
		return Did("link", to)
	}
	return Copy(from, to)
}

// Copy makes a durable copy of a file with its permissions, whose folder the caller still has to sync. It replaces an
// existing file.
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
	_, err = io.Copy(out, in)
	if err = errors.Join(err, in.Close()); err != nil { // Windows replaces no link of an open file
		return errors.Join(err, out.Abort())
	}
	return out.Commit()
}
