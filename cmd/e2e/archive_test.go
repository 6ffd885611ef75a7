package e2e

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// archives has a folder of releases, with one release, for each version of releases. Programs in the field wrote and
// serve such releases, so none is ever rewritten. The expected responses are beside it.
const archives = "testdata/releases"

const (
	archiveAdd       = "go test ./cmd/e2e -run TestArchives -update"
	archiveResponses = "responses.golden"
	archiveDay       = "2026-11-28"
	archiveAccount   = "2"
)

// archiveRows are the dumps of an archive: each kind of resource and of table.
var archiveRows = map[string]string{
	"movies.ndjson": `{"id":11,"title":"The One","original_title":"The One","original_language":"en","overview":"A film.","release_date":"2026-11-20","genres":[{"id":18,"name":"Drama"}],"runtime":100,"vote_average":7.5,"vote_count":200,"popularity":50.5,"imdb_id":"tt0000011","poster_path":"/one.jpg","belongs_to_collection":{"id":41,"name":"The Ones","poster_path":null,"backdrop_path":null},"production_companies":[{"id":51,"name":"Ones Inc.","logo_path":null,"origin_country":"US"}],"keywords":{"keywords":[{"id":61,"name":"number"}]},"credits":{"cast":[{"id":31,"name":"Ann Actor","character":"One","order":0,"credit_id":"5f0000000000000000000101"}],"crew":[{"id":32,"name":"Dan Director","department":"Directing","job":"Director","credit_id":"5f0000000000000000000102"}]},"images":{"posters":[{"file_path":"/one.jpg","iso_639_1":"en","width":500,"height":750,"aspect_ratio":0.667,"vote_average":5.0,"vote_count":1}],"backdrops":[],"logos":[]},"videos":{"results":[{"id":"5f0000000000000000000103","key":"abc","name":"Trailer","site":"YouTube","type":"Trailer","size":1080,"official":true,"iso_639_1":"en","iso_3166_1":"US","published_at":"2026-01-02T03:04:05.000Z"}]},"translations":{"translations":[{"iso_639_1":"de","iso_3166_1":"DE","name":"Deutsch","english_name":"German","data":{"title":"Der Eine","overview":"Ein Film.","homepage":"","tagline":"","runtime":100}}]},"release_dates":{"results":[{"iso_3166_1":"DE","release_dates":[{"certification":"12","iso_639_1":"","note":"","release_date":"2026-11-20T00:00:00.000Z","type":3}]}]}}
{"id":12,"title":"The Other","original_title":"L'Autre","original_language":"fr","overview":"Another film.","release_date":"1999-10-15","genres":[{"id":18,"name":"Drama"},{"id":35,"name":"Comedy"}],"runtime":90,"vote_average":6.5,"vote_count":100,"popularity":20.25,"credits":{"cast":[{"id":31,"name":"Ann Actor","character":"Other","order":0,"credit_id":"5f0000000000000000000104"}],"crew":[]}}`,
	"tv.ndjson":             `{"id":21,"name":"The Series","original_name":"The Series","original_language":"en","overview":"A series.","first_air_date":"2026-11-01","genres":[{"id":18,"name":"Drama"}],"vote_average":8.5,"vote_count":300,"popularity":70.5,"networks":[{"id":71,"name":"Net","logo_path":null,"origin_country":"US"}],"number_of_seasons":1,"number_of_episodes":2,"seasons":[{"id":22,"season_number":1,"name":"Season 1","episode_count":2,"air_date":"2026-11-01","overview":"","poster_path":null,"vote_average":8.0}],"external_ids":{"tvdb_id":2121,"imdb_id":"tt0000021"}}`,
	"seasons.ndjson":        `{"show_id":21,"season_number":1,"id":22,"name":"Season 1","air_date":"2026-11-01","overview":"The first.","episodes":[{"id":23,"episode_number":1,"season_number":1,"show_id":21,"name":"Begin","air_date":"2026-11-01","overview":"It begins.","runtime":45,"vote_average":8.0,"vote_count":10,"crew":[],"guest_stars":[{"id":31,"name":"Ann Actor","character":"Guest","order":0,"credit_id":"5f0000000000000000000105"}]},{"id":24,"episode_number":2,"season_number":1,"show_id":21,"name":"End","air_date":"2026-11-29","overview":"It ends.","runtime":45}]}`,
	"people.ndjson":         `{"id":31,"name":"Ann Actor","biography":"She acts.","birthday":"1970-01-02","popularity":9.5,"known_for_department":"Acting","gender":1}`,
	"collections.ndjson":    `{"id":41,"name":"The Ones","overview":"All of them.","parts":[{"id":11,"title":"The One"}]}`,
	"companies.ndjson":      `{"id":51,"name":"Ones Inc.","headquarters":"Here","origin_country":"US"}`,
	"keywords.ndjson":       `{"id":61,"name":"number"}`,
	"networks.ndjson":       `{"id":71,"name":"Net","origin_country":"US"}`,
	"lists.ndjson":          `{"id":81,"name":"My list","description":"Two films.","public":true,"iso_639_1":"en","created_by":{"id":"5f0000000000000000000002","username":"kim","name":""},"results":[{"media_type":"movie","id":11},{"media_type":"movie","id":12}]}`,
	"accounts.ndjson":       `{"id":2,"username":"kim","name":"","account_object_id":"5f0000000000000000000002","iso_639_1":"de","iso_3166_1":"DE","include_adult":false,"favorites":{"movies":[{"id":11,"created_at":"2026-03-15 10:26:00 UTC"}],"tv":[]},"watchlist":{"movies":[],"tv":[{"id":21,"created_at":"2026-03-16 10:26:00 UTC"}]},"rated":{"movies":[{"id":12,"value":9.0,"created_at":"2026-04-22 15:39:00 UTC"}],"tv":[],"episodes":[]}}`,
	"episode_groups.ndjson": `{"id":"5f0000000000000000000201","show_id":21,"name":"By story","type":6,"description":"","episode_count":1,"group_count":1,"groups":[{"id":"5f0000000000000000000202","name":"All","order":0,"episodes":[{"id":23,"show_id":21,"season_number":1,"episode_number":1,"order":0,"name":"Begin"}]}]}`,
}

// archiveTargets are requests to archives. $S is a session of the account.
var archiveTargets = []string{
	"/3/movie/11?append_to_response=credits,images,videos,keywords,release_dates,translations,similar,external_ids",
	"/3/movie/11?language=de-DE",
	"/3/movie/11/images?include_image_language=fr",
	"/3/movie/11/account_states?session_id=$S",
	"/3/tv/21?append_to_response=season/1,aggregate_credits,external_ids,episode_groups",
	"/3/tv/21/season/1/episode/2",
	"/3/tv/episode_group/5f0000000000000000000201",
	"/3/person/31?append_to_response=combined_credits",
	"/3/collection/41",
	"/3/company/51",
	"/3/keyword/61",
	"/3/network/71",
	"/3/list/81",
	"/4/list/81",
	"/3/credit/5f0000000000000000000101",
	"/3/find/tt0000011?external_source=imdb_id",
	"/3/find/2121?external_source=tvdb_id",
	"/3/movie/popular",
	"/3/movie/now_playing?region=DE",
	"/3/tv/on_the_air",
	"/3/person/popular",
	"/3/trending/all/week",
	"/3/discover/movie?with_genres=18&with_people=31&vote_count.gte=150",
	"/3/discover/movie?with_genres=18&sort_by=primary_release_date.asc",
	"/3/discover/tv?with_networks=71",
	"/3/search/multi?query=the",
	"/3/search/movie?query=autre&primary_release_year=1999",
	"/3/search/company?query=ones",
	"/3/search/keyword?query=number",
	"/3/account/2/favorite/movies?session_id=$S",
	"/3/account/2/watchlist/tv?session_id=$S",
	"/3/account/2/rated/movies?session_id=$S",
}

// TestArchives opens, checks and serves a release of each version that this program reads, and refuses earlier ones.
func TestArchives(t *testing.T) {
	current := filepath.Join(archives, fmt.Sprintf("v%d", release.FeatureVersion))
	if _, err := os.Stat(current); errors.Is(err, fs.ErrNotExist) {
		if !*update {
			t.Errorf("no archive %s: %s adds it", current, archiveAdd)
		} else {
			addArchive(t, current)
		}
	}
	list, err := filepath.Glob(archives + "/v*")
	if err != nil || len(list) == 0 {
		t.Fatalf("no archives in %s: %v", archives, err)
	}
	for _, dir := range list {
		t.Run(filepath.Base(dir), func(t *testing.T) { checkArchive(t, dir) })
	}
	for version := release.FeatureVersion; version >= release.ReadMin; version-- {
		t.Run(fmt.Sprintf("tiny v%d", version), func(t *testing.T) { checkTiny(t, version) })
	}
}

// checkTiny serves an archive of package release, whose own tests check it.
func checkTiny(t *testing.T, version int) {
	t.Helper()
	from, releases := fmt.Sprintf("../../schemas/release/testdata/v%d", version), t.TempDir()
	m, err := release.ReadManifest(from)
	if err == nil {
		err = os.CopyFS(filepath.Join(releases, m.ID), os.DirFS(from))
	}
	if err != nil {
		t.Fatal(err)
	}
	e := newEdge(t, releases, m.ID)
	const want = `{"adult":false,"genres":[{"id":18,"name":"Drama"}],"ID":550}`
	for _, target := range []string{"/3/movie/550", "/3/movie/550?language=de-DE"} {
		if rs := e.getGzip(t, target); rs.status != 200 || rs.body != want {
			t.Errorf("GET %s: status %d, %s, want %s", target, rs.status, rs.body, want)
		}
	}
}

func checkArchive(t *testing.T, dir string) {
	t.Helper()
	var version int
	if _, err := fmt.Sscanf(filepath.Base(dir), "v%d", &version); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "releases")
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	infos, err := store.Folder{Dir: copied}.List()
	if err != nil || len(infos) != 1 {
		t.Fatalf("%d releases, %v, want one", len(infos), err)
	}
	if version < release.ReadMin {
		if !errors.Is(infos[0].Err, release.ErrVersion) {
			t.Errorf("List = %v, want the error about its version", infos[0].Err)
		}
		return
	}
	id := infos[0].ID
	m, err := release.ReadManifest(filepath.Join(copied, id))
	if err != nil || m.FeatureVersion != version {
		t.Fatalf("manifest: %+v, %v, want version %d", m, err, version)
	}
	problems, err := check.Verify(t.Context(), filepath.Join(copied, id), check.Options{}, nil)
	if err != nil || len(problems) > 0 {
		t.Errorf("Verify = %v, %v, want no problem", problems, err)
	}
	golden := filepath.Join(dir, archiveResponses)
	got := archiveServed(t, copied, id)
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gotLines), len(wantLines)) {
		if i >= len(gotLines) || i >= len(wantLines) || gotLines[i] != wantLines[i] {
			t.Fatalf("line %d of the responses differs from %s, which %s writes", i+1, golden, archiveAdd)
		}
	}
}

// archiveServed returns the responses of a release to all requests, one per line.
func archiveServed(t *testing.T, dir, id string) string {
	t.Helper()
	e := newEdgeOn(t, dir, id, archiveDay)
	session := e.issue(t, auth.KindSession, archiveAccount)
	var out strings.Builder
	for _, target := range archiveTargets {
		rs := e.getGzip(t, strings.ReplaceAll(target, "$S", session))
		if rs.status != 200 {
			t.Errorf("GET %s: status %d: %.200s", target, rs.status, rs.body)
		}
		fmt.Fprintf(&out, "%s\t%s\n", target, rs.body)
	}
	return out.String()
}

// addArchive builds a release of archiveRows.
func addArchive(t *testing.T, dir string) {
	t.Helper()
	src, tmp := t.TempDir(), t.TempDir()
	for name, rows := range archiveRows {
		writeFiles(t, src, map[string][]byte{name: []byte(rows)})
	}
	r, err := ingest.Run(t.Context(), ingest.Config{Catalog: filepath.Join(tmp, "catalog"), Sources: []string{src}})
	if err != nil || r.Quarantined > 0 {
		t.Fatalf("ingest: %v, %q", err, r.Bad)
	}
	c := build.DefaultConfig()
	c.Catalog, c.Releases = filepath.Join(tmp, "catalog"), filepath.Join(tmp, "releases")
	b, err := build.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, b.Release)
	if err := os.CopyFS(to, os.DirFS(filepath.Join(c.Releases, b.Release))); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(to, release.ReportName)); err != nil { // it has the times of this build
		t.Fatal(err)
	}
}
