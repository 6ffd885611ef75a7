package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/reelsplice/reelsplice/schemas/catalog"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/edge"
)

// refusedSession and refusedPrivate are bodies of error responses.
const (
	refusedSession = `{"success":false,"status_code":3,"status_message":"Authentication failed: You do not have permissions to access the service."}`
	refusedPrivate = `{"success":false,"status_code":39,"status_message":"This resource is private."}`
)

// usersEdge builds the catalogue below dir and serves it.
func usersEdge(t *testing.T, dir string) (*testEdge, *release.Reader) {
	t.Helper()
	rel := buildCatalog(t, dir)
	return newEdge(t, filepath.Join(dir, "releases"), rel.Manifest().ID), rel
}

// TestListPages: pages of one list in several rows and files form one list; titles that the release lacks are neither
// on it nor counted.
func TestListPages(t *testing.T) {
	dir := t.TempDir()
	var movies []string
	for id := 1; id <= 45; id++ {
		movies = append(movies, fmt.Sprintf(`{"id":%d,"title":"T%d"}`, id, id))
	}
	ingestFile(t, dir, "movies.ndjson", "", movies...)
	page := func(n, from, to int) string {
		var rows []string
		for id := from; id <= to; id++ {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"media_type":"movie","title":"T"}`, id))
		}
		return fmt.Sprintf(`{"id":8,"name":"A","results":[%s],"comments":{"movie:%d":"first of %d"},"page":%d,"total_pages":3,"total_results":50}`,
			strings.Join(rows, ","), from, n, n)
	}
	ingestFile(t, dir, "lists.ndjson", "", page(2, 21, 40), page(1, 1, 20))
	ingestFile(t, dir, "list/8-page-3.json", "", page(3, 41, 50))
	e, rel := usersEdge(t, dir)
	var got []int64
	for n := 1; n <= 4; n++ {
		v, err := parseJSON([]byte(e.get(fmt.Sprint("/4/list/8?page=", n)).body))
		if err != nil || v.int("total_results") != 45 || v.int("total_pages") != 3 || v.int("page") != int64(n) || v.int("item_count") != 45 {
			t.Fatalf("page %d: %v, %v", n, v, err)
		}
		for _, row := range v.list("results") {
			got = append(got, row.int("id"))
		}
		if first := fmt.Sprint("movie:", 20*n-19); n <= 3 && v.text("comments", first) != fmt.Sprint("first of ", n) {
			t.Errorf("page %d: comment of %s is %q", n, first, v.text("comments", first))
		}
	}
	for i, id := range got {
		if id != int64(i+1) {
			t.Fatalf("the list is %v", got)
		}
	}
	if len(got) != 45 {
		t.Errorf("%d items, want 45", len(got))
	}
	if _, ok := rel.Lookup(fragment.AppendID(nil, fragment.KindList, 8)); !ok {
		t.Error("the release has no resource of the list, so its changes stay hidden")
	}
}

// TestListOrders: lists have the orders of version 4; equal titles stay in the list's order.
func TestListOrders(t *testing.T) {
	dir := t.TempDir()
	ingestFile(t, dir, "movies.ndjson", "", `{"id":1,"title":"Beta","release_date":"2001-01-01","vote_average":7.5}`,
		`{"id":2,"title":"alpha","release_date":"1999-05-05","vote_average":9}`, `{"id":3,"title":"Cee","release_date":"","vote_average":7.5}`)
	ingestFile(t, dir, "tv.ndjson", "", `{"id":4,"name":"beta 2","first_air_date":"2010-01-01","vote_average":1}`,
		`{"id":5,"name":"Alpha","first_air_date":"2005-01-01","vote_average":9}`)
	ingestFile(t, dir, "lists.ndjson", "", `{"id":1,"name":"A","sort_by":"vote_average.desc","items":[{"media_type":"tv","id":5},`+
		`{"media_type":"movie","id":3},{"media_type":"movie","id":1},{"media_type":"tv","id":4},{"media_type":"movie","id":2}]}`)
	e, _ := usersEdge(t, dir)
	read := func(query string) (ids []int64) {
		v, err := ask(e, "/4/list/1"+query)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range v.list("results") {
			ids = append(ids, row.int("id"))
		}
		return ids
	}
	for order, want := range map[string][]int64{
		"original_order": {5, 3, 1, 4, 2}, "vote_average": {4, 3, 1, 5, 2}, "title": {5, 2, 1, 4, 3},
		"release_date": {3, 2, 1, 5, 4}, "primary_release_date": {3, 2, 1, 5, 4},
	} {
		for _, end := range []string{".asc", ".desc"} {
			if got := read("?sort_by=" + order + end); !slices.Equal(got, want) {
				t.Errorf("%s%s: %v, want %v", order, end, got, want)
			}
			slices.Reverse(want)
		}
	}
	if got := read(""); !slices.Equal(got, []int64{2, 5, 1, 3, 4}) {
		t.Errorf("without sort_by: %v, want the list's own order", got)
	}
	if r := e.get("/4/list/1?sort_by=popularity.desc"); r.status != 422 {
		t.Errorf("another order: %d %s, want 422", r.status, r.body)
	}
}

// allText returns the text of all fragments of a release.
func allText(t *testing.T, rel *release.Reader) []byte {
	t.Helper()
	var out bytes.Buffer
	err := rel.Resources(t.Context(), func(key []byte, e release.Entry, _ release.Ref) error {
		out.Write(key)
		for i := range e.Len() {
			var p release.Piece
			pieces := e.Fragment(i).Pieces()
			for pieces.Next(&p) {
				out.Write(p.Text())
				if p.Op != release.OpSegment {
					continue
				}
				if _, err := io.CopyN(&out, flate.NewReader(bytes.NewReader(p.Segment.Stored)), int64(p.Segment.RawLen)); err != nil {
					return fmt.Errorf("%s: %w", fragment.DescribeKey(key), err)
				}
			}
			if pieces.Broken {
				return fmt.Errorf("%s is broken", fragment.DescribeKey(key))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// usersWorld is a catalogue of a few titles with users whose data must stay private.
func usersWorld(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ingestFile(t, dir, "movies.ndjson", "", `{"id":550,"title":"A"}`, `{"id":551,"title":"B"}`, `{"id":552,"title":"C"}`)
	ingestFile(t, dir, "tv.ndjson", "", `{"id":1399,"name":"S","season/1":{"id":3624,"season_number":1,"episodes":[`+
		`{"id":63056,"episode_number":1,"season_number":1,"show_id":1399,"name":"One"},{"id":63057,"episode_number":2,"season_number":1,"show_id":1399,"name":"Two"}]}}`)
	ingestFile(t, dir, "lists.ndjson", "",
		`{"id":1,"name":"Open","created_by":{"id":"5f00000000000000000000aa","username":"publicname"},"items":[{"media_type":"movie","id":550},{"media_type":"tv","id":1399}]}`,
		`{"id":2,"name":"Hiddenlistname","public":false,"created_by":{"id":"5f00000000000000000000aa","username":"publicname"},"items":[{"media_type":"movie","id":551,"comment":"hiddencomment"}]}`)
	ingestFile(t, dir, "accounts.ndjson", "",
		`{"id":54801,"username":"secretusername","name":"Secret Realname","account_object_id":"5f00000000000000000000aa",`+
			`"favorites":{"movies":[{"id":552,"created_at":"2026-02-01 10:00:00 UTC"},{"id":550,"created_at":"2026-01-01 10:00:00 UTC"},{"id":999}]},`+
			`"watchlist":{"tv":[{"id":1399}]},"rated":{"movies":[{"id":551,"value":8.5,"created_at":"2026-03-01 10:00:00 UTC"}],`+
			`"episodes":[{"show_id":1399,"season_number":1,"episode_number":2,"value":9},{"show_id":1399,"season_number":7,"episode_number":2,"value":9}]}}`,
		`{"id":54802,"username":"othersecret","account_object_id":"5f00000000000000000000bb"}`,
		`{"guest_session_id":"0123456789abcdef0123456789abcdef","rated":{"movies":[{"id":550,"value":3}]}}`)
	return dir
}

// TestUsersStayPrivate: no content of accounts and private lists is in a fragment or in a response for others, and
// responses about them must not be cached.
func TestUsersStayPrivate(t *testing.T) {
	dir := usersWorld(t)
	e, rel := usersEdge(t, dir)
	secrets := []string{"secretusername", "Secret Realname", "54801", "othersecret", "Hiddenlistname", "hiddencomment", "0123456789abcdef0123456789abcdef"}
	text := allText(t, rel)
	for _, s := range secrets {
		if bytes.Contains(text, []byte(s)) {
			t.Errorf("a fragment holds %q", s)
		}
	}
	if !bytes.Contains(text, []byte("publicname")) { // otherwise the search finds nothing at all
		t.Error("no fragment holds the public list")
	}
	names := []string{"manifest.json"}
	for _, f := range rel.Manifest().Parts {
		names = append(names, f.Name)
	}
	for _, name := range names {
		b, err := os.ReadFile(filepath.Join(dir, "releases", rel.Manifest().ID, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range secrets {
			if bytes.Contains(b, []byte(s)) {
				t.Errorf("%s holds %q", name, s)
			}
		}
	}
	checkPrivateFiles(t, filepath.Join(dir, "catalog"), filepath.Join(dir, "releases", rel.Manifest().ID))
	session := e.issue(t, auth.KindSession, "54801")
	for _, target := range []string{
		"/3/account?session_id=" + session, "/3/account/54801/lists?session_id=" + session, "/3/list/2?session_id=" + session,
		"/3/movie/550/account_states?session_id=" + session, "/3/movie/550?append_to_response=account_states&session_id=" + session,
		"/3/movie/550?append_to_response=account_states",
	} {
		if r := e.get(target); r.status != 200 || r.cache != "private, no-store" || r.keys != "" {
			t.Errorf("GET %s = %d, %q, %q, want 200, private, no-store, without names", target, r.status, r.cache, r.keys)
		}
	}
	for _, target := range []string{"/3/list/1", "/4/list/1"} {
		if r := e.get(target); r.status != 200 || !strings.HasPrefix(r.cache, "public") || !strings.HasSuffix(r.keys, " list list-1") {
			t.Errorf("GET %s = %d, %q, %q, want a public response with its name", target, r.status, r.cache, r.keys)
		}
	}
}

// checkPrivateFiles tests that only their owner can read the files of account data.
func checkPrivateFiles(t *testing.T, catalog, release string) {
	t.Helper()
	if runtime.GOOS == "windows" {
		return
	}
	for path, private := range map[string]bool{
		filepath.Join(catalog, "account.parquet"): true, filepath.Join(catalog, "list.parquet"): true, filepath.Join(catalog, "movie.parquet"): false,
		filepath.Join(release, "table-account"): true, filepath.Join(release, "table-list"): true, filepath.Join(release, "table-movie"): false,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if perm := info.Mode().Perm(); (perm&0o077 == 0) != private {
			t.Errorf("%s has mode %#o, want it private: %v", path, perm, private)
		}
	}
}

// TestSessions: responses for accounts and guests, and refusals.
func TestSessions(t *testing.T) {
	e, _ := usersEdge(t, usersWorld(t))
	session, other := e.issue(t, auth.KindSession, "54801"), e.issue(t, auth.KindSession, "54802")
	guest, user := e.issue(t, auth.KindGuest, "0123456789abcdef0123456789abcdef"), e.issue(t, auth.KindToken, "5f00000000000000000000aa")
	nobody := e.issue(t, auth.KindSession, "99")
	f := func(token, target string, status int, want string) {
		t.Helper()
		if r := e.as(token, target); r.status != status || want != "" && r.body != want {
			t.Errorf("GET %s = %d %s\nwant %d %s", target, r.status, r.body, status, want)
		}
	}
	ids := func(token, target string, want ...int64) {
		t.Helper()
		r := e.as(token, target)
		v, err := parseJSON([]byte(r.body))
		if err != nil {
			t.Fatalf("GET %s = %d %s, %v", target, r.status, r.body, err)
		}
		var got []int64
		for _, row := range v.list("results") {
			got = append(got, row.int("id"))
		}
		if !slices.Equal(got, want) || v.int("total_results") != int64(len(want)) || v.int("total_pages") != 1 {
			t.Errorf("GET %s = %d %s, want %v", target, r.status, r.body, want)
		}
	}
	app := e.token
	with := "?session_id=" + session

	// Credentials.
	details := `{"avatar":{"gravatar":{"hash":"d41d8cd98f00b204e9800998ecf8427e"},"tmdb":{"avatar_path":null}},"id":54801,"iso_639_1":"","iso_3166_1":"",` +
		`"name":"Secret Realname","include_adult":false,"username":"secretusername"}`
	f(app, "/3/account"+with, 200, details)
	f(app, "/3/account/54801"+with, 200, details)
	f(user, "/3/account", 200, details)
	f(app, "/3/account", 401, refusedSession)
	f(app, "/3/account/54801", 401, refusedSession)
	f(app, "/3/account/54802"+with, 200, details) // the session decides, not the path
	f(app, "/3/account/%7Baccount_id%7D"+with, 200, details)
	f(app, "/3/account?session_id="+guest, 401, refusedSession)
	f(app, "/3/account?session_id="+app, 401, refusedSession)
	f(app, "/3/account?session_id="+nobody, 401, refusedSession)
	f(user, "/3/account?session_id=x", 401, refusedSession)
	f(session, "/3/account"+with, 401, "") // a session alone is not enough
	f(app, "/3/account/54801/favorite/movies?page=0&session_id="+session, 400, "")

	// Shelves.
	ids(app, "/3/account/54801/favorite/movies"+with, 550, 552)
	ids(app, "/3/account/54801/favorite/movies"+with+"&sort_by=created_at.desc", 552, 550)
	ids(app, "/3/account/54801/favorite/tv"+with)
	ids(app, "/3/account/54801/watchlist/tv"+with, 1399)
	ids(app, "/3/account/54801/watchlist/movies"+with)
	ids(app, "/3/account/54801/rated/movies"+with, 551)
	ids(app, "/3/account/54801/rated/tv/episodes"+with, 63057)
	ids(app, "/3/account/54801/lists"+with, 1, 2)
	ids(app, "/3/guest_session/"+guest+"/rated/movies", 550)
	ids(app, "/3/guest_session/"+guest+"/rated/tv")
	f(app, "/3/guest_session/"+session+"/rated/movies", 401, refusedSession)
	f(app, "/3/guest_session/0123456789abcdef0123456789abcdef/rated/movies", 401, refusedSession)
	for _, path := range []string{"movie/favorites", "movie/rated", "movie/recommendations", "movie/watchlist", "tv/favorites", "tv/rated", "tv/recommendations", "tv/watchlist", "lists"} {
		f(user, "/4/account/5f00000000000000000000aa/"+path, 200, "")
		f(app, "/4/account/5f00000000000000000000aa/"+path, 401, refusedSession)
		f(user, "/4/account/5f00000000000000000000bb/"+path, 401, refusedSession)
	}
	ids(user, "/4/account/5f00000000000000000000aa/movie/rated", 551)

	// States.
	f(app, "/3/movie/550/account_states"+with, 200, `{"id":550,"favorite":true,"rated":false,"watchlist":false}`)
	f(app, "/3/movie/551/account_states"+with, 200, `{"id":551,"favorite":false,"rated":{"value":8.5},"watchlist":false}`)
	f(app, "/3/movie/550/account_states?guest_session_id="+guest, 200, `{"id":550,"favorite":false,"rated":{"value":3.0},"watchlist":false}`)
	f(app, "/3/tv/1399/account_states"+with, 200, `{"id":1399,"favorite":false,"rated":false,"watchlist":true}`)
	f(app, "/3/tv/1399/season/1/account_states"+with, 200, `{"id":3624,"results":[{"id":63056,"episode_number":1,"rated":false},{"id":63057,"episode_number":2,"rated":{"value":9.0}}]}`)
	f(app, "/3/tv/1399/season/1/episode/2/account_states"+with, 200, `{"id":63057,"favorite":false,"rated":{"value":9.0},"watchlist":false}`)
	f(app, "/3/movie/999/account_states"+with, 404, notFound)
	f(app, "/3/movie/550/account_states", 401, refusedSession)
	appended := func(target, want string) {
		t.Helper()
		r := e.get(target)
		if r.status != 200 || strings.Contains(r.body, `account_states`) != (want != "") || !strings.Contains(r.body, want) {
			t.Errorf("GET %s = %d, want it with %s: %s", target, r.status, want, r.body)
		}
	}
	const append1 = "append_to_response=account_states&session_id="
	appended("/3/movie/550?"+append1+session, `"account_states":{"favorite":true,"rated":false,"watchlist":false}`)
	appended("/3/tv/1399/season/1?"+append1+session, `"account_states":{"results":[{"id":63056,"episode_number":1,"rated":false},{"id":63057,"episode_number":2,"rated":{"value":9.0}}]}`)
	appended("/3/tv/1399/season/1/episode/2?"+append1+session, `"account_states":{"favorite":false,"rated":{"value":9.0},"watchlist":false}`)
	appended("/3/tv/1399?append_to_response=season/1/account_states&session_id="+session, `"season/1/account_states":{"results":[{"id":63056,`)
	appended("/3/movie/550?"+append1+"x", "")
	appended("/3/movie/550?append_to_response=account_states", "")

	// Lists.
	f(app, "/3/list/1/item_status?movie_id=550", 200, `{"id":"1","item_present":true}`)
	f(app, "/3/list/1/item_status?movie_id=1399", 200, `{"id":"1","item_present":false}`)
	f(app, "/3/list/9", 404, notFound)
	f(app, "/4/list/1/item_status?media_type=tv&media_id=1399", 200,
		`{"success":true,"status_code":1,"status_message":"Success.","id":1,"media_id":1399,"media_type":"tv"}`)
	f(app, "/4/list/1/item_status?media_type=movie&media_id=1399", 404, notFound)
	f(app, "/4/list/1/item_status?media_type=movie", 404, notFound)
	for _, target := range []string{"/3/list/2", "/4/list/2", "/3/list/2/item_status?movie_id=551", "/4/list/2/item_status?media_type=movie&media_id=551"} {
		f(app, target, 401, refusedPrivate)
		f(user, target, 200, "")
	}
	f(app, "/3/list/2?session_id="+other, 401, refusedPrivate)
	f(app, "/3/list/2"+with, 200, "")

	// Revoking and expiring.
	if _, err := auth.Revoke(e.path, "session 54801", time.Now()); err != nil {
		t.Fatal(err)
	}
	if e.live.Poll(); e.live.Err() != nil {
		t.Fatal(e.live.Err())
	}
	f(app, "/3/account"+with, 401, refusedSession)
	f(app, "/3/account/54802?session_id="+other, 200, "")
}

// TestRemovedUsers: a removed account leaves no trace in the release; a removed list is reported like any resource.
func TestRemovedUsers(t *testing.T) {
	dir := usersWorld(t)
	ingestFile(t, dir, "account/54801.json", "", `{"id":54801,"_deleted":true}`)
	ingestFile(t, dir, "list/1.json", "", `{"id":1,"_deleted":true}`)
	e, rel := usersEdge(t, dir)
	session := e.issue(t, auth.KindSession, "54801")
	if r := e.get("/3/account?session_id=" + session); r.status != 401 {
		t.Errorf("a removed account: %d %s", r.status, r.body)
	}
	if r := e.get("/3/list/1"); r.status != 404 {
		t.Errorf("a removed list: %d %s", r.status, r.body)
	}
	if _, gone, err := rel.Removed(catalog.NumberKey(1).Append(nil, fragment.KindList)); !gone || err != nil {
		t.Errorf("the release lacks the removal of list 1: %v", err)
	}
	if _, gone, _ := rel.Removed(catalog.NumberKey(54801).Append(nil, fragment.KindAccount)); gone {
		t.Error("the release has an account")
	}
}

// listsOf returns the ids of all pages of the lists with a title, alone and appended.
func listsOf(t *testing.T, e *testEdge, media string, id int64) (ids []int64) {
	t.Helper()
	for page := 1; ; page++ {
		target := fmt.Sprintf("/3/%s/%d/lists?page=%d", media, id, page)
		v, err := ask(e, target)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range v.list("results") {
			ids = append(ids, row.int("id"))
		}
		alone := e.get(target).body
		body, ok := strings.CutPrefix(alone, fmt.Sprintf(`{"id":%d,"page":%d,"results":[`, id, page))
		appended := fmt.Sprintf("/3/%s/%d?append_to_response=lists&page=%d", media, id, page)
		if want := fmt.Sprintf(`,"lists":{"page":%d,"results":[%s}`, page, body); !ok || !strings.HasSuffix(e.get(appended).body, want) {
			t.Fatalf("GET %s = %s\nGET %s = %s\nwant the first in the second, but for the id", target, alone, appended, e.get(appended).body)
		}
		if r := e.getGzip(t, target); r.body != alone {
			t.Fatalf("GET %s with gzip = %s, want %s", target, r.body, alone)
		}
		if int64(page) < v.int("total_pages") {
			continue
		}
		if n := v.int("total_results"); n != int64(len(ids)) || v.int("total_pages") != max(1, (n+19)/20) {
			t.Fatalf("GET %s = %s, want %d in all", target, alone, len(ids))
		}
		return ids
	}
}

// TestListsOfTitles: the lists of a title are ordered by favorites, then by id, page by page; lists from a dump take
// precedence; private and removed lists are excluded.
func TestListsOfTitles(t *testing.T) {
	skipLarge(t)
	dir := t.TempDir()
	given := `{"id":3,"page":1,"results":[{"description":"","favorite_count":0,"id":77,"item_count":5,"iso_639_1":"en","iso_3166_1":"US","list_type":"movie","name":"Given","poster_path":null}],"total_pages":1,"total_results":1}`
	ingestFile(t, dir, "movies.ndjson", "", `{"id":1,"imdb_id":"tt0000001","title":"A"}`, `{"id":2,"title":"B"}`, `{"id":3,"title":"C","lists":`+given+`}`)
	ingestFile(t, dir, "tv.ndjson", "", `{"id":1,"name":"S"}`, `{"id":2,"name":"T"}`)
	type list struct{ id, favorites int64 }
	var lists []list
	var rows []string
	for i := range int64(45) {
		l := list{id: 100 - i, favorites: i % 4}
		lists = append(lists, l)
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"L","favorite_count":%d,"items":[{"media_type":"movie","id":1},{"media_type":"tv","id":2},{"media_type":"movie","id":3},{"media_type":"movie","id":999},{"media_type":"movie","id":1}]}`, l.id, l.favorites))
	}
	rows = append(rows, `{"id":7,"name":"Hidden","public":false,"favorite_count":9,"items":[{"media_type":"movie","id":1},{"media_type":"movie","id":2},{"media_type":"tv","id":1}]}`,
		`{"id":8,"name":"Removed","favorite_count":9,"items":[{"media_type":"movie","id":1},{"media_type":"movie","id":2}]}`,
		`{"id":9,"name":"\"é\"","description":"d","favorite_count":5,"iso_639_1":"de","iso_3166_1":"AT","poster_path":"/p.jpg","items":[{"media_type":"tv","id":1}]}`)
	ingestFile(t, dir, "lists.ndjson", "", rows...)
	ingestFile(t, dir, "list/8.json", "", `{"id":8,"_deleted":true}`)
	e, _ := usersEdge(t, dir)
	slices.SortFunc(lists, func(a, b list) int { return cmp.Or(cmp.Compare(b.favorites, a.favorites), cmp.Compare(a.id, b.id)) })
	var want []int64
	for _, l := range lists {
		want = append(want, l.id)
	}
	check := func(media string, id int64, want ...int64) {
		t.Helper()
		if got := listsOf(t, e, media, id); !slices.Equal(got, want) {
			t.Errorf("lists of %s %d: %v, want %v", media, id, got, want)
		}
	}
	check("movie", 1, want...)
	check("movie", 2)
	check("movie", 3, 77)
	check("tv", 1, 9)
	check("tv", 2, want...)
	f := func(target, want string) {
		t.Helper()
		if r := e.get(target); r.status != 200 || r.body != want || !strings.HasPrefix(r.cache, "public") || e.getIfNot(target, r.etag).status != 304 {
			t.Errorf("GET %s = %d %s %s\nwant %s", target, r.status, r.cache, r.body, want)
		}
	}
	f("/3/tv/1/lists", `{"id":1,"page":1,"results":[{"description":"d","favorite_count":5,"id":9,"item_count":1,"iso_639_1":"de","iso_3166_1":"AT","name":"\"é\"","poster_path":"/p.jpg"}],"total_pages":1,"total_results":1}`)
	f("/3/movie/1/lists?page=4", `{"id":1,"page":4,"results":[],"total_pages":3,"total_results":45}`)
	f("/3/movie/2/lists?page=2", `{"id":2,"page":2,"results":[],"total_pages":1,"total_results":0}`)
	f("/3/movie/tt0000001/lists?page=3", e.get("/3/movie/1/lists?page=3").body)
	row := e.get("/3/movie/1/lists").body
	if want := fmt.Sprintf(`"results":[{"description":"","favorite_count":3,"id":%d,"item_count":3,"iso_639_1":"","iso_3166_1":"","list_type":"movie","name":"L","poster_path":null},{`, want[0]); !strings.Contains(row, want) {
		t.Errorf("GET /3/movie/1/lists = %s, want %s", row, want)
	}
}

// TestInspectLists: without a credential, only public lists are shown.
func TestInspectLists(t *testing.T) {
	rel := buildCatalog(t, usersWorld(t))
	for target, want := range map[string]int{
		"/3/list/1": 200, "/4/list/1?sort_by=title.desc": 200, "/3/list/1/item_status?movie_id=550": 200, "/4/list/1/item_status?media_type=tv&media_id=5": 404,
		"/3/list/2": 401, "/4/list/2": 401, "/3/list/7": 404, "/3/account": 401,
	} {
		if a, err := edge.Inspect(rel, target); err != nil || a.Status != want {
			t.Errorf("Inspect(%s) = %d %s, %v, want %d", target, a.Status, a.Body, err, want)
		}
	}
}
