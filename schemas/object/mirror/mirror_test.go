package mirror

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/schemas/object/objecttest"
)

// world is a bucket and a machine's folder of mirrors.
type world struct {
	*testing.T
	s    *objecttest.Server
	dir  string
	puts time.Duration
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{T: t, s: objecttest.New(t), dir: t.TempDir()}
}

func (w *world) url() string { return w.s.URL("c/catalog") }

func (w *world) open(o Options) *Mirror {
	w.Helper()
	if o.Dir == "" {
		o.Dir = w.dir
	}
	m, err := Open(w.Context(), w.url(), o)
	if err != nil {
		w.Fatal(err)
	}
	return m
}

func (w *world) refused(o Options, want ...string) {
	w.Helper()
	if o.Dir == "" {
		o.Dir = w.dir
	}
	m, err := Open(w.Context(), w.url(), o)
	if err == nil {
		w.close(m)
		w.Errorf("Open: no error, want %q", want)
		return
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			w.Errorf("Open: %v, want %q in it", err, text)
		}
	}
	if strings.Contains(err.Error(), "?") || strings.Contains(err.Error(), "\n") {
		w.Errorf("Open: %q", err)
	}
}

func (w *world) close(m *Mirror) {
	w.Helper()
	if err := m.Close(w.Context()); err != nil {
		w.Error(err)
	}
}

func (w *world) push(m *Mirror) {
	w.Helper()
	if err := m.Push(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// put writes a file as ingest does: under another name first.
func (w *world) put(m *Mirror, name, text string) {
	w.Helper()
	p := filepath.Join(m.Dir(), name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(p+".tmp", []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
	w.puts += time.Second // some file systems tell no times of a few milliseconds apart
	later := time.Now().Add(w.puts)
	if err := errors.Join(os.Chtimes(p+".tmp", later, later), os.Rename(p+".tmp", p)); err != nil {
		w.Fatal(err)
	}
}

// files returns the visible files at the top of a mirror as name=text.
func (w *world) files(m *Mirror) string {
	w.Helper()
	entries, err := os.ReadDir(m.Dir())
	if err != nil {
		w.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if data, err := os.ReadFile(filepath.Join(m.Dir(), e.Name())); err == nil {
			all = append(all, e.Name()+"="+string(data))
		}
	}
	return strings.Join(all, " ")
}

func (w *world) wantFiles(m *Mirror, want string) {
	w.Helper()
	if got := w.files(m); got != want {
		w.Errorf("the folder has %q, want %q", got, want)
	}
}

// ingest opens, writes files given as name and text, pushes and closes.
func (w *world) ingest(o Options, files ...string) {
	w.Helper()
	o.Write = true
	m := w.open(o)
	for i := 0; i < len(files); i += 2 {
		w.put(m, files[i], files[i+1])
	}
	w.push(m)
	w.close(m)
}

func gets(requests []string) []string {
	return slices.DeleteFunc(requests, func(r string) bool {
		return !strings.HasPrefix(r, "GET ") || !strings.Contains(r, ".parquet")
	})
}

func TestRoundTrip(t *testing.T) {
	w := newWorld(t)
	w.refused(Options{}, "no catalogue at s3://bucket/c/catalog/: run ingest first")
	w.ingest(Options{}, "movie.parquet", "m1", "person.parquet", "p1", "ingest-report.json", "{}", "quarantine/a.ndjson", "bad", ".ingest-1/x", "tmp")
	if got, want := strings.Join(w.s.Keys(t, ""), " "), "c/catalog/ingest-report.json c/catalog/movie.parquet c/catalog/person.parquet c/catalog/quarantine/a.ndjson"; got != want {
		t.Errorf("the bucket has %s, want %s", got, want)
	}

	// Another machine reads: what is at the top, no quarantine.
	m := w.open(Options{Dir: t.TempDir()})
	w.wantFiles(m, "ingest-report.json={} movie.parquet=m1 person.parquet=p1")
	if _, err := os.Stat(filepath.Join(m.Dir(), "quarantine")); err == nil {
		t.Error("the quarantine was brought")
	}
	if got, want := m.URL(filepath.Join(m.Dir(), "quarantine", "a.ndjson")), "s3://bucket/c/catalog/quarantine/a.ndjson"; got != want {
		t.Errorf("URL = %s, want %s", got, want)
	}
	if got := m.URL("/elsewhere"); got != "/elsewhere" {
		t.Errorf("URL(/elsewhere) = %s", got)
	}
	if err := m.Push(t.Context()); err == nil {
		t.Error("Push of a mirror for reading: no error")
	}
	w.close(m)

	// This machine has all of it: nothing is brought, neither for reading nor again.
	w.s.Requests()
	for _, write := range []bool{false, true, false} {
		m := w.open(Options{Write: write})
		if got := w.files(m); !strings.Contains(got, "movie.parquet=m1 person.parquet=p1") {
			t.Errorf("the folder has %q", got)
		}
		w.close(m)
	}
	if got := gets(w.s.Requests()); len(got) > 0 {
		t.Errorf("brought again: %s", got)
	}

	// One file changes: one is taken and one brought.
	w.ingest(Options{Dir: t.TempDir()}, "movie.parquet", "m2")
	w.s.Requests()
	m = w.open(Options{})
	w.wantFiles(m, "ingest-report.json={} movie.parquet=m2 person.parquet=p1")
	w.close(m)
	if got := gets(w.s.Requests()); len(got) != 1 {
		t.Errorf("brought %s, want one", got)
	}
}

// TestOrder looks at the order of uploads, and at that of a file that was removed.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	w.ingest(Options{}, "old.parquet", "x")
	m := w.open(Options{Write: true})
	for _, name := range []string{"ingest-report.json", "ingest-report.html", "movie.parquet", "movie.overlay.parquet", "person.parquet", "removed.parquet", "quarantine/q.ndjson"} {
		w.put(m, name, name)
	}
	if err := os.Remove(filepath.Join(m.Dir(), "old.parquet")); err != nil {
		t.Fatal(err)
	}
	w.s.Requests()
	w.push(m)
	var got []string
	for _, r := range w.s.Requests() {
		method, key, _ := strings.Cut(r, " /bucket/c/catalog/")
		if method == "PUT" || method == "DELETE" {
			got = append(got, strings.ToLower(method[:1])+" "+key)
		}
	}
	want := []string{
		"p .writing.json", "p quarantine/q.ndjson", "p movie.overlay.parquet", "p removed.parquet", "p movie.parquet", "p person.parquet",
		"p ingest-report.html", "p ingest-report.json", "d old.parquet", "d .writing.json",
	}
	if !slices.Equal(got, want) {
		t.Errorf("writes are %q, want %q", got, want)
	}
	w.close(m)
	if keys := w.s.Keys(t, "c/catalog/."); len(keys) > 0 {
		t.Errorf("left behind: %s", keys)
	}
}

func TestLock(t *testing.T) {
	w := newWorld(t)
	w.ingest(Options{}, "movie.parquet", "m1")
	m := w.open(Options{Write: true})
	elsewhere := t.TempDir()
	w.refused(Options{Write: true}, "another ingest of this machine")
	w.refused(Options{Write: true, Dir: elsewhere}, "s3://bucket/c/catalog/: locked by an ingest on ", "process ", "--break-lock or remove s3://bucket/c/catalog/.lock.json")

	// Reading goes on meanwhile.
	w.close(w.open(Options{Dir: elsewhere}))
	w.close(w.open(Options{}))

	// Who breaks the lock has it; who had it writes nothing, and leaves it alone.
	n := w.open(Options{Write: true, Dir: elsewhere, BreakLock: true})
	w.put(m, "movie.parquet", "m2")
	if err := m.Push(t.Context()); err == nil || !strings.Contains(err.Error(), "the lock was broken: no object is written") {
		t.Errorf("Push: %v", err)
	}
	w.close(m)
	w.refused(Options{Write: true}, "locked by")
	w.put(n, "movie.parquet", "m3")
	w.push(n)
	w.close(n)
	if got := string(w.s.Get(t, "c/catalog/movie.parquet")); got != "m3" {
		t.Errorf("the bucket has %s, want m3", got)
	}
	w.close(w.open(Options{Write: true}))
}

// TestLockElsewhere has locks that are old or not understood.
func TestLockElsewhere(t *testing.T) {
	w := newWorld(t)
	w.s.Put(t, "c/catalog/.lock.json", []byte(`{"id":"x","host":"old","pid":7,"started":"2020-01-02T03:04:05Z"}`))
	w.refused(Options{Write: true}, "an ingest on old (process 7) since 2020-01-02T03:04:05Z", "hours ago")
	w.s.Put(t, "c/catalog/.lock.json", []byte("what?"))
	w.refused(Options{Write: true}, "an unnamed ingest")
	w.close(w.open(Options{Write: true, BreakLock: true}))
}

// TestLockRace lets several ingests begin at once: one goes on.
func TestLockRace(t *testing.T) {
	w := newWorld(t)
	type result struct {
		m   *Mirror
		err error
	}
	results := make(chan result)
	for range 5 {
		dir := t.TempDir()
		go func() {
			m, err := Open(w.Context(), w.url(), Options{Write: true, Dir: dir})
			results <- result{m, err}
		}()
	}
	var got []*Mirror
	for range 5 {
		if r := <-results; r.err == nil {
			got = append(got, r.m)
		} else if !strings.Contains(r.err.Error(), "locked by") {
			t.Error(r.err)
		}
	}
	for _, m := range got {
		w.close(m)
	}
	if len(got) != 1 {
		t.Errorf("%d have the lock, want 1", len(got))
	}
}

func TestLockWithoutConditions(t *testing.T) {
	w := newWorld(t)
	w.s.SetFault(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("If-None-Match") == "" {
			return false
		}
		rw.WriteHeader(http.StatusNotImplemented)
		return true
	})
	m := w.open(Options{Write: true})
	w.refused(Options{Write: true, Dir: t.TempDir()}, "locked by")
	w.close(m)
	if keys := w.s.Keys(t, ""); len(keys) > 0 {
		t.Errorf("left behind: %s", keys)
	}
}

// TestUnfinished ends an ingest before its push, and within.
func TestUnfinished(t *testing.T) {
	w := newWorld(t)
	w.ingest(Options{}, "movie.parquet", "m1", "person.parquet", "p1")
	m := w.open(Options{Write: true})
	w.put(m, "movie.parquet", "m2")
	w.put(m, ".ingest-1/checkpoint", "half")
	w.close(m)

	// A build does not see it; the next ingest does.
	r := w.open(Options{})
	w.wantFiles(r, "movie.parquet=m1 person.parquet=p1")
	w.close(r)
	m = w.open(Options{Write: true})
	w.wantFiles(m, "movie.parquet=m2 person.parquet=p1")
	if _, err := os.Stat(filepath.Join(m.Dir(), ".ingest-1", "checkpoint")); err != nil {
		t.Error(err)
	}

	// The push ends after the first kind. Until the next, nothing is built of it.
	w.put(m, "person.parquet", "p2")
	w.s.SetFault(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || !strings.Contains(r.URL.Path, "person") {
			return false
		}
		rw.WriteHeader(http.StatusForbidden)
		return true
	})
	if err := m.Push(t.Context()); err == nil || !strings.Contains(err.Error(), "s3://bucket/c/catalog/person.parquet") {
		t.Errorf("Push: %v", err)
	}
	w.s.SetFault(nil)
	w.close(m)
	w.refused(Options{}, "being written by an ingest on", "the same ingest again")
	m = w.open(Options{Write: true})
	w.wantFiles(m, "movie.parquet=m2 person.parquet=p2")
	w.push(m)
	w.close(m)
	r = w.open(Options{})
	w.wantFiles(r, "movie.parquet=m2 person.parquet=p2")
	w.close(r)
}

// TestGivenUp changes the catalogue behind the back of an unfinished ingest.
func TestGivenUp(t *testing.T) {
	w := newWorld(t)
	w.ingest(Options{}, "movie.parquet", "m1", "person.parquet", "p1")
	m := w.open(Options{Write: true})
	w.put(m, "movie.parquet", "m2")
	w.put(m, ".ingest-1/checkpoint", "half")
	w.put(m, "quarantine/q.ndjson", "bad")
	w.close(m)
	w.ingest(Options{Dir: t.TempDir()}, "person.parquet", "p3")
	m = w.open(Options{Write: true})
	w.wantFiles(m, "movie.parquet=m1 person.parquet=p3")
	if _, err := os.Stat(filepath.Join(m.Dir(), ".ingest-1")); err == nil {
		t.Error("the work of the unfinished ingest is still there")
	}

	// Somebody who knows no lock writes while this ingest is at work.
	w.s.Put(t, "c/catalog/movie.parquet", []byte("m9"))
	w.put(m, "movie.parquet", "m4")
	if err := m.Push(t.Context()); err == nil || !strings.Contains(err.Error(), "another ingest changed the catalogue: no object is written") {
		t.Errorf("Push: %v", err)
	}
	w.close(m)
	if got := string(w.s.Get(t, "c/catalog/movie.parquet")); got != "m9" {
		t.Errorf("the bucket has %s, want m9", got)
	}
	m = w.open(Options{Write: true})
	w.wantFiles(m, "movie.parquet=m9 person.parquet=p3")
	if _, err := os.Stat(filepath.Join(m.Dir(), "quarantine", "q.ndjson")); err != nil {
		t.Errorf("quarantined rows are lost: %v", err)
	}
	w.close(m)
}

// TestReadWhileChanged replaces objects while they are brought: the result is one
// state of the catalogue.
func TestReadWhileChanged(t *testing.T) {
	w := newWorld(t)
	w.ingest(Options{}, "movie.parquet", "m1", "person.parquet", "p1")
	var n atomic.Int64
	w.s.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "movie.parquet") && n.Add(1) == 1 {
			w.s.Put(t, "c/catalog/movie.parquet", []byte("m2"))
			w.s.Put(t, "c/catalog/person.parquet", []byte("p2"))
		}
		return false
	})
	r := w.open(Options{Dir: t.TempDir()})
	w.wantFiles(r, "movie.parquet=m2 person.parquet=p2")
	w.close(r)
	w.s.SetFault(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "movie.parquet") {
			w.s.Put(t, "c/catalog/movie.parquet", []byte(strings.Repeat("x", int(n.Add(1)))))
		}
		return false
	})
	w.refused(Options{Dir: t.TempDir()}, "keeps changing")
}

// TestDamagedDownload changes bytes on the way, without changing how many there are.
func TestDamagedDownload(t *testing.T) {
	w := newWorld(t)
	w.ingest(Options{}, "movie.parquet", "m1")
	etag := ""
	w.s.SetFault(func(rw http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "movie.parquet") {
			return false
		}
		etag = r.Header.Get("If-Match")
		rw.Header().Set("ETag", etag)
		rw.Header().Set("Last-Modified", "Sun, 01 Nov 2026 10:00:00 GMT")
		rw.Header().Set("Content-Length", "2")
		rw.Write([]byte("mX"))
		return true
	})
	w.refused(Options{Dir: t.TempDir()}, "s3://bucket/c/catalog/movie.parquet: the content does not have the MD5")
	if etag == "" {
		t.Error("the object was asked for without a condition")
	}
}

func TestOpenRefuses(t *testing.T) {
	for url, want := range map[string]string{
		"s3://bucket/c*":       "not a pattern",
		"s3://bucket/c?secret": "unknown parameter",
		"ftp://x/y":            "unknown scheme",
	} {
		if _, err := Open(t.Context(), url, Options{Dir: t.TempDir()}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%s): %v, want %q", url, err, want)
		}
	}
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), w.url(), Options{Dir: filepath.Join(w.dir, "file")}); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("Open in a file: %v", err)
	}
}
