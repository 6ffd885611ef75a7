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

// catalogue serves servetest.Catalogue and resources whose numbers have more than 32 bits.
func catalogue(tb testing.TB) *world {
	tb.Helper()
	return writtenWorld(tb, nil, append(
		servetest.Catalogue(),
		servetest.Numbered(fragment.KindPerson, 1<<64-1, servetest.Of(fragment.SubDetails, `{"id":18446744073709551615`), servetest.Of(fragment.SubImages, servetest.IDMark, `"profiles":[]}`)),
		servetest.Resource{Key: fragment.AppendEpisode(nil, 1399, 1, 1<<32-1), ID: 1 << 33, Fragments: []servetest.Fragment{servetest.Of(fragment.SubDetails, `{"id":8589934592`)}},
	)...)
}

// TestNoLatest: without a resource that is in a table, the latest one is not found, and asked for again.
func TestNoLatest(t *testing.T) {
	w := writtenWorld(t, nil, servetest.Numbered(fragment.KindMovie, 1, servetest.Of(fragment.SubDetails, `{"id":1`)))
	for _, uri := range []string{"/3/movie/latest", "/3/tv/latest"} {
		if a := w.get(t, uri); a.Status != 404 || a.plain != servetest.Body404 || a.Cache != w.edge.revalidate {
			t.Errorf("%s = %d %s, %s, want 404 and %s", uri, a.Status, a.plain, a.Cache, w.edge.revalidate)
		}
	}
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
