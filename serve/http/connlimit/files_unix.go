//go:build unix

package connlimit

import (
	"errors"

	"golang.org/x/sys/unix"
)

// outOfFiles reports whether an accept failed because no more files may be open.
func outOfFiles(err error) bool { return errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) }

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

// queued reports whether a connection waits in the kernel's queue.
func (l *Listener) queued() bool {
	raw, err := l.SyscallConn()
	if err != nil {
		return false
	}
	n := 0
	_ = raw.Control(func(fd uintptr) { // a closed listener has no queue
		n, _ = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	})
	return n > 0
}
