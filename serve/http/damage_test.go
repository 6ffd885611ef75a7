package http

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/releasetest"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// damageURIs are requests that use all files of damageWorld.
var damageURIs = []string{
	"/3/movie/550", "/3/movie/550?append_to_response=credits,images,videos,keywords,release_dates",
	"/3/movie/550?language=de-DE&append_to_response=similar,recommendations,translations,watch/providers,lists",
	"/3/movie/550/images?include_image_language=en,null", "/3/movie/550/credits", "/3/movie/13", "/3/movie/603/reviews",
	"/3/tv/1399", "/3/tv/1399?append_to_response=season/1,season/2,aggregate_credits", "/3/tv/1399/season/1/episode/1",
	"/3/person/287?append_to_response=combined_credits,images", "/3/find/tt0137523?external_source=imdb_id", "/3/movie/999999999",
	"/3/movie/550/changes", "/3/movie/changes", "/3/list/1", "/4/list/1", "/3/genre/movie/list",
	"/3/search/movie?query=fight", "/3/search/multi?query=the", "/3/search/person?query=brad", "/3/movie/popular", "/3/movie/now_playing?region=US",
	"/3/trending/all/week", "/3/discover/movie?with_genres=18&sort_by=vote_average.desc&vote_count.gte=100",
	"/3/discover/tv?first_air_date.gte=2000-01-01&sort_by=name.asc", "/3/discover/movie?with_cast=287&region=US&release_date.gte=1990-01-01&with_release_type=3",
	"/3/movie?ids=550,13,603&append_to_response=credits",
}

var buildDamage sync.Once

// damageWorld is an Edge over a copy of a release, in the folder dir, of the sample. That release was
// made upon another one, so that it has packs of both, and changes.
func damageWorld(tb testing.TB, change func(*config)) (w *world, dir string) {
	tb.Helper()
	w = bareWorld(tb, change)
	w.cfg.Date = "2025-06-01"
	shared := filepath.Join(sharedDir(tb), "damage")
	buildDamage.Do(func() {
		c := build.DefaultConfig()
		c.Releases = shared
		movies := slices.DeleteFunc(buildtest.Sample(tb, "movies"), func(row string) bool { return len(row)%3 == 0 && !strings.Contains(row, `"id":550`) })
		for _, rows := range [][]string{movies[:len(movies)-9], movies} {
			c.Catalog = tb.TempDir()
			buildtest.WriteCatalog(tb, c.Catalog, rows...)
			for name, kind := range map[string]fragment.Kind{"tv": fragment.KindTV, "people": fragment.KindPerson, "lists": fragment.KindList} {
				buildtest.WriteKind(tb, c.Catalog, kind, buildtest.Sample(tb, name)...)
			}
			buildtest.WriteChanges(tb, c.Catalog, `{"kind":"movie","id":550,"field":"overview","time":1748700000,"iso_639_1":"en","iso_3166_1":"US","old":"A","new":"B"}`)
			r, err := build.Run(tb.Context(), c)
			if err != nil {
				tb.Fatal(err)
			}
			c.Previous = r.Release
		}
		servetest.Publish(tb, c.Releases, c.Previous)
	})
	id, err := store.Current(tb.Context(), store.Folder{Dir: shared})
	if err != nil {
		tb.Fatal(err)
	}
	dir = store.Folder{Dir: w.dir}.Path(id)
	if err := os.CopyFS(dir, os.DirFS(store.Folder{Dir: shared}.Path(id))); err != nil {
		tb.Fatal(err)
	}
	servetest.Publish(tb, w.dir, id)
	w.open(tb)
	return w, dir
}

// files returns the names of the files of the release that is served.
func (w *world) files() (names []string) {
	for _, f := range held(w).Reader.Manifest().Files() {
		names = append(names, f.Name)
	}
	return names
}

// TestFilesCut cuts each file of the release that is served while clients ask, over TCP and
// TLS. They get what they got before, a 500, or an end in the midst of a
// response; the server goes on, and names the file.
func TestFilesCut(t *testing.T) {
	for _, file := range []string{"part-", "index-", "pack-", "table-movie", "table-changes", "table-list"} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			cutFile(t, file)
		})
	}
}

func cutFile(t *testing.T, prefix string) {
	t.Helper()
	var logged servetest.LockedBuffer
	w, dir := damageWorld(t, func(c *config) { c.Log = slog.New(slog.NewTextHandler(&logged, nil)) })
	s := wired(t, w)
	name := servetest.FileOf(t, held(w).Reader, prefix, 550)
	want := map[string]string{}
	for _, uri := range damageURIs {
		want[uri] = w.get(t, uri).plain
	}
	var clients sync.WaitGroup
	var stop atomic.Bool
	var asked, failed, cut atomic.Int64
	for i, server := range []*Server{s.fast, s.secure} {
		clients.Go(func() {
			conn := server.dial(t)
			r := bufio.NewReader(conn)
			for k := i; !stop.Load(); k++ {
				uri := damageURIs[k/2%len(damageURIs)] // twice in a row: the second from what was prepared
				status, body, err := s.askOnce(conn, r, uri, k%5 > 0)
				asked.Add(1)
				switch {
				case err != nil:
					cut.Add(1)
					_ = conn.Close()
					conn = server.dial(t)
					r.Reset(conn)
				case status == 500:
					failed.Add(1)
				case body != want[uri]:
					t.Errorf("%s = %d %.200q, want %.200q, 500 or an end", uri, status, body, want[uri])
				}
			}
		})
	}
	enough := func(n int64) {
		for from := asked.Load(); asked.Load() < from+n && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	enough(int64(4 * len(damageURIs)))
	// Whole pages, so that nothing of the file reads as zeros: see TestLastPage.
	st, err := os.Stat(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int64{st.Size() / 2 &^ 4095, 0} {
		if err := os.Truncate(filepath.Join(dir, name), size); err != nil {
			t.Fatal(err)
		}
		enough(int64(4 * len(damageURIs)))
	}
	stop.Store(true)
	clients.Wait()
	w.checkSizes()
	t.Logf("%d requests, %d of them 500, %d cut short", asked.Load(), failed.Load(), cut.Load())
	if _, err := w.releases.Damage(); err == nil || !strings.Contains(err.Error(), name+": offset ") || !errors.Is(err, release.ErrCorrupt) {
		t.Errorf("damage = %v, want that of %s", err, name)
	}
	if text := logged.String(); !strings.Contains(text, "file="+name) {
		t.Errorf("the log has no file=%s:\n%s", name, text)
	}
	if a := w.get(t, "/3/genre/movie/list"); a.Status != 200 {
		t.Errorf("what needs no release = %d, want 200", a.Status)
	}
}

// askOnce asks over a connection and returns status and body, inflated. Whatever ends the
// connection before the end of the body is the error.
func (s *wireServer) askOnce(conn net.Conn, r *bufio.Reader, uri string, gz bool) (status int, body string, err error) {
	coding := "identity"
	if gz {
		coding = "gzip"
	}
	rs, raw, err := roundTrip(conn, r, s.token, "GET", uri, "Accept-Encoding: "+coding)
	if err != nil {
		return 0, "", err
	}
	if rs.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err == nil {
			raw, err = io.ReadAll(z)
		}
		if err != nil {
			return rs.StatusCode, fmt.Sprintf("%d bytes: %v", len(raw), err), nil
		}
	}
	return rs.StatusCode, string(raw), nil
}

// prepare asks for a URI until there is a prepared response.
func (s *wireServer) prepare(t *testing.T, uri string) (want string) {
	t.Helper()
	a := s.asker(t)
	for range 3 {
		_, want = a.ask(t, "GET", uri)
	}
	sharedtest.Eventually(t, "what was asked for again has a prepared response", func() bool { return s.isPrepared(uri) })
	return want
}

// cutPacks cuts all packs of a release, by their lengths.
func cutPacks(t *testing.T, w *world, dir string, size func(n int64) int64) {
	t.Helper()
	for _, name := range w.files() {
		if path := filepath.Join(dir, name); strings.HasPrefix(name, "pack-") {
			st, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, size(st.Size()))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestPreparedCut: a prepared response whose bytes the kernel cannot read ends with the
// connection, never with other bytes, and is not used again.
func TestPreparedCut(t *testing.T) {
	w, dir := damageWorld(t, nil)
	s := wired(t, w)
	const uri = "/3/tv/1399"
	s.prepare(t, uri)
	cutPacks(t, w, dir, func(int64) int64 { return 0 })
	c := s.dial(t)
	if status, body, err := s.askOnce(c, bufio.NewReader(c), uri, true); err == nil && status != 500 {
		t.Errorf("without its packs: %d %.100q, want an end", status, body)
	}
	if s.isPrepared(uri) {
		t.Error("the prepared response is still there")
	}
	if _, first := w.releases.Damage(); first == nil {
		t.Error("no damage is noted")
	}
	c = s.dial(t)
	if status, _, err := s.askOnce(c, bufio.NewReader(c), uri, true); status != 500 || err != nil {
		t.Errorf("asked again: %d, %v, want 500", status, err)
	}
}

// A failingWriter writes nothing.
type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestUnreadableShown: damage that the kernel finds while fasthttp sends a body is looked for and logged.
func TestUnreadableShown(t *testing.T) {
	var logged servetest.LockedBuffer
	w := newWorld(t, func(c *config) { c.Log = slog.New(slog.NewTextHandler(&logged, nil)) }, servetest.Version(1))
	rs := w.edge.Begin(w.request("/3/movie/1"))
	defer rs.End()
	fault := &net.OpError{Op: "write", Err: os.NewSyscallError("write", syscall.EFAULT)}
	if _, err := (&body{edge: w.edge, rs: rs}).WriteTo(failingWriter{fault}); !errors.Is(err, syscall.EFAULT) {
		t.Fatalf("WriteTo = %v, want EFAULT", err)
	}
	if !strings.Contains(logged.String(), "cut short") {
		t.Errorf("log = %q, want that a response was cut short", logged.String())
	}
}

// TestLastPage: what is left of the page that a file ends in reads as zeros, and no fault
// shows it. A look at the length of the file does.
func TestLastPage(t *testing.T) {
	w, dir := damageWorld(t, nil)
	s := wired(t, w)
	const uri = "/3/movie/550?append_to_response=credits,images"
	s.prepare(t, uri)
	cutPacks(t, w, dir, func(n int64) int64 { return max(64, (n-1)&^4095+1) })
	w.checkSizes()
	if _, blocks := held(w).Reader.Damage(); blocks < 10 || s.isPrepared(uri) {
		t.Errorf("%d damaged blocks, a prepared response is left: %v, want the last of each pack, and none", blocks, s.isPrepared(uri))
	}
}

// TestDamageShown: damage is named on /readyz, counted in the metrics and logged with file,
// offset and path, a few times a second, without what the query says. A 304 is for what was
// checked alone, and a scrub ends what was prepared before.
func TestDamageShown(t *testing.T) {
	log := new(servetest.LockedBuffer)
	w, dir := damageWorld(t, func(c *config) { c.Log = slog.New(slog.NewTextHandler(log, nil)) })
	s := wired(t, w)
	const uri = "/3/movie/550?append_to_response=credits,images"
	s.prepare(t, uri)
	tag := w.get(t, uri).ETag
	for _, name := range w.files() {
		if strings.HasPrefix(name, "pack-") {
			st, err := os.Stat(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			for off := int64(2048); off < st.Size(); off += 4096 {
				releasetest.Flip(t, filepath.Join(dir, name), off, 0)
			}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.releases.Scrub(ctx, 0, 1<<40) }()
	sharedtest.Eventually(t, "the release is checked", func() bool { return strings.Contains(log.String(), "release checked") })
	stop()
	<-done
	if s.isPrepared(uri) {
		t.Error("a prepared response is left")
	}
	start := time.Now()
	for range 50 {
		rq := w.request(uri + "&api_key=secret")
		rq.IfNoneMatch = tag
		if a := w.do(t, rq); a.Status != 500 || a.Cache != servetest.NotKept || len(a.ETag) > 0 {
			t.Fatalf("damaged, by its tag = %d, %s, %s, want 500 that nobody keeps", a.Status, a.Cache, a.ETag)
		}
	}
	text := log.String()
	if n, took := strings.Count(text, "request failed"), time.Since(start); n < 1 || n > 20*(2+int(took.Seconds())) {
		t.Errorf("%d lines about 50 requests in %v, want 20 a second at most", n, took)
	}
	for _, want := range []string{"file=pack-", "offset=", `path=/3/movie/550 `, "release=" + w.releases.ID()} {
		if !strings.Contains(text, want) {
			t.Errorf("the log lacks %q:\n%.2000s", want, text)
		}
	}
	if strings.Contains(text, "secret") {
		t.Error("the log has a credential")
	}
	if blocks, first := w.releases.Damage(); blocks < 100 || first == nil || !strings.Contains(first.Error(), "pack-") {
		t.Errorf("damage = %v in %d blocks, want that of packs", first, blocks)
	}
}
