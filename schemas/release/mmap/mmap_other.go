//go:build !(windows || darwin || dragonfly || freebsd || linux || netbsd || openbsd || solaris)

package mmap

import (
	"io"
	"os"
)

// Map reads the first size bytes of f into memory, for systems without mmap.
func Map(f *os.File, size int) ([]byte, error) {
	b := make([]byte, size)
	_, err := io.ReadFull(f, b)
	return b, err
}

// ReadAhead does nothing: all is in memory.
func ReadAhead([]byte) {}

// Drop does nothing: there is no other copy.
func Drop([]byte) {}

// Unmap leaves b to the garbage collector.
func Unmap([]byte) error { return nil }
