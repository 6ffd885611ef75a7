//go:build !race

package edge

import (
	"testing"

	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestKindsAllocs is TestServeAllocs for what movies do not have: includes, generic
// names, resources below others, texts in paths.
func TestKindsAllocs(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	for _, uri := range []string{
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
		rq, status := w.request(uri), 0
		serve := func() {
			rs := w.edge.Begin(rq)
			status = rs.Status
			rs.End()
		}
		serve()
		if n := testing.AllocsPerRun(500, serve); n != 0 {
			t.Errorf("%s: Serve allocates %v times, want 0 (status %d)", uri, n, status)
		}
	}
}

// TestCreditAllocs is TestKindsAllocs for a credit from the table, and a part of a filmography.
func TestCreditAllocs(t *testing.T) {
	w := newWorld(t, nil, creditOfMovie)
	for _, uri := range []string{"/3/credit/00000000000000000000000a", "/3/person/2/movie_credits"} {
		rq, status := w.request(uri), 0
		serve := func() {
			rs := w.edge.Begin(rq)
			status = rs.Status
			rs.End()
		}
		serve()
		if n := testing.AllocsPerRun(500, serve); n != 0 || status != 200 {
			t.Errorf("%s: Serve allocates %v times, want 0 (status %d)", uri, n, status)
		}
	}
}
