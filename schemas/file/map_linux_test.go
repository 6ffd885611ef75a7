package file

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// mapCold maps a file of n pages of which none is in memory.
func mapCold(t *testing.T, n int) []byte {
	t.Helper()
	size := n * os.Getpagesize()
	path := filepath.Join(t.TempDir(), "file")
	sharedtest.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("x"), size), 0o600))
	f, err := os.Open(path)
	sharedtest.NoError(t, err)
	defer f.Close()
	sharedtest.NoError(t, f.Sync())
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Skipf("this file system drops no pages: %v", err)
	}
	b, err := Map(f, size)
	sharedtest.NoError(t, err)
	t.Cleanup(func() { _ = Unmap(b) })
	if residentPages(t, b) > 0 {
		t.Skip("this file system keeps its pages in memory")
	}
	return b
}

// TestFetch fetches a few bytes of a file that is not in memory, and finds their pages there
// without having touched them, and no others.
func TestFetch(t *testing.T) {
	page := os.Getpagesize()
	const from, to = 40, 41
	b := mapCold(t, 64)
	Fetch(nil)
	Fetch(b[from*page+100 : to*page+100]) // part of two pages
	sharedtest.Eventually(t, "what was fetched is in memory", func() bool { return residentPages(t, b[from*page:(to+1)*page]) == 2 })
	if n := residentPages(t, b); n != 2 {
		t.Errorf("%d pages are in memory, want the 2 that were fetched", n)
	}
}

// TestAwait reads pieces of a file that is not in memory: their pages are there at once, those that two pieces share
// and those of a piece longer than one advice, and no others.
func TestAwait(t *testing.T) {
	page := os.Getpagesize()
	long := adviceBytes/page + 3
	b := mapCold(t, long+64)
	pieces := [][]byte{b[page+10 : page+20], b[page+30 : 2*page+30], nil, b[40*page : (40+long)*page], b[5*page : 5*page+1]}
	Await(len(pieces), func(i int) []byte { return pieces[i] })
	if n := residentPages(t, b); n != 2+long+1 {
		t.Errorf("%d pages are in memory, want the %d of the pieces", n, 2+long+1)
	}
	for _, at := range []int{1, 2, 5, 40, 40 + long - 1} {
		if residentPages(t, b[at*page:(at+1)*page]) == 0 {
			t.Errorf("page %d of a piece is not in memory", at)
		}
	}
}

// residentPages returns how many pages of b, whole pages, are in memory.
func residentPages(t *testing.T, b []byte) (n int) {
	t.Helper()
	states := make([]byte, len(b)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), uintptr(unsafe.Pointer(&states[0])))
	if errno != 0 {
		t.Skipf("pages in memory cannot be counted: %v", errno)
	}
	for _, s := range states {
		n += int(s & 1)
	}
	return n
}
