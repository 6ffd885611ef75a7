package crawl

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Day is a number of days since 1970 in UTC; 0 is none. In JSON it is YYYY-MM-DD.
type Day int32

// DayOf returns the day of a moment.
func DayOf(t time.Time) Day { return Day(t.Unix() / (24 * 60 * 60)) }

// ParseDay reads YYYY-MM-DD, from 1970-01-02 on.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil || t.Unix() <= 0 {
		return 0, fmt.Errorf("day %q: want YYYY-MM-DD", text)
	}
	return DayOf(t), nil
}

// String returns YYYY-MM-DD, "" for no day.
func (d Day) String() string {
	if d == 0 {
		return ""
	}
	return time.Unix(int64(d)*24*60*60, 0).UTC().Format(time.DateOnly)
}

// MarshalText returns String.
func (d Day) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (d *Day) UnmarshalText(text []byte) (err error) {
	if len(text) == 0 {
		*d = 0
		return nil
	}
	*d, err = ParseDay(string(text))
	return err
}

// ParseAge reads an age: 150d, or a duration such as 36h. It counts in whole days, one at least.
func ParseAge(text string) (days int, err error) {
	if n, ok := strings.CutSuffix(text, "d"); ok {
		days, err = strconv.Atoi(n)
	} else {
		var d time.Duration
		d, err = time.ParseDuration(text)
		days = int((d + 24*time.Hour - 1) / (24 * time.Hour))
	}
	if err != nil || days < 1 || days > 10000 {
		return 0, fmt.Errorf("age %q: want a number of days such as 150d", text)
	}
	return days, nil
}
