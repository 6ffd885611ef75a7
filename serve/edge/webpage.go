package edge

import (
	"bytes"

	"github.com/reelsplice/reelsplice/serve/page"
	"github.com/reelsplice/reelsplice/serve/status"
)

// revalidated is the Cache-Control of the page: caches keep it, and ask each time.
const revalidated = "no-cache"

// isPage reports whether a path belongs to the page at "/". It is called for every request.
func isPage(path []byte) bool {
	return string(path) == "/" || len(path) > len(page.Folder) && string(path[:len(page.Folder)]) == page.Folder
}

// webpage serves the page's documents, which need no token and no release.
func (x *exchange) webpage() error {
	x.q.Reset()
	x.rs.Cache = revalidated
	d, ok := x.edge.webpage.Find(x.rq.Path)
	if !ok {
		return status.NotFound
	}
	if done, err := x.pageMethod(); done {
		return err
	}
	rs := &x.rs
	rs.Class, rs.Status, rs.ETag, rs.Type, rs.Policy = Ready, statusOK, d.ETag, d.Type, d.Policy
	if Matches(x.rq.IfNoneMatch, rs.ETag) {
		rs.Status = statusNotModified
		return nil
	}
	rs.body = d.Identity
	if AcceptsGzip(x.rq.AcceptEncoding) {
		rs.body, rs.Gzip = d.Gzip, true
	}
	return nil
}

// pageMethod serves the methods of a path of the page that are neither GET nor HEAD.
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
