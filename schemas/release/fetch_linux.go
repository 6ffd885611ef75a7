package release

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// fetch has the system read the pages that b lies in, ahead of who needs them. It does not
// wait for them. What else lies in those pages is read too; memory that is of no file is
// left as it is.
func fetch(b []byte) {
	if len(b) == 0 {
		return
	}
	// The advice is about whole pages. The first one begins before b: a number, not a
	// pointer, since b need not lie in a mapping.
	start := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	before := start & uintptr(os.Getpagesize()-1)
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, start-before, before+uintptr(len(b)), unix.MADV_WILLNEED) // a hint that may be refused
}
