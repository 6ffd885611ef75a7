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
	raw         syscall.RawConn
	read, write func(fd uintptr) bool // tryRead and tryWrite, made once

	// ReadLoop
	buf  []byte
	next func(n int, err error) []byte
	used bool // bytes were read before

	// WriteVector
	iov   []unix.Iovec
	n     int
	errno syscall.Errno
}

func (c *Conn) open() {
	c.socket.raw, _ = c.SyscallConn() // which never fails
	c.socket.read, c.socket.write = c.tryRead, c.socket.tryWrite
}

// ReadLoop reads into buf, gives the result to next, and goes on with the buffer that next returns, until
// that is nil. It makes one system call where Read makes two: after a read that did not fill the buffer, the socket
// is empty, and new bytes end the wait. Only an end of the stream that came with the bytes does not: it is found when
// the read deadline is over and next asks again. The first read of a connection finds it, for a client
// that asks once may send its end at once.
func (c *Conn) ReadLoop(buf []byte, next func(n int, err error) []byte) {
	s := &c.socket
	for s.buf, s.next = buf, next; s.buf != nil; {
		err := s.raw.Read(s.read)
		if !c.resume() {
			err = net.ErrClosed
		}
		if err != nil {
			s.buf = next(0, err)
		}
	}
	s.next = nil
}

// tryRead reads as long as there are bytes. It returns false to wait for more.
func (c *Conn) tryRead(fd uintptr) bool {
	if !c.resume() {
		return true
	}
	s := &c.socket
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&s.buf[0])), uintptr(len(s.buf)))
		full, first := int(n) == len(s.buf), !s.used
		switch {
		case errno == syscall.EINTR:
			continue
		case errno == syscall.EAGAIN:
			c.state.CompareAndSwap(busy, waiting)
			return false
		case errno != 0:
			s.buf = s.next(0, os.NewSyscallError("read", errno))
		case n == 0:
			s.buf = s.next(0, io.EOF)
		default:
			s.used = true
			c.use()
			s.buf = s.next(int(n), nil)
		}
		if s.buf == nil {
			return true
		}
		if !full && !first {
			c.state.CompareAndSwap(busy, waiting)
			return false
		}
	}
}

// maxPieces is how many pieces the kernel takes at once, IOV_MAX.
const maxPieces = 1024

// WriteVector sends as much of pieces as the kernel takes without waiting, in one system call. No piece is empty.
func (c *Conn) WriteVector(pieces [][]byte) (int, error) {
	s := &c.socket
	for _, p := range pieces[:min(len(pieces), maxPieces)] {
		s.iov = append(s.iov, unix.Iovec{Base: &p[0], Len: uint64(len(p))})
	}
	err := s.raw.Write(s.write)
	clear(s.iov)
	s.iov = s.iov[:0]
	switch {
	case err != nil:
		return 0, err
	case s.errno == syscall.EAGAIN:
		return 0, nil
	case s.errno != 0:
		return 0, os.NewSyscallError("writev", s.errno)
	}
	return s.n, nil
}

func (s *socket) tryWrite(fd uintptr) bool {
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITEV, fd, uintptr(unsafe.Pointer(unsafe.SliceData(s.iov))), uintptr(len(s.iov)))
		if errno != syscall.EINTR {
			s.n, s.errno = int(n), errno
			return true
		}
	}
}
