//go:build !race

package edge

import (
	"io"
	"log/slog"
	"testing"
)

// hotRequests are the requests that must not allocate.
func hotRequests(tb testing.TB, w *world) map[string]*Request {
	tb.Helper()
	const five = "/3/movie/550?append_to_response=credits,images,videos,keywords,release_dates&language=en-US"
	seen := w.request("/3/movie/550")
	seen.IfNoneMatch = w.do(tb, seen).ETag
	stranger := w.request("/3/movie/550")
	stranger.Authorization = []byte("Bearer rsp_unknown")
	byKey := func(uri string) *Request {
		rq := w.request(uri + "&api_key=" + w.token)
		rq.Authorization = nil
		return rq
	}
	noKey := w.request("/3/movie/550")
	noKey.Authorization = nil
	identity := w.request(five)
	identity.AcceptEncoding = nil
	return map[string]*Request{
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
