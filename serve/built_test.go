package serve

import (
	"path/filepath"
	"sync"
	"testing"

	"reelsplice/build"
	"reelsplice/build/buildtest"
	"reelsplice/schemas/fragment"
)

// buildRelease builds a release of movies at a deflate level into a folder and makes
// it the current one.
func buildRelease(tb testing.TB, dir string, level int, rows ...string) (id string) {
	tb.Helper()
	c := build.DefaultConfig()
	c.Catalog, c.Releases, c.Level, c.Jobs = buildtest.Catalog(tb, rows...), dir, level, 1
	r, err := build.Run(tb.Context(), c)
	if err != nil {
		tb.Fatal(err)
	}
	publish(tb, dir, r.Release)
	return r.Release
}

// newWorld returns an Edge over rows, none without rows. change may alter its Config.
func newWorld(tb testing.TB, change func(*Config), rows ...string) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	if len(rows) == 0 {
		w.openTokens(tb)
		return w
	}
	buildRelease(tb, w.cfg.Releases, 6, rows...)
	w.open(tb)
	return w
}

var buildSample sync.Once

// sampleWorld returns an Edge over the sample, of which there is one release that tests share:
// they must not write below its Config.Releases.
func sampleWorld(tb testing.TB, change func(*Config)) *world {
	tb.Helper()
	w := bareWorld(tb, change)
	w.cfg.Releases = filepath.Join(sharedDir, "sample")
	buildSample.Do(func() {
		c := build.DefaultConfig()
		c.Catalog, c.Releases = tb.TempDir(), w.cfg.Releases
		buildtest.WriteCatalog(tb, c.Catalog, buildtest.Sample(tb, "movies")...)
		buildtest.WriteKind(tb, c.Catalog, fragment.KindTV, buildtest.Sample(tb, "tv")...)
		r, err := build.Run(tb.Context(), c)
		if err != nil {
			tb.Fatal(err)
		}
		publish(tb, c.Releases, r.Release)
	})
	w.open(tb)
	return w
}

// Movies of the tests that need no more.
const (
	movie550 = `{"adult":false,"genres":[{"id":18,"name":"Drama"}],"id":550,"imdb_id":"tt0137523","original_language":"en","original_title":"Fight Club",` +
		`"overview":"Text","poster_path":null,"title":"Fight Club","alternative_titles":{"titles":[{"iso_3166_1":"FR","title":"Le club","type":""},{"iso_3166_1":"DE","title":"Klub","type":""}]},` +
		`"credits":{"cast":[{"id":1,"name":"A","credit_id":"c"}],"crew":[]},` +
		`"images":{"backdrops":[{"iso_639_1":null,"file_path":"/1.jpg"},{"iso_639_1":"fr","file_path":"/2.jpg"}],"logos":[],"posters":[{"iso_639_1":"en","file_path":"/3.jpg"},{"iso_639_1":"de","file_path":"/4.jpg"}]},` +
		`"similar":{"page":1,"results":[{"id":551}],"total_pages":2,"total_results":21},"keywords":{"keywords":[{"id":3,"name":"k"}]},` +
		`"translations":{"translations":[{"iso_3166_1":"DE","iso_639_1":"de","name":"Deutsch","english_name":"German","data":{"homepage":"","overview":"Inhalt","runtime":0,"tagline":"","title":"Klub"}}]},` +
		`"videos":{"results":[{"iso_639_1":"en","name":"T","key":"k","site":"YouTube","size":1080,"type":"Trailer"}]},"watch/providers":{"results":{"US":{"link":"l"}}}}`
	movie551 = `{"adult":false,"genres":[],"id":551,"production_countries":[],"spoken_languages":[],"status":"","tagline":"","title":"Another","_details":true}`
)
