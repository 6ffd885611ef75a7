//go:build !race

package edge

import (
	"io"
	"log/slog"
	"testing"

	"github.com/reelsplice/reelsplice/serve/servetest"
)

// hotRequests are the requests that must not allocate.
func hotRequests(tb testing.TB, w *world) map[string]*Request {
	tb.Helper()
	all := map[string]*Request{}
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

func TestServeAllocs(t *testing.T) {
	disk := false
	w := sampleWorld(t, func(c *Options) {
		c.FromDisk = func() bool { return disk }
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil)) // for the reason of a 401
	})
	for name, rq := range hotRequests(t, w) {
		status := 0
		serve := func() {
			rs := w.edge.Begin(rq)
			status = rs.Status
			_ = rs.WriteBody(io.Discard) // which fails nobody
			rs.End()
		}
		for _, disk = range []bool{false, true} {
			serve()
			if n := testing.AllocsPerRun(500, serve); n != 0 {
				t.Errorf("%s: Serve allocates %v times, want 0 (status %d, from the disk %v)", name, n, status, disk)
			}
		}
	}
}
