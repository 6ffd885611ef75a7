package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/edge"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// TestMissing: what requests ask for and the release lacks is written once each, as crawl reads it, and again in a file
// that was taken away. Nothing else of a request is written.
func TestMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing")
	cfg := configured(t)
	cfg.Releases, cfg.Missing, cfg.Poll = t.TempDir(), path, 5*time.Millisecond
	servetest.BuildSample(t, cfg.Releases)
	good := servetest.Issue(t, cfg.Tokens, "test", time.Time{})
	s := running(t, cfg)
	ask := func(token string, paths ...string) {
		t.Helper()
		for _, p := range paths {
			statusOf(s.URL()+"/3"+p, token)
		}
	}
	ask("rsp_unknown", "/movie/900076")
	ask(good, "/movie/900077?api_key=secret&language=de", "/movie/900077-a-name", "/movie/900077/credits", "/tv/900078/season/1", "/tv/900078/season/1/episode/2",
		"/tv/194764/season/77", "/person/900079/images", "/movie/tt0000080", "/keyword/900081", "/collection/900082", "/company/900083", "/network/900084",
		"/movie/latest", "/review/5488c29bc3a3686f4a00ffff", "/nothing/85", "/find/tt0000086?external_source=imdb_id", "/find/87?external_source=tvdb_id", "/movie/550",
		"/movie/2147483647", "/movie/2147483648", "/tv/9223372036854775807", "/tv/4294967296/season/1", "/movie/tt2147483648", "/find/tt4294967296?external_source=imdb_id")
	const want = "movie 900077\ntv 900078\nperson 900079\ntt0000080\nkeyword 900081\ncollection 900082\ncompany 900083\nnetwork 900084\ntt0000086\nmovie 2147483647\n"
	written := func(want string) {
		t.Helper()
		sharedtest.Eventually(t, "the file has "+want, func() bool {
			got, _ := os.ReadFile(path)
			return string(got) == want
		})
	}
	written(want)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	ask(good, "/movie/900077", "/movie/900077")
	written("movie 900077\n")
}

// TestMissingFile: the file and the memory beside it are bounded, lines stand once and whole, and a disk that fails is
// logged and harmless.
func TestMissingFile(t *testing.T) {
	var log strings.Builder
	dir := filepath.Join(t.TempDir(), "later")
	open := func(name string) *missingFile {
		log.Reset()
		return newMissingFile(name, slog.New(slog.NewTextHandler(&log, nil)))
	}
	path := filepath.Join(dir, "missing")
	has := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("the file has %.40q, %v, want %.40q", got, err, want)
		}
	}
	movie := func(id int) edge.Missing { return edge.Missing{Kind: fragment.KindMovie, ID: uint64(id)} }
	m := open(path)
	for i := range 2 * maxMissing { // nobody writes: note does not wait
		m.add(movie(i%2 + 1))
	}
	m.write()
	if !strings.Contains(log.String(), "missing resources are not written") {
		t.Errorf("log has %q, want the folder that is not there", log.String())
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	m.write()
	has("movie 1\nmovie 2\n")
	servetest.WriteFile(t, path, "movie 2\ntv 3\nmovie 4 and torn")
	m = open(path) // the next run
	m.add(movie(2))
	m.add(movie(5))
	m.write()
	has("movie 2\ntv 3\nmovie 4 and torn\nmovie 5\n")
	line := strings.Repeat("#", 1023) + "\n"
	servetest.WriteFile(t, path, strings.Repeat(line, maxMissingBytes/len(line)-1)+line[:1000]+"\n")
	for i := range 10 {
		m.add(movie(100 + i))
	}
	m.write()
	if info, err := os.Stat(path); err != nil || info.Size() > maxMissingBytes || !strings.Contains(log.String(), "fetch its ids with crawl --ids") {
		t.Errorf("the file has %d bytes, %v, want %d at most and a warning: %s", info.Size(), err, maxMissingBytes, log.String())
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	m = open("/dev/full")
	for range 3 {
		m.add(movie(1))
		m.write()
	}
	if !strings.Contains(log.String(), "no space left") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("log has %q, want the full disk once", log.String())
	}
}
