package file

import (
	"errors"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// atOnce is how many bytes the system reads upon one advice at least, if they are asked for.
const atOnce = 128 << 10

// Fetch has the system read the pages that b lies in, and does not wait for them. The rest of
// those pages is read too; memory outside of any mapping stays as it is.
func Fetch(b []byte) { advise(1, func(int) []byte { return b }, unix.MADV_WILLNEED) }

// Await reads the pages that b lies in, and waits for them in a system call: Go's scheduler runs
// other goroutines meanwhile, where a page fault would stop the thread and its share of the scheduler.
// It does nothing on systems without the call: the pages are read when they are touched.
func Await(b []byte) { AwaitAll(1, func(int) []byte { return b }) }

// AwaitAll is Await for n pieces, empty ones among them. The system reads for all of them at a time, and those
// that follow one another in a file at once.
func AwaitAll(n int, piece func(i int) []byte) {
	advise(n, piece, unix.MADV_WILLNEED)      // for one piece too: of its pages the next call reads one after the other
	advise(n, piece, unix.MADV_POPULATE_READ) // damage shows when they are read
}

// advise gives the system a hint, which it may refuse, about the pages that n pieces lie in.
func advise(n int, piece func(i int) []byte, hint uintptr) {
	// A run of pages that begins before a piece is numbers, not a pointer: pieces need not lie in a mapping.
	var from, to uintptr
	flush := func() {
		for ; from < to; from += atOnce {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, min(atOnce, to-from), hint)
		}
	}
	for i := range n {
		b := piece(i)
		if len(b) == 0 {
			continue
		}
		start, before := startOf(b)
		if start < from || start > to {
			flush()
			from, to = start, start
		}
		to = max(to, start+pages(before+uintptr(len(b))))
	}
	flush()
}

// pages returns n, rounded up to whole pages.
func pages(n uintptr) uintptr {
	page := uintptr(os.Getpagesize())
	return (n + page - 1) &^ (page - 1)
}

// Resident reports whether any page that b, part of a mapping, lies in is in memory.
func Resident(b []byte) bool {
	start, before := startOf(b)
	states := make([]byte, pages(before+uintptr(len(b)))/uintptr(os.Getpagesize()))
	_, _, err := unix.Syscall(unix.SYS_MINCORE, start, before+uintptr(len(b)), uintptr(unsafe.Pointer(unsafe.SliceData(states))))
	return err != 0 || slices.ContainsFunc(states, func(s byte) bool { return s&1 != 0 })
}

// startOf returns the address of the page that b starts in, and how many bytes before b it starts.
func startOf(b []byte) (page, before uintptr) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	before = start & uintptr(os.Getpagesize()-1)
	return start - before, before
}

// Free returns how many bytes of the file system with path this user can fill. Where that is unknown, the error matches
// errors.ErrUnsupported.
func Free(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	if st.Blocks == 0 {
		return 0, errors.ErrUnsupported // some file systems of user space count nothing
	}
	return int64(st.Bavail) * int64(st.Frsize), nil //nolint:unconvert // its type differs between machines
}

// DropCache has the system forget n bytes of f that were read from off on.
func DropCache(f *os.File, off, n int64) {
	_ = unix.Fadvise(int(f.Fd()), off, n, unix.FADV_DONTNEED) // a hint that may be refused
}
