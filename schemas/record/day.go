package record

import (
	"regexp"
	"time"
)

// IsDay reports whether s is a day of the calendar: 1999-10-15.
func IsDay(s string) bool {
	// Fast path: days that every month has. Lists of titles have many.
	if len(s) == len(time.DateOnly) && s[4] == '-' && s[7] == '-' && digits(s[:4]) && digits(s[5:7]) && digits(s[8:]) {
		month, day := s[5:7], s[8:]
		if month >= "01" && month <= "12" && day >= "01" && day <= "28" {
			return true
		}
	}
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i]-'0' > 9 {
			return false
		}
	}
	return true
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
