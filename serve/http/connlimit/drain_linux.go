package connlimit

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// acceptQueued returns a connection from the kernel's queue, nil when there is none. It is a system call of
// its own because TCPListener.Accept tries none once its deadline is over.
func acceptQueued(ln *net.TCPListener) net.Conn {
	raw, err := ln.SyscallConn()
	if err != nil {
		return nil
	}
	accepted := -1
	_ = raw.Control(func(fd uintptr) { // a closed listener has no queue
		for again := true; again; {
			var err error
			accepted, _, err = unix.Accept4(int(fd), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			again = err == unix.EINTR || err == unix.ECONNABORTED
		}
	})
	if accepted < 0 {
		return nil
	}
	f := os.NewFile(uintptr(accepted), "connection")
	defer f.Close() // FileConn has a file of its own
	c, err := net.FileConn(f)
	if err != nil {
		return nil
	}
	return c
}
