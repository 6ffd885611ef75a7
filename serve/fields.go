package serve

import (
	"net/http"

	"github.com/valyala/fasthttp"
)

// Names and values of header fields as they go over the wire.
const (
	serverName     = "reelsplice"
	headerCallback = "Authentication-Callback"
	headerRelease  = "X-Reelsplice-Release"
	contentType    = "application/json;charset=utf-8"
	allMethods     = "GET, HEAD, OPTIONS"
	// Browsers send a request only with a method and fields that its preflight allows. So the
	// preflight allows all, and the page gets the 404 or 405. An asterisk leaves out Authorization,
	// and old browsers do not know it.
	preflightMethods = "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE"
	preflightFields  = "Authorization, Content-Type, If-None-Match, X-Requested-With, baggage, traceparent, tracestate, *"
	exposed          = "ETag, Content-Length, X-Reelsplice-Release, Authentication-Callback"
)

// Values as bytes, so that no request converts them. Nobody writes to them.
var (
	valueAuthenticate = []byte(`Bearer realm="reelsplice"`)
	valueGzip         = []byte("gzip")
	valueJSON         = []byte(contentType)
	valueRetryAfter   = []byte("1") // seconds
	valueVary         = []byte("Accept-Encoding, Origin")
)

// A field is a header field of an answer.
type field struct {
	key   string
	value []byte
}

// maxFields is at least the number of fields that an answer can have.
const maxFields = 16

// appendFields appends the header fields of rs, in their order, but for those that are about
// its body. cors asks for those of requests from other origins, options for those of an
// answer to OPTIONS too.
func (rs *Response) appendFields(dst []field, cors, options bool) []field {
	dst = append(dst, field{fasthttp.HeaderCacheControl, s2b(rs.Cache)}, field{fasthttp.HeaderVary, valueVary})
	if len(rs.ETag) > 0 {
		dst = append(dst, field{fasthttp.HeaderETag, rs.ETag})
	}
	if rs.Release != "" {
		dst = append(dst, field{headerRelease, s2b(rs.Release)})
	}
	if len(rs.SurrogateKey) > 0 {
		dst = append(dst, field{"Surrogate-Key", rs.SurrogateKey})
	}
	if cors {
		dst = appendCORS(dst, options)
	}
	if rs.Status != http.StatusOK {
		dst = rs.appendRefusal(dst)
	}
	if rs.Callback != "" && rs.hasBody() {
		dst = append(dst, field{headerCallback, s2b(rs.Callback)})
	}
	return dst
}

// appendRefusal appends the fields of answers other than 200.
func (rs *Response) appendRefusal(dst []field) []field {
	if rs.Allow != "" {
		dst = append(dst, field{fasthttp.HeaderAllow, s2b(rs.Allow)})
	}
	if rs.Status == http.StatusServiceUnavailable || rs.Status == http.StatusTooManyRequests {
		dst = append(dst, field{fasthttp.HeaderRetryAfter, valueRetryAfter})
	}
	if rs.Status == http.StatusUnauthorized {
		dst = append(dst, field{fasthttp.HeaderWWWAuthenticate, valueAuthenticate})
	}
	return dst
}

// appendCORS appends the fields that browsers ask for in requests from other origins.
func appendCORS(dst []field, options bool) []field {
	dst = append(dst,
		field{fasthttp.HeaderAccessControlAllowOrigin, s2b("*")},
		field{fasthttp.HeaderAccessControlExposeHeaders, s2b(exposed)})
	if options {
		dst = append(dst,
			field{fasthttp.HeaderAccessControlAllowMethods, s2b(preflightMethods)},
			field{fasthttp.HeaderAccessControlAllowHeaders, s2b(preflightFields)},
			field{fasthttp.HeaderAccessControlMaxAge, s2b("86400")})
	}
	return dst
}

// hasBody reports whether the answer has a body and the fields about it.
func (rs *Response) hasBody() bool {
	return rs.Status != http.StatusNoContent && rs.Status != http.StatusNotModified
}
