package release

import (
	"errors"
	"fmt"
)

// ErrCorrupt matches, through errors.Is, every error caused by bytes that break the
// rules of FORMAT.md.
var ErrCorrupt = errors.New("release: corrupt file")

// ErrVersion matches, through errors.Is, the error about a release whose format
// version this program does not know.
var ErrVersion = errors.New("unknown format version")

// ErrLocked matches, through errors.Is, the error of Create while another builder
// works in the same folder.
var ErrLocked = errors.New("another builder is at work there")

// ErrNoRelease matches, through errors.Is, the error about a store in which nothing
// has been published.
var ErrNoRelease = errors.New("no release has been published")

// A CorruptError tells where a file stopped following the format.
type CorruptError struct {
	File string // name inside the release folder
	Off  int64  // byte offset of the offending field; negative when it is the whole file
	What string // field, value found, value allowed
}

func (e *CorruptError) Error() string { return place(e.File, e.Off, e.What) }

// Is makes every CorruptError match ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// place words what is wrong where, for errors and problems alike.
func place(file string, off int64, what string) string {
	if off < 0 {
		return fmt.Sprintf("%s: %s", file, what)
	}
	return fmt.Sprintf("%s: offset %d: %s", file, off, what)
}

// corrupt returns a CorruptError.
func corrupt(file string, off int64, format string, args ...any) error {
	return &CorruptError{File: file, Off: off, What: fmt.Sprintf(format, args...)}
}
