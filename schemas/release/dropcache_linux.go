package release

import (
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inMemory tells whether any page that b, part of a mapping, lies in is in memory.
func inMemory(b []byte) bool {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	page := uintptr(os.Getpagesize())
	before := start & (page - 1)
	states := make([]byte, (before+uintptr(len(b))+page-1)/page)
	_, _, err := unix.Syscall(unix.SYS_MINCORE, start-before, before+uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(states))))
	return err != 0 || slices.ContainsFunc(states, func(s byte) bool { return s&1 != 0 })
}

// dropCache has the system forget what was read of f.
func dropCache(f *os.File, off, n int64) {
	_ = unix.Fadvise(int(f.Fd()), off, n, unix.FADV_DONTNEED) // a hint that may be refused
}
