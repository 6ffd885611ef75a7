package crawl

import (
	"fmt"
	"time"
)

// A Day is a number of days since 1970 in UTC; 0 means no day. In JSON it is YYYY-MM-DD.
type Day int32

// DayOf returns the day of a time.
func DayOf(t time.Time) Day { return Day(t.Unix() / (24 * 60 * 60)) }

// ParseDay parses YYYY-MM-DD, from 1970-01-02 on.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Unix() <= 0 {
		return 0, fmt.Errorf("day %q: want YYYY-MM-DD", text)
	}
	return DayOf(t), nil
}

// String returns YYYY-MM-DD, or "" for no day.
func (d Day) String() string {
	if d == 0 {
		return ""
	}
	return time.Unix(int64(d)*24*60*60, 0).UTC().Format(time.DateOnly)
}

// MarshalText returns String.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText parses the result of MarshalText.
func (d *Day) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*d = 0
		return nil
	}
	*d, err = ParseDay(string(text))
	return err
}
