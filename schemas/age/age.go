// Package age has the days on which records were fetched, as catalogues and releases have them.
//
// A release has them among the sources of its manifest, three numbers a kind that has any:
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
	Records int64  `json:"records"` // that have a day
	Oldest  string `json:"oldest"`  // YYYY-MM-DD, in UTC; "" without Records
	Newest  string `json:"newest"`
}

// Parse returns the beginning of a day, YYYY-MM-DD, in UTC.
func Parse(day string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil || t.Year() < 1 {
		return time.Time{}, fmt.Errorf("want a day as YYYY-MM-DD, found %q", day)
	}
	return t, nil
}

// Add adds a record with a day; "" is none.
func (d *Days) Add(day string) {
	if day != "" {
		d.Join(Days{1, day, day})
	}
}

// Join adds other records.
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

// OldestTime returns the beginning of the oldest day; zero without Records.
func (d Days) OldestTime() time.Time { return begin(d.Oldest) }

// NewestTime returns the beginning of the newest day; zero without Records.
func (d Days) NewestTime() time.Time { return begin(d.Newest) }

func begin(day string) time.Time {
	t, _ := Parse(day) // zero for none
	return t
}

// String describes d for people: "2026-05-01 to 2026-11-01"; "unknown" without Records.
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

// Suffixes of the names of sources, behind the kind.
const (
	suffix       = "_fetched"
	oldestSuffix = "_fetched_oldest"
	newestSuffix = "_fetched_newest"
)

// Put adds the days of records of a kind to the sources of a manifest. The days are those that Parse takes.
func Put(sources map[string]int64, kind string, d Days) {
	if d.IsZero() {
		return
	}
	sources[kind+suffix] = d.Records
	sources[kind+oldestSuffix], sources[kind+newestSuffix] = number(d.Oldest), number(d.Newest)
}

// Of returns the days, by kind, among the sources of a manifest. A kind whose numbers are no days has none.
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

// number returns the number of a day, 0 for what is none.
func number(day string) int64 {
	n, _ := strconv.ParseInt(strings.ReplaceAll(day, "-", ""), 10, 64)
	return n
}

// text is the inverse of number, "" for what is no day.
func text(n int64) string {
	day := fmt.Sprintf("%04d-%02d-%02d", n/10000, n/100%100, n%100)
	if _, err := Parse(day); err != nil {
		return ""
	}
	return day
}
