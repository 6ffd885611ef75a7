package summary

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reelsplice/reelsplice/schemas/release"
	"github.com/reelsplice/reelsplice/schemas/sharedtest"
	"github.com/reelsplice/reelsplice/serve/releases"
	"github.com/reelsplice/reelsplice/serve/servetest"
)

// open serves the current release of dir.
func open(t *testing.T, dir string) (*releases.Releases, *releases.Held) {
	t.Helper()
	rels, err := releases.Open(release.Store{Dir: dir}, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rels.Close)
	h := rels.Acquire()
	t.Cleanup(h.Release)
	return rels, h
}

// counted returns the summary of h with its counts.
func counted(t *testing.T, k *Keeper, h *releases.Held) (s *Summary) {
	t.Helper()
	sharedtest.Eventually(t, "the fragments are counted", func() bool {
		var err error
		if s, err = k.Summary(h); err != nil {
			t.Fatal(err)
		}
		return !s.Counting
	})
	return s
}

// TestSummary: the counts of the walk add up to those of the manifest.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	servetest.BuildSample(t, dir)
	rels, h := open(t, dir)
	m := h.Reader().Manifest()
	k := NewKeeper(rels, slog.New(slog.DiscardHandler))
	k.pacer = func() rest { // a slow machine would rest for minutes
		return func(ctx context.Context, _ int) error { return ctx.Err() }
	}
	s := counted(t, k, h)
	var fragments, raw, stored int64
	for _, sub := range s.Subs {
		fragments, raw, stored = fragments+sub.Fragments, raw+sub.RawBytes, stored+sub.StoredBytes
	}
	if fragments != m.Counts.Fragments || raw != m.Counts.RawBytes || stored != m.Counts.StoredBytes {
		t.Errorf("sub-requests have %d fragments, %d bytes, %d stored; the manifest has %d, %d, %d", fragments, raw, stored, m.Counts.Fragments, m.Counts.RawBytes, m.Counts.StoredBytes)
	}
	i := slices.IndexFunc(s.Languages, func(l Language) bool { return l.Language == "de" })
	if i < 0 || s.Languages[i].Resources < 10 || !slices.IsSortedFunc(s.Languages, func(a, b Language) int { return int(b.Resources - a.Resources) }) {
		t.Errorf("languages = %+v, want German in order of resources", s.Languages)
	}
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
	if s.Release != m.ID || len(s.Releases) != 1 || s.Releases[0].Release != m.ID || s.Releases[0].StoredBytes != m.Counts.StoredBytes || s.FilesBytes <= s.StoredBytes {
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
		s := counted(t, NewKeeper(rels, slog.New(slog.DiscardHandler)), h)
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
	s := counted(t, NewKeeper(rels, slog.New(slog.DiscardHandler)), h)
	if s.Data == nil || s.Data.Oldest != "2026-05-01" || s.Data.Newest != "2026-06-30" {
		t.Errorf("data = %+v, want those of two days", s.Data)
	}
}

// TestLeaving: a release that is not served any more is described without its counts, and a walk ends with
// its release. The client that asks again gets the counts of the next release.
func TestLeaving(t *testing.T) {
	dir := t.TempDir()
	servetest.Build(t, dir, 6, servetest.Movie550)
	rels, h := open(t, dir)
	k := NewKeeper(rels, slog.New(slog.DiscardHandler))
	rels.Close()
	s, err := k.Summary(h)
	if err != nil || !s.Counting || s.Subs != nil || s.Fragments == 0 {
		t.Errorf("summary of a release that was served = %+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := walk(ctx, h.Reader(), pacer()); err != context.Canceled {
		t.Errorf("walk = %v, want %v", err, context.Canceled)
	}
	if n := h.Users(); n != 1 {
		t.Errorf("%d uses of the release, want that of the test", n)
	}
}

// TestReturn: a release whose walk a switch has ended is counted when it is served again.
func TestReturn(t *testing.T) {
	dir := t.TempDir()
	first := servetest.Build(t, dir, 6, servetest.Movie550)
	rels, h := open(t, dir)
	k := NewKeeper(rels, slog.New(slog.DiscardHandler))
	k.pacer = func() rest {
		return func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() }
	}
	if s, err := k.Summary(h); err != nil || !s.Counting {
		t.Fatalf("summary during the walk = %+v, %v", s, err)
	}
	walked := k.last
	servetest.Build(t, dir, 6, servetest.Movie550, `{"id":2,"title":"Two"}`)
	rels.Poll()
	<-walked.counted
	if s, err := k.Summary(h); err != nil || !s.Counting {
		t.Errorf("summary after the walk ended early = %+v, %v", s, err)
	}
	servetest.Publish(t, dir, first)
	rels.Poll()
	again := rels.Acquire()
	defer again.Release()
	k.pacer = pacer
	if s := counted(t, k, again); s.Release != first || s.Subs == nil || s.Languages == nil {
		t.Errorf("summary of the release that came back = %+v", s)
	}
}

// TestPacer: a walk works through its first steps, and then a quarter of the time.
func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rest, begun := pacer(), time.Now()
		busy := time.Duration(0)
		for time.Since(begun) < 10*atOnce*step {
			if err := rest(t.Context(), clockEvery); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			busy += time.Millisecond
		}
		if want := atOnce*step + 9*atOnce*step/(1+restFactor); busy < want-step || busy > want+step {
			t.Errorf("%v of %v were worked, want about %v", busy, time.Since(begun), want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for range 2 * atOnce {
			time.Sleep(step)
			if err := rest(ctx, clockEvery); err != nil {
				return
			}
		}
		t.Error("a rest does not end with its context")
	})
}
