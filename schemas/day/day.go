// Package day handles calendar days: release dates, bounds of requests, days of crawls and of fetched records.
package day

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Day is a number of days since 1 January 1970. In JSON and flags it is YYYY-MM-DD, and the zero value is empty.
type Day int32

const seconds = 24 * 60 * 60

// Of returns the day of a time in its time zone.
func Of(t time.Time) Day {
	y, m, d := t.Date()
	return Day(time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() / seconds)
}

// First returns 1 January of a year.
func First(year int) Day { return Of(time.Date(year, time.January, 1, 0, 0, 0, 0, time.UTC)) }

// Parse parses YYYY-MM-DD, a day that the calendar has, and ignores a time after "T" or a space.
func Parse[T string | []byte](text T) (Day, bool) {
	const n = len(time.DateOnly)
	if len(text) > n && (text[n]|0x20 == 't' || text[n] == ' ') {
		text = text[:n]
	}
	if len(text) != n { // also most requests, which have no day
		return 0, false
	}
	t, err := time.Parse(time.DateOnly, string(text))
	return Day(t.Unix() / seconds), err == nil
}

func (d Day) time() time.Time { return time.Unix(int64(d)*seconds, 0).UTC() }

// Year returns the day's year.
func (d Day) Year() int { return d.time().Year() }

// AppendTo appends YYYY-MM-DD.
func (d Day) AppendTo(dst []byte) []byte { return d.time().AppendFormat(dst, time.DateOnly) }

// String returns YYYY-MM-DD.
func (d Day) String() string { return d.time().Format(time.DateOnly) }

// MarshalText returns YYYY-MM-DD, or nothing for the zero value.
func (d Day) MarshalText() ([]byte, error) {
	if d == 0 {
		return nil, nil
	}
	return d.AppendTo(nil), nil
}

// UnmarshalText parses the result of MarshalText.
func (d *Day) UnmarshalText(text []byte) error {
	parsed, ok := Parse(text)
	if !ok && len(text) > 0 {
		return fmt.Errorf("day %q: want YYYY-MM-DD", text)
	}
	*d = parsed
	return nil
}

// Days are the days on which some records were fetched.
type Days struct {
	Records int64  `json:"records"` // records with a day
	Oldest  string `json:"oldest"`  // YYYY-MM-DD, in UTC; "" without Records
	Newest  string `json:"newest"`
}

// Join adds the days of other records.
func (d *Days) Join(o Days) {
	if o.Records == 0 {
		return
	}
	d.Oldest = min(cmp.Or(d.Oldest, o.Oldest), o.Oldest)
	d.Newest = max(d.Newest, o.Newest)
	d.Records += o.Records
}

// String returns a readable span: "2026-05-01 to 2026-11-01"; "unknown" without Records.
func (d Days) String() string {
	if d.Oldest == d.Newest {
		return cmp.Or(d.Oldest, "unknown")
	}
	return d.Oldest + " to " + d.Newest
}

// All returns the days of the records of all kinds.
func All(kinds map[string]Days) (all Days) {
	for _, d := range kinds {
		all.Join(d)
	}
	return all
}

// Start returns the start of a day, YYYY-MM-DD, in UTC; zero if text is not one.
func Start(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Year() < 1 {
		return time.Time{}
	}
	return t
}

// A release stores Days in the sources of its manifest, three numbers per kind with any days:
//
//	movie_fetched         records with a day
//	movie_fetched_oldest  the oldest day as YYYYMMDD, such as 20260501
//	movie_fetched_newest  the newest day
const (
	suffix       = "_fetched"
	oldestSuffix = "_fetched_oldest"
	newestSuffix = "_fetched_newest"
)

// ToSources adds the days of a kind's records to the sources of a manifest. The days must be valid for Start.
func (d Days) ToSources(sources map[string]int64, kind string) {
	if d.Records == 0 {
		return
	}
	number := func(day string) int64 {
		n, _ := strconv.ParseInt(strings.ReplaceAll(day, "-", ""), 10, 64)
		return n
	}
	sources[kind+suffix] = d.Records
	sources[kind+oldestSuffix], sources[kind+newestSuffix] = number(d.Oldest), number(d.Newest)
}

// FromSources returns the days, by kind, from the sources of a manifest. It omits kinds with invalid numbers.
func FromSources(sources map[string]int64) map[string]Days {
	text := func(n int64) string { return fmt.Sprintf("%04d-%02d-%02d", n/10000, n/100%100, n%100) }
	kinds := map[string]Days{}
	for name, n := range sources {
		kind, ok := strings.CutSuffix(name, suffix)
		if !ok || n <= 0 {
			continue
		}
		d := Days{Records: n, Oldest: text(sources[kind+oldestSuffix]), Newest: text(sources[kind+newestSuffix])}
		if !Start(d.Oldest).IsZero() && !Start(d.Newest).IsZero() && d.Newest >= d.Oldest {
			kinds[kind] = d
		}
	}
	return kinds
}
