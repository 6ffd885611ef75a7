package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
)

// manifest returns the counts of a release.
func manifest(movies, videos, german, terms, live int64) *release.Manifest {
	return &release.Manifest{
		Sources: map[string]int64{"movie": movies, "movie_fetched_oldest": 20261231 - movies, "removed": 100 - movies},
		Counts: release.Counts{
			Resources: map[string]int64{"movie": movies, "find": movies / 2},
			ResponseCounts: release.ResponseCounts{
				SubRequests: map[string]int64{"movie/details": movies, "movie/videos": videos}, Languages: map[string]int64{"de": german},
			},
			Terms: map[string]int64{"movie": terms},
		},
		Packs: []release.File{{Live: live}, {Live: 1000}},
	}
}

func TestFalls(t *testing.T) {
	limits := func(texts ...string) dropLimits {
		t.Helper()
		l, err := parseDropLimits(texts)
		sharedtest.NoError(t, err)
		return l
	}
	before := manifest(100, 50, 20, 1000, 9000)
	for name, c := range map[string]struct {
		after  *release.Manifest
		limits dropLimits
		want   []fall
	}{
		"nothing":          {before, limits("0"), nil},
		"more":             {manifest(200, 51, 21, 1001, 9001), limits("0%"), nil},
		"at the limit":     {manifest(90, 45, 18, 900, 8000), limits(), nil},
		"below it":         {manifest(89, 45, 18, 900, 8000), limits(), []fall{{"movie", 100, 89, 11, 10}, {"movie/details", 100, 89, 11, 10}}},
		"all":              {manifest(100, 0, 20, 1000, 9000), limits("99.5"), []fall{{"movie/videos", 50, 0, 100, 99.5}}},
		"of a kind":        {manifest(70, 30, 20, 1000, 9000), limits("0", "movie=35%"), []fall{{"movie/videos", 50, 30, 40, 35}}},
		"of a sub-request": {manifest(100, 30, 20, 1000, 9000), limits("0", "movie/videos=40"), nil},
		"of languages":     {manifest(100, 50, 10, 1000, 9000), limits("language=49"), []fall{{"language/de", 20, 10, 50, 49}}},
		"of a language":    {manifest(100, 50, 10, 1000, 9000), limits("language=0", "language/de=50"), nil},
		"of terms":         {manifest(100, 50, 20, 500, 9000), limits("terms=10", "terms/movie=49"), []fall{{"terms/movie", 1000, 500, 50, 49}}},
		"of few":           {manifest(100, 41, 11, 991, 9000), limits("0"), nil},
		"of ten":           {manifest(100, 40, 10, 990, 9000), limits("5"), []fall{{"language/de", 20, 10, 50, 5}, {"movie/videos", 50, 40, 20, 5}}},
		"of few, named":    {manifest(100, 49, 19, 1000, 9000), limits("movie=1", "language=0"), []fall{{"language/de", 20, 19, 5, 0}, {"movie/videos", 50, 49, 2, 1}}},
		"of few records":   {manifest(99, 50, 20, 1000, 9000), limits("0.5"), []fall{{"movie", 100, 99, 1, 0.5}}},
		"of bytes":         {manifest(100, 50, 20, 1000, 4000), limits("bytes=49"), []fall{{"bytes", 10000, 5000, 50, 49}}},
	} {
		if got := fallsOf(before, c.after, c.limits); !cmp.Equal(got, c.want) {
			t.Errorf("%s: %s", name, cmp.Diff(c.want, got))
		}
	}
	old := manifest(100, 50, 20, 1000, 9000)
	old.Counts.ResponseCounts, old.Counts.Terms = release.ResponseCounts{}, nil
	if got := fallsOf(old, manifest(100, 0, 0, 0, 9000), limits("0")); got != nil {
		t.Errorf("a manifest of an earlier program, without most counts: %v falls", got)
	}
	if got := fallsOf(&release.Manifest{}, before, limits("0")); got != nil {
		t.Errorf("after an empty release: %v falls", got)
	}
}

func TestParseDropLimits(t *testing.T) {
	for _, text := range []string{"", "%", "x", "-1", "100.1", "NaN", "Inf", "=5", "films=5", "movie=", "movie/=5", "movie/x=5", "movie/videos/x=5", "find=5", "bytes/x=5", "language/deDE=5", "terms/x=5", "removed=5"} {
		if l, err := parseDropLimits([]string{text}); err == nil || !strings.Contains(err.Error(), "want a percentage") {
			t.Errorf("parseDropLimits(%q) = %v, %v, want an error", text, l, err)
		}
	}
	for _, text := range []string{"0", "100%", "2.5%", "account=1", "tv/watch/providers=5%", "episode/details=1", "language=1", "language/de=1", "terms=1", "terms/tv=1", "bytes=1"} {
		if _, err := parseDropLimits([]string{text}); err != nil {
			t.Errorf("parseDropLimits(%q): %v", text, err)
		}
	}
}

func TestIsEmpty(t *testing.T) {
	if isEmpty(manifest(1, 0, 0, 0, 0)) || !isEmpty(manifest(0, 1, 1, 1, 1)) || !isEmpty(&release.Manifest{}) {
		t.Error("isEmpty: want true for manifests without records of a kind, alone")
	}
}
