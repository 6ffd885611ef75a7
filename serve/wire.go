package serve

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"

	"reelsplice/schemas/release"
	"reelsplice/serve/auth"
	"reelsplice/serve/lane"
	"reelsplice/serve/route"
	"reelsplice/serve/status"
)

// newLane returns how the plain requests of connections are answered, beside the server of
// newFastHTTP and with the same bytes.
func newLane(cfg Config, e *Edge, m *meters, ps *plans) lane.Config {
	dates := new(dateCache)
	return lane.Config{
		Refuse: func(dst []byte, code int, isHead bool, now time.Time) []byte {
			return appendRefused(dst, code, isHead, dates.at(now), m)
		},
		Open:         func() lane.Handler { return &client{edge: e, meters: m, dates: dates, plans: ps} },
		ReadTimeout:  cfg.ReadTimeout,
		WriteTimeout: cfg.WriteTimeout,
		IdleTimeout:  cfg.IdleTimeout,
	}
}

// A client answers the plain requests of one connection.
type client struct {
	edge   *Edge
	meters *meters
	dates  *dateCache
	plans  *plans
	grant  auth.Grant // of the last request's Authorization
	target []byte     // of the last request, without its api_key
	gzip   bool       // the last request took gzip
}

var (
	methodGet  = []byte(http.MethodGet)
	methodHead = []byte(http.MethodHead)
)

// Answer is the adapter between package lane and the Edge.
func (c *client) Answer(lr *lane.Request, w *lane.Writer, now time.Time) {
	if !lr.Same {
		c.grant, c.gzip = auth.Grant{}, AcceptsGzip(lr.AcceptEncoding)
	}
	// Plans are for those who take gzip and are no pages of browsers.
	usual := c.gzip && len(lr.Origin) == 0
	path, query := splitURI(lr.Target)
	target := c.withoutKey(lr.Target, path, query)
	if usual && c.again(lr, target, query, w, now) {
		return
	}
	rq := Request{
		Method: methodGet, Path: path, Query: query,
		Authorization: lr.Authorization, AcceptEncoding: lr.AcceptEncoding, IfNoneMatch: lr.IfNoneMatch,
		Pieces: true, Stream: true, Grant: &c.grant,
	}
	if lr.Head {
		rq.Method = methodHead
	}
	k := c.edge.begin(&rq)
	defer k.end()
	rs := &k.rs
	// The body lies in the release, which may have been cut since it was checked.
	err := release.Guard(func() error { c.write(lr, w, rs, now); return nil })
	if err == nil && rs.Pieces != nil {
		err = k.lease.set(k.lease.n + len(w.Buffer())) // what is copied of the body
	}
	if err != nil {
		w.Discard()
		c.edge.refuse(&rq, rs, err)
		c.write(lr, w, rs, now)
	}
	c.meters.count(rs)
	if rs.Stream && !lr.Head {
		c.stream(w, rs)
	} else {
		c.send(w)
	}
	if usual && rs.lasts != nil {
		c.plans.learn(target, rs)
	}
}

// write gives rs to w, but for a body that is streamed.
func (c *client) write(lr *lane.Request, w *lane.Writer, rs *Response, now time.Time) {
	w.SetBuffer(appendHead(w.Buffer(), rs, c.dates.at(now), len(lr.Origin) > 0))
	if !lr.Head && !rs.Stream {
		appendBody(w, rs)
	}
	if rs.Last {
		w.Close()
	}
}

// streamBuffers hold the *bufio.Writer of streams.
var streamBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, writeBuffer) }}

// stream sends what w has, and the body while it is made.
func (c *client) stream(w *lane.Writer, rs *Response) {
	w.Stream(func(to io.Writer) error {
		b := streamBuffers.Get().(*bufio.Writer)
		defer streamBuffers.Put(b)
		defer b.Reset(nil) // lets go of the connection
		b.Reset(to)
		err := rs.WriteBody(b)
		if unreadable(err) {
			c.edge.cutShort()
		}
		if err != nil {
			return err
		}
		return b.Flush()
	})
}

// unreadable reports whether a response ended early because its release could not be read, by this process or
// by the kernel.
func unreadable(err error) bool {
	return errors.Is(err, release.ErrCorrupt) || errors.Is(err, syscall.EFAULT)
}

// send sends what w has. An answer that the kernel could not read to its end is cut: the
// connection ends.
func (c *client) send(w *lane.Writer) {
	w.Send()
	if w.Faulted() {
		c.edge.cutShort()
	}
}

// withoutKey returns a target without its api_key. So all keys share a plan, and no plan
// holds one. The result is valid until the next call.
func (c *client) withoutKey(target, path, query []byte) []byte {
	if len(query) > route.MaxQuery {
		return target // refused, whatever its key
	}
	short, found := route.Omit(append(append(c.target[:0], path...), '?'), query, paramAPIKey)
	c.target = short
	if !found {
		return target
	}
	if len(short) == len(path)+len("?") {
		return short[:len(path)]
	}
	return short
}

// again answers a request that has a plan. It is false when it has done nothing.
func (c *client) again(lr *lane.Request, target, query []byte, w *lane.Writer, now time.Time) bool {
	held := c.edge.releases.Acquire()
	defer held.Release() // behind Send, for the parts of the plan lie in the release
	p := c.plans.find(target, held)
	if p == nil {
		return false
	}
	if !c.edge.authorize(lr.Authorization, query, &c.grant, now.Unix()).OK {
		return false
	}
	var status, length int
	err := release.Guard(func() error { status, length = p.write(w, c.dates.at(now), lr); return nil })
	copied := len(w.Buffer()) // short parts among it
	if err != nil || !c.edge.inflight.add(copied) {
		w.Discard()
		return false // the long way says what is wrong
	}
	defer c.edge.inflight.add(-copied)
	c.meters.add(status, length, status == http.StatusOK)
	c.send(w)
	return true
}

// appendHead appends the status line and the header of rs as fasthttp writes them.
func appendHead(dst []byte, rs *Response, date []byte, cors bool) []byte {
	dst = append(dst, statusLine(rs.Status)...)
	return appendRest(append(dst, date...), rs, cors)
}

// appendRest appends what comes behind the value of Date.
func appendRest(dst []byte, rs *Response, cors bool) []byte {
	dst = append(dst, "\r\n"...)
	if rs.hasBody() {
		dst = append(dst, "Content-Type: "+contentType+"\r\n"...)
		if rs.Gzip {
			dst = append(dst, "Content-Encoding: gzip\r\n"...)
		}
		dst = append(strconv.AppendInt(append(dst, "Content-Length: "...), int64(rs.Len()), 10), "\r\n"...)
	}
	var buf [maxFields]field
	for _, f := range rs.appendFields(buf[:0], cors, false /* options */) {
		dst = append(append(dst, f.key...), ": "...)
		dst = append(append(dst, f.value...), "\r\n"...)
	}
	if rs.Last {
		dst = append(dst, "Connection: close\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// appendRefused appends the response to a head that is no valid request, or to a connection above the limits.
func appendRefused(dst []byte, code int, isHead bool, date []byte, m *meters) []byte {
	rs := Response{Status: code, Body: status.InvalidInput.Body(), shared: true, Cache: noStore, Last: true}
	switch code {
	case http.StatusMethodNotAllowed:
		rs.Body, rs.Allow = status.MethodNotAllowed.Body(), allMethods
	case http.StatusTooManyRequests:
		rs.Body = status.TooManyRequests.Body()
	case http.StatusServiceUnavailable:
		rs.Body = status.Offline.Body()
	}
	m.count(&rs)
	dst = appendHead(dst, &rs, date, false /* cors */)
	if isHead {
		return dst
	}
	return append(dst, rs.Body...)
}

// statusLine returns the status line and all up to the value of Date.
func statusLine(code int) string {
	if line := statusLines[code]; line != "" {
		return line // Fast path: nothing is made.
	}
	return newStatusLine(code)
}

// statusLines has, by status, the lines of those that the edge can answer with.
var statusLines = func() (lines [len(meters{}.codes)]string) {
	for _, s := range sentStatuses {
		lines[s] = newStatusLine(s)
	}
	return lines
}()

func newStatusLine(code int) string {
	return "HTTP/1.1 " + strconv.Itoa(code) + " " + fasthttp.StatusMessage(code) + "\r\nServer: " + serverName + "\r\nDate: "
}

// appendBody appends the body of rs.
func appendBody(w *lane.Writer, rs *Response) {
	if !rs.hasBody() {
		return
	}
	if rs.Pieces == nil {
		w.Refer(rs.Body)
		return
	}
	rs.Pieces.GzipPieces(func(b []byte, lasts bool) {
		if lasts {
			w.Refer(b)
		} else {
			w.Append(b)
		}
	})
}

// A dateCache has the value of Date for the current second.
type dateCache struct{ last atomic.Pointer[date] }

type date struct {
	second int64 // unix
	text   []byte
}

// at returns the value of Date at now, which must not be changed.
func (c *dateCache) at(now time.Time) []byte {
	second := now.Unix()
	if d := c.last.Load(); d != nil && d.second == second {
		return d.text
	}
	d := &date{second, now.UTC().AppendFormat(nil, http.TimeFormat)}
	c.last.Store(d)
	return d.text
}
