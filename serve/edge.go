// Package serve answers the API from a release. Edge is the part that knows no
// transport: a request's bytes in, status, header values and a body out. Server puts
// fasthttp around it.
//
// The order of work is fixed: limits, authenticate, route, address and variant,
// entity tag, splice, write. Nothing on that path allocates for details, appended
// objects, 304 and 401.
package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"reelsplice/schemas/api"
	"reelsplice/schemas/release"
	"reelsplice/serve/auth"
	"reelsplice/serve/logs"
	"reelsplice/serve/route"
	"reelsplice/serve/splice"
	"reelsplice/serve/static"
	"reelsplice/serve/status"
)

// A Request is what the Edge looks at of an HTTP request. All slices belong to the
// caller and are not kept.
type Request struct {
	Method, Path, Query []byte // Path and Query as they came, without the "?"
	Authorization       []byte
	AcceptEncoding      []byte
	IfNoneMatch         []byte
	// Preflight marks an OPTIONS that a browser sends before a request from another origin.
	Preflight bool
	// Pieces tells that the body may come as Response.Pieces.
	Pieces bool
	// Stream tells that a long body may come as Response.Pieces, to be written by WriteBody.
	Stream bool
	// Grant is what was found out about Authorization before, and takes what is found out
	// now. It may be nil, and must be emptied when Authorization changes.
	Grant *auth.Grant
}

// A Response is an answer. It is reused; its slices are valid until the next one.
type Response struct {
	Status int
	// Body is empty for 304 and 204. Whoever gets the Response may keep Body and put
	// other bytes in its place, for the next answer, unless shared is set.
	Body   []byte
	shared bool // Body is used by other answers at the same time
	// Pieces has the body in place of Body when the Request takes it so. It is nil else.
	Pieces       *splice.Answer
	Stream       bool   // the body is long: it is made while WriteBody writes it
	Gzip         bool   // the body is a gzip member
	Last         bool   // the connection ends behind it, as behind every 400
	Cache        string // value of Cache-Control
	Allow        string // value of Allow, empty for none
	Callback     string // value of Authentication-Callback, empty for none
	ETag         []byte // empty for none
	SurrogateKey []byte // names of the resource for caches, empty for none
	Release      string // id of the release that answered, empty for none
	// lasts is set where whoever is allowed to ask the same gets the same until another
	// release is served. It is what the body is made of, for 304 too.
	lasts *splice.Answer
	held  uint64 // the serial of that release, where lasts is set
}

// Len returns the length of the body in bytes.
func (rs *Response) Len() int {
	switch {
	case rs.Pieces == nil:
		return len(rs.Body)
	case rs.Gzip:
		return rs.Pieces.GzipLen()
	}
	return rs.Pieces.RawLen()
}

// WriteBody writes the body to w. The error is w's, or matches release.ErrCorrupt: files of
// a release can be cut at any time.
func (rs *Response) WriteBody(w io.Writer) error {
	switch {
	case rs.Pieces == nil:
		_, err := w.Write(rs.Body)
		return err
	case rs.Gzip:
		return release.Guard(func() error { return rs.Pieces.WriteGzip(w) })
	}
	return release.Guard(func() error { return rs.Pieces.WriteIdentity(w) })
}

// noStore is the Cache-Control of answers that must not be kept.
const noStore = "no-store"

// paramAPIKey is the query parameter that takes a token.
const paramAPIKey = "api_key"

// An Edge answers requests. It is safe for concurrent use.
type Edge struct {
	cfg      Config
	cache    string // Cache-Control of what can be kept
	recheck  string // of what can be kept, but is asked for again each time
	static   *static.Set
	tokens   *auth.Live
	signer   *auth.Signer
	releases *Releases
	log      *slog.Logger
	now      func() time.Time
	today    func() time.Time // by which lists are made
	pages    *pageCache
	packers  sync.Pool // of *splice.Packer
	inflight *inflight
	refused  *slog.Logger // for refused credentials
	hints    *slog.Logger // for paths without a version
	pool     sync.Pool    // of *worker
	keys     sync.Pool    // of *[auth.MaxTokenLen]byte, for an api_key
}

// refusals is how many refused credentials a second are logged at most.
const refusals = 3

// hintEvery is the time from one hint about paths to the next.
const hintEvery = 10 * time.Second

// edgeErrors is how many errors a second are logged at most about responses.
const edgeErrors = 20

// worker is what one request needs and the next one reuses.
type worker struct {
	q       route.Request
	c       composer
	querier querier
	edge    *Edge
	held    *Held // until end
	lease   lease
	rs      Response
	etag    [splice.ETagLen]byte
	keys    []byte
	out     []byte
}

// NewEdge returns an Edge over the current release of releases. The error tells what is
// wrong with cfg.
func NewEdge(cfg Config, tokens *auth.Live, signer *auth.Signer, releases *Releases) (*Edge, error) {
	answers, err := static.New(static.Options{ImageBaseURL: cfg.ImageBaseURL})
	if err != nil {
		return nil, err
	}
	today, err := cfg.clock()
	if err != nil {
		return nil, err
	}
	return &Edge{
		cfg:      cfg,
		cache:    cfg.cacheControl(cfg.MaxAge),
		recheck:  cfg.cacheControl(0),
		static:   answers,
		tokens:   tokens,
		signer:   signer,
		releases: releases,
		log:      logs.Limit(cfg.Log, edgeErrors, time.Second),
		now:      time.Now,
		today:    today,
		pages:    newPageCache(cfg.PageCache),
		packers:  sync.Pool{New: func() any { return new(splice.Packer) }},
		inflight: newInflight(cfg.MaxInflight),
		refused:  logs.Limit(cfg.Log, refusals, time.Second),
		hints:    logs.Limit(cfg.Log, 1, hintEvery),
		pool:     sync.Pool{New: func() any { return &worker{} }},
		keys:     sync.Pool{New: func() any { return new([auth.MaxTokenLen]byte) }},
	}, nil
}

// Serve answers rq. It calls done, once, with the answer; the answer's slices are
// valid until done returns.
func (e *Edge) Serve(rq *Request, done func(rs *Response)) {
	w := e.begin(rq)
	defer w.end()
	done(&w.rs)
}

// begin answers rq with the rs of a worker, which is valid until worker.end.
func (e *Edge) begin(rq *Request) *worker {
	w := e.pool.Get().(*worker)
	w.edge, w.held, w.lease.of, w.c.lease = e, e.releases.Acquire(), e.inflight, &w.lease
	w.rs = Response{Body: w.out[:0], Cache: e.cache}
	w.c.fetch = e.cfg.FromDisk != nil && e.cfg.FromDisk()
	if err := release.Guard(func() error { return e.serve(w, rq, &w.rs, w.held) }); err != nil {
		e.refuse(rq, &w.rs, err)
	}
	return w
}

// end gives w back, with all that its answer was made of.
func (w *worker) end() {
	if !w.rs.shared {
		w.out = w.rs.Body
	}
	w.rs = Response{}
	w.c.reset()
	w.querier.engine = nil // lets go of the release
	w.held.Release()
	w.held = nil
	w.lease.release()
	if w.bytes() <= maxKept {
		w.edge.pool.Put(w)
	}
}

// bytes is about how much memory w holds while its answer is sent.
func (w *worker) bytes() int { return workerBytes + w.c.bytes() + cap(w.out) + cap(w.keys) }

func (e *Edge) serve(w *worker, rq *Request, rs *Response, held *Held) error {
	if string(rq.Method) == "OPTIONS" {
		return e.options(w, rq, rs)
	}
	if res := e.authorize(rq.Authorization, rq.Query, rq.Grant, e.now().Unix()); !res.OK {
		e.logRefused(&res)
		return &errInvalidKey
	}
	if c := route.Match(rq.Method, rq.Path, &w.q); c != route.CodeOK {
		e.hint(w, rq, c)
		return refusal(c, w.q.Allow)
	}
	w.q.Pages = uint16(e.cfg.MaxPage)
	if c := route.ParseQuery(rq.Query, &w.q); c != route.CodeOK {
		return refusal(c, "")
	}
	if isQuery(w.q.Op) {
		return e.query(w, rq, rs, held)
	}
	rel := held.Reader()
	if isOfUser(w.q.Op) {
		return e.ofUser(w, rq, rs, rel)
	}
	if w.q.Kind == 0 {
		return e.other(w, rq, rs)
	}
	if rel == nil {
		return &errNoRelease
	}
	rs.Release = rel.Manifest().ID
	w.c.now = e.now
	if err := e.withUser(w, rq, rs, rel); err != nil {
		return err
	}
	err := w.c.compose(rel, &w.q)
	// Caches may keep a 404 and must be able to purge it by the resource's name.
	w.keys = append(appendKeys(w.keys[:0], rs.Release, w.c.resource), w.c.names...)
	rs.SurrogateKey = w.keys
	if isLatest(w.q.Op) && rs.Cache != private {
		rs.Cache = e.recheck
	}
	if err != nil {
		return err
	}
	serial := held.serial.Load() // before the check: what is found later ends the prepared responses
	if err := e.finish(w, rq, rs); err != nil {
		return err
	}
	if rs.Cache == private {
		rs.SurrogateKey = nil
	} else if w.c.lasts() && rs.Status < 400 {
		rs.lasts, rs.held = &w.c.answer, serial
	}
	return nil
}

// query answers an operation over the whole catalogue.
func (e *Edge) query(w *worker, rq *Request, rs *Response, held *Held) error {
	rel := held.Reader()
	if rel == nil {
		return &errNoRelease
	}
	rs.Release = rel.Manifest().ID
	w.keys = append(append(append(w.keys[:0], rs.Release...), " "+QueryKey+" "+QueryKey+"-"...), w.q.Op.Operation().Name...)
	rs.SurrogateKey = w.keys
	w.c.now, w.querier.engine, w.querier.now = e.now, held.Engine(), e.today()
	w.querier.fixed, w.querier.fuzzy, w.querier.until = e.cfg.Date != "", e.cfg.FuzzySearch, time.Time{}
	if err := w.querier.compose(&w.c, rel, &w.q); err != nil {
		return err
	}
	if until := w.querier.until; !until.IsZero() {
		if left := until.Sub(w.querier.now); left < e.cfg.MaxAge {
			rs.Cache = e.cfg.cacheControl(left)
		}
	}
	return e.finish(w, rq, rs)
}

// Refusals that need nothing but their code are made once.
var (
	errInvalidKey = status.Error{Code: status.InvalidKey}
	errNoRelease  = status.Error{Code: status.Offline}
	errNotFound   = status.Error{Code: status.NotFound}
	errNoSession  = status.Error{Code: status.AuthFailed}
	errParams     = status.Error{Code: status.InvalidParams}
	errNoQuery    = status.Error{Code: status.MissingQuery}
	errNoTimezone = status.Error{Code: status.InvalidTimezone}
)

// refusal turns a code of package route into an error.
func refusal(c route.Code, allow string) error {
	if c == route.CodeNotFound {
		return &errNotFound
	}
	if c != route.CodeMethod {
		allow = ""
	}
	return &status.Error{Code: status.Code(c), Allow: allow}
}

// authorize checks the credential at the time now, in unix seconds: the bearer token or, only
// without one, the api_key of the raw query. g is Request.Grant.
func (e *Edge) authorize(authorization, query []byte, g *auth.Grant, now int64) auth.Result {
	table := e.tokens.Table()
	// Fast path: the same bearer token as before, and an unchanged token file.
	if res, known := g.Of(table, now); known {
		return res
	}
	token, ok := auth.Bearer(authorization)
	if !ok {
		return e.queryKey(query, table, now)
	}
	res := table.Check(token, now)
	g.Set(table, res)
	return res
}

// queryKey checks the api_key of a raw query.
func (e *Edge) queryKey(query []byte, table *auth.Table, now int64) auth.Result {
	buf := e.keys.Get().(*[auth.MaxTokenLen]byte)
	defer e.keys.Put(buf)
	key, ok := route.Lookup(buf[:0], query, paramAPIKey)
	switch {
	case !ok || len(key) == 0:
		return auth.Result{Reason: auth.Missing}
	case !e.cfg.AllowQueryKey:
		return auth.Result{Reason: auth.NotTaken}
	}
	return table.Check(key, now)
}

// hint logs that a path was not found because it lacks the version, which belongs to a client's
// base URL. It overwrites w.q and w.keys.
func (e *Edge) hint(w *worker, rq *Request, c route.Code) {
	if c != route.CodeNotFound {
		return
	}
	w.keys = append(append(w.keys[:0], "/3"...), rq.Path...)
	if route.Match(rq.Method, w.keys, &w.q) == route.CodeOK {
		e.hints.Info("path not found: it lacks /3, which belongs to the base URL of the client", "path", loggedPath(rq.Path))
	}
}

// logRefused logs why a credential was refused. The credential itself stays out of the log;
// name is that of its line in the token file.
func (e *Edge) logRefused(res *auth.Result) {
	e.refused.LogAttrs(context.Background(), slog.LevelInfo, "credential refused",
		slog.Int("status", errInvalidKey.Code.HTTP()), slog.String("reason", res.Reason.String()), slog.String("name", res.Name))
}

// finish writes the composed answer, checked: 304 without a body when the client has it,
// else the body in the encoding that the client takes.
func (e *Edge) finish(w *worker, rq *Request, rs *Response) error {
	if w.c.fetch {
		w.c.answer.Fetch()
	}
	w.c.answer.Check()
	rs.Status = 200
	rs.ETag = w.c.answer.AppendETag(w.etag[:0])
	w.keys = appendAppendedKeys(w.keys, &w.q)
	rs.SurrogateKey = w.keys
	if matches(rq.IfNoneMatch, rs.ETag) {
		rs.Status = 304
		return nil
	}
	return e.body(w, rq, rs)
}

// body writes the composed answer in the encoding that the client takes.
func (e *Edge) body(w *worker, rq *Request, rs *Response) (err error) {
	a := &w.c.answer
	rs.Gzip = AcceptsGzip(rq.AcceptEncoding)
	n := a.RawLen()
	if rs.Gzip {
		n = a.GzipLen()
	}
	w.c.dropScratch()
	switch {
	case rs.Gzip && w.c.pack:
		return e.packed(w, rs)
	case rq.Stream && n > maxWhole:
		rs.Pieces, rs.Stream = a, true
		return w.lease.set(w.bytes() + streamBytes)
	case rs.Gzip && rq.Pieces:
		rs.Pieces = a
		return w.lease.set(w.bytes())
	}
	if err := w.lease.set(w.bytes() + n); err != nil {
		return err
	}
	if rs.Gzip {
		rs.Body = a.AppendGzip(rs.Body)
	} else {
		rs.Body, err = a.AppendIdentity(rs.Body)
	}
	return err
}

// packed writes the composed answer compressed as a whole.
func (e *Edge) packed(w *worker, rs *Response) (err error) {
	if rs.Cache != private {
		if body := e.pages.get(rs.ETag); body != nil {
			rs.Body, rs.shared = body, true
			return w.lease.set(w.bytes() + len(body)) // though others may use it too
		}
	}
	if err := w.lease.set(w.bytes() + 2*w.c.answer.RawLen()); err != nil {
		return err
	}
	p := e.packers.Get().(*splice.Packer)
	defer func() {
		if p.Bytes() <= maxScratch {
			e.packers.Put(p)
		}
	}()
	body, err := p.AppendGzip(nil, &w.c.answer)
	if err != nil {
		return err
	}
	if rs.Cache != private {
		e.pages.put(rs.ETag, body)
	}
	rs.Body, rs.shared = body, true
	return w.lease.set(w.bytes() + len(body))
}

// validKey answers authentication for a valid key.
var validKey = []byte(`{"success":true}`)

// other answers the operations that no fragment answers.
func (e *Edge) other(w *worker, rq *Request, rs *Response) error {
	switch w.q.Op {
	case api.OpAuthenticationValidateKey:
		rs.Status, rs.Cache = 200, noStore
		rs.Body, rs.shared = validKey, true
		return nil
	case api.OpAuthenticationCreateRequestToken:
		return e.requestToken(rs)
	case api.OpAuthenticationCreateGuestSession:
		return e.guestSession(rs)
	}
	body, ok := e.static.Answer(&w.q)
	if !ok {
		return &errNotFound
	}
	w.keys = append(append(w.keys[:0], "static static-"...), w.q.Op.Operation().Name...)
	rs.SurrogateKey = w.keys
	if len(w.q.Appends()) > 0 {
		w.c.joinStatic(e.static, &w.q, body)
		return e.finish(w, rq, rs)
	}
	finishStatic(rq, rs, body)
	return nil
}

// joinStatic fills c.answer with a prepared object and the prepared answers appended to it.
func (c *composer) joinStatic(set *static.Set, q *route.Request, body *static.Body) {
	splice.Literal(&c.answer, bytes.TrimSuffix(body.Identity, []byte("}")))
	for _, a := range q.Appends() {
		if appended, ok := set.AnswerOp(a.Op, q); ok {
			splice.Literal(&c.answer, `,"`)
			splice.Literal(&c.answer, a.Property)
			splice.Literal(&c.answer, `":`)
			splice.Literal(&c.answer, appended.Identity)
		}
	}
	splice.Literal(&c.answer, "}")
	c.pack = true
}

// finishStatic is finish for what is prepared.
func finishStatic(rq *Request, rs *Response, body *static.Body) {
	rs.Status, rs.ETag = 200, body.ETag
	if matches(rq.IfNoneMatch, rs.ETag) {
		rs.Status = 304
		return
	}
	rs.Body, rs.shared = body.Identity, true
	if AcceptsGzip(rq.AcceptEncoding) {
		rs.Body, rs.Gzip = body.Gzip, true
	}
}

// requestToken answers authentication/token/new. The token is its own record: signed
// and dated, so that no edge has to remember it.
func (e *Edge) requestToken(rs *Response) error {
	token, expires, err := e.signer.RequestToken(e.now(), rand.Reader)
	if err != nil {
		return err
	}
	b := append(rs.Body, `{"success":true,"expires_at":"`...)
	b = auth.AppendExpiry(b, expires)
	b = append(append(append(b, `","request_token":"`...), token...), `"}`...)
	rs.Status, rs.Cache, rs.Body = 200, noStore, b
	rs.Callback = e.cfg.CallbackURL + "/" + token
	return nil
}

// guestSession answers authentication/guest_session/new, in the way of requestToken.
func (e *Edge) guestSession(rs *Response) error {
	id, expires, err := e.signer.GuestSession(e.now(), rand.Reader)
	if err != nil {
		return err
	}
	b := append(append(rs.Body, `{"success":true,"guest_session_id":"`...), id...)
	b = auth.AppendExpiry(append(b, `","expires_at":"`...), expires)
	rs.Status, rs.Cache, rs.Body = 200, noStore, append(b, `"}`...)
	return nil
}

// options answers OPTIONS on every known path; browsers send it without a credential. A
// preflight succeeds on any path, or the browser would hide the 404 of the request itself.
func (e *Edge) options(w *worker, rq *Request, rs *Response) error {
	if string(rq.Path) == "*" { // the server as a whole
		rs.Status, rs.Allow = 204, allMethods
		return nil
	}
	if c := route.Match(rq.Method, rq.Path, &w.q); c != route.CodeOK && !rq.Preflight {
		return refusal(c, w.q.Allow)
	}
	rs.Status, rs.Allow = 204, w.q.Allow
	return nil
}

// refuse turns an error into TMDB's status and body. Anything unknown is a 500 that
// tells the client nothing and the log everything.
func (e *Edge) refuse(rq *Request, rs *Response, err error) {
	// Fast path: refusals come unwrapped, and errors.As allocates.
	se, ok := err.(*status.Error)
	if !ok {
		se = e.unexpected(rq, rs, err)
	}
	cache := noStore
	if se.Code == status.NotFound {
		cache = rs.Cache
	}
	if rs.Cache == private {
		rs.SurrogateKey = nil
	}
	*rs = Response{Status: se.Code.HTTP(), Body: se.Code.Body(), shared: true, Cache: cache, Allow: se.Allow, Release: rs.Release, SurrogateKey: rs.SurrogateKey}
	rs.Last = rs.Status == http.StatusBadRequest
}

// unexpected logs what is no refusal, a few times a second at most. The query may hold a
// credential and stays out of the log.
func (e *Edge) unexpected(rq *Request, rs *Response, err error) *status.Error {
	var se *status.Error
	if errors.As(err, &se) {
		return se
	}
	e.log.Error("request failed", "path", loggedPath(rq.Path), "release", rs.Release, "error", err)
	return &status.Error{Code: status.Internal}
}

// loggedPath returns a path for the log, without the session of a guest that it may hold.
func loggedPath(path []byte) string {
	const guest = "/guest_session/"
	before, session, found := strings.Cut(string(path), guest)
	if !found {
		return before
	}
	if i := strings.IndexByte(session, '/'); i >= 0 {
		return before + guest + "..." + session[i:]
	}
	return before + guest + "..."
}

// matches reports whether an If-None-Match header names the tag. The comparison is
// weak: it ignores W/.
func matches(header, tag []byte) bool {
	if string(bytes.TrimSpace(header)) == "*" {
		return true
	}
	opaque := bytes.TrimPrefix(tag, []byte("W/"))
	for len(header) > 0 {
		var item []byte
		if i := bytes.IndexByte(header, ','); i >= 0 {
			item, header = header[:i], header[i+1:]
		} else {
			item, header = header, nil
		}
		item = bytes.TrimSpace(item)
		if bytes.Equal(bytes.TrimPrefix(item, []byte("W/")), opaque) {
			return true
		}
	}
	return false
}

// AcceptsGzip reports whether the response to an Accept-Encoding header is gzip: where it
// accepts gzip, by name or by "*", with a weight that is not zero, and where it excludes
// identity. A name counts before the star.
func AcceptsGzip(header []byte) bool {
	const unnamed, excluded, accepted = 0, 1, 2
	var gzip, identity, star int
	for len(header) > 0 {
		var item, coding, weight []byte
		item, header, _ = bytes.Cut(header, []byte(","))
		coding, weight, _ = bytes.Cut(item, []byte(";"))
		took := accepted
		if zeroWeight(weight) {
			took = excluded
		}
		switch coding = bytes.TrimSpace(coding); {
		case bytes.EqualFold(coding, []byte("gzip")), bytes.EqualFold(coding, []byte("x-gzip")):
			gzip = max(gzip, took)
		case bytes.EqualFold(coding, []byte("identity")):
			identity = took
		case string(coding) == "*":
			star = took
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

// zeroWeight reports whether a parameter is q=0 in any spelling.
func zeroWeight(p []byte) bool {
	p = bytes.TrimSpace(p)
	if len(p) < 3 || p[0]|0x20 != 'q' || p[1] != '=' {
		return false
	}
	return len(bytes.Trim(p[2:], "0.")) == 0
}
