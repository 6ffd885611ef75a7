package http

import (
	"errors"
	"net/http"
	"syscall"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/status"
)

// A client serves the plain requests of one connection.
type client struct {
	edge     *edge.Edge
	meters   *meters
	meter    *meter // the connection's share
	prepared *preparedSet
	grant    auth.Grant // the last check of Authorization
	target   []byte     // buffer for a target without its api_key
	gzip     bool       // the last request accepted gzip
}

// origin returns the origin of rq.
func (rq *request) origin() origin {
	switch {
	case len(rq.fields[fieldOrigin]) == 0:
		return sameOrigin
	case string(rq.method) == http.MethodOptions:
		return preflight
	}
	return crossOrigin
}

// forEdge returns the edge's form of rq.
func (rq *request) forEdge(gzip bool) edge.Request {
	path, query := edge.SplitTarget(rq.target)
	return edge.Request{
		Method: rq.method, Path: path, Query: query,
		Authorization: rq.fields[fieldAuthorization], IfNoneMatch: rq.fields[fieldIfNoneMatch], UserAgent: rq.fields[fieldUserAgent],
		Gzip: gzip, Preflight: rq.origin() == preflight && len(rq.fields[fieldRequestMethod]) > 0,
	}
}

// respond implements responder.
func (c *client) respond(rq *request, w *reply, now time.Time) {
	if !rq.sameFields {
		c.grant, c.gzip = auth.Grant{}, edge.AcceptsGzip(rq.fields[fieldAcceptEncoding])
	}
	edgeRequest := rq.forEdge(c.gzip)
	// Prepared responses are for requests that accept gzip and have no Origin.
	preparable := rq.reads && c.gzip && len(rq.fields[fieldOrigin]) == 0
	// Without an api_key, so that all keys share a prepared response and no key is stored.
	var hasKey bool
	target := rq.target
	if c.target, hasKey = edge.OmitKey(c.target[:0], edgeRequest.Path, edgeRequest.Query); hasKey {
		target = c.target
	}
	if preparable && c.servePrepared(rq, target, edgeRequest.Query, w, now) {
		return
	}
	edgeRequest.Grant = &c.grant
	rs := c.edge.Begin(&edgeRequest)
	defer rs.End()
	// The body lies in files of the release, which may have been truncated since the check.
	err := release.Guard(func() error { c.write(rq, w, rs, now); return nil })
	if err == nil {
		err = rs.Charge(len(w.buf)) // bytes copied from the body
	}
	if err != nil {
		w.discard()
		rs.Refuse(err)
		c.write(rq, w, rs, now)
	}
	length := c.meter.count(rs, rq.isHead)
	if rs.Streams && !rq.isHead {
		w.stream(rs)
	} else {
		w.send()
	}
	if unreadable(w.err) {
		c.edge.CutShort()
	}
	c.meters.record(c.meter, rs.RouteClass(), now, w.conn, rq, observe.Entry{Status: rs.Status, Bytes: length, Token: rs.Token, Release: rs.Release})
	if preparable && rs.Lasting() {
		c.meter.misses.Add(1)
		c.prepared.learn(target, rs)
	}
}

// write fills w with rs, without a body that is streamed.
func (c *client) write(rq *request, w *reply, rs *edge.Response, now time.Time) {
	w.last = w.last || rs.Status == http.StatusBadRequest
	w.buf = appendFields(appendStart(w.buf, rs.Status, now), rs, rq.origin(), w.last)
	if !rq.isHead && rs.HasBody() && !rs.Streams {
		rs.Pieces(func(b []byte, stable bool) { w.add(b, stable) })
	}
}

// unreadable reports whether a response ended early because its release could not be read, by this process or
// by the kernel.
func unreadable(err error) bool {
	return errors.Is(err, release.ErrCorrupt) || errors.Is(err, syscall.EFAULT)
}

// servePrepared sends the prepared response to a request. It returns false and does nothing without one.
func (c *client) servePrepared(rq *request, target, query []byte, w *reply, now time.Time) bool {
	held := c.edge.Releases.Acquire()
	defer held.Release() // after send, because segments of the response lie in the release
	p := c.prepared.find(target, held)
	if p == nil || w.copyAll && p.body.len() > edge.MaxWhole {
		return false
	}
	result := c.edge.Authorize(rq.fields[fieldAuthorization], query, &c.grant, now.Unix())
	if !result.OK || !result.Meter.Begin(now) {
		return false
	}
	defer result.Meter.End()
	var code, length int
	err := release.Guard(func() error { code, length = p.write(w, rq, now); return nil })
	copied := len(w.buf)
	if err != nil || !c.edge.Charge(copied) {
		w.discard()
		return false // the general path refuses it
	}
	defer c.edge.Charge(-copied)
	result.Meter.Add(now, p.extraRequests)
	if c.edge.FromDisk() {
		release.AwaitAll(len(w.refs), func(i int) []byte { return w.refs[i].b })
	}
	class := edge.RouteNotModified
	if code == http.StatusOK {
		class = p.class
	}
	c.meter.add(class, code, length, code == http.StatusOK)
	c.meter.hits.Add(1)
	if w.send(); unreadable(w.err) {
		c.edge.CutShort()
	}
	c.meters.record(c.meter, class, now, w.conn, rq, observe.Entry{Status: code, Bytes: length, Token: result.Name, Release: held.Reader.Manifest().ID})
	return true
}

// refusedResponse returns the response to a head that is no valid request, or to a connection above the limits, and the length of its body.
func refusedResponse(code int, isHead bool, now time.Time, m *meters) (response []byte, sent int) {
	refusal, allow := status.InvalidInput, ""
	switch code {
	case http.StatusMethodNotAllowed:
		refusal, allow = status.MethodNotAllowed, allMethods
	case http.StatusTooManyRequests:
		refusal = status.TooManyRequests
	case http.StatusServiceUnavailable:
		refusal = status.Offline
	}
	rs := edge.Refusal(code, refusal)
	rs.Allow = allow
	sent = m.share(0).count(&rs, isHead)
	response = appendFields(appendStart(nil, code, now), &rs, sameOrigin, true /* last */)
	return append(response, refusal.Body()[:sent]...), sent
}
