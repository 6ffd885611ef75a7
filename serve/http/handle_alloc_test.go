//go:build !race

package http

import (
	"testing"

	"github.com/valyala/fasthttp"

	"reelsplice/serve/edge"
)

// hotRequests are the requests that must not allocate.
func hotRequests(tb testing.TB, w *world) map[string]*edge.Request {
	tb.Helper()
	const five = "/3/movie/550?append_to_response=credits,images,videos,keywords,release_dates&language=en-US"
	seen := w.request("/3/movie/550")
	seen.IfNoneMatch = w.do(tb, seen).ETag
	stranger := w.request("/3/movie/550")
	stranger.Authorization = []byte("Bearer rsp_unknown")
	byKey := func(uri string) *edge.Request {
		rq := w.request(uri + "&api_key=" + w.token)
		rq.Authorization = nil
		return rq
	}
	noKey := w.request("/3/movie/550")
	noKey.Authorization = nil
	identity := w.request(five)
	identity.AcceptEncoding = nil
	return map[string]*edge.Request{
		"details":      w.request("/3/movie/550"),
		"translated":   w.request("/3/movie/550?language=de-DE"),
		"untranslated": w.request("/3/movie/550?language=zu"),
		"by IMDb id":   w.request("/3/movie/tt0137523"),
		"append 5":     w.request(five),
		"encoded":      w.request("/3/movie/550?append_to_response=credits%2Cwatch%2Fproviders"),
		"lists":        w.request("/3/movie/551?append_to_response=lists&page=2"),
		"videos":       w.request("/3/movie/550/videos"),
		"304":          seen,
		"401":          stranger,
		"401, no key":  noKey,
		"by key":       byKey("/3/movie/550?language=de-DE"),
		"by key, 5":    byKey(five),
		"404":          w.request("/3/movie/999999999"),
		"404, path":    w.request("/nothing/3"),
		"identity":     identity,
		"filtered":     w.request("/3/movie/550/images?include_image_language=en,null"),
	}
}

func TestHandleAllocs(t *testing.T) {
	w := sampleWorld(t, nil)
	m := newMeters()
	for name, rq := range hotRequests(t, w) {
		var ctx fasthttp.RequestCtx
		fill(&ctx.Request, rq)
		serve := func() {
			ctx.Response.Reset()
			handle(&ctx, w.edge, m)
		}
		serve()
		if n := testing.AllocsPerRun(500, serve); n != 0 {
			t.Errorf("%s: handle allocates %v times, want 0 (status %d)", name, n, ctx.Response.StatusCode())
		}
	}
}

// fill makes a request of fasthttp's out of one of the Edge's.
func fill(r *fasthttp.Request, rq *edge.Request) {
	r.Header.SetMethodBytes(rq.Method)
	uri := append([]byte(nil), rq.Path...)
	if len(rq.Query) > 0 {
		uri = append(append(uri, '?'), rq.Query...)
	}
	r.SetRequestURIBytes(uri)
	r.Header.SetHost("localhost")
	for key, value := range map[string][]byte{
		fasthttp.HeaderAuthorization:  rq.Authorization,
		fasthttp.HeaderAcceptEncoding: rq.AcceptEncoding,
		fasthttp.HeaderIfNoneMatch:    rq.IfNoneMatch,
	} {
		if len(value) > 0 {
			r.Header.SetBytesV(key, value)
		}
	}
}
