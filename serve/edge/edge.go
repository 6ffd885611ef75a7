// Package edge serves requests from a release, without a transport: a request's bytes in,
// status, header values and a body out.
//
// A request passes these steps in order: credential, limits of its token, route, query, and the answerer that the
// operations table names; then entity tag and body. The answerers are in separate files: details, lists, change lists, account
// data, static facts and tokens. Details, appended objects, 304 and 401 allocate nothing.
package edge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/lru"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/page"
	"github.com/reelsplice/reelsplice/serve/query"
	"github.com/reelsplice/reelsplice/serve/releases"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/splice"
	"github.com/reelsplice/reelsplice/serve/static"
	"github.com/reelsplice/reelsplice/serve/status"
)

// Values of Cache-Control.
const (
	noStore      = "no-store"          // responses that must not be cached
	privateStore = "private, no-store" // responses for one client
)

// paramAPIKey is the query parameter that takes a token.
const paramAPIKey = "api_key"

// An Edge serves requests. It is safe for concurrent use.
type Edge struct {
	opts         Options
	cacheControl string // Cache-Control of cacheable responses
	revalidate   string // Cache-Control of responses that caches must revalidate each time
	facts        *static.Set
	webpage      *page.Set
	tokens       func() *auth.Table // returns the current tokens
	signer       *auth.Signer
	Releases     *releases.Releases
	date         time.Time          // Options.Date, zero for none
	pages        *lru.Cache[[]byte] // compressed bodies of pages, by entity tag
	inflight     inflight
	log          logSet
	refused      refusedKeys
	// Free exchanges. Their memory counts against Options.MaxInflight.
	exchanges sync.Pool
}

// packers are free ones for requests.
var packers = sync.Pool{New: func() any { return new(splice.Packer) }}

// A logSet is one log with a limit for each kind of message.
type logSet struct {
	failed  *slog.Logger // responses that are errors
	refused *slog.Logger // credentials
	hints   *slog.Logger // paths without a version, or with two
	images  sync.Once    // requests for images are logged once
}

// Limits of the messages of a logSet.
const (
	failedPerSecond  = 20
	refusedPerSecond = 3
	hintEvery        = 10 * time.Second
)

// New returns an Edge over the current release of rels. tokens returns the current tokens.
func New(opts Options, tokens func() *auth.Table, signer *auth.Signer, rels *releases.Releases) (*Edge, error) {
	facts, err := static.New(opts.ImageBaseURL)
	if err != nil {
		return nil, err
	}
	date, err := opts.date()
	if err != nil {
		return nil, err
	}
	route.Prepare()
	e := &Edge{
		opts:         opts,
		cacheControl: opts.cacheControl(opts.MaxAge),
		revalidate:   opts.cacheControl(0),
		facts:        facts,
		webpage:      page.New(),
		tokens:       tokens,
		signer:       signer,
		Releases:     rels,
		date:         date,
		pages:        lru.New[[]byte](opts.PageCache),
		log: logSet{
			failed:  observe.Limit(opts.Log, failedPerSecond, time.Second),
			refused: observe.Limit(opts.Log, refusedPerSecond, time.Second),
			hints:   observe.Limit(opts.Log, 1, hintEvery),
		},
		exchanges: sync.Pool{New: func() any { return new(exchange) }},
	}
	if opts.Page {
		if err := e.webpage.WithPage(cmp.Or(opts.ImageBaseURL, static.DefaultImageBaseURL)); err != nil {
			return nil, err
		}
	}
	if e.opts.FromDisk == nil {
		e.opts.FromDisk = func() bool { return false }
	}
	return e, nil
}

// An exchange is a request and its response in progress. It joins fragments of a release into a body. Its methods serve all
// answerers; an answerer and its helpers are functions of an exchange. It is reused, and not safe for concurrent use.
type exchange struct {
	edge     *Edge
	rq       Request
	q        route.Request
	rs       Response
	held     *releases.Held  // until End; nil without a release
	rel      *release.Reader // nil without a release
	engine   *query.Engine   // see queryEngine
	meter    *auth.Meter     // until End
	scopes   auth.Scopes     // the token's
	rows     query.Result
	etag     [splice.ETagLen]byte
	keys     []byte
	body     []byte // a body that is complete before it is sent
	prefetch bool   // see Options.FromDisk
	leased   int    // bytes of memory that the response counts

	answer   *splice.Answer   // composed, or an answer of composeJSON
	composed splice.Answer    // body of the response
	unused   []*splice.Answer // for composeJSON
	class    class            // highest class so far
	key      [fragment.MaxKeyLen]byte
	defaults [fragment.KindEpisodeGroup + 1]defaults // by kind, looked up on first use
	scratch  scratch
	trace    *trace // sources of the bytes; nil unless the response is inspected
}

// Begin returns the response to rq, which is valid until its End.
func (e *Edge) Begin(rq *Request) *Response {
	x := e.exchanges.Get().(*exchange)
	x.rq, x.held = *rq, e.Releases.Acquire()
	var rel *release.Reader
	if x.held != nil {
		rel, x.engine = x.held.Reader, x.held.Engine
	}
	x.open(e, rel)
	if err := release.Guard(func() error { return x.serve() }); err != nil {
		x.refuse(err)
	}
	return &x.rs
}

// open prepares x to serve from rel, nil for none.
func (x *exchange) open(e *Edge, rel *release.Reader) {
	x.edge, x.rel, x.prefetch, x.answer = e, rel, e.opts.FromDisk(), &x.composed
	x.rs = Response{Cache: e.cacheControl, x: x}
}

// serve makes the response. The error is a status.Code for refusals.
func (x *exchange) serve() error {
	path := x.rq.Path
	isPage := string(path) == "/" || string(path) == page.FaviconPath || bytes.HasPrefix(path, []byte(page.Folder))
	if isPage && x.edge.opts.Page || string(path) == page.OpenAPIPath {
		return x.webpage()
	}
	if bytes.HasPrefix(path, imageFolder) {
		x.edge.log.images.Do(func() {
			x.edge.opts.Log.Info("clients request images from the edge: point image.tmdb.org to an image proxy", "path", observe.MaskPath(x.rq.Path))
		})
		return status.NotFound
	}
	if string(x.rq.Method) == "OPTIONS" {
		return x.options()
	}
	if err := x.authorize(); err != nil {
		return err
	}
	if c := route.Match(x.rq.Method, path, &x.q); c != status.OK {
		x.logVersionHint(c)
		return c
	}
	if c := route.ParseQuery(x.rq.Query, &x.q); c != status.OK {
		return c
	}
	return x.callAnswerer()
}

// imageFolder has all images of the API's image host. Applications with that host built in send no credential for them.
var imageFolder = []byte("/t/p/")

// authorize refuses a request without a valid credential, or above the limits of its token.
func (x *exchange) authorize() error {
	now := x.edge.opts.Now()
	res := x.edge.Authorize(x.rq.Authorization, x.rq.Query, x.rq.Grant, now.Unix())
	x.rs.Token = res.Name
	if !res.OK {
		x.logRefused(&res)
		return status.InvalidKey
	}
	if !res.Meter.Begin(now) {
		x.edge.log.refused.LogAttrs(context.Background(), slog.LevelInfo, "token is above its limits", slog.String("name", res.Name))
		x.rs.Retry = res.Meter.Wait(now)
		return status.TooManyRequests
	}
	x.meter, x.scopes = res.Meter, res.Scopes
	return nil
}

// An answerer serves operations.
type answerer struct {
	answer func(x *exchange, op *api.Operation) error
	class  RouteClass // class of its 200 responses; routeDetail becomes routeAppend with appended sub-requests
	from   source
}

// A source is the data that an answerer serves.
type source uint8

const (
	fromRelease source = iota // resources of a release
	fromTables                // tables of a release: a change of any title may change all responses
	fromFacts                 // no release
)

// answerers has the answerers of all operations but writes.
var answerers = [...]answerer{
	api.AnswerDetails:      {details, routeDetail, fromRelease},
	api.AnswerLatest:       {latest, routeDetail, fromRelease},
	api.AnswerOwnChanges:   {ownChanges, routeDetail, fromRelease},
	api.AnswerFind:         {find, routeDetail, fromRelease},
	api.AnswerCredit:       {credit, routeDetail, fromRelease},
	api.AnswerBatch:        {batch, routeList, fromRelease},
	api.AnswerPopular:      {popular, routeList, fromTables},
	api.AnswerTopRated:     {topRated, routeList, fromTables},
	api.AnswerNowPlaying:   {inTheatres, routeList, fromTables},
	api.AnswerUpcoming:     {inTheatres, routeList, fromTables},
	api.AnswerAiringToday:  {onAir, routeList, fromTables},
	api.AnswerOnTheAir:     {onAir, routeList, fromTables},
	api.AnswerTrending:     {trending, routeList, fromTables},
	api.AnswerDiscover:     {discover, routeQuery, fromTables},
	api.AnswerGenreMovies:  {genreMovies, routeQuery, fromTables},
	api.AnswerSearch:       {search, routeQuery, fromTables},
	api.AnswerChanges:      {changes, routeList, fromTables},
	api.AnswerList:         {userList, routeAccount, fromRelease},
	api.AnswerListItem:     {listItem, routeAccount, fromRelease},
	api.AnswerStates:       {states, routeAccount, fromRelease},
	api.AnswerAccount:      {account, routeAccount, fromRelease},
	api.AnswerAccountLists: {accountLists, routeAccount, fromRelease},
	api.AnswerShelf:        {shelf, routeAccount, fromRelease},
	api.AnswerGuestShelf:   {shelf, routeAccount, fromRelease},
	api.AnswerStatic:       {facts, routeStatic, fromFacts},
	api.AnswerValidKey:     {validKey, routeAccount, fromFacts},
	api.AnswerRequestToken: {requestToken, routeAccount, fromFacts},
	api.AnswerGuestSession: {guestSession, routeAccount, fromFacts},
}

// callAnswerer calls the answerer of the operation.
func (x *exchange) callAnswerer() error {
	op := x.q.Op.Operation()
	a := &answerers[op.Answerer]
	if a.answer == nil {
		return status.NotFound
	}
	x.rs.route = a.class
	if a.class == routeDetail && len(x.q.Appends) > 0 {
		x.rs.route = routeAppend
	}
	if a.from == fromFacts {
		return a.answer(x, op)
	}
	if x.rel == nil {
		return status.Offline
	}
	x.rs.Release = x.rel.Manifest().ID
	x.keys = append(x.keys[:0], x.rs.Release...)
	if a.from == fromTables {
		x.keys = append(append(x.keys, " "+QueryKey+" "+QueryKey+"-"...), op.Name...)
	}
	x.rs.Keys = x.keys
	return a.answer(x, op)
}

// Authorize checks the credential of a request at the time now, in unix seconds: the bearer token,
// else the api_key of the raw query. g is Request.Grant.
func (e *Edge) Authorize(authorization, query []byte, g *auth.Grant, now int64) auth.Result {
	table := e.tokens()
	// Fast path: the same bearer token as before, and an unchanged token file.
	if res, known := g.Of(table, now); known {
		return res
	}
	if token, ok := auth.Bearer(authorization); ok {
		res := table.Check(auth.KindToken, token, now)
		g.Set(table, res)
		return res
	}
	var buf [auth.MaxTokenLen]byte
	key, _ := route.Lookup(buf[:0], query, paramAPIKey)
	switch {
	case len(key) > 0 && e.opts.AllowQueryKey:
		return table.Check(auth.KindToken, key, now)
	case len(key) > 0:
		return auth.Result{Reason: auth.NotTaken}
	case len(authorization) > 0 && !auth.HasScheme(authorization):
		return auth.Result{Reason: auth.NoBearer}
	}
	return auth.Result{Reason: auth.Missing}
}

// OmitKey appends a target without its api_key to dst. found is false if it has no key, or a query too long
// to be served: ignore the result then.
func OmitKey(dst, path, query []byte) (target []byte, found bool) {
	if len(query) > route.MaxQuery {
		return dst, false
	}
	n := len(dst) + len(path)
	target, found = route.Omit(append(append(dst, path...), '?'), query, paramAPIKey)
	if len(target) == n+len("?") {
		target = target[:n]
	}
	return target, found
}

// logVersionHint logs a path that was not found because its version is missing or repeated: the base URL of the client
// is wrong. It overwrites x.q and x.keys.
func (x *exchange) logVersionHint(c status.Code) {
	if c != status.NotFound {
		return
	}
	x.keys = append(append(x.keys[:0], "/3"...), x.rq.Path...)
	if route.Match(x.rq.Method, x.keys, &x.q) == status.OK {
		x.edge.log.hints.Info("path not found: it lacks /3: add that to the client's base URL", "path", observe.MaskPath(x.rq.Path))
	}
	if rest, ok := bytes.CutPrefix(x.rq.Path, []byte("/3")); ok && route.Match(x.rq.Method, rest, &x.q) == status.OK {
		x.edge.log.hints.Info("path not found: it has /3 twice: remove that from the client's base URL", "path", observe.MaskPath(x.rq.Path))
	}
}

// logRefused logs why a credential was refused, its name in the token file, and the client. The credential itself stays
// out of the log. An unknown one is logged by its SHA-256, for token issue --sha256: the log is the only place to learn
// the key that an application has built in.
func (x *exchange) logRefused(res *auth.Result) {
	attrs := [...]slog.Attr{
		slog.Int("status", status.InvalidKey.HTTP()), slog.String("reason", string(res.Reason)), slog.String("name", res.Name),
		slog.Any("user_agent", (*agentText)(x)), slog.Any("sha256", (*keyHash)(x)),
	}
	n := len(attrs) - 1
	if res.Reason == auth.Unknown {
		n++
		x.edge.refused.add(x.keyHash(), x.rq.UserAgent, x.edge.opts.Now().Unix())
	}
	x.edge.log.refused.LogAttrs(context.Background(), slog.LevelInfo, "credential refused", attrs[:n]...)
}

// An agentText is the User-Agent of a request for the log. Like a keyHash, it is formatted only for written lines,
// so that other 401s do not allocate.
type agentText exchange

func (a *agentText) LogValue() slog.Value {
	return slog.StringValue(observe.MaskText(a.rq.UserAgent))
}

// A keyHash is the SHA-256 of a request's credential in hex.
type keyHash exchange

func (k *keyHash) LogValue() slog.Value {
	hash := (*exchange)(k).keyHash()
	return slog.StringValue(hex.EncodeToString(hash[:]))
}

func (x *exchange) keyHash() [32]byte {
	token, ok := auth.Bearer(x.rq.Authorization)
	if !ok {
		var buf [auth.MaxTokenLen]byte
		token, _ = route.Lookup(buf[:0], x.rq.Query, paramAPIKey)
	}
	return auth.HashToken(token)
}

// allMethods is the value of Allow for "OPTIONS *".
const allMethods = "GET, HEAD, OPTIONS"

// options serves OPTIONS on every known path, without a credential: browsers send none. A
// preflight succeeds on any path, because the browser would hide the 404 of the actual request.
func (x *exchange) options() error {
	if string(x.rq.Path) == "*" {
		x.rs.Status, x.rs.Allow = statusNoContent, allMethods
		return nil
	}
	if c := route.Match(x.rq.Method, x.rq.Path, &x.q); c != status.OK && !x.rq.Preflight {
		return c
	}
	x.rs.Status, x.rs.Allow = statusNoContent, x.q.Allow
	return nil
}

// refuse turns an error into TMDB's status and body. An unknown error is a 500; only the log has
// its cause.
func (x *exchange) refuse(err error) {
	code, ok := err.(status.Code) // fast path: no allocation
	if !ok {
		code, ok = errors.AsType[status.Code](err)
	}
	if !ok {
		// A few lines a second at most, without the query, which may hold a credential.
		x.edge.log.failed.Error("request failed", "path", observe.MaskPath(x.rq.Path), "release", x.rs.Release, "error", err)
		code = status.Internal
	}
	rs := Response{
		class: classFailure, Status: code.HTTP(), Cache: noStore, Release: x.rs.Release, Token: x.rs.Token, body: code.Body(), x: x,
	}
	if code == status.MethodNotAllowed {
		rs.Allow = x.q.Allow
	}
	if code == status.TooManyRequests {
		rs.Retry = x.rs.Retry
	}
	switch isPrivate := x.class == classPrivate; {
	case !isPrivate && code == status.NotFound:
		rs.Cache, rs.Keys = x.rs.Cache, x.rs.Keys
	case !isPrivate:
		rs.Keys = x.rs.Keys
	case code == status.NotFound:
		rs.Cache = privateStore
	}
	x.rs = rs
}

// Inflight returns the bytes of memory that responses hold, and how many responses were refused for
// lack of memory.
func (e *Edge) Inflight() (held, refused int64) {
	return e.inflight.held.Load(), e.inflight.refused.Load()
}

// Pages returns the hits and the misses of the cache of compressed pages so far.
func (e *Edge) Pages() (hits, misses uint64) { return e.pages.Lookups() }

// FromDisk reports whether the release is currently read from the disk.
func (e *Edge) FromDisk() bool { return e.opts.FromDisk() }

// CutShort logs that a response ended early because the release could not be read, and searches for
// the damage.
func (e *Edge) CutShort() {
	e.log.failed.Error("response cut short: a file of the release could not be read")
	h := e.Releases.Acquire()
	defer h.Release()
	if h != nil {
		check.Sizes(h.Reader) // records the damaged file
	}
}
