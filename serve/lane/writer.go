package lane

import (
	"errors"
	"syscall"
)

// A Writer gathers one answer: bytes that it copies, and bytes that it only refers to.
type Writer struct {
	buf  []byte
	refs []ref
	far  int // bytes in refs

	conn   *conn
	fd     uintptr
	pieces [][]byte // of the answer, while it is sent
	vector vector   // the same for the kernel
	last   bool     // the connection ends behind the answer
	err    error
}

// A ref stands in the answer where buf[:at] ends.
type ref struct {
	at int
	b  []byte
}

// copyBelow is the length under which bytes are copied: the kernel takes longer for one
// more piece of an answer than to copy as much.
const copyBelow = 1 << 10

// Append adds a copy of b.
func (w *Writer) Append(b []byte) { w.buf = append(w.buf, b...) }

// AppendString adds s.
func (w *Writer) AppendString(s string) { w.buf = append(w.buf, s...) }

// Buffer returns what Append adds to, to be appended to and given to SetBuffer.
func (w *Writer) Buffer() []byte { return w.buf }

// SetBuffer puts the buffer back.
func (w *Writer) SetBuffer(b []byte) { w.buf = b }

// Refer adds b, which must stay as it is until the answer was sent.
func (w *Writer) Refer(b []byte) {
	if len(b) < copyBelow {
		w.buf = append(w.buf, b...)
		return
	}
	w.refs = append(w.refs, ref{len(w.buf), b})
	w.far += len(b)
}

// Close ends the connection behind the answer.
func (w *Writer) Close() { w.last = true }

// Len returns the length of the answer in bytes.
func (w *Writer) Len() int { return len(w.buf) + w.far }

// appendPieces appends the answer without its first skip bytes, as slices in order.
func (w *Writer) appendPieces(dst [][]byte, skip int) [][]byte {
	from := 0
	for i := range w.refs {
		r := &w.refs[i]
		dst, skip = appendPiece(dst, w.buf[from:r.at], skip)
		dst, skip = appendPiece(dst, r.b, skip)
		from = r.at
	}
	dst, _ = appendPiece(dst, w.buf[from:], skip)
	return dst
}

func appendPiece(dst [][]byte, b []byte, skip int) (pieces [][]byte, rest int) {
	if skip >= len(b) {
		return dst, skip - len(b)
	}
	return append(dst, b[skip:]), 0
}

// Discard empties w, so that another answer can be put into it before Send.
func (w *Writer) Discard() {
	clear(w.refs)
	w.buf, w.refs, w.far = w.buf[:0], w.refs[:0], 0
}

// Faulted reports, behind Send, whether bytes that w refers to could not be read. The answer
// is cut then, and the connection ends.
func (w *Writer) Faulted() bool { return errors.Is(w.err, syscall.EFAULT) }

// reset empties w and lets go of what it refers to.
func (w *Writer) reset() {
	w.Discard()
	w.conn, w.last = nil, false
}
