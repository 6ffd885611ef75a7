// Package day handles calendar days: release dates, bounds of requests, days of crawls and of fetched records.
package day

import (
	"fmt"
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
