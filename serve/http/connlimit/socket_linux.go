package connlimit

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A socket makes system calls without telling the scheduler. The scheduler would take its share of the thread away in
// the middle of a long write, and wake another thread: 10 to 20 % of the CPU of 27 KB on a busy machine. No call
// blocks, because sockets do not.
type socket struct {
	raw  syscall.RawConn
	read func(fd uintptr) bool // made once
	fd   uintptr               // while read runs, which keeps the socket open
	next Next
	buf  []byte // of the next read
	more bool   // as next returned it with buf
	used bool   // bytes were read before
	iov  []unix.Iovec
}

// none is no descriptor.
const none = ^uintptr(0)

func (c *Conn) open() {
	s := &c.socket
	s.raw, _ = c.SyscallConn() // which never fails
	s.fd = none
	s.read = func(fd uintptr) bool {
		s.fd = fd
		done := c.tryRead()
		s.fd = none
		return done
	}
}

// ReadLoop reads for next. It makes one system call where Read makes two: after a read that did not fill the buffer, the
// socket is empty, and new bytes end the wait. Only an end of the stream that came with the bytes does not: it is found
// when the read deadline is over and next asks again. It is found at once where bytes are missing, and by the first
// read of a connection, for a client that asks once may send its end at once.
func (c *Conn) ReadLoop(next Next) {
	s := &c.socket
	s.next, s.buf = next, nil
	for ended := false; !ended; ended = s.buf == nil {
		err := s.raw.Read(s.read)
		if !c.resume() {
			err = net.ErrClosed
		}
		if err != nil {
			s.buf, s.more = next(0, err)
		}
	}
	s.next = nil
}

// tryRead reads as long as there are bytes. It returns false to wait for more.
func (c *Conn) tryRead() (done bool) {
	if !c.resume() {
		return true
	}
	s := &c.socket
	if s.buf == nil {
		s.buf, s.more = s.next(0, nil)
	}
	for s.buf != nil {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, s.fd, uintptr(unsafe.Pointer(&s.buf[0])), uintptr(len(s.buf)))
		full, first := int(n) == len(s.buf), !s.used
		switch {
		case errno == syscall.EINTR:
			continue
		case errno == syscall.EAGAIN:
			c.state.CompareAndSwap(busy, waiting)
			return false
		case errno != 0:
			s.buf, s.more = s.next(0, os.NewSyscallError("read", errno))
		case n == 0:
			s.buf, s.more = s.next(0, io.EOF)
		default:
			s.used = true
			c.use()
			s.buf, s.more = s.next(int(n), nil)
		}
		if s.buf != nil && !full && !first && !s.more {
			c.state.CompareAndSwap(busy, waiting)
			return false
		}
	}
	return true
}

// maxPieces is how many pieces the kernel takes at once, IOV_MAX.
const maxPieces = 1024

// WriteVector sends as much of pieces as the kernel takes without waiting, in one system call, and nothing outside of a
// ReadLoop's next. No piece is empty.
func (c *Conn) WriteVector(pieces [][]byte) (int, error) {
	s := &c.socket
	if s.fd == none {
		return 0, nil
	}
	for _, p := range pieces[:min(len(pieces), maxPieces)] {
		s.iov = append(s.iov, unix.Iovec{Base: &p[0], Len: uint64(len(p))})
	}
	n, errno := uintptr(0), syscall.EINTR
	for errno == syscall.EINTR {
		n, _, errno = syscall.RawSyscall(syscall.SYS_WRITEV, s.fd, uintptr(unsafe.Pointer(unsafe.SliceData(s.iov))), uintptr(len(s.iov)))
	}
	clear(s.iov)
	s.iov = s.iov[:0]
	switch errno {
	case 0:
		return int(n), nil
	case syscall.EAGAIN:
		return 0, nil
	}
	return 0, os.NewSyscallError("writev", errno)
}

// Gone reports whether the client has closed the connection, even if bytes before its end are unread.
func (c *Conn) Gone() (gone bool) {
	_ = c.socket.raw.Control(func(fd uintptr) { // a closed connection is found when it is read
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err == nil && info.State != unix.BPF_TCP_ESTABLISHED
	})
	return gone
}
