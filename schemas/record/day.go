package record

import (
	"regexp"
	"time"
)

// IsDay reports whether s is a day of the calendar: 1999-10-15.
func IsDay(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// timeOfDay matches what follows a day in ISO 8601 and in SQL.
var timeOfDay = regexp.MustCompile(`[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?(Z|UTC|[+-]\d\d(:?\d\d)?))?$`)

// dayOf returns the day of a time.
func dayOf(s string) (day string, ok bool) {
	day = WithoutTime(s)
	return day, len(day) < len(s) && IsDay(day)
}

// WithoutTime returns a text without the time behind a day.
func WithoutTime(s string) string { return timeOfDay.ReplaceAllString(s, "") }
