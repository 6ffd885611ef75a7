package serve

import "golang.org/x/sys/unix"

// blocksOfPage is how many blocks of 512 bytes a page has. getrusage counts reads from
// disks in such blocks.
const blocksOfPage = 8

// pagesRead returns how many pages this process got from disks so far. A page that it had
// to wait for counts twice, as a fault and as blocks read. On file systems that count no
// blocks it counts once.
func pagesRead() (n int64, ok bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return u.Majflt + u.Inblock/blocksOfPage, true
}
