package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// isFull reports whether an error says that no more can be written: the disk is full, or a
// quota or a limit of the system is reached.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// leftover adds to the error of a full disk what the run leaves behind, and how to go on.
func (i *ingester) leftover(err error) error {
	if !isFull(err) {
		return err
	}
	if !i.resumes() {
		return fmt.Errorf("%w; nothing of this run is left: make room, then start it again", err)
	}
	return fmt.Errorf("%w; %s keeps %.1f MiB, from which the same command goes on: make room and start it again, or with --restart to begin anew; "+
		"remove that folder to give the run up", err, i.work, float64(sizeOf(i.work))/(1<<20))
}

// resumes reports whether another run can go on where this one ended.
func (i *ingester) resumes() bool {
	if i.journal == nil || !i.journal.any {
		return false
	}
	_, err := os.Stat(i.journal.path)
	return err == nil
}

// sizeOf returns the bytes of all files below a folder, as far as they can be seen.
func sizeOf(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what cannot be seen is not counted
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}
