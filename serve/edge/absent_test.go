package edge

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/tables"
	"github.com/reelsplice/reelsplice/schemas/tables/accounts"
	"github.com/reelsplice/reelsplice/schemas/tables/changelog"
	"github.com/reelsplice/reelsplice/schemas/tables/credits"
	"github.com/reelsplice/reelsplice/schemas/tables/posting"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestAbsentTables serves a release that has little of what a release may have: the log names what
// is absent, and all operations work. A section that is there but does not fit is for TestUnfit of package query.
func TestAbsentTables(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	w := bareWorld(t, func(o *Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	out, err := releasetest.Create(w.dir)
	check(err)
	shard, err := out.Part(nil)
	check(err)
	text := func(sub fragment.Sub, b string) release.FragmentSpec {
		return release.FragmentSpec{Address: fragment.Address{Sub: sub}, Pieces: []release.PieceSpec{{Op: release.OpLiteral, Literal: []byte(b)}}}
	}
	check(shard.Add(release.ResourceSpec{Key: fragment.AppendID(nil, fragment.KindMovie, 550), ID: 550, Fragments: []release.FragmentSpec{
		text(fragment.SubDetails, `"id":550,"title":"Fight Club"`), text(fragment.SubRow, `"id":550`), text(fragment.SubMediaRow, `"id":550`),
	}}))
	_, err = shard.Close()
	check(err)
	table, err := out.Table(fragment.KindMovie.String(), 1)
	check(err)
	check(posting.Write(table, tables.ID.String(), []uint64{550}))
	check(posting.Write(table, tables.Popularity.String(), []float64{1}))
	check(posting.NewListWriter(table, tables.Flag.String()).Close())
	check(table.Close())
	for name, section := range map[string]string{credits.Table: "block", accounts.ListTable: "id", accounts.AccountTable: "at", changelog.Table: changelog.SectionBuilds} {
		table, err := out.Table(name, 1)
		check(err)
		_, err = table.Section(section).Write(make([]byte, 20)) // and no other section
		check(err)
		check(table.Close())
	}
	m, err := out.Seal(t.Context())
	check(err)
	servetest.Publish(t, w.dir, m.ID)
	w.open(t)
	var absent []string
	for _, c := range tables.Columns(fragment.KindMovie) {
		if !c.Required {
			absent = append(absent, "movie."+c.Name)
		}
	}
	absent = append(absent, "tv", "person", "company", "keyword", "collection")
	if want := "release=" + m.ID + ` absent="` + strings.Join(absent, " ") + `"`; strings.Count(log.String(), want) != 1 {
		t.Errorf("log = %s, want %s once", log.String(), want)
	}
	for uri, want := range map[string]int{
		"/3/movie/550": 200, "/3/discover/movie?sort_by=title.asc&with_genres=1&region=US&vote_count.gte=5": 200, "/3/discover/tv": 200,
		"/3/movie/popular": 200, "/3/movie/top_rated": 200, "/3/movie/now_playing": 200, "/3/trending/movie/day": 200, "/3/trending/all/week": 200,
		"/3/search/movie?query=a&year=1999": 200, "/3/search/multi?query=a": 200, "/3/search/person?query=a": 200,
		"/3/movie/changes": 200, "/3/list/1": 404, "/3/credit/52fe4250c3a36847f80149f3": 404,
	} {
		if got := w.get(t, uri); got.Status != want {
			t.Errorf("%s answers %d %s, want %d", uri, got.Status, got.plain, want)
		}
	}
}
