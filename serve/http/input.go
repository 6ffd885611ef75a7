package http

import (
	"bytes"
	"net/http"
)

// An input holds the bytes of a client that have no response yet. buf belongs to the caller of
// Read, until Read returns.
type input struct {
	parser parser
	rest   []byte // behind the head that the server got last
	buf    []byte // of the Read under way
	n      int    // bytes in buf
	parsed int    // of them, known to be no whole head
	unseen bool   // the bytes in buf were not parsed
	err    error  // of the socket
}

// parse parses the bytes in buf from an offset on. The offset is 0 where some of them were
// parsed before.
func (in *input) parse(from int, rq *plainRequest) (int, verdict) {
	// Only the end of a line makes a difference. Without this, sending a head byte by byte
	// would cost the square of its length.
	if in.parsed > 0 && bytes.IndexByte(in.buf[in.parsed:in.n], '\n') < 0 && bytes.IndexByte(in.buf[in.parsed:in.n], '\r') < 0 &&
		in.buf[in.parsed-1] != '\r' {
		in.parsed = in.n
		return 0, partial
	}
	n, v := in.parser.parse(in.buf[from:in.n], rq)
	in.parsed = 0
	if v == partial {
		in.parsed = in.n - from
	}
	return n, v
}

// tooLong returns the status for a head that does not fit into buf.
func (in *input) tooLong() int {
	if bytes.IndexByte(in.buf[emptyLines(in.buf):], '\n') < 0 {
		return http.StatusRequestURITooLong
	}
	return http.StatusRequestHeaderFieldsTooLarge
}

// isHead reports whether the current request, valid or not, is a HEAD.
func (in *input) isHead() bool {
	return hasPrefix(in.buf[emptyLines(in.buf[:in.n]):in.n], http.MethodHead+" ")
}

// isEmpty reports whether no byte of a request has come.
func (in *input) isEmpty() bool { return emptyLines(in.buf[:in.n]) == in.n }
