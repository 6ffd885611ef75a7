package mmap

import (
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fetch has the system read the pages that b lies in, and does not wait for them. The rest of
// those pages is read too; memory outside of any mapping stays as it is.
func Fetch(b []byte) { advise(b, unix.MADV_WILLNEED) }

// Await reads the pages that b lies in, and waits for them in a system call: Go's scheduler runs
// other goroutines meanwhile, where a page fault would stop the thread and its share of the scheduler.
// It does nothing on systems without the call: the pages are read when they are touched.
func Await(b []byte) { advise(b, unix.MADV_POPULATE_READ) } // damage shows when b is read

// advise gives the system a hint, which it may refuse, about the pages that b lies in.
func advise(b []byte, hint uintptr) {
	if len(b) > 0 {
		// The first page begins before b: a number, not a pointer, since b need not lie in a mapping.
		start, before := startOf(b)
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, start, before+uintptr(len(b)), hint)
	}
}

// Resident reports whether any page that b, part of a mapping, lies in is in memory.
func Resident(b []byte) bool {
	start, before := startOf(b)
	page := uintptr(os.Getpagesize())
	states := make([]byte, (before+uintptr(len(b))+page-1)/page)
	_, _, err := unix.Syscall(unix.SYS_MINCORE, start, before+uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(states))))
	return err != 0 || slices.ContainsFunc(states, func(s byte) bool { return s&1 != 0 })
}

// startOf returns the address of the page that b starts in, and how many bytes before b it starts.
func startOf(b []byte) (page, before uintptr) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	before = start & uintptr(os.Getpagesize()-1)
	return start - before, before
}

// DropCache has the system forget n bytes of f that were read from off on.
func DropCache(f *os.File, off, n int64) {
	_ = unix.Fadvise(int(f.Fd()), off, n, unix.FADV_DONTNEED) // a hint that may be refused
}
