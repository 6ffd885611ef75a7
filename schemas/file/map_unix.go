//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package file

import (
	"os"

	"golang.org/x/sys/unix"
)

// Map returns the first size bytes of f, size > 0. They stay valid after f is closed, until
// Unmap. When f shrinks meanwhile, reading the lost part is a fault.
func Map(f *os.File, size int) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Requests jump about: reading ahead would fill the memory with pages that nobody asked for.
	_ = unix.Madvise(b, unix.MADV_RANDOM) // a hint that may be refused
	return b, nil
}

// ReadAhead announces that a mapping is about to be read from one end to the other.
func ReadAhead(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_NORMAL) // a hint that may be refused
	}
}

// Drop takes a mapping out of the memory of the process; the next read brings it back.
func Drop(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_DONTNEED) // a hint that may be refused
	}
}

// Unmap ends the life of a mapping.
func Unmap(b []byte) error { return unix.Munmap(b) }
