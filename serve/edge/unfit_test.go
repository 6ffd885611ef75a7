package edge

import (
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/writertest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestUnfitTable serves a release whose table of movies lacks columns: only the queries that
// need that table fail.
func TestUnfitTable(t *testing.T) {
	w := bareWorld(t, nil)
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := writertest.Create(w.dir)
	check(err)
	shard, err := out.Part(nil)
	check(err)
	err = shard.Add(release.ResourceSpec{Key: fragment.AppendID(nil, fragment.KindMovie, 550), ID: 550, Fragments: []release.FragmentSpec{{
		Address: fragment.Address{Sub: fragment.SubDetails},
		Pieces:  []release.PieceSpec{{Op: release.OpLiteral, Literal: []byte(`"id":550,"title":"Fight Club"`)}},
	}}})
	check(err)
	_, err = shard.Close()
	check(err)
	table, err := out.Table(fragment.KindMovie.String(), 1)
	check(err)
	check(posting.Write(table, tables.ID.String(), []uint64{550}))
	check(table.Close())
	m, err := out.Seal(t.Context())
	check(err)
	servetest.Publish(t, w.dir, m.ID)
	w.open(t)
	for uri, want := range map[string]int{
		"/3/movie/550": 200, "/3/discover/tv": 200, "/3/search/person?query=a": 200, "/3/discover/movie": 500, "/3/movie/popular": 500,
		"/3/search/multi?query=a": 500,
	} {
		if got := w.get(t, uri); got.Status != want {
			t.Errorf("%s answers %d %s, want %d", uri, got.Status, got.plain, want)
		}
	}
}
