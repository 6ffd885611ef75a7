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

// isPage reports whether the path belongs to the web page. It is called for every request.
func (x *exchange) isPage() bool {
	path := x.rq.Path
	if string(path) == page.OpenAPIPath {
		return true
	}
	return x.edge.opts.Page && (string(path) == "/" || string(path) == page.FaviconPath || len(path) >= len(page.Folder) && string(path[:len(page.Folder)]) == page.Folder)
}

// Paths of the page that need a token. Their responses are JSON.
const (
	explainPath = page.Folder + "explain"
	releasePath = page.Folder + "release"
)

// webpage serves the page: its documents, without a token or a release, and its data.
func (x *exchange) webpage() error {
	x.q.Reset()
	x.rs.Cache, x.rs.route = revalidated, RoutePage
	switch string(x.rq.Path) {
	case explainPath:
		return x.shown(x.explain)
	case releasePath:
		return x.shown(x.describe)
	}
	d, ok := x.edge.webpage.Find(x.rq.Path)
	if !ok {
		return status.NotFound
	}
	if done, err := x.pageMethod(); done {
		return err
	}
	x.rs.Type, x.rs.Policy = d.Type, d.Policy
	x.ready(d.Body)
	return nil
}

// pageMethod serves requests of the page with methods other than GET and HEAD.
func (x *exchange) pageMethod() (done bool, err error) {
	x.q.Allow = allMethods
	switch method := x.rq.Method; {
	case bytes.Equal(method, []byte("GET")), bytes.Equal(method, []byte("HEAD")):
		return false, nil
	case bytes.Equal(method, []byte("OPTIONS")):
		x.rs.Status, x.rs.Allow = statusNoContent, x.q.Allow
		return true, nil
	}
	return true, status.MethodNotAllowed
}

// shown serves JSON about the API or the release to a client with a token. It is encoded for each request:
// speed does not matter here.
func (x *exchange) shown(content func() (any, error)) error {
	if done, err := x.pageMethod(); done {
		return err
	}
	if err := x.authorize(); err != nil {
		return err
	}
	x.c.class = Private // refusals too
	v, err := content()
	if err != nil {
		return err
	}
	body := bytes.NewBuffer(x.out[:0])
	enc := json.NewEncoder(body)
	enc.SetEscapeHTML(false) // JSON is not in HTML here: keep texts readable
	if err := enc.Encode(v); err != nil {
		return err
	}
	x.out = body.Bytes()
	rs := &x.rs
	rs.Class, rs.Status, rs.Cache, rs.Policy, rs.body = Private, statusOK, privateStore, x.edge.webpage.Policy(), x.out
	rs.Streams = len(rs.body) > MaxWhole
	return x.charge(0)
}

// describe returns the description of the served release.
func (x *exchange) describe() (any, error) {
	if x.c.rel == nil {
		return nil, status.Offline
	}
	x.rs.Release = x.c.rel.Manifest().ID
	return page.Describe(x.c.rel, x.edge.Releases.Store())
}

// maxExplained is the longest raw query of /page/explain in bytes: a target with each byte escaped.
const maxExplained = 3*(route.MaxPath+len("?")+route.MaxQuery) + len("path=")

// explain returns this edge's response to the target in the query, with its pieces.
func (x *exchange) explain() (any, error) {
	if len(x.rq.Query) > maxExplained {
		return nil, status.InvalidInput
	}
	target, _ := route.Lookup(nil, x.rq.Query, "path")
	if !bytes.HasPrefix(target, []byte("/3/")) && !bytes.HasPrefix(target, []byte("/4/")) {
		return nil, status.InvalidInput // the page itself has no pieces
	}
	inner := x.edge.pools.exchanges.Get().(*exchange)
	defer func() {
		inner.meter = nil // x ends the request
		inner.rs.End()
	}()
	inner.engine, inner.meter, inner.scopes = x.engine, x.meter, x.scopes
	in, err := inner.inspect(x.edge, x.c.rel, string(target))
	switch {
	case errors.Is(err, errIssued):
		return nil, status.InvalidInput
	case in.Status == status.Offline.HTTP(): // the memory of responses is used up
		return nil, status.Offline
	}
	// From here on x holds the memory of inner: the pieces, until they are JSON.
	if leased := inner.c.lease.n; err == nil {
		err = x.charge(leased)
	}
	return &in, err
}
