package page

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/release/store"
	"github.com/reelsplice/reelsplice/serve/releases"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// open serves the current release of dir.
func open(t *testing.T, dir string) (*releases.Releases, *releases.Held) {
	t.Helper()
	rels, err := releases.New(releases.Config{Store: store.Folder{Dir: dir}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rels.Close)
	h := rels.Acquire()
	t.Cleanup(h.Release)
	return rels, h
}

// summaryOf returns the summary of h.
func summaryOf(t *testing.T, rels *releases.Releases, h *releases.Held) *Summary {
	t.Helper()
	s, err := Describe(h.Reader, rels.Store())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSummary(t *testing.T) {
	dir := t.TempDir()
	servetest.BuildSample(t, dir)
	rels, h := open(t, dir)
	m := h.Reader.Manifest()
	s := summaryOf(t, rels, h)
	movies := 0
	for _, y := range s.Years {
		movies += y.Movies
		if y.Movies+y.Series == 0 || y.Year < 1900 || y.Year > 2030 {
			t.Errorf("year %+v", y)
		}
	}
	if n := m.Counts.Resources["movie"]; movies == 0 || int64(movies) > n {
		t.Errorf("years have %d movies of %d", movies, n)
	}
	if s.Release != m.ID || len(s.Releases) != 1 || s.Releases[0].Release != m.ID || s.Releases[0].Bytes != s.FilesBytes || s.FilesBytes <= s.StoredBytes {
		t.Errorf("summary = %+v", s)
	}
}

// TestReports: what the report of a build has, and null for the rest.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	servetest.Build(t, dir, 6, servetest.Movie550)
	rels, h := open(t, dir)
	file := filepath.Join(dir, rels.ID(), release.ReportName)
	for _, c := range []struct{ report, want string }{
		{"", `"",null,null,null`},
		{"no JSON", `"",null,null,null`},
		{`{"built_at":"2026-01-02T03:04:05.678Z","previous":"","created":{"movie":1},"deleted":{}}`, `"2026-01-02T03:04:05Z",null,null,null`},
		{`{"previous":"r1","changed":{"movie":1}}`, `"",null,null,null`},
		{
			`{"previous":"r1","created":{"movie":1,"tv":2,"company":9},"changed":{"movie":6,"tv":2,"person":3},"deleted":{"movie":4},"ingest":{"quarantine":{"rows":5},"conflicts":null}}`,
			`"",{"created":3,"changed":4,"deleted":4},{"rows":5},null`,
		},
	} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if c.report != "" {
			if err := os.WriteFile(file, []byte(c.report), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := summaryOf(t, rels, h)
		var got string
		for _, v := range []any{s.Built, s.Changes, s.Quarantine, s.Conflicts} {
			b, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			got += "," + string(b)
		}
		if got[1:] != c.want {
			t.Errorf("report %s gives %s, want %s", c.report, got[1:], c.want)
		}
	}
}

func TestData(t *testing.T) {
	dir := t.TempDir()
	servetest.Build(t, dir, 6, `{"id":1,"title":"One","_fetched":"2026-05-01"}`, `{"id":2,"title":"Two","_fetched":"2026-06-30"}`)
	rels, h := open(t, dir)
	s := summaryOf(t, rels, h)
	if s.Data == nil || s.Data.Oldest != "2026-05-01" || s.Data.Newest != "2026-06-30" {
		t.Errorf("data = %+v, want those of two days", s.Data)
	}
}
