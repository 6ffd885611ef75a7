package lane

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// errNoAnswer is a Handler's bug.
var errNoAnswer = errors.New("lane: handler did not send an answer")

// Send sends the answer: all that the kernel takes at once, and the rest as the client reads.
// When it returns, nothing refers to what was given to Refer.
func (w *Writer) Send() {
	w.pieces = w.appendPieces(w.pieces[:0], 0)
	n, err := w.now()
	switch {
	case err == syscall.EAGAIN || err == 0 && n < w.Len():
		w.err = w.later(n)
	case err != 0:
		w.err = os.NewSyscallError("writev", err)
	default:
		w.err = nil
	}
	clear(w.pieces)
}

// Stream sends what w has, and behind it what write writes to its argument. The client has the
// whole time for all of it. An error of write ends the connection.
func (w *Writer) Stream(write func(to io.Writer) error) {
	if d := w.conn.lane.cfg.WriteTimeout; d > 0 {
		if w.err = w.conn.SetWriteDeadline(time.Now().Add(d)); w.err != nil {
			return
		}
	}
	if _, w.err = w.conn.Write(w.buf); w.err == nil {
		w.err = write(w.conn.Conn)
	}
	w.conn.now = time.Now()
}

// now sends what the kernel takes without waiting, and returns how many bytes that is.
func (w *Writer) now() (int, syscall.Errno) {
	for {
		n, err := send(w.fd, w)
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
func (w *Writer) later(n int) error {
	if d := w.conn.lane.cfg.WriteTimeout; d > 0 {
		if err := w.conn.SetWriteDeadline(time.Now().Add(d)); err != nil {
			return err
		}
	}
	rest := net.Buffers(w.appendPieces(nil, n))
	_, err := rest.WriteTo(w.conn.Conn)
	w.conn.now = time.Now()
	return err
}
