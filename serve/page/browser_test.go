package page_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image/png"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/data/sample"
	"github.com/reelsplice/reelsplice/ingest"
	"github.com/reelsplice/reelsplice/ingest/layout"
	"github.com/reelsplice/reelsplice/schemas/api"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// patience bounds each step of the browser: two minutes, for its processes share the machine with other tests.
const patience = 2 * sharedtest.Patience

// A browser is a Chromium at an edge that serves the sample.
type browser struct {
	t     *testing.T // the current part
	ctx   context.Context
	edge  string // URL of the edge
	token string
	mu    sync.Mutex
	told  []string // violations, errors of the console, requests to other hosts
}

// newBrowser starts both. Requests for images fail, as without the internet.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no chromium in PATH: install Debian's package chromium to test the page")
	}
	b := &browser{}
	b.edge, b.token = serveDumps(t, sample.FS())
	allocator, stop := chromedp.NewExecAllocator(t.Context(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience),
		chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true), chromedp.Flag("lang", "en-US"), chromedp.Flag("force-color-profile", "srgb"))...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(allocator, chromedp.WithListener(b.heard))
	t.Cleanup(end)
	b.ctx = ctx
	if err := chromedp.Do(ctx); err != nil { // the browser ends with the first context that it runs in
		t.Fatalf("start %s: %v", path, err)
	}
	b.run(t, command(network.Enable, network.EnableParams{}), command(log.Enable, cdp.Empty{}),
		command(fetch.Enable, fetch.EnableParams{Patterns: []*fetch.RequestPattern{{URLPattern: "https://*"}}}))
	return b
}

// An action does something in the page.
type action = chromedp.Action[chromedp.Void]

// command runs a command of the protocol.
func command[P, R any](c cdp.Command[P, R], params P) action {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, c, params)
		return err
	})
}

// intercept runs a script for each request of the page, which may respond in place of the edge.
func intercept(script string) action {
	return js("window.edgeFetch ??= window.fetch; window.fetch = async (url, options) => { " + script + "\nreturn window.edgeFetch(url, options); };")
}

// read returns a file of testdata.
func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// js runs a script.
func js(script string) action { return chromedp.Evaluate[chromedp.Void]("{ " + script + " }") }

// value returns the value of an expression, or of its promise.
func value[T any](t *testing.T, b *browser, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%v in %.200s", err, expression)
	}
	return v
}

// serveDumps builds dumps and serves them. It returns the edge's URL and a token.
func serveDumps(t *testing.T, files fs.FS) (edge, token string) {
	t.Helper()
	dumps := filepath.Join(t.TempDir(), "dumps")
	if err := os.CopyFS(dumps, files); err != nil {
		t.Fatal(err)
	}
	c := build.DefaultConfig()
	c.Catalog, c.Releases = filepath.Join(t.TempDir(), "catalog"), t.TempDir()
	if _, err := ingest.Run(t.Context(), ingest.Config{Catalog: c.Catalog, Layout: layout.Auto, Sources: []string{dumps}, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	r, err := build.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	servetest.Publish(t, c.Releases, r.Release)
	cfg := serve.DefaultConfig()
	cfg.Releases, cfg.Tokens, cfg.Addr = c.Releases, filepath.Join(t.TempDir(), "tokens.txt"), "127.0.0.1:0"
	token = servetest.Issue(t, cfg.Tokens, "browser", time.Time{})
	s, err := serve.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return s.URL(), token
}

// heard keeps what must not happen, and lets requests for images fail.
func (b *browser) heard(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		// Chromium logs each response that is no success; those are the tests' own.
		if e.Entry.Source != log.EntrySourceNetwork {
			b.tell("log: %s: %s", e.Entry.Source, e.Entry.Text)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			for _, arg := range e.Args {
				b.tell("console: %s %s", arg.Value, arg.Description)
			}
		}
	case *runtime.EventExceptionThrown:
		b.tell("exception: %s", e.ExceptionDetails.Text)
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "data" && e.Request.URL != "about:blank" && "http://"+u.Host != b.edge && u.Host != "image.tmdb.org" {
			b.tell("request to another host: %s", e.Request.URL)
		}
	case *fetch.EventRequestPaused:
		go func() {
			_, _ = chromedp.Call(b.ctx, fetch.FailRequest, fetch.FailRequestParams{RequestID: e.RequestID, ErrorReason: network.ErrorReasonNameNotResolved}) // the page may be gone
		}()
	}
}

func (b *browser) tell(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told = append(b.told, fmt.Sprintf(format, args...))
}

// quiet fails for what was told since the last call.
func (b *browser) quiet(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.told {
		t.Error(line)
	}
	b.told = nil
}

// run runs actions.
func (b *browser) run(t *testing.T, actions ...action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		t.Fatalf("%v; the page has: %s", err, b.text("body"))
	}
}

// text is the text of the first element of a selector.
func (b *browser) text(selector string) string {
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	s, _ := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("document.querySelector(%q)?.innerText ?? ''", selector)))
	return s
}

// until waits for a condition of the page. The policy of the page forbids a loop made of a string there.
func until(condition string) action {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		for {
			ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+condition+")"))
			if err == nil && ok {
				return nil
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("not yet: %s: %w", condition, errors.Join(err, ctx.Err()))
			case <-time.After(15 * time.Millisecond):
			}
		}
	})
}

// settled waits until a view is drawn; the splice's strip comes after it.
func settled() action { return until(`!document.querySelector('[aria-busy]')`) }

// at goes to a route and waits for its view.
func at(route string) action {
	return chromedp.Steps(js(fmt.Sprintf(`if (location.hash !== %[1]q) {
		document.querySelector('main').setAttribute('aria-busy', 'true');
		location.hash = %[1]q;
	}`, route)), settled())
}

// open loads the page anew, with a token.
func (b *browser) open(t *testing.T) {
	t.Helper()
	b.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(b.edge+"/#token="+b.token), settled())
}

// get returns the JSON of a path of the API, as the page gets it.
func (b *browser) get(t *testing.T, path string, v any) {
	t.Helper()
	text := value[string](t, b, fmt.Sprintf(`fetch(%q, {headers: {Authorization: 'Bearer ' + %q}}).then((r) => r.text())`, path, b.token))
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%s: %v of %.200s", path, err, text)
	}
}

// picture writes the whole view into the folder that REELSPLICE_PICTURES names, if any.
func (b *browser) picture(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("REELSPLICE_PICTURES")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A screen is a size and a scheme of colours.
type screen struct {
	name          string
	width, height int64
	scheme        string
}

var screens = []screen{
	{"desktop-light", 1280, 900, "light"},
	{"phone-dark", 390, 740, "dark"},
	{"desktop-dark", 1280, 900, "dark"},
	{"phone-light", 360, 740, "light"},
}

func (s screen) set() action {
	return chromedp.Steps(
		command(emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.width < 500}),
		command(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: s.scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}}),
		until(fmt.Sprintf(`matchMedia('(width: %dpx) and (prefers-color-scheme: %s)').matches`, s.width, s.scheme)))
}

// views are the routes that each screen is checked with.
var views = []struct{ name, route string }{
	{"start", "#/"},
	{"list", "#/list/movie/top_rated"},
	{"discover", "#/discover/movie?genre=18&year=1999"},
	{"search", "#/search?q=star"},
	{"movie", "#/movie/550"},
	{"series", "#/tv/1399"},
	{"season", "#/tv/1399/season/1"},
	{"episode", "#/tv/1399/season/1/episode/1"},
	{"person", "#/person/287"},
	{"collection", "#/collection/10"},
	{"splice", "#/splice?path=" + url.QueryEscape("/3/movie/550?append_to_response=credits,videos,images&language=en-US")},
	{"release", "#/release"},
	{"missing", "#/movie/999999999"},
}

func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := newBrowser(t)
	b.run(t, screens[0].set())
	for _, part := range []struct {
		name  string
		test  func(*browser)
		quick bool // runs with "go test ./..."
	}{
		{"Token", testToken, true},
		{"Views", testViews, true},
		{"Addresses", testAddresses, false},
		{"Typing", testTyping, false},
		{"Combobox", testCombobox, false},
		{"Search", testSearch, true},
		{"OwnData", testOwnData, true},
		{"Placeholders", testPlaceholders, true},
		{"Phone", testPhone, true},
		{"Weight", testWeight, true},
		{"Picture", testPicture, true},
		{"Keyboard", testKeyboard, false},
		{"Filters", testFilters, false},
		{"Language", testLanguage, false},
		{"Picker", testPicker, false},
		{"Splice", testSplice, true},
		{"Requests", testRequests, false},
		{"Copies", testCopies, false},
		{"Refusals", testRefusals, false},
		{"Broken", testBroken, false},
		{"Theme", testTheme, false},
		{"Screens", testScreens, true},
		{"Release", testRelease, false},
		{"Switch", testSwitch, false},
		{"Offline", testOffline, false},
		{"Reference", testReference, true},
	} {
		t.Run(part.name, func(t *testing.T) {
			if !part.quick && !everyPart() {
				sharedtest.Long(t)
			}
			b.t = t
			part.test(b)
			b.quiet(t)
		})
	}
}

// testToken: without a token the page asks for one, a wrong one gets the API's message, and one in
// the address leaves it at once. Cached responses to a right token open nothing for a wrong one.
func testToken(b *browser) {
	t := b.t
	b.run(t, chromedp.Navigate(b.edge+"/"), settled(), chromedp.WaitVisible(chromedp.CSS("#token")))
	b.picture(t, "token")
	b.check(t, "token")
	b.run(t, chromedp.SendKeys(chromedp.CSS("#token"), "wrong\r"), until(`document.querySelector('#token-problem')?.textContent`))
	if got := b.text("#token-problem"); !strings.Contains(got, "Invalid API key") {
		t.Errorf("message of a wrong token = %q, want the API's", got)
	}
	b.run(t, js(`document.querySelector('#token').value = '“quoted”'`), chromedp.SendKeys(chromedp.CSS("#token"), "\r"), until(`document.querySelector('#token-problem')?.textContent.includes('This is no token')`))
	b.run(t, js(`document.querySelector('#token').value = ''`), chromedp.SendKeys(chromedp.CSS("#token"), b.token+"\r"), until(`document.querySelector('h1')?.textContent === 'Your movie database'`), settled())
	b.run(t, js(`sessionStorage.clear()`))
	b.open(t)
	address, storage, cookie := value[string](t, b, `location.href`), value[string](t, b, `sessionStorage.getItem('reelsplice.token')`), value[string](t, b, `document.cookie`)
	if strings.Contains(address, b.token) || storage != b.token || cookie != "" {
		t.Errorf("address %q, stored %q, cookie %q, want the token in the storage alone", address, storage, cookie)
	}
	b.run(t, screens[1].set(), chromedp.WaitVisible(chromedp.CSS("#leave")), screens[0].set())
	b.run(t, chromedp.Click(chromedp.CSS("#leave")), chromedp.WaitVisible(chromedp.CSS("#token")))
	// The browser's cache has responses to the right token by now.
	b.run(t, chromedp.SendKeys(chromedp.CSS("#token"), "anything\r"), until(`document.querySelector('#token-problem')?.textContent || document.title.startsWith('Start')`))
	b.refuses(t, "a wrong token after Sign out")
	b.open(t)
	b.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(b.edge+"/#token=anything"), settled())
	b.refuses(t, "a link with a wrong token")
	b.open(t)
	b.run(t, js(`location.hash = '#token=anything'`), until(`location.hash === '#/'`), settled())
	b.refuses(t, "a wrong token in the address of an open page")
}

// refuses wants the entrance with the API's message, and no token kept.
func (b *browser) refuses(t *testing.T, what string) {
	t.Helper()
	stored := value[string](t, b, `sessionStorage.getItem('reelsplice.token') ?? ''`)
	if got := b.text("#token-problem"); !strings.Contains(got, "Invalid API key") || stored != "" {
		t.Errorf("%s: message %q, stored %q, want the API's message and nothing stored", what, got, stored)
	}
}

// testAddresses: malformed escapes get a message, and no token stays in the address.
func testAddresses(b *browser) {
	t := b.t
	b.open(t)
	b.shows(t, "#/movie/%zz", "no such view")
	b.shows(t, "#/list/100%", "Try again")
	b.run(t, chromedp.Navigate("about:blank"), chromedp.Navigate(b.edge+"/#token=%"), settled())
	if hash := value[string](t, b, `location.hash`); hash != "#/" {
		t.Errorf("after a malformed token the address has %q", hash)
	}
	b.open(t)
}

// testViews: views show what the API says.
func testViews(b *browser) {
	t := b.t
	b.open(t)
	var popular struct{ Results []struct{ Title string } }
	if foot := b.text("footer"); !strings.Contains(foot, "not endorsed or certified by TMDB") {
		t.Errorf("the foot of a page with TMDB's images has %q", foot)
	}
	b.get(t, "/3/movie/popular?language=en-US", &popular)
	b.shows(t, "#/list/movie/popular", popular.Results[0].Title, popular.Results[19].Title, "Page 1 of")
	var movie struct {
		Title, Overview, Tagline string
		Credits                  struct {
			Cast []struct{ Name, Character string }
		}
		Keywords struct {
			Keywords []struct{ Name string }
		}
		Recommendations struct {
			Results []struct{ Title string }
		}
	}
	b.get(t, "/3/movie/550?append_to_response=credits,keywords,recommendations&language=en-US", &movie)
	b.shows(t, "#/movie/550", movie.Title, movie.Overview, movie.Tagline, movie.Credits.Cast[0].Name, movie.Credits.Cast[0].Character, movie.Keywords.Keywords[0].Name,
		movie.Recommendations.Results[0].Title, fmt.Sprintf("%d people", len(movie.Credits.Cast)), "8.3 of 10", "Regency Enterprises", "IMDb", "This page is one response")
	b.shows(t, "#/tv/1399", "Game of Thrones", "8 seasons", "73 episodes", "HBO", "David Benioff")
	b.shows(t, "#/tv/1399/season/1", "Season 1", "10 episodes", "1. Winter Is Coming")
	b.shows(t, "#/tv/1399/season/1/episode/1", "Winter Is Coming", "Season 1, episode 1", "Next episode")
	b.shows(t, "#/tv/1399/season/1/episode/10", "Season 1, episode 10", "Episode before")
	if got := b.text("main"); strings.Contains(got, "Next episode") {
		t.Errorf("the last episode has a link to the next: %.300q", got)
	}
	b.shows(t, "#/person/287", "Brad Pitt", "Born December 18, 1963", "Fight Club", "Tyler Durden")
	b.shows(t, "#/collection/10", "Star Wars Collection", "The Empire Strikes Back")
	var found struct {
		TotalResults int `json:"total_results"`
	}
	b.get(t, "/3/discover/movie?with_genres=18&primary_release_year=1999", &found)
	b.shows(t, "#/discover/movie?genre=18&year=1999", fmt.Sprintf("%d results", found.TotalResults), "Fight Club")
	b.shows(t, "#/search?q=fight", "1 result", "Fight Club")
	b.shows(t, "#/search?q=zzzzzz", "0 results", "Check the spelling")
	// Back and forward.
	b.run(t, at("#/movie/550"), at("#/tv/1399"), chromedp.NavigateBack(), until(`document.title.startsWith('Fight Club')`), chromedp.NavigateForward(), until(`document.title.startsWith('Game of Thrones')`))
}

// testRelease: the view shows the edge's own description, and another one. That and the lists of changes stand
// in for an edge that has several releases.
func testRelease(b *browser) {
	t := b.t
	var told struct {
		Release   string
		Resources map[string]int
	}
	b.get(t, "/page/release", &told)
	b.shows(t, "#/release", told.Release, fmt.Sprintf("%d\nmovies", told.Resources["movie"]), fmt.Sprintf("%d\nseries", told.Resources["tv"]), "This is the first release")
	if gaps := value[[]int](t, b, `[...new Set([...document.querySelectorAll('.tiles li')].map((li) => Math.round(li.lastChild.getBoundingClientRect().top - li.getBoundingClientRect().top)))]`); len(gaps) != 1 {
		t.Errorf("labels stand %v pixels below the tops of their counts, want one distance", gaps)
	}
	// The view of the start has asked for the true one: that of the release asks again.
	b.run(t, at("#/"), intercept(fmt.Sprintf(`
		const told = (text) => new Response(text, {headers: {'Content-Type': 'application/json'}});
		if (url.pathname === '/page/release') return told(%q);
		if (url.pathname === '/3/movie/changes' && url.search === '?start_date=2026-01-01&end_date=2026-01-01') {
			return told('{"results": [{"id": 550}, {"id": 999999999}], "page": 1, "total_pages": 2, "total_results": 30}');
		}`, read(t, "described.json"))))
	b.shows(t, "#/release", "r2", "1,234\nmovies", "2\nepisode groups", "2 new, 1 changed, 4 removed", "Fight Club", "movie 999999999", "28 more", "December 1, 2025 to January 1, 2026",
		"Bytes by release", "3 rows", "want a number", "a.csv:7", "9 values", "movie.title", "2 entries more", "1.00 MB, 3.0× smaller")
	if links := value[[]string](t, b, `[...document.querySelectorAll('.chips a')].map((a) => a.hash)`); !slices.Equal(links, []string{"#/movie/550"}) {
		t.Errorf("links to changed resources = %q, want that of the one which is there", links)
	}
	b.check(t, "described release")
	b.picture(t, "release-described")
	// Lines of the axes stand where their numbers say: at 2 and 4 titles, and at two steps of bytes.
	if got := value[[]string](t, b, `[...document.querySelectorAll('.columns')].map((plot) => [...plot.querySelectorAll('g:has(.rule)')].map((g) => g.textContent + ' at ' + Math.round(200 - 22 - g.querySelector('.rule').getAttribute('y1'))).join())`); !slices.Equal(got, []string{"2 at 84,4 at 168", "500 kB at 84,1.00 MB at 168"}) {
		t.Errorf("axes = %q", got)
	}
	axis := value[[]float64](t, b, `import(new URL('page/charts.js', location.href)).then((m) => [1, 3, 11, 999, 1e6].map(m.stepOf))`)
	if !slices.Equal(axis, []float64{1, 1, 5, 200, 5e5}) {
		t.Errorf("steps of axes = %v", axis)
	}
	if n := value[int](t, b, `document.querySelectorAll('.columns rect.series-0').length`); n != 4 { // two years with movies, two releases
		t.Errorf("%d solid columns in the plots, want 4", n)
	}
	b.open(t)
}

// testSwitch: a response of another release makes the page ask for its description again.
func testSwitch(b *browser) {
	t := b.t
	b.run(t, at("#/movie/550"), js(`window.described = 0`), intercept(`
		if (url.pathname === '/page/release') window.described++;
		const r = await window.edgeFetch(url, options);
		return new Response(r.body, {status: r.status, headers: {'X-Reelsplice-Release': window.switched ? 'r2' : 'r1'}});`))
	b.run(t, at("#/tv/1399"), at("#/"), at("#/movie/550"), at("#/"))
	if n := value[int](t, b, `window.described`); n > 2 { // one at each release, and one under way at the switch
		t.Errorf("the release was described %d times before a switch", n)
	}
	b.run(t, js(`window.described = 0; window.switched = true`), at("#/tv/1399"), at("#/"))
	if n := value[int](t, b, `window.described`); n == 0 {
		t.Error("the release was not described again after a switch")
	}
	b.open(t)
}

// shows fails unless the view of a route has all texts.
func (b *browser) shows(t *testing.T, route string, texts ...string) {
	t.Helper()
	b.run(t, at(route))
	got := b.text("main")
	for _, text := range texts {
		if !strings.Contains(strings.ToLower(got), strings.ToLower(text)) {
			t.Errorf("%s lacks %q; it has %.1500q", route, text, got)
		}
	}
}

// testTyping: results come as one types, and keys pick one.
func testTyping(b *browser) {
	t := b.t
	b.run(t, at("#/"), chromedp.KeyEvent("/"), until(`document.activeElement.id === 'search'`), js(`document.activeElement.value = ''`), chromedp.SendKeys(chromedp.CSS("#search"), "game of"),
		until(`document.querySelector('#options').textContent.includes('Game of Thrones') && !document.querySelector('#options').hidden`))
	b.picture(t, "typing")
	b.check(t, "typing")
	b.run(t, key("Escape"), until(`document.querySelector('#options').hidden && document.querySelector('#search').getAttribute('aria-expanded') === 'false'`))
	b.run(t, js(`const f = document.querySelector('#search'); f.value = 'fight club'; f.dispatchEvent(new Event('input'))`),
		until(`document.querySelector('#options').textContent.includes('Fight Club')`),
		key("ArrowDown"), until(`document.querySelector('#search').getAttribute('aria-activedescendant') === 'option-0'`), key("Enter"), until(`location.hash === '#/movie/550' && document.title.startsWith('Fight Club')`), settled())
	b.run(t, js(`document.querySelector('#search').value = 'star'; document.querySelector('#search').focus()`), key("Enter"), until(`location.hash === '#/search?q=star'`), settled())
}

// testSearch: the field shows what was searched. Ids, a year after a title, other names and near misses find titles.
func testSearch(b *browser) {
	t := b.t
	field := func() string { return value[string](t, b, `document.querySelector('#search').value`) }
	b.open(t)
	b.run(t, at("#/search?q=star"), chromedp.Reload(), settled())
	if got := field(); got != "star" {
		t.Errorf("after a reload the field has %q, want the words of the address", got)
	}
	b.run(t, at("#/movie/550"))
	if got := field(); got != "" {
		t.Errorf("at a movie the field has %q", got)
	}
	b.shows(t, "#/search?q=550", "Fight Club", "1999 · id 550")
	b.shows(t, "#/search?q=tt0137523", "1 result", "Fight Club", "1999 · id tt0137523")
	b.shows(t, "#/search?q=nm0000093", "1 result", "Brad Pitt")
	b.shows(t, "#/search?q=tt9999999", "0 results", "Check the spelling")
	b.shows(t, "#/search?q=fight%20club%201999", "1 result", "Fight Club")
	b.shows(t, "#/search?q=fight%20club%20(1999)", "1 result", "Fight Club")
	b.shows(t, "#/search?q=fight%20club%201998", "Did you mean Fight Club")
	b.shows(t, "#/search?q=figth%20club", "Did you mean Fight Club")
	b.run(t, js(`document.querySelector('main [role=status] a').click()`), until(`location.hash === '#/search?q=Fight%20Club' && document.title.startsWith('Results for Fight Club')`), settled())
	b.shows(t, "#/search?q=new%20hope", "Star Wars", "as “Star Wars: Episode IV - A New Hope”")
	b.run(t, at("#/"), js(`const f = document.querySelector('#search'); f.focus(); f.value = 'figth club'; f.dispatchEvent(new Event('input'))`),
		until(`document.querySelector('#options').textContent.includes('Did you mean:')`), key("ArrowDown"), key("Enter"), until(`location.hash === '#/movie/550'`), settled())
}

// testOwnData: over a release with other titles, the view of the splice begins with one of those, and so do its examples.
func testOwnData(b *browser) {
	t := b.t
	edge, token := b.edge, b.token
	defer func() { b.edge, b.token = edge, token; b.open(t) }()
	b.edge, b.token = serveDumps(t, fstest.MapFS{"movies.ndjson": {Data: []byte(`{"id":7,"title":"One"}` + "\n" + `{"id":8,"title":"Two","popularity":2}` + "\n")}})
	b.open(t)
	b.shows(t, "#/", "2 movies", "Popular movies")
	if foot := b.text("footer"); strings.Contains(foot, "TMDB") || !strings.Contains(foot, "API reference") {
		t.Errorf("the foot of a page without data of TMDB's has %q", foot)
	}
	b.shows(t, "#/splice", "equals Content-Length")
	if got := value[string](t, b, `document.querySelector('#splice-path').value`); !strings.HasPrefix(got, "/3/movie/8?") {
		t.Errorf("the first request is %q, want one of the most popular movie", got)
	}
	examples := value[[]string](t, b, `[...document.querySelectorAll('#splice-hint button')].map((e) => e.textContent)`)
	if !slices.Equal(examples, []string{"/3/movie/8", "/3/search/multi?query=Two", "/3/configuration"}) {
		t.Errorf("examples = %q, want those that the release has", examples)
	}
}

// testPlaceholders: names are set within their posters, in many tones, with enough contrast. An image that failed is
// not asked for again.
func testPlaceholders(b *browser) {
	t := b.t
	b.open(t)
	for _, route := range []string{"#/", "#/list/movie/popular", "#/tv/1399/season/1"} {
		b.run(t, at(route))
		for _, p := range value[[]string](t, b, read(t, "placeholders.js")) {
			t.Errorf("%s: %s", route, p)
		}
	}
	b.run(t, at("#/movie/550"), until(`!document.querySelector('.title-head img')`), at("#/"), at("#/movie/550"))
	if n := value[int](t, b, `document.querySelectorAll('.title-head img').length`); n != 0 {
		t.Error("the poster is asked for again")
	}
}

// testPicture: the picture in README.md shows the page as it is, but for fonts: seen from afar, as the means of squares.
func testPicture(b *browser) {
	t := b.t
	b.run(t, screen{width: 1240, height: 760, scheme: "light"}.set())
	b.open(t)
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	const path = "../../docs/page.png"
	if *sharedtest.Update {
		if err := os.WriteFile(path, shot, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	was, is := squares(t, kept), squares(t, shot)
	if len(was) != len(is) {
		t.Fatalf("the picture has %d squares, the page %d: run go test ./serve/page -update", len(was), len(is))
	}
	differ := 0
	for i := range was {
		for c := range was[i] {
			if d := was[i][c] - is[i][c]; d > 40 || d < -40 {
				differ++
				break
			}
		}
	}
	if differ > len(was)/25 {
		t.Errorf("%d of %d squares of docs/page.png differ from the page: run go test ./serve/page -update, and look at it", differ, len(was))
	}
	b.run(t, screens[0].set())
}

// squares returns the mean red, green and blue of each square of a picture, 0 to 255.
func squares(t *testing.T, file []byte) (means [][3]int) {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	const side = 40
	for y := 0; y+side <= m.Bounds().Dy(); y += side {
		for x := 0; x+side <= m.Bounds().Dx(); x += side {
			var sum [3]int
			for i := range side * side {
				r, g, b, _ := m.At(x+i%side, y+i/side).RGBA()
				sum[0], sum[1], sum[2] = sum[0]+int(r>>8), sum[1]+int(g>>8), sum[2]+int(b>>8)
			}
			means = append(means, [3]int{sum[0] / (side * side), sum[1] / (side * side), sum[2] / (side * side)})
		}
	}
	return means
}

// testPhone: the head is one line, and its button folds out navigation and controls.
func testPhone(b *browser) {
	t := b.t
	b.open(t)
	b.run(t, screens[1].set(), at("#/splice"), until(`document.querySelector('#menu').offsetWidth > 0`))
	if high := value[float64](t, b, `document.querySelector('header').offsetHeight`); high > 64 {
		t.Errorf("the head is %v pixels high, want one line", high)
	}
	folded := `document.querySelector('#links').offsetWidth === 0`
	b.run(t, until(folded), js(`document.querySelector('#menu').focus()`), chromedp.KeyEvent(kb.Enter), until(`document.querySelector('#menu').getAttribute('aria-expanded') === 'true'`))
	if cut := value[[]string](t, b, `[...document.querySelectorAll('#links a, #tools select')].filter((e) => { const r = e.getBoundingClientRect(); return !r.width || r.left < 0 || r.right > innerWidth; }).map((e) => e.textContent)`); len(cut) > 0 {
		t.Errorf("the menu cuts %q", cut)
	}
	b.check(t, "menu")
	b.picture(t, "menu")
	b.run(t, key("Escape"), until(folded+` && document.activeElement.id === 'menu'`), chromedp.Click(chromedp.CSS("#menu")), chromedp.Click(chromedp.CSS(`#links a[href="#/release"]`)),
		until(folded+` && document.title.startsWith('Release')`), settled(), screens[0].set())
	if got := b.text("main"); strings.Contains(got, "defaults") || strings.Contains(got, "sets of genres") {
		t.Error("the release counts parts of responses, which nobody looks for")
	}
}

// maxWeight is the limit of a first visit, in bytes over the wire with heads.
const maxWeight = 100_000

// testWeight: a first visit of the start page, without posters, weighs little. The times of a phone are printed only: they
// depend on the machine. "slow 4G" is the usual profile of audits: 150 ms a request, 1.6 Mbit/s, a quarter of the CPU.
func testWeight(b *browser) {
	t := b.t
	defer b.run(t, screens[0].set(), command(emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 1}), offline(false))
	b.open(t)
	b.run(t, screens[1].set(), command(emulation.SetCPUThrottlingRate, emulation.SetCPUThrottlingRateParams{Rate: 4}))
	for _, net := range []struct {
		name       string
		conditions []*network.Conditions
	}{
		{"a quarter of the CPU", []*network.Conditions{}},
		{"slow 4G", []*network.Conditions{{Latency: 150, DownloadThroughput: 1.6e6 / 8, UploadThroughput: 0.75e6 / 8}}},
	} {
		b.run(t, command(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: net.conditions}),
			command(network.ClearBrowserCache, cdp.Empty{}))
		b.open(t)
		seen := value[struct {
			Bytes, Requests, Paint, Drawn float64
			Heaviest                      []string
		}](t, b, read(t, "weight.js"))
		t.Logf("%s: first paint after %.0f ms, drawn after %.0f ms, %.0f bytes in %.0f requests", net.name, seen.Paint, seen.Drawn, seen.Bytes, seen.Requests)
		if seen.Bytes > maxWeight || seen.Requests < 20 {
			t.Errorf("%.0f bytes in %.0f requests, want %d at most in 20 or more; the heaviest: %q", seen.Bytes, seen.Requests, maxWeight, seen.Heaviest)
		}
	}
}

// testCombobox: what was typed since counts, and nothing opens without the focus.
func testCombobox(b *browser) {
	t := b.t
	const write = `const write = (text) => { const f = document.querySelector('#search'); f.focus(); f.value = text; f.dispatchEvent(new Event('input')); };
		const press = (key) => document.querySelector('#search').dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));`
	shown := until(`!document.querySelector('#options').hidden && document.querySelector('#options').textContent.includes('Fight Club')`)
	b.run(t, at("#/"), js(write+`write('fight club')`), shown)
	// Enter before the rows of new words have come.
	b.run(t, js(write+`press('ArrowDown'); write('fight clubs'); press('Enter')`), until(`location.hash === '#/search?q=fight%20clubs'`), settled())
	// An empty field has no options.
	b.run(t, js(write+`write('fight club')`), shown, js(write+`write(''); press('ArrowDown')`))
	if left := value[bool](t, b, `document.querySelector('#options').hidden && document.querySelector('#options').children.length === 0`); !left {
		t.Error("an empty field has options")
	}
	// Escape and blur end what is under way: requests that wait for their time, and those for their response.
	// The timer of the test is after those of the field.
	b.run(t, js(`
		window.searches = [];
		window.held = new Promise((resolve) => { window.letGo = resolve; });`), intercept(`
		if (url.pathname === '/3/search/multi') {
			window.searches.push(url.search);
			await window.held;
			return window.edgeFetch(url, {...options, signal: undefined});
		}`))
	b.run(t, js(write+`
		write('fight'); press('Escape');
		write('fight club'); document.activeElement.blur();
		window.passed = false; setTimeout(() => { window.passed = true; }, 250);`), until(`window.passed`))
	if sent := value[[]string](t, b, `window.searches`); len(sent) > 0 {
		t.Errorf("searches after Escape and blur = %q", sent)
	}
	b.run(t, js(write+`write('fight club')`), until(`window.searches.length === 1`), js(`
		document.activeElement.blur();
		window.letGo();
		window.passed = false;
		window.edgeFetch('3/configuration').then((r) => r.text()).then(() => setTimeout(() => { window.passed = true; }, 50));`), until(`window.passed`))
	if open := value[bool](t, b, `!document.querySelector('#options').hidden`); open {
		t.Error("options open without the focus")
	}
	// Without a network the message is no option.
	b.run(t, js(write+`window.fetch = async () => { throw new TypeError('no network'); }; write('fight')`), until(`document.querySelector('#options').textContent.includes('did not respond')`),
		js(write+`press('ArrowDown'); press('Enter')`), until(`location.hash === '#/search?q=fight'`), settled())
	b.open(t)
}

// key presses a named key in the element with the focus.
func key(name string) action {
	return js(fmt.Sprintf(`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: %q, bubbles: true, cancelable: true}))`, name))
}

// testKeyboard: Tab reaches the skip link first and shows where it is, everywhere.
func testKeyboard(b *browser) {
	t := b.t
	b.run(t, at("#/movie/550"), chromedp.Reload(), settled())
	type step struct {
		ID, Name string
		Visible  bool
	}
	var steps []step
	for i := range 25 {
		b.run(t, chromedp.KeyEvent("\t"))
		at := value[step](t, b, `(() => {
			const e = document.activeElement, s = getComputedStyle(e);
			return {ID: e.id, Name: (e.innerText || e.getAttribute('aria-label') || e.tagName).slice(0, 40), Visible: s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2};
		})()`)
		if !at.Visible {
			t.Errorf("tab %d: focus on %q (%s) is not visible", i, at.Name, at.ID)
		}
		steps = append(steps, at)
	}
	if steps[0].ID != "skip" || !slices.ContainsFunc(steps, func(s step) bool { return s.ID == "search" }) {
		t.Errorf("25 tabs reach %v, want the skip link first and the search field", steps)
	}
	b.run(t, js(`document.querySelector('#skip').click()`), until(`document.activeElement.id === 'main' && location.hash === '#/movie/550'`))
}

// testFilters: a select keeps the focus while keys change it, although its view is drawn anew.
func testFilters(b *browser) {
	t := b.t
	press := func(id, drawn string) {
		t.Helper()
		b.run(t, js(fmt.Sprintf(`window.before = document.querySelector(%q)`, drawn)), chromedp.KeyEvent(kb.ArrowDown),
			until(fmt.Sprintf(`document.querySelector(%q) !== window.before && !document.querySelector('[aria-busy]')`, drawn)))
		if at := value[string](t, b, `document.activeElement.id`); at != id {
			t.Errorf("after a key in #%s the focus is at %q", id, at)
		}
	}
	b.run(t, at("#/discover/movie"), js(`document.querySelector('#discover-genre').focus()`))
	first := value[string](t, b, `document.querySelector('#discover-genre').options[1].value.slice(1)`)
	second := value[string](t, b, `document.querySelector('#discover-genre').options[2].value.slice(1)`)
	for _, id := range []string{first, second} {
		press("discover-genre", "#discover-genre")
		if hash := value[string](t, b, `location.hash`); hash != "#/discover/movie?genre="+id {
			t.Errorf("after a key the address is %q, want that of genre %s", hash, id)
		}
	}
	b.run(t, js(`document.querySelector('#discover-kind').focus()`))
	press("discover-kind", "#discover-kind")
	b.run(t, until(`document.querySelector('#language option[value="de-DE"]')`), js(`document.querySelector('#language').focus()`))
	press("language", "h1")
	b.run(t, js(`localStorage.clear()`))
	b.open(t)
	// A link leads to the heading of its view.
	b.run(t, js(`document.querySelector('#links a[href="#/release"]').focus(); document.activeElement.click()`), until(`document.activeElement.tagName === 'H1' && document.activeElement.textContent === 'The release'`), settled())
}

// testLanguage: the picked language is asked for and kept.
func testLanguage(b *browser) {
	t := b.t
	var movie struct{ Overview string }
	b.get(t, "/3/movie/550?language=de-DE", &movie)
	b.run(t, at("#/movie/550"), until(`document.querySelector('#language option[value="de-DE"]')`),
		js(`const p = document.querySelector('#language'); p.value = 'de-DE'; p.dispatchEvent(new Event('change'))`),
		until(fmt.Sprintf(`document.querySelector('.overview')?.textContent === %q && document.querySelector('.overview').lang === 'de-DE'`, movie.Overview)), settled())
	b.run(t, js(`const p2 = document.querySelector('#language'); p2.value = 'en-US'; p2.dispatchEvent(new Event('change'))`), until(`document.querySelector('.overview')?.lang === 'en-US'`), settled())
	// Only the region tells apart several rows of one language.
	names := value[[]string](t, b, `[...document.querySelectorAll('main [data-language]')].map((e) => e.innerText)`)
	for _, want := range []string{"Deutsch", "Español (Spain)", "Español (Mexico)"} {
		if !slices.Contains(names, want) {
			t.Errorf("languages %q lack %q", names, want)
		}
	}
	sorted := slices.Sorted(slices.Values(names))
	if len(slices.Compact(sorted)) != len(names) {
		t.Errorf("languages %q name one twice", names)
	}
}

// testPicker: the head has room for the longest name of a language, at the widths where its layout changes too.
func testPicker(b *browser) {
	t := b.t
	for _, width := range []int64{1280, 1217, 1216, 768, 360} {
		b.run(t, screen{width: width, height: 740, scheme: "light"}.set(), at("#/"), until(`document.querySelectorAll('#language option').length > 50`),
			js(`document.querySelector('#menu').setAttribute('aria-expanded', 'true')`))
		got := value[struct{ Picker, Longest, Page float64 }](t, b, read(t, "picker.js"))
		if got.Picker < got.Longest || got.Page > float64(width) {
			t.Errorf("at %d pixels the picker has %v of %v pixels, the page %v", width, got.Picker, got.Longest, got.Page)
		}
	}
	b.run(t, js(`document.querySelector('#menu').setAttribute('aria-expanded', 'false')`), screens[0].set())
}

// testSplice: the strip's parts are the response, a second ask is a 304, ticks change the request.
func testSplice(b *browser) {
	t := b.t
	b.run(t, at(views[10].route), until(`document.querySelector('#sum-check') && document.querySelector('#splice-language').value === 'en-US'`))
	type sums struct {
		Strip, Table, Length float64
		Names                []string
		Check                string
	}
	shown := value[sums](t, b, read(t, "sums.js"))
	if shown.Length < 1000 || shown.Strip != shown.Length || shown.Table != shown.Length || !strings.HasPrefix(shown.Check, "✓ equals Content-Length") {
		t.Errorf("strip %v, table %v, %q, want Content-Length %v in all", shown.Strip, shown.Table, shown.Check, shown.Length)
	}
	for _, name := range []string{"details", "credits", "images", "videos", "splice"} {
		if !slices.Contains(shown.Names, name) {
			t.Errorf("parts %q lack %s", shown.Names, name)
		}
	}
	b.run(t, chromedp.Click(chromedp.CSS("#ask-again")), until(`document.querySelector('#asked [data-status="304"]')`))
	if got := b.text(`#asked [data-status="304"]`); !strings.Contains(got, "304 Not Modified") || !regexp.MustCompile(`\b0 B\s+\d+\.\d ms`).MatchString(got) {
		t.Errorf("second ask = %q, want 304 with no bytes and a time", got)
	}
	// A part's bytes.
	b.run(t, until(`document.querySelector('section .excerpt').textContent.startsWith('{"adult":false')`),
		js(`document.querySelectorAll('button.part')[2].click()`), until(`document.querySelector('section .excerpt').textContent.startsWith('"cast":[{')`))
	for range 7 {
		b.run(t, js(`window.rows = document.querySelector('#asked tbody').lastChild; document.querySelector('#ask-again').click()`), until(`document.querySelector('#asked tbody').lastChild !== window.rows`))
	}
	if got := value[string](t, b, `[...document.querySelectorAll('#asked tbody tr')].map((r) => r.firstChild.textContent).join()`); got != "1,5,6,7,8,9" {
		t.Errorf("rows of nine asks = %s", got)
	}
	// Copies.
	for language, want := range map[string]string{"curl": "curl --compressed", "javascript": "await fetch", "python": "urllib.request", "go": "package main"} {
		b.run(t, js(fmt.Sprintf(`document.querySelector('[data-copy=%s]').click()`, language)),
			until(fmt.Sprintf(`document.querySelector('#copy-title').parentNode.querySelector('pre').textContent.includes(%q)`, want)))
	}
	// Ticks and unticks.
	b.run(t, js(`document.querySelector('.tick input[value="keywords"]').click()`), settled(), until(`document.querySelector('#splice-path').value.includes('keywords') && [...document.querySelectorAll('#parts tbody th')].some((e) => e.textContent === 'keywords')`))
	b.run(t, js(`document.querySelector('.tick input[value="credits"]').click()`), settled(), until(`![...document.querySelectorAll('#parts tbody th')].some((e) => e.textContent === 'credits')`))
	// Pages of lists are compressed as one.
	b.run(t, at("#/splice?path="+url.QueryEscape("/3/movie/popular")), until(`document.querySelector('#sum-check')`))
	if got := b.text("main"); !strings.Contains(got, "compresses pages of rows as one") {
		t.Errorf("view of a list = %.600q, want the reason for its one part", got)
	}
	// What the API refuses is shown in its words.
	b.run(t, at("#/splice?path="+url.QueryEscape("/3/movie/550?append_to_response="+strings.Repeat("credits,", 20)+"videos")), until(`document.querySelector('.refused')`))
	if got := b.text(".refused"); !strings.Contains(got, "Too many append to response objects") {
		t.Errorf("refusal = %q, want the API's", got)
	}
}

// testRequests: the field takes requests of either version, alone or with this server's address, and no others.
func testRequests(b *browser) {
	t := b.t
	b.run(t, at(views[10].route), until(`document.querySelector('#sum-check')`))
	ask := func(text, field, shown string) {
		t.Helper()
		b.run(t, js(fmt.Sprintf(`document.querySelector('.splice-result').replaceChildren(); document.querySelector('#splice-path').value = %q; document.querySelector('form.request').requestSubmit()`, text)),
			until(fmt.Sprintf(`document.querySelector('.splice-result').textContent.includes(%q)`, shown)))
		if got := value[string](t, b, `document.querySelector('#splice-path').value`); got != field {
			t.Errorf("the field has %q after asking for %q, want %q", got, text, field)
		}
	}
	ask(b.edge+"/3/movie/550?language=de-DE", "/3/movie/550?language=de-DE", "equals Content-Length")
	ask("/3/search/multi?query=who?", "/3/search/multi?query=who%3F", "Content-Length")
	ask("/3/search/multi", "/3/search/multi", "query must be provided")
	ask("https://api.themoviedb.org/3/movie/550", "https://api.themoviedb.org/3/movie/550", "begins with /3/ or /4/")
	ask("/5/movie/550", "/5/movie/550", "begins with /3/ or /4/")
	ask("/4/list/1", "/4/list/1", "")
	b.run(t, settled(), chromedp.Reload(), settled(), until(`document.querySelector('#splice-path')?.value === '/4/list/1'`))
	b.shows(t, "#/splice?path="+url.QueryEscape("https://api.themoviedb.org/3/movie/550"), "begins with /3/ or /4/")
}

// testCopies: a copy is announced in sight, also where pages have no clipboard, as over plain HTTP.
func testCopies(b *browser) {
	t := b.t
	b.run(t, at(views[10].route), until(`document.querySelector('#sum-check')`), js(`
		Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true});
		document.addEventListener('copy', () => { window.copied = document.activeElement.value; });`),
		chromedp.Click(chromedp.CSS("[data-copy=curl]")), until(`document.querySelector('.copied').textContent === 'Copied as curl.'`))
	if got := value[string](t, b, `window.copied`); !strings.HasPrefix(got, "curl ") || !strings.Contains(got, b.token) {
		t.Errorf("copied %.40q", got)
	}
	if at := value[string](t, b, `document.activeElement.dataset.copy + document.querySelectorAll('textarea').length`); at != "curl0" {
		t.Errorf("after the copy, focus and text fields are %q", at)
	}
	b.run(t, js(`document.execCommand = () => false`), chromedp.Click(chromedp.CSS("[data-copy=go]")), until(`document.querySelector('.copied').textContent.includes('does not let pages copy')`))
	b.open(t)
}

// testRefusals: what is missing, and routes that there are not.
func testRefusals(b *browser) {
	t := b.t
	b.shows(t, "#/movie/999999999", "Not found", "The resource you requested could not be found.", "code 34")
	b.shows(t, "#/nowhere", "no such view")
	b.shows(t, "#/list/movie/nothing", "Try again")
}

// testBroken: a response that breaks off is an error of the network, not of the page.
func testBroken(b *browser) {
	t := b.t
	b.run(t, at("#/"), intercept(`
		if (url.pathname === '/3/person/287') {
			return new Response(new ReadableStream({start(c) { c.enqueue(new TextEncoder().encode('{"id":')); c.error(new TypeError('cut')); }}));
		}`))
	b.shows(t, "#/person/287", "No response", "broke off")
	b.run(t, until(`!document.querySelector('#offline').hidden`), js(`window.fetch = window.edgeFetch`),
		chromedp.Click(chromedp.CSS(".failure button")), until(`document.title.startsWith('Brad Pitt') && document.querySelector('#offline').hidden`), settled())
}

// testTheme: the switch overrides the system's theme and is kept.
func testTheme(b *browser) {
	t := b.t
	ground := func() string { return value[string](t, b, `getComputedStyle(document.body).backgroundColor`) }
	b.run(t, at("#/"))
	light := ground()
	b.run(t, js(`const s = document.querySelector('#theme'); s.value = 'dark'; s.dispatchEvent(new Event('change'))`))
	dark := ground()
	b.run(t, chromedp.Reload(), settled())
	if kept := ground(); light == dark || kept != dark {
		t.Errorf("ground light %s, dark %s, after a reload %s", light, dark, kept)
	}
	b.run(t, js(`const s2 = document.querySelector('#theme'); s2.value = ''; s2.dispatchEvent(new Event('change'))`))
}

// everyPart reports whether all parts run, on all screens: in long tests, and where pictures are taken.
func everyPart() bool { return sharedtest.IsLong() || os.Getenv("REELSPLICE_PICTURES") != "" }

// testScreens checks each view for accessibility, and takes its picture. All four screens take long.
func testScreens(b *browser) {
	t := b.t
	b.open(t)
	some := screens[:1]
	if everyPart() {
		some = screens
	}
	for _, s := range some {
		b.run(t, s.set())
		for _, v := range views {
			b.run(t, at(v.route))
			b.check(t, s.name+" "+v.name)
			b.picture(t, v.name+"-"+s.name)
		}
	}
	b.run(t, screens[0].set())
}

// offline takes the network away, or gives it back.
func offline(is bool) action {
	rules := []*network.Conditions{}
	if is {
		rules = append(rules, &network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	}
	return chromedp.Steps(command(network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}),
		command(network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: rules}))
}

// testOffline: the page says that the edge does not respond, which the browser's own word about networks does not mean.
func testOffline(b *browser) {
	t := b.t
	b.run(t, at("#/movie/550"), offline(true))
	// No part before has asked for this movie: the browser's cache does not have it.
	b.run(t, at("#/movie/13"), until(`document.querySelector('.failure') && !document.querySelector('#offline').hidden`))
	b.picture(t, "offline")
	if got := b.text(".failure"); !strings.Contains(got, "did not respond") {
		t.Errorf("without a network: %q", got)
	}
	b.run(t, offline(false), chromedp.Click(chromedp.CSS(".failure button")), until(`document.title.startsWith('Forrest Gump') && document.querySelector('#offline').hidden`), settled(),
		js(`dispatchEvent(new Event('offline'))`))
	if !value[bool](t, b, `document.querySelector('#offline').hidden`) {
		t.Error("the page took the browser's word for it")
	}
}

// testReference: the reference finds operations by path, text and parameter, in the order that people need, and an
// operation that is opened shows its response from this server.
func testReference(b *browser) {
	t := b.t
	b.open(t)
	b.run(t, at("#/reference"), until(`document.querySelectorAll('.operation').length > 100`), settled())
	b.picture(t, "reference")
	if first := b.text(".reference .section h2"); first != "Movies" {
		t.Errorf("the first group is %q", first)
	}
	shown := func(words string) int {
		b.run(t, js(fmt.Sprintf(`const f = document.querySelector('#filter'); f.value = %q; f.dispatchEvent(new Event('input'))`, words)))
		return value[int](t, b, `document.querySelectorAll('.operation:not([hidden])').length`)
	}
	all := shown("")
	for _, words := range []string{"movie", "images", "/3/movie", "Movie images", "with_genres"} {
		if n := shown(words); n == 0 || n >= all {
			t.Errorf("%q finds %d of %d operations", words, n, all)
		}
	}
	if n := shown("nothing has this word"); n != 0 {
		t.Errorf("%d operations have no such word", n)
	}
	if got := b.text(".reference .none"); !strings.Contains(got, "No operation") {
		t.Errorf("without a find: %q", got)
	}
	shown("")
	b.run(t, js(`document.querySelector('#operation-movieDetails summary').click()`), until(`document.querySelector('#operation-movieDetails .excerpt')`))
	if got := b.text("#operation-movieDetails .excerpt"); !strings.Contains(got, `"title"`) {
		t.Errorf("response of the reference = %.300q", got)
	}
	b.run(t, js(`document.querySelector('#movieDetails-movie_id').value = '550'; document.querySelector('#operation-movieDetails form').requestSubmit()`),
		until(`document.querySelector('#operation-movieDetails .excerpt')?.textContent.includes('Fight Club')`))
	b.run(t, js(`document.querySelector('#movieDetails-movie_id').value = '1'; document.querySelector('#operation-movieDetails form').requestSubmit()`),
		until(`document.querySelector('#operation-movieDetails .refused')?.textContent.includes('404')`))
	b.run(t, at("#/reference/tvSeasonDetails"), until(`document.querySelector('#operation-tvSeasonDetails .excerpt')`))
	if at := b.text("#links [aria-current]"); at != "Reference" {
		t.Errorf("the current link is %q", at)
	}
	b.run(t, screens[1].set(), js(`scrollTo(0, 0)`))
	b.picture(t, "reference-phone")
	if wide := value[int](t, b, `document.documentElement.scrollWidth`); wide > int(screens[1].width) {
		t.Errorf("the reference is %d pixels wide on a phone", wide)
	}
	if cut := value[[]string](t, b, `[...document.querySelectorAll('.operation[open] :is(.scroll, .parameters code)')].filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth || e.getClientRects().length > 1).map((e) => e.className + ' ' + e.textContent.slice(0, 40))`); len(cut) > 0 {
		t.Errorf("parameters on a phone are cut: %q", cut)
	}
	b.run(t, screens[0].set())
}

// check runs the checks of accessibility in the page.
func (b *browser) check(t *testing.T, view string) {
	t.Helper()
	for _, p := range value[[]string](t, b, read(t, "accessible.js")) {
		t.Errorf("%s: %s", view, p)
	}
}

// TestNamespaces: the names that the page offers are those of the operations table.
func TestNamespaces(t *testing.T) {
	source, err := os.ReadFile("assets/namespaces.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range api.Namespaces() {
		var want []string
		for _, name := range api.AppendNames(namespace) {
			// Those of sessions need an account, and patterns are numbers that the page does not know.
			if name.Name != "account_states" && !strings.Contains(name.Name, "{") {
				want = append(want, name.Name)
			}
		}
		slices.Sort(want)
		line := regexp.MustCompile(`(?m)^  ` + namespace + `: \[(.*)\],$`).FindSubmatch(source)
		if namespace == "configuration" {
			continue // no resource
		}
		if line == nil {
			t.Errorf("namespaces.js lacks %s: want '%s'", namespace, strings.Join(want, "', '"))
			continue
		}
		if got := strings.Split(strings.ReplaceAll(string(line[1]), "'", ""), ", "); !slices.Equal(got, want) {
			t.Errorf("namespaces.js has %s of %s, want '%s'", got, namespace, strings.Join(want, "', '"))
		}
	}
}
