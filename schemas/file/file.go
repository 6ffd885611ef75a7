// Package file replaces files atomically: readers see the old content or the new one, even after a power cut. It
// finds the owner of a file, for errors and for doctor. It maps files into memory and advises the system which pages
// to read ahead or drop. On systems without a call, the advice does nothing.
//
// On Unix a rename replaces a file that others have open. Windows refuses that until they close it. So Rename waits
// for readers there, and files from Open may still be removed or renamed by other processes.
package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
)

// WriteFile replaces the content of a file by way of a temporary file in its folder. A new file gets mode, less the
// umask; an old one keeps its own.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	return write(path, data, mode, false)
}

// WriteOwned is WriteFile for a file that another user's process reads, such as a key. It preserves owner and group;
// a new file created by root gets its folder's. On error the file is unchanged.
func WriteOwned(path string, data []byte, mode os.FileMode) error {
	return write(path, data, mode, true)
}

func write(path string, data []byte, mode os.FileMode, keepsOwner bool) (err error) {
	f, err := replacement(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Abort())
		}
	}()
	if keepsOwner {
		if err := keepOwner(f.File, path); err != nil {
			return fmt.Errorf("owner of %s: %w", path, err)
		}
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// ErrTooLarge matches errors for files larger than the caller's limit.
var ErrTooLarge = errors.New("file is too large")

// Read returns the content of a regular file of at most maxBytes bytes. Others may replace the file meanwhile. It never
// blocks on a pipe and never reads a device.
func Read(path string, maxBytes int64) ([]byte, error) {
	info, err := os.Stat(path) // opening a device may have effects
	if err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := regular(path, info); err != nil {
		return nil, err
	}
	data := bytes.NewBuffer(make([]byte, 0, min(info.Size(), maxBytes)+bytes.MinRead))
	if _, err = data.ReadFrom(io.LimitReader(f, maxBytes+1)); err == nil && int64(data.Len()) > maxBytes {
		err = fmt.Errorf("%s: %w: larger than %d bytes", path, ErrTooLarge, maxBytes)
	}
	return data.Bytes(), err
}

func regular(path string, info os.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s: %v: want a regular file", path, info.Mode().Type())
}

// ReadFile is Read for files written by a command, of up to 1 GiB.
func ReadFile(path string) ([]byte, error) { return Read(path, 1<<30) }

// RemovePending removes temporary files of killed writers of path. The caller must exclude concurrent writers.
func RemovePending(path string) error {
	dir, prefix := filepath.Dir(path), "."+filepath.Base(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		digits, ok := strings.CutPrefix(e.Name(), prefix)
		if ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Nearest returns path, or the nearest accessible folder above it.
func Nearest(path string) string {
	path = filepath.Clean(path)
	for {
		if _, err := os.Stat(path); err == nil || path == filepath.Dir(path) {
			return path
		}
		path = filepath.Dir(path)
	}
}

// UserName returns the name of a user, or its number if it has none.
func UserName(uid int) string {
	number := strconv.Itoa(uid)
	if u, err := user.LookupId(number); err == nil {
		return u.Username
	}
	return number
}
