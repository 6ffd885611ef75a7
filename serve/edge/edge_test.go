package edge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/logs"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

func TestStatus(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550, servetest.Movie551)
	f := func(method, uri string, status int, body, cache, allow string) {
		t.Helper()
		rq := w.request(uri)
		rq.Method = []byte(method)
		a := w.do(t, rq)
		if a.Status != status || body != "" && a.plain != body || a.Cache != cache || a.Allow != allow {
			t.Errorf("%s %s = %d %.300s, Cache-Control %q, Allow %q\nwant %d %s, %q, %q",
				method, uri, a.Status, a.plain, a.Cache, a.Allow, status, body, cache, allow)
		}
		if a.Status != 200 && (len(a.ETag) != 0 || a.Gzip) {
			t.Errorf("%s %s = %d with entity tag %q, gzip %v, want none", method, uri, a.Status, a.ETag, a.Gzip)
		}
	}
	const reads = "GET, HEAD, OPTIONS"
	f("GET", "/3/movie/550", 200, "", servetest.Kept, "")
	f("HEAD", "/3/movie/550", 200, "", servetest.Kept, "")
	f("GET", "/3/movie/550/videos", 200, "", servetest.Kept, "")
	f("GET", "/3/movie/551", 200, `{"adult":false,"genres":[],"id":551,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"Another"}`, servetest.Kept, "")
	f("GET", "/3/movie/551/watch/providers", 200, `{"id":551,"results":{}}`, servetest.Kept, "")
	f("GET", "/3/movie/551/changes", 200, `{"changes":[]}`, servetest.Kept, "")
	f("GET", "/3/movie/551/recommendations?page=7", 200, `{"page":7,"results":[],"total_pages":1,"total_results":0}`, servetest.Kept, "")

	f("GET", "/3/movie/552", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "/3/movie/552/videos", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "/3/movie/tt0000001", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "/3/movie/undefined", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "/3/movie/550/nothing", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "/3/movie/liked", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "/3/tv/1399", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "/3/review/abc", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "/3", 404, servetest.Body404, servetest.Kept, "")
	f("GET", "", 404, servetest.Body404, servetest.Kept, "")

	f("POST", "/3/movie/550", 405, servetest.Body405, servetest.NotKept, reads)
	f("DELETE", "/3/movie/550/credits", 405, servetest.Body405, servetest.NotKept, reads)
	f("BREW", "/3/movie/550", 405, servetest.Body405, servetest.NotKept, reads)
	f("POST", "/3/movie/551/rating", 405, servetest.Body405, servetest.NotKept, "OPTIONS")
	f("GET", "/3/movie/551/rating", 405, servetest.Body405, servetest.NotKept, "OPTIONS")
	f("POST", "/3/nothing", 404, servetest.Body404, servetest.Kept, "")

	f("GET", "/3/movie/550/similar?page=0", 400, servetest.Body22, servetest.NotKept, "")
	f("GET", "/3/movie/550/similar?page=501", 400, servetest.Body22, servetest.NotKept, "")
	f("GET", "/3/movie/550/similar?page=abc", 400, servetest.Body22, servetest.NotKept, "")
	f("GET", "/3/movie/550?append_to_response=similar&page=501", 400, servetest.Body22, servetest.NotKept, "")
	f("GET", "/3/movie/550?page=501", 200, "", servetest.Kept, "") // details take no page
	f("GET", "/3/movie/552/similar?page=0", 400, servetest.Body22, servetest.NotKept, "")
	f("GET", "/3/movie/550?append_to_response="+names(20), 200, "", servetest.Kept, "")
	f("GET", "/3/movie/550?append_to_response="+names(21), 400, servetest.Body27, servetest.NotKept, "")
	f("GET", "/3/movie/550?append_to_response="+names(21)+"&page=0", 400, servetest.Body27, servetest.NotKept, "")
	f("GET", "/3/movie/%00", 400, "", servetest.NotKept, "")
	f("GET", "/3/movie/550?x="+strings.Repeat("y", 5000), 400, "", servetest.NotKept, "")

	f("GET", "/3/movie/550/account_states", 401, servetest.Body3, servetest.NotKept, "")
	f("GET", "/3/account", 401, servetest.Body3, servetest.NotKept, "")
	f("GET", "/3/authentication", 200, `{"success":true}`, servetest.NotKept, "")
	f("OPTIONS", "/3/movie/550", 204, "", servetest.Kept, reads)
	f("OPTIONS", "/3/movie/551/rating", 204, "", servetest.Kept, "OPTIONS")
	f("OPTIONS", "/3/nothing", 404, servetest.Body404, servetest.Kept, "")
}

// names returns n append names that differ.
func names(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("name%d", i)
	}
	return strings.Join(list, ",")
}

func TestCredentials(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie551)
	expired := servetest.Issue(t, w.file, "expired", time.Now().Add(-time.Minute))
	revoked := servetest.Issue(t, w.file, "revoked", time.Time{})
	if _, err := auth.Revoke(w.file, "revoked", time.Now()); err != nil {
		t.Fatal(err)
	}
	if w.tokens.Poll(); w.tokens.Err() != nil {
		t.Fatal(w.tokens.Err())
	}
	f := func(authorization, uri string, status int) {
		t.Helper()
		rq := w.request(uri)
		rq.Authorization = []byte(authorization)
		a := w.do(t, rq)
		if a.Status != status || status == 401 && (a.plain != servetest.Body401 || a.Cache != servetest.NotKept) {
			t.Errorf("%s with %q = %d %s, %s, want %d", uri, authorization, a.Status, a.plain, a.Cache, status)
		}
	}
	const uri = "/3/movie/551"
	f("Bearer "+w.token, uri, 200)
	f("bearer  "+w.token+" ", uri, 200)
	f("", uri, 401)
	f("Bearer", uri, 401)
	f("Bearer ", uri, 401)
	f("Bearer x", uri, 401)
	f("Basic "+w.token, uri, 401)
	f(w.token, uri, 401)
	f("Bearer "+w.token[:len(w.token)-1], uri, 401)
	f("Bearer "+w.token+"x", uri, 401)
	f("Bearer "+expired, uri, 401)
	f("Bearer "+revoked, uri, 401)
	// The credential is looked at before anything else.
	f("", "/3/nothing", 401)
	f("", "/3/movie/99999", 401)
	f("", "/3/movie/551?append_to_response="+names(21), 401)
	f("", "/3/authentication", 401)
	f("", "/3/authentication/token/new", 401)
	f("", uri+"?api_key="+w.token, 200)
	f("", uri+"?api_key="+revoked, 401)
	f("", uri+"?api_key="+expired, 401)
	f("", uri+"?language=de&api%5Fkey="+w.token, 200)
	f("Basic abc", uri+"?api_key="+w.token, 200)
	f("", uri+"?api_key=", 401)
	f("", uri+"?api_key=x", 401)
	f("", uri+"?api_key="+strings.Repeat("x", 2000), 401)
	// A bearer token counts before an api_key.
	f("Bearer x", uri+"?api_key="+w.token, 401)
	f("Bearer "+w.token, uri+"?api_key=x", 200)
	w = newWorld(t, func(c *Options) { c.AllowQueryKey = false }, servetest.Movie551)
	f("", uri+"?api_key="+w.token, 401)
}

// TestRefusedLog: the log gives the reason of a 401 and never the credential, a few times a
// second at most.
func TestRefusedLog(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *Options) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) }, servetest.Movie551)
	expired := servetest.Issue(t, w.file, "expired", time.Now().Add(-time.Minute))
	revoked := servetest.Issue(t, w.file, "revoked", time.Time{})
	if _, err := auth.Revoke(w.file, "revoked", time.Now()); err != nil {
		t.Fatal(err)
	}
	if w.tokens.Poll(); w.tokens.Err() != nil {
		t.Fatal(w.tokens.Err())
	}
	const unknown = "0123456789abcdef0123456789abcdef"
	unlimited := func() { w.edge.log.refused = logs.Limit(w.opts.Log, refusedPerSecond, time.Second) }
	ask := func(authorization, query string) {
		rq := w.request("/3/movie/551?" + query)
		rq.Authorization = []byte(authorization)
		w.do(t, rq)
	}
	for _, c := range []struct{ token, want string }{
		{"", `reason="no key"`},
		{unknown, "reason=unknown"},
		{revoked, "reason=revoked name=revoked"},
		{expired, "reason=expired name=expired"},
	} {
		for _, form := range [][2]string{{"Bearer " + c.token, ""}, {"", "api_key=" + c.token}} {
			log.Reset()
			unlimited()
			ask(form[0], form[1])
			line := log.String()
			if !strings.Contains(line, "level=INFO") || !strings.Contains(line, "status=401 "+c.want) || c.token != "" && strings.Contains(line, c.token) {
				t.Errorf("log of a 401 = %q, want level INFO, %s and no credential", line, c.want)
			}
		}
	}
	log.Reset()
	unlimited()
	start := time.Now()
	for range 1000 {
		ask("Bearer "+unknown, "")
	}
	most := refusedPerSecond * (2 + int(time.Since(start)/time.Second))
	if n := strings.Count(log.String(), "\n"); n < 1 || n > most {
		t.Errorf("1000 refusedPerSecond make %d lines, want 1 to %d", n, most)
	}
	unlimited()
	ask(w.token, "")
	if got := log.String(); !strings.Contains(got, `reason="header without Bearer"`) || strings.Contains(got, w.token) {
		t.Errorf("log of a header that is a token = %.300q, want its reason and no credential", got)
	}
	w.edge.opts.AllowQueryKey = false
	unlimited()
	ask("", "api_key="+w.token)
	if got := log.String(); !strings.Contains(got, `reason="api_key is not allowed"`) || strings.Contains(got, w.token) {
		t.Errorf("log without --allow-query-key = %.300q, want its reason and no credential", got)
	}
}

// TestConfigurationAppends: what is appended to the configuration is what its own path answers.
func TestConfigurationAppends(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie551)
	const uri = "/3/configuration"
	details := w.get(t, uri)
	f := func(query string, names ...string) reply {
		t.Helper()
		want := strings.TrimSuffix(details.plain, "}")
		for _, name := range names {
			want += `,"` + name + `":` + w.get(t, uri+"/"+name+"?"+query).plain
		}
		a := w.get(t, uri+"?"+query)
		if a.Status != 200 || a.plain != want+"}" || !a.Gzip || len(a.ETag) == 0 || a.Cache != servetest.Kept || !json.Valid([]byte(a.plain)) {
			t.Errorf("%s?%s = %d %.300s, want %d bytes, got %d", uri, query, a.Status, a.plain, len(want)+1, len(a.plain))
		}
		return a
	}
	all := f("append_to_response=countries,jobs,languages,primary_translations,timezones", "countries", "jobs", "languages", "primary_translations", "timezones")
	f("append_to_response=timezones,nothing,images,,countries,timezones&language=de", "timezones", "countries")
	if f("append_to_response=nothing"); string(all.ETag) == string(details.ETag) {
		t.Errorf("entity tag %s of two answers", all.ETag)
	}
	rq := w.request(uri + "?append_to_response=countries,jobs,languages,primary_translations,timezones")
	rq.AcceptEncoding = nil
	if a := w.do(t, rq); a.plain != all.plain || a.Gzip {
		t.Errorf("identity = %.100s, want as gzip", a.plain)
	}
	rq.IfNoneMatch = all.ETag
	if a := w.do(t, rq); a.Status != 304 {
		t.Errorf("If-None-Match = %d, want 304", a.Status)
	}
	if a := w.get(t, uri+"?append_to_response="+names(21)); a.Status != 400 || a.plain != servetest.Body27 {
		t.Errorf("21 names = %d %s, want 400 %s", a.Status, a.plain, servetest.Body27)
	}
	if got, err := Inspect(nil, uri+"?append_to_response=jobs"); err != nil || string(got.Body) != w.get(t, uri+"?append_to_response=jobs").plain {
		t.Errorf("Inspect = %.100s, %v, want the answer", got.Body, err)
	}
}

// TestHint: the log says that a path lacks its version, once for many, and never the query.
func TestHint(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *Options) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) }, servetest.Movie551)
	f := func(method, uri string, status, lines int) {
		t.Helper()
		log.Reset()
		w.edge.log.hints = logs.Limit(w.opts.Log, 1, time.Hour)
		rq := w.request(uri)
		rq.Method = []byte(method)
		for range 3 {
			if a := w.do(t, rq); a.Status != status {
				t.Errorf("%s %s = %d, want %d", method, uri, a.Status, status)
			}
		}
		path, _ := SplitTarget([]byte(uri))
		if n := strings.Count(log.String(), "base URL"); n != lines || n > 0 && !strings.Contains(log.String(), "path="+string(path)+"\n") {
			t.Errorf("3 of %s %s are logged as %q, want %d hints with the path alone", method, uri, log.String(), lines)
		}
	}
	f("GET", "/movie/551?api_key=secret", 404, 1)
	f("HEAD", "/configuration", 404, 1)
	f("GET", "/search/movie?query=x", 404, 1)
	f("GET", "/3/movie/551", 200, 0)
	f("GET", "/3/movie/99999", 404, 0)
	f("GET", "/3/3/movie/551", 404, 1)
	f("GET", "/3/3/3/movie/551", 404, 0)
	f("GET", "/favicon.ico", 404, 0)
	f("POST", "/movie/551", 404, 0)
	f("GET", "/"+strings.Repeat("x", 1022), 404, 0)
}

func TestRequestToken(t *testing.T) {
	w := newWorld(t, func(c *Options) { c.CallbackURL = "https://example.org/authenticate" }, servetest.Movie551)
	w.edge.opts.Now = func() time.Time { return time.Date(2026, 8, 16, 20, 27, 28, 0, time.UTC) }
	a := w.get(t, "/3/authentication/token/new")
	form := regexp.MustCompile(`^\{"success":true,"expires_at":"2026-08-16 21:27:28 UTC","request_token":"([0-9a-f]{40})"\}$`)
	m := form.FindStringSubmatch(a.plain)
	if a.Status != 200 || a.Cache != servetest.NotKept || m == nil {
		t.Fatalf("token/new = %d %s, %s, want 200 %s, no-store", a.Status, a.plain, a.Cache, form)
	}
	if want := "https://example.org/authenticate/" + m[1]; a.Callback != want {
		t.Errorf("callback = %q, want %q", a.Callback, want)
	}
	if b := w.get(t, "/3/authentication/token/new"); b.plain == a.plain {
		t.Error("token/new gives the same token twice")
	}
}

func TestAppend(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550, servetest.Movie551)
	f := func(query, want string) {
		t.Helper()
		a := w.get(t, "/3/movie/551?"+query)
		if a.Status != 200 || a.plain != `{"adult":false,"genres":[],"id":551,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"Another"`+want+`}` {
			t.Errorf("movie/551?%s = %d %s\nwant %s", query, a.Status, a.plain, want)
		}
	}
	const videos, keywords = `,"videos":{"results":[]}`, `,"keywords":{"keywords":[]}`
	f("append_to_response=", "")
	f("append_to_response=videos", videos)
	f("append_to_response=videos,keywords", videos+keywords)
	f("append_to_response=keywords,videos", keywords+videos)
	f("append_to_response=keywords%2Cvideos", keywords+videos)
	f("append%5Fto_response=keywords%2cvideos", keywords+videos)
	f("append_to_response=videos,videos,keywords,videos", videos+keywords)
	f("append_to_response=nonsense,videos,watch_providers,Keywords,%20keywords", videos)
	f("append_to_response=,,videos,", videos)
	f("append_to_response=account_states,videos", videos)
	f("append_to_response=watch/providers", `,"watch/providers":{"results":{}}`)
	f("append_to_response=watch%2Fproviders", `,"watch/providers":{"results":{}}`)
	f("append_to_response=images", `,"images":{"backdrops":[],"logos":[],"posters":[]}`)
	f("append_to_response=similar,similar_movies&page=3",
		`,"similar":{"page":3,"results":[],"total_pages":1,"total_results":0},"similar_movies":{"page":3,"results":[],"total_pages":1,"total_results":0}`)
	f("append_to_response=lists", `,"lists":{"page":1,"results":[],"total_pages":1,"total_results":0}`)
	f("append_to_response=casts,credits", `,"casts":{"cast":[],"crew":[]},"credits":{"cast":[],"crew":[]}`)
	f("append_to_response=trailers,releases", `,"trailers":{"quicktime":[],"youtube":[]},"releases":{"countries":[]}`)
	f("append_to_response=changes&start_date=2024-01-01", `,"changes":{"changes":[]}`)
	// The last of a repeated parameter counts.
	f("append_to_response=videos&append_to_response=keywords", keywords)
}

func TestSubRequests(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550, servetest.Movie551)
	f := func(uri, want string) {
		t.Helper()
		a := w.get(t, "/3/movie/"+uri)
		if a.Status != 200 || a.plain != want {
			t.Errorf("movie/%s = %d %s\nwant %s", uri, a.Status, a.plain, want)
		}
	}
	image := func(lang, n string) string { return `{"iso_639_1":` + lang + `,"file_path":"/` + n + `.jpg"}` }
	one, two, three, four := image("null", "1"), image(`"fr"`, "2"), image(`"en"`, "3"), image(`"de"`, "4")
	f("550/images", `{"backdrops":[`+one+`,`+two+`],"id":550,"logos":[],"posters":[`+three+`,`+four+`]}`)
	f("550/images?include_image_language=en,null", `{"backdrops":[`+one+`],"id":550,"logos":[],"posters":[`+three+`]}`)
	f("550/images?language=de-DE", `{"backdrops":[],"id":550,"logos":[],"posters":[`+four+`]}`)
	f("550/images?language=de&include_image_language=fr", `{"backdrops":[`+two+`],"id":550,"logos":[],"posters":[`+four+`]}`)
	f("550/images?language=ja", `{"backdrops":[],"id":550,"logos":[],"posters":[]}`)
	f("550/alternative_titles", `{"id":550,"titles":[{"iso_3166_1":"FR","title":"Le club","type":""},{"iso_3166_1":"DE","title":"Klub","type":""}]}`)
	f("550/alternative_titles?country=de", `{"id":550,"titles":[{"iso_3166_1":"DE","title":"Klub","type":""}]}`)
	f("550/similar", `{"page":1,"results":[{"id":551}],"total_pages":2,"total_results":21}`)
	f("550/similar?page=2", `{"page":2,"results":[],"total_pages":2,"total_results":21}`)
	f("550/similar?page=500", `{"page":500,"results":[],"total_pages":2,"total_results":21}`)
	f("550/similar_movies", `{"page":1,"results":[{"id":551}],"total_pages":2,"total_results":21}`)
	f("550/casts", `{"id":550,"cast":[{"id":1,"name":"A","credit_id":"c"}],"crew":[]}`)
	f("550/watch/providers", `{"id":550,"results":{"US":{"link":"l"}}}`)
	f("550/watch%2Fproviders", `{"id":550,"results":{"US":{"link":"l"}}}`)
	f("550/external_ids", `{"id":550,"imdb_id":"tt0137523","wikidata_id":null,"facebook_id":null,"instagram_id":null,"twitter_id":null}`)
	f("550/trailers", `{"id":550,"quicktime":[],"youtube":[{"name":"T","size":"HD","source":"k","type":"Trailer"}]}`)
	f("550/reviews?language=de&page=2", `{"id":550,"page":2,"results":[],"total_pages":1,"total_results":0}`)
}

func TestLanguage(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550)
	f := func(language, title, overview, genre string) {
		t.Helper()
		a := w.get(t, "/3/movie/550?language="+language)
		got := [3]string{servetest.Cut(a.plain, `"title":"`, `"`), servetest.Cut(a.plain, `"overview":"`, `"`), servetest.Cut(a.plain, `"name":"`, `"`)}
		if want := [3]string{title, overview, genre}; got != want {
			t.Errorf("movie/550?language=%s = %q, want %q", language, got, want)
		}
	}
	f("", "Fight Club", "Text", "Drama")
	f("en-US", "Fight Club", "Text", "Drama")
	f("en-GB", "Fight Club", "Text", "Drama")
	f("de", "Klub", "Inhalt", "Drama")
	f("de-DE", "Klub", "Inhalt", "Drama")
	f("de-AT", "Fight Club", "", "Drama")
	f("fr", "Fight Club", "", "Drame")
	f("fr-CA", "Fight Club", "", "Drame")
	f("zz-ZZ", "Fight Club", "", "Drama")
	f("nonsense", "Fight Club", "Text", "Drama")
}

func TestIMDbID(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550, servetest.Movie551)
	for _, rest := range []string{"", "/images", "?append_to_response=videos,images&language=de"} {
		a, b := w.get(t, "/3/movie/550"+rest), w.get(t, "/3/movie/tt0137523"+rest)
		if b.Status != 200 || string(a.sent) != string(b.sent) || string(a.ETag) != string(b.ETag) {
			t.Errorf("movie/tt0137523%s = %d %s %s\nwant %s %s", rest, b.Status, b.plain, b.ETag, a.plain, a.ETag)
		}
		if string(a.Keys) != string(b.Keys) {
			t.Errorf("surrogate key of movie/tt0137523%s = %s, want %s", rest, b.Keys, a.Keys)
		}
	}
}

func TestSurrogateKey(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550)
	a := w.get(t, "/3/movie/550/videos")
	if want := a.Release + " movie movie-550"; string(a.Keys) != want || a.Release == "" || a.Release != w.releases.ID() {
		t.Errorf("surrogate key = %q of release %q, want %q", a.Keys, a.Release, want)
	}
}

func TestETag(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550, servetest.Movie551)
	same := func(a, b string) {
		t.Helper()
		x, y := w.get(t, a), w.get(t, b)
		if string(x.ETag) != string(y.ETag) || x.plain != y.plain {
			t.Errorf("entity tags of %s and %s = %s, %s, want the same", a, b, x.ETag, y.ETag)
		}
	}
	other := func(a, b string) {
		t.Helper()
		if x, y := w.get(t, a), w.get(t, b); string(x.ETag) == string(y.ETag) {
			t.Errorf("entity tags of %s and %s = %s, want different ones", a, b, x.ETag)
		}
	}
	const uri = "/3/movie/550"
	if tag := w.get(t, uri).ETag; !regexp.MustCompile(`^W/"[0-9a-f]{32}"$`).Match(tag) {
		t.Errorf("entity tag = %s, want W/ and 32 hex digits in quotes", tag)
	}
	rq := w.request(uri)
	rq.AcceptEncoding = nil
	if a, b := w.do(t, rq), w.get(t, uri); string(a.ETag) != string(b.ETag) || a.Gzip || !b.Gzip {
		t.Errorf("entity tags of identity and gzip = %s, %s, want the same", a.ETag, b.ETag)
	}
	same(uri, uri+"?language=en-US")
	same(uri, uri+"?language=en")
	same(uri, uri+"?page=3&country=DE&unknown=1")
	same(uri, uri+"?append_to_response=nonsense")
	same(uri+"?language=de&append_to_response=videos", uri+"?append_to_response=videos&language=de-DE")
	same(uri+"?append_to_response=watch/providers,videos", uri+"?append%5Fto_response=watch%2Fproviders%2Cvideos")
	same(uri+"?append_to_response=videos,videos", uri+"?append_to_response=videos")
	same(uri+"/images?include_image_language=null,en", uri+"/images?include_image_language=en-GB,null,ja")
	other(uri, "/3/movie/551")
	other(uri, uri+"?language=de")
	other(uri+"?append_to_response=videos,images", uri+"?append_to_response=images,videos")
	other(uri+"/images", uri+"/images?language=de")
	other(uri+"/similar?page=2", uri+"/similar?page=3")
	other("/3/movie/551/casts", "/3/movie/550/casts")
	other("/3/movie/551/videos", "/3/movie/551?append_to_response=videos")
}

func TestIfNoneMatch(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550)
	const uri = "/3/movie/550?append_to_response=videos"
	tag := string(w.get(t, uri).ETag)
	strong := strings.TrimPrefix(tag, "W/")
	f := func(header string, want int) {
		t.Helper()
		rq := w.request(uri)
		rq.IfNoneMatch = []byte(header)
		a := w.do(t, rq)
		if a.Status != want || string(a.ETag) != tag || a.Cache != servetest.Kept || (want == 304) != (len(a.sent) == 0) {
			t.Errorf("If-None-Match %s = %d, %d bytes, %s, %s, want %d", header, a.Status, len(a.sent), a.ETag, a.Cache, want)
		}
	}
	f(tag, 304)
	f(strong, 304)
	f("*", 304)
	f(" * ", 304)
	f(`"a", `+tag, 304)
	f(`W/"a",`+strong+` , "b"`, 304)
	f("", 200)
	f(`"a"`, 200)
	f(`"a,*,b"`, 200) // the star is part of a tag
	f(strings.Trim(strong, `"`), 200)
	f(tag[:len(tag)-2]+`"`, 200)
	f(`,,,`, 200)
	// Only what exists has a tag.
	rq := w.request("/3/movie/99")
	rq.IfNoneMatch = []byte("*")
	if a := w.do(t, rq); a.Status != 404 {
		t.Errorf("If-None-Match * for a missing movie = %d, want 404", a.Status)
	}
}

func TestAcceptsGzip(t *testing.T) {
	f := func(header string, want bool) {
		t.Helper()
		if got := AcceptsGzip([]byte(header)); got != want {
			t.Errorf("AcceptsGzip(%q) = %v, want %v", header, got, want)
		}
	}
	f("gzip", true)
	f("GZip", true)
	f("x-gzip", true)
	f("gzip, deflate, br, zstd", true)
	f("br, gzip;q=0.5", true)
	f("gzip;q=1", true)
	f("gzip ; q=0.001", true)
	f("*", true)
	f("*;q=0.1", true)
	f("identity, *;q=0.5", true)
	f("gzip;q=1, *;q=0", true)
	f("*;q=0, gzip", true)
	f("", false)
	f("identity", false)
	f("br", false)
	f("gzip;q=0", false)
	f("gzip;q=0.0", false)
	f("gzip; Q=0.000", false)
	f("gzip;q=0, *", false)
	f("*;q=0", true)
	f("identity;q=0", true)
	f("br, identity;q=0.0", true)
	f("gzip;q=0, identity;q=0", true)
	f("identity;q=0.1, *;q=0", false)
	f("gzip;q=0, identity", false)
	f("gzipped", false)
	f("br;q=1.0, identity;q=0.5", false)
}

func TestNoRelease(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie551)
	w.releases.Close()
	if a := w.get(t, "/3/movie/551"); a.Status != 503 || a.Cache != servetest.NotKept {
		t.Errorf("without a release = %d %s, want 503 no-store", a.Status, a.Cache)
	}
	if a := w.get(t, "/3/authentication"); a.Status != 200 {
		t.Errorf("authentication without a release = %d, want 200", a.Status)
	}
}

// TestDamagedPack flips every bit of a pack in turn: identity answers are 500, and
// nothing panics.
func TestDamagedPack(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie551)
	id := w.releases.ID()
	path := release.Store{Dir: w.dir}.Path(id) + "/" + fileOf(t, w, "pack-", 551)
	w.releases.Close()
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"adult":false,"genres":[],"id":551,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"Another"}`
	broken := 0
	for i := 16; i < len(good)-68; i++ { // Open refuses the rest, the footer and the second level of checks
		bad := []byte(string(good))
		bad[i] ^= 0xff
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		w.open(t)
		rq := w.request("/3/movie/551")
		rq.AcceptEncoding = nil
		a := w.do(t, rq)
		switch a.Status {
		case 200:
			if a.plain != want {
				t.Errorf("byte %d: %s, want %s or 500", i, a.plain, want)
			}
		case 500:
			broken++
			if strings.Contains(a.plain, "segment") || a.Cache != servetest.NotKept || len(a.ETag) != 0 {
				t.Errorf("byte %d: 500 %s, %s, %s, want nothing told", i, a.plain, a.Cache, a.ETag)
			}
		default:
			t.Errorf("byte %d: %d, want 200 or 500", i, a.Status)
		}
		w.releases.Close()
	}
	if broken == 0 {
		t.Error("no damage was noticed")
	}
}

// TestBrokenProgram breaks the last piece of a program, when all before it has been
// composed: nothing of the answer is served, whatever part of it is broken.
func TestBrokenProgram(t *testing.T) {
	movie := fragment.KindMovie
	last := func(name string) servetest.Literal { return servetest.Literal(`,"last":"` + name + `"`) }
	w := writtenWorld(t, nil,
		servetest.Numbered(movie, 1, servetest.Of(fragment.SubDetails, `{"id":1,"title":"Another"`, last("details")),
			servetest.Of(fragment.SubCredits, servetest.IDMark, `"cast":[]`, last("credits"), servetest.Literal("}")),
			servetest.Of(fragment.SubLists, servetest.IDMark, `"results":[{`, servetest.RowOf(movie, 2, fragment.SubRow), `}]}`),
			servetest.Of(fragment.SubAlternativeTitles, servetest.IDMark, servetest.Literal(`"titles":[{"iso_3166_1":"DE"}]`), last("titles"), servetest.Literal("}"))),
		servetest.Numbered(movie, 2, servetest.Of(fragment.SubRow, `"id":2`, last("row"))))
	w.verify(t)
	path := release.Store{Dir: w.dir}.Path(w.releases.ID()) + "/" + fileOf(t, w, "part-", 1)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const details, all = "/3/movie/1", "/3/movie/1?append_to_response=credits,lists,alternative_titles"
	breaks := map[string][]string{ // the paths that have the program; the others do not notice
		"details": {details, all},
		"credits": {"/3/movie/1/credits", all},
		"row":     {"/3/movie/1/lists", all},
		"titles":  {"/3/movie/1/alternative_titles", "/3/movie/1/alternative_titles?country=de", all},
	}
	ask := func(name string) {
		w.releases.Close()
		w.open(t)
		for _, paths := range breaks {
			for _, path := range paths {
				want := 200
				if slices.Contains(breaks[name], path) {
					want = 500
				}
				for _, encoding := range []string{"gzip", ""} {
					rq := w.request(path)
					rq.AcceptEncoding = []byte(encoding)
					a := w.do(t, rq)
					if a.Status != want || want == 500 && (strings.Contains(a.plain, "Another") || a.Cache != servetest.NotKept || len(a.ETag) != 0) {
						t.Errorf("%s with the %s broken = %d %s, want %d and nothing told", path, name, a.Status, a.plain, want)
					}
				}
			}
		}
	}
	ask("nothing")
	for name := range breaks {
		at := bytes.Index(good, release.AppendText(nil, []byte(last(name)))) - 2 // the operation and the length of the piece
		if at < 0 {
			t.Fatalf("the directory has no text %s", last(name))
		}
		for off, value := range map[int]byte{at: 99, at + 1: 0x7f} {
			bad := bytes.Clone(good)
			bad[off] = value
			if err := os.WriteFile(path, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			releasetest.Mend(t, path)
			ask(name)
		}
	}
}

// TestRefuseHidesCauses checks that an unexpected error tells the client nothing.
func TestRefuseHidesCauses(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie551)
	rs := w.edge.Begin(w.request("/3/movie/550"))
	defer rs.End()
	rs.Refuse(errors.New("secret"))
	if rs.Status != 500 || strings.Contains(string(rs.body), "secret") || rs.Cache != servetest.NotKept {
		t.Errorf("refuse = %d %s %s, want a 500 that tells nothing", rs.Status, rs.body, rs.Cache)
	}
}

// TestSessionsAreNotLogged: the hint about a path names it without the session of a guest.
func TestSessionsAreNotLogged(t *testing.T) {
	const session = "0123456789abcdef0123456789abcdef"
	var logged servetest.LockedBuffer
	w := newWorld(t, func(c *Options) { c.Log = slog.New(slog.NewTextHandler(&logged, nil)) }, servetest.Version(1))
	for path, want := range map[string]string{
		"/guest_session/" + session + "/rated/movies": "path=/guest_session/***/rated/movies\n",
		"/movie/1": "path=/movie/1\n",
	} {
		w.edge.log.hints = w.edge.log.failed // no limit
		if a := w.get(t, path); a.Status != 404 {
			t.Errorf("%s = %d, want 404", path, a.Status)
		}
		if text := logged.String(); !strings.Contains(text, want) || strings.Contains(text, session) {
			t.Errorf("log = %q, want %q and no session", text, want)
		}
	}
}

// fileOf is servetest.FileOf of the release that w serves.
func fileOf(tb testing.TB, w *world, prefix string, movie fragment.ID) string {
	tb.Helper()
	held := w.releases.Acquire()
	defer held.Release()
	return servetest.FileOf(tb, held.Reader(), prefix, movie)
}

// TestAppendLimit: the setting is in the refusal, in the API's words, and in that of batches too.
func TestAppendLimit(t *testing.T) {
	w := newWorld(t, func(o *Options) { o.AppendLimit = 30 }, servetest.Movie550)
	for _, uri := range []string{"/3/movie/550?", "/3/movie?ids=550&"} {
		uri += "append_to_response=" + strings.Repeat("credits,", 30)
		if a := w.get(t, uri); a.Status != 200 || !strings.Contains(a.plain, `"credits":{"cast":`) {
			t.Errorf("%s = %d %s, want 200 with credits", uri, a.Status, a.plain)
		}
		const want = `{"success":false,"status_code":27,"status_message":"Too many append to response objects: The maximum number of remote calls is 30."}`
		if a := w.get(t, uri+"credits"); a.Status != 400 || a.plain != want {
			t.Errorf("one more = %d %s, want 400 %s", a.Status, a.plain, want)
		}
	}
	for limit, ok := range map[int]bool{0: false, 1: true, 100: true, 101: false} {
		o := DefaultOptions()
		o.AppendLimit = limit
		if err := o.Validate(); (err == nil) != ok {
			t.Errorf("Validate with append-limit %d = %v, want no error: %v", limit, err, ok)
		}
	}
}
