//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris

package release

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile returns the first size bytes of f, size > 0. They stay valid after f is
// closed, until unmapFile. When f shrinks meanwhile, reading its lost part is a fault: see
// Guard.
func mapFile(f *os.File, size int) ([]byte, error) {
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	// Requests jump about: reading ahead would fill the memory with strangers.
	_ = unix.Madvise(b, unix.MADV_RANDOM) // a hint that may be refused
	return b, nil
}

// readAhead says that what mapFile returned is about to be read from one end to the
// other.
func readAhead(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_NORMAL) // a hint that may be refused
	}
}

// dropPages takes what mapFile returned out of the memory of the process; the next read
// brings it back.
func dropPages(b []byte) {
	if len(b) > 0 {
		_ = unix.Madvise(b, unix.MADV_DONTNEED) // a hint that may be refused
	}
}

// unmapFile ends the life of what mapFile returned.
func unmapFile(b []byte) error { return unix.Munmap(b) }
