package connlimit

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// OpenFiles returns how many files the process may have open: only memory limits them.
func OpenFiles() uint64 { return ^uint64(0) }

// outOfFiles reports whether an accept failed because no more files may be open.
func outOfFiles(err error) bool {
	return errors.Is(err, windows.WSAEMFILE) || errors.Is(err, windows.Errno(windows.ERROR_TOO_MANY_OPEN_FILES))
}

var poll = windows.NewLazySystemDLL("ws2_32.dll").NewProc("WSAPoll")

// pollFd is WSAPOLLFD.
type pollFd struct {
	socket  uintptr
	events  int16
	revents int16
}

const pollReadNormal = 0x100 // POLLRDNORM

// queued reports whether a connection waits in the system's queue.
func (l *Listener) queued() bool {
	raw, err := l.SyscallConn()
	if err != nil {
		return false
	}
	n := uintptr(0)
	_ = raw.Control(func(fd uintptr) { // a closed listener has no queue
		fds := [1]pollFd{{socket: fd, events: pollReadNormal}}
		if n, _, _ = poll.Call(uintptr(unsafe.Pointer(&fds[0])), 1, 0); int32(n) < 0 || fds[0].revents&pollReadNormal == 0 {
			n = 0
		}
	})
	return n > 0
}
