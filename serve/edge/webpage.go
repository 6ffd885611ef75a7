package edge

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/reelsplice/reelsplice/serve/page"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/status"
)

// revalidated is the Cache-Control of the page: caches keep it and revalidate it each time.
const revalidated = "no-cache"

// pageData makes the JSON of the page's paths that need a token.
var pageData = map[string]func(x *exchange) (any, error){
	page.Folder + "explain": explain,
	page.Folder + "release": describe,
}

// webpage serves the page: its documents, without a token or a release, and its data.
func (x *exchange) webpage() error {
	x.q.Reset()
	x.rs.Cache, x.rs.route = revalidated, routePage
	data := pageData[string(x.rq.Path)]
	d, ok := x.edge.webpage.Find(x.rq.Path)
	if !ok && data == nil {
		return status.NotFound
	}
	x.q.Allow = allMethods
	switch string(x.rq.Method) {
	case "GET", "HEAD":
	case "OPTIONS":
		x.rs.Status, x.rs.Allow = statusNoContent, x.q.Allow
		return nil
	default:
		return status.MethodNotAllowed
	}
	if data == nil {
		x.rs.Type, x.rs.Policy = d.Type, d.Policy
		servePrecompressed(x, d.Body)
		return nil
	}
	if err := x.authorize(); err != nil {
		return err
	}
	x.class = classPrivate // refusals too
	v, err := data(x)
	if err != nil {
		return err
	}
	// Encoded for each request: speed does not matter here.
	body := bytes.NewBuffer(x.body[:0])
	enc := json.NewEncoder(body)
	enc.SetEscapeHTML(false) // JSON is not in HTML here: keep texts readable
	if err := enc.Encode(v); err != nil {
		return err
	}
	x.body = body.Bytes()
	rs := &x.rs
	rs.class, rs.Status, rs.Cache, rs.Policy, rs.body = classPrivate, statusOK, privateStore, x.edge.webpage.Policy(), x.body
	rs.Streams = len(rs.body) > MaxWhole
	return x.charge(0)
}

// describe returns the description of the served release.
func describe(x *exchange) (any, error) {
	if x.rel == nil {
		return nil, status.Offline
	}
	x.rs.Release = x.rel.Manifest().ID
	return page.Describe(x.rel, x.edge.Releases.Store())
}

// maxExplained is the longest raw query of /page/explain in bytes: a target with each byte escaped.
const maxExplained = 3*(route.MaxPath+len("?")+route.MaxQuery) + len("path=")

// explain returns this edge's response to the target in the query, with its pieces.
func explain(x *exchange) (any, error) {
	if len(x.rq.Query) > maxExplained {
		return nil, status.InvalidInput
	}
	target, _ := route.Lookup(nil, x.rq.Query, "path")
	if !bytes.HasPrefix(target, []byte("/3/")) && !bytes.HasPrefix(target, []byte("/4/")) {
		return nil, status.InvalidInput // the page itself has no pieces
	}
	inner := &exchange{engine: x.engine, meter: x.meter, scopes: x.scopes}
	defer inner.end()
	in, err := inspect(inner, x.edge, x.rel, string(target))
	switch {
	case errors.Is(err, errIssued):
		return nil, status.InvalidInput
	case in.Status == status.Offline.HTTP(): // the memory of responses is used up
		return nil, status.Offline
	}
	// From here on x holds the memory of inner: the pieces, until they are JSON.
	if leased := inner.leased; err == nil {
		err = x.charge(leased)
	}
	return &in, err
}
