//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris)

package release

import (
	"io"
	"os"
)

// mapFile reads the first size bytes of f into memory, for systems without mmap.
func mapFile(f *os.File, size int) ([]byte, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(f, b)
	return b, err
}

// readAhead does nothing: all is in memory.
func readAhead([]byte) {}

// dropPages does nothing: there is no other copy.
func dropPages([]byte) {}

// unmapFile leaves b to the garbage collector.
func unmapFile([]byte) error { return nil }
