package serve

import "golang.org/x/sys/unix"

// blocksOfPage is how many blocks of 512 bytes, as getrusage counts what was read from
// disks, a page has.
const blocksOfPage = 8

// pagesRead returns how many pages came from disks for this process so far: those that it
// had to wait for count twice, because for them the disk was read too. Those of file systems
// that count no blocks count once.
func pagesRead() (n int64, ok bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return u.Majflt + u.Inblock/blocksOfPage, true
}
