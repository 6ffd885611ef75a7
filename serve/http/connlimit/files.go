package connlimit

import "golang.org/x/sys/unix"

// OpenFiles returns how many files the process may have open, after it has raised that
// number as far as it may.
func OpenFiles() uint64 {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return ^uint64(0) // not known; an accept that fails is tried again
	}
	if limit.Cur < limit.Max {
		raised := unix.Rlimit{Cur: limit.Max, Max: limit.Max}
		if unix.Setrlimit(unix.RLIMIT_NOFILE, &raised) == nil {
			return uint64(raised.Cur) //nolint:unconvert // it is signed on some systems
		}
	}
	return uint64(limit.Cur) //nolint:unconvert // it is signed on some systems
}
