package edge

import (
	"encoding/json"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// FuzzServe sends arbitrary requests: every answer has a status that the table of
// errors knows, and a body that is JSON, the same in both encodings.
func FuzzServe(f *testing.F) {
	f.Add("GET", "/3/movie/550", "append_to_response=credits,images&language=de", "gzip", "*")
	f.Add("GET", "/3/movie/tt0137523/images", "include_image_language=en,null", "identity", `W/"a"`)
	f.Add("HEAD", "/3/movie/550/similar", "page=2&language=xx-YY", "*;q=0", "")
	f.Add("OPTIONS", "/3/../%2e/3/authentication/token/new", "api_key=x", "gzip;q=0,*", "")
	f.Add("GET", "/3/movie/550", "append_to_response=changes,alternative_titles&start_date=2024-01-01&country=fr", "", "")
	f.Add("GET", "/3/tv/1399", "append_to_response=season/1,season/1/images,videos&language=de,fr-CA,en&include_image_language=null", "gzip", "")
	f.Add("GET", "/3/find/nm0000093", "external_source=imdb_id&language=fr,de-DE,x", "gzip", "")
	for _, op := range api.Operations() {
		f.Add(op.Method, namedPath(&op), "external_source=imdb_id&append_to_response=season/1/images,movies&include_image_language=de,null", "gzip", "")
	}
	w := writtenWorld(f, nil, servetest.Catalogue()...)
	f.Fuzz(func(t *testing.T, method, path, query, encoding, match string) {
		rq := &Request{
			Method: []byte(method), Path: []byte(path), Query: []byte(query), Gzip: AcceptsGzip([]byte(encoding)),
			IfNoneMatch: []byte(match), Authorization: []byte("Bearer " + w.token),
		}
		a := w.do(t, rq)
		switch a.Status {
		case 200, 204, 304, 400, 401, 404, 405, 422:
		default:
			t.Fatalf("status = %d %s", a.Status, a.plain)
		}
		if bodyless := a.Status == 204 || a.Status == 304; bodyless != (len(a.plain) == 0) || !bodyless && !json.Valid([]byte(a.plain)) {
			t.Fatalf("%d with body %q", a.Status, a.plain)
		}
		if a.Status != 200 || a.Cache == servetest.NotKept {
			return // or signed, and another one each time
		}
		rq.Gzip = false
		if a.Gzip {
			if b := w.do(t, rq); b.plain != a.plain || string(b.ETag) != string(a.ETag) {
				t.Fatalf("identity = %s %s, want %s %s", b.ETag, b.plain, a.ETag, a.plain)
			}
		}
	})
}
