package day

import (
	"encoding/json"
	"maps"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Day{
		"1970-01-01": 0, "1969-12-31": -1, "2026-11-22": 20779, "1999-10-15T00:00:00.000Z": 10879, "2026-11-22 10:00:00": 20779, "9999-12-31": 2932896,
	} {
		if got, ok := Parse(text); !ok || got != want || got.String() != text[:10] || string(got.AppendTo(nil)) != text[:10] {
			t.Errorf("Parse(%s) = %d, %t, want %d", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "2026", "2026-02-30", "x", "2026-11-22x", "20261-11-22"} {
		if got, ok := Parse([]byte(text)); ok {
			t.Errorf("Parse(%q) = %d, want none", text, got)
		}
	}
}

func TestOf(t *testing.T) {
	late := time.Date(2026, 11, 22, 23, 30, 0, 0, time.FixedZone("", -8*60*60))
	if Of(late) != 20779 || Of(late.UTC()) != 20780 {
		t.Errorf("Of = %d and %d, want the day in the time's own zone", Of(late), Of(late.UTC()))
	}
	if First(2026).String() != "2026-01-01" || (First(2027)-1).Year() != 2026 || Day(-1).Year() != 1969 {
		t.Error("First and Year disagree")
	}
}

func TestText(t *testing.T) {
	type held struct{ Day Day }
	for text, want := range map[string]Day{`{"Day":"2026-11-22"}`: 20779, `{"Day":""}`: 0} {
		var got held
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Day != want {
			t.Errorf("%s: %d, %v, want %d", text, got.Day, err, want)
		}
		if out, err := json.Marshal(got); err != nil || string(out) != text {
			t.Errorf("Marshal = %s, %v, want %s", out, err, text)
		}
	}
	if err := json.Unmarshal([]byte(`{"Day":"22.11.2026"}`), &held{}); err == nil {
		t.Error("no error for 22.11.2026")
	}
}

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
