package edge

import (
	"cmp"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release/check"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

func TestKinds(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	w.verify(t)
	f := func(uri, want string) {
		t.Helper()
		if a := w.get(t, uri); a.Status != 200 || a.plain != want || a.Cache != servetest.Kept {
			t.Errorf("%s = %d %s, %s\nwant %s", uri, a.Status, a.plain, a.Cache, want)
		}
	}
	f("/3/tv/1399", `{"id":1399,"name":"Game of Thrones"}`)
	f("/3/tv/1399/season/1", `{"_id":"5256c89f19c2956ff6046d47","name":"Season One","id":3624}`)
	f("/3/tv/1399/season/0", `{"_id":"5256c89f19c2956ff6046dd7","name":"Specials","id":3627}`)
	f("/3/tv/1399/season/1/episode/2", `{"name":"The Kingsroad","id":63057}`)
	f("/3/person/287", `{"id":287,"name":"Brad Pitt"}`)
	f("/3/collection/10", `{"id":10,"parts":[{"id":550,"title":"Fight Club","media_type":"movie"}]}`)
	f("/3/company/1", `{"id":1,"name":"Lucasfilm"}`)
	f("/3/network/49", `{"id":49,"name":"HBO"}`)
	f("/3/keyword/825", `{"id":825,"name":"support group"}`)
	f("/3/review/5488c29bc3a3686f4a00004a", `{"id":"5488c29bc3a3686f4a00004a","author":"A"}`)
	f("/3/tv/episode_group/5acf93e60e0a26346d0000ce", `{"id":"5acf93e60e0a26346d0000ce","name":"G"}`)
	f("/3/credit/52542282760ee313280017f9", `{"credit_type":"cast","media":{"id":1399,"name":"Game of Thrones","media_type":"tv",`+
		`"seasons":[{"id":3624,"name":"Season One","media_type":"tv_season"}]},"id":"52542282760ee313280017f9"}`)

	// the id of the resource that answers, in front or at the end
	f("/3/tv/1399/season/1/credits", `{"cast":[],"crew":[],"id":3624}`)
	f("/3/tv/1399/season/1/videos", `{"id":3624,"results":[]}`)
	f("/3/tv/1399/season/0/credits", `{"cast":[],"crew":[],"id":3627}`)
	f("/3/tv/1399/season/1/episode/2/videos", `{"id":63057,"results":[]}`)
	f("/3/tv/1399/alternative_titles?country=DE", `{"results":[{"iso_3166_1":"FR","title":"T"}],"id":1399}`)
	f("/3/tv/1399?append_to_response=alternative_titles&country=DE", `{"id":1399,"name":"Game of Thrones","alternative_titles":{"results":[{"iso_3166_1":"FR","title":"T"}]}}`)
	f("/3/person/819/combined_credits", `{"cast":[],"crew":[],"id":819}`)

	// changes are asked by the season's or episode's own id
	f("/3/tv/season/3624/changes", `{"changes":[{"key":"name","items":[]}]}`)
	f("/3/tv/season/0003624/changes", `{"changes":[{"key":"name","items":[]}]}`)
	f("/3/tv/episode/63057/changes", `{"changes":[]}`)

	// rows of other resources, in the language of the request
	credits := func(title string) string {
		return `"cast":[{"id":550,"title":"` + title + `","character":"Tyler","media_type":"movie"},{"id":1399,"name":"Game of Thrones","character":"X","media_type":"tv"}],"crew":[]`
	}
	f("/3/person/287/combined_credits", `{`+credits("Fight Club")+`,"id":287}`)
	f("/3/person/287/combined_credits?language=de-DE", `{`+credits("Klub")+`,"id":287}`)
	f("/3/person/287/combined_credits?language=fr", `{`+credits("Fight Club")+`,"id":287}`)
	f("/3/person/287?append_to_response=combined_credits,images&language=de-DE",
		`{"id":287,"name":"Brad Pitt","combined_credits":{`+credits("Klub")+`},"images":{"profiles":[{"iso_639_1":null},{"iso_639_1":"de"}]}}`)
	f("/3/collection/10?language=de-DE&append_to_response=images", `{"id":10,"parts":[{"id":550,"title":"Klub","media_type":"movie"}],"images":{"backdrops":[],"posters":[]}}`)
	f("/3/movie/550?append_to_response=similar", `{"id":550,"title":"Fight Club","similar":{"page":1,"results":[{"id":1099511627776,"title":"Far"}],"total_pages":1,"total_results":1}}`)

	// images below a series
	f("/3/tv/1399/season/1/images?include_image_language=de,null", `{"id":3624,"posters":[{"iso_639_1":"de"},{"iso_639_1":null}]}`)
	f("/3/tv/1399/season/1/images?language=fr", `{"id":3624,"posters":[]}`)
	f("/3/tv/1399/season/1/episode/2/images?include_image_language=en", `{"id":63057,"stills":[]}`)
	f("/3/tv/1399/season/1/episode/2/images?include_image_language=en,null", `{"id":63057,"stills":[{"iso_639_1":null}]}`)

	// pages
	f("/3/keyword/825/movies?page=2", `{"id":825,"page":2,"results":[2]}`)
	f("/3/keyword/825/movies?page=3", `{"id":825,"page":3,"results":[]}`)
	f("/3/keyword/825?append_to_response=movies&page=2", `{"id":825,"name":"support group","movies":{"page":2,"results":[2]}}`)
	f("/3/company/1/movies?page=2", `{"id":1,"page":1,"results":[1]}`)
	f("/3/person/819/tagged_images?page=2", `{"id":819,"page":0,"results":[],"total_pages":0,"total_results":0}`)
}

func TestGenericNames(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	f := func(uri, want string) {
		t.Helper()
		if a := w.get(t, uri); servetest.Cut(a.plain, `"name":"`, `"`) != want {
			t.Errorf("%s = %s, want the name %s", uri, a.plain, want)
		}
	}
	const season = "/3/tv/1399/season/"
	f(season+"1", "Season One")
	f(season+"1?language=en-US", "Season One")
	f(season+"1?language=en-GB", "Season One")
	f(season+"1?language=nonsense", "Season One")
	f(season+"1?language=de-DE", "Staffel 1")
	f(season+"1?language=de", "Staffel 1")
	f(season+"1?language=zh-CN", "第 1 季")
	f(season+"1?language=zz", "Season 1")
	f(season+"0?language=zh-CN", "特别篇")
	f(season+"0?language=zh-TW", "特別篇")
	f(season+"1/episode/2?language=de-AT", "Folge 2")
	f(season+"1/episode/2?language=zh-CN", "第 2 集")
	a := w.get(t, "/3/tv/1399?append_to_response=season/1/episode/2,season/0&language=fr-FR")
	const episode, specials = `"season/1/episode/2":{"name":"Épisode 2","id":63057}`, `"name":"Épisodes spéciaux","id":3627}`
	if !strings.Contains(a.plain, episode) || !strings.Contains(a.plain, specials) {
		t.Errorf("generic names in French = %s, want %s and %s", a.plain, episode, specials)
	}
}

// TestAppendBelowSeries appends seasons, episodes and their sub-requests.
func TestAppendBelowSeries(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	f := func(names, want string) {
		t.Helper()
		a := w.get(t, "/3/tv/1399?append_to_response="+names)
		if a.Status != 200 || a.plain != `{"id":1399,"name":"Game of Thrones"`+want+`}` {
			t.Errorf("append %s = %d %s\nwant %s", names, a.Status, a.plain, want)
		}
	}
	const (
		one     = `{"_id":"5256c89f19c2956ff6046d47","name":"Season One","id":3624}`
		special = `{"_id":"5256c89f19c2956ff6046dd7","name":"Specials","id":3627}`
		episode = `{"name":"The Kingsroad","id":63057}`
	)
	f("season/1", `,"season/1":`+one)
	f("season/01,season/1", `,"season/01":`+one+`,"season/1":`+one)
	f("season/0,videos,season/1/credits", `,"season/0":`+special+`,"videos":{"results":[]},"season/1/credits":{"cast":[],"crew":[]}`)
	f("season/1/watch/providers,season%2F1%2Fimages", `,"season/1/watch/providers":{"results":{}},"season/1/images":{"posters":[{"iso_639_1":"en"},{"iso_639_1":"de"},{"iso_639_1":null}]}`)
	f("season/1/changes", `,"season/1/changes":{"changes":[{"key":"name","items":[]}]}`)
	f("season/1/episode/2,season/1/episode/2/images", `,"season/1/episode/2":`+episode+`,"season/1/episode/2/images":{"stills":[{"iso_639_1":null}]}`)
	// what is not there is left out: a season, its sub-requests, an episode
	f("season/2,season/2/credits,season/1/episode/3,season/2/episode/2,season/1/account_states", "")
	f("season/-1,season/a,season/1/nothing,season/4294967296,season,season/,season/1/episode", "")
	f("season/4294967295", "")
}

func TestFind(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	f := func(uri string, status int, want, keys string) {
		t.Helper()
		a := w.get(t, uri)
		if a.Status != status || a.plain != want || string(a.Keys) != a.Release+keys {
			t.Errorf("%s = %d %s, keys %q\nwant %d %s, %q", uri, a.Status, a.plain, a.Keys, status, want, keys)
		}
	}
	const body5 = `{"success":false,"status_code":5,"status_message":"Invalid parameters: Your request parameters are incorrect."}`
	found := func(title, episode string) string { // the row of the episode is derived from its details
		return `{"movie_results":[],"person_results":[{"id":287,"name":"Brad Pitt","media_type":"person","known_for":[{"id":550,"title":"` + title +
			`","media_type":"movie"},{"id":1399,"name":"Game of Thrones","media_type":"tv"}]},{"id":819,"media_type":"person","known_for":[]}],"tv_results":[],` +
			`"tv_episode_results":[{"id":63057,"name":"` + episode + `","overview":"","media_type":"tv_episode","vote_average":0.0,"vote_count":0,` +
			`"air_date":null,"episode_number":0,"episode_type":"","production_code":"","runtime":null,"season_number":0,"show_id":1399,"still_path":null}],"tv_season_results":[]}`
	}
	f("/3/find/nm0000093?external_source=imdb_id", 200, found("Fight Club", "The Kingsroad"), " find find-imdb_id-nm0000093")
	f("/3/find/nm0000093?external_source=imdb_id&language=de-DE", 200, found("Klub", "Folge 2"), " find find-imdb_id-nm0000093")
	f("/3/find/nm%30000093?external_source=imdb%5Fid", 200, found("Fight Club", "The Kingsroad"), " find find-imdb_id-nm0000093")
	// no match
	f("/3/find/nm0000093?external_source=wikidata_id", 200, foundNothing, " find find-wikidata_id-nm0000093")
	f("/3/find/NM0000093?external_source=imdb_id", 200, foundNothing, " find find-imdb_id-NM0000093")
	f("/3/find/a%20b%0d%0aX-Evil:1?external_source=youtube_id", 200, foundNothing, " find")
	f("/3/find/"+strings.Repeat("x", 63)+"?external_source=imdb_id", 200, foundNothing, "")
	f("/3/find/"+strings.Repeat("x", 62)+"?external_source=imdb_id", 200, foundNothing, " find find-imdb_id-"+strings.Repeat("x", 62))
	// no source
	f("/3/find/nm0000093", 422, body5, "")
	f("/3/find/nm0000093?external_source=", 422, body5, "")
	f("/3/find/nm0000093?external_source=IMDB_ID", 422, body5, "")
	f("/3/find/nm0000093?external_source=myspace_id", 422, body5, "")
}

func TestLatest(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	f := func(uri string, status int, want string) {
		t.Helper()
		if a := w.get(t, uri); a.Status != status || a.plain != want || a.Cache != w.edge.recheck {
			t.Errorf("%s = %d %s, %s\nwant %d %s, %s", uri, a.Status, a.plain, a.Cache, status, want, w.edge.recheck)
		}
	}
	f("/3/movie/latest", 200, `{"id":1099511627776,"title":"Far"}`)
	f("/3/tv/latest", 200, `{"id":1399,"name":"Game of Thrones"}`)
	f("/3/person/latest", 200, `{"id":287,"name":"Brad Pitt"}`)
	w = writtenWorld(t, nil, servetest.Numbered(fragment.KindMovie, 1, servetest.Of(fragment.SubDetails, `{"id":1`)))
	f("/3/movie/latest", 404, servetest.Body404)
	f("/3/tv/latest", 404, servetest.Body404)
}

// TestIDs asks for ids that need care.
func TestIDs(t *testing.T) {
	const large = "18446744073709551615"
	w := writtenWorld(t, nil, append(servetest.Catalogue(),
		servetest.Numbered(fragment.KindPerson, 1<<64-1, servetest.Of(fragment.SubDetails, `{"id":`+large), servetest.Of(fragment.SubImages, servetest.IDMark, `"profiles":[]}`)),
		servetest.Resource{Key: fragment.AppendEpisode(nil, 1399, 1, 1<<32-1), ID: 1 << 33, Fragments: []servetest.Fragment{servetest.Of(fragment.SubDetails, `{"id":8589934592`)}},
	)...)
	f := func(uri string, status int, want string) {
		t.Helper()
		if a := w.get(t, uri); a.Status != status || a.plain != want {
			t.Errorf("%s = %d %s\nwant %d %s", uri, a.Status, a.plain, status, want)
		}
	}
	missing := func(uris ...string) {
		t.Helper()
		for _, uri := range uris {
			f(uri, 404, servetest.Body404)
		}
	}
	// above 31 bits, and the largest
	f("/3/movie/1099511627776", 200, `{"id":1099511627776,"title":"Far"}`)
	f("/3/person/"+large, 200, `{"id":`+large+`}`)
	f("/3/person/"+large+"/images", 200, `{"id":`+large+`,"profiles":[]}`)
	f("/3/tv/1399/season/1/episode/4294967295", 200, `{"id":8589934592}`)
	// gaps, and the numbers of other kinds
	missing("/3/tv/1399/season/2", "/3/tv/1399/season/2/credits", "/3/tv/1399/season/1/episode/1", "/3/tv/1399/season/0/episode/1", "/3/tv/1399/season/3624",
		"/3/tv/550", "/3/tv/550/season/1", "/3/movie/1399", "/3/tv/season/63057/changes", "/3/tv/episode/3624/changes", "/3/tv/season/1/changes",
		"/3/company/10", "/3/network/1", "/3/collection/1")
	// texts are letter for letter, and of their kind
	missing("/3/review/5488C29BC3A3686F4A00004A", "/3/review/52542282760ee313280017f9", "/3/credit/5488c29bc3a3686f4a00004a", "/3/review/1",
		"/3/tv/episode_group/x", "/3/review/"+strings.Repeat("5", 500), "/3/movie/0", "/3/movie/tt9999999")
}

func TestSurrogateKeys(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	f := func(uri, want string) {
		t.Helper()
		if a := w.get(t, uri); string(a.Keys) != a.Release+want || a.Release == "" {
			t.Errorf("%s has the keys %q, want the release and %q", uri, a.Keys, want)
		}
	}
	const season, episode = " tv tv-1399 season season-1399-1", " tv tv-1399 season-1399-1 episode episode-1399-1-2"
	f("/3/movie/550", " movie movie-550")
	f("/3/movie/tt0137523/videos", " movie movie-550")
	f("/3/movie/tt0000001", " movie movie-tt0000001")
	f("/3/movie/latest", " movie movie-1099511627776")
	f("/3/tv/1399/videos", " tv tv-1399")
	f("/3/tv/1399/season/1", season)
	f("/3/tv/1399/season/1/credits", season)
	f("/3/tv/season/3624/changes", season)
	f("/3/tv/season/1/changes", " season season-1")
	f("/3/tv/1399/season/7", " tv tv-1399 season season-1399-7")
	f("/3/tv/1399/season/1/episode/2", episode)
	f("/3/tv/episode/63057/changes", episode)
	f("/3/tv/1399?append_to_response=season/1,season/1/credits,videos,season/9,season/1/episode/2", " tv tv-1399 season-1399-1 season-1399-9 episode-1399-1-2")
	f("/3/person/287", " person person-287")
	f("/3/collection/10", " collection collection-10")
	f("/3/company/1/movies", " company company-1")
	f("/3/network/49", " network network-49")
	f("/3/keyword/825", " keyword keyword-825")
	f("/3/review/5488c29bc3a3686f4a00004a", " review review-5488c29bc3a3686f4a00004a")
	f("/3/review/a%20b", " review")
	f("/3/credit/52542282760ee313280017f9", " credit credit-52542282760ee313280017f9")
	f("/3/tv/episode_group/5acf93e60e0a26346d0000ce", " episode_group episode_group-5acf93e60e0a26346d0000ce")
}

// namedPath returns the path of an operation with what catalogue holds in the place of
// its parameters.
func namedPath(op *api.Operation) string {
	values := map[string]string{
		"movie_id": "550", "series_id": "1399", "season_number": "1", "episode_number": "2", "person_id": "287", "collection_id": "10",
		"company_id": "1", "network_id": "49", "keyword_id": "825", "review_id": "5488c29bc3a3686f4a00004a", "credit_id": "52542282760ee313280017f9",
		"tv_episode_group_id": "5acf93e60e0a26346d0000ce", "season_id": "3624", "episode_id": "63057", "external_id": "nm0000093",
		"genre_id": "18", "time_window": "week",
	}
	path := op.Path
	for _, p := range op.PathParams {
		path = strings.Replace(path, "{"+p.Name+"}", cmp.Or(values[p.Name], "1"), 1)
	}
	return path
}

// TestEveryOperation asks for each operation of the table: what is served, what needs a
// session, what writes, and what a later version may answer.
func TestEveryOperation(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	later := regexp.MustCompile(`^(list|v4List)`)
	for _, op := range api.Operations() {
		path := namedPath(&op)
		rq := w.request(path + "?external_source=imdb_id&query=a&ids=1")
		rq.Method = []byte(op.Method)
		a := w.do(t, rq)
		free := op.Name == "authenticationCreateGuestSession" || op.Name == "authenticationCreateRequestToken"
		switch {
		case op.Writes && !free:
			if a.Status != 405 || a.plain != servetest.Body405 || a.Allow == "" || strings.Contains(a.Allow, op.Method) || a.Cache != servetest.NotKept {
				t.Errorf("%s: %s %s = %d %s, Allow %q, want 405 %s", op.Name, op.Method, path, a.Status, a.plain, a.Allow, servetest.Body405)
			}
		case op.Session:
			if a.Status != 401 || a.plain != servetest.Body3 || a.Cache != servetest.NotKept {
				t.Errorf("%s: %s = %d %s, want 401 %s", op.Name, path, a.Status, a.plain, servetest.Body3)
			}
		case later.MatchString(op.Name):
			if a.Status != 404 || a.plain != servetest.Body404 {
				t.Errorf("%s: %s = %d %s, want 404 %s", op.Name, path, a.Status, a.plain, servetest.Body404)
			}
		case a.Status != 200 && (op.Sub <= fragment.SubDetails || a.Status != 404):
			// The sub-requests of which this release has no defaults are not found.
			t.Errorf("%s: %s = %d %s, want 200", op.Name, path, a.Status, a.plain)
		}
	}
	// GETs in place of documented POSTs
	for _, path := range []string{"/3/authentication/session/new", "/3/authentication/token/validate_with_login", "/3/list/1/clear"} {
		if a := w.get(t, path); a.Status != 405 || a.plain != servetest.Body405 || a.Allow != "OPTIONS" {
			t.Errorf("GET %s = %d %s, Allow %q, want 405 %s", path, a.Status, a.plain, a.Allow, servetest.Body405)
		}
	}
}

func TestGuestSession(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Catalogue()...)
	w.edge.opts.Now = func() time.Time { return time.Date(2026, 8, 16, 20, 27, 28, 0, time.UTC) }
	form := regexp.MustCompile(`^\{"success":true,"guest_session_id":"([0-9a-f]{32})","expires_at":"2026-08-17 20:27:28 UTC"\}$`)
	a := w.get(t, "/3/authentication/guest_session/new")
	m := form.FindStringSubmatch(a.plain)
	if a.Status != 200 || a.Cache != servetest.NotKept || len(a.ETag) != 0 || m == nil {
		t.Fatalf("guest_session/new = %d %s, %s, want 200 %s, no-store", a.Status, a.plain, a.Cache, form)
	}
	const none = `{"page":1,"results":[],"total_pages":1,"total_results":0}`
	if a := w.get(t, "/3/guest_session/"+m[1]+"/rated/movies"); a.Status != 200 || a.plain != none || a.Cache != privateStore || len(a.Keys) != 0 {
		t.Errorf("rated movies of a guest = %d %s, %s, %q, want 200 %s, for nobody else", a.Status, a.plain, a.Cache, a.Keys, none)
	}
	const nothing = `{"id":1399,"favorite":false,"rated":false,"watchlist":false}`
	if a := w.get(t, "/3/tv/1399/account_states?guest_session_id="+m[1]); a.Status != 200 || a.plain != nothing {
		t.Errorf("states of a guest = %d %s, want 200 %s", a.Status, a.plain, nothing)
	}
	if a := w.get(t, "/3/guest_session/0123456789abcdef0123456789abcdef/rated/movies"); a.Status != 401 || a.plain != servetest.Body3 {
		t.Errorf("rated movies of an invented guest = %d %s, want 401 %s", a.Status, a.plain, servetest.Body3)
	}
}

func TestStatic(t *testing.T) {
	w := writtenWorld(t, func(c *Options) { c.ImageBaseURL = "https://images.example.org/t" }, servetest.Catalogue()...)
	get := func(uri string) reply {
		t.Helper()
		a := w.get(t, uri)
		if a.Status != 200 || a.Cache != servetest.Kept || len(a.ETag) == 0 || !a.Gzip {
			t.Errorf("%s = %d, %s, %s, gzip %v", uri, a.Status, a.Cache, a.ETag, a.Gzip)
		}
		checkEncodings(t, w, uri, &a)
		rq := w.request(uri)
		rq.Authorization = nil
		if b := w.do(t, rq); b.Status != 401 {
			t.Errorf("%s without a token = %d, want 401", uri, b.Status)
		}
		in, err := Inspect(nil, uri)
		if err != nil || in.Status != 200 || (string(in.Body) != a.plain) != strings.Contains(uri, "configuration?") {
			t.Errorf("Inspect(nil, %s) = %d %.80s, %v, want %.80s", uri, in.Status, in.Body, err, a.plain)
		}
		return a
	}
	a := get("/3/configuration?language=de")
	if !strings.Contains(a.plain, `"secure_base_url":"https://images.example.org/t/"`) || string(a.Keys) != "static static-configurationDetails" {
		t.Errorf("configuration = %s, keys %s", a.plain, a.Keys)
	}
	if a, b := get("/3/genre/movie/list?language=fr"), get("/3/genre/list?language=fr"); a.plain != b.plain || !strings.Contains(a.plain, "Comédie") {
		t.Errorf("genre/list = %s, want %s", b.plain, a.plain)
	}
	get("/3/job/list")
	get("/3/timezones/list")
	get("/3/watch/providers/tv?watch_region=DE")
	rq := w.request("/3/configuration/languages")
	rq.Method = []byte("POST")
	if a := w.do(t, rq); a.Status != 405 || a.plain != servetest.Body405 {
		t.Errorf("POST of languages = %d %s, want 405", a.Status, a.plain)
	}
	w.releases.Close()
	get("/3/configuration/countries") // needs no release
	if in, err := Inspect(nil, "/3/movie/550"); err != nil || in.Status != 503 {
		t.Errorf("Inspect of a movie without a release = %d, %v, want 503", in.Status, err)
	}
	for target, status := range map[string]int{"/3/movie/popular": 503, "/3/nothing": 404, "/3/account/1": 401} {
		if in, err := Inspect(nil, target); err != nil || in.Status != status {
			t.Errorf("Inspect(%s) = %d, %v, want %d as from the edge", target, in.Status, err, status)
		}
	}
	if _, err := Inspect(nil, "/3/authentication/token/new"); err == nil {
		t.Error("Inspect of a request token = nil, want an error: it takes a running edge")
	}
	if _, err := New(Options{ImageBaseURL: "ftp://x"}, nil, nil, nil); err == nil {
		t.Error("New with an FTP address for images = nil, want an error")
	}
}

// TestDangling serves releases that Verify refuses: the answer is a 500, nothing more.
func TestDangling(t *testing.T) {
	movie := fragment.KindMovie
	loop := servetest.Numbered(movie, 3, servetest.Of(fragment.SubDetails, `{"id":3,"a":{`, servetest.RowOf(movie, 3, fragment.SubRow), `}`), servetest.Of(fragment.SubRow, `"b":{`, servetest.RowOf(movie, 3, fragment.SubRow), `}`))
	w := writtenWorld(t, nil,
		servetest.Numbered(movie, 1, servetest.Of(fragment.SubDetails, `{"id":1,"a":{`, servetest.RowOf(movie, 99, fragment.SubRow), `}`)),
		servetest.Numbered(movie, 2, servetest.Of(fragment.SubDetails, `{"id":2,"a":{`, servetest.RowOf(movie, 1, fragment.SubRow), `}`)),
		loop,
		servetest.Numbered(movie, 4, servetest.Of(fragment.SubDetails, `{"id":4`), servetest.Of(fragment.SubCredits, servetest.IDMark, `"cast":[{`, servetest.RowOf(fragment.KindTV, 1, fragment.SubRow), `}]}`)),
	)
	for _, uri := range []string{"/3/movie/1", "/3/movie/2", "/3/movie/3", "/3/movie/4/credits", "/3/movie/4?append_to_response=credits"} {
		if a := w.get(t, uri); a.Status != 500 || a.Cache != servetest.NotKept || strings.Contains(a.plain, "include") {
			t.Errorf("%s = %d %s, %s, want a 500 that tells nothing", uri, a.Status, a.plain, a.Cache)
		}
	}
	if a := w.get(t, "/3/movie/4"); a.Status != 200 {
		t.Errorf("movie/4 = %d %s, want 200", a.Status, a.plain)
	}
}

// TestIncludedMarks checks that what is included has no id, even where the answer has.
func TestIncludedMarks(t *testing.T) {
	tv, movie := fragment.KindTV, fragment.KindMovie
	w := writtenWorld(t, nil,
		servetest.Numbered(movie, 1, servetest.Of(fragment.SubDetails, `{"id":1`), servetest.Of(fragment.SubCredits, servetest.IDMark, `"row":{`, servetest.RowOf(tv, 2, fragment.SubCredits), `}`)),
		servetest.Numbered(tv, 2, servetest.Of(fragment.SubCredits, servetest.IDMark, `"cast":[]`, servetest.IDEnd)),
	)
	if a := w.get(t, "/3/movie/1/credits"); a.plain != `{"id":1,"row":{"cast":[]}}` {
		t.Errorf("movie/1/credits = %s, want one id", a.plain)
	}
	if a := w.get(t, "/3/tv/2/credits"); a.plain != `{"id":2,"cast":[],"id":2}` {
		t.Errorf("tv/2/credits = %s, want both ids that its program has", a.plain)
	}
}

// TestDefaultsFollowRelease checks that what one release has as defaults answers
// nothing of the next one.
func TestDefaultsFollowRelease(t *testing.T) {
	movie := fragment.KindMovie
	version := func(results string) []servetest.Resource {
		return []servetest.Resource{
			servetest.Numbered(movie, 1, servetest.Of(fragment.SubDetails, `{"id":1`)),
			servetest.Defaults(movie, servetest.Of(fragment.SubKeywords, servetest.IDMark, `"keywords":[`+results+`]}`)),
		}
	}
	w := writtenWorld(t, nil, version("1")...)
	for _, results := range []string{"1", "2", "3"} {
		servetest.Write(t, w.dir, version(results)...)
		w.releases.Poll()
		if a := w.get(t, "/3/movie/1/keywords"); a.plain != `{"id":1,"keywords":[`+results+`]}` {
			t.Errorf("movie/1/keywords = %s, want [%s]", a.plain, results)
		}
	}
}

// creditOfMovie is a movie with two credits.
const creditOfMovie = `{"id":9,"title":"T","credits":{"cast":[{"id":2,"name":"P","character":"\"C\"","credit_id":"00000000000000000000000a","order":0}],` +
	`"crew":[{"id":2,"name":"P","credit_id":"00000000000000000000000b","department":"Sound","job":"Mixer"}]}}`

// TestCreditOfTable: a credit that no dump gave is put together from its title, its person and the
// table of credits, and caches know it by all three names.
func TestCreditOfTable(t *testing.T) {
	w := newWorld(t, nil, creditOfMovie)
	cast, crew := w.get(t, "/3/credit/00000000000000000000000a"), w.get(t, "/3/credit/00000000000000000000000b")
	for _, part := range []string{
		`{"credit_type":"cast","department":"Acting","job":"Actor","media":{"adult":false,`, `,"character":"\"C\""},"media_type":"movie",` +
			`"id":"00000000000000000000000a","person":{"adult":false,"id":2,"name":"P",`,
	} {
		if cast.Status != 200 || !strings.Contains(cast.plain, part) {
			t.Errorf("cast = %d %s, want %s", cast.Status, cast.plain, part)
		}
	}
	if !strings.HasPrefix(crew.plain, `{"credit_type":"crew","department":"Sound","job":"Mixer","media":{`) || strings.Contains(crew.plain, "character") {
		t.Errorf("crew = %s", crew.plain)
	}
	if want := cast.Release + " credit credit-00000000000000000000000a movie-9 person-2"; string(cast.Keys) != want {
		t.Errorf("keys = %q, want %q", cast.Keys, want)
	}
	for _, id := range []string{"00000000000000000000000c", "00000000000000000000000A", "1"} {
		if a := w.get(t, "/3/credit/"+id); a.Status != 404 {
			t.Errorf("credit %s = %d %s, want 404", id, a.Status, a.plain)
		}
	}
}

// TestDerivedFilmography: movie_credits and tv_credits are those of combined_credits of their kind,
// without the media type.
func TestDerivedFilmography(t *testing.T) {
	w := newWorld(t, nil, creditOfMovie)
	all, movies, series := w.get(t, "/3/person/2/combined_credits").plain, w.get(t, "/3/person/2/movie_credits").plain, w.get(t, "/3/person/2/tv_credits").plain
	if want := strings.ReplaceAll(all, `,"media_type":"movie"}`, "}"); movies != want || !strings.Contains(all, `"media_type":"movie"}],"crew":[{`) {
		t.Errorf("movie_credits = %s, want %s of %s", movies, want, all)
	}
	if want := `{"cast":[],"crew":[],"id":2}`; series != want {
		t.Errorf("tv_credits = %s, want %s", series, want)
	}
	if a := w.get(t, "/3/person/2?append_to_response=movie_credits").plain; !strings.HasSuffix(a, `,"movie_credits":`+strings.TrimSuffix(movies, `,"id":2}`)+"}}") {
		t.Errorf("appended = %s, want movie_credits of %s", a, movies)
	}
}

// TestFilmographyForm: credits of one kind come from combined_credits of any builder. Of credits
// without the form that FORMAT.md has, the edge serves an error and verify reports the person.
func TestFilmographyForm(t *testing.T) {
	row := servetest.RowOf(fragment.KindMovie, 9, fragment.SubRow)
	for _, c := range []struct {
		name   string
		pieces []any
		want   string // "" for an error
	}{
		{
			"rows that a dump gave after derived ones",
			[]any{servetest.Literal(`"cast":[{`), row, servetest.Literal(`,"order":1,"media_type":"movie"},{"id":3,"media_type":"tv"}],"crew":[]`), servetest.IDEnd},
			`{"cast":[{"id":9,"order":1}],"crew":[],"id":2}`,
		},
		{"no media type", []any{servetest.Literal(`"cast":[{`), row, servetest.Literal(`,"order":1}],"crew":[]`), servetest.IDEnd}, ""},
		{
			"a media type of another credit",
			[]any{servetest.Literal(`"cast":[{`), row, row, servetest.Literal(`,"media_type":"movie"}],"crew":[]`), servetest.IDEnd},
			"",
		},
		{"no crew", []any{servetest.Literal(`"cast":[{`), row, servetest.Literal(`,"order":1,"media_type":"movie"}]`), servetest.IDEnd}, ""},
	} {
		w := writtenWorld(
			t, nil, servetest.Numbered(fragment.KindMovie, 9, servetest.Of(fragment.SubRow, servetest.Literal(`"id":9`))),
			servetest.Numbered(fragment.KindPerson, 2, servetest.Of(fragment.SubCombinedCredits, c.pieces...)),
		)
		problems, err := check.Verify(t.Context(), store.Folder{Dir: w.dir}.Path(w.releases.ID()), check.Options{}, nil)
		if err != nil || (len(problems) == 0) != (c.want != "") || len(problems) > 0 && !strings.Contains(problems[0].Error(), "person 2 combined_credits: ") {
			t.Errorf("%s: Verify = %v, %v", c.name, problems, err)
		}
		a := w.get(t, "/3/person/2/movie_credits")
		if c.want == "" && a.Status != 500 || c.want != "" && a.plain != c.want {
			t.Errorf("%s: %d %s, want %s", c.name, a.Status, a.plain, c.want)
		}
	}
}
