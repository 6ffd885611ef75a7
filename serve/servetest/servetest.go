// Package servetest has helpers for tests of the edge and of its transport: releases, written piece by piece or built,
// tokens, and the bodies of refusals.
package servetest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reelsplice/reelsplice/build"
	"github.com/reelsplice/reelsplice/build/buildtest"
	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/auth"
)

// Bodies of refusals, with the key order of each.
const (
	Body401 = `{"status_code":7,"status_message":"Invalid API key: You must be granted a valid key.","success":false}`
	Body404 = `{"success":false,"status_code":34,"status_message":"The resource you requested could not be found."}`
	Body405 = `{"success":false,"status_code":42,"status_message":"This request method is not supported for this resource."}`
	Body27  = `{"success":false,"status_code":27,"status_message":"Too many append to response objects: The maximum number of remote calls is 20."}`
	Body22  = `{"status_code":22,"status_message":"Invalid page: Pages start at 1 and max at 500. They are expected to be an integer.","success":false}`
	Body3   = `{"success":false,"status_code":3,"status_message":"Authentication failed: You do not have permissions to access the service."}`
)

// Cache-Control of responses.
const (
	Kept    = "public, max-age=3600"
	NotKept = "no-store"
)

// A Tester is a test, including one of package rapid.
type Tester interface {
	Context() context.Context
	Helper()
	Fatalf(format string, args ...any)
}

// Publish makes a release the current one of a folder.
func Publish(tb testing.TB, dir, id string) {
	tb.Helper()
	if _, err := store.Publish(tb.Context(), store.Folder{Dir: dir}, id); err != nil {
		tb.Fatal(err)
	}
}

// Build builds a release of movies at a deflate level into a folder and makes
// it the current one.
func Build(tb testing.TB, dir string, level int, rows ...string) (id string) {
	tb.Helper()
	c := build.DefaultConfig()
	c.Catalog, c.Releases, c.Level, c.Jobs = buildtest.Catalog(tb, rows...), dir, level, 1
	r, err := build.Run(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	Publish(tb, dir, r.Release)
	return r.Release
}

// BuildSample builds a release of the sample's movies and series into a folder and makes it the
// current one.
func BuildSample(tb testing.TB, dir string) {
	tb.Helper()
	c := build.DefaultConfig()
	c.Catalog, c.Releases = tb.TempDir(), dir
	buildtest.WriteCatalog(tb, c.Catalog, buildtest.Sample(tb, "movies")...)
	buildtest.WriteKind(tb, c.Catalog, fragment.KindTV, buildtest.Sample(tb, "tv")...)
	r, err := build.Run(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	Publish(tb, dir, r.Release)
}

// Issue adds a token to a token file.
func Issue(tb testing.TB, path, name string, expires time.Time) string {
	tb.Helper()
	now := time.Now()
	if !expires.IsZero() && expires.Before(now) {
		now = expires.Add(-time.Hour) // issued before it expired
	}
	token, err := auth.Issue(path, auth.Record{Name: name, Created: now, Expires: expires, Scopes: auth.AllScopes})
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

// OneMember reads a body like a decoder that stops after the first gzip member, and fails if bytes are left. The reader
// checks the CRC and the length.
func OneMember(tb Tester, body []byte) string {
	tb.Helper()
	src := bytes.NewReader(body)
	z, err := gzip.NewReader(src)
	if err != nil {
		tb.Fatalf("gzip.NewReader of %d bytes: %v", len(body), err)
	}
	z.Multistream(false)
	out, err := io.ReadAll(z)
	if err != nil {
		tb.Fatalf("read gzip member of %d bytes: %v", len(body), err)
	}
	if src.Len() != 0 {
		tb.Fatalf("%d of %d bytes are left after the first gzip member, want 0", src.Len(), len(body))
	}
	return string(out)
}

// Cut returns the text between two marks.
func Cut(s, before, after string) string {
	_, s, _ = strings.Cut(s, before)
	s, _, _ = strings.Cut(s, after)
	return s
}

// WriteFile writes a file.
func WriteFile(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

// ReadFile returns the content of a file.
func ReadFile(tb testing.TB, path string) string {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// A LockedBuffer is a log that is read while it is written.
type LockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write implements io.Writer.
func (b *LockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String returns what was written so far.
func (b *LockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// Version is a movie, as a record. All its parts name n.
func Version(n int) string {
	return fmt.Sprintf(`{"adult":false,"genres":[],"id":1,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"v%d","keywords":{"keywords":[{"id":1,"name":"v%d"}]},"credits":{"cast":[{"name":"v%d","credit_id":"c"}],"crew":[]},"_details":true}`, n, n, n)
}

// Movies for tests that need no other data.
const (
	Movie550 = `{"adult":false,"genres":[{"id":18,"name":"Drama"}],"id":550,"imdb_id":"tt0137523","original_language":"en","original_title":"Fight Club",` +
		`"overview":"Text","poster_path":null,"title":"Fight Club","alternative_titles":{"titles":[{"iso_3166_1":"FR","title":"Le club","type":""},{"iso_3166_1":"DE","title":"Klub","type":""}]},` +
		`"credits":{"cast":[{"id":1,"name":"A","credit_id":"c"}],"crew":[]},` +
		`"images":{"backdrops":[{"iso_639_1":null,"file_path":"/1.jpg"},{"iso_639_1":"fr","file_path":"/2.jpg"}],"logos":[],"posters":[{"iso_639_1":"en","file_path":"/3.jpg"},{"iso_639_1":"de","file_path":"/4.jpg"}]},` +
		`"similar":{"page":1,"results":[{"id":551}],"total_pages":2,"total_results":21},"keywords":{"keywords":[{"id":3,"name":"k"}]},` +
		`"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"homepage":"","overview":"Inhalt","runtime":0,"tagline":"","title":"Klub"}}]},` +
		`"videos":{"results":[{"iso_639_1":"en","name":"T","key":"k","site":"YouTube","size":1080,"type":"Trailer"}]},"watch/providers":{"results":{"US":{"link":"l"}}}}`
	Movie551 = `{"adult":false,"genres":[],"id":551,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"Another","_details":true}`
)
