package serve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"reelsplice/serve/connlimit"
	"reelsplice/serve/lane"
	"reelsplice/serve/logs"
	"reelsplice/serve/status"
)

// writeBuffer is how many bytes of an answer go out in one write. It holds header and
// body of most answers; a longer one takes a second write.
const writeBuffer = 32 << 10

// never is longer than any connection lasts.
const never = 100 * 365 * 24 * time.Hour

func newFastHTTP(cfg Config, e *Edge, m *meters) *fasthttp.Server {
	return &fasthttp.Server{
		Handler:                      func(ctx *fasthttp.RequestCtx) { handle(ctx, e, m) },
		ErrorHandler:                 func(ctx *fasthttp.RequestCtx, _ error) { badRequest(ctx, m) },
		Name:                         serverName,
		Concurrency:                  2*cfg.MaxConns + connlimit.Extra, // never reached: connlimit has the limits
		ReadTimeout:                  cfg.ReadTimeout,
		WriteTimeout:                 cfg.WriteTimeout,
		IdleTimeout:                  cmp.Or(cfg.IdleTimeout, never), // 0 would be ReadTimeout
		WriteBufferSize:              writeBuffer,
		ReadBufferSize:               cfg.MaxHeader + lane.Slack,
		NoDefaultContentType:         true,
		NoDefaultDate:                false,
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true,
		Logger:                       connectionLog(cfg.Log),
	}
}

// connWarnings is how many warnings a second there are at most about connections, so that
// no client fills the log.
const connWarnings = 5

// connectionLog returns what logs warnings about connections.
func connectionLog(log *slog.Logger) connLogger {
	return connLogger{logs.Limit(log, connWarnings, time.Second)}
}

// A connLogger logs what fasthttp says of connections. Its messages quote what it could
// not read, which may hold a token, so only which connection and which step failed
// are kept.
type connLogger struct{ log *slog.Logger }

func (l connLogger) Printf(format string, args ...any) {
	parts := strings.SplitN(fmt.Sprintf(format, args...), ": ", 3)
	l.log.Warn(strings.Join(parts[:min(len(parts), 2)], ": "))
}

// Write logs a message of net/http's, which quotes no request.
func (l connLogger) Write(p []byte) (int, error) {
	l.log.Warn(string(bytes.TrimSpace(p)))
	return len(p), nil
}

// badRequest answers what fasthttp could not read. Package lane refuses all of that before.
func badRequest(ctx *fasthttp.RequestCtx, m *meters) {
	code := status.InvalidInput
	ctx.SetStatusCode(code.HTTP())
	ctx.SetContentType(contentType)
	ctx.SetBody(code.Body())
	m.add(code.HTTP(), len(code.Body()), false /* gzip */)
}

// handle is the adapter between fasthttp and the Edge.
func handle(ctx *fasthttp.RequestCtx, e *Edge, m *meters) {
	h := &ctx.Request.Header
	uri := h.RequestURI()
	path, query := splitURI(uri)
	rq := Request{
		Method: h.Method(), Path: path, Query: query,
		Authorization:  h.Peek(fasthttp.HeaderAuthorization),
		AcceptEncoding: list(h, fasthttp.HeaderAcceptEncoding),
		IfNoneMatch:    list(h, fasthttp.HeaderIfNoneMatch),
		Preflight:      len(h.Peek(fasthttp.HeaderOrigin)) > 0 && len(h.Peek(fasthttp.HeaderAccessControlRequestMethod)) > 0,
		Stream:         true,
	}
	w := e.begin(&rq)
	m.count(&w.rs)
	write(ctx, w)
}

// list returns a header whose value is a list. It may come in several lines, which
// mean the same as one with commas.
func list(h *fasthttp.RequestHeader, name string) []byte {
	lines := h.PeekAll(name)
	switch len(lines) {
	case 0:
		return nil
	case 1:
		return lines[0]
	}
	return bytes.Join(lines, []byte(","))
}

// splitURI divides a request target at its question mark. A fragment is cut off.
func splitURI(uri []byte) (path, query []byte) {
	for i, c := range uri {
		switch c {
		case '?':
			return uri[:i], cutFragment(uri[i+1:])
		case '#':
			return uri[:i], nil
		}
	}
	return uri, nil
}

func cutFragment(q []byte) []byte {
	for i, c := range q {
		if c == '#' {
			return q[:i]
		}
	}
	return q
}

// write gives the answer of w to fasthttp, which ends w when it has written the body.
func write(ctx *fasthttp.RequestCtx, w *worker) {
	resp, rs := &ctx.Response, &w.rs
	h := &resp.Header
	resp.SetStatusCode(rs.Status)
	if rs.Last {
		resp.SetConnectionClose()
	}
	var buf [maxFields]field
	for _, f := range rs.appendFields(buf[:0], len(ctx.Request.Header.Peek(fasthttp.HeaderOrigin)) > 0, ctx.IsOptions()) {
		h.SetCanonical(s2b(f.key), f.value)
	}
	if !rs.hasBody() {
		w.end()
		return
	}
	if rs.Gzip {
		h.SetContentEncodingBytes(valueGzip)
	}
	h.SetContentTypeBytes(valueJSON)
	// A stream is told when the body is written, and leaves no buffer with the connection.
	resp.SetBodyStream((*bodyStream)(w), rs.Len())
}

// A bodyStream is the body of a worker's answer, for fasthttp.
type bodyStream worker

var (
	_ io.ReadCloser = (*bodyStream)(nil)
	_ io.WriterTo   = (*bodyStream)(nil)
)

// Read fails: fasthttp calls WriteTo where there is one.
func (s *bodyStream) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// WriteTo writes the body. Damage ends the connection, for the header is out.
func (s *bodyStream) WriteTo(w io.Writer) (int64, error) {
	err := s.rs.WriteBody(w)
	if unreadable(err) {
		s.edge.cutShort()
	}
	return int64(s.rs.Len()), err
}

// Close ends the worker.
func (s *bodyStream) Close() error {
	(*worker)(s).end()
	return nil
}
