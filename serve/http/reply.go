package http

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// errNotSent is a responder's bug.
var errNotSent = errors.New("http: responder did not send a response")

// A reply is the response to one plain request, for its responder to fill and to send.
type reply struct {
	message
	last bool // the connection ends behind it

	conn   *fastConn
	fd     uintptr
	pieces [][]byte // of the message, while it is sent
	vector vector   // the same for the kernel
	err    error    // of send
}

// send sends the message: all that the kernel takes at once, and the rest as the client reads.
// When it returns, nothing refers to the release. An error matches syscall.EFAULT where bytes of the
// release could not be read: the message is cut.
func (w *reply) send() {
	w.pieces = w.appendPieces(w.pieces[:0], 0)
	n, err := w.now()
	switch {
	case err == syscall.EAGAIN || err == 0 && n < w.len():
		w.err = w.later(n)
	case err != 0:
		w.err = os.NewSyscallError("writev", err)
	default:
		w.err = nil
	}
	clear(w.pieces)
}

// stream sends the message, and behind it all that write writes to its argument. The client has the
// whole time for all of it. An error of write ends the connection.
func (w *reply) stream(write func(to io.Writer) error) {
	w.conn.startWrite()
	if _, w.err = w.conn.Write(w.own); w.err == nil {
		w.err = write(w.conn.Conn)
	}
	w.conn.clock.now = time.Now()
}

// now sends the bytes that the kernel takes without waiting, and returns their number.
func (w *reply) now() (int, syscall.Errno) {
	for {
		n, err := writeTo(w.fd, w)
		switch err {
		case 0:
			return n, 0
		case syscall.EINTR:
			continue
		}
		return 0, err // and n is -1
	}
}

// later sends all but the first n bytes. The client has the whole time for them.
func (w *reply) later(n int) error {
	w.conn.startWrite()
	rest := net.Buffers(w.appendPieces(nil, n))
	_, err := rest.WriteTo(w.conn.Conn)
	w.conn.clock.now = time.Now()
	return err
}

// reset makes w fit for another connection.
func (w *reply) reset() {
	w.discard()
	w.conn, w.last = nil, false
}
