// Package age handles the days on which records were fetched, in catalogues and releases.
//
// A release stores them in the sources of its manifest, three numbers per kind with any days:
//
//	movie_fetched         records with a day
//	movie_fetched_oldest  the oldest day as YYYYMMDD, such as 20260501
//	movie_fetched_newest  the newest day
package age

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Days are the days of some records.
type Days struct {
	Records int64  `json:"records"` // records with a day
	Oldest  string `json:"oldest"`  // YYYY-MM-DD, in UTC; "" without Records
	Newest  string `json:"newest"`
}

// Parse returns the start of a day, YYYY-MM-DD, in UTC.
func Parse(day string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil || t.Year() < 1 {
		return time.Time{}, fmt.Errorf("want a day as YYYY-MM-DD, found %q", day)
	}
	return t, nil
}

// Add adds a record with a day; "" is ignored.
func (d *Days) Add(day string) {
	if day != "" {
		d.Join(Days{1, day, day})
	}
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

// IsZero reports whether no record has a day.
func (d Days) IsZero() bool { return d.Records == 0 }

// OldestTime returns the start of the oldest day; zero without Records.
func (d Days) OldestTime() time.Time { return begin(d.Oldest) }

// NewestTime returns the start of the newest day; zero without Records.
func (d Days) NewestTime() time.Time { return begin(d.Newest) }

func begin(day string) time.Time {
	t, _ := Parse(day) // zero for ""
	return t
}

// String returns a readable span: "2026-05-01 to 2026-11-01"; "unknown" without Records.
func (d Days) String() string {
	switch {
	case d.IsZero():
		return "unknown"
	case d.Oldest == d.Newest:
		return d.Oldest
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

// Suffixes of the names of sources, after the kind.
const (
	suffix       = "_fetched"
	oldestSuffix = "_fetched_oldest"
	newestSuffix = "_fetched_newest"
)

// Put adds the days of a kind's records to the sources of a manifest. The days must be valid for Parse.
func Put(sources map[string]int64, kind string, d Days) {
	if d.IsZero() {
		return
	}
	sources[kind+suffix] = d.Records
	sources[kind+oldestSuffix], sources[kind+newestSuffix] = number(d.Oldest), number(d.Newest)
}

// Of returns the days, by kind, from the sources of a manifest. It omits kinds with invalid numbers.
func Of(sources map[string]int64) map[string]Days {
	kinds := map[string]Days{}
	for name, n := range sources {
		kind, ok := strings.CutSuffix(name, suffix)
		if !ok || n <= 0 {
			continue
		}
		d := Days{Records: n, Oldest: text(sources[kind+oldestSuffix]), Newest: text(sources[kind+newestSuffix])}
		if d.Oldest != "" && d.Newest >= d.Oldest {
			kinds[kind] = d
		}
	}
	return kinds
}

// number returns the number of a day, 0 if it is invalid.
func number(day string) int64 {
	n, _ := strconv.ParseInt(strings.ReplaceAll(day, "-", ""), 10, 64)
	return n
}

// text is the inverse of number, "" if n is not a day.
func text(n int64) string {
	day := fmt.Sprintf("%04d-%02d-%02d", n/10000, n/100%100, n%100)
	if _, err := Parse(day); err != nil {
		return ""
	}
	return day
}
