package http

import (
	"bytes"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// entryOf returns the log entry of a response of fasthttp, or nil if it is not logged. It copies all bytes of the
// request.
func (m *meters) entryOf(ctx *fasthttp.RequestCtx, rs *edge.Response, sent int) *observe.Entry {
	if m.access == nil {
		return nil
	}
	h := &ctx.Request.Header
	path, query := edge.SplitTarget(bytes.Clone(h.RequestURI()))
	e := &observe.Entry{
		Time: ctx.Time(), Client: ctx.RemoteAddr(), Method: bytes.Clone(h.Method()), Path: path, Query: query,
		Protocol: string(h.Protocol()), Status: rs.Status, Bytes: sent, Class: rs.RouteClass().String(), Token: rs.Token,
		UserAgent: bytes.Clone(h.UserAgent()), Release: rs.Release,
	}
	if lines := h.PeekAll(headerTraceparent); len(lines) == 1 {
		e.Traceparent = bytes.Clone(lines[0])
	}
	return e
}

// headerTraceparent has the trace of a request, for logs. Responses omit it: a cache would send one client's trace to
// others.
const headerTraceparent = "Traceparent"

// log logs the response to rq over w, which has been sent.
func (m *meters) log(rq *request, w *reply, e *observe.Entry) {
	e.Client, e.Protocol, e.Method = w.conn.RemoteAddr(), "HTTP/1.1", rq.method
	e.Path, e.Query = edge.SplitTarget(rq.target)
	e.UserAgent, e.Traceparent = rq.fields[fieldUserAgent], rq.fields[fieldTraceparent]
	m.access.Write(e)
}

// logRefused logs a response to a head that is not a request, with a body of sent bytes.
func (m *meters) logRefused(c *conn, status, sent int, now time.Time) {
	if m.access != nil {
		m.access.Write(&observe.Entry{Time: now, Client: c.RemoteAddr(), Status: status, Bytes: sent, Class: edge.RouteError.String()})
	}
}
