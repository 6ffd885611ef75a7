package http

import (
	"bytes"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/observe"
)

// entryOf returns what is logged of a response of fasthttp, with copies of all that ends with the request; nil if
// it is not logged.
func (m *meters) entryOf(ctx *fasthttp.RequestCtx, rs *edge.Response, sent int) *observe.Entry {
	if !m.access.Wants(rs.Status) {
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

// headerTraceparent has the trace of a request, for logs. It is not sent back: a cache would keep it, and give one client's
// trace to others.
const headerTraceparent = "Traceparent"

// log logs the response to pr over w, which has been sent.
func (m *meters) log(pr *plainRequest, w *reply, e *observe.Entry) {
	e.Client, e.Protocol = w.conn.RemoteAddr(), "HTTP/1.1"
	e.Method = methodGet
	if pr.isHead {
		e.Method = methodHead
	}
	e.Path, e.Query = edge.SplitTarget(pr.target)
	e.UserAgent = pr.UserAgent()
	if value, lines := fieldValue(pr.head, "traceparent"); lines == 1 {
		e.Traceparent = value
	}
	m.access.Write(e)
}

// UserAgent returns the value of the field User-Agent. It is looked for only when it is logged.
func (pr *plainRequest) UserAgent() []byte {
	value, _ := fieldValue(pr.head, "user-agent")
	return value
}

// logRefused logs a response to a head that is no request, with a body of sent bytes.
func (m *meters) logRefused(c *fastConn, status, sent int, now time.Time) {
	if m.access.Wants(status) {
		m.access.Write(&observe.Entry{Time: now, Client: c.RemoteAddr(), Status: status, Bytes: sent, Class: edge.RouteError.String()})
	}
}

// fieldValue returns the value of the first header field with a name, in lower case, of a valid head, and
// how many lines have that name.
func fieldValue(head []byte, name string) (value []byte, lines int) {
	for line := range bytes.Lines(head) {
		key, v, found := bytes.Cut(line, []byte(":"))
		if !found || !isName(key, name) {
			continue
		}
		if lines++; lines == 1 {
			value = bytes.TrimSpace(v)
		}
	}
	return value, lines
}
