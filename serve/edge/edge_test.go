package edge

import (
	"bytes"
	"encoding/json"
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
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/auth"
	"github.com/reelsplice/reelsplice/serve/observe"
	"github.com/reelsplice/reelsplice/serve/route"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// line says in a line what a client and a cache get.
func (a *reply) line() string {
	var b strings.Builder
	put := func(given bool, form string, v ...any) {
		if given {
			fmt.Fprintf(&b, form+" ", v...)
		}
	}
	keys, found := strings.CutPrefix(string(a.Keys), a.Release+" ")
	put(a.Status != 200, "%d", a.Status)
	put(a.Cache != servetest.Kept, "%s", a.Cache)
	put(a.Allow != "", "Allow: %s", a.Allow)
	put(found && a.Release != "", "[%s]", keys)
	put(!found && keys != "" && keys != a.Release, "[not of the release: %s]", keys)
	tagged := len(a.ETag) > 0
	put(tagged != (a.Status == 200 && (a.Cache != servetest.NotKept)) || a.Gzip && !tagged, "tagged %v, gzip %v", tagged, a.Gzip)
	put(len(a.plain) <= 1000, "%s", a.plain)
	put(len(a.plain) > 1000, "%.200s...", a.plain)
	return b.String()
}

// TestResponses: statuses, fields for caches and bodies, of three releases.
func TestResponses(t *testing.T) {
	written := catalogue(t)
	written.verify(t)
	for name, w := range map[string]*world{"written": written, "built": newWorld(t, nil, servetest.Movie550, servetest.Movie551), "sample": listWorld(t, nil)} {
		sharedtest.Cases(t, "testdata/"+name+".txt", func(request string) string {
			method, uri, _ := strings.Cut(request, " ")
			rq := w.request(uri)
			rq.Method = []byte(method)
			a := w.do(t, rq)
			return a.line()
		})
	}
}

// lapsed issues two tokens that w refuses: one whose time is over, one that was revoked.
func (w *world) lapsed(t *testing.T) (expired, revoked string) {
	t.Helper()
	expired = servetest.Issue(t, w.file, "expired", time.Now().Add(-time.Minute))
	revoked = servetest.Issue(t, w.file, "revoked", time.Time{})
	if _, err := auth.Revoke(w.file, "revoked", time.Now()); err != nil {
		t.Fatal(err)
	}
	if w.tokens.Poll(); w.tokens.Err() != nil {
		t.Fatal(w.tokens.Err())
	}
	return expired, revoked
}

func TestCredentials(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie551)
	expired, revoked := w.lapsed(t)
	ask := func(input string) string {
		authorization, uri, _ := strings.Cut(strings.NewReplacer("<good>", w.token, "<cut>", w.token[1:], "<expired>", expired, "<revoked>", revoked).Replace(input), " | ")
		rq := w.request(uri)
		rq.Authorization = []byte(authorization)
		a := w.do(t, rq)
		if a.Status == 401 && (a.plain != servetest.Body401 || a.Cache != servetest.NotKept) {
			return a.line()
		}
		return fmt.Sprint(a.Status)
	}
	sharedtest.Cases(t, "testdata/credentials.txt", ask)
	w = newWorld(t, func(c *Options) { c.AllowQueryKey = false }, servetest.Movie551)
	if got := ask(" | /3/movie/551?api_key=<good>"); got != "401" {
		t.Errorf("an api_key that is not allowed: %s", got)
	}
}

// TestRefusedLog: the log gives the reason of a 401 and never the credential.
func TestRefusedLog(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *Options) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) }, servetest.Movie551)
	expired, revoked := w.lapsed(t)
	log.Reset()
	rq := w.request("/3/movie/551")
	rq.Authorization = nil
	for range 1000 {
		w.do(t, rq) // TestLimit of package observe has the limit itself
	}
	if n := strings.Count(log.String(), "\n"); n == 0 || n >= 1000 {
		t.Errorf("1000 refusals make %d lines, want fewer and some", n)
	}
	f := func(authorization, query, secret, want string) {
		t.Helper()
		log.Reset()
		w.edge.log.refused = observe.Limit(w.opts.Log, refusedPerSecond, time.Second) // a fresh limit
		rq := w.request("/3/movie/551?" + query)
		rq.Authorization = []byte(authorization)
		w.do(t, rq)
		line := log.String()
		if !strings.Contains(line, "level=INFO") || !strings.Contains(line, "status=401 "+want) || secret != "" && strings.Contains(line, secret) {
			t.Errorf("log of a 401 = %q, want level INFO, %s and no credential", line, want)
		}
	}
	const unknown = "0123456789abcdef0123456789abcdef"
	for token, want := range map[string]string{
		"": `reason="no key"`, unknown: "reason=unknown", revoked: "reason=revoked name=revoked", expired: "reason=expired name=expired",
	} {
		f("Bearer "+token, "", token, want)
		f("", "api_key="+token, token, want)
	}
	// The client, and the hash of an unknown key: the operator can issue what nobody can read.
	hash := auth.HashToken([]byte(unknown))
	for _, c := range []struct{ authorization, query, agent, want string }{
		{"Bearer " + unknown, "", "Tellico/3.4", fmt.Sprintf(" name=\"\" user_agent=Tellico/3.4 sha256=%x\n", hash)},
		{"", "a=b&api%5Fkey=%30" + unknown[1:], "Tellico/3.4", fmt.Sprintf(" user_agent=Tellico/3.4 sha256=%x\n", hash)},
		{"Bearer " + unknown, "api_key=" + w.token, "", fmt.Sprintf(" user_agent=\"\" sha256=%x\n", hash)},
		{"Bearer " + revoked, "", "app", " name=revoked user_agent=app\n"},
		{"", "", "app", " name=\"\" user_agent=app\n"},
		{"Bearer " + unknown, "", "a\x1b[31m \"b\"\nlevel=ERROR rsp_secret", " user_agent=\"a\ufffd[31m \\\"b\\\"\ufffdlevel=ERROR ***\" "},
		{"Bearer " + unknown, "", strings.Repeat("x", 9000), " user_agent=" + strings.Repeat("x", 512) + "... "},
	} {
		log.Reset()
		w.edge.log.refused = observe.Limit(w.opts.Log, refusedPerSecond, time.Second)
		rq := w.request("/3/movie/551?" + c.query)
		rq.Authorization, rq.UserAgent = []byte(c.authorization), []byte(c.agent)
		w.do(t, rq)
		if line := log.String(); !strings.Contains(line, c.want) || strings.Count(line, "\n") != 1 || strings.Contains(line, unknown) {
			t.Errorf("log of %q with %q by %.40q = %q, want %q in one line", c.authorization, c.query, c.agent, line, c.want)
		}
	}
	f(w.token, "", w.token, `reason="header without Bearer"`)
	w.edge.opts.AllowQueryKey = false
	f("", "api_key="+w.token, w.token, `reason="api_key is not allowed"`)
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
	checkEncodings(t, w, uri+"?append_to_response=countries,jobs,languages,primary_translations,timezones", &all)
	if a := w.get(t, uri+"?append_to_response="+strings.Repeat("jobs,", 21)); a.Status != 400 || a.plain != servetest.Body27 {
		t.Errorf("21 names = %d %s, want 400 %s", a.Status, a.plain, servetest.Body27)
	}
	if got, err := Inspect(nil, uri+"?append_to_response=jobs"); err != nil || string(got.Body) != w.get(t, uri+"?append_to_response=jobs").plain {
		t.Errorf("Inspect = %.100s, %v, want the answer", got.Body, err)
	}
}

// TestImageHint: an image is 404 without a credential, and the log says once where images are.
func TestImageHint(t *testing.T) {
	var log bytes.Buffer
	w := newWorld(t, func(c *Options) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) }, servetest.Movie551)
	for _, method := range []string{"GET", "HEAD", "OPTIONS"} {
		rq := w.request("/t/p/w500/abc.jpg?api_key=secret")
		rq.Method, rq.Authorization = []byte(method), nil
		if a := w.do(t, rq); a.Status != 404 {
			t.Errorf("%s of an image: %d, want 404", method, a.Status)
		}
	}
	if text := log.String(); strings.Count(text, "/t/p") != 1 || !strings.HasSuffix(text, "to an image proxy\" path=/t/p/w500/abc.jpg\n") {
		t.Errorf("3 requests for an image are logged as %q, want one hint with the path", text)
	}
}

// TestHint: the log says that a path lacks its version, once for many, and never the query or a session.
func TestHint(t *testing.T) {
	const session = "0123456789abcdef0123456789abcdef"
	var log bytes.Buffer
	w := newWorld(t, func(c *Options) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) }, servetest.Movie551)
	f := func(method, uri string, status, lines int) {
		t.Helper()
		log.Reset()
		w.edge.log.hints = observe.Limit(w.opts.Log, 1, time.Hour)
		rq := w.request(uri)
		rq.Method = []byte(method)
		for range 3 {
			if a := w.do(t, rq); a.Status != status {
				t.Errorf("%s %s = %d, want %d", method, uri, a.Status, status)
			}
		}
		path, _, _ := strings.Cut(uri, "?")
		path = strings.Replace(path, session, "***", 1)
		if n := strings.Count(log.String(), "base URL"); n != lines || n > 0 && !strings.Contains(log.String(), "path="+path+"\n") {
			t.Errorf("3 of %s %s are logged as %q, want %d hints with the path alone", method, uri, log.String(), lines)
		}
	}
	f("GET", "/movie/551?api_key=secret", 404, 1)
	f("GET", "/guest_session/"+session+"/rated/movies", 404, 1)
	f("HEAD", "/configuration", 404, 1)
	f("GET", "/search/movie?query=x", 404, 1)
	f("GET", "/3/movie/551", 200, 0)
	f("GET", "/3/movie/99999", 404, 0)
	f("GET", "/3/3/movie/551", 404, 1)
	f("GET", "/3/3/3/movie/551", 404, 0)
	f("GET", "/robots.txt", 404, 0)
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

func TestIfNoneMatch(t *testing.T) {
	w := newWorld(t, nil, servetest.Movie550)
	const uri = "/3/movie/550?append_to_response=videos"
	tag := string(w.get(t, uri).ETag)
	strong := strings.TrimPrefix(tag, "W/")
	parts := strings.NewReplacer("<tag>", tag, "<strong>", strong, "<bare>", strings.Trim(strong, `"`), "<short>", tag[:len(tag)-2]+`"`)
	sharedtest.Cases(t, "testdata/matches.txt", func(header string) string {
		rq := w.request(uri)
		rq.IfNoneMatch = []byte(parts.Replace(header))
		a := w.do(t, rq)
		if string(a.ETag) != tag || a.Cache != servetest.Kept || (a.Status == 304) != (len(a.sent) == 0) {
			return a.line()
		}
		return fmt.Sprint(a.Status)
	})
	// Only what exists has a tag.
	rq := w.request("/3/movie/99")
	rq.IfNoneMatch = []byte("*")
	if a := w.do(t, rq); a.Status != 404 {
		t.Errorf("If-None-Match * for a missing movie = %d, want 404", a.Status)
	}
}

func TestAcceptsGzip(t *testing.T) {
	sharedtest.Cases(t, "testdata/accepts.txt", func(header string) string { return fmt.Sprint(AcceptsGzip([]byte(header))) })
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
	path := store.Folder{Dir: w.dir}.Path(id) + "/" + fileOf(t, w, "pack-", 551)
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
		rq.Gzip = false
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
	path := store.Folder{Dir: w.dir}.Path(w.releases.ID()) + "/" + fileOf(t, w, "part-", 1)
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
				for _, takesGzip := range []bool{true, false} {
					rq := w.request(path)
					rq.Gzip = takesGzip
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

// fileOf is servetest.FileOf of the release that w serves.
func fileOf(tb testing.TB, w *world, prefix string, movie fragment.ID) string {
	tb.Helper()
	held := w.releases.Acquire()
	defer held.Release()
	return servetest.FileOf(tb, held.Reader, prefix, movie)
}

// TestBatchRate: a batch counts as a request for each ID, directly and explained. One above the burst is served, and the
// requests after it wait.
func TestBatchRate(t *testing.T) {
	now := time.Now()
	w := sampleWorld(t, func(o *Options) { o.Now = func() time.Time { return now } })
	token, err := auth.Issue(w.file, auth.Record{Name: "slow", Created: now, Scopes: auth.AllScopes, Limits: auth.Limits{Rate: 2, Burst: 4}})
	if err != nil {
		t.Fatal(err)
	}
	w.tokens.Poll()
	get := func(uri string, status, retry int) {
		t.Helper()
		rq := w.request(uri)
		rq.Authorization = []byte("Bearer " + token)
		if a := w.do(t, rq); a.Status != status || a.Retry != retry {
			t.Errorf("%.80s = %d after %d s, want %d after %d: %.100s", uri, a.Status, a.Retry, status, retry, a.plain)
		}
	}
	const detail = "/3/movie/550"
	many := strings.Repeat("550,", 2*route.MaxIDs) + "550"
	for _, c := range []struct {
		uri            string
		status, counts int
	}{
		{detail, 200, 1},
		{"/3/movie?ids=550", 200, 1},
		{"/3/movie?ids=550,603,tt0137523", 200, 3},
		{"/3/movie?ids=550,603,807,680,13,1,2,3,4,5", 200, 10},
		{"/3/movie?ids=550,550,,550", 200, 4},
		{"/3/movie?ids=", 404, 1},
		{"/3/movie?ids=550,x", 422, 2},
		{"/3/movie?ids=" + many, 200, route.MaxIDs},
		{"/page/explain?path=/3/movie%3Fids=550,603,807,680,13,1,2,3,4,5", 200, 10},
		{"/page/explain?path=/3/movie/550%3Fids=1,2,3", 200, 1},
		{"/page/release?ids=1,2,3", 200, 1},
		{"/3/tv?ids=1399,1396", 200, 2},
		{"/3/movie/popular?ids=1,2,3", 200, 1},
	} {
		now = now.Add(time.Hour) // the burst of 4 is there again
		get(c.uri, c.status, 0)
		for range 4 - c.counts {
			get(detail, 200, 0)
		}
		wait := (max(c.counts, 4) - 4 + 1) * int(time.Second) / 2
		get(detail, 429, (wait+int(time.Second)-1)/int(time.Second))
		now = now.Add(time.Duration(wait) - time.Millisecond)
		get(detail, 429, 1)
		now = now.Add(time.Millisecond)
		get(detail, 200, 0)
	}
}
