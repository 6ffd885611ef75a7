package http

import (
	"bufio"
	"cmp"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
)

// A message is a response, or its body, for a socket: bytes in a buffer, and references to bytes in
// the release.
type message struct {
	buf      []byte
	refs     []ref
	refBytes int  // bytes in refs
	copyAll  bool // copy all bytes into buf
}

// A ref follows buf[:offset] in the message.
type ref struct {
	offset int
	b      []byte
}

// copyBelow is the length below which bytes are copied: for the kernel, another piece of a response costs more than the
// copy.
const copyBelow = 1 << 10

// add adds b. If stable is set, b does not change while m is used, and is not copied.
func (m *message) add(b []byte, stable bool) {
	if !stable || m.copyAll || len(b) < copyBelow {
		m.buf = append(m.buf, b...)
		return
	}
	m.refs = append(m.refs, ref{len(m.buf), b})
	m.refBytes += len(b)
}

// addMessage adds the content of other.
func (m *message) addMessage(other *message) {
	from := 0
	for i := range other.refs {
		r := &other.refs[i]
		m.buf = append(m.buf, other.buf[from:r.offset]...)
		m.add(r.b, true /* stable */)
		from = r.offset
	}
	m.buf = append(m.buf, other.buf[from:]...)
}

// len returns the length in bytes.
func (m *message) len() int { return len(m.buf) + m.refBytes }

// appendPieces appends the message without its first skip bytes, as slices in order.
func (m *message) appendPieces(dst [][]byte, skip int) [][]byte {
	from := 0
	for i := range m.refs {
		r := &m.refs[i]
		dst, skip = appendPiece(dst, m.buf[from:r.offset], skip)
		dst, skip = appendPiece(dst, r.b, skip)
		from = r.offset
	}
	dst, _ = appendPiece(dst, m.buf[from:], skip)
	return dst
}

func appendPiece(dst [][]byte, b []byte, skip int) (pieces [][]byte, rest int) {
	if skip >= len(b) {
		return dst, skip - len(b)
	}
	return append(dst, b[skip:]), 0
}

// discard empties m and drops its references.
func (m *message) discard() {
	clear(m.refs)
	m.buf, m.refs, m.refBytes = m.buf[:0], m.refs[:0], 0
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
// syscall.EFAULT if bytes of the release were unreadable: then the message was sent only in part.
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
			_, w.err = w.conn.Write(w.buf[sent:])
		} else {
			rest := net.Buffers(w.appendPieces(nil, sent))
			_, w.err = rest.WriteTo(w.conn.Conn)
		}
		w.conn.now = time.Now()
	}
}

// streamBuffers hold free *bufio.Writers for streams.
var streamBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeBuffer) }}

// stream sends the message, and then the body of rs while it is made. The write timeout covers both.
func (w *reply) stream(rs *edge.Response) {
	w.conn.startWrite()
	if _, w.err = w.conn.Write(w.buf); w.err == nil {
		b := streamBuffers.Get().(*bufio.Writer)
		b.Reset(w.conn.Conn)
		if w.err = rs.WriteBody(b); w.err == nil {
			w.err = b.Flush()
		}
		b.Reset(nil) // releases the connection
		streamBuffers.Put(b)
	}
	w.conn.now = time.Now()
}

// Names and values of header fields as they go over the wire.
const (
	serverName     = "reelsplice"
	headerCallback = "Authentication-Callback"
	headerRelease  = "X-Reelsplice-Release"
	headerSince    = "X-Reelsplice-Data-Since"
	contentType    = "application/json;charset=utf-8"
	allMethods     = "GET, HEAD, OPTIONS"
	vary           = "Accept-Encoding, Origin"
	authenticate   = `Bearer realm="reelsplice"`
	// Browsers send only methods and fields that the preflight allows. It allows all, so that
	// the page gets the 404 or 405. An asterisk does not include Authorization, and old browsers
	// ignore it.
	preflightMethods = "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE"
	preflightFields  = "Authorization, Content-Type, If-None-Match, X-Requested-With, baggage, traceparent, tracestate, *"
	preflightAge     = "86400" // seconds
	exposed          = "ETag, Content-Length, X-Reelsplice-Release, Authentication-Callback"
)

// An origin is the origin of the page that sent a request.
type origin uint8

const (
	sameOrigin  origin = iota
	crossOrigin        // a page of another origin sent it
	preflight          // its preflight
)

// appendFields appends the fields of rs after the value of Date, up to the empty line. The fast path, prepared responses
// and fasthttp all send them. last is set if the connection ends after rs, as after every 400, when the start of the next
// request is uncertain.
func appendFields(dst []byte, rs *edge.Response, from origin, last bool) []byte {
	dst = append(dst, "\r\n"...)
	if rs.HasBody() {
		dst = appendField(dst, fasthttp.HeaderContentType, cmp.Or(rs.Type, contentType))
		if rs.Gzip {
			dst = appendField(dst, fasthttp.HeaderContentEncoding, "gzip")
		}
		dst = append(dst, fasthttp.HeaderContentLength+": "...)
		dst = append(strconv.AppendInt(dst, int64(rs.Len()), 10), "\r\n"...)
	}
	dst = appendField(dst, fasthttp.HeaderCacheControl, rs.Cache)
	dst = appendField(dst, fasthttp.HeaderVary, vary)
	dst = appendField(dst, fasthttp.HeaderETag, rs.ETag)
	dst = appendField(dst, headerRelease, rs.Release)
	dst = appendField(dst, headerSince, rs.Since)
	dst = appendField(dst, "Surrogate-Key", rs.Keys)
	if rs.Policy != "" { // the web page
		dst = appendField(dst, fasthttp.HeaderContentSecurityPolicy, rs.Policy)
		dst = appendField(dst, fasthttp.HeaderXContentTypeOptions, "nosniff")
		dst = appendField(dst, fasthttp.HeaderReferrerPolicy, "no-referrer")
		dst = appendField(dst, "Cross-Origin-Opener-Policy", "same-origin")
	}
	if from != sameOrigin {
		dst = appendField(dst, fasthttp.HeaderAccessControlAllowOrigin, "*")
		dst = appendField(dst, fasthttp.HeaderAccessControlExposeHeaders, exposed)
	}
	if from == preflight {
		dst = appendField(dst, fasthttp.HeaderAccessControlAllowMethods, preflightMethods)
		dst = appendField(dst, fasthttp.HeaderAccessControlAllowHeaders, preflightFields)
		dst = appendField(dst, fasthttp.HeaderAccessControlMaxAge, preflightAge)
	}
	if rs.Status != http.StatusOK {
		dst = appendField(dst, fasthttp.HeaderAllow, rs.Allow)
	}
	switch rs.Status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		dst = appendField(dst, fasthttp.HeaderRetryAfter, strconv.Itoa(max(1, rs.Retry))) // allocates from 100 on
	case http.StatusUnauthorized:
		dst = appendField(dst, fasthttp.HeaderWWWAuthenticate, authenticate)
	}
	if rs.HasBody() {
		dst = appendField(dst, headerCallback, rs.Callback)
	}
	if last {
		dst = appendField(dst, fasthttp.HeaderConnection, "close")
	}
	return append(dst, "\r\n"...)
}

// appendField appends a field that has a value.
func appendField[T string | []byte](dst []byte, key string, value T) []byte {
	if len(value) == 0 {
		return dst
	}
	dst = append(append(dst, key...), ": "...)
	return append(append(dst, value...), "\r\n"...)
}

// appendStart appends the status line, Server and Date, which is now. appendFields appends the other fields.
func appendStart(dst []byte, code int, now time.Time) []byte {
	dst = append(strconv.AppendInt(append(dst, "HTTP/1.1 "...), int64(code), 10), ' ')
	dst = append(append(dst, fasthttp.StatusMessage(code)...), "\r\nServer: "+serverName+"\r\nDate: "...)
	second := now.Unix()
	d := lastDate.Load()
	if d == nil || d.second != second {
		d = &date{second, now.UTC().AppendFormat(nil, http.TimeFormat)}
		lastDate.Store(d)
	}
	return append(dst, d.text...)
}

// lastDate has the value of Date for the current second.
var lastDate atomic.Pointer[date]

type date struct {
	second int64 // unix
	text   []byte
}
