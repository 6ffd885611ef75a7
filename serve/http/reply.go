package http

import (
	"io"
	"net"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release"
)

// A message is a response, or its body, for a socket: bytes of its own, and references to bytes in
// the release.
type message struct {
	own    []byte
	refs   []ref
	far    int  // bytes in refs
	copies bool // copy all bytes into own
}

// A ref follows own[:at] in the message.
type ref struct {
	at int
	b  []byte
}

// copyBelow is the length below which bytes are copied: another piece of a response costs
// the kernel more than the copy.
const copyBelow = 1 << 10

// add adds b. If stable is set, b does not change while m is used, and is not copied.
func (m *message) add(b []byte, stable bool) {
	if !stable || m.copies || len(b) < copyBelow {
		m.own = append(m.own, b...)
		return
	}
	m.refs = append(m.refs, ref{len(m.own), b})
	m.far += len(b)
}

// addMessage adds the content of other.
func (m *message) addMessage(other *message) {
	from := 0
	for i := range other.refs {
		r := &other.refs[i]
		m.own = append(m.own, other.own[from:r.at]...)
		m.add(r.b, true /* stable */)
		from = r.at
	}
	m.own = append(m.own, other.own[from:]...)
}

// len returns the length in bytes.
func (m *message) len() int { return len(m.own) + m.far }

// appendPieces appends the message without its first skip bytes, as slices in order.
func (m *message) appendPieces(dst [][]byte, skip int) [][]byte {
	from := 0
	for i := range m.refs {
		r := &m.refs[i]
		dst, skip = appendPiece(dst, m.own[from:r.at], skip)
		dst, skip = appendPiece(dst, r.b, skip)
		from = r.at
	}
	dst, _ = appendPiece(dst, m.own[from:], skip)
	return dst
}

func appendPiece(dst [][]byte, b []byte, skip int) (pieces [][]byte, rest int) {
	if skip >= len(b) {
		return dst, skip - len(b)
	}
	return append(dst, b[skip:]), 0
}

// await waits until the bytes that m refers to are in memory.
func (m *message) await() {
	release.AwaitAll(len(m.refs), func(i int) []byte { return m.refs[i].b })
}

// discard empties m and drops its references.
func (m *message) discard() {
	clear(m.refs)
	m.own, m.refs, m.far = m.own[:0], m.refs[:0], 0
}

// A reply is the response to one request, for its responder to fill and to send.
type reply struct {
	message
	last bool // the connection ends after the reply

	conn   *conn
	pieces [][]byte // the message while it is sent
	err    error    // error of sending it
}

// send sends the message within the write timeout. When it returns, nothing refers to the release. The error matches
// syscall.EFAULT if bytes of the release were unreadable: the message is cut.
func (w *reply) send() {
	sent := 0
	w.err = nil
	if w.conn.socket != nil {
		w.pieces = w.appendPieces(w.pieces[:0], 0)
		sent, w.err = w.conn.socket.WriteVector(w.pieces)
		clear(w.pieces)
	}
	if w.err == nil && sent < w.len() {
		w.conn.startWrite()
		if len(w.refs) == 0 {
			_, w.err = w.conn.Write(w.own[sent:])
		} else {
			rest := net.Buffers(w.appendPieces(nil, sent))
			_, w.err = rest.WriteTo(w.conn.Conn)
		}
		w.conn.now = time.Now()
	}
}

// stream sends the message, and then the output of write. The write timeout covers both. An error of
// write ends the connection.
func (w *reply) stream(write func(to io.Writer) error) {
	w.conn.startWrite()
	if _, w.err = w.conn.Write(w.own); w.err == nil {
		w.err = write(w.conn.Conn)
	}
	w.conn.now = time.Now()
}
