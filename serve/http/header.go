package http

import (
	"cmp"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

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
