// Package file replaces files in one step: readers see the old content or the new one, and so does the next start
// after a power cut. It finds to which user a file belongs, for errors and for doctor. And it maps files into memory
// and advises the system about them: what to read ahead, what to forget. On systems without a call, the advice does
// nothing.
//
// On Unix a rename replaces a file that others have open. Windows refuses that until they close it, so Rename waits for
// readers there, and Open does not stand in the way of other processes that remove or rename the file.
package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// WriteFile makes data the content of the file path, by way of a temporary file in its folder. A new file gets the mode,
// less the process's umask; an old one keeps its own.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	return write(path, data, mode, func(*os.File, string) error { return nil })
}

// WriteOwned is WriteFile for a file that another user's process reads, such as a key. The file keeps its owner and
// group too, and a new one that root makes gets those of its folder. An error leaves the file as it was.
func WriteOwned(path string, data []byte, mode os.FileMode) error {
	return write(path, data, mode, keepOwner)
}

func write(path string, data []byte, mode os.FileMode, own func(f *os.File, path string) error) (err error) {
	f, err := replacement(path, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Abort())
		}
	}()
	if err := own(f.File, path); err != nil {
		return fmt.Errorf("owner of %s: %w", path, err)
	}
	if _, err := f.Write(data); err != nil {
		return err
	}
	return f.Commit()
}

// ErrTooLarge matches errors of reading a file with more bytes than the caller takes.
var ErrTooLarge = errors.New("file is too large")

// Read returns the content of a regular file of at most most bytes, which others may replace meanwhile. It waits for no
// writer of a pipe, and reads no device.
func Read(path string, most int64) ([]byte, error) {
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
	data := bytes.NewBuffer(make([]byte, 0, min(info.Size(), most)+bytes.MinRead))
	if _, err = data.ReadFrom(io.LimitReader(f, most+1)); err == nil && int64(data.Len()) > most {
		err = fmt.Errorf("%s: %w: larger than %d bytes", path, ErrTooLarge, most)
	}
	return data.Bytes(), err
}

func regular(path string, info os.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return fmt.Errorf("%s: %v: want a regular file", path, info.Mode().Type())
}

// ReadFile is Read for files that a command wrote, of up to 1 GiB.
func ReadFile(path string) ([]byte, error) { return Read(path, 1<<30) }

// RemovePending removes what killed writers of the file at path have left beside it. The caller keeps others from
// writing it meanwhile.
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
