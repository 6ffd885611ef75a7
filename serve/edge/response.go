package edge

import (
	"bytes"
	"io"
	"sync/atomic"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/status"
)

// A Request is the part of an HTTP request that the Edge reads. The caller owns all slices, and
// must keep them unchanged until Response.End.
type Request struct {
	Method, Path, Query []byte // Path and Query as they came, without the "?"
	Authorization       []byte
	IfNoneMatch         []byte
	UserAgent           []byte // for the log of refused credentials
	Gzip                bool   // the client accepts gzip: see AcceptsGzip
	Preflight           bool   // a browser's OPTIONS before a request from another origin
	// Grant caches the result of the last check of Authorization. It may be nil, and must be
	// emptied when Authorization changes.
	Grant *auth.Grant
}

// A class is the way to make a body, and the caches that may keep it.
type class uint8

// The classes. A response with parts of several classes has the last one of them.
const (
	// classStored depends on request and release alone, and is spliced from stored segments.
	classStored  class = iota
	classStatic        // facts compressed in advance; depends on the request alone
	classPage          // made on request, such as a list; compressed as a whole, once for each ETag
	classPrivate       // for one client; no cache may keep it, and it has no cache names
	classFailure       // a refusal or an error
)

// A Response is the response to a Request, from composition to the socket. It is valid until End.
type Response struct {
	Status int
	Gzip   bool // the body is a gzip member
	// Streams is set for a long body: write it with WriteBody, piece by piece while the client
	// reads it.
	Streams bool
	// Serial is the serial of the release before the response was checked.
	Serial uint64
	Token  string // name of the token, even if refused; for logs
	// ExtraRequests is how many additional requests the response counts for its token's rate.
	ExtraRequests int

	// Values of header fields, empty for none.
	Cache    string // Cache-Control
	Allow    string
	Callback string // Authentication-Callback
	Release  string // ID of the release
	Since    string // for the configuration: the oldest day of the data
	Type     string // Content-Type; empty for the API's JSON
	Policy   string // Content-Security-Policy
	Retry    int    // Retry-After of 429, in seconds
	ETag     []byte
	Keys     []byte // Surrogate-Key: names of the resource for caches

	class class
	route RouteClass     // class of the operation
	body  []byte         // the whole body, unless parts has it
	parts *splice.Answer // the body in parts, compressed if Gzip is set
	x     *exchange
}

// HasBody reports whether the response has a body, and header fields about it.
func (rs *Response) HasBody() bool {
	return rs.Status != statusNoContent && rs.Status != statusNotModified
}

// Len returns the length of the body in bytes.
func (rs *Response) Len() int {
	switch {
	case rs.parts == nil:
		return len(rs.body)
	case rs.Gzip:
		return rs.parts.GzipLen()
	}
	return rs.parts.RawLen()
}

// WriteBody writes the body to w. The error is w's, or matches release.ErrCorrupt: files of
// a release can be cut at any time.
func (rs *Response) WriteBody(w io.Writer) error {
	switch {
	case rs.parts == nil:
		_, err := w.Write(rs.body)
		return err
	case rs.Gzip:
		return release.Guard(func() error { return rs.parts.WriteGzip(w) })
	}
	return release.Guard(func() error { return rs.parts.WriteIdentity(w) })
}

// Pieces calls yield with the pieces of a body that does not stream. A stable piece is valid
// until End; any other until yield returns. Damage panics: see release.Guard.
func (rs *Response) Pieces(yield func(b []byte, stable bool)) {
	if rs.parts == nil {
		yield(rs.body, true)
		return
	}
	rs.parts.GzipPieces(yield)
}

// Lasting reports whether all allowed clients get the same response until the release or its Serial changes.
func (rs *Response) Lasting() bool { return rs.class == classStored && rs.Status < 400 }

// Complete returns a lasting response as a 200 in gzip, even if it is a 304 or uncompressed.
func (rs *Response) Complete() Response {
	complete := *rs
	complete.Status, complete.Gzip, complete.body, complete.parts = statusOK, true, nil, rs.x.answer
	return complete
}

// SegmentsOver returns the number of segments of at least size bytes in a lasting response, and the
// number of all other bytes in its gzip body.
func (rs *Response) SegmentsOver(size int) (segments, others int) {
	return rs.x.answer.SegmentsOver(size)
}

// Charge counts n bytes that the writer copied from a body in parts against Options.MaxInflight,
// until End. The error is a refusal.
func (rs *Response) Charge(n int) error {
	if rs.parts == nil {
		return nil
	}
	return rs.x.lease(rs.x.leased + n)
}

// Refusal returns the response to bytes that are not a request. No cache may keep it.
func Refusal(code int, refusal status.Code) Response {
	return Response{class: classFailure, Status: code, Cache: noStore, body: refusal.Body()}
}

// Refuse turns the response into the refusal for err.
func (rs *Response) Refuse(err error) { rs.x.refuse(err) }

// End ends the response, and releases its references.
func (rs *Response) End() {
	x := rs.x
	x.end()
	x.held.Release()
	x.meter.End()
	x.rq, x.rs, x.held, x.engine, x.meter, x.scopes = Request{}, Response{}, nil, nil, nil, ""
	if x.bytes() <= maxKept {
		x.edge.exchanges.Put(x)
	}
}

// finish completes the composed response: 304 without a body if the client has it, else the
// body in an accepted encoding. WriteBody makes long bodies.
func (x *exchange) finish() (err error) {
	rs, a := &x.rs, x.answer
	rs.class, rs.Status = x.class, statusOK
	last := len(x.keys)
	for i := range x.q.Appends { // missing ones too: a new season changes the response
		if a := &x.q.Appends[i]; a.Kind != x.q.Kind {
			n := len(x.keys)
			x.keys = appendKey(x.keys, a.Kind, false, appendedResource(&x.q, a))
			if bytes.Equal(x.keys[n:], x.keys[last:n]) {
				x.keys = x.keys[:n] // a duplicate: season/1 and season/1/credits
			} else {
				last = n
			}
		}
	}
	rs.Keys = x.keys
	if rs.class == classPrivate {
		rs.Cache, rs.Keys = privateStore, nil
	}
	if x.prefetch {
		a.Await()
	}
	rs.Serial = x.held.Serial() // before the check: damage found later ends prepared responses
	a.Check()
	rs.ETag = a.AppendETag(x.etag[:0])
	if Matches(x.rq.IfNoneMatch, rs.ETag) {
		rs.Status = statusNotModified
		return nil
	}
	rs.Gzip = x.rq.Gzip
	if x.bytes()-a.Bytes() > maxScratch { // a slow client would hold it
		x.scratch, x.unused = scratch{}, nil
	}
	if rs.Gzip && rs.class == classPage {
		return x.pack()
	}
	rs.parts = a
	n := rs.Len()
	switch {
	case n > MaxWhole:
		rs.Streams = true
		return x.charge(streamBytes)
	case rs.Gzip:
		return x.charge(0)
	}
	if err := x.charge(n); err != nil {
		return err
	}
	x.body, err = a.AppendIdentity(x.body[:0])
	rs.body, rs.parts = x.body, nil
	return err
}

// pack compresses the body as a whole, unless the page cache has it.
func (x *exchange) pack() (err error) {
	rs, e := &x.rs, x.edge
	rs.body = e.pages.Get(rs.ETag)
	if rs.body == nil {
		if err := x.charge(2 * x.answer.RawLen()); err != nil {
			return err
		}
		p := packers.Get().(*splice.Packer)
		defer func() {
			if p.Bytes() <= maxScratch {
				packers.Put(p)
			}
		}()
		if rs.body, err = p.AppendGzip(nil, x.answer); err != nil {
			return err
		}
		e.pages.Put(rs.ETag, rs.body, len(rs.body))
	}
	return x.charge(len(rs.body)) // each response that shares the body charges it
}

// HTTP statuses without a Code of package status.
const (
	statusOK          = 200
	statusNoContent   = 204
	statusNotModified = 304
)

// SplitTarget divides a request target at its question mark. A fragment is cut off.
func SplitTarget(target []byte) (path, query []byte) {
	target, _, _ = bytes.Cut(target, []byte{'#'})
	path, query, _ = bytes.Cut(target, []byte{'?'})
	return path, query
}

// Matches reports whether an If-None-Match header names the tag. The comparison is
// weak: it ignores W/.
func Matches(header, tag []byte) bool {
	if string(bytes.TrimSpace(header)) == "*" {
		return true
	}
	opaque := bytes.TrimPrefix(tag, []byte("W/"))
	for item := range bytes.SplitSeq(header, []byte{','}) {
		if bytes.Equal(bytes.TrimPrefix(bytes.TrimSpace(item), []byte("W/")), opaque) {
			return true
		}
	}
	return false
}

// AcceptsGzip reports whether the response to an Accept-Encoding header is gzip: if it
// accepts gzip, by name or by "*", with a weight above zero, or if it excludes identity.
// A name has precedence over the star.
func AcceptsGzip(header []byte) bool {
	const unnamed, excluded, accepted = 0, 1, 2
	var gzip, identity, star int
	for item := range bytes.SplitSeq(header, []byte{','}) {
		coding, weight, _ := bytes.Cut(item, []byte{';'})
		result := accepted
		if w := bytes.TrimSpace(weight); len(w) > 2 && w[0]|0x20 == 'q' && w[1] == '=' && len(bytes.Trim(w[2:], "0.")) == 0 {
			result = excluded // q=0 in any spelling
		}
		switch coding = bytes.TrimSpace(coding); {
		case bytes.EqualFold(coding, []byte("gzip")), bytes.EqualFold(coding, []byte("x-gzip")):
			gzip = max(gzip, result)
		case bytes.EqualFold(coding, []byte("identity")):
			identity = result
		case string(coding) == "*":
			star = result
		}
	}
	if gzip == unnamed {
		gzip = star
	}
	if identity == unnamed {
		identity = star
	}
	return gzip == accepted || identity == excluded
}

// A RouteClass is a class of responses of similar cost, for metrics and logs.
type RouteClass uint8

// The classes.
const (
	routeDetail      RouteClass = iota // one resource, or one sub-request of it
	routeAppend                        // a resource with appended sub-requests
	routeList                          // a list of the whole catalogue, or several resources
	routeQuery                         // discover and search
	routeStatic                        // facts such as the configuration
	routeAccount                       // lists of users, account data, tokens
	routePage                          // the web page and its data
	RouteOptions                       // OPTIONS
	RouteNotModified                   // 304, of any operation
	RouteError                         // a refusal or an error, of any operation
	RouteClasses                       // their number
)

var routeNames = [RouteClasses]string{"detail", "append", "list", "query", "static", "account", "page", "options", "not_modified", "error"}

// String returns the name of c in metrics and logs.
func (c RouteClass) String() string { return routeNames[c] }

// RouteClass returns the class of the response.
func (rs *Response) RouteClass() RouteClass {
	switch {
	case rs.Status >= 400:
		return RouteError
	case rs.Status == statusNotModified:
		return RouteNotModified
	case rs.Status == statusNoContent:
		return RouteOptions
	}
	return rs.route
}

// MaxWhole is the longest body, in bytes, that is completed before it is sent. A longer one is
// made piece by piece while the client reads it. Tests lower it.
var MaxWhole = 128 << 10

// Sizes of responses and of their buffers.
const (
	// streamBytes is the memory of a body that is made while it is sent: an inflater, its buffer
	// and the connection's buffer.
	streamBytes = 128 << 10
	// exchangeBytes is about the memory of an exchange beside its buffers.
	exchangeBytes = 4 << 10
)

// Tests lower these.
var (
	// maxScratch bounds the scratch memory that an exchange keeps for later requests while a
	// response is sent.
	maxScratch = 256 << 10
	// maxKept is the largest exchange that is kept for another request.
	maxKept = 512 << 10
)

// inflight is the memory of responses from their composition until the client has read them. Bytes sent from the mapping
// of a release do not count.
type inflight struct {
	held    atomic.Int64 // bytes
	refused atomic.Int64 // responses
}

// Charge counts n more bytes of responses in progress, or releases them if n is negative. It returns
// false and counts nothing above the limit.
func (e *Edge) Charge(n int) bool {
	if e.inflight.held.Add(int64(n)) > int64(e.opts.MaxInflight) && n > 0 {
		e.inflight.held.Add(-int64(n))
		return false
	}
	return true
}

// leaseStep is the unit to which the memory of a response is rounded up, so that most responses charge only twice. Tests
// lower it.
var leaseStep = 4 << 10

// lease sets the memory of the response to n bytes. The error is a refusal, and changes nothing.
func (x *exchange) lease(n int) error {
	n = (n + leaseStep - 1) / leaseStep * leaseStep
	if n == x.leased {
		return nil
	}
	if !x.edge.Charge(n - x.leased) {
		x.edge.inflight.refused.Add(1)
		return status.Offline
	}
	x.leased = n
	return nil
}
