package http

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/http/connlimit"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// writeBuffer is the size of a write in bytes. It holds the header and body of most responses;
// longer ones take further writes.
const writeBuffer = 32 << 10

func newFastHTTP(limits *Limits, e *edge.Edge, m *meters) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:                      func(ctx *fasthttp.RequestCtx) { handle(ctx, e, m) },
		Name:                         serverName,
		Concurrency:                  2*limits.MaxConns + connlimit.Extra, // never reached: connlimit has the limits
		WriteTimeout:                 limits.WriteTimeout,
		WriteBufferSize:              writeBuffer,
		ReadBufferSize:               2 * limits.MaxHeader, // a normalized head may be longer than the client's
		NoDefaultContentType:         true,
		NoDefaultDate:                false,
		DisablePreParseMultipartForm: true,
		SecureErrorLogMessage:        true,
		Logger:                       ConnectionLog(limits.Log),
	}
}

// A handedConn is a connection for fasthttp: reads return one head and then the end.
type handedConn struct {
	net.Conn
	head []byte
}

// Read reads the head.
func (c *handedConn) Read(p []byte) (int, error) {
	if len(c.head) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.head)
	c.head = c.head[n:]
	return n, nil
}

// Close leaves the connection open: its conn closes it.
func (c *handedConn) Close() error { return nil }

// connWarnings limits the warnings about connections per second, so that no client can fill the log.
const connWarnings = 5

// ConnectionLog returns the log of warnings about connections, a few a second at most.
func ConnectionLog(log *slog.Logger) connLog {
	return connLog{observe.Limit(log, connWarnings, time.Second)}
}

// A connLog logs the warnings of HTTP servers about connections.
type connLog struct{ log *slog.Logger }

// Printf logs a message of fasthttp. The message quotes malformed bytes, which may hold a token,
// so only the connection and the failed step are logged.
func (l connLog) Printf(format string, args ...any) {
	parts := strings.SplitN(fmt.Sprintf(format, args...), ": ", 3)
	l.log.Warn(strings.Join(parts[:min(len(parts), 2)], ": "))
}

// Write logs a message of net/http, which quotes no request.
func (l connLog) Write(p []byte) (int, error) {
	l.log.Warn(string(bytes.TrimSpace(p)))
	return len(p), nil
}

// handle serves a request of fasthttp from the edge.
func handle(ctx *fasthttp.RequestCtx, e *edge.Edge, m *meters) {
	h := &ctx.Request.Header
	b := &body{edge: e, meters: m, meter: m.share(ctx.ConnID()), conn: ctx.Conn(), start: ctx.Time()}
	b.rq = request{method: h.Method(), target: h.RequestURI(), minor: '1', isHead: ctx.IsHead()}
	if !h.IsHTTP11() {
		b.rq.minor = '0'
	}
	for i, name := range fieldNames {
		b.rq.fields[i] = h.Peek(name)
	}
	rq := b.rq.forEdge(edge.AcceptsGzip(b.rq.fields[fieldAcceptEncoding]))
	b.rs = e.Begin(&rq)
	b.length = b.meter.count(b.rs, b.rq.isHead)
	setResponse(&ctx.Response, b)
}

// setResponse passes the response of b to fasthttp, which closes b after it has written the body.
func setResponse(rs *fasthttp.Response, b *body) {
	rs.SetStatusCode(b.rs.Status)
	for line := range bytes.Lines(appendFields(nil, b.rs, b.rq.origin(), b.rs.Status == fasthttp.StatusBadRequest)) {
		if key, value, ok := bytes.Cut(bytes.TrimSpace(line), []byte(": ")); ok {
			rs.Header.SetCanonical(key, value)
		}
	}
	if !b.rs.HasBody() {
		_ = b.Close() // which never fails
		return
	}
	// fasthttp closes a body stream once it is written, and keeps no buffer for it.
	rs.SetBodyStream(b, b.rs.Len())
}

// A body is the body of a response, for fasthttp, with the data to log and count once it was sent.
type body struct {
	edge   *edge.Edge
	rs     *edge.Response
	rq     request // valid until Close
	conn   net.Conn
	meters *meters
	meter  *meter    // the connection's share
	start  time.Time // when the request was read
	length int       // bytes to send: 0 for HEAD
}

var (
	_ io.ReadCloser = (*body)(nil)
	_ io.WriterTo   = (*body)(nil)
)

// Read fails: fasthttp prefers WriteTo.
func (b *body) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// WriteTo writes the body. Damage ends the connection, because the header is already sent.
func (b *body) WriteTo(w io.Writer) (int64, error) {
	err := b.rs.WriteBody(w)
	if unreadable(err) {
		b.edge.CutShort()
	}
	return int64(b.rs.Len()), err
}

// Close ends the response.
func (b *body) Close() error {
	b.meters.record(b.meter, b.rs.RouteClass(), b.start, b.conn, &b.rq, observe.Entry{
		Status: b.rs.Status, Bytes: b.length, Token: b.rs.Token, Release: b.rs.Release,
	})
	b.rs.End()
	return nil
}
