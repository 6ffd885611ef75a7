package day

import (
	"maps"
	"testing"
	"time"
)

func TestDays(t *testing.T) {
	var d Days
	if d.String() != "unknown" || !Start(d.Oldest).IsZero() {
		t.Errorf("no days are %+v, %s", d, d)
	}
	for _, day := range []string{"2026-05-01", "2025-12-31", "2026-11-01"} {
		d.Join(Days{1, day, day})
	}
	d.Join(Days{})
	if want := (Days{3, "2025-12-31", "2026-11-01"}); d != want || d.String() != "2025-12-31 to 2026-11-01" {
		t.Errorf("days are %+v, want %+v", d, want)
	}
	if got := Start(d.Oldest); !got.Equal(time.Date(2025, 12, 31, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("Start(%s) = %v", d.Oldest, got)
	}
	if one := (Days{2, "2026-05-01", "2026-05-01"}); one.String() != "2026-05-01" {
		t.Errorf("one day is %q", one)
	}
}

func TestStart(t *testing.T) {
	for day, ok := range map[string]bool{
		"2026-05-01": true, "2024-02-29": true, "2026-02-29": false, "2026-5-1": false, "": false, "0000-01-01": false,
		"2026-05-01T10:00:00Z": false, "20260501": false,
	} {
		if got := Start(day); got.IsZero() == ok {
			t.Errorf("Start(%q) = %v, want ok %t", day, got, ok)
		}
	}
}

// TestSources: the sources of a manifest have the days, and what they cannot have is left out.
func TestSources(t *testing.T) {
	want := map[string]Days{"movie": {3, "2025-12-31", "2026-11-01"}, "episode_group": {1, "2026-01-02", "2026-01-02"}}
	sources := map[string]int64{"movie": 5, "tv": 2}
	for kind, d := range want {
		d.ToSources(sources, kind)
	}
	Days{}.ToSources(sources, "tv")
	if got := FromSources(sources); !maps.Equal(got, want) || len(sources) != 8 {
		t.Errorf("FromSources(%v) = %v, want %v", sources, got, want)
	}
	if got := All(want); got != (Days{4, "2025-12-31", "2026-11-01"}) {
		t.Errorf("All = %+v", got)
	}
	for _, bad := range []map[string]int64{
		nil,
		{"movie": 3},
		{"movie_fetched": 3},
		{"movie_fetched": 0, "movie_fetched_oldest": 20260501, "movie_fetched_newest": 20260501},
		{"movie_fetched": -1, "movie_fetched_oldest": 20260501, "movie_fetched_newest": 20260501},
		{"movie_fetched": 3, "movie_fetched_oldest": 20260501},
		{"movie_fetched": 3, "movie_fetched_oldest": 20260502, "movie_fetched_newest": 20260501},
		{"movie_fetched": 3, "movie_fetched_oldest": 20260231, "movie_fetched_newest": 20260501},
		{"movie_fetched": 3, "movie_fetched_oldest": -20260501, "movie_fetched_newest": 20260501},
		{"movie_fetched": 3, "movie_fetched_oldest": 1 << 62, "movie_fetched_newest": 1 << 62},
	} {
		if got := FromSources(bad); len(got) > 0 {
			t.Errorf("FromSources(%v) = %v, want nothing", bad, got)
		}
	}
}
