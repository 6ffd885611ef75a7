package http

import (
	"cmp"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
)

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

// A field is a header field.
type field struct {
	key   string
	value string // "" for a number
	n     int
}

// A header holds the fields of one response in their order, without Server and Date. The fast path,
// prepared responses and fasthttp all write it.
type header struct {
	fields [20]field
	n      int
}

// An origin is the origin of the page that sent a request.
type origin uint8

const (
	sameOrigin  origin = iota
	crossOrigin        // a page of another origin sent it
	preflight          // its preflight
)

// set fills h with the fields of rs. last is set if the connection ends after it, as after every 400, when the
// start of the next request is uncertain.
func (h *header) set(rs *edge.Response, from origin, last bool) {
	h.n = 0
	if rs.HasBody() {
		h.add(fasthttp.HeaderContentType, cmp.Or(rs.Type, contentType))
		if rs.Gzip {
			h.add(fasthttp.HeaderContentEncoding, "gzip")
		}
		h.fields[h.n] = field{key: fasthttp.HeaderContentLength, n: rs.Len()}
		h.n++
	}
	h.add(fasthttp.HeaderCacheControl, rs.Cache)
	h.add(fasthttp.HeaderVary, vary)
	h.add(fasthttp.HeaderETag, textOf(rs.ETag))
	h.add(headerRelease, rs.Release)
	h.add(headerSince, rs.Since)
	h.add("Surrogate-Key", textOf(rs.Keys))
	if rs.Policy != "" { // the web page
		h.add(fasthttp.HeaderContentSecurityPolicy, rs.Policy)
		h.add(fasthttp.HeaderXContentTypeOptions, "nosniff")
		h.add(fasthttp.HeaderReferrerPolicy, "no-referrer")
		h.add("Cross-Origin-Opener-Policy", "same-origin")
	}
	if from != sameOrigin {
		h.add(fasthttp.HeaderAccessControlAllowOrigin, "*")
		h.add(fasthttp.HeaderAccessControlExposeHeaders, exposed)
	}
	if from == preflight {
		h.add(fasthttp.HeaderAccessControlAllowMethods, preflightMethods)
		h.add(fasthttp.HeaderAccessControlAllowHeaders, preflightFields)
		h.add(fasthttp.HeaderAccessControlMaxAge, preflightAge)
	}
	if rs.Status != http.StatusOK {
		h.add(fasthttp.HeaderAllow, rs.Allow)
	}
	switch rs.Status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		h.add(fasthttp.HeaderRetryAfter, strconv.Itoa(max(1, rs.Retry))) // allocates from 100 on
	case http.StatusUnauthorized:
		h.add(fasthttp.HeaderWWWAuthenticate, authenticate)
	}
	if rs.HasBody() {
		h.add(headerCallback, rs.Callback)
	}
	if last {
		h.add(fasthttp.HeaderConnection, "close")
	}
}

// add adds a field that has a value.
func (h *header) add(key, value string) {
	if value != "" {
		h.fields[h.n] = field{key: key, value: value}
		h.n++
	}
}

// appendTo appends the fields after the value of Date, up to the empty line.
func (h *header) appendTo(dst []byte) []byte {
	dst = append(dst, "\r\n"...)
	for i := range h.fields[:h.n] {
		f := &h.fields[i]
		dst = append(append(dst, f.key...), ": "...)
		if f.value == "" {
			dst = strconv.AppendInt(dst, int64(f.n), 10)
		}
		dst = append(append(dst, f.value...), "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// appendHead appends status line and header of rs.
func appendHead(dst []byte, rs *edge.Response, date []byte, from origin, last bool) []byte {
	dst = append(append(dst, statusLine(rs.Status)...), date...)
	var h header
	h.set(rs, from, last)
	return h.appendTo(dst)
}

// statusLine returns the status line and the fields before the value of Date.
func statusLine(code int) string {
	if line := statusLines[code]; line != "" {
		return line // fast path: no allocation
	}
	return newStatusLine(code)
}

// statusLines has, by status, the lines of all responses of the edge.
var statusLines = func() (lines [maxStatus]string) {
	for _, s := range sentStatuses {
		lines[s] = newStatusLine(s)
	}
	return lines
}()

func newStatusLine(code int) string {
	return "HTTP/1.1 " + strconv.Itoa(code) + " " + fasthttp.StatusMessage(code) + "\r\nServer: " + serverName + "\r\nDate: "
}

// A dateCache has the value of Date for the current second.
type dateCache struct{ last atomic.Pointer[date] }

type date struct {
	second int64 // unix
	text   []byte
}

// at returns the value of Date at now. It is read only.
func (c *dateCache) at(now time.Time) []byte {
	second := now.Unix()
	if d := c.last.Load(); d != nil && d.second == second {
		return d.text
	}
	d := &date{second, now.UTC().AppendFormat(nil, http.TimeFormat)}
	c.last.Store(d)
	return d.text
}

// textOf returns b as text without a copy, which would be an allocation for each header
// value of a request. b must not change.
func textOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf returns the bytes of s without a copy. They are read only; fasthttp copies header values.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
