package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build"
)

// TestRuntimeOfSeries: discover finds a series by the median runtime of its regular episodes. Specials do not count:
// the first series here has as many and as short ones as Game of Thrones.
func TestRuntimeOfSeries(t *testing.T) {
	dir := t.TempDir()
	season := func(series, number int, runtimes ...string) string {
		var b strings.Builder
		for i, r := range runtimes {
			id := series*10_000 + number*1000 + i
			fmt.Fprintf(&b, `,{"air_date":"2011-04-17","episode_number":%d,"id":%d,"name":"E","runtime":%s,"season_number":%d,"show_id":%d}`, i+1, id, r, number, series)
		}
		return fmt.Sprintf(`,"season/%d":{"id":%d,"season_number":%d,"name":"S","episodes":[%s]}`, number, series*10+number, number, strings.TrimPrefix(b.String(), ","))
	}
	clips := strings.Split(strings.Repeat("3,", 57)+"3", ",")
	ingestFile(t, dir, "tv.ndjson", "",
		`{"id":1399,"name":"A"`+season(1399, 0, clips...)+season(1399, 1, "62", "56", "58", "null", "0")+season(1399, 2, "55", "53")+`}`,
		`{"id":2,"name":"Two halves"`+season(2, 1, "40", "50")+`}`,
		`{"id":3,"name":"Only specials"`+season(3, 0, "3", "3")+season(3, 1, "null")+`}`,
		`{"id":4,"name":"Given","episode_run_time":[45]`+season(4, 1, "60")+`}`)
	rel := buildCatalog(t, dir)
	for _, tt := range []struct {
		least, most int
		want        string
	}{
		{56, 56, "[1399]"},
		{1, 39, "[]"},
		{40, 40, "[2]"},
		{45, 45, "[4]"},
		{1, 1000, "[1399 4 2]"},
	} {
		var ids []int64
		for _, row := range get(t, rel, fmt.Sprintf("/3/discover/tv?sort_by=name.asc&with_runtime.gte=%d&with_runtime.lte=%d", tt.least, tt.most)).list("results") {
			ids = append(ids, row.int("id"))
		}
		if got := fmt.Sprint(ids); got != tt.want {
			t.Errorf("series of %d to %d minutes are %s, want %s", tt.least, tt.most, got, tt.want)
		}
	}
}

// TestArtworkOfTables: a row of a table of movies, with paths but no images, has images for applications that use
// only images. An incremental build follows the path.
func TestArtworkOfTables(t *testing.T) {
	dir := t.TempDir()
	const header = "id,title,vote_average,vote_count,status,release_date,revenue,runtime,adult,backdrop_path,budget,homepage,imdb_id,original_language,original_title,overview,popularity,poster_path,tagline,genres,production_companies,production_countries,spoken_languages"
	const row = "550,Fight Club,8.4,27000,Released,1999-10-15,100853753,139,FALSE,/hZkgoQYus5vegHoetLkCJzb17zJ.jpg,63000000,,tt0137523,en,Fight Club,Soap.,61.4,/pB8BM7pdSp6B6Ih7QZ4DrQ3PmJK.jpg,,Drama,,United States of America,English"
	const file = "TMDB_movie_dataset_v11.csv"
	ingestFile(t, dir, file, "", header, row)
	rel := buildCatalog(t, dir)
	image := func(ratio, path string) string {
		return `{"aspect_ratio":` + ratio + `,"height":0,"iso_3166_1":null,"iso_639_1":null,"file_path":"` + path + `","vote_average":0.0,"vote_count":0,"width":0}`
	}
	backdrop := image("1.778", "/hZkgoQYus5vegHoetLkCJzb17zJ.jpg")
	lists := func(id, backdrop, poster string) string {
		return `{"backdrops":[` + backdrop + `],` + id + `"logos":[],"posters":[` + poster + `]}`
	}
	const id = `"id":550,`
	check := func(e *testEdge, poster string) {
		t.Helper()
		all, none := lists(id, backdrop, image("0.667", poster)), lists(id, "", "")
		for target, want := range map[string]string{
			"/3/movie/550/images":                                            all,
			"/3/movie/550/images?include_image_language=en,null":             all,
			"/3/movie/550/images?language=de-DE&include_image_language=null": all,
			"/3/movie/550/images?language=en-US":                             none, // the API leaves images without a language out, too
			"/3/movie/550/images?include_image_language=en":                  none,
		} {
			if r := e.get(target); r.status != 200 || r.body != want {
				t.Errorf("GET %s: status %d: %s, want %s", target, r.status, r.body, want)
			}
		}
		for target, want := range map[string]string{
			"/3/movie/550?append_to_response=images&include_image_language=en,null": lists("", backdrop, image("0.667", poster)),
			"/3/movie/550?append_to_response=images":                                lists("", backdrop, image("0.667", poster)),
			"/3/movie/550?language=de-DE&append_to_response=images":                 lists("", "", ""),
		} {
			if r := e.get(target); r.status != 200 || !strings.HasSuffix(r.body, `,"images":`+want+`}`) {
				t.Errorf("GET %s: status %d: %s, want images %s", target, r.status, r.body, want)
			}
		}
	}
	releases := filepath.Join(dir, "releases")
	check(newEdge(t, releases, rel.Manifest().ID), "/pB8BM7pdSp6B6Ih7QZ4DrQ3PmJK.jpg")

	const other = "/jSziioSwPVrOy9Yow3XhWIBDjq1.jpg"
	ingestFile(t, dir, file, "", header, strings.Replace(row, "/pB8BM7pdSp6B6Ih7QZ4DrQ3PmJK.jpg", other, 1))
	c := build.DefaultConfig()
	c.Catalog, c.Releases, c.Previous = filepath.Join(dir, "catalog"), releases, rel.Manifest().ID
	next, err := build.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	check(newEdge(t, releases, next.Release), other)
}
