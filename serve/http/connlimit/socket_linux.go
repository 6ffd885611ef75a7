package connlimit

import (
	"io"
	"iter"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Socket is a Conn with one reading goroutine. Its system calls bypass the scheduler, which would hand the processor
// to another thread during a long write. That saves 10 to 20 % of the CPU time of a 27 KB response on a busy machine.
// No call blocks, because the sockets are non-blocking.
type Socket struct {
	*Conn
	next   func() (n int, err error, ok bool) // resumes reads
	stop   func()                             // ends reads
	fd     uintptr                            // noFile if it may have been closed
	buf    []byte                             // argument of the current Read
	begun  bool                               // bytes were read before
	served bool                               // bytes were written after the last read
	iov    []unix.Iovec
}

const noFile = ^uintptr(0)

// Socket returns c as a Socket, which is closed in its place.
func (c *Conn) Socket() *Socket {
	s := &Socket{Conn: c, fd: noFile}
	s.next, s.stop = iter.Pull2(s.reads)
	return s
}

// Read waits for bytes and reads them.
func (s *Socket) Read(p []byte) (int, error) {
	s.buf = p
	n, err, ok := s.next()
	s.buf, s.served = nil, false
	if !ok {
		err = net.ErrClosed
	}
	return n, err
}

// ReadAgain makes the next Read read before it waits. Call it if a part of the bytes read before has no response: the end
// of the stream may have come with them.
func (s *Socket) ReadAgain() { s.served = false }

// Close closes the connection.
func (s *Socket) Close() error {
	s.stop()
	return s.Conn.Close()
}

// reads makes the system calls of Read and yields their results. Each call of RawConn.Read forgets earlier events, so it
// must try to read before it waits: one more system call for each request, 6 % of the CPU of a short response. Within one
// call, the next wait can begin as soon as a read has emptied the socket, because new bytes end the wait. As a coroutine,
// reads stays within one call while the connection is served.
//
// A FIN that arrives together with data raises no second event: such a wait ends only at the read deadline. So the first
// read of a connection, and each read without a response to all of its bytes, are repeated at once: clients of a single
// request may send data and FIN together.
func (s *Socket) reads(yield func(int, error) bool) {
	raw, err := s.SyscallConn()
	open := err == nil // it never fails; false once Close has stopped the coroutine
	read := func(fd uintptr) (done bool) {
		s.fd = fd
		defer func() { s.fd = noFile }()
		for open && s.resume() {
			n, err := rawRead(fd, s.buf)
			if err != syscall.EAGAIN {
				full, first := n == len(s.buf), !s.begun
				if n > 0 {
					s.begun = true
					if !s.used.Load() {
						s.used.Store(true)
					}
				}
				open = yield(n, err)
				if !open || full || first || !s.served {
					continue
				}
			}
			s.state.CompareAndSwap(busy, waiting)
			return false
		}
		return true
	}
	for open {
		err := raw.Read(read)
		if !open {
			return
		}
		if !s.resume() {
			err = net.ErrClosed
		}
		open = yield(0, err)
	}
}

// rawRead reads without waiting. The error is syscall.EAGAIN if no bytes are available.
func rawRead(fd uintptr, p []byte) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
		switch {
		case errno == syscall.EINTR:
		case errno == syscall.EAGAIN:
			return 0, errno
		case errno != 0:
			return 0, os.NewSyscallError("read", errno)
		case n == 0:
			return 0, io.EOF
		default:
			return int(n), nil
		}
	}
}

// maxPieces bounds the pieces of one system call: IOV_MAX.
const maxPieces = 1024

// WriteVector sends as much of pieces as the kernel takes without waiting, in one system call, or nothing. No piece may be
// empty.
func (s *Socket) WriteVector(pieces [][]byte) (int, error) {
	if s.fd == noFile {
		return 0, nil
	}
	s.served = true
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
	raw, err := c.SyscallConn()
	if err != nil {
		return true
	}
	_ = raw.Control(func(fd uintptr) { // a closed connection is found when it is read
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		gone = err == nil && info.State != unix.BPF_TCP_ESTABLISHED
	})
	return gone
}
