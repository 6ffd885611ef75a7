//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package file

import (
	"os"

	"golang.org/x/sys/unix"
)

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
