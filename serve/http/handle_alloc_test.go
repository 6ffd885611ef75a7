//go:build !race

package http

import (
	"bufio"
	"bytes"
	"fmt"
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
			rq.Gzip = false
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
		if err := ctx.Request.Read(bufio.NewReader(bytes.NewReader(wireOf(rq)))); err != nil {
			t.Fatal(err)
		}
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

// wireOf returns a request as it goes over the wire.
func wireOf(rq *edge.Request) []byte {
	coding := ""
	if rq.Gzip {
		coding = "gzip"
	}
	return fmt.Appendf(nil, "GET %s?%s HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\nAccept-Encoding: %s\r\nIf-None-Match: %s\r\n\r\n",
		rq.Path, rq.Query, rq.Authorization, coding, rq.IfNoneMatch)
}
