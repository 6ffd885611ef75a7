package file

import (
	"errors"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// adviceBytes is the least number of bytes that the system reads upon one advice.
const adviceBytes = 128 << 10

// Fetch starts reading the pages of b without waiting. It includes the rest of those pages, and ignores memory
// outside mappings.
func Fetch(b []byte) { advise(1, func(int) []byte { return b }, unix.MADV_WILLNEED) }

// Await reads the pages of n pieces, some possibly empty, and waits for them in a system call: Go's scheduler runs
// other goroutines meanwhile, while a page fault would block the thread. The system reads the pieces concurrently, and
// adjacent ones of a file at once. On systems without the call it does nothing; pages are then read on access.
func Await(n int, piece func(i int) []byte) {
	advise(n, piece, unix.MADV_WILLNEED)      // even for one piece: the next call alone reads its pages one by one
	advise(n, piece, unix.MADV_POPULATE_READ) // reading them detects damage
}

// advise gives the system a hint, which it may ignore, about the pages of n pieces.
func advise(n int, piece func(i int) []byte, hint uintptr) {
	// Page addresses are integers, not pointers: pieces may lie outside mappings, and pages start before them.
	var from, to uintptr
	flush := func() {
		for ; from < to; from += adviceBytes {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, min(adviceBytes, to-from), hint)
		}
	}
	for i := range n {
		b := piece(i)
		if len(b) == 0 {
			continue
		}
		start, n := pages(b)
		if start < from || start > to {
			flush()
			from, to = start, start
		}
		to = max(to, start+n)
	}
	flush()
}

// pages returns the address of the page where b starts, and the length of the pages of b.
func pages(b []byte) (start, n uintptr) {
	page := uintptr(os.Getpagesize())
	start = uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	n = start&(page-1) + uintptr(len(b))
	return start &^ (page - 1), (n + page - 1) &^ (page - 1)
}

// Resident reports whether any page of b, a slice of a mapping, is in memory.
func Resident(b []byte) bool {
	start, n := pages(b)
	states := make([]byte, n/uintptr(os.Getpagesize()))
	_, _, err := unix.Syscall(unix.SYS_MINCORE, start, n, uintptr(unsafe.Pointer(unsafe.SliceData(states))))
	return err != 0 || slices.ContainsFunc(states, func(s byte) bool { return s&1 != 0 })
}

// Free returns the bytes available to this user in the file system of path. If that is unknown, the error matches
// errors.ErrUnsupported.
func Free(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	if st.Blocks == 0 {
		return 0, errors.ErrUnsupported // some user-space file systems report no size
	}
	return int64(st.Bavail) * int64(st.Frsize), nil //nolint:unconvert // its type differs between machines
}

// DropCache drops n bytes of f, from off on, from the system's cache.
func DropCache(f *os.File, off, n int64) {
	_ = unix.Fadvise(int(f.Fd()), off, n, unix.FADV_DONTNEED) // the system may ignore the hint
}
