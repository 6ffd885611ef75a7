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
			rq.Gzip = false
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
		for _, disk = range []bool{false, true} {
			allocatesNothing(t, w, name, rq)
		}
	}
}

// allocatesNothing serves a request many times.
func allocatesNothing(t *testing.T, w *world, name string, rq *Request) {
	t.Helper()
	status := 0
	serve := func() {
		rs := w.edge.Begin(rq)
		status = rs.Status
		_ = rs.WriteBody(io.Discard) // which fails nobody
		rs.End()
	}
	serve()
	if n := testing.AllocsPerRun(500, serve); n != 0 {
		t.Errorf("%s: Serve allocates %v times, want 0 (status %d, from the disk %v)", name, n, status, w.edge.FromDisk())
	}
}

// TestKindsAllocs is TestServeAllocs for what movies do not have: includes, generic
// names, resources below others, texts in paths; credits from the table, and a part of a filmography.
func TestKindsAllocs(t *testing.T) {
	w := writtenWorld(t, func(c *Options) { c.Missing = func(Missing) {} }, servetest.Catalogue()...)
	for _, uri := range []string{
		"/3/movie/77",
		"/3/movie/tt0000077",
		"/3/tv/77/season/7/episode/1",
		"/3/tv/1399?append_to_response=season/1,season/1/credits,season/0,season/1/episode/2/images,videos&language=de-DE",
		"/3/tv/1399/season/1?language=zh-CN",
		"/3/tv/1399/season/1/episode/2?append_to_response=images,videos",
		"/3/tv/1399/season/1/images?include_image_language=de,null",
		"/3/tv/season/3624/changes",
		"/3/person/287/combined_credits?language=de-DE",
		"/3/person/287?append_to_response=combined_credits,images",
		"/3/person/latest",
		"/3/collection/10",
		"/3/review/5488c29bc3a3686f4a00004a",
		"/3/credit/52542282760ee313280017f9",
		"/3/find/nm0000093?external_source=imdb_id&language=de",
		"/3/find/nothing?external_source=imdb_id",
		"/3/find/nothing",
		"/3/tv/1399/season/7",
		"/3/configuration/languages",
		"/3/genre/tv/list?language=de-DE",
		"/3/movie/popular",
	} {
		allocatesNothing(t, w, uri, w.request(uri))
	}
	w = newWorld(t, nil, creditOfMovie)
	for _, uri := range []string{"/3/credit/00000000000000000000000a", "/3/person/2/movie_credits"} {
		allocatesNothing(t, w, uri, w.request(uri))
	}
}
