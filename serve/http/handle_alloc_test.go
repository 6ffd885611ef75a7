//go:build !race

package http

import (
	"testing"

	"github.com/valyala/fasthttp"

	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// hotRequests are the requests that must not allocate.
func hotRequests(tb testing.TB, w *world) map[string]*edge.Request {
	tb.Helper()
	all := map[string]*edge.Request{}
	for name, h := range servetest.HotRequests {
		uri := h.URI
		if h.Auth == servetest.QueryKey {
			uri += "&api_key=" + w.token
		}
		rq := w.request(uri)
		switch h.Auth {
		case servetest.QueryKey, servetest.NoToken:
			rq.Authorization = nil
		case servetest.WrongToken:
			rq.Authorization = []byte("Bearer rsp_unknown")
		}
		if h.Identity {
			rq.AcceptEncoding = nil
		}
		if h.Seen {
			rq.IfNoneMatch = w.do(tb, rq).ETag
		}
		all[name] = rq
	}
	return all
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
